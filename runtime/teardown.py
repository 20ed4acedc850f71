"""The end of something that has several parts: ordered, joinable, and never in doubt.

Links run one after the other, each awaited, because the order is what makes the end durable. A
link that raises is reported and the next one still runs. Everybody who asks for the end gets the
same one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Generator, Iterable, Sequence
from typing import Any

from attrs import field, frozen

from .abort import Cancellations, StrangersCancellationError
from .containment import attempt_awaited, log_failure
from .waiting import check_outside

__all__ = ["Link", "LinkFailure", "Teardown", "TeardownReport", "wait_bounded"]


@frozen
class Link:
    """One part of a teardown."""

    name: str
    run: "Callable[[], Awaitable[Iterable[str] | TeardownReport]]"
    """Does the part and returns the names of what it had to leave behind, or a whole report."""


@frozen
class LinkFailure:
    """A link that raised."""

    link: str
    error: Exception


@frozen(kw_only=True)
class TeardownReport:
    """What a teardown could not do.

    Clauses: F-34 B-119
    """

    failed: tuple[LinkFailure, ...] = ()
    stragglers: tuple[str, ...] = ()
    """What still ran when the grace was over."""
    parts: "tuple[TeardownReport, ...]" = field(default=(), repr=False)


class Teardown:
    """The end of one thing; await it, or not.

    It goes on by itself. It may be awaited any number of times, by anybody; cancelling a waiter
    cancels nothing else. It does not raise for what others did, but says it in its report.

    Clauses: F-17 F-33 F-34 F-36
    """

    __slots__ = ("_end", "_links", "_loop", "_name", "_own_tasks", "_task")

    def __init__(
        self,
        name: str,
        loop: asyncio.AbstractEventLoop,
        own_tasks: Callable[[], Collection[Any]],
    ) -> None:
        """Make the end that everybody joins; `start` begins to work towards it.

        Args:
            name: what ends, for messages.
            loop: where it ends.
            own_tasks: the tasks that this teardown waits for, which must not wait for it.
        """
        self._name = name
        self._loop = loop
        self._own_tasks = own_tasks
        self._end: asyncio.Future[TeardownReport] = loop.create_future()
        self._task: asyncio.Task[None] | None = None
        self._links: Sequence[Link] = ()

    @property
    def is_done(self) -> bool:
        """Whether the last link has run."""
        return self._end.done()

    def start(self, links: Sequence[Link]) -> None:
        """Run the links, in their order, in a task of its own that no cancellation stops.

        Each link may be run again from its beginning, and has to allow for that.
        """
        self._links = links
        self._task = self._loop.create_task(self._run(links), name=f"teardown of {self._name}")
        self._task.add_done_callback(self._ended)

    def __await__(self) -> Generator[Any, None, TeardownReport]:
        """Wait for the last link and return the report.

        Raises:
            WouldDeadlockError: awaited inside what it waits for.

        Clauses: A-68
        """
        if not self._end.done():
            instead = "the teardown goes on; let the turn end, or wait in another task"
            check_outside(self._own_tasks(), f"awaiting the teardown of {self._name}", instead)
        return asyncio.shield(self._end).__await__()

    async def _run(self, links: Sequence[Link]) -> None:
        failed: list[LinkFailure] = []
        stragglers: list[str] = []
        cancellations = Cancellations(on_stranger=lambda: None)
        for link in links:
            # Half an end is worse than a late one: a link that a stranger cut short runs again.
            while True:
                collecting = _collect(link, failed, stragglers)
                error = await attempt_awaited(cancellations.settle(collecting))
                if not isinstance(error, StrangersCancellationError):
                    break
            if error is not None:
                log_failure(error, f"teardown of {self._name}, {link.name}")
                failed.append(LinkFailure(link.name, error))
        self._end.set_result(TeardownReport(failed=tuple(failed), stragglers=tuple(stragglers)))

    def _ended(self, task: "asyncio.Task[None]") -> None:
        if not task.cancelled():
            error = task.exception()
            if error is not None and not self._end.done():
                # Nothing else ends it: nobody may wait for it for ever.
                self._end.set_exception(error)
                self._end.exception()
        elif not self._end.done() and not self._loop.is_closed():
            # A stranger cancelled the task before its first stretch; the others run again.
            self.start(self._links)


async def _collect(link: Link, failed: list[LinkFailure], stragglers: list[str]) -> None:
    found = await link.run()
    if isinstance(found, TeardownReport):
        failed.extend(found.failed)
        stragglers.extend(found.stragglers)
    else:
        stragglers.extend(found)


async def wait_bounded(tasks: Collection["asyncio.Task[Any]"], within_s: float) -> None:
    """Wait until all tasks have ended or the time is over; cancel none of them."""
    if tasks:
        await asyncio.wait(tuple(tasks), timeout=within_s)
