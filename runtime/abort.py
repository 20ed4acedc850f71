"""How a turn is stopped: the signal others see, the authority the agent keeps, and the waits.

This is the only file that catches `CancelledError`, and it swallows exactly the cancellation that
it asked for. Three cancellations reach the driver's task and are told apart here: *ours*, asked
for by a scope below; a *stranger's*, made by somebody who holds the task, which counts in
`task.cancelling()`; and *nobody's*, when a body awaited something that had been cancelled.

A body that promises to let `CancelledError` through (`cooperative`) runs on the driver's own task.
Any other runs beside it, in a child task, so that the driver can go on without it. A body is asked
to end once, never again: one that survives being asked has its reasons, or a defect that asking
twice would only hide.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, NoReturn, TypeVar

from attrs import define, field

from statemachine import Patience

from .containment import as_failure, contain, leave_by_the_loop, with_failures
from .errors import PluginError
from .ports import yield_once

__all__ = [
    "AbortAuthority",
    "AbortSignal",
    "Cancellations",
    "CutError",
    "Grace",
    "StrangersCancellationError",
    "own_cancellation_as_failure",
    "reraise",
    "run_beside",
    "run_cooperative",
]

T = TypeVar("T")


class CutError(Exception):
    """A body was given up because a cancel or a dispose is in effect.

    Never leaves the driver, except into an interceptor that proceeds although the turn is stopped.
    """


class StrangersCancellationError(Exception):
    """Somebody else cancelled the driver's task. Never leaves the driver."""


class AbortSignal:
    """Tells whoever works for a turn that the turn is to stop; read-only.

    Clauses: B-112 B-113 B-114
    """

    __slots__ = ("_callbacks", "_reason", "_waiters")

    def __init__(self) -> None:
        self._reason: str | None = None
        self._callbacks: list[tuple[Callable[[], object], str]] = []
        self._waiters: list[asyncio.Future[None]] = []

    @property
    def is_aborted(self) -> bool:
        """Whether a cancel or a dispose has been called on this turn."""
        return self._reason is not None

    @property
    def reason(self) -> str | None:
        """The reason of the first cancel, `disposed` after a dispose, None before either."""
        return self._reason

    def on_abort(self, callback: Callable[[], object], *, plugin: str = "") -> Callable[[], None]:
        """Call back once when the signal fires, at once if it has; return how to forget it.

        The callback is an observer: what it raises is contained. It runs inside `cancel` or
        `dispose`, after every change of state and before any announcement of it.
        """
        if self._reason is not None:
            contain(callback, what="abort callback", who=plugin)
            return lambda: None
        entry = (callback, plugin)
        self._callbacks.append(entry)

        def forget() -> None:
            if entry in self._callbacks:
                self._callbacks.remove(entry)

        return forget

    async def wait(self) -> str:
        """Wait until the signal fires and return the reason."""
        if self._reason is None:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            try:
                await waiter
            finally:
                self._waiters.remove(waiter)
        assert self._reason is not None
        return self._reason

    def _fire(self, reason: str) -> None:
        self._reason = reason
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
        callbacks, self._callbacks = self._callbacks, []
        for callback, plugin in callbacks:
            contain(callback, what="abort callback", who=plugin)


class AbortAuthority:
    """The right to fire one turn's signal; held by the agent, never handed out.

    Clauses: B-114 B-115
    """

    __slots__ = ("interrupt", "signal")

    def __init__(self) -> None:
        self.signal = AbortSignal()
        self.interrupt: Callable[[], None] | None = None
        """Set by the scope that the driver is in."""

    def fire(self, reason: str) -> None:
        """Fire the signal, once; the first reason stays."""
        if self.signal.is_aborted:
            return
        if self.interrupt is not None:
            self.interrupt()
        self.signal._fire(reason)  # noqa: SLF001  # the two halves of one thing


