"""Faults of who makes a session durable, each with the program that must find it.

They lie between the end of an agent and the disk: in the order of a teardown, in what it waits for
and in what it says. A program ends an agent in the middle of a turn, or kills a process, and says
itself what is broken.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from unittest.mock import patch

from runtime import (
    PERSISTENCE,
    Limits,
    MemoryBackend,
    Record,
    Runtime,
    Teardown,
    TeardownReport,
    roster,
)
from runtime.core import Core
from runtime.session.journal import Journal
from runtime.writer import Writer
from statemachine.conformance.suite.story import Violation
from tests.mutants.owners import OwnerMutant
from tests.unit.stored import StoredScene

__all__ = ["KEEPER_MUTANTS"]


# -- Programs --------------------------------------------------------------------------------------


def handle_disposed() -> None:
    """Dispose an agent in the middle of a turn, while a write is under way."""
    with StoredScene() as scene:
        # So the closing records are the next batch.
        scene.hold("disk")
        _end(scene, lambda: scene.handle().dispose(), "E-38")


def application_ended() -> None:
    """Close the runtime in the middle of a turn, while the disk is slow."""
    with StoredScene() as scene:
        _end(scene, scene.rt.aclose, "E-40")


def disk_that_hangs() -> None:
    """Dispose an agent whose disk does not answer before the grace is over."""
    with StoredScene(limits=Limits(abort_grace_s=0.5)) as scene:
        scene.hold("disk")
        scene.ask("A")
        scene.quiet()
        ending = scene.handle().dispose()
        scene.let_time_pass(9)
        _judge(scene, scene.start(ending).result(), "E-49")
        scene.release()
        scene.settle()


def process_killed() -> None:
    """Kill a process when a prompt has been answered and its flush has ended."""
    with StoredScene() as scene:
        scene.hold("disk")
        scene.ask("A")
        for _ in range(100):
            scene.quiet()
            gates = scene.stage.gates.open_gates
            if "W" in scene.trace() or not gates:
                break
            # The disk is the last to answer.
            gate = next((each for each in gates if each.name != "disk"), gates[0])
            scene.stage.gates.open(gate, "ok")
        logged = scene.records()
        disk = scene.crash().disk
    if disk.records.get("a", []) != logged:
        expected = "what a flush has acknowledged is stored"
        raise Violation("INV-13", "E-12", expected, f"{len(disk.records.get('a', []))} records")


class _Watched(MemoryBackend):
    """A store that writes also for those who have no lease, and remembers it."""

    unleased = 0

    def append(self, session_id: str, records: Sequence[Record]) -> None:
        """Append, and look who does."""
        if self.disk.writers.get(session_id) is not self:
            self.unleased += 1
            self.acquire(session_id)
            super().append(session_id, records)
            self.release(session_id)
        else:
            super().append(session_id, records)


def last_write_watched() -> None:
    """Look who has the lease when the closing records are written."""
    backend = _Watched()
    with StoredScene(backend, limits=Limits(abort_grace_s=0.5)) as scene:
        scene.hold("disk")
        scene.ask("A")
        scene.quiet()
        scene.handle().dispose()
        scene.let_time_pass(9)
        scene.release()
        scene.settle()
    if backend.unleased:
        raise Violation("INV-13", "E-49", "the lease ends behind the last write", "it ended before")


def _end(scene: StoredScene, end: Callable[[], Teardown], clause: str) -> None:
    scene.ask("A")
    scene.quiet()
    scene.hold("disk")
    ending = scene.start(end())
    while not ending.done():
        scene.open("disk")
    # The disk works, so there is nothing to be told.
    _judge(scene, TeardownReport(), clause)
    scene.release()
    scene.settle()


def _judge(scene: StoredScene, report: TeardownReport, clause: str) -> None:
    is_told = bool(report.failed or report.stragglers)
    if not is_told and scene.stored() != scene.records():
        expected = "the closing records are stored, or the report says that they are not"
        raise Violation("INV-13", clause, expected, f"{len(scene.stored())} are, nothing is said")


# -- Faults ----------------------------------------------------------------------------------------


async def _flush_nothing(_: Core) -> None:
    """Ask nobody."""


async def _do_not_wait(_: object, release: Callable[[], object]) -> tuple[str, ...]:
    release()
    return ()


@contextmanager
def _no_last_write() -> Iterator[None]:
    def last_call(self: Writer) -> Callable[[], int]:
        length = len(self._session.events)
        return partial(self._journal.finish, partial(int, length))  # a fault inside

    with (
        patch.object(Core, "flush", _flush_nothing),
        patch.object(Writer, "_last_call", last_call),
    ):
        yield


@contextmanager
def _not_awaited() -> Iterator[None]:
    with (
        patch.object(Core, "flush", _flush_nothing),
        patch.object(roster, "_release_stored", _do_not_wait),
    ):
        yield


@contextmanager
def _late_in_silence() -> Iterator[None]:
    flush_once_more, release_stored = roster._flush_once_more, roster._release_stored  # noqa: SLF001  # the seams
    stop_driver = roster._stop_driver  # noqa: SLF001  # the seam

    async def flush(*arguments: object) -> tuple[str, ...]:
        await flush_once_more(*arguments)  # type: ignore[arg-type]  # passed on
        return ()

    async def release(*arguments: object) -> tuple[str, ...]:
        await release_stored(*arguments)  # type: ignore[arg-type]  # passed on
        return ()

    async def stop(*arguments: object) -> tuple[str, ...]:
        await stop_driver(*arguments)  # type: ignore[arg-type]  # passed on
        return ()

    with (
        patch.object(roster, "_flush_once_more", flush),
        patch.object(roster, "_release_stored", release),
        patch.object(roster, "_stop_driver", stop),
    ):
        yield


@contextmanager
def _keeper_first() -> Iterator[None]:
    aclose = Runtime.aclose

    def close(self: Runtime) -> Teardown:
        persistence = self.context.get(PERSISTENCE)
        if persistence is not None:
            for session in self.sessions.list():
                persistence.release(session)
        return aclose(self)

    with patch.object(Runtime, "aclose", close):
        yield


async def _answer_at_once(_: Writer) -> None:
    """Wait for nothing."""


def _release_first(self: Journal, write: Callable[[], int]) -> int:
    self.release()
    return write()


KEEPER_MUTANTS = (
    OwnerMutant(
        id="no-last-write",
        fault="the end of an agent skips its flushes and the last write",
        invariant="INV-13",
        plant=_no_last_write,
        program=handle_disposed,
    ),
    OwnerMutant(
        id="disk-not-awaited",
        fault="the end of an agent asks for the last write and does not wait for it",
        invariant="INV-13",
        plant=_not_awaited,
        program=handle_disposed,
    ),
    OwnerMutant(
        id="late-in-silence",
        fault="a last write that is late is not in the report",
        invariant="INV-13",
        plant=_late_in_silence,
        program=disk_that_hangs,
    ),
    OwnerMutant(
        id="keeper-first",
        fault="the application lets go of its sessions before its agents end",
        invariant="INV-13",
        plant=_keeper_first,
        program=application_ended,
    ),
    OwnerMutant(
        id="flush-does-not-wait",
        fault="the barrier of a flush does not wait for the write",
        invariant="INV-13",
        plant=partial(patch.object, Writer, "flush", _answer_at_once),
        program=process_killed,
    ),
    OwnerMutant(
        id="lease-before-write",
        fault="the lease is given back before the last write",
        invariant="INV-13",
        plant=partial(patch.object, Journal, "finish", _release_first),
        program=last_write_watched,
    ),
)
"""Every fault, by what it breaks."""
