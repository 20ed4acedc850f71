"""The world of a case: the reference runtime on the stage, and what its outside saw.

A scenario is told with verbs of this world. Actors act at any time; what a case takes for granted
("A is running") is arranged in `before`, which runs to a standstill before the search begins. A
prompt that is *held* keeps its model call waiting until somebody says `answer`, so that a turn
runs for as long as the case needs it to, whatever the schedule.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, Final

from attrs import define, field, frozen

from runtime import (
    AGENT_DISCARDED,
    AGENT_ERROR,
    AGENT_QUEUED,
    SESSION_FLUSH,
    Agent,
    AgentDisposedError,
    AgentFailed,
    Limits,
    Model,
    ModelRequest,
    SessionNotice,
    Teardown,
    TeardownReport,
)
from runtime.agent import LiveAgent
from runtime.core import Core
from runtime.model import last_user_text
from runtime.session.content import text_of
from runtime.session.records import Record
from runtime.subject import RuntimeSubject
from statemachine import Machine
from statemachine.conformance.stage.schedules import Action, Actor, Scenario
from statemachine.conformance.stage.stage import Stage

from .answers import HELD, CaseModel
from .audit import Ledger, audit

__all__ = ["GRACE_S", "HELD", "PLANTED", "Act", "World", "act", "actor", "scene"]

GRACE_S: Final = Limits().abort_grace_s
Act = Callable[["World"], object]

PLANTED: ContextVar[Machine | None] = ContextVar("PLANTED", default=None)
"""A machine with a fault, for the tests that show that a scenario can fail."""


@frozen(kw_only=True)
class Release:
    """What was true when somebody who had waited went on."""

    status: str
    endings: tuple[str, ...]
    flushes_ended: int
    at_s: float


@define(eq=False, kw_only=True)
class World:
    """One runtime on one stage, with the agent `a`, whom a case is about, and perhaps others."""

    stage: Stage
    subject: RuntimeSubject
    flushes: tuple[str, ...]
    model: CaseModel = field(init=False)
    ledger: Ledger = field(factory=Ledger)
    refused: list[str] = field(factory=list)
    errors: list[AgentFailed] = field(factory=list)
    waiters: list[asyncio.Task[None]] = field(factory=list)
    releases: list[Release] = field(factory=list)
    """Of the waiters of the case, in order; the bystander's are not among them."""
    teardowns: list[Teardown] = field(factory=list)
    reports: list[tuple[TeardownReport, Release]] = field(factory=list)
    ends: dict[str, int] = field(factory=dict)
    """How many records a disposed agent had when its teardown was over."""
    cancels: int = 0
    epochs: dict[str, list[int]] = field(factory=dict)
    """For each message that an agent accepted, in order, how many cancels came before it."""
    announced_in_calls: list[str] = field(factory=list)
    notes: dict[str, Any] = field(factory=dict)
    flushes_begun: int = 0
    flushes_ended: int = 0
    flush_gate: asyncio.Future[None] | None = None
    agents: dict[str, Agent] = field(factory=dict)
    """Every agent that was made, also after its end."""
    heard: dict[str, list[Act]] = field(factory=dict)
    """What is done when the model is asked by the agent `a`, by prompt."""

    # -- What the case does ------------------------------------------------------------------------

    def create(self, agent: str) -> None:
        """Make an agent with a session of its own."""
        self.subject.create(agent, f"session of {agent}")
        made = self.subject.runtime.agents.get(agent)
        assert made is not None
        self.agents[agent] = made

    def send(self, text: str, agent: str = "a") -> None:
        """Send, and note what was announced inside the call and whether it was refused."""
        self._offer(self.subject.send, text, agent)

    def steer(self, text: str, agent: str = "a") -> None:
        """Steer, likewise."""
        self._offer(self.subject.steer, text, agent)

    def _offer(self, verb: Callable[[str, str], None], text: str, agent: str) -> None:
        before = len(self.statuses(agent))
        # Noted first: what listeners send inside the call is accepted behind it.
        epochs = self.epochs.setdefault(agent, [])
        epochs.append(self.cancels)
        try:
            verb(agent, text)
        except AgentDisposedError:
            epochs.pop()
            self.refused.append(text)
        self.announced_in_calls += self.statuses(agent)[before:]

    def inject(self, text: str, agent: str = "a") -> None:
        """Add context, unless the agent is gone."""
        try:
            self.subject.inject(agent, text)
        except AgentDisposedError:
            self.refused.append(text)

    def cancel(self, reason: str | None = None, agent: str = "a") -> None:
        """Cancel."""
        self.cancels += 1
        self.subject.cancel(agent, reason)

    def dispose(self, agent: str = "a") -> None:
        """Dispose, and wait for the teardown in a task of its own."""
        teardown = self.subject.dispose(agent)
        assert isinstance(teardown, Teardown)
        self.teardowns.append(teardown)
        self.stage.spawn(self._join(teardown, agent), f"disposer {len(self.teardowns)}")

    async def _join(self, teardown: Teardown, agent: str) -> None:
        report = await teardown
        self.ends[agent] = len(self.records(agent))
        self.reports.append((report, self.look()))

    def wait(self) -> None:
        """Wait for idle in a task, which registers when it first runs."""
        self._await_idle(self.subject.when_idle("a"))

    def stand_by(self) -> None:
        """Wait for idle as somebody whom the case is not about."""
        wait = self.subject.when_idle("a")
        self.waiters.append(self.stage.spawn(wait, f"waiter {len(self.waiters) + 1}"))

    def wait_at_once(self) -> bool:
        """Register for idle inside this call; return whether there was nothing to wait for."""
        wait = self.subject.when_idle("a")
        try:
            future = wait.send(None)
        except StopIteration:
            self.releases.append(self.look())
            return True
        self._await_idle(_finish(wait, future))
        return False

    def _await_idle(self, wait: Coroutine[Any, Any, None]) -> None:
        async def waiting() -> None:
            await wait
            self.releases.append(self.look())

        self.waiters.append(self.stage.spawn(waiting(), f"waiter {len(self.waiters) + 1}"))

    def answer(self, prompt: str) -> None:
        """Let the model go on with a prompt that is held."""
        future = self.model.held.setdefault(prompt, self.stage.loop.create_future())
        if not future.done():
            future.set_result(None)

    def let_flush(self) -> None:
        """Let the flush that is held end; there must be one."""
        assert self.flush_gate is not None
        self.flush_gate.set_result(None)

    def after_idle(self, text: str) -> None:
        """Send when the agent has come to rest, from a task that waits for it."""

        async def sending() -> None:
            await self.subject.when_idle("a")
            self.send(text)

        self.waiters.append(self.stage.spawn(sending(), f"sender of {text}"))

    def on(self, point: str, act: Act, *, once: bool = True) -> None:
        """Act from inside a listener, by default only the first time."""

        def listener(agent: str) -> None:
            if agent != "a":
                return
            if once:
                forget()
            act(self)

        forget = self.subject.on(point, listener)

    def when_asked(self, prompt: str, act: Act) -> None:
        """Act from inside the call of the model with this prompt."""
        self.heard.setdefault(prompt, []).append(act)

    def hear(self, prompt: str, agent: str) -> None:
        """Do what is to be done when the model is asked."""
        for act in self.heard.get(prompt, ()) if agent == "a" else ():
            act(self)

    # -- What the case looks at --------------------------------------------------------------------

    def core(self, agent: str = "a") -> Core:
        """Return the cell of an agent, for what an outsider cannot reach."""
        face = self.agents[agent]
        assert isinstance(face, LiveAgent)
        return face._core  # noqa: SLF001  # the one place where a case looks inside

    def look(self, agent: str = "a") -> Release:
        """Return what is true now."""
        return Release(
            status=self.status(agent),
            endings=self.endings(agent),
            flushes_ended=self.flushes_ended,
            at_s=self.stage.now,
        )

    def status(self, agent: str = "a") -> str:
        """Return the status."""
        return str(self.agents[agent].status)

    def statuses(self, agent: str = "a") -> tuple[str, ...]:
        """Return every status that was announced."""
        return self.subject.observe(agent).statuses

    def discards(self, agent: str = "a") -> list[tuple[str, str, str]]:
        """Return text, cause and reason of every discard."""
        dropped = self.subject.observe(agent).discards
        return [(each.text, each.cause, each.reason) for each in dropped]

    def records(self, agent: str = "a") -> tuple[Record, ...]:
        """Return the log."""
        return tuple(self.agents[agent].session.events)

    def told(self, agent: str = "a") -> list[str]:
        """Return the log without chunks, a line a record, as in `user/message A`."""
        seen = self.subject.observe(agent).log
        return [f"{each.type} {each.text}".strip() for each in seen if each.type != _CHUNK]

    def types(self, agent: str = "a") -> list[str]:
        """Return the record types of the log, without chunks."""
        return [record.type for record in self.records(agent) if record.type != _CHUNK]

    def turns(self, agent: str = "a") -> list[list[str]]:
        """Return, for each turn, the messages and context that it recorded, and its ending."""
        turns: list[list[str]] = []
        for seen in self.subject.observe(agent).log:
            if seen.type == "turn/start":
                turns.append([])
            elif seen.type in _MESSAGES:
                kind = seen.type.partition("/")[0]
                turns[-1].append(seen.text if kind == "user" else f"{kind} {seen.text}")
            elif seen.type == "turn/end":
                turns[-1].append(seen.text)
        return turns

    def endings(self, agent: str = "a") -> tuple[str, ...]:
        """Return the endings of the turns, with their reasons, in order."""
        log = self.subject.observe(agent).log
        return tuple(each.text for each in log if each.type == "turn/end")

    @property
    def calls(self) -> list[str]:
        """The prompts with which the agent `a` called the model."""
        return [last_user_text(request.messages) for request in self.asked]

    @property
    def asked(self) -> list[ModelRequest]:
        """The requests of the agent `a`."""
        return [request for request in self.model.asked if request.agent_id == "a"]

    def users_of(self, call: int) -> list[str]:
        """Return the user messages that a call of the model was shown."""
        messages = self.asked[call].messages
        return [message.text for message in messages if message.role == "user"]

    def stragglers(self) -> tuple[str, ...]:
        """Return what the agents left behind and still runs."""
        agents = self.subject.runtime.inspect().agents
        return tuple(name for agent in agents for name in agent.stragglers)

    # -- The flush ---------------------------------------------------------------------------------

    async def flush(self, _: SessionNotice) -> None:
        """Wait for durability as the case says: each flush has its outcome, the last one stays."""
        self.flushes_begun += 1
        outcome = self.flushes[min(self.flushes_begun, len(self.flushes)) - 1]
        if outcome in HELD:
            self.flush_gate = self.stage.loop.create_future()
            await self.flush_gate
        else:
            await self.stage.gate("flush", (outcome,))
        self.flushes_ended += 1
        if outcome == "error":
            raise OSError("the disk is full")


