"""A verdict on every property: what was looked at, and what breaks it."""

from collections import deque
from collections.abc import Iterable

from attrs import frozen

from statemachine.commands import OUTSIDE_INPUTS, Input
from statemachine.properties import (
    FALSE_VARIANTS,
    PROPERTIES,
    Always,
    Attempt,
    Edge,
    Eventually,
    Kind,
    Property,
    Sometimes,
)  # fmt: skip
from statemachine.shape import Shape

from .graph import Exploration
from .leads_to import leads_to
from .story import Counterexample, told

__all__ = ["LEGAL", "NEEDED", "TOTAL", "Verdict", "check", "check_premises"]


@frozen(kw_only=True)
class Verdict:
    """Whether one property holds, and what that rests on."""

    claim: Property
    holds: bool
    explored: int
    """How many edges or shapes the claim was about."""
    why: Counterexample | str | None = None
    """What breaks it, if it is broken."""

    @property
    def name(self) -> str:
        """Return the name of the property."""
        return self.claim.name

    @property
    def kind(self) -> Kind:
        """Return the kind of the property."""
        return self.claim.kind


def _is_in_order(_edge: Edge) -> bool:
    return True


TOTAL = Always(
    name="every_input_from_outside_is_answered",
    clauses=("B-132",),
    statement="In every reachable shape every input from outside has an answer.",
    holds=_is_in_order,
)
LEGAL = Always(
    name="every_move_is_legal",
    clauses=("A-41", "C-16"),
    statement="No reachable row asks a small machine for a move that its state does not allow.",
    holds=_is_in_order,
)

NEEDED = Always(
    name="every_part_of_every_premise_is_needed",
    clauses=("A-80", "B-136"),
    statement="Whatever must come does not come when one part of its premise is left out.",
    holds=_is_in_order,
)


def check(
    exploration: Exploration, properties: Iterable[Property] = PROPERTIES
) -> tuple[Verdict, ...]:
    """Return a verdict on every property, after the two that any machine owes: total and legal."""
    unanswered = [each for each in exploration.refused if each.input in OUTSIDE_INPUTS]
    verdicts = [
        _verdict_on_attempts(exploration, TOTAL, unanswered),
        _verdict_on_attempts(exploration, LEGAL, exploration.illegal),
    ]
    for claim in properties:
        match claim:
            case Always():
                verdicts.append(_check_always(exploration, claim))
            case Sometimes():
                verdicts.append(_check_sometimes(exploration, claim))
            case Eventually():
                verdicts.append(_check_eventually(exploration, claim))
            case _:
                raise TypeError(f"{claim!r} is no kind of property that the explorer knows")
    return tuple(verdicts)


def check_premises(
    exploration: Exploration, variants: Iterable[Eventually] = FALSE_VARIANTS
) -> Verdict:
    """Return a verdict on the claims that must be refuted: each lacks a part of its premise."""
    judged = [_check_eventually(exploration, variant) for variant in variants]
    holding = [verdict.name for verdict in judged if verdict.holds]
    return Verdict(
        claim=NEEDED,
        holds=not holding,
        explored=len(judged),
        why=f"these hold all the same: {'; '.join(holding)}" if holding else None,
    )


def _verdict_on_attempts(
    exploration: Exploration, claim: Always, attempts: Iterable[Attempt]
) -> Verdict:
    broken = next(iter(attempts), None)
    why = None
    if broken is not None:
        end = f"then {broken.input.value} in: {broken.before} - {broken.why}"
        steps = tuple(map(told, exploration.path_to(broken.before)))
        why = Counterexample(claim=claim.name, steps=steps, ends=end)
    return Verdict(claim=claim, holds=why is None, explored=len(exploration.edges), why=why)


def _check_always(exploration: Exploration, claim: Always) -> Verdict:
    explored = 0
    why: Counterexample | str | None = None
    for edge in exploration.edges:
        if claim.about is not None and not claim.about(edge):
            continue
        explored += 1
        if not claim.holds(edge):
            steps = tuple(map(told, (*exploration.path_to(edge.before), edge)))
            why = Counterexample(claim=claim.name, steps=steps, ends=f"but: {claim.statement}")
            break
    else:
        if not explored:
            why = "no reachable edge is one that this claim is about, so it says nothing"
    return Verdict(claim=claim, holds=why is None, explored=explored, why=why)


def _check_sometimes(exploration: Exploration, claim: Sometimes) -> Verdict:
    explored = 0
    holds = False
    for edge in exploration.edges:
        if claim.witness(edge):
            explored += 1
            holds = holds or _is_followed(exploration, claim, edge.after)
    why = None if holds else f"never, in {len(exploration.edges)} edges: {claim.statement}"
    return Verdict(claim=claim, holds=holds, explored=explored, why=why)


def _is_followed(exploration: Exploration, claim: Sometimes, start: Shape) -> bool:
    """Say whether a run from `start` comes to `then`, by shapes that are `through`."""
    if claim.then is None:
        return True
    seen, waiting = {start}, deque([start])
    while waiting:
        shape = waiting.popleft()
        if claim.then(shape):
            return True
        for edge in exploration.leaving[shape]:
            after = edge.after
            if after not in seen and (claim.through is None or claim.through(after)):
                seen.add(after)
                waiting.append(after)
    return False


def _check_eventually(exploration: Exploration, claim: Eventually) -> Verdict:
    excluded = frozenset[Input]().union(*(part.excludes for part in claim.premise))
    why = leads_to(
        exploration,
        claim.from_,
        claim.to,
        claim=claim.name,
        excludes=excluded,
        is_fair=any(part.is_fair for part in claim.premise),
    )
    explored = sum(map(claim.from_, exploration.shapes))
    if why is None and not explored:
        return Verdict(
            claim=claim, holds=False, explored=0,
            why="no reachable shape is one that this claim starts from, so it says nothing",
        )  # fmt: skip
    return Verdict(claim=claim, holds=why is None, explored=explored, why=why)
