"""A deterministic event loop: virtual time, one callback at a time, first in, first out.

Theory. A failure found here must be one that stock asyncio could show. So the order that asyncio
keeps is kept: ready callbacks run in the order in which they were scheduled, done-callbacks of one
future in the order in which they were added. What stock asyncio leaves to the outside is left to
whoever drives this loop: when a timer fires, and what happens between two callbacks. Nothing runs
by itself; `step` runs one callback, and time moves only when it is told to.

The loop implements `AbstractEventLoop` itself rather than borrowing the insides of the stock loop,
so that it reads the same on every Python version. Whatever would leave the process or the thread
(executors, sockets, processes, signals) is refused by name: it has to become a gate.
"""
# ruff: noqa: SLF001  # a loop drives handles through their underscored names, as stock loops do

import asyncio
import contextlib
import heapq
import sys
import weakref
from asyncio import Future, Handle, Task, TimerHandle
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator
from contextvars import Context
from typing import Any, TypeVar, TypeVarTuple, cast

from attrs import frozen

from .confined import ConfinedLoop

__all__ = ["LoopFailure", "StageLoop"]

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_CLOSING_ROUNDS = 10
_PRUNE_AT = 256


@frozen(kw_only=True)
class LoopFailure:
    """What stock asyncio would have logged: an error that reached nobody."""

    message: str
    exception: BaseException | None
    source: str