class Grace:
    """One deadline: when it is over, the driver goes on without what it waits for.

    Clauses: B-117 B-120 B-121
    """

    __slots__ = ("_timer", "is_over", "is_started", "watcher")

    def __init__(self) -> None:
        self.is_started = False
        self.is_over = False
        self.watcher: Callable[[], None] | None = None
        """Called when the grace starts and when it is over, by whoever waits."""
        self._timer: asyncio.TimerHandle | None = None

    def start(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        """Start counting; a second start changes nothing."""
        if self.is_started:
            return
        self.is_started = True
        self._timer = loop.call_later(seconds, self._run_out)
        self._notify()

    def close(self) -> None:
        """Give the timer back."""
        if self._timer is not None:
            self._timer.cancel()

    def _run_out(self) -> None:
        self.is_over = True
        self._notify()

    def _notify(self) -> None:
        if self.watcher is not None:
            self.watcher()


@define
class Cancellations:
    """Keeps count of the cancellations of the driver's task that were already answered."""

    answered: int = 0
    on_stranger: Callable[[], object] = field(kw_only=True)
    """Called once for each cancellation by somebody else."""

    def is_strangers(self) -> bool:
        """Return whether the cancellation just caught is somebody else's, and note it."""
        task = asyncio.current_task()
        count = task.cancelling() if task is not None else 0
        is_new = count > self.answered
        self.answered = max(count, self.answered)
        return is_new

    async def settle(self, visit: Coroutine[Any, Any, T]) -> T:
        """Await a visit and translate a cancellation that surfaces from it.

        Raises:
            StrangersCancellationError: somebody else cancelled the driver's task.
            PluginError: nobody did; the visit awaited something that had been cancelled, or what
                it raised is no `Exception`.

        Clauses: B-95 B-128
        """
        try:
            return await with_failures(visit)
        except asyncio.CancelledError as error:
            if self.is_strangers():
                raise StrangersCancellationError from None
            raise PluginError(_NOBODYS) from error


_NOBODYS: Final = (
    "a CancelledError surfaced in the turn although nobody cancelled it: "
    "a body awaited something that had been cancelled"
)


async def own_cancellation_as_failure(body: Awaitable[T]) -> T:
    """Await a body whose failures are somebody's answer, a cancellation of its own included.

    Raises:
        PluginError: the body awaited something that had been cancelled.

    Clauses: B-128 K-03
    """
    task = asyncio.current_task()
    before = task.cancelling() if task is not None else 0
    try:
        return await body
    except asyncio.CancelledError as error:
        if task is not None and task.cancelling() > before:
            raise
        raise PluginError(_NOBODYS) from error


def reraise() -> NoReturn:
    """Let a stranger's cancellation, which was answered, go on."""
    raise asyncio.CancelledError


async def run_cooperative(body: Coroutine[Any, Any, T], authority: AbortAuthority) -> T:
    """Run a body on this task and cut it the moment the authority fires.

    The trap of this way: a cancellation that was requested while the body ran its last stretch has
    not been delivered when the body returns, and would strike whatever is awaited next - the
    flush. It is drained here; that costs one pass of the loop, only when it happened.

    Raises:
        CutError: the body was cut.
        PluginError: it ended the process, and the loop goes on all the same.

    Clauses: B-17 B-118 B-167
    """
    if authority.signal.is_aborted:
        body.close()
        raise CutError
    task = asyncio.current_task()
    assert task is not None
    before = task.cancelling()
    is_asked = is_delivered = False

    def interrupt() -> None:
        nonlocal is_asked
        is_asked = True
        task.cancel()

    authority.interrupt = interrupt
    try:
        return await body
    except asyncio.CancelledError:
        if not is_asked:
            raise
        is_delivered = True
        if task.uncancel() > before:
            raise
        raise CutError from None
    except (KeyboardInterrupt, SystemExit) as error:
        leave_by_the_loop(error)
        # The loop ends in this pass, and whoever ends it cancels this task.
        await yield_once()
        raise as_failure(error) from error
    finally:
        authority.interrupt = None
        if is_asked and not is_delivered:
            await _drain(task, before)


async def _drain(task: asyncio.Task[Any], before: int) -> None:
    try:
        await yield_once()
    except asyncio.CancelledError:
        if task.uncancel() > before:
            raise
    else:
        task.uncancel()


async def run_beside(
    child: asyncio.Task[T], grace: Grace, patience: Patience, cancellations: Cancellations
) -> T:
    """Wait for a child task until it ends or the grace is over.

    A stranger's cancellation of this task is noted and the wait goes on: it disposes the agent,
    which starts the grace, which ends the wait. The child, which the caller owns, is then asked
    to end and left.

    Raises:
        CutError: the child was given up; it may still run.
        PluginError: the child was cancelled, although nobody asked it to end, or what it raised is
            no `Exception`.

    Clauses: B-95 B-117 B-118 B-119
    """
    loop = asyncio.get_running_loop()
    is_asked = False
    while not child.done():
        if grace.is_over or (grace.is_started and patience is Patience.NONE):
            if not is_asked:
                is_asked = True
                child.cancel()
            if grace.is_over:
                raise CutError
        await _until_news(child, grace, loop.create_future(), cancellations)
    if child.cancelled():
        if is_asked:
            raise CutError
        raise PluginError(_NOBODYS)
    error = child.exception()
    if error is not None:
        # Also what passes elsewhere: the loop has already told whoever runs it.
        raise as_failure(error)
    return child.result()


async def _until_news(
    child: asyncio.Task[Any],
    grace: Grace,
    news: "asyncio.Future[None]",
    cancellations: Cancellations,
) -> None:
    def wake(_: object = None) -> None:
        if not news.done():
            news.set_result(None)

    child.add_done_callback(wake)
    grace.watcher = wake
    try:
        await news
    except asyncio.CancelledError:
        if not cancellations.is_strangers():
            raise
        cancellations.on_stranger()
    finally:
        grace.watcher = None
        child.remove_done_callback(wake)
