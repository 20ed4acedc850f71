"""How listeners are called: five ways, each with constants of its own type.

Observers are told and have no say: `emit` contains what each of them raises, `parallel` runs all
of them and gathers what they raised. Interceptors are part of what their caller does: the first
error of a `serial`, `bail` or `waterfall` listener is the caller's.

A dispatch calls those who listened when it began and listen still: a listener that is registered
meanwhile waits for the next one, and one whose fiber has gone is not called any more.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from attrs import frozen

from runtime.announcements import SESSION_FLUSH, Announcement
from runtime.containment import as_failure, contain
from runtime.errors import CallerError, LimitError, PluginError
from runtime.limits import Limits

__all__ = ["AwaitedAnnouncement", "Bail", "Channels", "Kind", "Listening", "Serial", "Waterfall"]

P = TypeVar("P")
R = TypeVar("R")


@frozen
class AwaitedAnnouncement(Announcement[P]):
    """An announcement whose listeners are coroutine functions that `parallel` waits for."""


@frozen
class Serial(Generic[P, R]):
    """Listeners are asked one after the other, each awaited, until one answers."""

    name: str


@frozen
class Bail(Generic[P, R]):
    """Listeners are asked one after the other, at once, until one answers."""

    name: str


@frozen
class Waterfall(Generic[P, R]):
    """Listeners lie around a body like the skins of an onion, and each decides about the rest.

    A listener is given the argument and `proceed`; awaiting `proceed()` runs what lies further in
    and returns its result, not calling it leaves that out.
    """

    name: str


def _nothing() -> None:
    """Let every listener be asked."""


Kind: TypeAlias = Announcement[Any] | Serial[Any, Any] | Bail[Any, Any] | Waterfall[Any, Any]


class Listening(Protocol):
    """One registered listener, as a dispatch sees it."""

    listener: Callable[..., Any]

    @property
    def who(self) -> str:
        """The plugin it belongs to, for messages."""
        ...

    @property
    def is_live(self) -> bool:
        """Whether it may still be called."""
        ...


class Channels:
    """Who listens to what, and the ways to call them.

    Clauses: G-23 G-24 G-25 G-26 G-28 G-29
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._listeners: dict[str, list[Listening]] = {}
        self._gone: dict[str, int] = {}
        self._depth = 0

    def enter(self, kind: Kind, listening: Listening, *, prepend: bool) -> None:
        """Register a listener, first or last.

        Raises:
            CallerError: it is of the wrong sort for this kind.

        Clauses: G-28 G-33
        """
        _check_listener(kind, listening.listener)
        listeners = self._listeners.setdefault(kind.name, [])
        listeners.insert(0 if prepend else len(listeners), listening)

    def leave(self, kind: Kind) -> None:
        """Note that one of the listeners is not live any more.

        They are taken off together once they are half of the list, so that the end of many
        listeners costs no more for each than the end of one.
        """
        self._gone[kind.name] = gone = self._gone.get(kind.name, 0) + 1
        listeners = self._listeners[kind.name]
        if 2 * gone >= len(listeners):
            listeners[:] = [one for one in listeners if one.is_live]
            self._gone[kind.name] = 0

    def listens(self, kind: Kind) -> bool:
        """Return whether anybody would be called."""
        for one in self._listeners.get(kind.name, ()):  # noqa: SIM110  # any() is slower
            if one.is_live:
                return True
        return False

    def _present(self, kind: Kind) -> tuple[Listening, ...]:
        return tuple(self._listeners.get(kind.name, ()))

    def emit(self, announcement: Announcement[P], notice: P) -> None:
        """Tell every listener; contain what each of them raises.

        Raises:
            LimitError: announcements are nested deeper than the limit.

        Clauses: B-126 G-24 G-34
        """
        listeners = self._present(announcement)
        if not listeners:
            return
        if self._depth >= self._limits.nested_announcements_max:
            raise LimitError(
                f"{announcement.name} refused: announcements are nested more than "
                f"nested_announcements_max={self._limits.nested_announcements_max} deep; "
                "break the circle of listeners that call each other"
            )
        self._depth += 1
        try:
            for one in listeners:
                if one.is_live:
                    what = f"listener of {announcement.name}"
                    contain(one.listener, notice, what=what, who=one.who)
        finally:
            self._depth -= 1

    async def parallel(
        self,
        announcement: Announcement[P],
        notice: P,
        spawn: "Callable[[Coroutine[Any, Any, object]], asyncio.Task[object]] | None" = None,
    ) -> None:
        """Run every listener at once and wait for all of them.

        Args:
            announcement: what is announced.
            notice: what they are told.
            spawn: makes the task of a listener; the loop does if omitted.

        Raises:
            ExceptionGroup: some listeners failed; all of them were run.

        Clauses: G-25
        """
        listeners = [one for one in self._present(announcement) if one.is_live]
        if not listeners:
            return
        make = spawn or asyncio.get_running_loop().create_task
        tasks = [make(_await_call(one.listener, notice)) for one in listeners]
        results = await asyncio.gather(*tasks, return_exceptions=True)
        failures = [_as_failure(result) for result in results if isinstance(result, BaseException)]
        if failures:
            raise ExceptionGroup(f"{announcement.name}: {len(failures)} listeners failed", failures)

    async def serial(
        self, kind: Serial[P, R], argument: P, check: Callable[[], object] = _nothing
    ) -> R | None:
        """Ask the listeners in order, each awaited; return the first answer that is not None.

        Args:
            kind: which listeners.
            argument: what they are told.
            check: called before each of them is asked; what it raises ends the dispatch.

        Clauses: G-23
        """
        for one in self._present(kind):
            if one.is_live:
                check()
                answer: R | None = await _outcome(one.listener(argument))
                if answer is not None:
                    return answer
        return None

    def bail(self, kind: Bail[P, R], argument: P) -> R | None:
        """Ask the listeners in order, at once; return the first answer that is not None.

        Clauses: G-23
        """
        for one in self._present(kind):
            if one.is_live:
                answer: R | None = one.listener(argument)
                if answer is not None:
                    return answer
        return None

    async def waterfall(
        self,
        kind: Waterfall[P, R],
        argument: P,
        body: Callable[[P], Awaitable[R] | R],
        check: Callable[[], object] = _nothing,
    ) -> R:
        """Run `body` inside the listeners, the first of them outermost, and return the result.

        Args:
            kind: which listeners.
            argument: what they and the body are told.
            body: what lies innermost.
            check: called before each listener is asked; what it raises, whoever lies further out
                gets from `proceed`.

        Raises:
            PluginError: a listener proceeded twice, or after it had ended.

        Clauses: G-23 G-26
        """
        return await self._layer(kind, self._present(kind), argument, body, check)

    async def _layer(
        self,
        kind: Waterfall[P, R],
        listeners: tuple[Listening, ...],
        argument: P,
        body: Callable[[P], Awaitable[R] | R],
        check: Callable[[], object],
    ) -> R:
        while listeners and not listeners[0].is_live:
            listeners = listeners[1:]
        result: R
        if not listeners:
            result = await _outcome(body(argument))
            return result
        check()
        one, further_in, may_proceed = listeners[0], listeners[1:], True

        async def proceed() -> R:
            nonlocal may_proceed
            if not may_proceed:
                raise PluginError(
                    f"a listener of {kind.name} of plugin {one.who} proceeded twice or too late; "
                    "it may do so once, while it runs"
                )
            may_proceed = False
            return await self._layer(kind, further_in, argument, body, check)

        try:
            result = await _outcome(one.listener(argument, proceed))
        finally:
            may_proceed = False
        return result


