"""The default application: which part sits where, and in what order it stops."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, closing
from functools import partial
from os import PathLike
from typing import Any, TypeVar

from attrs import frozen

from statemachine import MACHINE, Machine, Status, Window

from .announcements import (
    SESSION_CREATED,
    SESSION_ENDED,
    Announcement,
    SessionEnded,
    SessionNotice,
)
from .application import AGENTS, AppContext, ConfiguredAgent, driver_plugin
from .bash import BASH, BashExecutor
from .context import Context, Fiber, Plugin, Subscription
from .core import Core, Surroundings
from .driver import drive
from .errors import CallerError
from .limits import DEFAULT_LIMITS, Limits
from .model import EchoModel, Model
from .persistence import Persistence, persistence_plugin
from .ports import (
    Blocking,
    Clock,
    Identifiers,
    SystemBlocking,
    SystemClock,
    SystemIdentifiers,
    thread_id,
)
from .registry import AgentRegistry
from .roster import Roster
from .session.backend import Backend
from .session.log import Session
from .session.places import backend_at
from .session.store import Sessions
from .system_prompt import SYSTEM_PROMPT, SystemPrompt
from .teardown import Link, LinkFailure, Teardown, TeardownReport
from .tools import TOOLS, ToolRegistry

__all__ = ["AgentInspection", "Inspection", "Runtime", "open_runtime"]

P = TypeVar("P")


@frozen(kw_only=True)
class AgentInspection:
    """What one agent is doing, for the question why it is not idle.

    Clauses: F-41
    """

    id: str
    session_id: str
    status: Status
    queued: int
    steering: int
    window: Window
    """Where its driver is."""
    has_task: bool
    """Whether a driver's task exists; a parked agent has none."""
    waits_since_ms: int | None
    """Since when (UTC, milliseconds since the epoch) that window waits, None if it does not."""
    stragglers: tuple[str, ...]


@frozen(kw_only=True)
class Inspection:
    """What a runtime is doing."""

    agents: tuple[AgentInspection, ...]


def _inspect(core: Core) -> AgentInspection:
    is_at_rest = core.driver is None
    return AgentInspection(
        id=core.id,
        session_id=core.log.session.header.id,
        status=core.shape.status,
        queued=len(core.queues.queued),
        steering=len(core.queues.steering),
        window=core.shape.window,
        has_task=not is_at_rest,
        waits_since_ms=None if is_at_rest else core.waits_since_ms,
        stragglers=tuple(core.stragglers.values()),
    )


class Runtime:
    """One running application; made by `open_runtime`."""

    def __init__(self, around: Surroundings, sessions: Sessions, context: AppContext) -> None:
        self._around = around
        self._teardown: Teardown | None = None
        self.roster: Roster | None = None
        """Every agent that lives, and what makes them; None before the driver is loaded."""
        self.driver = context.fiber
        """The fiber of the plugin that drives agents; unloaded, it takes all of them along."""
        self.persistence: Fiber | None = None
        """The fiber of the plugin that keeps sessions; None without a store."""
        self.context = context
        """The root context, on which plugins are loaded."""
        self.models = around.models
        """The models by name."""
        self.tools = around.tools
        """The tools that models may call: `rt.tools.register(rt.context, tool)`."""
        self.system_prompt = around.sections
        """What plugins add to the system prompt."""
        self.sessions = sessions
        """The live sessions."""

    @property
    def bash(self) -> BashExecutor | None:
        """Whoever runs commands, None without the plugin that provides it."""
        return self.context.get(BASH)

    @property
    def agents(self) -> AgentRegistry:
        """The live agents; what is created here belongs to the application."""
        return AgentRegistry(self.roster, self.context)

    def on(
        self,
        announcement: Announcement[P],
        listener: Callable[[P], object],
        *,
        plugin: str = "application",
    ) -> Subscription:
        """Tell `listener` of every such announcement until the subscription is closed.

        Raises:
            CallerError: a coroutine function for an announcement that nobody awaits, a plain
                function for `SESSION_FLUSH`, or a call from another thread than the loop's.

        Clauses: A-60 G-33
        """
        self._around.check_thread("on")
        return self.context.extend(plugin).on(announcement, listener)

    def inspect(self) -> Inspection:
        """Return what every agent is doing right now.

        Clauses: F-41
        """
        return Inspection(agents=tuple(_inspect(core) for core in self._cores()))

    async def started(self) -> None:
        """Wait until no agent of the configuration is being resumed."""
        while self.roster is not None and self.roster.starting:
            await asyncio.wait(tuple(self.roster.starting))

    def _cores(self) -> tuple[Core, ...]:
        return () if self.roster is None else tuple(self.roster.cores.values())

    def aclose(self) -> Teardown:
        """Dispose every agent, then unload every plugin, and return the teardown of it all.

        When this returns every agent is disposed and nothing can be created any more.

        Raises:
            CallerError: called from another thread than the loop's.

        Clauses: F-43
        """
        self._around.check_thread("aclose")
        if self._teardown is None:
            handles = tuple(self.roster.handles.values()) if self.roster is not None else ()
            own_tasks = partial(_tasks_of, self._cores())
            self._teardown = Teardown("the runtime", self._around.loop, own_tasks)
            # The driver first: nothing is created any more, and who listens hears the agents end.
            self.driver.dispose()
            endings = [handle.dispose() for handle in handles]
            self._teardown.start(
                [
                    Link("agents", partial(_join, endings)),
                    Link("plugins", partial(_unload, self.driver, self.context.fiber)),
                ]
            )
        return self._teardown


