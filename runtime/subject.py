"""This runtime as a subject of the conformance suites."""

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

from attrs import define, field

from statemachine import MACHINE, Machine
from statemachine.conformance import Dropped, Observation, Offer, Projection, Seen, Stage

from .agent import Agent, LiveAgent
from .announcements import (
    AGENT_DISCARDED,
    AGENT_DISPOSED,
    AGENT_ERROR,
    AGENT_QUEUED,
    AGENT_STATUS,
    SESSION_EVENT,
    SESSION_FLUSH,
    Discarded,
    RecordAppended,
    SessionNotice,
    StatusChanged,
)
from .assembly import Runtime, open_runtime
from .core import Core
from .handle import AgentHandle
from .limits import DEFAULT_LIMITS, Limits
from .model import (
    AbortSignalLike,
    Chunk,
    Finish,
    FinishKind,
    ModelRequest,
    TextDelta,
    ToolCallDelta,
    last_user_text,
)
from .session.content import text_of
from .session.log import Session
from .session.records import Record, calls_of
from .staged import TOOL_NAME, StagedSeams

__all__ = [
    "CALL",
    "CUT_SHORT",
    "RuntimeSubject",
    "StageClock",
    "StageIdentifiers",
    "StageModel",
    "make_subject",
]

CALL: Final = "\x00call"
"""What the stage's model answers to make this model ask for a tool."""
CUT_SHORT: Final = "\x00max-tokens"
"""What the stage's model answers to make this model run out of tokens."""


@define
class StageClock:
    """The stage's virtual time."""

    stage: Stage

    def now_ms(self) -> int:
        """See `Clock`."""
        return int(self.stage.now * 1000)


@define
class StageIdentifiers:
    """Ids in order; chance has no place on the stage."""

    made: int = 0

    def new_id(self) -> str:
        """See `Identifiers`."""
        self.made += 1
        return f"id-{self.made}"


def _ignore(_agent: str, _signal: AbortSignalLike) -> None:
    """Do nothing."""


@define(eq=False)
class StageModel:
    """A model whose answers, and whose time, belong to the stage."""

    stage: Stage
    cooperative: bool = True
    on_signal: Callable[[str, AbortSignalLike], None] = _ignore
    """Told of the agent and its signal at every request."""

    async def stream(self, request: ModelRequest, signal: AbortSignalLike) -> AsyncIterator[Chunk]:
        """See `Model`."""
        self.on_signal(request.agent_id, signal)
        text = await self.stage.model(last_user_text(request.messages))
        if text == CALL:
            # One call a step: the model asks again when it is opened with `call` again.
            yield ToolCallDelta(f"call-{request.turn}-{request.step}", TOOL_NAME, "{}")
        elif text == CUT_SHORT:
            yield TextDelta("cut sh")
            yield Finish(FinishKind.MAX_TOKENS)
        else:
            yield TextDelta(text)


@define(eq=False)
class _Life:
    """One incarnation of an agent, kept for observation after its end."""

    agent: Agent
    handle: AgentHandle
    session: Session
    statuses: tuple[str, ...] = ()
    discards: tuple[Dropped, ...] = ()
    _log: tuple[Seen, ...] = ()

    def log(self) -> tuple[Seen, ...]:
        """Return the log as seen; costs only what was appended since the last look."""
        events = self.session.events
        if len(events) > len(self._log):
            self._log += tuple(_seen(record) for record in events[len(self._log) :])
        return self._log


