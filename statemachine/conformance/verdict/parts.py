"""What other commands found out, read from the files that they left.

Theory. A part is one JSON object with any of the keys `criteria`, `cases`, `mutants` and `suites`,
in the form of the report. A part is input like any other: what does not have the form is refused
with its file and key, because a verdict on half of the evidence would be a wrong one.

    {"criteria": [{"id": "INV-01", "checks": [{"name", "kind", "explored", "clauses"?, "why"?}]}],
     "cases": [{"case", "title", "clauses", "schedules", "deviations", "verdict", "why"}],
     "mutants": [{"id", "fault", "layer", "must_die_of", "died_of", "killed", "seconds"}]}
"""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from .criteria import CRITERIA
from .evidence import Check, Engine, Evidence, Kind, PlantedFault

__all__ = ["PartError", "merge_parts"]

T = TypeVar("T")
Item = dict[str, Any]


class PartError(ValueError):
    """A part cannot be read; the message says which file, and what is wrong with it."""


def merge_parts(folder: Path) -> Evidence:
    """Read every `*.json` of a folder.

    Raises:
        PartError: the folder is missing, or a file in it is no part.
    """
    if not folder.is_dir():
        raise PartError(
            f"{folder} is no folder; run what writes the parts first, or leave --merge out"
        )
    evidence = Evidence()
    for path in sorted(folder.glob("*.json")):
        evidence += _read(path)
    return evidence


def _read(path: Path) -> Evidence:
    try:
        part = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise PartError(f"{path}: {error}") from error
    if not isinstance(part, dict):
        raise PartError(f"{path}: a part is a JSON object, not {type(part).__name__}")
    cases = _each(path, part, "cases", _case)
    return Evidence(
        checks=tuple(
            check
            for checks in (*_each(path, part, "criteria", _criterion), *cases)
            for check in checks
        ),
        faults=tuple(_each(path, part, "mutants", _fault)),
        stories=tuple(
            f"{case['case']} {case['title']}\n{case['why']}"
            for case in part.get("cases", ())
            if case["verdict"] == "broken"
        ),
        cases=tuple(part.get("cases", ())),
        suites=tuple(part.get("suites", ())),
    )


def _each(path: Path, part: Item, key: str, read: Callable[[Item], T]) -> list[T]:
    found = []
    for number, item in enumerate(part.get(key, ())):
        try:
            found.append(read(item))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            what = f"{type(error).__name__}: {error}"
            raise PartError(f"{path}: {key}[{number}] does not have the form: {what}") from error
    return found


def _criterion(item: Item) -> Iterable[Check]:
    return [
        Check(
            criterion=item["id"],
            name=each["name"],
            kind=Kind(each["kind"]),
            engine=Engine(each.get("engine", Engine.TESTS)),
            explored=int(each["explored"]),
            clauses=tuple(each.get("clauses", ())),
            why=each.get("why") or None,
        )
        for each in item["checks"]
    ]


def _case(item: Item) -> Iterable[Check]:
    """Read a case as a check of every row with which it shares a clause.

    A case that shares none, and is broken, still breaks the run: it becomes a check without a row.
    """
    clauses = tuple(item["clauses"])
    why = (item["why"] or "no reason was given") if item["verdict"] == "broken" else None
    rows = {row.id: [each for each in clauses if each in row.clauses] for row in CRITERIA}
    shared = {row: tuple(common) for row, common in rows.items() if common}
    return [
        Check(
            criterion=row,
            name=f"{item['case']} {item['title']}",
            kind=Kind.ALWAYS,
            engine=Engine.CASES,
            explored=int(item["schedules"]),
            clauses=common,
            why=why,
        )
        for row, common in (shared or {"": clauses}).items()
    ]


def _fault(item: Item) -> PlantedFault:
    return PlantedFault(
        id=item["id"],
        fault=item["fault"],
        layer=item["layer"],
        must_die_of=item["must_die_of"],
        died_of=item["died_of"],
        is_killed=bool(item["killed"]),
        seconds=float(item["seconds"]),
    )
