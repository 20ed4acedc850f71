"""The context: what a plugin sees of the application, and all that it can do to it.

A context belongs to one life of one fiber. Everything that is registered through it is undone when
that life ends, whenever it was registered and from which task: what counts is the context.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Self, TypeAlias, TypeVar, overload

from runtime.announcements import Announcement
from runtime.limits import DEFAULT_LIMITS, Limits
from runtime.teardown import Teardown, TeardownReport

from .effects import Effect
from .endings import Ending
from .fibers import Fiber
from .interceptors import Bail, Channels, Kind, Serial, Waterfall
from .lives import Kernel, Life
from .parts import EffectTree, Owned, Part, Setup
from .plugins import Plugin
from .tokens import Token

__all__ = ["Context", "Proceed", "Subscription"]

C = TypeVar("C")
P = TypeVar("P")
R = TypeVar("R")
T = TypeVar("T")

Proceed: TypeAlias = Callable[[], Coroutine[Any, Any, R]]
"""Runs what lies further in of a waterfall, once, and returns its result."""


class Subscription(Part):
    """One listener; `close` takes it off, any number of times, and so does the end of its fiber.

    Clauses: G-27 G-29
    """

    __slots__ = ("_ending", "_kind", "_life", "listener", "who")

    def __init__(
        self, life: Life, kind: Kind, listener: Callable[..., Any], who: str, *, prepend: bool
    ) -> None:
        super().__init__(f"on {kind.name}", life)
        self.listener = listener
        self.who = who
        """The plugin it belongs to, for messages."""
        self._life = life
        self._ending: Ending | None = None
        self._kind = kind
        life.kernel.channels.enter(kind, self, prepend=prepend)
        life.add(self)

    @property
    def is_live(self) -> bool:
        """Whether it may still be called; also in a dispatch that is under way."""
        return self._ending is None and self._life.is_open

    def close(self) -> None:
        """Call the listener never again."""
        self.dispose()

    def dispose(self) -> Teardown:
        """Call the listener never again; there is nothing to wait for."""
        if self._ending is None:
            kernel = self._life.kernel
            kernel.check_thread(f"close of {self.name}")
            self._ending = Ending(self.name, kernel.loop, set, kernel.waits)
            kernel.channels.leave(self._kind)
            if self.holder is not None:
                self.holder.drop(self)
            self._ending.finish(TeardownReport())
        return self._ending


class Context:
    """What a plugin is given.

    Subclass it to give the services of an application names: `agents = Provided(AGENTS)`.

    Clauses: G-10 G-15 G-16 G-30
    """

    __slots__ = ("_label", "_life")

    def __init__(self, life: Life, label: str) -> None:
        """Used by fibers; `Context.root` makes the first one."""
        self._life = life
        self._label = label

    @classmethod
    def root(cls, *, limits: Limits = DEFAULT_LIMITS, name: str = "application") -> Self:
        """Return the context of a new application, on the running loop.

        It is active until `fiber.dispose()`, which unloads every plugin.

        Clauses: G-17
        """
        kernel = Kernel(loop=asyncio.get_running_loop(), limits=limits, make_context=cls)
        fiber = Fiber(kernel, Plugin(name=name, apply=_apply_nothing), None, None)
        life = fiber.current_life()
        assert life is not None
        return cls(life, name)

    @property
    def fiber(self) -> Fiber:
        """The fiber that owns what is registered here."""
        return self._life.fiber

    @property
    def label(self) -> str:
        """Whose listeners these are, in the log."""
        return self._label

    @property
    def channels(self) -> Channels:
        """Who listens to what in the whole application, for those who announce much."""
        return self._life.kernel.channels

    @property
    def effects(self) -> tuple[EffectTree, ...]:
        """What the fiber has set up, by name."""
        return self.fiber.effects

    @property
    def is_open(self) -> bool:
        """Whether anything may be registered here."""
        return self._life.is_open

    def check_open(self, what: str) -> None:
        """Refuse something that the end of this fiber could not undo any more.

        Raises:
            InactiveError: the fiber is unloading, gone, or has been loaded anew since.
        """
        self._life.check_open(what)

    def extend(self, label: str) -> Self:
        """Return a context of the same fiber that has another name in the log.

        It is no scope of its own: what is registered there lives as long as the fiber.

        Clauses: G-30
        """
        return type(self)(self._life, label)

    def __repr__(self) -> str:
        return f"<context {self._label} {self.fiber.state}>"

    # -- Setting up --------------------------------------------------------------------------------

    def plugin(self, plugin: Plugin[C], config: object = None) -> Fiber:
        """Load a plugin, as soon as the services are there that it injects; await it, or not.

        Args:
            plugin: what to load.
            config: what `plugin.validate` makes its configuration of.

        Raises:
            InactiveError: this fiber is not active any more.

        Clauses: G-11 G-19 G-20 G-31
        """
        self._life.check_open(f"plugin {plugin.name}")
        return Fiber(self._life.kernel, plugin, config, self._life)

    def effect(
        self,
        setup: Setup,
        *,
        name: str | None = None,
        own_tasks: Callable[[], Any] | None = None,
    ) -> Effect:
        """Set something up that is undone when this fiber unloads, or before, by its `dispose`.

        Args:
            setup: does it, and gives back how to undo it: None, a disposer, a generator of
                disposers, or any of these asynchronously. A disposer is a function, whose result
                is awaited if it can be, or something with a `dispose`.
            name: for the tree of effects; the name of the function if omitted.
            own_tasks: the tasks that the disposers wait for, which must not wait for the fiber.

        Raises:
            InactiveError: this fiber is not active any more.
            InvalidEffectError: the set-up gave back something else.
            BaseException: what the set-up raised; what it had set up is undone first.

        Clauses: G-01 G-02 G-04 G-10
        """
        label = name or str(getattr(setup, "__name__", type(setup).__name__))
        self._life.check_open(f"effect {label}")
        effect = Effect(self._life, label, own_tasks)
        effect.set_up(setup)
        return effect

    def own(self, owned: Owned, *, name: str, own_tasks: Callable[[], Any] | None = None) -> Effect:
        """End something with this fiber that may also end by itself, or with another fiber.

        Call `forget` of the result when it has ended by itself.

        Raises:
            InactiveError: this fiber is not active any more.

        Clauses: G-38
        """
        return self.effect(lambda: owned.dispose, name=name, own_tasks=own_tasks)

    # -- Services ----------------------------------------------------------------------------------

    def provide(self, token: Token[T], value: T) -> Effect:
        """Let others use a service, from the moment that this fiber is active.

        When it goes, those who were loaded with it unload first.

        Raises:
            InactiveError: this fiber is not active any more.
            DuplicateServiceError: somebody provides it; the message says who.

        Clauses: G-12 G-13 G-18
        """
        self._life.check_open(f"provide {token}")
        life = self._life
        provision = life.kernel.services.enter(token, value, life)
        life.provided[token.name] = provision

        def withdraw() -> Teardown:
            if life.provided.get(token.name) is provision:
                del life.provided[token.name]
            return provision.withdraw()

        effect = Effect(life, f"provide {token}", lambda: provision.dependents)
        effect.set_up(lambda: withdraw)
        return effect

    def get(self, token: Token[T]) -> T | None:
        """Look a service up; None if it is not there. Never raises.

        Clauses: G-16 G-32
        """
        value: T | None = self._life.kernel.services.get(token.name)
        return value

    def need(self, token: Token[T]) -> T:
        """Return a service that this plugin injects, also while it departs.

        From the root's context this is a look-up: nothing has to be injected there, and a service
        that is missing is None.

        Raises:
            InactiveError: the fiber is not loaded, or has been loaded anew since.
            NotInjectedError: neither this plugin nor one above it injects it.

        Clauses: G-13 G-14 G-15 G-17
        """
        value: T = self._life.need(token.name)
        return value

    # -- Listening ---------------------------------------------------------------------------------

    @overload
    def on(
        self,
        kind: Announcement[P],
        listener: Callable[[P], object],
        *,
        prepend: bool = False,
    ) -> Subscription: ...

    @overload
    def on(
        self,
        kind: Serial[P, R],
        listener: Callable[[P], Awaitable[R | None]] | Callable[[P], R | None],
        *,
        prepend: bool = False,
    ) -> Subscription: ...

    @overload
    def on(
        self, kind: Bail[P, R], listener: Callable[[P], R | None], *, prepend: bool = False
    ) -> Subscription: ...

    @overload
    def on(
        self,
        kind: Waterfall[P, R],
        listener: "Callable[[P, Proceed[R]], Awaitable[R]] | Callable[[P, Proceed[R]], R]",
        *,
        prepend: bool = False,
    ) -> Subscription: ...

    def on(
        self, kind: Kind, listener: Callable[..., Any], *, prepend: bool = False
    ) -> Subscription:
        """Call `listener` at every such dispatch, until it is closed or this fiber unloads.

        Args:
            kind: one of the constants that name what is dispatched.
            listener: a coroutine function for what is awaited, a plain one for announcements and
                for `Bail`, either for the others.
            prepend: call it before those that listen already.

        Raises:
            InactiveError: this fiber is not active any more.
            CallerError: the listener is of the wrong sort for this kind.

        Clauses: G-10 G-27 G-28 G-29 G-33
        """
        self._life.check_open(f"listener of {kind.name}")
        return Subscription(self._life, kind, listener, self._label, prepend=prepend)

    def listens(self, kind: Kind) -> bool:
        """Return whether anybody would be called."""
        return self._life.kernel.channels.listens(kind)

    def emit(self, announcement: Announcement[P], notice: P) -> None:
        """Tell every listener, at once; contain what each of them raises.

        Raises:
            LimitError: announcements are nested deeper than the limit.
            CallerError: called from another thread than the loop's.

        Clauses: G-23 G-24 G-34 G-73
        """
        self._channels("emit", announcement).emit(announcement, notice)

    async def parallel(
        self,
        announcement: Announcement[P],
        notice: P,
        spawn: "Callable[[Coroutine[Any, Any, object]], asyncio.Task[object]] | None" = None,
    ) -> None:
        """Run every listener at once and wait for all of them.

        Raises:
            ExceptionGroup: some listeners failed; all of them were run.
            CallerError: called from another thread than the loop's.

        Clauses: G-23 G-25 G-73
        """
        await self._channels("parallel", announcement).parallel(announcement, notice, spawn)

    async def serial(self, kind: Serial[P, R], argument: P) -> R | None:
        """Ask the listeners in order, each awaited; return the first answer that is not None.

        Raises:
            Exception: what a listener raised; later ones are not asked.
            CallerError: called from another thread than the loop's.

        Clauses: G-23 G-73
        """
        return await self._channels("serial", kind).serial(kind, argument)

    def bail(self, kind: Bail[P, R], argument: P) -> R | None:
        """Ask the listeners in order, at once; return the first answer that is not None.

        Raises:
            Exception: what a listener raised; later ones are not asked.
            CallerError: called from another thread than the loop's.

        Clauses: G-23 G-73
        """
        return self._channels("bail", kind).bail(kind, argument)

    async def waterfall(
        self, kind: Waterfall[P, R], argument: P, body: Callable[[P], Awaitable[R] | R]
    ) -> R:
        """Run `body` inside the listeners, the first of them outermost, and return the result.

        Raises:
            Exception: what a listener or the body raised, unless a listener further out caught it.
            CallerError: called from another thread than the loop's.

        Clauses: G-23 G-26 G-73
        """
        return await self._channels("waterfall", kind).waterfall(kind, argument, body)

    def _channels(self, what: str, kind: Kind) -> Channels:
        self._life.kernel.check_thread(f"{what} of {kind.name}")
        return self._life.kernel.channels


def _apply_nothing(_context: object, _config: object) -> None:
    """Set nothing up."""
