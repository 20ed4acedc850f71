"""A real runtime over a real database does what the store world can do; a planted fault is told."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from runtime import Record, Session, SessionHeader
from runtime.persistence import Persistence
from runtime.session.journal import Build, Journal
from runtime.session.log import SessionLog
from runtime.session.repair import repair
from runtime.writer import Loading, Sequencer, Writer
from statemachine.conformance.verdict.parts import merge_parts
from statemachine.worlds import Call, DisagreementError, Seen, follows
from statemachine.worlds.store import Kind, Work, store_follower, view_of
from statemachine.worlds.store import table as t
from tests.conformance.store_suite import Act, Count, run_program, store_suite

if TYPE_CHECKING:
    from asyncio import Task


@pytest.mark.clause("E-12", "E-13", "E-17", "E-22", "E-23", "E-30", "E-31", "E-33", "E-36", "E-41")
@pytest.mark.clause("D-43", "D-51", "E-38", "E-40", "E-46", "E-47", "E-49", "E-79", "E-101", "F-15")
def test_a_runtime_follows_the_store_world(parts_directory: Path | None) -> None:
    """Whatever is said, written, resumed, unloaded, stopped and killed, and however disks fail."""
    why, count = None, Count()
    try:
        store_suite(count=count)
    except AssertionError as error:
        why = str(error)
        raise
    finally:
        if parts_directory is not None:
            (parts_directory / "store.json").write_text(part(count, why), encoding="utf-8")
    assert count.judged > count.programs
    # The shortest profile draws too little for the rest.
    assert count.programs < 50 or min(count.crashes, count.resumes, count.failures) > 0, count


def part(count: Count, why: str | None) -> str:
    """Tell the verdict what was compared with the world, and that it got into trouble."""

    def check(name: str, kind: str, explored: int, clause: str) -> dict[str, object]:
        story = why if kind == "always" else None
        return {
            "name": f"store: {name}",
            "kind": kind,
            "explored": explored,
            "clauses": [clause],
            "why": story,
        }

    checks = [
        check("the runtime does what the store world can do", "always", count.judged, "E-38"),
        check("an agent was disposed", "sometimes", count.disposes, "E-38"),
        check("a process was killed", "sometimes", count.crashes, "E-79"),
        check("the disk failed", "sometimes", count.failures, "E-13"),
    ]
    suite = {"name": "store", "examples": count.programs, "judged": count.judged}
    rows = [{"id": "INV-13", "checks": checks}]
    return json.dumps({"criteria": rows, "suites": [suite]}, indent=2)


def test_the_part_of_the_verdict_can_be_read(tmp_path: Path) -> None:
    """What is written has the form that the verdict reads."""
    (tmp_path / "store.json").write_text(part(Count(judged=3), "no"), encoding="utf-8")
    checks = merge_parts(tmp_path).checks
    assert {each.criterion for each in checks} == {"INV-13"}
    assert {(each.explored, each.why) for each in checks if each.why} == {(3, "no")}


# -- Directed programs, and the faults that they find ----------------------------------------------

_ANSWER: Final[list[Act]] = [("go on", 9)]
_OPEN_TURN: Final[list[Act]] = [("send", 0), ("tick", 99), ("disk", 0), ("tick", 99)]
_STORED: Final[list[Act]] = [("send", 0), *_ANSWER]
_GONE: Final[list[Act]] = [*_STORED, ("dispose", 0), *_ANSWER]
_OK: Final[Act] = ("disk", 0)
_ERROR: Final[Act] = ("disk", 2)
_LATE: Final[Act] = ("disk", 3)
_REST: Final[Act] = ("tick", 99)

PROGRAMS: Final[dict[str, list[Act]]] = {
    "a write is late": [("send", 0), _REST, _LATE, _REST, ("think", 0), _REST, *_ANSWER],
    "a write fails": [("send", 0), _REST, _ERROR, _REST, ("think", 0), _REST, *_ANSWER],
    "a flush waits": [*_OPEN_TURN, ("think", 0), _REST, _OK, _REST],
    "a dispose in a turn": [*_OPEN_TURN, ("dispose", 0), _REST, *_ANSWER],
    "a crash in a turn": [*_OPEN_TURN, ("crash", 0), ("resume", 0), _REST, *_ANSWER],
    "a crash behind the work": [("send", 0), _REST, ("crash", 1), ("resume", 0), *_ANSWER],
    "a keeper that is reloaded in a turn": [*_OPEN_TURN, ("unload", 1), *_ANSWER, *_STORED],
    "a keeper that is gone": [*_OPEN_TURN, ("unload", 0), *_ANSWER, ("dispose", 0), *_ANSWER],
    "an application that stops": [*_OPEN_TURN, ("stop", 0), _REST, *_ANSWER],
    "a resume that is given up": [*_GONE, ("resume", 0), _REST, ("give up", 0), *_ANSWER,
                                  ("rival", 0)],
    "a last write that is not done": [*_GONE[:-1], _REST, _ERROR, _REST,
                                      ("resume", 0), *_ANSWER],
    "a disk that hangs": [("send", 0), _REST, ("dispose", 0), _REST, *[("grace", 0)] * 4, *_ANSWER],
    "two processes": [*_GONE, ("rival", 0), ("resume", 0), *_ANSWER, ("rival", 0), ("resume", 0),
                      *_ANSWER],
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_directed_program_follows_the_world(name: str) -> None:
    """Without a fault there is nothing to tell."""
    count = Count()
    run_program(PROGRAMS[name], count)
    assert count.judged > 2


def _write_but_the_last(
    journal: Journal, header: SessionHeader, records: Sequence[Record], stored: int
) -> int:
    journal.backend.append(header.id, records[:-1])
    return stored + len(records)


def _trust_the_cursor(writer: Writer, task: "Task[int]") -> None:
    writer._attempt = None  # noqa: SLF001  # a fault inside
    if not task.cancelled() and task.exception() is None:
        writer._stored, writer._is_new = task.result(), False  # noqa: SLF001  # a fault inside


def _load_without_repair(journal: Journal, build: Build) -> SessionLog:
    journal.backend.acquire(journal.session_id)
    journal.is_leased = True
    stored = journal.backend.read(journal.session_id)
    return build(stored.header, stored.records)


_CATCH_UP = Journal.catch_up


def _close_what_is_open(journal: Journal, header: SessionHeader, records: Sequence[Record]) -> int:
    length = _CATCH_UP(journal, header, records)
    journal.backend.append(header.id, repair(records))
    return length


async def _wait_for_nothing(_: Writer) -> None:
    """Return at once."""


_RELEASE = Persistence.release


def _say_nothing(persistence: Persistence, session: Session) -> "Task[int] | None":
    is_kept = session in persistence._writers  # noqa: SLF001  # a fault inside
    return _RELEASE(persistence, session) if is_kept else None


def _forget(sequencer: Sequencer, journal: Journal, make_call: Callable[[], object]) -> object:
    return sequencer.put(journal.session_id, make_call)  # type: ignore[arg-type]  # passed on


FAULTS: Final[dict[str, tuple[type, str, object, str]]] = {
    "the last record of a batch is lost": (
        Journal, "write", _write_but_the_last, "a dispose in a turn"),
    "a write that failed is believed not to have happened": (
        Writer, "_ended", _trust_the_cursor, "a write is late"),
    "a flush does not wait": (Writer, "flush", _wait_for_nothing, "a flush waits"),
    "a resume writes no repair": (Journal, "load", _load_without_repair, "a crash in a turn"),
    "a reloaded keeper closes what is open": (
        Journal, "catch_up", _close_what_is_open, "a keeper that is reloaded in a turn"),
    "nobody tells what was not kept": (
        Persistence, "release", _say_nothing, "a keeper that is gone"),
    "a load that is given up keeps its lease": (
        Loading, "give_up", lambda *_: None, "a resume that is given up"),
    "a lease that was not given back is forgotten": (
        Sequencer, "let_go", _forget, "a last write that is not done"),
    "nothing is written between flushes": (
        Writer, "wake", lambda _: None, "a crash in a turn"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_runtime_is_told(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What no state of the world can do is seen, by a program that finds nothing without it."""
    where, name, broken, program = FAULTS[fault]
    monkeypatch.setattr(where, name, broken)
    with pytest.raises(DisagreementError):
        run_program(PROGRAMS[program])