def _check_listener(kind: Kind, listener: Callable[..., Any]) -> None:
    """Refuse a listener that this kind could never call in the right way.

    Clauses: G-33
    """
    is_coroutine = _is_coroutine_function(listener)
    if isinstance(kind, AwaitedAnnouncement) or kind == SESSION_FLUSH:
        is_fitting, wanted = is_coroutine, "a coroutine function"
    elif isinstance(kind, Serial | Waterfall):
        is_fitting, wanted = callable(listener), "a function"
    else:
        is_fitting = callable(listener) and not is_coroutine
        wanted = "a plain function; start a task in it if it has to wait"
    if not is_fitting:
        raise CallerError(f"{kind.name} refused the listener {listener!r}: it needs {wanted}")


def _is_coroutine_function(listener: object) -> bool:
    call = getattr(type(listener), "__call__", None)  # noqa: B004  # what a call of it would run
    return inspect.iscoroutinefunction(listener) or inspect.iscoroutinefunction(call)


async def _await_call(listener: Callable[..., Awaitable[object]], notice: object) -> object:
    return await listener(notice)


async def _outcome(result: Any) -> Any:  # noqa: ANN401  # a listener's answer, awaited or not
    return await result if inspect.isawaitable(result) else result


def _as_failure(result: BaseException) -> Exception:
    if not isinstance(result, asyncio.CancelledError):
        return as_failure(result)
    # It was cancelled by itself or by a stranger, and did not do what it was awaited for.
    failure = PluginError("a listener was cancelled before it was done")
    failure.__cause__ = result
    return failure
