"""The three kinds of property, and the edges that they speak of.

An *edge* is a shape, an input and the decision on it. An `Always` is a claim about every reachable
edge, a `Sometimes` says that something can happen at all, an `Eventually` that something must
happen. An `Always` may say which edges it is `about`. If there is no such edge it says nothing,
and that counts as broken: nothing here holds for want of an example.
"""

from collections.abc import Callable
from enum import StrEnum

from attrs import evolve, frozen

from statemachine.commands import Command, Input
from statemachine.machine import Decision
from statemachine.shape import Shape
from statemachine.windows import Window

__all__ = [
    "Always", "Assumption", "Attempt", "Claim", "Edge", "Eventually", "Kind", "Property",
    "Sometimes", "always",
]  # fmt: skip


class Kind(StrEnum):
    """What sort of claim a property makes."""

    ALWAYS = "always"
    SOMETIMES = "sometimes"
    EVENTUALLY = "eventually"


@frozen(kw_only=True)
class Edge:
    """One accepted pair of shape and input, with the decision on it."""

    before: Shape
    input: Input
    decision: Decision

    @property
    def after(self) -> Shape:
        """The shape after the input."""
        return self.decision.shape

    @property
    def commands(self) -> tuple[Command, ...]:
        """What the runtime is asked to do."""
        return self.decision.commands

    @property
    def is_moved(self) -> bool:
        """Whether the driver went to another window."""
        return self.before.window is not self.after.window

    def enters(self, *windows: Window) -> bool:
        """Say whether the driver comes into one of `windows` from another one."""
        return self.is_moved and self.after.window in windows

    def asks_in_order(self, first: Command, *then: Command) -> bool:
        """Say whether `first` is asked for, before each of `then` that is asked for as well."""
        asked = self.commands
        return first in asked and all(
            asked.index(first) < asked.index(late) for late in then if late in asked
        )


@frozen(kw_only=True)
class Attempt:
    """A pair of shape and input that got no decision: refused, or an illegal move."""

    before: Shape
    input: Input
    why: str


@frozen(kw_only=True)
class Property:
    """What every property has."""

    name: str
    clauses: tuple[str, ...]
    invariant: str | None = None
    statement: str
    """One positive sentence."""
    kind: Kind = Kind.ALWAYS


@frozen(kw_only=True)
class Always(Property):
    """A claim about every reachable edge, or about those that it is `about`."""

    holds: Callable[[Edge], bool]
    about: Callable[[Edge], bool] | None = None


@frozen(kw_only=True)
class Sometimes(Property):
    """A claim that an edge can be reached and, from there, a shape (`then`) through shapes."""

    witness: Callable[[Edge], bool]
    then: Callable[[Shape], bool] | None = None
    through: Callable[[Shape], bool] | None = None
    kind: Kind = Kind.SOMETIMES


@frozen(kw_only=True)
class Assumption:
    """One part of a premise about the world around the agent."""

    name: str
    text: str
    excludes: frozenset[Input] = frozenset()
    """What no longer happens."""
    is_fair: bool = False
    """Whether it is the weak fairness of the driver: what it waits for answers."""


@frozen(kw_only=True)
class Eventually(Property):
    """A claim that every run from `from_` comes to `to`, under assumptions that are all needed."""

    premise: tuple[Assumption, ...]
    from_: Callable[[Shape], bool]
    to: Callable[[Shape], bool]
    kind: Kind = Kind.EVENTUALLY

    def without(self, assumption: Assumption) -> "Eventually":
        """Return the variant without one part of the premise, which must be false."""
        rest = tuple(part for part in self.premise if part is not assumption)
        return evolve(self, name=f"{self.name}, although not {assumption.name}", premise=rest)


Claim = Callable[[Edge], bool]


def always(
    *clauses: str, invariant: str | None = None, about: Claim | None = None
) -> Callable[[Claim], Always]:
    """Turn a function of an edge into an `Always` that has its name and its sentence."""

    def declare(claim: Claim) -> Always:
        return Always(
            name=claim.__name__,
            clauses=clauses,
            invariant=invariant,
            statement=(claim.__doc__ or "").strip(),
            holds=claim,
            about=about,
        )

    return declare
