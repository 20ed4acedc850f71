"""The verdict as a table for people: a headline for each row, and below it what it rests on."""

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence

from .criteria import CRITERIA, Criterion
from .evidence import Engine, Side
from .verdict import Judgement, RowVerdict, Ruling

__all__ = ["criteria_table", "verdict_table"]

_WIDTH = 100
_INDENT = " " * 8
_COLOURS = {RowVerdict.HOLDS: "32", RowVerdict.BROKEN: "1;31", RowVerdict.UNCHECKED: "33"}
_LETTERS = {"always": "A", "sometimes": "S", "eventually": "E"}


def verdict_table(judgement: Judgement, *, is_coloured: bool = False) -> list[str]:
    """Return the lines: every row, then the totals, the canaries and what cannot be relied on."""
    lines = [
        "row     kind  verdict    statement   (checks: engine, how many, how often it came up)"
    ]
    for ruling in judgement.rulings:
        lines += _row(ruling, judgement, is_coloured=is_coloured)
    return [*lines, "", *_totals(judgement)]


def criteria_table(criteria: Sequence[Criterion] = CRITERIA) -> list[str]:
    """Return the rows as they are promised, without a verdict."""
    lines: list[str] = []
    for row in criteria:
        lines.append(f"{row.id}  {_kinds(row):4}  {row.short}")
        lines += _wrapped(row.statement)
        lines += _wrapped(f"clauses: {' '.join(row.clauses) or '-'}")
        if row.assumed:
            lines += _wrapped(f"assumed: {row.assumed}")
        if row.later:
            lines += _wrapped(f"not yet: {row.later}")
    return lines


def _row(ruling: Ruling, judgement: Judgement, *, is_coloured: bool) -> list[str]:
    row = ruling.criterion
    verdict = f"{ruling.verdict.value:9}"
    if is_coloured:
        verdict = f"\033[{_COLOURS[ruling.verdict]}m{verdict}\033[0m"
    lines = [f"{row.id}  {_kinds(row):4}  {verdict}  {row.short}"]
    for checked in _checked_by(ruling, judgement):
        lines += _wrapped(checked)
    if ruling.killers:
        lines += _wrapped(f"kills: {_some(each.id for each in ruling.killers)}")
    elif judgement.evidence.faults and ruling.verdict is RowVerdict.HOLDS:
        lines += _wrapped("kills: no fault was planted for this row")
    if row.assumed and ruling.verdict is RowVerdict.HOLDS:
        lines += _wrapped(f"assumed: {row.assumed}")
    if ruling.why:
        lines += _wrapped(f"why: {ruling.why}")
    return lines


def _checked_by(ruling: Ruling, judgement: Judgement) -> list[str]:
    """Say who looked how often; what was found about the specification apart if it is not ours."""
    parts: dict[Side, list[str]] = {Side.SPECIFICATION: [], Side.RUNTIME: []}
    for engine in Engine:
        checks = [each for each in ruling.checks if each.engine is engine]
        if checks:
            explored = sum(each.explored for each in checks)
            parts[checks[0].side].append(f"{engine} {len(checks)} ({explored:,})")
    theory, practice = (", ".join(parts[side]) for side in (Side.SPECIFICATION, Side.RUNTIME))
    if judgement.owns_specification:
        together = ", ".join(filter(None, (theory, practice)))
        return [f"checks: {together}"] if together else []
    lines = [f"checks: {practice}"] if practice else []
    return [*lines, f"of the specification, not of this runtime: {theory}"] if theory else lines


def _totals(judgement: Judgement) -> list[str]:
    counts = ", ".join(f"{verdict} {judgement.count(verdict)}" for verdict in RowVerdict)
    evidence = judgement.evidence
    found = len(evidence.canaries) - len(judgement.missed)
    lines = [f"{len(judgement.rulings)} rows: {counts}"]
    lines.append(f"canaries: {found} of {len(evidence.canaries)} found")
    if evidence.faults:
        killed = len(evidence.faults) - len(judgement.survivors)
        lines.append(f"planted faults: {killed} of {len(evidence.faults)} killed")
    decisions = sum(int(str(suite.get("decisions", 0))) for suite in evidence.suites)
    if decisions:
        lines.append(f"refinement: {decisions:,} decisions compared with the machine")
    if evidence.cases:
        lines.append(f"cases: {len(evidence.cases)}")
    lines += _searches(evidence.suites)
    lines += [f"did not run: {name}: {why}" for name, why in evidence.skipped.items()]
    lines += [f"broken outside the rows: {each.name}" for each in judgement.loose]
    if judgement.unreliable:
        lines.append("UNRELIABLE: this verdict cannot be relied on")
        lines += [f"  {reason}" for reason in judgement.unreliable]
    return lines


def _searches(suites: Iterable[dict[str, object]]) -> list[str]:
    """Count the scenarios of several actors that were searched to the end, by the bound."""
    bounds: Counter[int] = Counter()
    runs: Counter[int] = Counter()
    for suite in suites:
        is_whole = suite.get("engine") == "schedules" and suite.get("complete")
        if is_whole and int(str(suite.get("actors", 0))) > 1:
            bound = int(str(suite["deviations"]))
            bounds[bound] += 1
            runs[bound] += int(str(suite["runs"]))
    return [
        f"schedules: {bounds[bound]} scenarios of several actors complete at {bound} deviations, "
        f"{runs[bound]:,} schedules"
        for bound in sorted(bounds)
    ]


def _kinds(row: Criterion) -> str:
    return " ".join(_LETTERS[kind.value] for kind in row.kinds)


def _some(names: Iterable[str], most: int = 3) -> str:
    listed = list(names)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT + "  ",
        break_on_hyphens=False,
    )  # fmt: skip
