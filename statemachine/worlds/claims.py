"""What may be claimed of a world: of its states, of its steps, and of where its runs lead.

The kinds are those of the lifecycle's properties. A claim that finds nothing to speak of counts as
broken, and so does a row of the table that never fires: nothing holds for want of an example.
"""

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from attrs import evolve, frozen

from statemachine.properties import Kind, Property

from .rows import Actor, Event
from .world import Step

__all__ = [
    "Assumption", "Claim", "Eventually", "Everywhere", "OnEveryStep", "Sometimes", "everywhere",
    "on_every_step", "sometimes",
]  # fmt: skip

S = TypeVar("S", bound=Hashable)


@frozen(kw_only=True)
class Everywhere(Property, Generic[S]):
    """A claim about every reachable state, or about those that it is `about`."""

    holds: Callable[[S], bool]
    about: Callable[[S], bool] | None = None


@frozen(kw_only=True)
class OnEveryStep(Property, Generic[S]):
    """A claim about every step by some events, or about those that it is `about`."""

    holds: Callable[[Step[S]], bool]
    on: tuple[Event, ...] | None = None
    """None for all events."""
    about: Callable[[Step[S]], bool] | None = None


@frozen(kw_only=True)
class Sometimes(Property, Generic[S]):
    """A claim that such a step can be reached, or such a refusal."""

    witness: Callable[[Step[S]], bool]
    on: tuple[Event, ...] | None = None
    kind: Kind = Kind.SOMETIMES


@frozen(kw_only=True)
class Assumption:
    """One part of a premise."""

    name: str
    text: str
    fair: frozenset[Actor] = frozenset()
    """Who, while there is something to do, at some time does it."""
    stops: frozenset[Event] = frozenset()
    """What no longer happens."""


@frozen(kw_only=True)
class Eventually(Property, Generic[S]):
    """A claim that every run from `from_` comes to `to`, at the same place, under assumptions."""

    places: tuple[int, ...]
    from_: Callable[[S, int], bool]
    to: Callable[[S, int], bool]
    premise: tuple[Assumption, ...]
    kind: Kind = Kind.EVENTUALLY

    def without(self, assumption: Assumption) -> "Eventually[S]":
        """Return the variant without one part of the premise, which must be false."""
        rest = tuple(part for part in self.premise if part is not assumption)
        return evolve(self, name=f"{self.name}, although not {assumption.name}", premise=rest)


Claim = Everywhere[Any] | OnEveryStep[Any] | Sometimes[Any] | Eventually[Any]


def everywhere(
    clauses: str, *, invariant: str | None = None, about: Callable[[S], bool] | None = None
) -> Callable[[Callable[[S], bool]], Everywhere[S]]:
    """Turn a function of a state into a claim that has its name and its sentence."""

    def declare(claim: Callable[[S], bool]) -> Everywhere[S]:
        return Everywhere(
            name=claim.__name__, clauses=tuple(clauses.split()), invariant=invariant,
            statement=_sentence(claim), holds=claim, about=about,
        )  # fmt: skip

    return declare


def on_every_step(
    clauses: str,
    *,
    on: tuple[Event, ...] | None = None,
    invariant: str | None = None,
    about: Callable[[Step[S]], bool] | None = None,
) -> Callable[[Callable[[Step[S]], bool]], OnEveryStep[S]]:
    """Turn a function of a step into a claim that has its name and its sentence."""

    def declare(claim: Callable[[Step[S]], bool]) -> OnEveryStep[S]:
        return OnEveryStep(
            name=claim.__name__, clauses=tuple(clauses.split()), invariant=invariant,
            statement=_sentence(claim), holds=claim, about=about, on=on,
        )  # fmt: skip

    return declare


def sometimes(
    clauses: str, *, on: tuple[Event, ...] | None = None, invariant: str | None = None
) -> Callable[[Callable[[Step[S]], bool]], Sometimes[S]]:
    """Turn a function of a step into a claim that it can be reached."""

    def declare(claim: Callable[[Step[S]], bool]) -> Sometimes[S]:
        return Sometimes(
            name=claim.__name__, clauses=tuple(clauses.split()), invariant=invariant,
            statement=_sentence(claim), witness=claim, on=on,
        )  # fmt: skip

    return declare


def _sentence(claim: Callable[..., bool]) -> str:
    return (claim.__doc__ or "").strip()
