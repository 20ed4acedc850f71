"""Whether what was seen of a runtime is something that a world can do.

Whoever drives a runtime sees its calls and their answers, and between any two callbacks a *view*: a
part of what there is. A world says what can follow what. So the states that are compatible with
everything seen so far are carried along; what the runtime's own tasks do is not seen, and every
state is followed through whatever they might have done. Where no compatible state is left, the
runtime did what the world cannot do.

What must happen is seen the same way: when nothing can happen any more in the runtime, a compatible
state has to be left in which nobody owes a step.
"""

from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

from attrs import define, field, frozen

from .rows import Actor, Event, Label
from .world import World

__all__ = ["Call", "DisagreementError", "Follower", "Seen", "follows"]

S = TypeVar("S", bound=Hashable)
V = TypeVar("V")


class DisagreementError(AssertionError):
    """The runtime did what the world cannot do, or owes what the world would have done."""


@frozen(kw_only=True)
class Call:
    """A call from outside, and how it was answered."""

    event: Event
    about: Hashable = None
    """What it was about, in words that the world's `labels_of` understands."""
    is_refused: bool = False

    def __str__(self) -> str:
        """Return it as a story tells it."""
        words = str(self.event) if self.about is None else f"{self.event}({self.about})"
        return f"{words}, refused" if self.is_refused else words


@frozen(kw_only=True)
class Seen(Generic[V]):
    """One look at a runtime: what there is, and the call that was made since the last look."""

    view: V | None = None
    """What there is; None where that could not be looked at."""
    call: Call | None = None
    is_quiet: bool = False
    """Whether no task has anything to do."""
    excused: frozenset[Actor] = frozenset()
    """Who may owe a step although it is quiet, because the outside holds them up."""


@define(kw_only=True, eq=False)
class Follower(Generic[S, V]):
    """Carries the states of a world that are compatible with what was seen.

    Args:
        world: what can happen.
        view: what would be seen of a state.
        labels_of: the labels that a call may stand for, in a state.
        is_hidden: says whether an event happens without being seen as a call.
    """

    world: World[S]
    view: Callable[[S], V]
    labels_of: Callable[[S, Call], Iterable[Label]]
    is_hidden: Callable[[Event], bool]
    states: frozenset[S] = field(init=False)
    _onward: dict[S, tuple[S, ...]] = field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        """Begin where the world begins."""
        self.states = frozenset({self.world.initial})

    def see(self, seen: Seen[V]) -> None:
        """Take one look.

        Raises:
            DisagreementError: no compatible state is left.
        """
        before = self._closed(self.states)
        if seen.call is not None:
            called = frozenset(after for state in before for after in self._after(state, seen.call))
            if not called:
                raise DisagreementError(
                    f"{seen.call} is not what the world does in any of: {_some(before)}"
                )
            before = self._closed(called)
        self.states = before
        if seen.view is None:
            return
        self.states = frozenset(state for state in before if self.view(state) == seen.view)
        if not self.states:
            views = {str(self.view(state)) for state in before}
            raise DisagreementError(f"seen {seen.view}, but the world has one of: {_some(views)}")
        if seen.is_quiet and all(self._owes(state, seen.excused) for state in self.states):
            raise DisagreementError(
                f"all is quiet, but somebody owes a step in each of: {_some(self.states)}"
            )

    def _after(self, state: S, call: Call) -> Iterable[S]:
        for label in self.labels_of(state, call):
            step = self.world.step(state, label)
            if step is not None and step.is_refused is call.is_refused:
                yield step.after

    def _closed(self, states: frozenset[S]) -> frozenset[S]:
        """Return the states, and every state that hidden steps lead to from them."""
        closed = set(states)
        waiting = list(states)
        for state in waiting:
            for after in self._hidden_steps(state):
                if after not in closed:
                    closed.add(after)
                    waiting.append(after)
        return frozenset(closed)

    def _hidden_steps(self, state: S) -> tuple[S, ...]:
        onward = self._onward.get(state)
        if onward is None:
            onward = self._onward[state] = tuple(
                step.after
                for step in self.world.steps(state)
                if self.is_hidden(step.label.event) and step.after != state
            )
        return onward

    def _owes(self, state: S, excused: frozenset[Actor]) -> bool:
        return any(
            step.label.event.actor not in excused
            for step in self.world.steps(state)
            if step.label.event.actor is not Actor.OUTSIDE and step.after != state
        )


def follows(follower: Follower[S, V], trace: Iterable[Seen[V]]) -> DisagreementError | None:
    """Return the first disagreement of a trace with a world, or None."""
    for seen in trace:
        try:
            follower.see(seen)
        except DisagreementError as error:
            return error
    return None


def _some(things: Iterable[object], most: int = 5) -> str:
    told = sorted(map(str, things))
    more = f"\n  and {len(told) - most} more" if len(told) > most else ""
    return "".join(f"\n  {each}" for each in told[:most]) + more
