"""Random programs over runtimes on one disk: whatever they do, what is stored stays a story.

Theory. A program creates, resumes, prompts, cancels, flushes and disposes agents whose tools and
interceptors wait, unloads what drives them and what keeps them, lets the disk fail before and after
it has done its work, and kills processes, between any two callbacks. It is promised all the same:

* what is stored only ever grows, and is the beginning of the live log: nothing is invented;
* what a flush has acknowledged is stored, whoever dies afterwards, and so is the message that makes
  a call before the body of its tool is entered;
* when a dispose has resolved, everything is stored or its report is not empty;
* what a crash leaves is closed by its repair before anything else is written;
* every stored session can be resumed, and once the disk works again nothing is missing.
"""

from collections.abc import Coroutine, Iterator
from contextlib import suppress
from itertools import chain
from types import NoneType
from typing import TYPE_CHECKING, Any

from attrs import define, frozen

from runtime import (
    SESSION_EVENT,
    SESSION_FLUSH,
    AgentHandle,
    CallerError,
    FiberState,
    LifecycleError,
    MemoryBackend,
    Record,
    RecordAppended,
    Session,
    SessionBusyError,
    SessionNotice,
    Teardown,
    TextDelta,
    Tool,
    ToolUse,
)
from runtime.session.repair import repair
from tests.conformance.kept_acts import HELD, NAMES, Act, go_on, let
from tests.unit.stored import StoredScene, keeper
from tests.unit.windows.scene import call

if TYPE_CHECKING:
    from asyncio import Task

__all__ = ["Count", "Program"]


@define
class Count:
    """How much came up in all the programs of a suite."""

    programs: int = 0
    looks: int = 0
    """Instants at which everything was compared."""
    acknowledged: int = 0
    """Flushes that were answered."""
    bodies: int = 0
    """Bodies of tools that were entered."""
    disposed: int = 0
    """Disposes that resolved with nothing to report."""
    reported: int = 0
    """Disposes that reported what they may not have stored; there are few."""
    crashes: int = 0
    in_a_tool: int = 0
    """Crashes while a tool ran."""
    in_an_interceptor: int = 0
    """Crashes while an interceptor waited."""
    repaired: int = 0
    """Sessions that a crash had left open, closed by the first resume."""


@frozen(kw_only=True)
class _Promise:
    """Something that will be stored when a task has ended well."""

    task: "Task[Any]"
    session: Session
    wanted: int | None
    """How many records; None for all of them, unless the report says otherwise."""
    generation: int | None


