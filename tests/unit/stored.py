"""A scene with a disk: the runtime keeps its sessions in memory, behind gates named `disk`.

    ok      the work is done
    error   it is not done, and fails
    late    it is done, and fails all the same

Unless they are held, the gates open by themselves with `ok`.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final, TypeVar

from runtime import (
    AGENT_ERROR,
    AGENTS,
    Agent,
    AgentFailed,
    AppContext,
    ConfiguredAgent,
    Fiber,
    Limits,
    MemoryBackend,
    Plugin,
    Record,
    Runtime,
    StorageError,
    TeardownReport,
    open_runtime,
)
from runtime.subject import StageClock, StageIdentifiers
from statemachine.conformance.stage.stage import Stage
from tests.unit.windows.scene import Scene, StageModel

__all__ = [
    "ENDS",
    "Disk",
    "StoredScene",
    "causes",
    "errors_of",
    "keeper",
    "nothing_is_left",
    "owned_by_a_plugin",
    "store_holding",
    "store_of",
]

T = TypeVar("T")
OUTCOMES = ("ok", "error", "late")


class Disk:
    """The `Blocking` port on the stage: what blocks happens when its gate opens."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.calls: list[str] = []
        """What was asked for, by name, when it was asked for."""
        self.defects: list[AssertionError] = []
        """What a call found to be impossible; a flush would only tell its agent."""
        self._is_busy = False

    async def run(self, call: Callable[[], T]) -> T:
        """See `Blocking`."""
        assert not self._is_busy, "two calls at a time"
        self._is_busy = True
        self.calls.append(_name_of(call))
        try:
            outcome = await self.stage.gate("disk", OUTCOMES)
            if outcome == "error":
                raise StorageError("the disk is full")
            result = self._do(call)
            if outcome == "late":
                raise StorageError("the disk did not answer in time")
            return result
        finally:
            self._is_busy = False

    def _do(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except AssertionError as defect:
            self.defects.append(defect)
            raise


def _name_of(call: Callable[[], object]) -> str:
    inner = getattr(call, "func", call)
    return str(getattr(inner, "__name__", inner))


class StoredScene(Scene):
    """A scene whose sessions are kept."""

    def __init__(
        self,
        backend: MemoryBackend | None = None,
        *,
        agents: Iterable[str] = ("a",),
        configured: Iterable[ConfiguredAgent] = (),
        limits: Limits = Limits(),  # noqa: B008  # frozen
        is_kept: bool = True,
    ) -> None:
        super().__init__(agents=agents)
        self.backend = backend or MemoryBackend()
        self.disk = Disk(self.stage)
        self._traces = defaultdict(list)
        self._opening = open_runtime(
            store=self.backend if is_kept else None,
            blocking=self.disk,
            models={"stage": StageModel(self, cooperative=True)},
            default_model="stage",
            limits=limits,
            clock=StageClock(self.stage),
            identifiers=StageIdentifiers(),
            agents=configured,
        )
        names = ("flush", "disk")
        self.stage.gates.auto = lambda name: name in names and name not in self._held

    def release(self) -> None:
        """Let the gates of the disk open by themselves again, those that wait as well."""
        self._held.discard("disk")
        while any(gate.name == "disk" for gate in self.stage.gates.open_gates):
            self.open("disk")

    def opening(self) -> Awaitable[Runtime]:
        """Return what opens the runtime, for tests that do it themselves."""
        return self._opening.__aenter__()

    def stored(self, session: str = "a") -> list[Record]:
        """Return what is stored of a session, which may be nothing."""
        return list(self.backend.disk.records.get(session, ()))

    def open_until(self, call: str) -> None:
        """Open the gates of the disk until it is asked for this."""
        while self.disk.calls[-1:] != [call]:
            self.open("disk")

    def wait_for(self, awaitable: Awaitable[T]) -> T:
        """Await in a task of its own, open every gate, and return the result."""
        return self.stage.complete(_await(awaitable))

    def let_time_pass(self, timers: int) -> None:
        """Open no gate and let this many timers run out."""
        for _ in range(timers):
            self.quiet()
            if self.stage.loop.next_timer() is not None:
                self.stage.loop.fire_next_timer()
        self.quiet()

    def start(self, awaitable: Awaitable[T]) -> asyncio.Task[T]:
        """Await in a task of its own, as far as it goes without a gate, and return the task."""
        task = self.stage.spawn(_await(awaitable), "started", may_linger=True)
        self.quiet()
        return task

    def resume(self, session: str = "a", agent: str | None = None) -> Agent:
        """Resume a session and follow its agent."""
        resuming = self.rt.agents.resume(session_id=session, agent_id=agent)
        return self.adopt(self.wait_for(resuming))

    def crash(self) -> MemoryBackend:
        """Kill the process, and return the next one on the same disk."""
        self._has_crashed = True
        return self.backend.crash()

    _has_crashed = False

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if self._has_crashed:
            self.stage.__exit__(None, None, None)
        else:
            super().__exit__(kind, *error)
        if kind is None:
            assert self.disk.defects == []


async def _await(awaitable: Awaitable[T]) -> T:
    return await awaitable


def errors_of(scene: StoredScene) -> list[AgentFailed]:
    """Return a list to which every `agent/error` is added."""
    told: list[AgentFailed] = []
    scene.rt.on(AGENT_ERROR, told.append)
    return told


def causes(failed: AgentFailed) -> list[Exception]:
    """Return what the listeners of a flush raised."""
    assert isinstance(failed.error, ExceptionGroup)
    return list(failed.error.exceptions)


def keeper(scene: StoredScene) -> Fiber:
    """Return the fiber of the plugin that keeps sessions."""
    assert scene.rt.persistence is not None
    return scene.rt.persistence


def store_of(*prompts: str, **options: Any) -> MemoryBackend:  # noqa: ANN401  # of `create`
    """Return a store that keeps the session `a`, in which these prompts were answered."""
    with StoredScene(agents=()) as scene:
        scene.adopt(scene.rt.agents.create(agent_id="a", **options))
        scene.ask(*prompts)
        scene.settle()
    return scene.backend


def nothing_is_left(scene: StoredScene, *writers: str) -> None:
    """Check that a refusal registered nothing, and that both ids are free."""
    scene.settle()
    assert scene.rt.agents.list() == ()
    assert scene.rt.sessions.list() == ()
    assert sorted(scene.backend.disk.writers) == sorted(writers)
    scene.rt.sessions.prepare("a")
    scene.adopt(scene.rt.agents.create(agent_id="a", session_id="not stored"))
    scene.dispose()
    scene.settle()


def store_holding(records: Iterable[Record]) -> MemoryBackend:
    """Return a store with these records of the session `a`."""
    backend = store_of("A")
    backend.disk.records["a"][:] = records
    return backend


def owned_by_a_plugin(scene: StoredScene) -> Fiber:
    """Make the agent `a` in a plugin of its own, and return that one's fiber."""

    def apply(context: AppContext, _: None) -> None:
        scene.adopt(context.agents.create(agent_id="a"))

    fiber = scene.rt.context.plugin(Plugin(name="owner", apply=apply, inject=(AGENTS,)))
    scene.quiet()
    return fiber


ENDS: Final[dict[str, Callable[[StoredScene, Fiber], Awaitable[TeardownReport]]]] = {
    "handle": lambda scene, _: scene.handle().dispose(),
    "owner fiber": lambda _, owner: owner.dispose(),
    "provider fiber": lambda scene, _: scene.rt.driver.dispose(),
    "application": lambda scene, _: scene.rt.aclose(),
    "root fiber": lambda scene, _: scene.rt.context.fiber.dispose(),
}
"""Whoever ends an agent, at each level."""
