"""The verdict as a file, for whoever reads it without eyes."""

import json
from pathlib import Path

from .evidence import Canary, Check, PlantedFault
from .verdict import Judgement, RowVerdict, Ruling

__all__ = ["ReportError", "as_report", "clear_report", "write_report"]


class ReportError(Exception):
    """The report cannot be written."""


def as_report(judgement: Judgement, **about: object) -> dict[str, object]:
    """Return the report; `about` says what was judged and how."""
    evidence = judgement.evidence
    return {
        "criteria": [_row(ruling) for ruling in judgement.rulings],
        "explorer": evidence.explorer,
        "suites": list(evidence.suites),
        "cases": list(evidence.cases),
        "mutants": [_fault(each) for each in evidence.faults],
        "canaries": [_canary(each) for each in evidence.canaries],
        "skipped": evidence.skipped,
        "unreliable": list(judgement.unreliable),
        "stories": list(evidence.stories),
        "totals": {verdict.value: judgement.count(verdict) for verdict in RowVerdict},
        "owns_specification": judgement.owns_specification,
        **about,
    }


def clear_report(path: Path) -> None:
    """Take away an earlier report, which nobody may mistake for that of a run that failed.

    Raises:
        ReportError: that place cannot be written to, which is better known before the run.
    """
    _write(path, "")
    if path.is_file() and not path.is_symlink():
        path.unlink()


def write_report(path: Path, report: dict[str, object]) -> None:
    """Write a report, making its folder.

    Raises:
        ReportError: that place cannot be written to.
    """
    _write(path, f"{json.dumps(report, indent=2, ensure_ascii=False)}\n")


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ReportError(f"cannot write the report: {error}; say --report PATH") from error


def _row(ruling: Ruling) -> dict[str, object]:
    row = ruling.criterion
    return {
        "id": row.id,
        "statement": row.statement,
        "clauses": list(row.clauses),
        "checks": [_check(each) for each in ruling.checks],
        "verdict": ruling.verdict.value,
        "why": ruling.why,
        "kinds": [kind.value for kind in row.kinds],
        "assumed": row.assumed,
        "killers": [each.id for each in ruling.killers],
    }


def _check(check: Check) -> dict[str, object]:
    return {
        "name": check.name,
        "kind": check.kind.value,
        "explored": check.explored,
        "engine": check.engine.value,
        "side": check.side.value,
        "clauses": list(check.clauses),
        "why": check.why or "",
    }


def _fault(fault: PlantedFault) -> dict[str, object]:
    return {
        "id": fault.id,
        "fault": fault.fault,
        "layer": fault.layer,
        "must_die_of": fault.must_die_of,
        "died_of": fault.died_of,
        "killed": fault.is_killed,
        "seconds": fault.seconds,
    }


def _canary(canary: Canary) -> dict[str, object]:
    return {
        "engine": canary.engine,
        "fault": canary.fault,
        "found": canary.is_found,
        "story": canary.story,
    }