class StageLoop(ConfinedLoop):
    """An event loop that does nothing until it is told to, and then always the same.

    Attributes:
        monitor: Called after every callback; what it raises comes out of `step`.
        failures: Errors that reached nobody, in the order in which they were reported.
    """

    def __init__(self, *, start_s: float = 0.0) -> None:
        self.monitor: Callable[[], None] | None = None
        self.failures: list[LoopFailure] = []
        self._now_s = start_s
        self._ready: deque[Handle] = deque()
        self._timers: list[tuple[float, int, TimerHandle]] = []
        self._timer_sequence = 0
        self._task_sequence = 0
        self._tasks: list[weakref.ref[Task[Any]]] = []
        self._prune_at = _PRUNE_AT
        self._generators: list[weakref.ref[AsyncGenerator[Any, Any]]] = []
        self._task_factory: Any = None
        self._exception_handler: Any = None
        self._closed = False
        self._stopping = False

    @property
    def has_ready(self) -> bool:
        """Whether `step` would run a callback."""
        ready = self._ready
        while ready and ready[0]._cancelled:
            ready.popleft()
        return bool(ready)

    @property
    def ready_count(self) -> int:
        """How many callbacks are ready and not cancelled."""
        return sum(not handle._cancelled for handle in self._ready)

    def step(self) -> bool:
        """Run the oldest ready callback; return False if there was none."""
        if asyncio._get_running_loop() is not self:
            with self.running():
                return self.step()
        if not self.has_ready:
            return False
        self._ready.popleft()._run()
        if self.monitor is not None:
            self.monitor()
        return True

    def next_ready(self) -> str:
        """Name the callback that `step` would run, by its task if it has one."""
        return _callback_name(self._ready[0]) if self.has_ready else ""

    def next_timer(self) -> float | None:
        """Return the virtual time at which the next timer is due, or None."""
        timers = self._timers
        while timers and timers[0][2]._cancelled:
            heapq.heappop(timers)
        return timers[0][0] if timers else None

    def fire_next_timer(self) -> bool:
        """Move time to the next timer and make it ready; return False if there was none."""
        due_s = self.next_timer()
        if due_s is None:
            return False
        self._now_s = max(self._now_s, due_s)
        self._ready.append(heapq.heappop(self._timers)[2])
        return True

    def advance(self, seconds: float) -> int:
        """Move time by `seconds`, make every timer due by then ready, and return how many."""
        until_s = self._now_s + seconds
        fired = 0
        while (due_s := self.next_timer()) is not None and due_s <= until_s:
            fired += self.fire_next_timer()
        self._now_s = until_s
        return fired

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Make this the running loop for code that is called directly; may be nested."""
        previous = asyncio._get_running_loop()
        if previous is self:
            yield
            return
        hooks = sys.get_asyncgen_hooks()
        asyncio._set_running_loop(self)
        sys.set_asyncgen_hooks(firstiter=self._generator_began, finalizer=self._generator_dropped)
        try:
            yield
        finally:
            sys.set_asyncgen_hooks(*hooks)
            asyncio._set_running_loop(previous)

    def pending_tasks(self) -> tuple[Task[Any], ...]:
        """Return the tasks that have not ended, in the order in which they were created."""
        return tuple(task for task in self._alive() if not task.done())

    def _alive(self) -> list[Task[Any]]:
        known = (reference() for reference in self._tasks)
        return [task for task in known if task is not None]

    def report_unretrieved(self) -> None:
        """Add to `failures` the tasks that ended in an error which nobody has looked at yet.

        Stock asyncio would log them once they are deleted; here that moment must not matter.
        """
        for task in self._alive():
            if task.done() and _owes_something(task):
                context = {"message": "nobody looked at the error", "task": task}
                self.call_exception_handler({**context, "exception": task.exception()})

    def close_clean(self, *, limit: int = 10_000) -> tuple[str, ...]:
        """Cancel what is left, let it end within `limit` callbacks, close; return its names."""
        if self._closed:
            return ()
        self.monitor = None
        left = tuple(task.get_name() for task in self.pending_tasks())
        with self.running():
            limit = self._cancel_tasks(limit)
            if self._live_generators():
                self.create_task(self.shutdown_asyncgens(), name="close generators")
                self._cancel_tasks(self._drain(limit))
        self.close()
        return left

    def _cancel_tasks(self, limit: int) -> int:
        # A task that swallows its cancellation is asked again, a bounded number of times.
        for _ in range(_CLOSING_ROUNDS):
            pending = self.pending_tasks()
            if not pending or limit <= 0:
                break
            for task in pending:
                task.cancel()
            limit = self._drain(limit)
        return limit

    def _drain(self, limit: int) -> int:
        while limit > 0 and self.step():
            limit -= 1
        return limit

    def time(self) -> float:
        """Return the virtual time in seconds."""
        return self._now_s

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> Handle:
        """Append a callback to the ready queue."""
        self._check_open()
        handle = Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    # There is only one thread here.
    call_soon_threadsafe = call_soon

    def call_later(
        self,
        delay: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> TimerHandle:
        """Make a callback ready once virtual time has moved by `delay` seconds."""
        return self.call_at(self._now_s + delay, callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> TimerHandle:
        """Make a callback ready at a virtual time; equal times keep the order of the calls."""
        self._check_open()
        handle = TimerHandle(when, callback, args, self, context)
        self._timer_sequence += 1
        heapq.heappush(self._timers, (when, self._timer_sequence, handle))
        return handle

    def _timer_handle_cancelled(self, handle: TimerHandle) -> None:
        """Do nothing: a cancelled timer is dropped when it comes to the front."""

    def create_future(self) -> Future[Any]:
        """Return a future of this loop."""
        return Future(loop=self)

    def create_task(
        self,
        coro: Generator[Any, None, T] | Coroutine[Any, Any, T],
        *,
        name: str | None = None,
        context: Context | None = None,
    ) -> Task[T]:
        """Return a task; one without a name is numbered by this loop, not by the process."""
        self._check_open()
        if name is None:
            self._task_sequence += 1
            name = f"task-{self._task_sequence}"
        task: Task[T]
        if self._task_factory is None:
            task = Task(cast("Coroutine[Any, Any, T]", coro), loop=self, name=name, context=context)
        else:
            options = {} if context is None else {"context": context}
            task = self._task_factory(self, coro, **options)
            task.set_name(name)
        self._remember(task)
        return task

    def _remember(self, task: Task[Any]) -> None:
        # Weak, as in asyncio: a task that nobody holds must be lost here as it would be there.
        self._tasks.append(weakref.ref(task))
        if len(self._tasks) >= self._prune_at:
            self._tasks = [weakref.ref(one) for one in self._alive() if _owes_something(one)]
            self._prune_at = max(_PRUNE_AT, 2 * len(self._tasks))

    def set_task_factory(self, factory: Any) -> None:  # noqa: ANN401  # the shape differs by version
        """Use `factory(loop, coroutine)` for new tasks; None restores plain tasks."""
        self._task_factory = factory

    def get_task_factory(self) -> Any:  # noqa: ANN401  # the shape differs by version
        """Return the task factory, None if tasks are plain."""
        return self._task_factory

    def set_exception_handler(self, handler: Any) -> None:  # noqa: ANN401  # asyncio's own shape
        """Also tell `handler(loop, context)` of errors that reached nobody."""
        self._exception_handler = handler

    def get_exception_handler(self) -> Any:  # noqa: ANN401  # asyncio's own shape
        """Return the handler set last, or None."""
        return self._exception_handler

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        """Record an error that reached nobody in `failures`."""
        # The task itself is not kept: it may be telling us this while it is being deleted.
        source = context.get("task") or context.get("future") or context.get("handle")
        named = source.get_name() if isinstance(source, Task) else type(source).__name__
        self.failures.append(
            LoopFailure(
                message=str(context.get("message", "")),
                exception=context.get("exception"),
                source=named if source is not None else "",
            )
        )

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Record an error, and tell the handler if there is one."""
        self.default_exception_handler(context)
        if self._exception_handler is not None:
            self._exception_handler(self, context)

    def get_debug(self) -> bool:
        """Return False: asyncio's debug mode measures real time."""
        return False

    def set_debug(self, enabled: bool) -> None:  # noqa: FBT001  # asyncio's signature
        """Ignore the wish for debug mode."""

    def is_running(self) -> bool:
        """Whether this is the running loop."""
        return asyncio._get_running_loop() is self

    def is_closed(self) -> bool:
        """Whether the loop takes no more work."""
        return self._closed

    def stop(self) -> None:
        """Let `run_forever` return after the current callback."""
        self._stopping = True

    def close(self) -> None:
        """Take no more work; what was scheduled is dropped."""
        self._closed = True
        self._ready.clear()
        self._timers.clear()

    def run_forever(self) -> None:
        """Run callbacks and timers until `stop` is called.

        Raises:
            RuntimeError: nothing is left that could ever call `stop`.
        """
        self._run_while(lambda: not self._stopping)
        self._stopping = False

    def run_until_complete(self, future: Any) -> Any:  # noqa: ANN401  # any awaitable, as asyncio
        """Run callbacks and timers until `future` is done, and return its result.

        Raises:
            RuntimeError: nothing is left that could complete it.
        """
        awaited = asyncio.ensure_future(future, loop=self)
        self._run_while(lambda: not awaited.done())
        return awaited.result()

    def _run_while(self, goes_on: Callable[[], bool]) -> None:
        with self.running():
            while goes_on():
                if not (self.step() or self.fire_next_timer()):
                    message = "nothing is left to run; an open gate has to be opened by the stage"
                    raise RuntimeError(message)

    def _check_open(self) -> None:
        if self._closed:
            message = "the loop is closed"
            raise RuntimeError(message)

    # Generators are closed in the order in which they began, never by the collector's whim.

    def _generator_began(self, generator: AsyncGenerator[Any, Any]) -> None:
        self._generators.append(weakref.ref(generator))

    def _generator_dropped(self, generator: AsyncGenerator[Any, Any]) -> None:
        if not self._closed:
            self.call_soon(self.create_task, generator.aclose())

    def _live_generators(self) -> list[AsyncGenerator[Any, Any]]:
        alive = (reference() for reference in self._generators)
        return [generator for generator in alive if generator is not None]

    async def shutdown_asyncgens(self) -> None:
        """Close the generators that are still open, in the order in which they began."""
        for generator in self._live_generators():
            await generator.aclose()

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:  # noqa: ASYNC109  # asyncio's signature
        """Do nothing: there is no executor."""


def _owes_something(task: Task[Any]) -> bool:
    return not task.done() or task._log_traceback


def _callback_name(handle: Handle) -> str:
    callback = handle._callback  # type: ignore[attr-defined]
    owner = getattr(callback, "__self__", None)
    if isinstance(owner, Task):
        return owner.get_name()
    return str(getattr(callback, "__qualname__", type(callback).__name__))
