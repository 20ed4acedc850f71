"""A verdict on every claim about a world."""

from collections.abc import Hashable, Iterable
from typing import Any, Generic, TypeVar

from attrs import define, field, frozen

from statemachine.explorer import Counterexample, Progress, Verdict
from statemachine.properties import Kind, Property

from .claims import Claim, Eventually, Everywhere, OnEveryStep, Sometimes
from .exploration import Explored, explore_world
from .fairness import refutation
from .rows import Event
from .world import Step, World

__all__ = ["Examined", "examine_world", "refute"]

S = TypeVar("S", bound=Hashable)


@frozen(kw_only=True)
class Examined:
    """What an exploration found."""

    name: str
    states: int
    steps: int
    """How many steps change something."""
    verdicts: tuple[Verdict, ...]

    @property
    def is_holding(self) -> bool:
        """Whether no claim is broken."""
        return all(verdict.holds for verdict in self.verdicts)


def examine_world(
    world: World[S], claims: Iterable[Claim], *, progress: Progress | None = None
) -> Examined:
    """Visit every state and judge every claim, after the one that any world owes: all rows fire."""
    asked = tuple(claims)
    watching: _Watching[S] = _Watching(
        claims=tuple(each for each in asked if isinstance(each, OnEveryStep | Sometimes))
    )
    found = explore_world(world, watch=watching.watch, progress=progress)
    verdicts = [_every_row_fires(found)]
    for claim in asked:
        match claim:
            case Everywhere():
                verdicts.append(_everywhere(found, claim))
            case Eventually():
                verdicts.append(_verdict(claim, *refutation(found, claim)))
            case _:
                verdicts.append(watching.verdict(found, claim))
    return Examined(
        name=world.name, states=len(found.states), steps=found.steps, verdicts=tuple(verdicts)
    )


def refute(world: World[S], claim: Everywhere[S] | OnEveryStep[S]) -> Counterexample | None:
    """Return a shortest run that breaks a claim, or None; looks no further than that."""
    broken: list[tuple[int, Step[S]]] = []

    def watch(number: int, step: Step[S]) -> bool:
        if not step.is_refused and _breaks(claim, step):
            broken.append((number, step))
        return bool(broken)

    found = explore_world(world, watch=watch)
    if not broken:
        return None
    number, step = broken[0]
    return found.story(claim, number, step, ends=f"but: {claim.statement}")


def _breaks(claim: Everywhere[S] | OnEveryStep[S], step: Step[S]) -> bool:
    if isinstance(claim, Everywhere):
        is_about = claim.about is None or claim.about(step.after)
        return is_about and not claim.holds(step.after)
    is_on = claim.on is None or step.label.event in claim.on
    is_about = is_on and (claim.about is None or claim.about(step))
    return is_about and not claim.holds(step)


@define(kw_only=True)
class _Watching(Generic[S]):
    """The claims about steps, while the steps come by."""

    claims: tuple[OnEveryStep[S] | Sometimes[S], ...]
    explored: dict[str, int] = field(factory=dict)
    broken: dict[str, tuple[int, Step[S]]] = field(factory=dict)
    _by_event: dict[Event, tuple[OnEveryStep[S] | Sometimes[S], ...]] = field(factory=dict)

    def watch(self, number: int, step: Step[S]) -> bool:
        """Look at one step."""
        event = step.label.event
        claims = self._by_event.get(event)
        if claims is None:
            claims = self._by_event[event] = tuple(
                claim for claim in self.claims if claim.on is None or event in claim.on
            )
        for claim in claims:
            if isinstance(claim, Sometimes):
                self.explored[claim.name] = self.explored.get(claim.name, 0) + claim.witness(step)
            elif not step.is_refused and (claim.about is None or claim.about(step)):
                self.explored[claim.name] = self.explored.get(claim.name, 0) + 1
                if claim.name not in self.broken and not claim.holds(step):
                    self.broken[claim.name] = (number, step)
        return False

    def verdict(self, found: Explored[S], claim: Property) -> Verdict:
        """Judge a claim when all steps have come by."""
        why = None
        if claim.name in self.broken:
            number, step = self.broken[claim.name]
            why = found.story(claim, number, step, ends=f"but: {claim.statement}")
        return _verdict(claim, self.explored.get(claim.name, 0), why)


def _verdict(claim: Property, explored: int, why: Counterexample | str | None) -> Verdict:
    if why is None and not explored:
        why = "nothing that can be reached is what this claim is about, so it says nothing"
    return Verdict(claim=claim, holds=why is None, explored=explored, why=why)


def _every_row_fires(found: Explored[Any]) -> Verdict:
    name = found.world.name
    claim = Property(
        name=f"every_row_of_the_{name}_world_fires",
        clauses=("B-132",),
        statement=f"Every row of the {name} world answers some event in some reachable state.",
        kind=Kind.SOMETIMES,
    )
    never = [row.name for row in found.world.rows if not found.fired[row]]
    return _verdict(claim, len(found.world.rows), f"never: {'; '.join(never)}" if never else None)


def _everywhere(found: Explored[S], claim: Everywhere[S]) -> Verdict:
    explored = 0
    for number, state in enumerate(found.states):
        if claim.about is None or claim.about(state):
            explored += 1
            if not claim.holds(state):
                ends = f"but: {claim.statement}"
                return _verdict(claim, explored, found.story(claim, number, ends=ends))
    return _verdict(claim, explored, None)
