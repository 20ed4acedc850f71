"""One session and its stored copy: how it is loaded, and how what is appended gets there.

A writer is a cursor into a live log: what lies behind the cursor is stored, what lies before it is
not yet. The log only grows and its records never change, so the log itself is the buffer, and
nothing is emptied that was not written. A writer has one write under way at most; whatever is
appended meanwhile is the next batch.

After a failure the cursor is not trusted any more. The next write reads what is stored, compares it
with the log, and goes on behind it.
"""

import asyncio
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, TypeVar

from .containment import attempt, log_failure, log_line
from .errors import CallerError, PluginError, UnknownIdError
from .ports import Blocking
from .session.journal import Build, Journal
from .session.log import Session, SessionLog

__all__ = ["Loading", "Sequencer", "Writer", "failure_of"]

T = TypeVar("T")


class Sequencer:
    """Does blocking work, one thing after the other, in the order in which it was asked for.

    Clauses: E-10
    """

    __slots__ = ("_blocking", "_last", "_owed")

    def __init__(self, blocking: Blocking) -> None:
        """Begin with nothing to do."""
        self._blocking = blocking
        self._last: asyncio.Task[Any] | None = None
        self._owed: list[Journal] = []

    @property
    def last(self) -> "tuple[asyncio.Task[Any], ...]":
        """The last task if there is one: when it is done, all are."""
        return () if self._last is None else (self._last,)

    def put(self, name: str, make_call: Callable[[], Callable[[], T]]) -> "asyncio.Task[T]":
        """Do something behind all that was put here before, however that ended.

        Args:
            name: what it is, for people.
            make_call: returns the work, when its turn has come.

        Returns:
            The task that does it, owned here: whoever waits for it may be cancelled.
        """
        work = self._after(self._last, make_call)
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._last = task
        task.add_done_callback(self._done)
        return task

    async def do(self, name: str, call: Callable[[], T]) -> T:
        """Do something in its turn and return what it returns.

        Whoever is cancelled here stops waiting; the work goes on.
        """
        return await asyncio.shield(self.put(name, lambda: call))

    def let_go(
        self, journal: Journal, make_call: Callable[[], Callable[[], T]]
    ) -> "asyncio.Task[T]":
        """Do the last thing with a journal, which gives its lease back.

        Where that never came to be done, because whoever does what blocks failed, the lease is
        given back before the next thing is done here.

        Clauses: E-49 E-102
        """
        task = self.put(f"release of session {journal.session_id}", make_call)

        def look_back(_: object) -> None:
            if journal.is_leased:
                log_line(f"{task.get_name()} was not done; it comes before what is asked for next")
                self._owed.append(journal)

        task.add_done_callback(look_back)
        return task

    async def _after(
        self, before: "asyncio.Task[Any] | None", make_call: Callable[[], Callable[[], T]]
    ) -> T:
        if before is not None:
            await asyncio.wait((before,))
        self._owed = [journal for journal in self._owed if journal.is_leased]
        call = make_call()
        if self._owed:
            call = partial(_release_first, tuple(self._owed), call)
        return await self._blocking.run(call)

    def _done(self, task: "asyncio.Task[Any]") -> None:
        # Looked at, so that a failure that interests nobody is not reported as forgotten.
        failure_of(task)
        if self._last is task:
            self._last = None


def _release_first(owed: tuple[Journal, ...], call: Callable[[], T]) -> T:
    for journal in owed:
        failure = attempt(journal.release)
        if failure is not None:
            log_failure(failure, f"release of session {journal.session_id}")
    return call()


def failure_of(task: "asyncio.Task[Any]") -> Exception | None:
    """Return why a task that has ended failed, or None."""
    if task.cancelled():
        return PluginError(f"{task.get_name()} was cancelled from outside before it was done")
    error = task.exception()
    if error is not None and not isinstance(error, Exception):
        raise error
    return error