@define(eq=False)
class RuntimeSubject:
    """The reference runtime under test.

    Args:
        machine: the lifecycle; tests plant faults here.
        cooperative: whether the model promises to let cancellations pass.
        limits: the runtime's bounds.
        holds_flush: whether every flush waits at a gate of the stage.
    """

    machine: Machine = MACHINE
    cooperative: bool = True
    limits: Limits = DEFAULT_LIMITS
    holds_flush: bool = True

    runtime: Runtime = field(init=False)
    stage: Stage = field(init=False)
    seams: StagedSeams = field(init=False)
    _opening: AbstractAsyncContextManager[Runtime] = field(init=False)
    _lives: dict[str, _Life] = field(init=False, factory=dict)
    _listeners: dict[str, list[Callable[[str], None]]] = field(init=False, factory=dict)
    _observe: Callable[..., None] | None = field(init=False, default=None)

    @property
    def offers(self) -> frozenset[Offer]:
        """See `Subject`."""
        least = {Offer.STEER, Offer.INJECT, Offer.LISTEN, Offer.INTERCEPT}
        return frozenset(least | {Offer.HOLD} if self.holds_flush else least)

    async def open(self, stage: Stage) -> None:
        """See `Subject`."""
        self.stage = stage
        stage.model_answers |= {"call": lambda _: CALL, "max-tokens": lambda _: CUT_SHORT}
        self._opening = open_runtime(
            models={"stage": StageModel(stage, self.cooperative, self._watch_signal)},
            default_model="stage",
            limits=self.limits,
            clock=StageClock(stage),
            identifiers=StageIdentifiers(),
            machine=self.machine,
        )
        self.runtime = rt = await self._opening.__aenter__()
        # What opening left behind is over before the suite counts callbacks.
        await stage.sleep(0)
        rt.on(AGENT_STATUS, self._on_status, plugin="subject")
        rt.on(AGENT_DISCARDED, self._on_discarded, plugin="subject")
        rt.on(SESSION_EVENT, self._on_record, plugin="subject")
        rt.on(AGENT_QUEUED, lambda notice: self._call("queued", notice.agent.id), plugin="subject")
        rt.on(AGENT_ERROR, lambda notice: self._call("error", notice.agent.id), plugin="subject")
        rt.on(
            AGENT_DISPOSED, lambda notice: self._call("disposed", notice.agent.id), plugin="subject"
        )
        self.seams = StagedSeams(stage, rt.context.extend("subject"), rt.tools, tell=self._call)
        if self.holds_flush:
            rt.on(SESSION_FLUSH, self._flush, plugin="subject")

    def create(self, agent: str, session: str) -> None:
        """See `Subject`."""
        handle = self.runtime.agents.create(agent_id=agent, session_id=session)
        self._lives[agent] = _Life(handle.agent, handle, handle.agent.session)
        if self._observe is not None:
            self._attach_probe(handle.agent)

    def send(self, agent: str, text: str) -> None:
        """See `Subject`."""
        self._lives[agent].agent.send(text)

    def steer(self, agent: str, text: str) -> None:
        """See `Steers`."""
        self._lives[agent].agent.steer(text)

    def inject(self, agent: str, text: str) -> None:
        """See `Injects`."""
        self._lives[agent].agent.inject(text)

    def cancel(self, agent: str, reason: str | None) -> None:
        """See `Subject`."""
        self._lives[agent].agent.cancel(reason)

    def dispose(self, agent: str) -> Awaitable[object]:
        """See `Subject`."""
        return self._lives[agent].handle.dispose()

    def when_idle(self, agent: str) -> Coroutine[Any, Any, None]:
        """See `Subject`."""
        return self._lives[agent].agent.when_idle()

    def observe(self, agent: str) -> Observation:
        """See `Subject`."""
        life = self._lives.get(agent)
        if life is None:
            return Observation(status=None)
        return Observation(
            status=life.agent.status.value,
            log=life.log(),
            discards=life.discards,
            statuses=life.statuses,
            registered=self.runtime.agents.get(agent) is life.agent,
            in_store=self.runtime.sessions.get(life.session.header.id) is life.session,
        )

    async def close(self) -> None:
        """See `Subject`."""
        await self._opening.__aexit__(None, None, None)

    def on(self, point: str, call: Callable[[str], None]) -> Callable[[], None]:
        """See `Listens`."""
        calls = self._listeners.setdefault(point, [])
        calls.append(call)
        return lambda: calls.remove(call) if call in calls else None

    def intercept(self, seam: str, call: Callable[[str], None] | None = None) -> None:
        """See `Intercepts`."""
        self.seams.intercept(seam, call)

    def probe(self, observe: Callable[..., None]) -> None:
        """See `Probed`."""
        self._observe = observe
        for life in self._lives.values():
            self._attach_probe(life.agent)

    def project(self, cell: object) -> Projection:
        """See `Projects`."""
        assert isinstance(cell, Core)
        return Projection(
            agent=cell.id,
            shape=cell.shape,
            holding=cell.queues.holding,
            has_open_turn=cell.log.open_turn is not None,
            has_open_step=cell.log.open_step is not None,
            is_unopened=cell.turn.is_unopened,
            is_aborted=cell.turn.authority.signal.is_aborted,
            announced=cell.announced,
            waiters=sum(not waiter.done() for waiter in cell.waiters),
            has_driver=cell.driver is not None,
        )

    def _attach_probe(self, agent: Agent) -> None:
        assert isinstance(agent, LiveAgent)
        agent._core.probe = self._observe  # noqa: SLF001  # the inside

    # -- What the runtime announces ----------------------------------------------------------------

    def _call(self, point: str, agent: str) -> None:
        for call in tuple(self._listeners.get(point, ())):
            call(agent)

    def _on_status(self, notice: StatusChanged) -> None:
        self._lives[notice.agent.id].statuses += (notice.status.value,)
        self._call(f"status {notice.status.value}", notice.agent.id)

    def _on_discarded(self, notice: Discarded) -> None:
        dropped = Dropped(text_of(notice.content), notice.cause, notice.reason)
        self._lives[notice.agent.id].discards += (dropped,)
        self._call("discarded", notice.agent.id)

    def _on_record(self, notice: RecordAppended) -> None:
        for agent, life in self._lives.items():
            if life.session is notice.session:
                self._call(notice.record.type, agent)

    def _watch_signal(self, agent: str, signal: AbortSignalLike) -> None:
        signal.on_abort(lambda: self._call("abort", agent))

    async def _flush(self, _: SessionNotice) -> None:
        if await self.stage.gate("flush") == "error":
            raise OSError("the stage's disk is full")


def _seen(record: Record) -> Seen:
    data = record.data
    text = text_of(data["content"]) if "content" in data else ""
    if record.type in ("tool/call", "tool/result"):
        text = data["call_id"]
    elif record.type == "turn/end":
        reason = data.get("reason")
        text = data["ending"] if reason is None else f"{data['ending']}: {reason}"
    calls = calls_of(data["content"]) if record.type == "assistant/message" else ()
    is_reason = record.type == "steering/message" and "message_id" not in data
    return Seen("continuation" if is_reason else record.type, data["turn"], text, tuple(calls))


def make_subject() -> RuntimeSubject:
    """Return a fresh reference runtime for one run."""
    return RuntimeSubject()