_CHUNK: Final = "assistant/chunk"
_MESSAGES: Final = ("user/message", "steering/message", "context/message")


async def _finish(wait: Coroutine[Any, Any, None], future: asyncio.Future[None]) -> None:
    """Go on with a wait that has registered, when what it waits for has come."""
    await asyncio.wait([future])
    with suppress(StopIteration):
        wait.send(None)


def actor(name: str, *acts: Act) -> Actor[World]:
    """Name somebody outside and what they do."""
    return Actor(name=name, actions=acts)


def act(label: str, *parts: Act) -> Action[World]:
    """Do several things without letting the loop run in between."""

    def together(world: World) -> None:
        for part in parts:
            part(world)

    return Action(label=label, act=together)


def scene(  # noqa: PLR0913  # the vocabulary of a scenario, all by keyword
    name: str,
    *actors: Actor[World],
    check: Act,
    before: Act | None = None,
    agents: tuple[str, ...] = ("a",),
    answers: Mapping[str, tuple[str, ...]] | None = None,
    flushes: tuple[str, ...] = ("ok",),
    stubborn: frozenset[str] = frozenset(),
    cooperative: bool = True,
) -> Scenario[World]:
    """Tell a scenario: who acts, what was arranged before, what must hold in the end.

    Whatever the case is about, somebody else waits for the same agent, from any moment on.
    """

    def setup(stage: Stage) -> World:
        subject = RuntimeSubject(holds_flush=False)
        subject.machine = PLANTED.get() or subject.machine
        world = World(stage=stage, subject=subject, flushes=flushes)
        world.model = CaseModel(
            stage=stage, on_call=world.hear, cooperative=cooperative, answers=answers or {},
            stubborn=stubborn,
        )  # fmt: skip
        _open(world, world.model)
        for agent in agents:
            world.create(agent)
        if before is not None:
            before(world)
            stage.run_until_quiet()
        return world

    def judge(world: World) -> None:
        try:
            check(world)
            audit(world)
        finally:
            # Whatever was found, the stage must be able to clear up.
            world.model.is_over = True

    cast = (*actors, actor("bystander", World.stand_by))
    return Scenario(name=name, actors=cast, setup=setup, check=judge, budget=2_000)


def _open(world: World, model: Model) -> None:
    world.stage.complete(world.subject.open(world.stage))
    runtime = world.subject.runtime
    models: Any = runtime.models
    models["stage"] = model
    ledger = world.ledger
    runtime.on(
        AGENT_QUEUED,
        lambda notice: ledger.accept(notice.agent.id, notice.message_id, text_of(notice.content)),
    )
    runtime.on(
        AGENT_DISCARDED,
        lambda notice: ledger.discard(notice.agent.id, notice.message_id, text_of(notice.content)),
    )
    runtime.on(AGENT_ERROR, world.errors.append)
    if world.flushes:
        runtime.on(SESSION_FLUSH, world.flush)
