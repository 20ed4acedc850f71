"""A runtime on a stage, a client at the end of a connection, and the world that both follow.

Theory. The client does what a bridge does: it takes the handles of what it asked for, closes them,
and when it goes it takes everything along, also what comes back late. A program beside it uses the
same registry from the root. Every call is told to the follower of the connection world as it is
made, and after every callback what can be seen of the runtime is compared with what the world could
have come to. So a disagreement is told at the first callback at which it can be seen.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Final, TypeVar

from attrs import define

from runtime import AgentHandle, AgentRegistry, CallerError, Plugin, Runtime, Status, open_runtime
from runtime.announcements import AGENT_CREATED, SESSION_CREATED, AgentNotice, SessionNotice
from runtime.context import Context, Fiber
from runtime.errors import LifecycleError, StorageError
from runtime.session.memory import MemoryBackend
from runtime.subject import StageClock, StageIdentifiers, StageModel
from runtime.teardown import Teardown
from statemachine.conformance.stage.stage import Stage
from statemachine.worlds import Actor, Call, DisagreementError, Event, Seen
from statemachine.worlds.connection import Asked, Caller, Connection, View, connection_follower
from statemachine.worlds.connection import table as t

__all__ = ["AGENTS", "SESSIONS", "Request", "Scene"]

AGENTS: Final = ("a", "b")
SESSIONS: Final = ("s", "t")
REQUESTS_MAX: Final = 4
_HELD_UP: Final = frozenset({Actor.STORE, Actor.TEARDOWN, Actor.DRIVER})
_NOBODY: Final = -1

T = TypeVar("T")
FOLLOWER = connection_follower(REQUESTS_MAX)
"""What follows every scene, one after the other: it remembers what can follow what."""


@define(eq=False)
class _StageBlocking:
    """A store whose time, and whose failures while loading, belong to the stage."""

    stage: Stage

    async def run(self, call: Callable[[], T]) -> T:
        task = asyncio.current_task()
        name = "store" if task is None else task.get_name()
        outcomes = ("ok", "error") if name.startswith("load") else ("ok",)
        if await self.stage.gate(name, outcomes) == "error":
            raise StorageError("the stage's disk does not answer")
        return call()


@define(eq=False)
class Request:
    """One call for an agent, and what came of it."""

    asked: Asked
    handle: AgentHandle | None = None
    is_accepted: bool = False
    is_answered: bool = False
    is_live: bool = False
    """Whether whoever asked has the agent."""
    was_loaded: bool = False
    task: "asyncio.Task[None] | None" = None

    @property
    def is_over(self) -> bool:
        """Whether nothing of it is left."""
        if self.handle is None:
            return self.is_answered
        is_disposed = self.handle.agent.status is Status.DISPOSED
        return self.is_answered and is_disposed and self.handle.dispose().is_done


class Scene:
    """A runtime, a client and a program."""

    def __init__(
        self,
        act_inside: Callable[["Scene", str], None] = lambda _scene, _point: None,
        stage: Stage | None = None,
    ) -> None:
        """Open a runtime whose store holds the session `s`.

        Args:
            act_inside: called inside the listeners `session` and `agent`, when either is new.
            stage: where; omitted, on a stage of its own, which is entered and left.
        """
        self._is_guest = stage is not None
        self.stage = Stage() if stage is None else stage
        if not self._is_guest:
            self.stage.__enter__()
        self.requests: list[Request] = []
        self.story: list[str] = []
        self.judged = 0
        self.broken: DisagreementError | None = None
        self.state = Connection.OPEN
        self._act_inside = act_inside
        self._calls_out = 0
        self._undecided: list[tuple[Event, Request]] = []
        self._closing: set[asyncio.Task[None]] = set()
        self._over: asyncio.Task[None] | None = None
        self._owner_end: Teardown | None = None
        self._provider_end: Teardown | None = None
        self.follower = FOLLOWER
        self.follower.states = frozenset({self.follower.world.initial})
        self.runtime = self._open()
        self.stage.loop.monitor = self.judge

    def _open(self) -> Runtime:
        backend = MemoryBackend()
        self._opening = self._opened(backend)
        runtime: Runtime = self.stage.complete(self._opening.__aenter__(), "open")
        self.stage.complete(self._fill(runtime), "fill")
        runtime.on(SESSION_CREATED, self._on_session, plugin="scene")
        runtime.on(AGENT_CREATED, self._on_agent, plugin="scene")
        self._owner: Fiber = runtime.context.plugin(Plugin(name="bridge", apply=self._load_bridge))
        self.stage.settle()
        return runtime

    def _opened(self, backend: MemoryBackend) -> AbstractAsyncContextManager[Runtime]:
        return open_runtime(
            store=backend,
            blocking=_StageBlocking(self.stage),
            models={"stage": StageModel(self.stage)},
            default_model="stage",
            clock=StageClock(self.stage),
            identifiers=StageIdentifiers(),
        )

    async def _fill(self, runtime: Runtime) -> None:
        async with runtime.agents.create(agent_id="first", session_id="s") as agent:
            agent.send("hello")
            await agent.when_idle()

    def _load_bridge(self, context: Context, _: None) -> None:
        self._context = context
        context.effect(lambda: self._end_with_owner, name="connection")

    def _end_with_owner(self) -> Awaitable[object]:
        self.disconnect(is_seen=False)
        assert self._over is not None
        return asyncio.wait((self._over,))

    # -- What there is -----------------------------------------------------------------------------

    @property
    def under_way(self) -> int:
        """How many requests are not over."""
        return sum(not request.is_over for request in self.requests)

    def view(self) -> View:
        """Return what can be seen of the runtime."""
        agents = {agent.id: agent for agent in self.runtime.agents.list()}
        found = [agents.get(name) for name in AGENTS]
        unanswered = [
            each.asked for each in self.requests if each.is_accepted and not each.is_answered
        ]
        return View(
            registered=tuple(
                _NOBODY if agent is None else SESSIONS.index(agent.session.id) for agent in found
            ),
            stopped=tuple(agent is not None and agent.status is Status.DISPOSED for agent in found),
            entered=tuple(self.runtime.sessions.get(name) is not None for name in SESSIONS),
            unanswered=tuple(sorted(unanswered)),
            closing=len(self._closing),
            is_calling_out=self._calls_out > 0,
            connection=self.state,
            is_owner_gone=self._owner_end is not None and self._owner_end.is_done,
            is_provider_gone=self._provider_end is not None and self._provider_end.is_done,
        )

    # -- What is asked for -------------------------------------------------------------------------

    def create(self, asked: Asked) -> None:
        """Ask for an agent on a new session."""
        request = Request(asked)
        self.requests.append(request)
        self._undecided.append((t.CREATE, request))
        calls_out = self._calls_out
        try:
            self._check_connection(asked)
            request.handle = self._registry(asked).create(
                agent_id=AGENTS[asked.agent], session_id=SESSIONS[asked.session]
            )
        except CallerError as error:
            if "keeps a session of this id" in str(error):
                # What is stored is no matter of this world, and a refusal changes nothing in it.
                self._undecided.remove((t.CREATE, request))
            self._refused(request)
        else:
            request.task = self.stage.spawn(self._settle(request), f"settle {asked}")
        self._calls_out = calls_out
        self.look()

    def load(self, asked: Asked) -> None:
        """Ask for an agent on a stored session."""
        request = Request(asked)
        self.requests.append(request)
        request.task = self.stage.spawn(self._serve(request), f"load {asked}", may_linger=True)

    def _check_connection(self, asked: Asked) -> None:
        if asked.caller is Caller.CONNECTION and self.state is not Connection.OPEN:
            raise CallerError("the connection ends")

    def _registry(self, asked: Asked) -> AgentRegistry:
        if asked.caller is Caller.PROGRAM:
            return self.runtime.agents
        return AgentRegistry(self.runtime.roster, self._context)

    async def _serve(self, request: Request) -> None:
        asked = request.asked
        self._undecided.append((t.LOAD, request))
        is_cut = True
        try:
            self._check_connection(asked)
            request.handle = await self._registry(asked).resume(
                agent_id=AGENTS[asked.agent], session_id=SESSIONS[asked.session]
            )
            is_cut = False
            request.was_loaded = True
        except LifecycleError:
            is_cut = False
            self._refused(request)
        finally:
            self._calls_out = 0
            if is_cut:
                request.is_answered = True
                self.look(Call(event=t.GIVE_UP, about=asked))
        if request.handle is not None:
            await self._settle(request)

    async def _settle(self, request: Request) -> None:
        """Hand the agent over, or, for a connection that ends or an agent that has, dispose it."""
        assert request.handle is not None
        is_client = request.asked.caller is Caller.CONNECTION
        is_dead = request.handle.agent.status is Status.DISPOSED
        if is_client and (self.state is not Connection.OPEN or is_dead):
            await request.handle.dispose()
        else:
            request.is_live = True
        request.is_answered = True

    def _accept(self) -> None:
        """Tell that the calls that have got so far were not refused."""
        undecided, self._undecided = self._undecided, []
        for event, request in undecided:
            request.is_accepted = True
            self.look(Call(event=event, about=request.asked))

    def _refused(self, request: Request) -> None:
        request.is_answered = True
        for event, other in self._undecided:
            if other is request:
                self._undecided.remove((event, other))
                self.look(Call(event=event, about=request.asked, is_refused=True))
                return

    # -- What else is done -------------------------------------------------------------------------

    def send(self, request: Request) -> None:
        """Send something to an agent that parks."""
        assert request.handle is not None
        request.handle.agent.send("go on")
        self.look(Call(event=t.SEND, about=request.asked))

    def dispose(self, request: Request) -> None:
        """Let the program dispose an agent of its own."""
        assert request.handle is not None
        request.handle.dispose()
        self.look(Call(event=t.DISPOSE, about=request.asked))

    def close(self, request: Request) -> None:
        """Let the client close a session of its own."""
        assert request.handle is not None
        request.is_live = False
        task = self.stage.spawn(self._close(request.handle.dispose()), f"close {request.asked}")
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
        self.look(Call(event=t.CLOSE, about=request.asked))

    async def _close(self, end: Teardown) -> None:
        await end

    def give_up(self, request: Request) -> None:
        """Let whoever waits for a load be cancelled."""
        assert request.task is not None
        request.task.cancel()

    def disconnect(self, *, is_seen: bool = True) -> None:
        """Let the client go."""
        if self.state is not Connection.OPEN:
            return
        self.state = Connection.CLOSING
        records = [
            each.handle.dispose()
            for each in self.requests
            if each.is_live and each.asked.caller is Caller.CONNECTION and each.handle is not None
        ]
        self._over = self.stage.spawn(self._drain(records), "drain")
        if is_seen:
            self.look(Call(event=t.DISCONNECT))

    async def _drain(self, records: list[Teardown]) -> None:
        """Wait for the end of everything that the client asked for."""
        served = [
            each.task
            for each in self.requests
            if each.asked.caller is Caller.CONNECTION and each.task is not None
        ]
        for end in records:
            await end
        while any(not task.done() for task in (*served, *self._closing)):
            await asyncio.wait({task for task in (*served, *self._closing) if not task.done()})
        self.state = Connection.CLOSED

    def unload_owner(self) -> None:
        """Unload the plugin of the client."""
        if self._owner_end is None:
            self._owner_end = self._owner.dispose()
            self.look(Call(event=t.UNLOAD_OWNER))

    def unload_provider(self) -> None:
        """Unload the plugin that drives agents."""
        if self._provider_end is None:
            self._provider_end = self.runtime.driver.dispose()
            self.look(Call(event=t.UNLOAD_PROVIDER))

    # -- Listening ---------------------------------------------------------------------------------

    def _on_session(self, _: SessionNotice) -> None:
        self._calls_out += 1
        self._accept()
        self.look()
        self._act_inside(self, "session")

    def _on_agent(self, _: AgentNotice) -> None:
        self.look()
        self._act_inside(self, "agent")

    # -- Judging -----------------------------------------------------------------------------------

    def judge(self) -> None:
        """Compare, between two callbacks."""
        self._accept()
        self.look(may_be_quiet=True)

    def look(self, call: Call | None = None, *, may_be_quiet: bool = False) -> None:
        """Compare what is seen now with what the world could have come to.

        Raises:
            DisagreementError: it could not; the message tells what was done.
        """
        if self.broken is not None:
            raise self.broken
        self.judged += 1
        if call is not None:
            self.story.append(str(call))
        stage = self.stage
        is_held_up = bool(stage.gates.open_gates) or stage.loop.next_timer() is not None
        seen = Seen(
            view=self.view(),
            call=call,
            is_quiet=may_be_quiet and not stage.loop.has_ready,
            excused=_HELD_UP if is_held_up else frozenset(),
        )
        try:
            self.follower.see(seen)
        except DisagreementError as error:
            # Kept, because whoever announces contains what its listeners raise.
            self.broken = DisagreementError(f"{error}\n" + "\n".join(self.story))
            raise self.broken from None

    def finish(self) -> None:
        """Let everything happen, and look at the rest.

        Raises:
            DisagreementError: something is still owed.
            StageStuck: somebody waits for ever.
        """
        self.story.append("the end")
        self.stage.settle()
        self.judge()
        self.disconnect()
        self.stage.settle()
        self.judge()

    def shut(self) -> None:
        """Close the runtime and the stage."""
        self.stage.loop.monitor = None
        try:
            self.stage.complete(self._opening.__aexit__(None, None, None), "close")
        finally:
            if not self._is_guest:
                self.stage.__exit__(None, None, None)
