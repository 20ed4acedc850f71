"""Searches cases and scenarios, and writes what came of it for the verdict if `--parts` asks."""

import json
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import asdict, frozen

from statemachine.conformance.stage.schedules import Scenario, SearchResult, search

__all__ = ["Examine", "Holds", "examine", "holds"]

Holds = Callable[[Scenario[Any]], None]
"""Runs every schedule of a scenario and asserts that none fails."""
Examine = Callable[..., None]
"""Searches the scenarios of one case and asserts that none can fail."""

_CASES: Final = Path(__file__).resolve().parents[2] / "specs" / "cases"
_HEADING: Final = re.compile(r"^## (CASE-\d{3}) (.+)$")
_PROPERTY: Final = "examined case"

_SEARCHED: Final = "searched scenario"

_examined: dict[str, dict[str, Any]] = {}
_searched: dict[tuple[str, str], dict[str, Any]] = {}


@frozen(kw_only=True)
class Examined:
    """What came of one case."""

    case: str
    title: str
    clauses: list[str]
    schedules: int
    deviations: int
    verdict: str
    why: str


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Let contained failures go unlogged: a search meets the same one a thousand times."""
    logger = logging.getLogger("quiesce")
    logger.disabled = True
    yield
    logger.disabled = False


@pytest.fixture
def holds(deviations: int, record_property: Callable[[str, object], None]) -> Holds:
    """Give the search of a scenario, with as many deviations as the run is allowed."""

    def run(scenario: Scenario[Any]) -> None:
        result = search(scenario, deviations=deviations)
        record_property(_SEARCHED, _told(scenario, result))
        assert result.failure is None, str(result.failure)
        assert result.complete, result.first_too_long

    return run


def _told(scenario: Scenario[Any], result: SearchResult) -> dict[str, Any]:
    return {
        "name": scenario.name,
        "engine": "schedules",
        "actors": len(scenario.actors),
        "deviations": result.deviations,
        "runs": result.runs,
        "complete": result.holds,
        "seconds": round(result.seconds, 3),
    }


@pytest.fixture
def examine(
    request: pytest.FixtureRequest, deviations: int, record_property: Callable[[str, object], None]
) -> Examine:
    """Give the search to a test that is marked with its case and the clauses of the case."""

    def run(*scenarios: Scenario[Any]) -> None:
        case = request.node.get_closest_marker("case").args[0]
        title, clauses = told_cases()[case]
        marked = sorted(request.node.get_closest_marker("clause").args)
        assert marked == sorted(clauses), f"{case} is told with the clauses {clauses}"
        results = [search(scenario, deviations=deviations) for scenario in scenarios]
        for scenario, result in zip(scenarios, results, strict=True):
            record_property(_SEARCHED, _told(scenario, result))
        why = "; ".join(filter(None, map(_complaint, results)))
        examined = Examined(
            case=case,
            title=title,
            clauses=clauses,
            schedules=sum(result.runs for result in results),
            deviations=deviations,
            verdict="broken" if why else "holds",
            why=why,
        )
        record_property(_PROPERTY, asdict(examined))
        assert not why, why

    return run


def told_cases() -> dict[str, tuple[str, list[str]]]:
    """Read from the specification which cases there are: id to title and clauses."""
    told: dict[str, tuple[str, list[str]]] = {}
    for path in sorted(_CASES.glob("*.md")):
        for section in path.read_text(encoding="utf-8").split("\n## ")[1:]:
            heading = _HEADING.match(f"## {section.partition(chr(10))[0]}")
            if heading:
                told[heading[1]] = (heading[2], re.findall(r"[A-L]-\d+", _last_part(section)))
    return told


def _last_part(section: str) -> str:
    return section.rpartition("Clauses:")[2]


def _complaint(result: SearchResult) -> str:
    if result.failure is not None:
        return str(result.failure)
    if not result.complete:
        return f"{result.scenario}: {result.too_long} schedules did not end"
    return ""


# -- What is written for the verdict: by the process that runs the session, workers or not ---------


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Collect what the searches reported, from this process or from a worker."""
    if report.when == "call":
        for name, value in report.user_properties:
            if name == _PROPERTY and isinstance(value, dict):
                _examined[value["case"]] = value
            elif name == _SEARCHED and isinstance(value, dict):
                _searched[report.nodeid, value["name"]] = value


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the cases into the directory for checked criteria."""
    parts: Path | None = session.config.getoption("--parts")
    if parts is not None and not hasattr(session.config, "workerinput"):
        parts.mkdir(parents=True, exist_ok=True)
        cases = [_examined[case] for case in sorted(_examined)]
        suites = [_searched[key] for key in sorted(_searched)]
        text = json.dumps({"cases": cases, "suites": suites}, indent=2, ensure_ascii=False)
        (parts / "cases.json").write_text(text + "\n", encoding="utf-8")