class Writer:
    """Writes one live session, batch by batch, and knows how far it got."""

    __slots__ = (
        "_attempt",
        "_has_failed",
        "_is_new",
        "_journal",
        "_last",
        "_sequencer",
        "_session",
        "_stored",
    )

    def __init__(
        self,
        sequencer: Sequencer,
        session: Session,
        journal: Journal,
        *,
        is_new: bool = False,
        stored: int | None = None,
    ) -> None:
        self._sequencer = sequencer
        self._session = session
        self._journal = journal
        self._is_new = is_new
        # How many records are stored; None while that is not known.
        self._stored = stored
        self._attempt: asyncio.Task[int] | None = None
        self._last: asyncio.Task[int] | None = None
        self._has_failed = False

    @property
    def unstored(self) -> int:
        """How many of the session's records are not known to be stored."""
        return len(self._session.events) - (self._stored or 0)

    def wake(self) -> None:
        """Write what is missing, unless a write is under way or the last one failed.

        After a failure the next flush tries again: nobody wants a try for every record.

        Clauses: E-12 E-13
        """
        is_free = self._last is None and self._attempt is None and not self._has_failed
        if is_free and not self._covers(len(self._session.events)):
            self._start()

    async def flush(self) -> None:
        """Wait until everything that the log holds by now is stored.

        Joins a write that is under way, and tries once more if that one fails.

        Raises:
            Exception: why it is not.

        Clauses: E-12 E-13 E-14
        """
        wanted = len(self._session.events)
        own: asyncio.Task[Any] | None = None
        while not self._covers(wanted):
            attempt = self._attempt or self._last
            if attempt is None:
                attempt = own = self._start()
            await asyncio.wait((attempt,))
            failure = failure_of(attempt)
            if failure is not None and attempt in (own, self._last):
                raise failure
            if attempt is self._last:
                return

    @property
    def has_all(self) -> bool:
        """Whether everything that the session holds is known to be stored."""
        return self._covers(len(self._session.events))

    def finish(self) -> "asyncio.Task[int]":
        """Write what is missing and give the lease back, and write nothing any more.

        Returns:
            The task that does it. It stands in its place already: who loads the session from now
            on comes behind it.

        Clauses: E-33 E-36 E-49
        """
        self._last = task = self._sequencer.let_go(self._journal, self._last_call)
        task.add_done_callback(self._finished)
        return task

    def _last_call(self) -> Callable[[], int]:
        length = len(self._session.events)
        write = partial(int, length) if self._covers(length) else self._next_write()
        return partial(self._journal.finish, write)

    def _finished(self, task: "asyncio.Task[int]") -> None:
        if failure_of(task) is None:
            self._stored = task.result()

    def _covers(self, length: int) -> bool:
        return length == 0 or (self._stored is not None and self._stored >= length)

    def _start(self) -> "asyncio.Task[int]":
        name = f"write of session {self._session.id}"
        self._attempt = task = self._sequencer.put(name, self._next_write)
        task.add_done_callback(self._ended)
        return task

    def _next_write(self) -> Callable[[], int]:
        header, events = self._session.header, self._session.events
        if self._stored is not None:
            return partial(self._journal.write, header, events[self._stored :], self._stored)
        write = self._journal.begin if self._is_new else self._journal.catch_up
        return partial(write, header, events[:])

    def _ended(self, task: "asyncio.Task[int]") -> None:
        self._attempt = None
        failure = failure_of(task)
        self._has_failed = failure is not None
        if failure is None:
            self._stored, self._is_new = task.result(), False
            self.wake()
        elif not (self._is_new and isinstance(failure, CallerError)):
            # It may have got through all the same. A new session that was refused has not, and what
            # is stored under its id is somebody else's.
            self._stored, self._is_new = None, False


class Loading:
    """One session that is being loaded for writing, and its lease.

    Await it for the log. Then it is handed over or given up, and never both.

    Clauses: E-23 F-07 F-30
    """

    __slots__ = ("_found", "_journal", "_log", "_refusal", "_sequencer")

    def __init__(
        self,
        sequencer: Sequencer,
        journal: Journal,
        build: Build,
        found: Callable[[bool], object],
    ) -> None:
        """Begin to load, when the turn of this session has come.

        Args:
            sequencer: does it.
            journal: the stored copy.
            build: makes a log of it.
            found: is told whether anything is stored under the id, if that is seen.
        """
        self._sequencer = sequencer
        self._journal = journal
        self._found = found
        self._refusal: Exception | None = None
        name = f"load of session {journal.session_id}"
        task = sequencer.put(name, lambda: partial(journal.load, build))
        self._log: asyncio.Future[SessionLog] = task.get_loop().create_future()
        task.add_done_callback(self._loaded)

    @property
    def is_over(self) -> bool:
        """Whether it was handed over or given up."""
        return self._refusal is not None

    def __await__(self) -> Generator[Any, None, SessionLog]:
        """Wait for the log.

        Raises:
            Exception: why there is none, or why it was given up.
        """
        return self._log.__await__()

    def _loaded(self, task: "asyncio.Task[SessionLog]") -> None:
        failure = failure_of(task)
        if failure is None or isinstance(failure, UnknownIdError):
            self._found(failure is None)
        if self._refusal is not None or self._log.done():
            return
        if failure is None:
            self._log.set_result(task.result())
        else:
            self._log.set_exception(failure)

    def hand_over(self) -> Journal:
        """Return the journal, to whoever writes the session from now on.

        Raises:
            CallerError: it was given up.
        """
        if self._refusal is not None:
            raise self._refusal
        self._refusal = CallerError("it was handed over")
        return self._journal

    def give_up(self, why: Exception) -> None:
        """Tell whoever awaits it why, and let others write the session once the load is over."""
        if self._refusal is not None:
            return
        self._refusal = why
        if not self._log.done():
            self._log.set_exception(why)
        if not self._log.cancelled():
            # Whoever awaited it may be gone.
            self._log.exception()
        # Also after a failure: that the load was not heard of again does not mean that it failed.
        self._sequencer.let_go(self._journal, lambda: self._journal.release)

    def dispose(self) -> None:
        """Give it up, because one of those who would own the agent unloads."""
        session_id = self._journal.session_id
        self.give_up(
            CallerError(
                f"resume of session {session_id!r} refused: who would own its agent was unloaded "
                "while it was loaded"
            )
        )
