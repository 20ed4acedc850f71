"""The plugin that keeps sessions: it follows the live logs and writes behind them.

Appending never waits for a disk. Whatever is appended is written in the background, and everything
that is appended meanwhile is written next, together; `session/flush` is the barrier. What a crash
can take away is the batch that was under way.
"""

from collections.abc import AsyncGenerator, Callable, Container, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from attrs import define, field

from .announcements import (
    SESSION_CREATED,
    SESSION_EVENT,
    SESSION_FLUSH,
    RecordAppended,
    SessionNotice,
)
from .containment import log_failure, log_line
from .context import Context, Plugin, Token
from .errors import CallerError, DuplicateIdError, StorageError
from .ports import Blocking
from .session.backend import Backend, RemovingBackend, StoredHeader, StoredSession
from .session.journal import Build, Journal, remove_stored
from .session.log import Session, SessionLog
from .teardown import LinkFailure, TeardownReport, wait_bounded
from .writer import Loading, Sequencer, Writer, failure_of

if TYPE_CHECKING:
    import asyncio

__all__ = ["PERSISTENCE", "Persistence", "persistence_plugin"]


@define(eq=False)
class Persistence:
    """Keeps the sessions of one runtime in one place.

    The same through all lives of its plugin: what one of them leaves behind is over before the next
    begins.

    Clauses: E-01 E-10
    """

    backend: Backend
    _blocking: Blocking
    _grace_s: float
    """How long its end waits for the place, and then how long for its closing."""
    _sequencer: Sequencer = field(init=False)
    _writers: dict[Session, Writer] = field(init=False, factory=dict)
    _left: dict[Session, Writer] = field(init=False, factory=dict)
    """The writers of live sessions that were kept until the plugin was unloaded."""
    _loadings: list[Loading] = field(init=False, factory=list)
    _releases: "dict[asyncio.Task[int], tuple[Session, Writer]]" = field(init=False, factory=dict)
    """What is still to be written of sessions that nobody keeps any more."""
    _found: Container[str] = field(init=False, default=())
    """The ids that were stored when the place was opened."""
    _changed: dict[str, bool] = field(init=False, factory=dict)
    """Of ids that came up since then, whether they are stored."""

    def __attrs_post_init__(self) -> None:
        """Begin with nothing to do."""
        self._sequencer = Sequencer(self._blocking)

    async def open(self) -> None:
        """Look whether the place can be used, and which ids are stored there.

        Raises:
            StorageError: it cannot.

        Clauses: E-50 E-103
        """

        def open() -> Container[str]:  # noqa: A001  # what is done there
            self.backend.open()
            return self.backend.ids()

        self._found = await self._sequencer.do(f"opening of {self.backend.name}", open)
        self._changed.clear()

    # -- What is stored ----------------------------------------------------------------------------

    async def read(self, session_id: str) -> StoredSession:
        """Return a stored session as it is; nothing is repaired.

        Raises:
            UnknownIdError: there is none with this id.
            DamagedSessionError: it is damaged other than by a torn tail.
            StorageError: it could not be read.

        Clauses: E-11 E-16
        """
        read = partial(self.backend.read, session_id)
        return await self._sequencer.do(f"read of session {session_id}", read)

    async def headers(self) -> tuple[StoredHeader, ...]:
        """Return what is known of the stored sessions, from the oldest.

        Raises:
            StorageError: it could not be read.
        """
        return await self._sequencer.do("list of sessions", self.backend.headers)

    @property
    def can_remove(self) -> bool:
        """Whether sessions can be removed from the place."""
        return isinstance(self.backend, RemovingBackend)

    async def remove(self, session_id: str) -> None:
        """Remove a stored session for good; nothing happens if there is none.

        Raises:
            CallerError: it lives here, somebody else writes it, or nothing can be removed there.
            StorageError: it could not be removed.

        Clauses: E-90
        """
        backend = self.backend
        if not isinstance(backend, RemovingBackend):
            raise CallerError(f"removal refused: {backend.name} cannot remove a session")
        if any(session.id == session_id for session in self._writers):
            why = f"removal of session {session_id!r} refused: an agent lives on it; dispose it"
            raise CallerError(why)
        name = f"removal of session {session_id}"
        await self._sequencer.do(name, partial(remove_stored, backend, session_id))
        self._changed[session_id] = False

    def check_new(self, session_id: str) -> None:
        """Refuse an id for a new session if it is known to be stored.

        What another process has stored since this one looked is found out by the first write.

        Raises:
            DuplicateIdError: it is.

        Clauses: E-103
        """
        is_stored = self._changed.get(session_id)
        if is_stored or (is_stored is None and session_id in self._found):
            raise DuplicateIdError(
                f"session {session_id!r} refused: {self.backend.name} keeps a session of this id; "
                "resume it, or choose another session id"
            )

    # -- Live sessions -----------------------------------------------------------------------------

    def load(self, session_id: str, build: Build) -> "Loading":
        """Begin to load a session for writing; await the result, or give it up.

        Clauses: E-17 E-23
        """
        journal = Journal(self.backend, session_id)
        found = partial(self._changed.__setitem__, session_id)
        loading = Loading(self._sequencer, journal, build, found)
        self._loadings = [each for each in self._loadings if not each.is_over]
        self._loadings.append(loading)
        return loading

    def follow(self, session: Session, *, is_new: bool) -> None:
        """Keep a live session from now on.

        Args:
            session: the session; nothing happens if it is kept already.
            is_new: nothing can be stored of it yet; otherwise what is stored is compared with it.

        Clauses: E-02 E-30 E-34
        """
        if session not in self._writers:
            self._left.pop(session, None)
            journal = Journal(self.backend, session.id)
            self._writers[session] = writer = Writer(
                self._sequencer, session, journal, is_new=is_new
            )
            writer.wake()

    def keep(self, loading: "Loading", log: SessionLog) -> None:
        """Keep a session that was loaded.

        Raises:
            CallerError: the loading was given up.

        Clauses: E-35
        """
        journal = loading.hand_over()
        writer = Writer(self._sequencer, log.session, journal, stored=len(log.events))
        self._writers[log.session] = writer

    def release(self, session: Session) -> "asyncio.Task[int] | None":
        """Write what is missing of a session that was detached, and let others write it.

        Returns:
            The task that does it, owned here; None if nothing of the session is missing.

        Raises:
            StorageError: the session is not kept any more, and something is missing.

        Clauses: E-33 E-101
        """
        writer = self._writers.pop(session, None)
        if writer is not None:
            return self._finish(session, writer)
        left = self._left.pop(session, None)
        if len(session.events) and (left is None or not left.has_all):
            raise StorageError(
                f"the last records of session {session.id!r} are not stored in "
                f"{self.backend.name}: the plugin that keeps sessions was unloaded; they are still "
                "in `session.events`, and the next resume closes what is stored where it ends"
            )
        return None

    def _finish(self, session: Session, writer: Writer) -> "asyncio.Task[int]":
        def note(task: "asyncio.Task[int]") -> None:
            del self._releases[task]
            if failure_of(task) is None and task.result():
                self._changed[session.id] = True

        task = writer.finish()
        self._releases[task] = session, writer
        task.add_done_callback(note)
        return task

    # -- What happens ------------------------------------------------------------------------------

    def on_created(self, notice: SessionNotice) -> None:
        """Follow a session that is new; one that was loaded is followed already."""
        self.follow(notice.session, is_new=True)

    def on_record(self, notice: RecordAppended) -> None:
        """Write, behind everybody's back, unless a write is under way."""
        writer = self._writers.get(notice.session)
        if writer is not None:
            writer.wake()

    async def on_flush(self, notice: SessionNotice) -> None:
        """Wait until everything that the session holds by now is durable.

        Raises:
            Exception: why it is not.
        """
        writer = self._writers.get(notice.session)
        if writer is not None:
            await writer.flush()

    # -- The end -----------------------------------------------------------------------------------

    async def drain(self) -> TeardownReport:
        """Write what is missing of every session and let go of all of them, within the grace.

        Clauses: E-36 E-41
        """
        for loading in tuple(self._loadings):
            loading.give_up(CallerError("resume refused: who keeps the sessions was unloaded"))
        endings = [self._finish(*kept) for kept in self._writers.items()]
        self._left |= self._writers
        self._writers.clear()
        # Behind the last thing that was asked for, everything has been done.
        await wait_bounded(self._sequencer.last, self._grace_s)
        for session, writer in self._releases.values():
            self._say_what_is_missing(session, writer)
        return TeardownReport(
            failed=tuple(_failures(endings)),
            stragglers=tuple(task.get_name() for task in self._releases),
        )

    def _say_what_is_missing(self, session: Session, writer: Writer) -> None:
        if writer.unstored:
            late = f"{self.backend.name} did not answer within {self._grace_s:g} s"
            records = "1 record" if writer.unstored == 1 else f"{writer.unstored} records"
            log_line(f"session {session.id!r}: {records} may not be stored, because {late}")

    async def close(self) -> TeardownReport:
        """Close the place, within the grace: what is late there keeps it busy.

        Raises:
            StorageError: it could not be closed.
        """
        name = f"close of {self.backend.name}"
        task = self._sequencer.put(name, lambda: self.backend.close)
        await wait_bounded((task,), self._grace_s)
        if not task.done():
            return TeardownReport(stragglers=(name,))
        failure = failure_of(task)
        if failure is not None:
            raise failure
        return TeardownReport()