@pytest.mark.parametrize("fault", [
    "the last record of a batch is lost", "a resume writes no repair",
    "a write that failed is believed not to have happened",
])  # fmt: skip
def test_the_programs_find_a_fault_by_chance(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without being told where to look, always the same programs."""
    where, name, broken, _ = FAULTS[fault]
    monkeypatch.setattr(where, name, broken)
    with pytest.raises((DisagreementError, ExceptionGroup)):
        store_suite(examples=150, is_canary=True)


# -- The follower itself ---------------------------------------------------------------------------


def test_what_is_covered_may_be_looked_up_late_and_what_is_not_stored_is_told() -> None:
    """A write that is asked for may cover what comes behind; it does not store less than that."""
    follower = store_follower()
    start = view_of(follower.world.initial)
    asked = start._replace(log=(Kind.START,), under_way=Work.WRITE)
    longer = asked._replace(log=(Kind.START, Kind.END))
    done = longer._replace(disk=(Kind.START, Kind.END), under_way=None)
    trace = [
        Seen(view=asked, call=Call(event=t.APPEND)),
        Seen(view=longer, call=Call(event=t.APPEND)),
    ]
    answer = Call(event=t.DISK_OK)
    assert follows(follower, [*trace, Seen(view=done, call=answer)]) is None
    follower = store_follower()
    error = follows(follower, [*trace, Seen(view=done._replace(disk=()), call=answer)])
    assert "the world has one of" in str(error)
    follower = store_follower()
    error = follows(follower, [Seen(view=start._replace(is_loss_untold=True))])
    assert "A LOSS IS NOT TOLD" in str(error)
