"""Every agent that lives, and the one place that makes one.

An agent belongs to two fibers: to the one whose context asked for it, and to the one that drives
agents. Whichever unloads first disposes it, through the same teardown as its handle, and the other
one forgets it.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import cache, partial

from attrs import define, evolve, field

from .agent import LiveAgent
from .announcements import (
    AGENT_CREATED,
    AGENT_DISPOSED,
    AGENT_SESSION_START,
    AgentNotice,
    SessionStarted,
)
from .containment import attempt
from .context import Context, Effect
from .core import AgentOptions, Core, Surroundings
from .errors import CallerError, DuplicateIdError
from .handle import AgentHandle
from .persistence import PERSISTENCE, Persistence
from .ports import Identifiers
from .session.log import Session, SessionLog
from .session.records import Record
from .session.store import Sessions
from .teardown import Link, wait_bounded

__all__ = ["Roster"]


@define(eq=False)
class Roster:
    """The agents of one driver.

    Clauses: F-05 F-06 A-48
    """

    around: Surroundings
    sessions: Sessions
    identifiers: Identifiers
    default_model: str | None
    provider: Context
    """The context of the plugin that drives agents, which owns all of them."""
    keeper: Persistence | None = None
    """What keeps the sessions, also while its plugin is not loaded; None without a store."""
    handles: dict[str, AgentHandle] = field(init=False, factory=dict)
    cores: dict[str, Core] = field(init=False, factory=dict)
    starting: "set[asyncio.Task[None]]" = field(init=False, factory=set)
    """Agents of the configuration that are still being resumed."""
    _reserved: dict[str, object] = field(init=False, factory=dict)

    def create(  # noqa: PLR0913, PLR0917  # what the public registry passes on
        self,
        caller: Context,
        agent_id: str | None,
        session_id: str | None,
        options: AgentOptions,
        cwd: str | None,
        seed: Iterable[Record],
        parent: str | None,
    ) -> AgentHandle:
        """Make an agent on a new session; see `AgentRegistry.create`."""
        self._check_usable("create", caller)
        _check_options("create", options)
        agent_id, session_id = self._name("create", agent_id, session_id)
        log = self.sessions.prepare(session_id, cwd=cwd, seed=seed, parent=parent)
        persistence = self.provider.get(PERSISTENCE)
        if persistence is not None:
            persistence.check_new(session_id)
        # A listener of session/created must not take the agent's id before it is registered.
        free = self._reserve(agent_id)
        try:
            return self._make(caller, agent_id, log, options, "create")
        finally:
            free()

    async def resume(
        self, caller: Context, session_id: str, agent_id: str | None, options: AgentOptions
    ) -> AgentHandle:
        """Make an agent on a stored session; see `AgentRegistry.resume`."""
        self._check_usable("resume", caller)
        if session_id is None:
            raise CallerError("resume refused: session_id is None; name the session to go on with")
        _check_options("resume", options)
        agent_id, session_id = self._name("resume", agent_id, session_id)
        # As in `create`, the id stays reserved until the agent is registered under it.
        free = self._reserve(agent_id)
        try:
            log = await self._load(caller, session_id)
            return self._make(caller, agent_id, log, options, "resume")
        finally:
            free()

    async def _load(self, caller: Context, session_id: str) -> SessionLog:
        """Load a session while it is reserved; its owners may end that."""
        persistence = self._need_persistence(session_id)
        with ExitStack() as held:
            held.callback(self.sessions.reserve(session_id))
            loading = persistence.load(session_id, self.sessions.rebuild)
            held.callback(loading.dispose)
            for context in self._owners(caller):
                name = f"resume of session {session_id}"
                held.callback(context.effect(lambda: loading.dispose, name=name).forget)
            log = await loading
            # From here on nothing is awaited: what was reserved is free only to be taken again.
            self._check_usable("resume", caller)
            self._need_persistence(session_id)
            persistence.keep(loading, log)
        return log

    def _need_persistence(self, session_id: str) -> Persistence:
        persistence = self.provider.get(PERSISTENCE)
        if persistence is None:
            raise CallerError(
                f"resume of session {session_id!r} refused: nothing keeps sessions here, "
                "or it is unloading; open the runtime with a store"
            )
        return persistence

    def _check_usable(self, verb: str, caller: Context) -> None:
        self.around.check_thread(verb)
        for owner in (caller, self.provider):
            owner.check_open(verb)

    def _make(
        self,
        caller: Context,
        agent_id: str,
        log: SessionLog,
        options: AgentOptions,
        verb: str,
    ) -> AgentHandle:
        core = Core(agent_id, log, self._with_default_model(options), self.around)
        agent = LiveAgent(core)
        detach = self.sessions.enter(log)
        owners: list[Effect] = []
        # Once only: the part of the teardown that calls it may have to begin again.
        release = cache(partial(self._release, log.session))
        links = partial(_links, core, self._unregister, detach, release, owners)
        handle = AgentHandle(core, agent, links)
        # Owned before anybody is told: a listener may already unload one of the owners.
        owners += [self._own(context, handle, core) for context in self._owners(caller)]
        self.sessions.announce(log)
        if not self._has_open_owners(caller):
            # Nobody has been told of an agent yet, so nobody is told of its end.
            _forget(owners)
            detach()
            # That a seed is not stored is no news to whoever is refused.
            attempt(release)
            raise CallerError(
                f"{verb} of agent {agent_id!r} refused: a listener of session/created closed the "
                "runtime, or unloaded who would own the agent"
            )
        self.handles[agent_id], self.cores[agent_id] = handle, core
        bus = self.around.bus
        bus.emit(AGENT_CREATED, AgentNotice(agent=agent))
        # A listener may have ended it again, with the runtime or with one of its owners.
        if self._has_open_owners(caller):
            source = "resume" if verb == "resume" else "startup"
            bus.emit(AGENT_SESSION_START, SessionStarted(agent=agent, source=source))
        return handle

    def _release(self, session: Session) -> "asyncio.Task[int] | None":
        # Whoever keeps sessions and is no longer loaded says what is missing.
        keeper = self.provider.get(PERSISTENCE) or self.keeper
        return None if keeper is None else keeper.release(session)

    def _owners(self, caller: Context) -> tuple[Context, ...]:
        is_one = caller.fiber is self.provider.fiber
        return (self.provider,) if is_one else (caller, self.provider)

    def _has_open_owners(self, caller: Context) -> bool:
        return all(context.is_open for context in self._owners(caller))

    def _own(self, context: Context, handle: AgentHandle, core: Core) -> Effect:
        return context.own(handle, name=f"agent {core.id}", own_tasks=lambda: core.own_tasks)

    def _name(self, verb: str, agent_id: str | None, session_id: str | None) -> tuple[str, str]:
        for name, given in (("agent_id", agent_id), ("session_id", session_id)):
            if given is not None and (type(given) is not str or not given):
                raise CallerError(f"{verb} refused: {name} is {given!r}; give a string, or omit it")
        agent_id = agent_id or session_id or self.identifiers.new_id()
        if agent_id in self.handles or agent_id in self._reserved:
            raise DuplicateIdError(
                f"agent {agent_id!r} refused: an agent with this id lives; "
                "dispose it first, or choose another id"
            )
        return agent_id, session_id or agent_id

    def _reserve(self, agent_id: str) -> Callable[[], None]:
        self._reserved[agent_id] = holder = object()

        def free() -> None:
            if self._reserved.get(agent_id) is holder:
                del self._reserved[agent_id]

        return free

    def _with_default_model(self, options: AgentOptions) -> AgentOptions:
        return options if options.model is not None else evolve(options, model=self.default_model)

    def _unregister(self, core: Core) -> None:
        if self.cores.get(core.id) is core:
            del self.handles[core.id], self.cores[core.id]


def _check_options(verb: str, options: object) -> None:
    if not isinstance(options, AgentOptions):
        kind = type(options).__name__
        raise CallerError(f"{verb} refused: options is a {kind}; give AgentOptions(...), or none")


def _links(
    core: Core,
    unregister: Callable[[Core], None],
    detach: Callable[[], None],
    release: "Callable[[], asyncio.Task[int] | None]",
    owners: list[Effect],
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
        Link("release", partial(_release_stored, core, release)),
        Link("owners", partial(_at_once, _forget, owners)),
    ]


def _forget(owners: list[Effect]) -> None:
    for owner in owners:
        owner.forget()


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


async def _release_stored(
    core: Core, release: "Callable[[], asyncio.Task[int] | None]"
) -> tuple[str, ...]:
    """Let others write the session, so that it can be resumed when the agent is gone.

    Raises:
        Exception: something of it is not stored.

    Clauses: E-33 E-49 E-101
    """
    task = release()
    if task is None:
        return ()
    await wait_bounded((task,), core.limits.abort_grace_s)
    if not task.done():
        return (task.get_name(),)
    task.result()
    return ()