PERSISTENCE: Token[Persistence] = Token("persistence")
"""Whoever keeps sessions provides this; nobody does without a store."""


def _failures(endings: Iterable["asyncio.Task[int]"]) -> Iterator[LinkFailure]:
    for task in endings:
        failure = failure_of(task) if task.done() else None
        if failure is not None:
            log_failure(failure, task.get_name())
            yield LinkFailure(task.get_name(), failure)


def persistence_plugin(
    persistence: Persistence, live: Callable[[], Iterable[Session]]
) -> Plugin[None]:
    """Return the plugin that provides `PERSISTENCE`.

    Args:
        persistence: what is provided.
        live: returns the sessions that live while the plugin is loaded; it takes them on.

    Clauses: E-01 E-30 E-36 E-41
    """

    async def apply(context: Context, _: None) -> AsyncGenerator[object, None]:
        # Before anything is touched: where somebody keeps sessions already, this one does not.
        provided = context.provide(PERSISTENCE, persistence)
        # Closed also when opening fails half-way.
        yield persistence.close
        await persistence.open()
        yield persistence.drain
        context.on(SESSION_CREATED, persistence.on_created)
        context.on(SESSION_EVENT, persistence.on_record)
        context.on(SESSION_FLUSH, persistence.on_flush)
        for session in live():
            persistence.follow(session, is_new=False)
        # Last up and first down: who depends on it unloads before it is drained.
        yield provided

    return Plugin(name="persistence", apply=apply)
