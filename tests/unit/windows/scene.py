"""One agent on the stage, and everything it does written down in a compact notation.

    running cancelled idle disposed     a status is announced
    TS SS SE                            turn/start, step/start, step/end
    UM(A) SM(S) CM(c)                   a prompt, steering, context with its text
    CH AM TC TR(why)                    a chunk, the assistant's message, a call, its result
    TE{completed} TE{aborted:r}         turn/end with its ending and its reason
    -A{cancelled:r}                     A is discarded: cause and reason
    ERR(1) FLUSH FLUSH!                 agent/error of a step; a flush that succeeds, that fails
    abort                               the abort signal fires
    gone END                            agent/disposed; the teardown has resolved
    model                               the model goes on, noted only if the test acts there
    W                                   the `when_idle` waiter has been released
    *                                   here the test acts
    [A,B]                               a whole plain turn on the prompts A and B, and its flush

The model answers `1` and `2`, in two chunks, unless `replies` says otherwise.
"""

import re
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
    ToolCallDelta,
    open_runtime,
)
from runtime.model import AbortSignalLike, Chunk
from runtime.session.content import text_of
from runtime.subject import StageClock, StageIdentifiers
from statemachine import MACHINE, Machine
from statemachine.conformance.stage.stage import Stage

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

_TURN: Final = "TS {} SS CH CH AM SE TE{{completed}} FLUSH"
_SHORT: Final = {
    "turn/start": "TS",
    "user/message": "UM",
    "steering/message": "SM",
    "context/message": "CM",
    "step/start": "SS",
    "step/end": "SE",
    "assistant/chunk": "CH",
    "assistant/message": "AM",
    "tool/call": "TC",
}


def call(number: int) -> ToolCallDelta:
    """Return the chunk of one whole call."""
    return ToolCallDelta(f"k{number}", "tool", "{}")


def spelled(notation: str) -> list[str]:
    """Return the tokens of a trace, whole turns written out.

    A released waiter and the resolved teardown belong to nobody's order but their own: `W` is
    moved in front of what the teardown does after the driver's exit.
    """

    def written_out(found: re.Match[str]) -> str:
        return _TURN.format(" ".join(f"UM({each})" for each in found.group(1).split(",")))

    tokens = re.sub(r"\[([^]]*)\]", written_out, notation).split()
    for place in range(1, len(tokens)):
        at = place
        while tokens[at] == "W" and at > 0 and tokens[at - 1] in ("gone", "END"):
            tokens[at - 1], tokens[at] = tokens[at], tokens[at - 1]
            at -= 1
    return tokens


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
        rt.on(SESSION_EVENT, lambda it: self.note(_record(it.record), it.session.id))
        rt.on(AGENT_DISCARDED, lambda it: self.note(_dropped(it), it.agent.id))
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
        for entry in [each for each in self._acts if each[:2] == (agent, _head(token))]:
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
        logged = [_record(each) for each in self.records(agent)]
        assert [each for each in seen if _is_record(each)] == logged, "the log tells another story"

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


def _head(token: str) -> str:
    return re.match(r"[A-Za-z]+!?|.", token).group()  # type: ignore[union-attr]  # matches always


def _is_record(token: str) -> bool:
    return _head(token) in {*_SHORT.values(), "TR", "TE"}


def _record(record: Record) -> str:
    data = record.data
    if record.type == "turn/end":
        reason = f":{data['reason']}" if "reason" in data else ""
        return f"TE{{{data['ending']}{reason}}}"
    if record.type == "tool/result":
        return f"TR({data.get('execution') or data['error']['code']})"
    short = _SHORT[record.type]
    return f"{short}({text_of(data['content'])})" if short in ("UM", "SM", "CM") else short


def _dropped(notice: Any) -> str:  # noqa: ANN401  # a notice
    return f"-{text_of(notice.content)}{{{notice.cause}:{notice.reason}}}"