def _tasks_of(cores: tuple[Core, ...]) -> set[Any]:
    return {task for core in cores for task in core.own_tasks}


async def _join(endings: list[Teardown]) -> tuple[str, ...]:
    for ending in endings:
        await ending
    # What they left behind stands in the reports of the fibers that own them.
    return ()


async def _unload(*fibers: Fiber) -> TeardownReport:
    """Unload one fiber after the other, and report once what several of them report."""
    failed: dict[LinkFailure, None] = {}
    late: dict[str, None] = {}
    for fiber in fibers:
        report = await fiber.dispose()
        failed |= dict.fromkeys(report.failed)
        late |= dict.fromkeys(report.stragglers)
    return TeardownReport(failed=tuple(failed), stragglers=tuple(late))


def backend_for(
    store: object, *, limits: Limits = DEFAULT_LIMITS, clock: Clock | None = None
) -> Backend | None:
    """Return what keeps the sessions of a runtime that was opened with `store`.

    Raises:
        CallerError: it is nothing in which sessions can be kept.
        StorageError: it is the path of a file in which none are.
    """
    if store is None or isinstance(store, Backend):
        return store
    if isinstance(store, str | PathLike):
        return backend_at(store, limits=limits, clock=clock)
    raise CallerError(f"store={store!r} refused: give a path, a backend, or None to keep nothing")


@asynccontextmanager
async def open_runtime(  # noqa: PLR0913  # all optional, all by name
    *,
    store: object = None,
    models: Mapping[str, Model] | None = None,
    default_model: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    clock: Clock | None = None,
    identifiers: Identifiers | None = None,
    blocking: Blocking | None = None,
    machine: Machine = MACHINE,
    agents: Iterable[ConfiguredAgent] = (),
) -> AsyncIterator[Runtime]:
    """Open a runtime, and close it when the block is left.

    Args:
        store: where sessions survive, a path (`backend_at` says of what) or a `Backend`;
            omitted, they end with the runtime.
        models: the models by name; omitted, an echo named `echo`, which is then the default.
        default_model: the model of agents that name none.
        limits: every bound there is.
        clock: stands in for the system's clock.
        identifiers: stands in for random UUIDs.
        blocking: stands in for the thread that talks to the store.
        machine: the lifecycle; tests plant faults here.
        agents: agents that exist from the beginning; nobody holds their handles.

    Raises:
        CallerError: the store is none, or the default model is none of the models.
        StorageError: the store cannot be used.
    """
    backend = backend_for(store, limits=limits, clock=clock)
    models, default_model = _checked_models(models, default_model)
    context = AppContext.root(limits=limits)
    around = Surroundings(
        bus=context.channels,
        machine=machine,
        limits=limits,
        clock=clock or SystemClock(),
        loop=asyncio.get_running_loop(),
        thread=thread_id(),
        models=models,
        tools=ToolRegistry(),
        sections=SystemPrompt(),
        run_driver=drive,
    )
    context.provide(TOOLS, around.tools)
    context.provide(SYSTEM_PROMPT, around.sections)
    sessions = _live_sessions(around, context)
    runtime = Runtime(around, sessions, context)

    def make_roster(provider: Context) -> Roster:
        roster = Roster(around, sessions, names, default_model, provider, kept)
        # Refused where somebody drives agents already, whose roster must stay the runtime's.
        provider.provide(AGENTS, roster)
        runtime.roster = roster
        return roster

    names = identifiers or SystemIdentifiers()
    driver = driver_plugin(make_roster, agents, names)
    with closing(SystemBlocking()) as thread:
        kept = keeper = None
        if backend is not None:
            kept = Persistence(backend, blocking or thread, limits.abort_grace_s)
            keeper = persistence_plugin(kept, sessions.list)
        try:
            await context.effect(partial(_load, runtime, keeper, driver), name="parts")
            await runtime.started()
            yield runtime
        finally:
            await runtime.aclose()


def _live_sessions(around: Surroundings, context: AppContext) -> Sessions:
    """Make the store of the live sessions, which tells the application what happens to them."""

    def tell_created(session: Session) -> None:
        around.bus.emit(SESSION_CREATED, SessionNotice(session=session))

    def tell_ended(session_id: str) -> None:
        around.bus.emit(SESSION_ENDED, SessionEnded(session_id=session_id))

    async def end_jobs(session_id: str) -> None:
        bash = context.get(BASH)
        if bash is not None:
            await bash.end_session(session_id)

    return Sessions(around.clock, around.limits, tell_created, tell_ended, end_jobs)


def _checked_models(
    models: Mapping[str, Model] | None, default_model: str | None
) -> tuple[dict[str, Model], str | None]:
    if models is None:
        models, default_model = {"echo": EchoModel()}, default_model or "echo"
    if default_model is not None and default_model not in models:
        known = ", ".join(sorted(models)) or "none"
        raise CallerError(f"default_model={default_model!r} refused: the models are: {known}")
    return dict(models), default_model


async def _load(
    runtime: Runtime, keeper: Plugin[None] | None, driver: Plugin[None]
) -> AsyncGenerator[Fiber, None]:
    """Load the parts of the application, each when the one before is there.

    They are one effect, so that they end one after the other, in the opposite order: agents still
    write their closing records while somebody keeps them.

    Clauses: E-40
    """
    if keeper is not None:
        runtime.persistence = runtime.context.plugin(keeper)
        yield runtime.persistence
        await runtime.persistence
    runtime.driver = runtime.context.plugin(driver)
    yield runtime.driver
    await runtime.driver
