"""One agent on the stage, and everything it does written down, see `notation`."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Self

import pytest

import runtime
from runtime import (
    AGENT_DISCARDED,
    AGENT_DISPOSED,
    AGENT_ERROR,
    AGENT_QUEUED,
    AGENT_STATUS,
    SESSION_EVENT,
    SESSION_FLUSH,
    Agent,
    AgentDisposedError,
    AgentHandle,
    AgentOptions,
    ConfiguredAgent,
    Finish,
    FinishKind,
    Limits,
    ModelRequest,
    Queued,
    Record,
    Runtime,
    Teardown,
    TextDelta,
    Tool,
    ToolCallDelta,
    ToolUse,
    open_runtime,
)
from runtime.context.interceptors import Kind
from runtime.model import AbortSignalLike, Chunk
from runtime.subject import StageClock, StageIdentifiers
from statemachine import MACHINE, Machine
from statemachine.conformance.stage.stage import Stage

from .notation import dropped_token, head, is_record, record_token, spelled

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

__all__ = ["CALL", "CUT", "EITHER_TASK", "FAILS", "Scene", "StageModel", "call", "spelled"]

Reply = tuple[Chunk | BaseException, ...]

_PLAIN: Final[Reply] = (TextDelta("1"), TextDelta("2"))
CALL: Final[Reply] = (ToolCallDelta("k1", "tool", "{}"),)
"""A reply that asks for one tool."""
CUT: Final[Reply] = (TextDelta("1"), TextDelta("2"), Finish(FinishKind.MAX_TOKENS))
"""A reply that ran out of tokens."""
FAILS: Final[Reply] = (runtime.ModelError("the model is out of order", code="out"),)
"""A reply that fails before its first chunk."""
EITHER_TASK: Final = pytest.mark.parametrize(
    "cooperative", [True, False], ids=["on the task", "beside it"]
)
"""Runs a test with a model on the driver's own task, and with one on a task beside it."""


def call(number: int) -> ToolCallDelta:
    """Return the chunk of one whole call."""
    return ToolCallDelta(f"k{number}", "tool", "{}")


class StageModel:
    """A model that waits at the gate `model` and then says what the scene has in store."""

    def __init__(self, scene: "Scene", *, cooperative: bool) -> None:
        self.scene = scene
        self.cooperative = cooperative

    async def stream(self, request: ModelRequest, signal: AbortSignalLike) -> AsyncIterator[Chunk]:
        """Answer, one chunk after the other."""
        scene = self.scene
        scene.requests.append(request)
        scene.signals.append(signal)
        if not scene.knows(signal):
            signal.on_abort(lambda: scene.note("abort", request.agent_id))
        await scene.stage.gate("model")
        if scene.is_awaited("model", request.agent_id):
            scene.note("model", request.agent_id)
        for piece in scene.replies.pop(0) if scene.replies else _PLAIN:
            if isinstance(piece, BaseException):
                raise piece
            yield piece


