"""Whether every run of a world comes somewhere, when all that is there to do is done at some time.

A run that never comes to `to` stays, from some step on, in one strongly connected component of what
avoids it. Somebody - an actor at a place - is treated unfairly by that if it could do something in
every state of the component and does nothing there. Then the run does not count. A task that waits
only for a stretch to return could do something: listeners that call again and again excuse nobody.
"""

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

from attrs import define, field

from statemachine.explorer import Counterexample

from .claims import Eventually
from .exploration import Explored
from .rows import Actor, Label

__all__ = ["refutation"]

S = TypeVar("S", bound=Hashable)

Steps = tuple[tuple[int, int], ...]
Who = tuple[Actor, Hashable]


def refutation(found: Explored[S], claim: Eventually[S]) -> tuple[int, Counterexample | None]:
    """Return from how many states the claim was asked, and a run that breaks it."""
    asked = 0
    for place in claim.places:
        search = _Search(found=found, claim=claim, place=place)
        asked += search.enter()
        stuck = search.unfair_to_nobody()
        if stuck is not None:
            ends = "and here, or round about here, it may stay forever."
            return asked, found.story(claim, stuck, ends=ends)
    return asked, None


@define(kw_only=True, eq=False)
class _Search(Generic[S]):
    """The states from which a run may avoid `to`, and the components of them."""

    found: Explored[S]
    claim: Eventually[S]
    place: int
    graph: dict[int, Steps] = field(factory=dict)
    fair: list[bool] = field(factory=list)
    """By label: whether it is taken by somebody who is fair."""
    stopped: set[int] = field(factory=set)
    numbers: dict[Label, int] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        """Read the premise."""
        fair = frozenset[Actor]().union(*(part.fair for part in self.claim.premise))
        stops = frozenset[object]().union(*(part.stops for part in self.claim.premise))
        labels = self.found.world.labels
        self.numbers = {label: number for number, label in enumerate(labels)}
        self.fair = [label.event.actor in fair for label in labels]
        self.stopped = {number for number, label in enumerate(labels) if label.event in stops}

    def enter(self) -> int:
        """Find everything that can be reached from `from_` without `to`."""
        states, place, graph = self.found.states, self.place, self.graph
        from_, to = self.claim.from_, self.claim.to
        waiting = [
            number
            for number, state in enumerate(states)
            if from_(state, place) and not to(state, place)
        ]
        asked = len(waiting)
        graph.update(dict.fromkeys(waiting, ()))
        for number in waiting:
            steps = graph[number] = self.steps(number)
            for _, after in steps:
                if after not in graph and not to(states[after], place):
                    graph[after] = ()
                    waiting.append(after)
        return asked

    def steps(self, number: int) -> Steps:
        """Return the steps from a state that the premise leaves."""
        leaving = self.found.leaving[number]
        if not self.stopped:
            return leaving
        return tuple(step for step in leaving if step[0] not in self.stopped)

    def unfair_to_nobody(self) -> int | None:
        """Return the nearest state where a fair run may stay."""
        stuck = [
            min(component) for component in _Components(self.graph).find() if self.allows(component)
        ]
        return min(stuck, default=None)

    def allows(self, component: list[int]) -> bool:
        """Say whether a run can stay in a component although everybody is fair."""
        if len(component) == 1:
            # Whoever could act there would lead the run away.
            return not any(self.fair[label] for label, _ in self.graph[component[0]])
        inside = set(component)
        busy: set[Who] = set()
        idle: set[Who] | None = None
        for number in component:
            ready = self.ready(number)
            idle = ready if idle is None else idle & ready
            busy |= {self.who(label) for label, after in self.graph[number] if after in inside}
        # Whoever is ready in every state has to act in some.
        return not ((idle or set()) - busy)

    def ready(self, number: int) -> set[Who]:
        """Return everybody who is fair and could do something in a state."""
        able = {self.who(label) for label, _ in self.graph[number] if self.fair[label]}
        # Without the promise that they return, stretches may stand forever.
        world, state = self.found.world, self.found.states[number]
        if world.stands(state) and any(map(self._is_stretch, able)):
            late = (self.numbers[label] for label in world.waiting(state))
            able |= {self.who(label) for label in late if self.fair[label]}
        return able

    def who(self, label: int) -> Who:
        """Return who takes a step."""
        event, place = self.found.world.labels[label]
        return event.actor, place

    def _is_stretch(self, who: Who) -> bool:
        return who[0] is Actor.STRETCH


@define(eq=False)
class _Components:
    """The strongly connected components of a graph (Tarjan, without recursion)."""

    graph: dict[int, Steps]
    found: list[list[int]] = field(factory=list)
    numbers: dict[int, int] = field(factory=dict)
    lowest: dict[int, int] = field(factory=dict)
    done: set[int] = field(factory=set)
    stack: list[int] = field(factory=list)
    work: list[tuple[int, Iterator[tuple[int, int]]]] = field(factory=list)

    def find(self) -> list[list[int]]:
        """Return all of them."""
        for root in self.graph:
            if root not in self.numbers:
                self.open(root)
                while self.work:
                    self.go_on()
        return self.found

    def open(self, state: int) -> None:
        """Begin with a state."""
        self.numbers[state] = self.lowest[state] = len(self.numbers)
        self.stack.append(state)
        self.work.append((state, iter(self.graph[state])))

    def go_on(self) -> None:
        """Follow the steps of the state that was begun last, to a new one or to their end."""
        here, steps = self.work[-1]
        for _, after in steps:
            if after not in self.graph or after in self.done:
                continue
            if after not in self.numbers:
                self.open(after)
                return
            self.lowest[here] = min(self.lowest[here], self.numbers[after])
        self.close(here)

    def close(self, state: int) -> None:
        """Finish a state; it may be the root of a component."""
        self.work.pop()
        if self.work:
            above = self.work[-1][0]
            self.lowest[above] = min(self.lowest[above], self.lowest[state])
        if self.lowest[state] == self.numbers[state]:
            cut = self.stack.index(state)
            self.found.append(self.stack[cut:])
            self.done.update(self.stack[cut:])
            del self.stack[cut:]
