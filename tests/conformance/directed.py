"""A pytest plugin: directed tests as evidence for the rows of the verdict.

    python -m pytest -p tests.conformance.directed --parts DIR tests/unit/test_public_api.py

Some clauses are no matter of interleavings, such as which methods an agent has. Their tests are run
by `make verify` with this plugin, which writes `directed.json` into the directory of `--parts`: for
each row the tests that cite one of its clauses. A test that fails breaks its rows.
"""

import json
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Final

import pytest

from statemachine.conformance.verdict.criteria import CRITERIA

if TYPE_CHECKING:
    from pathlib import Path

__all__: list[str] = []

_PROPERTY: Final = "clauses of a directed test"

_tests: list[dict[str, Any]] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put the clauses that a test cites into its report, which travels between processes."""
    report = yield
    if report.when == "call":
        clauses = {each for mark in item.iter_markers("clause") for each in mark.args}
        report.user_properties.append((_PROPERTY, sorted(clauses)))
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Collect tests that ran, from this process or from a worker."""
    for name, clauses in report.user_properties if report.when == "call" else ():
        if name == _PROPERTY and not report.skipped:
            why = "" if report.passed else f"{report.nodeid} failed"
            _tests.append({"name": report.nodeid, "clauses": clauses, "why": why})


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the rows that the tests speak for."""
    parts: Path | None = session.config.getoption("--parts")
    if parts is not None and not hasattr(session.config, "workerinput"):
        parts.mkdir(parents=True, exist_ok=True)
        rows = [{"id": row.id, "checks": _checks(row.clauses)} for row in CRITERIA]
        text = json.dumps({"criteria": [row for row in rows if row["checks"]]}, indent=2)
        (parts / "directed.json").write_text(f"{text}\n", encoding="utf-8")


def _checks(clauses: tuple[str, ...]) -> list[dict[str, object]]:
    checks = []
    for test in sorted(_tests, key=lambda each: str(each["name"])):
        shared = [each for each in test["clauses"] if each in clauses]
        if shared:
            name = str(test["name"]).rpartition("/")[2]
            checks.append(
                {
                    "name": name,
                    "kind": "always",
                    "explored": 1,
                    "clauses": shared,
                    "why": test["why"],
                }
            )
    return checks
