"""Random programs over runtimes on one disk: whatever they do, what is stored stays a story.

Theory. A program creates, resumes, prompts, cancels and disposes agents, unloads what drives them
and what keeps them, lets the disk fail before and after it has done its work, and kills processes,
between any two callbacks. Three things are promised all the same: what is stored only ever grows,
every stored session can be resumed, and once the disk works again nothing is missing.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from types import NoneType
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime import (
    AgentHandle,
    CallerError,
    FiberState,
    LifecycleError,
    MemoryBackend,
    Record,
    SessionBusyError,
    SessionHeader,
)
from runtime.session.journal import Build, Journal
from runtime.session.log import SessionLog
from runtime.writer import Loading, Writer
from tests.unit.stored import StoredScene, keeper

if TYPE_CHECKING:
    from asyncio import Task

NAMES: Final = ("a", "b")

Act = tuple[str, int]

_OFTEN: Final = ("create", "resume", "send", "send", "dispose", "disk ok", "disk ok", "tick")
_ACTS: Final = st.tuples(
    st.sampled_from(
        (
            *_OFTEN,
            *_OFTEN,
            "inject",
            "cancel",
            "give up",
            "reload the keeper",
            "reload the driver",
            "crash",
            "disk error",
            "disk late",
            "disk late",
            "model",
        )
    ),
    st.integers(0, 9),
)
PROGRAMS: Final = st.lists(_ACTS, min_size=30, max_size=60)


class Program:
    """One program on one disk, process after process."""

    def __init__(self) -> None:
        self.backend = MemoryBackend()
        self.stored: dict[str, list[Record]] = {}
        self.made = 0

    def run(self, acts: list[Act]) -> None:
        """Run a program, with the disk in order at last; then read everything."""
        rest = iter(acts)
        is_over = False
        while not is_over:
            with StoredScene(self.backend, agents=()) as scene:
                is_over = self._live(scene, rest)
        self._read_everything()

    def _live(self, scene: StoredScene, rest: Iterator[Act]) -> bool:
        scene.hold("disk")
        resuming: list[Task[AgentHandle]] = []
        for name, number in rest:
            if name == "crash":
                self.backend = scene.crash()
                return False
            if name == "give up":
                for task in resuming:
                    task.cancel()
            else:
                with suppress(CallerError):  # refused, as it may be
                    self._act(scene, name, number, resuming)
            scene.stage.tick(number // 2)
            self._look(scene)
        self._come_to_rest(scene)
        for task in resuming:
            error = None if task.cancelled() else task.exception()
            assert isinstance(error, LifecycleError | NoneType)
            # There is no other process that could write.
            assert not isinstance(error, SessionBusyError)
        return True

    def _act(
        self, scene: StoredScene, name: str, number: int, resuming: "list[Task[AgentHandle]]"
    ) -> None:
        which = NAMES[number % 2]
        match name:
            case "create":
                # Another header each time: what only looks alike is not the same session.
                self.made += 1
                handle = scene.rt.agents.create(agent_id=which, cwd=f"/{self.made}")
                scene.adopt(handle)
            case "resume":
                body = _resume(scene, which)
                resuming.append(scene.stage.spawn(body, "resuming", may_linger=True))
            case "tick":
                scene.stage.tick(10 * number)
            case "reload the keeper":
                keeper(scene).restart()
            case "reload the driver":
                scene.rt.driver.restart()
            case "model" | "disk ok" | "disk error" | "disk late":
                _open(scene, *name.split())
            case _:
                _use(scene, which, name)

    def _look(self, scene: StoredScene) -> None:
        assert scene.disk.defects == []
        for name, records in self.backend.disk.records.items():
            before = self.stored.get(name, [])
            assert records[: len(before)] == before, f"{name}: what was stored has changed"
            self.stored[name] = list(records)

    def _come_to_rest(self, scene: StoredScene) -> None:
        scene.release()
        scene.settle()
        if keeper(scene).state is FiberState.FAILED:
            keeper(scene).restart()
        scene.settle()
        for agent in scene.rt.agents.list():
            agent.inject("the last word")
        scene.settle()
        self._look(scene)
        for agent in scene.rt.agents.list():
            # A fresh session of an id that is stored is refused, and works in memory.
            assert agent.id in self.stored
            if self.backend.disk.headers[agent.id] == agent.session.header:
                assert self.stored[agent.id] == list(agent.session.events)

    def _read_everything(self) -> None:
        assert self.backend.disk.writers == {}
        with StoredScene(self.backend, agents=()) as scene:
            for name, before in self.stored.items():
                agent = scene.resume(name)
                records = list(agent.session.events)
                assert records[: len(before)] == before
                assert records[-1].type == "turn/end"


async def _resume(scene: StoredScene, which: str) -> AgentHandle:
    handle = await scene.rt.agents.resume(session_id=which)
    scene.adopt(handle)
    return handle


def _open(scene: StoredScene, gate: str, outcome: str = "ok") -> None:
    """Open the oldest gate of this name, if somebody waits there; run no callback."""
    for each in scene.stage.gates.open_gates:
        if each.name == gate:
            scene.stage.gates.open(each, outcome)
            return


def _use(scene: StoredScene, which: str, verb: str) -> None:
    agent = scene.rt.agents.get(which)
    if agent is None:
        return
    match verb:
        case "send":
            agent.send("A")
        case "inject":
            agent.inject("c")
        case "cancel":
            agent.cancel()
        case "dispose":
            scene.handle(which).dispose()
        case _:
            raise AssertionError(verb)


@pytest.mark.clause("E-13", "E-23", "E-30", "E-33", "E-46", "F-07", "F-52")
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(acts=PROGRAMS)
def test_whatever_happens_what_is_stored_goes_on(acts: list[Act]) -> None:
    """It only grows, nothing is missing at rest, and everything can be resumed."""
    Program().run(acts)


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
    with pytest.raises(AssertionError):
        Program().run(acts)
