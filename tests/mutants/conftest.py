"""Collects what became of every planted fault, and writes the kill matrix if `--parts` asks.

A test says what became of a fault in one of two ways:

* It is parametrized by `mutant`, a value with `id`, `fault` and `invariant` (the row whose checks
  must find it). Then its outcome is the record: passed is killed. The tests of a fault belong
  together: all of them have to pass. Where the fault lies is told by the module's `LAYER`, else by
  the file's name: `runtime` if that is part of it, `declaration` if not.
* It takes `record_mutant` and calls it once for a fault, for instance when it knows better what the
  fault died of:

      def test_a_fault(record_mutant: RecordMutant) -> None:
          record_mutant(
              id="lost-wake", fault="a send wakes nobody", layer="runtime",
              must_die_of="INV-08", died_of=broken.invariant, seconds=0.2,
          )
          assert broken.invariant == "INV-08"

  `killed` is `died_of == must_die_of` unless it is given. Record first, then assert: a survivor has
  to be in the matrix too. A test that fails is never a kill, whatever it recorded.

What is written is `mutants.json` in the directory of `--parts`:

    {"mutants": [{"id", "fault", "layer", "must_die_of", "died_of", "killed", "seconds"}]}
"""

import json
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Final, Protocol

import pytest

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["RecordMutant", "record_mutant"]

_PROPERTY: Final = "planted fault"

_recorded: dict[str, dict[str, Any]] = {}


class RecordMutant(Protocol):
    """Says what became of one planted fault."""

    def __call__(  # noqa: PLR0913  # the columns of the matrix
        self,
        *,
        id: str,  # noqa: A002  # the word of the matrix
        fault: str,
        layer: str,
        must_die_of: str,
        died_of: str | None,
        killed: bool | None = None,
        seconds: float = 0.0,
    ) -> None:
        """Record one fault."""


@pytest.fixture
def record_mutant(record_property: Callable[[str, object], None]) -> RecordMutant:
    """Give the function that records a planted fault."""

    def record(  # noqa: PLR0913  # the columns of the matrix
        *,
        id: str,  # noqa: A002  # the word of the matrix
        fault: str,
        layer: str,
        must_die_of: str,
        died_of: str | None,
        killed: bool | None = None,
        seconds: float = 0.0,
    ) -> None:
        is_killed = died_of == must_die_of if killed is None else killed
        record_property(
            _PROPERTY,
            {
                "id": id,
                "fault": fault,
                "layer": layer,
                "must_die_of": must_die_of,
                "died_of": died_of,
                "killed": is_killed,
                "seconds": round(seconds, 3),
            },
        )

    return record


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put the outcome of a test of one fault into its report, which travels between processes."""
    report = yield
    if report.when == "call":
        recorded = [value for name, value in report.user_properties if name == _PROPERTY]
        if not recorded and (implied := _implied(item, report)):
            report.user_properties.append((_PROPERTY, implied))
        for value in recorded:
            assert isinstance(value, dict)
            value["killed"] = value["killed"] and report.passed
    return report


def _implied(item: pytest.Item, report: pytest.TestReport) -> dict[str, Any] | None:
    """Return the record of a test that is parametrized by `mutant` and says no more."""
    call: Any = getattr(item, "callspec", None)
    mutant: Any = call.params.get("mutant") if call is not None else None
    if not all(hasattr(mutant, name) for name in ("id", "fault", "invariant")):
        return None
    module = item.getparent(pytest.Module)
    layer = "runtime" if "runtime" in item.path.name else "declaration"
    return {
        "id": mutant.id,
        "fault": mutant.fault,
        "layer": getattr(module.obj if module else None, "LAYER", layer),
        "must_die_of": mutant.invariant,
        "died_of": mutant.invariant if report.passed else None,
        "killed": report.passed,
        "seconds": round(report.duration, 3),
    }


# -- What is written for the verdict: by the process that runs the session, workers or not ---------


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Collect what became of faults, from this process or from a worker."""
    if report.when != "call":
        return
    for name, value in report.user_properties:
        if name == _PROPERTY and isinstance(value, dict):
            _merge(value)


def _merge(value: dict[str, Any]) -> None:
    """Keep the worst of what several tests say of one fault."""
    known = _recorded.setdefault(value["id"], value)
    if known is not value:
        known["seconds"] = round(known["seconds"] + value["seconds"], 3)
        if not value["killed"]:
            known["killed"], known["died_of"] = False, value["died_of"]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the kill matrix into the directory for checked criteria."""
    parts: Path | None = session.config.getoption("--parts")
    if parts is not None and not hasattr(session.config, "workerinput"):
        parts.mkdir(parents=True, exist_ok=True)
        mutants = [_recorded[name] for name in sorted(_recorded)]
        text = json.dumps({"mutants": mutants}, indent=2, ensure_ascii=False)
        (parts / "mutants.json").write_text(text + "\n", encoding="utf-8")
