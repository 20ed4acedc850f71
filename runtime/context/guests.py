"""A plugin's own code, waited for as long as it may take, and no longer.

The end of a plugin runs disposers, and waits for what the plugin is still setting up. All of that
is foreign: it can hang. So whatever of it has to be awaited is a guest, in a task of its own beside
the end. A guest that must go has one grace. When that is over it is asked to end, once, and the end
goes on without it: the guest is a straggler, which the application holds until it ends by itself.
Nothing that it registers from then on is accepted, because its context is dead.
"""

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import TYPE_CHECKING, Any

from runtime.abort import Cancellations, CutError, Grace, StrangersCancellationError, run_beside
from runtime.containment import attempt_awaited, log_failure, log_line
from runtime.errors import PluginError
from statemachine import Patience

if TYPE_CHECKING:
    from .lives import Kernel

__all__ = ["Guest", "Stragglers", "attempt_uncut"]


class Stragglers:
    """What outlived its grace and still runs; the application holds it.

    Clauses: G-50
    """

    __slots__ = ("_names",)

    def __init__(self) -> None:
        self._names: dict[asyncio.Task[Any], str] = {}

    def keep(self, task: "asyncio.Task[Any]", name: str) -> None:
        """Hold a task until it ends, and log what it fails with."""
        self._names[task] = name
        task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        name = self._names.pop(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            log_failure(error, f"left behind: {name}")


class Guest:
    """Something of a plugin that is awaited.

    Clauses: G-50
    """

    __slots__ = (
        "_awaited",
        "_grace",
        "_has_begun",
        "_kernel",
        "_must_go",
        "is_left",
        "name",
        "task",
    )

    def __init__(self, kernel: "Kernel", name: str, awaited: Awaitable[Any]) -> None:
        self._kernel = kernel
        self._grace = Grace()
        self.name = name
        self.is_left = False
        """Whether it outlived its grace."""
        self._awaited = awaited
        self._has_begun = self._must_go = False
        self.task: asyncio.Task[Any]
        self._start()

    def _start(self) -> None:
        self.task = self._kernel.loop.create_task(self._run(), name=self.name)

    async def _run(self) -> object:
        self._has_begun = True
        self._start_grace()
        return await self._awaited

    def hurry(self) -> None:
        """Let its grace begin, not before its own first stretch; a second call changes nothing."""
        self._must_go = True
        self._start_grace()

    def _start_grace(self) -> None:
        if self._must_go and self._has_begun:
            self._grace.start(self._kernel.loop, self._kernel.limits.unload_grace_s)

    async def outcome(self) -> Exception | None:
        """Wait until it has ended, or leave it behind; return how it failed.

        Whoever cancels the waiting task cancels the guest. A cancellation that comes before its
        first stretch is nobody's answer, and it begins again.
        """
        while True:
            error = await attempt_uncut(self._wait())
            if self._has_begun or self.is_left:
                self._grace.close()
                return error
            self._start()

    async def _wait(self) -> None:
        cancellations = Cancellations(on_stranger=self.task.cancel)
        waiting = asyncio.current_task()
        cancellations.answered = waiting.cancelling() if waiting is not None else 0
        try:
            await run_beside(self.task, self._grace, Patience.GRACE, cancellations)
        except CutError:
            self.is_left = True
            self._kernel.stragglers.keep(self.task, self.name)
            log_line(f"the application goes on without {self.name}, which did not end in time")
            raise PluginError(
                f"{self.name} was left behind: it had to end, and did not within "
                f"unload_grace_s={self._kernel.limits.unload_grace_s:g}"
            ) from None


async def attempt_uncut(body: Coroutine[Any, Any, object]) -> Exception | None:
    """Await and return the failure; a cancellation, whoever made it, is one.

    Clauses: G-47
    """
    cancellations = Cancellations(on_stranger=lambda: None)
    task = asyncio.current_task()
    cancellations.answered = task.cancelling() if task is not None else 0
    error = await attempt_awaited(cancellations.settle(body))
    if isinstance(error, StrangersCancellationError):
        return PluginError("it was cancelled from outside before it was done")
    if isinstance(error, PluginError) and isinstance(error.__cause__, asyncio.CancelledError):
        return PluginError("it awaited something that had been cancelled")
    return error
