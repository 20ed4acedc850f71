"""Every reachable state of a world, and whether what must hold does."""

from array import array
from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from attrs import define, field

from statemachine.explorer import Counterexample, Progress
from statemachine.properties import Property

from .rows import Label, Row
from .world import Step, World

__all__ = ["Explored", "explore_world"]

S = TypeVar("S", bound=Hashable)

_NO_PARENT = -1


@define(kw_only=True, eq=False)
class Explored(Generic[S]):
    """The graph of a world: states by number, nearest first, and the steps between them."""

    world: World[S]
    states: list[S] = field(factory=list)
    leaving: list[tuple[tuple[int, int], ...]] = field(factory=list)
    """By state: the label and the end of every step from it, in numbers."""
    parents: "array[int]" = field(factory=lambda: array("i"))
    ways: "array[int]" = field(factory=lambda: array("H"))
    fired: Counter[Row[Any]] = field(factory=Counter)
    """How often each row held, refusals and steps that change nothing among them."""

    @property
    def steps(self) -> int:
        """Return how many steps change something."""
        return sum(map(len, self.leaving))

    def path_to(self, state: int) -> tuple[tuple[Label, S], ...]:
        """Return a shortest run to a state: what happened, and the state after it."""
        path: list[tuple[Label, S]] = []
        while self.parents[state] != _NO_PARENT:
            path.append((self.world.labels[self.ways[state]], self.states[state]))
            state = self.parents[state]
        return tuple(reversed(path))

    def story(self, claim: Property, state: int, *last: Step[S], ends: str) -> Counterexample:
        """Tell the way to a state, and what comes then."""
        steps = [f"{label}: {after}" for label, after in self.path_to(state)]
        steps += [f"{step.label}: {step.after}" for step in last]
        return Counterexample(claim=claim.name, steps=tuple(steps), ends=ends)


def explore_world(
    world: World[S],
    *,
    watch: Callable[[int, Step[S]], bool] | None = None,
    progress: Progress | None = None,
) -> Explored[S]:
    """Visit every reachable state of a world.

    Args:
        world: what to explore.
        watch: is told every step, refused calls among them, with the number of the state before
            it; the search ends early when it returns True.
        progress: is told how far the search is.
    """
    found = Explored(world=world)
    numbers = {world.initial: 0}
    found.states.append(world.initial)
    found.parents.append(_NO_PARENT)
    found.ways.append(0)
    label_numbers = {label: number for number, label in enumerate(world.labels)}
    fired = found.fired
    for number, state in enumerate(found.states):
        leaving: list[tuple[int, int]] = []
        for step in world.steps(state):
            fired[step.row] += 1
            if watch is not None and watch(number, step):
                return found
            if step.after == state:
                continue
            label = label_numbers[step.label]
            after = numbers.get(step.after)
            if after is None:
                after = numbers[step.after] = len(found.states)
                found.states.append(step.after)
                found.parents.append(number)
                found.ways.append(label)
            leaving.append((label, after))
        found.leaving.append(tuple(leaving))
        if progress is not None and not number % 1024:
            progress(number, len(found.states))
    return found