class Scene:
    """A runtime on a stage, with one agent `a` unless told otherwise.

    Attributes:
        replies: What the model says, call by call; then plain replies.
        requests: What the model was asked.
        signals: The abort signal of each request.
        queued: What `agent/queued` said.
        rt: The runtime.
        stage: The stage.
    """

    def __init__(  # noqa: PLR0913  # all optional, all by name
        self,
        *,
        machine: Machine = MACHINE,
        cooperative: bool = True,
        limits: Limits = Limits(),  # noqa: B008  # frozen
        model: object = None,
        agents: Iterable[str] = ("a",),
        options: AgentOptions = AgentOptions(),  # noqa: B008  # frozen
        configured: Iterable[ConfiguredAgent] = (),
    ) -> None:
        self.stage = Stage()
        self.replies: list[Reply] = []
        self.requests: list[ModelRequest] = []
        self.signals: list[AbortSignalLike] = []
        self.queued: list[Queued] = []
        self._held: set[str] = set()
        self._traces: dict[str, list[str]] = {}
        self._acts: list[tuple[str, str, Callable[[], object]]] = []
        self._handles: dict[str, AgentHandle] = {}
        chosen = StageModel(self, cooperative=cooperative) if model is None else model
        self._opening: AbstractAsyncContextManager[Runtime] = open_runtime(
            models={"stage": chosen},  # type: ignore[dict-item]  # tests give bad ones, too
            default_model="stage",
            limits=limits,
            clock=StageClock(self.stage),
            identifiers=StageIdentifiers(),
            machine=machine,
            agents=configured,
        )
        self._first = tuple(agents)
        self._options = options
        self.stage.gates.auto = lambda name: name == "flush" and name not in self._held

    def __enter__(self) -> Self:
        self.stage.__enter__()
        self.rt = self.stage.complete(self._opening.__aenter__())
        self.stage.run_until_quiet()
        rt = self.rt
        rt.on(AGENT_STATUS, lambda it: self.note(it.status.value, it.agent.id), plugin="trace")
        rt.on(SESSION_EVENT, lambda it: self.note(record_token(it.record), it.session.id))
        rt.on(AGENT_DISCARDED, lambda it: self.note(dropped_token(it), it.agent.id))
        rt.on(AGENT_ERROR, lambda it: self.note(f"ERR({it.step})", it.agent.id))
        rt.on(AGENT_DISPOSED, lambda it: self.note("gone", it.agent.id))
        rt.on(AGENT_QUEUED, self._on_queued)
        rt.on(SESSION_FLUSH, self._flush, plugin="disk")
        for agent in self._first:
            self.create(agent, self._options)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self.stage.complete(self._opening.__aexit__(None, None, None))
                assert self.stage.loop.failures == [], "an error reached nobody"
        finally:
            self.stage.__exit__(None, None, None)

    # -- The agents --------------------------------------------------------------------------------

    def create(self, agent: str, options: AgentOptions = AgentOptions()) -> Agent:  # noqa: B008  # frozen
        """Make one more agent; its session has the same id."""
        return self.adopt(self.rt.agents.create(agent_id=agent, options=options))

    def adopt(self, handle: AgentHandle) -> Agent:
        """Follow an agent that somebody else has made."""
        self._handles[handle.agent.id] = handle
        self._traces[handle.agent.id] = []
        return handle.agent

    def agent(self, agent: str = "a") -> Agent:
        """Return the bare agent, also after its end."""
        return self._handles[agent].agent

    @property
    def a(self) -> Agent:
        """The agent `a`."""
        return self.agent()

    def handle(self, agent: str = "a") -> AgentHandle:
        """Return the handle of an agent."""
        return self._handles[agent]

    def records(self, agent: str = "a") -> list[Record]:
        """Return the log of an agent."""
        return list(self.agent(agent).session.events)

    def dispose(self, agent: str = "a") -> Teardown:
        """Dispose an agent, and note `END` when that has resolved."""
        teardown = self.handle(agent).dispose()
        self.stage.spawn(self._end(teardown, agent), f"end of {agent}")
        return teardown

    def stop(self, how: str) -> None:
        """Stop the agent `a`: `cancel` with the reason `r`, or `dispose` and look no further."""
        if how == "cancel":
            self.a.cancel("r")
        else:
            assert how == "dispose"
            self.handle().dispose()

    async def _end(self, teardown: Teardown, agent: str) -> None:
        await teardown
        self.note("END", agent)

    async def wait(self, agent: str = "a") -> None:
        """Wait until the agent is idle, and note `W`."""
        await self.agent(agent).when_idle()
        self.note("W", agent)

    def ask(self, *texts: str, agent: str = "a") -> None:
        """Start a task that sends prompts and waits until the agent is idle."""

        async def asks() -> None:
            for text in texts:
                self.agent(agent).send(text)
            await self.wait(agent)

        self.stage.spawn(asks(), f"asks {agent}")

    # -- The stage ---------------------------------------------------------------------------------

    def hold(self, gate: str = "flush") -> None:
        """Let every flush from now on wait at its gate."""
        self._held.add(gate)

    def quiet(self) -> None:
        """Run until everybody waits for a gate or a timer."""
        self.stage.run_until_quiet()

    def open(self, gate: str = "model", outcome: str = "ok") -> None:
        """Open the oldest gate of a name and run until everybody waits again."""
        found = next(each for each in self.stage.gates.open_gates if each.name == gate)
        self.stage.gates.open(found, outcome)
        self.quiet()

    def settle(self) -> None:
        """Let everything happen, first in, first out."""
        self.stage.settle()

    # -- What happened -----------------------------------------------------------------------------

    def note(self, token: str, agent: str = "a") -> None:
        """Write a token down, then do what the test wants done at it."""
        self._traces[agent].append(token)
        for entry in [each for each in self._acts if each[:2] == (agent, head(token))]:
            if entry in self._acts:
                self._acts.remove(entry)
                entry[2]()

    def at(self, head: str, act: Callable[[], object], agent: str = "a") -> None:
        """Do something from inside the next listener whose token begins with `head`."""
        self._acts.append((agent, head, act))

    def is_awaited(self, head: str, agent: str) -> bool:
        """Whether the test wants to act at this token."""
        return any(each[:2] == (agent, head) for each in self._acts)

    def trace(self, agent: str = "a") -> list[str]:
        """Return everything that happened to an agent so far."""
        return spelled(" ".join(self._traces[agent]))

    def expect(self, notation: str, agent: str = "a") -> None:
        """Compare everything that happened with a trace, and the trace with the log."""
        seen, expected = self.trace(agent), spelled(notation)
        assert seen == expected, f"\nexpected {' '.join(expected)}\n    seen {' '.join(seen)}"
        logged = [record_token(each) for each in self.records(agent)]
        assert [each for each in seen if is_record(each)] == logged, "the log tells another story"

    def intercept(
        self, seam: Kind, answer: Callable[..., object] | None = None, *, holds: bool = False
    ) -> None:
        """Listen to a seam: note `name?`, wait at the gate of that name if it holds, then answer.

        Args:
            seam: one of `runtime.seams`.
            answer: given the argument, answers; omitted, the interceptor proceeds.
            holds: whether the interceptor waits at the gate `name` first.
        """

        async def interceptor(argument: Any, proceed: Any = None) -> object:  # noqa: ANN401  # any seam
            place = getattr(argument, "use", argument)
            self.note(f"{seam.name}?", place.agent.id)
            if holds:
                await self.stage.gate(seam.name)
            if answer is not None:
                return answer(argument)
            return None if proceed is None else await proceed()

        self.rt.context.on(seam, interceptor)

    def tool(
        self,
        body: Callable[[Any, ToolUse], object] = lambda _arguments, _use: "done",
        *,
        name: str = "tool",
        **rest: Any,  # noqa: ANN401  # of a tool
    ) -> None:
        """Register a tool that takes any object; its body is noted as `body`."""

        def execute(arguments: Any, use: ToolUse) -> object:  # noqa: ANN401  # any JSON
            self.note("body", use.agent.id)
            return body(arguments, use)

        tool = Tool(
            name=name,
            description="Does what the test says.",
            parameters={"type": "object"},
            execute=execute,
            **rest,
        )
        self.rt.tools.register(self.rt.context, tool)

    def knows(self, signal: AbortSignalLike) -> bool:
        """Whether the model was given this signal in an earlier step."""
        return any(each is signal for each in self.signals[:-1])

    def _on_queued(self, notice: Queued) -> None:
        self.queued.append(notice)
        for entry in [each for each in self._acts if each[:2] == (notice.agent.id, "queued")]:
            self._acts.remove(entry)
            entry[2]()

    async def _flush(self, notice: Any) -> None:  # noqa: ANN401  # a notice
        if await self.stage.gate("flush") == "error":
            self.note("FLUSH!", notice.session.id)
            raise OSError("the stage's disk is full")
        self.note("FLUSH", notice.session.id)


def act(scene: Scene, name: str) -> None:
    """Do what a row's name says: verbs joined by `+`; note where, and what was refused."""
    verbs: Mapping[str, Callable[[], object]] = {
        "cancel": lambda: scene.a.cancel("r"),
        "dispose": scene.dispose,
        "send": lambda: scene.a.send("B"),
        "steer": lambda: scene.a.steer("S"),
        "inject": lambda: scene.a.inject("c"),
    }
    scene.note("*")
    for verb in name.split("+"):
        try:
            verbs[verb]()
        except AgentDisposedError:
            scene.note("refused")
