"""The agents of one runtime, and the handles that own them."""

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from types import TracebackType

from attrs import evolve

from statemachine import Input

from .agent import Agent, LiveAgent
from .announcements import (
    AGENT_CREATED,
    AGENT_DISPOSED,
    AGENT_SESSION_START,
    AgentNotice,
    SessionStarted,
)
from .core import AgentOptions, Core, Surroundings
from .errors import CallerError, DuplicateIdError
from .ports import Identifiers
from .session.log import SessionLog
from .session.records import Record
from .session.store import Sessions
from .teardown import Link, Teardown, wait_bounded
from .turn import Stop

__all__ = ["AgentHandle", "AgentRegistry"]

_DISPOSED = Stop("disposed", "disposed")


class AgentHandle:
    """The right to end exactly one agent.

    Entered, it gives the bare agent; left, it disposes it and waits for the teardown.

    Clauses: F-01 F-42 A-49
    """

    __slots__ = ("_core", "_links", "_teardown", "agent")

    agent: Agent
    """The bare agent, which may be handed on."""

    def __init__(self, core: Core, agent: Agent, links: Callable[[], list[Link]]) -> None:
        self.agent = agent
        self._core = core
        self._links = links
        self._teardown: Teardown | None = None
        core.dispose = self.dispose

    def dispose(self) -> Teardown:
        """End the agent now, and return its teardown, to be awaited or not.

        When this returns, the status is `disposed`, nothing is accepted any more and everything
        that waited has been discarded. A turn that runs unwinds within its grace. Unregistering,
        `agent/disposed` and leaving the store happen later, in this order, in a task.

        Every call returns the same teardown.

        Raises:
            CallerError: called from another thread than the loop's.

        Clauses: F-15 F-17 F-32 F-35 F-39 A-69
        """
        core = self._core
        core.around.check_thread(f"dispose of agent {core.id!r}")
        if self._teardown is None:
            # The end exists before anybody is told, because whoever is told may ask for it.
            self._teardown = Teardown(f"agent {core.id}", core.loop, lambda: core.own_tasks)
            try:
                core.call(Input.DISPOSE, _DISPOSED)
            finally:
                self._teardown.start(self._links())
        return self._teardown

    async def __aenter__(self) -> Agent:
        """Return the bare agent."""
        return self.agent

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Dispose the agent and wait until it is gone."""
        await self.dispose()


class AgentRegistry:
    """Makes agents and finds them.

    Clauses: F-02 F-05 F-06 A-48
    """

    def __init__(
        self,
        around: Surroundings,
        sessions: Sessions,
        identifiers: Identifiers,
        default_model: str | None,
    ) -> None:
        self._around = around
        self._sessions = sessions
        self._identifiers = identifiers
        self._default_model = default_model
        self._handles: dict[str, AgentHandle] = {}
        self._cores: dict[str, Core] = {}
        self._reserved: set[str] = set()
        self._is_closed = False

    def get(self, agent_id: str) -> Agent | None:
        """Return the bare agent of this id, or None."""
        handle = self._handles.get(agent_id)
        return None if handle is None else handle.agent

    def list(self) -> tuple[Agent, ...]:
        """Return the agents in order of registration."""
        return tuple(handle.agent for handle in self._handles.values())

    def create(  # noqa: PLR0913  # all optional, all by name
        self,
        *,
        agent_id: str | None = None,
        session_id: str | None = None,
        options: AgentOptions = AgentOptions(),  # noqa: B008  # frozen
        cwd: str | None = None,
        seed: Iterable[Record] = (),
        parent: str | None = None,
    ) -> AgentHandle:
        """Make an agent on a new session.

        Args:
            agent_id: the id in the registry; omitted, the session's id.
            session_id: the durable id; omitted, the agent's id. Both omitted: one UUID.
            options: the model and the system prompt.
            cwd: the absolute working directory of the session, for its header.
            seed: records that the session begins with.
            parent: the session that the seed was forked from.

        Raises:
            DuplicateIdError: an agent or a live session has this id; nothing was made.
            CallerError: an id is empty, `cwd` is relative, the runtime is closed, or the call came
                from another thread than the loop's.
            InvalidRecordError: the seed is no log.

        Clauses: D-37 F-37
        """
        self._around.check_thread("create")
        agent_id, session_id = self._name(agent_id, session_id)
        log = self._sessions.prepare(session_id, cwd=cwd, seed=seed, parent=parent)
        # A listener of session/created must not take the agent's id before it is registered.
        self._reserved.add(agent_id)
        try:
            return self._make(agent_id, log, options)
        finally:
            self._reserved.discard(agent_id)

    def _make(self, agent_id: str, log: SessionLog, options: AgentOptions) -> AgentHandle:
        core = Core(agent_id, log, self._with_default_model(options), self._around)
        agent = LiveAgent(core)
        detach = self._sessions.enter(log)
        handle = AgentHandle(core, agent, partial(_links, core, self._unregister, detach))
        self._sessions.announce(log)
        if self._is_closed:
            detach()
            raise CallerError("create refused: a listener of session/created closed the runtime")
        self._handles[agent_id], self._cores[agent_id] = handle, core
        bus = self._around.bus
        bus.emit(AGENT_CREATED, AgentNotice(agent=agent))
        bus.emit(AGENT_SESSION_START, SessionStarted(agent=agent, source="startup"))
        return handle

    def _name(self, agent_id: str | None, session_id: str | None) -> tuple[str, str]:
        if self._is_closed:
            raise CallerError("create refused: the runtime is closed; open another one")
        for name, given in (("agent_id", agent_id), ("session_id", session_id)):
            if given is not None and (type(given) is not str or not given):
                raise CallerError(f"create refused: {name} is {given!r}; give a string, or omit it")
        agent_id = agent_id or session_id or self._identifiers.new_id()
        if agent_id in self._handles or agent_id in self._reserved:
            raise DuplicateIdError(
                f"agent {agent_id!r} refused: an agent with this id lives; "
                "dispose it first, or choose another id"
            )
        return agent_id, session_id or agent_id

    def _with_default_model(self, options: AgentOptions) -> AgentOptions:
        return options if options.model is not None else evolve(options, model=self._default_model)

    # -- The end -----------------------------------------------------------------------------------

    def _unregister(self, core: Core) -> None:
        if self._cores.get(core.id) is core:
            del self._handles[core.id], self._cores[core.id]

    def close(self) -> tuple[AgentHandle, ...]:
        """Refuse every further creation and return the handles of all agents."""
        self._is_closed = True
        return tuple(self._handles.values())

    def cores(self) -> tuple[Core, ...]:
        """Return the cells of all agents, for inspection."""
        return tuple(self._cores.values())


def _links(
    core: Core, unregister: Callable[[Core], None], detach: Callable[[], None]
) -> list[Link]:
    """Return the parts of one agent's end, in their order.

    The session is left last, so that the closing records and the final flush reach whoever makes
    it durable while it is still attached.

    Clauses: F-15 F-35
    """
    return [
        Link("driver", partial(_stop_driver, core)),
        Link("last flush", partial(_flush_once_more, core)),
        Link("unregister", partial(_at_once, unregister, core)),
        Link("announce", partial(_at_once, _announce_disposed, core)),
        Link("detach", partial(_at_once, detach)),
    ]


async def _at_once(act: Callable[..., None], *arguments: object) -> tuple[str, ...]:
    act(*arguments)
    return ()


def _announce_disposed(core: Core) -> None:
    core.outbox.place(AGENT_DISPOSED, AgentNotice(agent=core.face))
    core.outbox.deliver()


async def _stop_driver(core: Core) -> tuple[str, ...]:
    """Wait for the driver's exit, then, bounded, for owed flushes and for what was left behind.

    Clauses: A-67 B-119
    """
    # Shielded: the exit belongs to the driver, and whoever waits for it may be cancelled.
    await asyncio.shield(core.exited)
    core.turn.close()
    await wait_bounded((*core.owed, *core.stragglers), core.limits.abort_grace_s)
    late = len(core.owed)
    for flush in tuple(core.owed):
        flush.cancel()
    return (*core.stragglers.values(), *(f"owed flush of {core.id}" for _ in range(late)))


async def _flush_once_more(core: Core) -> tuple[str, ...]:
    """Flush what nobody has made durable, if there is any.

    Raises:
        ExceptionGroup: somebody could not.

    Clauses: D-51
    """
    flush = core.last_flush
    if flush is None:
        if not core.owes_flush():
            return ()
        name = f"last flush of {core.id}"
        flush = core.last_flush = core.loop.create_task(core.flush(), name=name)
    await wait_bounded((flush,), core.limits.abort_grace_s)
    if not flush.done():
        flush.cancel()
        return (flush.get_name(),)
    flush.result()
    return ()
