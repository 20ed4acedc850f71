"""Random programs over runtimes on one disk keep what is promised, and a planted fault is told."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from attrs import asdict
from hypothesis import HealthCheck, Phase, given, settings

from runtime import InvalidRecordError, Record, SessionHeader
from runtime.core import Core
from runtime.session.journal import Build, Journal
from runtime.session.log import SessionLog
from runtime.writer import Loading, Sequencer, Writer
from statemachine.conformance.verdict.evidence import Kind
from statemachine.conformance.verdict.parts import merge_parts
from tests.conformance.kept_acts import PROGRAMS, Act
from tests.conformance.kept_suite import Count, Program

if TYPE_CHECKING:
    from asyncio import Task


@pytest.mark.clause("E-12", "E-13", "E-17", "E-23", "E-30", "E-33", "E-46", "E-47", "E-49")
@pytest.mark.clause("E-38", "D-47", "F-07", "F-15", "F-52")
def test_whatever_happens_what_is_stored_goes_on(parts_directory: Path | None) -> None:
    """It only grows, nothing is missing at rest, and everything can be resumed."""
    count, why = Count(), None
    try:
        run_programs(count)
    except (AssertionError, ExceptionGroup) as error:
        why = str(error) or type(error).__name__
        raise
    finally:
        if parts_directory is not None:
            (parts_directory / "kept.json").write_text(part(count, why), encoding="utf-8")
    # The shortest profile draws too little for that.
    missing = [name for name, number in asdict(count).items() if not number and name != "reported"]
    assert not missing or count.programs < 100, count


def run_programs(count: Count) -> None:
    """Run as many programs as the profile says."""

    @settings(suppress_health_check=[HealthCheck.too_slow])
    @given(acts=PROGRAMS)
    def run(acts: list[Act]) -> None:
        Program(count).run(acts)

    run()


def part(count: Count, why: str | None) -> str:
    """Tell the verdict what was looked at: what was promised to be stored, and who died."""
    checks = [
        check("what a flush acknowledged is stored, whoever dies", count.acknowledged, "E-12", why),
        check("a dispose that reports nothing has stored all", count.disposed, "E-38", why),
        check("a call is stored before its body is entered", count.bodies, "E-47", why),
        check("what a crash left open is closed first", count.repaired, "E-17", why),
        seen("a process died while a tool ran", count.in_a_tool, "E-47"),
        seen("a process died while an interceptor waited", count.in_an_interceptor, "E-46"),
    ]
    suite = {"name": "kept sessions", "examples": count.programs, "judged": count.looks}
    rows = [{"id": "INV-13", "checks": checks}]
    return json.dumps({"criteria": rows, "suites": [suite]}, indent=2)


def check(name: str, explored: int, clause: str, why: str | None) -> dict[str, object]:
    """Make a claim that held, or did not."""
    return {
        "name": f"kept sessions: {name}",
        "kind": "always",
        "explored": explored,
        "clauses": [clause],
        "why": why,
    }


def seen(name: str, explored: int, clause: str) -> dict[str, object]:
    """Make a claim that something came up."""
    return {**check(name, explored, clause, None), "kind": "sometimes"}


def test_the_part_of_the_verdict_can_be_read(tmp_path: Path) -> None:
    """What is written has the form that the verdict reads, and both kinds are there."""
    (tmp_path / "kept.json").write_text(part(Count(bodies=3), "no"), encoding="utf-8")
    checks = merge_parts(tmp_path).checks
    assert {each.criterion for each in checks} == {"INV-13"}
    assert {each.why for each in checks if each.kind is Kind.ALWAYS} == {"no"}
    assert [each.why for each in checks if each.kind is Kind.SOMETIMES] == [None] * 2


# -- Planted faults --------------------------------------------------------------------------------


def _write_but_the_last(
    journal: Journal, header: SessionHeader, records: Sequence[Record], stored: int
) -> int:
    journal.backend.append(header.id, records[:-1])
    return stored + len(records)


def _keep_the_lease(_: Journal) -> None:
    """Give nothing back."""


def _trust_the_cursor(writer: Writer, task: "Task[int]") -> None:
    writer._attempt = None  # noqa: SLF001  # a fault inside
    if not task.cancelled() and task.exception() is None:
        writer._stored, writer._is_new = task.result(), False  # noqa: SLF001  # a fault inside


def _load_without_repair(journal: Journal, build: Build) -> SessionLog:
    journal.backend.acquire(journal.session_id)
    journal.is_leased = True
    stored = journal.backend.read(journal.session_id)
    return build(stored.header, stored.records)


_OPEN: Final[list[Act]] = [("tick", 9), ("disk ok", 9)] * 6
_STORED: Final[list[Act]] = [("create", 0), ("inject", 0), *_OPEN]
_GONE: Final[list[Act]] = [*_STORED, ("dispose", 0), *_OPEN]

FAULTS: Final[dict[str, tuple[type, str, object, list[Act]]]] = {
    "the last record of a batch is lost": (
        Journal,
        "write",
        _write_but_the_last,
        _STORED,
    ),
    "a lease is never given back": (
        Journal,
        "release",
        _keep_the_lease,
        [*_GONE, ("resume", 0)],
    ),
    "a write that failed is believed not to have happened": (
        Writer,
        "_ended",
        _trust_the_cursor,
        [("create", 0), ("inject", 0), ("tick", 9), ("disk late", 9)],
    ),
    "what a crash left open stays open": (
        Journal,
        "load",
        _load_without_repair,
        [("create", 0), ("send", 0), *_OPEN, ("crash", 0)],
    ),
    "a lease that was not given back is forgotten": (
        Sequencer,
        "let_go",
        lambda sequencer, journal, make_call: sequencer.put(journal.session_id, make_call),
        [*_GONE[:-12], ("tick", 9), ("disk error", 9), *_OPEN, ("resume", 0)],
    ),
    "a load that is given up keeps its lease": (
        Loading,
        "give_up",
        lambda *_: None,
        [*_GONE, ("resume", 0), ("tick", 9), ("give up", 9), *_OPEN, ("resume", 0)],
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a program that finds nothing without it."""
    where, name, broken, acts = FAULTS[fault]
    Program().run(acts)
    monkeypatch.setattr(where, name, broken)
    with pytest.raises((AssertionError, InvalidRecordError)):
        Program().run(acts)


# -- Faults that only chance may find --------------------------------------------------------------


async def _wait_for_nothing(_: Writer | Core) -> None:
    """Return at once."""


CANARIES: Final[dict[str, tuple[object, str, object]]] = {
    "a flush does not wait": (Writer, "flush", _wait_for_nothing),
    "no flush is asked for before a tool": (Core, "flush", _wait_for_nothing),
    "a resume writes no repair": (Journal, "load", _load_without_repair),
}


@pytest.mark.parametrize("canary", CANARIES)
def test_the_programs_find_a_fault_by_chance(canary: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without being told where to look, always the same programs."""
    monkeypatch.setattr(*CANARIES[canary])

    @settings(
        max_examples=200, database=None, derandomize=True, phases=[Phase.generate], deadline=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(acts=PROGRAMS)
    def run(acts: list[Act]) -> None:
        Program().run(acts)

    with pytest.raises((AssertionError, InvalidRecordError, ExceptionGroup)):
        run()
