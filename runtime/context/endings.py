"""Ends that everybody joins, and the circles in which nobody would ever get there.

An `Ending` is a `Teardown` whose work is not a fixed list of links: what has to go is found out on
the way. The work runs in a task that a stranger's cancellation does not stop, because half an end
is worse than a late one.

Whoever awaits an ending is noted, so that a circle - two ends that wait for one another, or
something that waits for itself - is refused when it is about to close, instead of hanging.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine, Generator, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from attrs import define, field

from runtime.containment import log_defect, log_failure
from runtime.errors import WouldDeadlockError
from runtime.teardown import LinkFailure, Teardown, TeardownReport

from .guests import Guest, attempt_uncut

__all__ = ["Ending", "Findings", "Tasks", "Waits", "Work"]

Tasks: TypeAlias = "Collection[asyncio.Task[Any] | None]"


class Work:
    """A task that does its work to the end, whoever cancels it."""

    __slots__ = ("_body", "_loop", "_name", "_on_defect", "task")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        name: str,
        body: Callable[[], Coroutine[Any, Any, None]],
        on_defect: Callable[[BaseException], None],
    ) -> None:
        """Start the work.

        Args:
            loop: where it is done.
            name: of the task.
            body: makes the coroutine that does it.
            on_defect: is told what the work died of, so that nobody waits for it for ever.
        """
        self._loop = loop
        self._name = name
        self._body = body
        self._on_defect = on_defect
        self.task: asyncio.Task[None]
        self._start()

    def _start(self) -> None:
        self.task = self._loop.create_task(self._body(), name=self._name)
        self.task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        if task.cancelled():
            # Only before its first stretch: every await inside is held by `attempt_uncut`.
            if not self._loop.is_closed():
                self._start()
        elif (bug := task.exception()) is not None:
            log_defect(bug, self._name)
            self._on_defect(bug)


class Waits:
    """Which task waits for which end.

    Clauses: G-41
    """

    __slots__ = ("_awaited",)

    def __init__(self) -> None:
        self._awaited: dict[object, Callable[[], Tasks]] = {}

    @contextmanager
    def noted(self, what: str, own_tasks: Callable[[], Tasks]) -> Iterator[None]:
        """Note, inside the block, that the current task waits for what `own_tasks` work on.

        Raises:
            WouldDeadlockError: they wait, maybe through others, for the current task.
        """
        task = asyncio.current_task()
        if task in self._blockers(own_tasks):
            raise WouldDeadlockError(
                f"awaiting {what} refused inside something that it has to wait for itself; what "
                "was started goes on: return first, or wait in another task"
            )
        before = self._awaited.get(task)
        self._awaited[task] = own_tasks
        try:
            yield
        finally:
            if before is None:
                self._awaited.pop(task, None)
            else:
                self._awaited[task] = before

    def _blockers(self, own_tasks: Callable[[], Tasks]) -> set[object]:
        found: set[object] = set()
        left: list[object] = [*own_tasks()]
        while left:
            task = left.pop()
            if task is None or task in found:
                continue
            found.add(task)
            further = self._awaited.get(task)
            if further is not None:
                left.extend(further())
        return found


@define
class Findings:
    """What went wrong on the way to an end, as it is found."""

    failed: list[LinkFailure] = field(factory=list)
    stragglers: list[str] = field(factory=list)

    def fail(self, link: str, error: Exception) -> None:
        """Add a failure and log it; nobody else does."""
        log_failure(error, link)
        self.failed.append(LinkFailure(link, error))

    def note(self, link: str, error: Exception) -> None:
        """Add a failure that was logged where it was contained."""
        self.failed.append(LinkFailure(link, error))

    def take(self, report: object) -> None:
        """Add what a part of this end reported, if it reported anything."""
        if isinstance(report, TeardownReport):
            self.failed.extend(report.failed)
            self.stragglers.extend(report.stragglers)

    def report(self) -> TeardownReport:
        """Return all of it."""
        return TeardownReport(failed=tuple(self.failed), stragglers=tuple(self.stragglers))

    async def outlast(self, link: str, awaited: Teardown) -> None:
        """Await a part that has an end of its own and keep what it reports, or how it failed.

        It is awaited again when the wait is cancelled. It has bounds of its own.
        """
        while True:
            error = await attempt_uncut(self._keep(awaited))
            if error is None:
                return
            if awaited.is_done or isinstance(error, WouldDeadlockError):
                self.fail(link, error)
                return

    async def outwait(self, link: str, guest: Guest) -> None:
        """Await a plugin's own part of this end; keep how it failed, or that it was left behind.

        Clauses: G-50
        """
        error = await guest.outcome()
        if guest.is_left:
            self.stragglers.append(guest.name)
        elif error is not None:
            self.fail(link, error)
        else:
            self.take(guest.task.result())

    async def _keep(self, awaited: Awaitable[object]) -> None:
        self.take(await awaited)


class Ending(Teardown):
    """The end of an effect or a fiber; await it, or not.

    Clauses: G-05 G-06 G-21 G-41
    """

    __slots__ = ("_waits",)

    def __init__(
        self,
        name: str,
        loop: asyncio.AbstractEventLoop,
        own_tasks: Callable[[], Tasks],
        waits: Waits,
    ) -> None:
        super().__init__(name, loop, own_tasks)
        self._waits = waits

    @property
    def report(self) -> TeardownReport:
        """What it could not do; only once it is done."""
        return self._end.result()

    def finish(self, report: TeardownReport) -> None:
        """Let everybody who joined go on."""
        if not self._end.done():
            self._end.set_result(report)

    def fail(self, bug: BaseException) -> None:
        """Raise a defect of the runtime in everybody who joined: nothing can be promised."""
        if not self._end.done():
            self._end.set_exception(bug)
            self._end.exception()

    def __await__(self) -> Generator[Any, None, TeardownReport]:
        """Wait for the end and return the report.

        Raises:
            WouldDeadlockError: awaited inside what it waits for.
        """
        if self._end.done():
            return self._end.result()
        with self._waits.noted(f"the teardown of {self._name}", self._own_tasks):
            return (yield from asyncio.shield(self._end).__await__())