class Program:
    """One program on one disk, process after process."""

    def __init__(self, count: Count | None = None) -> None:
        self.count = Count() if count is None else count
        self.backend = MemoryBackend()
        self.stored: dict[str, list[Record]] = {}
        self.acknowledged: dict[str, int] = {}
        self.made = 0
        self._left_open: dict[str, list[Record]] = {}
        self._loads = 0
        """How often a keeper was loaded."""
        self._promises: list[_Promise] = []
        self._said: dict[str, tuple[int | None, int]] = {}
        """For each session, its last message and who kept it then."""
        self._broken: list[str] = []

    def run(self, acts: list[Act]) -> None:
        """Run a program, with the disk in order at last; then read everything."""
        self.count.programs += 1
        rest = iter(acts)
        is_over = False
        while not is_over:
            with StoredScene(self.backend, agents=()) as scene:
                self._prepare(scene)
                is_over = self._live(scene, rest)
        self._read_everything()

    # -- One process -------------------------------------------------------------------------------

    def _prepare(self, scene: StoredScene) -> None:
        self._loads += 1
        self._promises, self._said = [], {}
        asks, answers = (TextDelta("hm"), call(1), call(2)), (TextDelta("done"),)
        scene.replies = [asks, answers] * 30
        scene.hold("disk")
        scene.rt.on(SESSION_EVENT, lambda notice: self._hear(scene, notice))
        for seam in HELD:
            scene.intercept(seam, holds=True)

        async def execute(_: object, use: ToolUse) -> str:
            self._enter_body(scene, use.agent.session)
            await scene.stage.gate("tool")
            return "done"

        tool = Tool(
            name="tool", description="Waits.", parameters={"type": "object"}, execute=execute
        )
        scene.rt.tools.register(scene.rt.context, tool)

    def _live(self, scene: StoredScene, rest: Iterator[Act]) -> bool:
        resuming: list[Task[AgentHandle]] = []
        # Half of those that a crash left open go on at once.
        at_once = [("resume", NAMES.index(name)) for name in self._left_open if self.made % 2]
        for name, number in chain(at_once, rest):
            if name == "crash":
                self._crash(scene, number)
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
        if name == "create" and which in self.stored and number < 8:
            # A fresh session of a stored id works in memory: seldom is that what is to be seen.
            name = "resume"
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
                self._loads += 1
                keeper(scene).restart()
            case "reload the driver":
                scene.rt.driver.restart()
            case "gate" | "go on" | "disk ok" | "disk error" | "disk late":
                let(scene, name, number)
            case _:
                self._use(scene, which, name)

    def _use(self, scene: StoredScene, which: str, verb: str) -> None:
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
            case "flush":
                wanted = len(agent.session.events)
                self._promise(scene, agent.session, _flush(scene, agent.session), wanted)
            case "dispose":
                teardown = scene.handle(which).dispose()
                self._promise(scene, agent.session, _end(teardown))
            case _:
                raise AssertionError(verb)

    def _crash(self, scene: StoredScene, number: int) -> None:
        """Die, often in the middle of something."""
        for agent in scene.rt.agents.list():
            with suppress(CallerError):  # disposed, as it may be
                agent.send("A")
        go_on(scene, number, 12 if number > 2 else 0)
        self._look(scene)
        waiting = {gate.name for gate in scene.stage.gates.open_gates}
        self.count.crashes += 1
        self.count.in_a_tool += "tool" in waiting
        self.count.in_an_interceptor += bool(waiting & {seam.name for seam in HELD})
        self.backend = scene.crash()
        self._left_open = {
            name: list(records)
            for name, records in self.backend.disk.records.items()
            if repair(records)
        }

    # -- What is promised --------------------------------------------------------------------------

    def _generation(self, scene: StoredScene) -> int | None:
        """Return which keeper keeps the sessions, or None if there is none for now."""
        return self._loads if keeper(scene).state is FiberState.ACTIVE else None

    def _promise(
        self,
        scene: StoredScene,
        session: Session,
        body: Coroutine[Any, Any, object],
        wanted: int | None = None,
    ) -> None:
        task = scene.stage.spawn(body, "promise", may_linger=True)
        generation = self._generation(scene)
        self._promises.append(
            _Promise(task=task, session=session, wanted=wanted, generation=generation)
        )

    def _hear(self, scene: StoredScene, notice: RecordAppended) -> None:
        if notice.record.type == "assistant/message":
            self._said[notice.session.id] = self._generation(scene), notice.record.seq

    def _enter_body(self, scene: StoredScene, session: Session) -> None:
        """Look whether the message that makes the call is stored, if one keeper was there."""
        self.count.bodies += 1
        generation, seq = self._said[session.id]
        is_kept = generation is not None and generation == self._generation(scene)
        if is_kept and len(self._records_of(session)) <= seq:
            self._broken.append(f"{session.id}: a body is entered before its call is stored")

    def _records_of(self, session: Session) -> list[Record]:
        disk = self.backend.disk
        is_same = disk.headers.get(session.id) == session.header
        return list(disk.records[session.id]) if is_same else []

    def _settle_promises(self, scene: StoredScene) -> None:
        for promise in [each for each in self._promises if each.task.done()]:
            self._promises.remove(promise)
            is_kept = promise.generation is not None
            if not is_kept or promise.generation != self._generation(scene):
                continue
            if promise.wanted is not None:
                self._settle_flush(promise, promise.wanted)
            elif promise.task.result():
                self.count.disposed += 1
                stored, logged = self._records_of(promise.session), list(promise.session.events)
                assert stored == logged, f"{promise.session.id}: not stored, and nothing reported"
            else:
                self.count.reported += 1

    def _settle_flush(self, promise: _Promise, wanted: int) -> None:
        if promise.task.cancelled() or promise.task.exception() is not None:
            return
        self.count.acknowledged += 1
        name = promise.session.id
        self.acknowledged[name] = max(self.acknowledged.get(name, 0), wanted)
        assert len(self._records_of(promise.session)) >= wanted, f"{name}: acknowledged, not stored"

    # -- What is there -----------------------------------------------------------------------------

    def _look(self, scene: StoredScene) -> None:
        self.count.looks += 1
        assert scene.disk.defects == []
        assert self._broken == []
        self._settle_promises(scene)
        for name, records in self.backend.disk.records.items():
            before = self.stored.get(name, [])
            assert records[: len(before)] == before, f"{name}: what was stored has changed"
            self._look_for_the_repair(name, records)
            self.stored[name] = list(records)
        for agent in scene.rt.agents.list():
            stored = self._records_of(agent.session)
            logged = list(agent.session.events)
            assert stored == logged[: len(stored)], f"{agent.id}: something was invented"

    def _look_for_the_repair(self, name: str, records: list[Record]) -> None:
        left = self._left_open.get(name)
        if left is not None and len(records) > len(left):
            closing = list(repair(left))
            added = records[len(left) :][: len(closing)]
            assert added == closing, f"{name}: it went on before it was closed"
            del self._left_open[name]
            self.count.repaired += 1

    def _come_to_rest(self, scene: StoredScene) -> None:
        scene.release()
        scene.settle()
        if keeper(scene).state is FiberState.FAILED:
            self._loads += 1
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
                assert len(before) >= self.acknowledged.get(name, 0)
                agent = scene.resume(name)
                records = list(agent.session.events)
                closing = list(repair(before))
                self.count.repaired += bool(closing)
                assert records == before + closing
                assert records[-1].type == "turn/end"


async def _resume(scene: StoredScene, which: str) -> AgentHandle:
    handle = await scene.rt.agents.resume(session_id=which)
    scene.adopt(handle)
    return handle


async def _flush(scene: StoredScene, session: Session) -> None:
    await scene.rt.context.parallel(SESSION_FLUSH, SessionNotice(session=session))


async def _end(teardown: Teardown) -> bool:
    """Return whether there is nothing to report."""
    report = await teardown
    return not report.failed and not report.stragglers
