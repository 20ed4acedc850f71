"""What the tests bring to the rows of the verdict: planted faults, and suites of their own.

`make verify` learns both from tests that ran. Here they are read from where they are declared, so
that pages can name them without a run.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from typing import Any, Final

from .tree import ROOT

__all__ = ["drawn_checks", "planted_faults"]

_MUTANTS: Final = "tests/mutants"
_SUITES: Final = "tests/conformance"
_BRIDGE: Final = ("tests.conformance.test_acp_suite", "tests.conformance.acp_plants")
_GATE: Final = str(ROOT / "specs" / "gate")

ByRow = dict[str, tuple[str, ...]]


@cache
def planted_faults() -> ByRow:
    """Map each row to the ids of the faults that have to break it, in alphabetical order."""
    # The faults of the bridge are functions, which say no more than their name and their row.
    of_the_bridge = (
        (row, plant.__name__.strip("_").replace("_", "-"))
        for module in _BRIDGE
        for plant, row in import_module(module).PLANTS.items()
    )
    return _by_row([*_mutants(), *of_the_bridge])


@cache
def drawn_checks() -> ByRow:
    """Map each row to what suites beside the lifecycle's judge in programs that they draw."""
    found = []
    for path in sorted((ROOT / _SUITES).glob("test_*.py")):
        if "\ndef part(" in path.read_text(encoding="utf-8"):
            module = import_module(f"tests.conformance.{path.stem}")
            for row in json.loads(module.part(module.Count(), None))["criteria"]:
                # A *sometimes* only shows that the others are not empty.
                checks = [each for each in row["checks"] if each["kind"] != "sometimes"]
                found += [(row["id"], check["name"]) for check in checks]
    return _by_row(found)


def _mutants() -> Iterator[tuple[str, str]]:
    """Find every value that a test takes as `mutant`, as the kill matrix does."""
    # pytest is told by its settings where the gate of the corpus lies; a program is told here.
    if _GATE not in sys.path:
        sys.path.append(_GATE)
    for path in sorted((ROOT / _MUTANTS).glob("test_*.py")):
        for test in vars(import_module(f"tests.mutants.{path.stem}")).values():
            for mark in getattr(test, "pytestmark", ()):
                for mutant in _parameters(mark):
                    yield mutant.invariant, mutant.id


def _parameters(mark: Any) -> Iterable[Any]:  # noqa: ANN401  # a mark of pytest holds anything
    is_of_mutants = mark.name == "parametrize" and mark.args[0] == "mutant"
    return mark.args[1] if is_of_mutants else ()


def _by_row(found: Iterable[tuple[str, str]]) -> ByRow:
    rows: dict[str, set[str]] = {}
    for row, name in found:
        rows.setdefault(row, set()).add(name)
    return {row: tuple(sorted(names)) for row, names in rows.items()}
