"""What a run amounts to: a verdict on every row, and one on the run as a whole.

Theory. Four questions in this order decide a row. Did anything break it? Is a part of it out of
reach? Was everything that it needs looked at, and did it come up? Would a planted fault have been
seen? Only the answers no, no, yes, yes make it hold. Silence is never a pass: a check that never
came up, an engine that did not run and a witness that nobody found leave the row unchecked.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from attrs import frozen

from .criteria import CRITERIA, Criterion, Need
from .evidence import Canary, Check, Engine, Evidence, PlantedFault, Side

__all__ = ["Exit", "Judgement", "RowVerdict", "Ruling", "judge"]


class RowVerdict(StrEnum):
    """What is said about one row."""

    HOLDS = "holds"
    BROKEN = "broken"
    UNCHECKED = "unchecked"


class Exit:
    """The exit statuses of the command."""

    HOLDS = 0
    BROKEN = 1
    UNRELIABLE = 2
    UNCHECKED = 3


@frozen(kw_only=True)
class Ruling:
    """The verdict on one row, and everything it rests on."""

    criterion: Criterion
    verdict: RowVerdict
    why: str
    checks: tuple[Check, ...]
    killers: tuple[PlantedFault, ...]


@frozen(kw_only=True)
class Judgement:
    """The verdict on a run."""

    rulings: tuple[Ruling, ...]
    evidence: Evidence
    owns_specification: bool
    """Whether the subject is driven by the machine that was explored."""

    @property
    def loose(self) -> tuple[Check, ...]:
        """What broke without belonging to a row."""
        known = {ruling.criterion.id for ruling in self.rulings}
        checks = self.evidence.checks
        return tuple(each for each in checks if each.why and each.criterion not in known)

    @property
    def missed(self) -> tuple[Canary, ...]:
        """The canaries that were not found."""
        return tuple(each for each in self.evidence.canaries if not each.is_found)

    @property
    def survivors(self) -> tuple[PlantedFault, ...]:
        """The planted faults that nobody noticed."""
        return tuple(each for each in self.evidence.faults if each.is_survivor)

    @property
    def unreliable(self) -> tuple[str, ...]:
        """Why this run cannot be relied on; empty if it can."""
        reasons = [f"the {each.engine} canary was not found: {each.story}" for each in self.missed]
        if not self.evidence.canaries:
            reasons.append("no canary was planted")
        reasons += [f"the planted fault {each.id} survived" for each in self.survivors]
        return (*reasons, *self.evidence.failures)

    def count(self, verdict: RowVerdict) -> int:
        """Return how many rows have this verdict."""
        return sum(ruling.verdict is verdict for ruling in self.rulings)

    def exit_status(self, *, is_strict: bool) -> int:
        """Return 1 if something broke, else 2 if unreliable, else 3 or 0 by what is unchecked."""
        if self.count(RowVerdict.BROKEN) or self.loose:
            return Exit.BROKEN
        if self.unreliable:
            return Exit.UNRELIABLE
        if is_strict and self.count(RowVerdict.UNCHECKED):
            return Exit.UNCHECKED
        return Exit.HOLDS


def judge(
    evidence: Evidence,
    *,
    owns_specification: bool,
    criteria: Sequence[Criterion] = CRITERIA,
) -> Judgement:
    """Give the verdict on every row.

    A subject that is not driven by the explored machine gets no credit from what was found about
    the specification, and is not asked for it.
    """
    return Judgement(
        rulings=tuple(
            _rule(row, evidence, owns_specification=owns_specification) for row in criteria
        ),
        evidence=evidence,
        owns_specification=owns_specification,
    )


def _rule(row: Criterion, evidence: Evidence, *, owns_specification: bool) -> Ruling:
    checks = tuple(each for each in evidence.checks if each.criterion == row.id)
    faults = [each for each in evidence.faults if each.must_die_of == row.id]
    verdict, why = _weigh(row, checks, faults, evidence, owns_specification=owns_specification)
    return Ruling(
        criterion=row,
        verdict=verdict,
        why=why,
        checks=checks,
        killers=tuple(each for each in faults if each.is_killed),
    )


def _weigh(
    row: Criterion,
    checks: Sequence[Check],
    faults: Iterable[PlantedFault],
    evidence: Evidence,
    *,
    owns_specification: bool,
) -> tuple[RowVerdict, str]:
    broken = next((each for each in checks if each.why is not None), None)
    if broken is not None:
        first = (broken.why or "").strip().splitlines() or [""]
        return RowVerdict.BROKEN, f"{broken.engine}, {broken.name}: {first[0]}"
    doubts = _doubts(row, checks, faults, evidence, owns_specification=owns_specification)
    if doubts:
        return RowVerdict.UNCHECKED, "; ".join(doubts)
    return RowVerdict.HOLDS, ""


def _doubts(
    row: Criterion,
    checks: Sequence[Check],
    faults: Iterable[PlantedFault],
    evidence: Evidence,
    *,
    owns_specification: bool,
) -> list[str]:
    """Say everything that keeps an unbroken row from holding."""
    doubts = [row.later] if row.later else []
    if not row.later:
        doubts += _told(
            need
            for need in row.needs
            if (owns_specification or need.side is not Side.SPECIFICATION)
            and not _is_met(need, checks, owns_specification=owns_specification)
        )
        if doubts and evidence.skipped:
            doubts.append(f"did not run: {', '.join(evidence.skipped)}")
    doubts += [f"{each.name} never came up" for each in checks if each.explored == 0]
    survivor = next((each for each in faults if each.is_survivor), None)
    if survivor is not None:
        doubts.append(f"the planted fault {survivor.id} was not noticed: {survivor.fault}")
    return doubts


def _told(unmet: Iterable[Need]) -> list[str]:
    """Say what is missing, the clauses together."""
    needs = list(unmet)
    told = [f"no {need}" for need in needs if need.clause is None]
    clauses = " ".join(need.clause for need in needs if need.clause is not None)
    return [*told, f"nothing looked at {clauses}"] if clauses else told


def _is_met(need: Need, checks: Iterable[Check], *, owns_specification: bool) -> bool:
    """Say whether a check answers a need; a directed test answers only for the clause it cites."""
    return any(
        each.kind is need.kind
        and each.explored > 0
        and (need.side is None or each.side is need.side)
        and (owns_specification or each.side is Side.RUNTIME)
        and (
            each.engine is not Engine.TESTS if need.clause is None else need.clause in each.clauses
        )
        for each in checks
    )
