"""Fibers: a plugin, its configuration, and where it is in its life.

A fiber decides in one place, `advance`, and only between two phases. A phase - a load or an unload
- runs to its end whatever is asked for meanwhile; what was asked for is looked at then. That is why
there is no half-loaded plugin: a dispose during a load waits for the load, and then unloads.

    pending > loading > active > unloading > pending | disposed
              loading > unloading > failed | pending | disposed
"""

from collections.abc import Callable, Coroutine, Generator
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from runtime.containment import attempt
from runtime.errors import CallerError
from runtime.teardown import Teardown

from .effects import Effect
from .endings import Ending, Findings, Work
from .errors import InactiveError
from .guests import Guest
from .lives import Kernel, Life
from .parts import EffectTree, Part, Setup, tasks_of
from .plugins import Plugin, checked_config
from .states import AT_REST, KEEP_CONFIG, FiberState

if TYPE_CHECKING:
    import asyncio

    from .services import Provision

__all__ = ["Fiber"]


class Fiber(Part):
    """One plugin in one place of the tree.

    Await it to know how its load went: it waits until nothing is under way and returns the state.

    Clauses: G-11 G-12 G-19 G-21 G-22
    """

    __slots__ = (
        "_config",
        "_defect",
        "_ending",
        "_findings",
        "_guest",
        "_is_stale",
        "_life",
        "_parent",
        "_phase",
        "_raw",
        "_rest",
        "_restarts",
        "_tried",
        "_wants_load",
        "error",
        "kernel",
        "plugin",
        "state",
    )

    def __init__(
        self, kernel: Kernel, plugin: Plugin[Any], config: object, parent: Life | None
    ) -> None:
        super().__init__(plugin.name, parent)
        self.kernel = kernel
        self.plugin = plugin
        self.state = FiberState.PENDING
        self.error: Exception | None = None
        """Why the last load failed."""
        self._raw = self._config = config
        self._parent = parent
        self._life: Life | None = None
        self._phase: Work | None = None
        self._guest: Guest | None = None
        self._wants_load = True
        self._is_stale = False
        self._defect: BaseException | None = None
        self._tried: dict[str, Provision] = {}
        self._ending: Ending | None = None
        self._restarts: list[Ending] = []
        self._findings = Findings()
        self._rest: list[asyncio.Future[None]] = []
        if parent is None:
            self._live_as_root()
        else:
            refused = attempt(self._check_config)
            parent.add(self)
            kernel.services.inject(self, self._injected)
            if refused is not None:
                self._fail(refused)
            self.advance()

    def _live_as_root(self) -> None:
        self._life = Life(self.kernel, self, None, {})
        self.state = FiberState.ACTIVE

    def _check_config(self) -> None:
        self._config = checked_config(self.plugin, self._raw)

    @property
    def _injected(self) -> tuple[str, ...]:
        return tuple(token.name for token in self.plugin.inject)

    # -- Looking -----------------------------------------------------------------------------------

    @property
    def is_active(self) -> bool:
        """Whether it is loaded and nothing has asked it to go."""
        return self.state is FiberState.ACTIVE

    @property
    def is_loading(self) -> bool:
        """Whether a load is under way."""
        return self.state is FiberState.LOADING

    @property
    def missing(self) -> tuple[str, ...]:
        """The injected services that are not there; what a pending fiber waits for."""
        available = self.kernel.services.available
        return tuple(name for name in self._injected if available(name) is None)

    @property
    def effects(self) -> tuple[EffectTree, ...]:
        """What it has set up, by name, its child fibers among it.

        Clauses: G-43
        """
        life = self._life
        return () if life is None else tuple(part.tree() for part in life.effects)

    def tree(self) -> EffectTree:
        """Return it and what it has set up, by name."""
        return EffectTree(self.name, self.effects, self.state.value)

    def is_current(self, life: Life) -> bool:
        """Return whether this is the life that the fiber lives."""
        return self._life is life

    def current_life(self) -> Life | None:
        """Return the life that the fiber lives, or None between two."""
        return self._life

    def gather_tasks(self, tasks: "set[asyncio.Task[Any] | None]", seen: set[int]) -> None:
        """Add the task of its phase and those of everything that it has set up."""
        if id(self) in seen:
            return
        seen.add(id(self))
        tasks |= self._tasks()
        if self._life is not None:
            for part in self._life.effects:
                part.gather_tasks(tasks, seen)

    def _tasks_before_rest(self) -> "set[asyncio.Task[Any] | None]":
        if self.state is FiberState.UNLOADING:
            return tasks_of(self)
        parts = self._life.effects if self._life is not None else ()
        return self._tasks().union(*(part.set_up_tasks() for part in parts))

    def _tasks(self) -> "set[asyncio.Task[Any] | None]":
        return {each.task for each in (self._phase, self._guest) if each is not None}

    def __await__(self) -> Generator[Any, None, FiberState]:
        """Wait until no load and no unload is under way, and return the state.

        A fiber that waits for a service is at rest.

        Raises:
            Exception: the load failed; this is what it raised.
            WouldDeadlockError: awaited inside its own load or unload.

        Clauses: G-19 G-41
        """
        while self.state not in AT_REST:
            if self._defect is not None:
                raise self._defect
            with self.kernel.waits.noted(f"fiber {self.name}", self._tasks_before_rest):
                rest: asyncio.Future[None] = self.kernel.loop.create_future()
                self._rest.append(rest)
                yield from rest.__await__()
        if self.state is FiberState.FAILED:
            assert self.error is not None
            raise self.error
        return self.state

    # -- Asking ------------------------------------------------------------------------------------

    def dispose(self) -> Teardown:
        """Unload it for good, now, and return the end, the same one for every caller.

        When this returns nothing can be registered any more and no listener of it is called; the
        disposers run in a task. A load that is under way is awaited first. Everything of the
        plugin that has to be awaited on the way has `Limits.unload_grace_s`; what takes longer is
        left behind, and named in the report.

        Raises:
            CallerError: called from another thread than the loop's.

        Clauses: G-21 G-22 G-35 G-50 G-51
        """
        if self._ending is None:
            self.kernel.check_thread(f"dispose of plugin {self.name}")
            self._ending = self._make_end(f"plugin {self.name}")
            self.advance()
        return self._ending

    def restart(self, config: object = KEEP_CONFIG) -> Teardown:
        """Unload it and load it again, and return the end of that: its report says what failed.

        The service and everything else that it reads are looked up anew. If a service that it
        injects is missing, it is done when the fiber waits for it.

        Raises:
            InvalidConfigError: the configuration is refused; the fiber goes on with the old one.
            InactiveError: the fiber is disposed, or about to be.

        Clauses: G-20 G-36
        """
        self.kernel.check_thread(f"restart of plugin {self.name}")
        if self._parent is None:
            raise CallerError("restart refused: the root is not a plugin; open another application")
        raw = self._raw if config is KEEP_CONFIG else config
        checked = checked_config(self.plugin, raw)
        # Looked at after the validation, which is foreign code and may dispose this very fiber.
        if self._ending is not None:
            raise InactiveError(
                f"restart refused: plugin {self.name} is {self.state.value} for good; load it anew"
            )
        self._config, self._raw = checked, raw
        end = self._make_end(f"plugin {self.name} before its restart")
        self._restarts.append(end)
        self._wants_load = self._is_stale = True
        self.advance()
        return end

    def _make_end(self, name: str) -> Ending:
        kernel = self.kernel
        end = Ending(name, kernel.loop, lambda: tasks_of(self), kernel.waits)
        if self._defect is not None:
            end.fail(self._defect)
        return end

    # -- Deciding ----------------------------------------------------------------------------------

    def advance(self) -> None:
        """Do the next thing that has to be done, unless a phase is under way."""
        life = self._life
        if self._phase is not None or self.state is FiberState.DISPOSED:
            if life is not None and self.is_loading and self._must_go(life):
                self._hurry(life)
            return
        if life is not None:
            if self._must_go(life):
                self._begin(FiberState.UNLOADING, self._unload)
                life.close()
            else:
                self._become_active(life)
        elif self._ending is not None:
            self._become_disposed()
        elif not (self._wants_load or self._has_new_inputs()):
            self._come_to_rest(FiberState.FAILED)
        elif self.missing or not self._may_load():
            self._wants_load = True
            self._come_to_rest(FiberState.PENDING)
        else:
            self._live()
            self._begin(FiberState.LOADING, self._load)

    def _hurry(self, life: Life) -> None:
        life.hurry()
        if self._guest is not None:
            self._guest.hurry()

    def _must_go(self, life: Life) -> bool:
        return self._ending is not None or self._is_stale or not life.is_intact

    def _may_load(self) -> bool:
        # Its parent has begun to unload and will dispose it in a moment.
        return self._parent is None or self._parent.is_open

    def _has_new_inputs(self) -> bool:
        # A load that failed on a service is worth another try when the service is another one.
        return any(not provision.is_available for provision in self._tried.values())

    def _become_active(self, life: Life) -> None:
        if not self.is_active:
            self.state = FiberState.ACTIVE
            for name in life.provided:
                self.kernel.services.changed(name)
        self._come_to_rest(FiberState.ACTIVE)

    def _become_disposed(self) -> None:
        assert self._ending is not None
        report = self._findings.report()
        late = InactiveError(f"plugin {self.name} was disposed before its restart")
        for _ in self._restarts:
            self._findings.note("restart", late)
        self._come_to_rest(FiberState.DISPOSED)
        self.kernel.services.forget(self, self._injected)
        if self.holder is not None:
            self.holder.drop(self)
        self._ending.finish(report)

    def _come_to_rest(self, state: FiberState) -> None:
        self.state = state
        rest, self._rest = self._rest, []
        restarts, self._restarts = self._restarts, []
        findings, self._findings = self._findings, Findings()
        for waiter in rest:
            if not waiter.done():
                waiter.set_result(None)
        for restart in restarts:
            restart.finish(findings.report())

    # -- Phases ------------------------------------------------------------------------------------

    def _begin(self, state: FiberState, phase: Callable[[Life], Coroutine[Any, Any, None]]) -> None:
        life = self._life
        assert life is not None
        self.state = state
        run = partial(self._run, phase, life)
        self._phase = Work(self.kernel.loop, f"{state} {self.name}", run, self._break_down)

    def _break_down(self, bug: BaseException) -> None:
        """Let nobody wait for what will never come."""
        self._defect = bug
        for waiter in self._rest:
            if not waiter.done():
                waiter.set_exception(bug)
        for end in (*self._restarts, *([self._ending] if self._ending is not None else [])):
            end.fail(bug)

    async def _run(self, phase: Callable[[Life], Coroutine[Any, Any, None]], life: Life) -> None:
        await phase(life)
        self._phase = None
        self.advance()

    def _live(self) -> None:
        services = self.kernel.services
        found = {name: services.available(name) for name in self._injected}
        self._tried = {name: one for name, one in found.items() if one is not None}
        self._life = Life(self.kernel, self, self._parent, self._tried)
        for provision in self._tried.values():
            provision.dependents[self] = None
        self._wants_load = self._is_stale = False
        self.error = None

    async def _load(self, life: Life) -> None:
        self._guest = guest = Guest(self.kernel, f"load of plugin {self.name}", self._apply(life))
        if self._must_go(life):
            self._hurry(life)
        error = await guest.outcome()
        self._guest = None
        if guest.is_left:
            self._leave_behind(guest, life)
        if error is not None:
            self.state = FiberState.UNLOADING
            life.close()
            await self._unload(life)
            life.log_failures_but(error)
            self._fail(error)

    def _leave_behind(self, guest: Guest, life: Life) -> None:
        self._findings.stragglers.append(guest.name)
        if life.body is not None:
            life.body.abandon()

    async def _apply(self, life: Life) -> None:
        context = self.kernel.make_context(life, self.name)
        life.body = body = Effect(life, "apply")
        rest = body.begin(cast("Setup", partial(self.plugin.apply, context, self._config)))
        if rest is not None:
            await rest
        await life.settle()

    async def _unload(self, life: Life) -> None:
        self._findings.take(await life.unwind())
        self._life = None
        for provision in life.resolved.values():
            provision.leave(self)
        self._wants_load = True

    def _fail(self, error: Exception) -> None:
        """Remember why the load failed; a restart, or another service, is needed for the next."""
        self.error = error
        self._wants_load = self._is_stale
        self._findings.fail(f"load of plugin {self.name}", error)
