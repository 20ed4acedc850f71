"""What a runtime does to the stored copy of one session: blocking, and one call at a time.

These run behind the `Blocking` port. They know nothing of a loop, and whatever they raise, they
have left undone.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress

from attrs import define, field

from runtime.errors import (
    DamagedSessionError,
    DuplicateIdError,
    InvalidContentError,
    InvalidRecordError,
    UnknownIdError,
)

from .backend import Backend, RemovingBackend, StoredSession
from .log import SessionHeader, SessionLog
from .records import Record
from .repair import repair

__all__ = ["Build", "Journal", "remove_stored"]

Build = Callable[[SessionHeader, Sequence[Record]], SessionLog]
"""Makes a log of what was stored, and refuses what is none."""


@define(eq=False)
class Journal:
    """The stored copy of one session, and the right to write it.

    The lease is taken when it is first needed and kept until `release`.
    """

    backend: Backend
    session_id: str
    is_leased: bool = field(init=False, default=False)

    def load(self, build: Build) -> SessionLog:
        """Close durably what a crash left open and return the log, ready to go on.

        The whole is checked before anything is written: what is damaged stays as it is.

        Raises:
            UnknownIdError: nothing is stored under this id.
            DamagedSessionError: what is stored is no log.
            SessionBusyError: somebody else writes it.
            StorageError: it could not be read or closed.

        Clauses: D-47 E-17 E-22
        """
        with ExitStack() as undo:
            self._lease(undo)
            stored = self.backend.read(self.session_id)
            closing, log = self._rebuilt(stored, build)
            self._cut(stored)
            self.backend.append(self.session_id, closing)
            undo.pop_all()
            return log

    def _rebuilt(
        self, stored: StoredSession, build: Build
    ) -> tuple[tuple[Record, ...], SessionLog]:
        if stored.header.id != self.session_id:
            raise self._damaged(f"it is the session {stored.header.id!r}")
        try:
            closing = repair(stored.records)
            return closing, build(stored.header, (*stored.records, *closing))
        except (InvalidRecordError, InvalidContentError) as error:
            raise self._damaged(str(error)) from error

    def _damaged(self, why: str) -> DamagedSessionError:
        return DamagedSessionError(
            f"session {self.session_id!r} of {self.backend.name} refused: {why}; "
            "it was left as it is",
            place=f"{self.backend.name}, session {self.session_id}",
        )

    def write(self, header: SessionHeader, records: Sequence[Record], stored: int) -> int:
        """Append to a copy that is known to hold `stored` records, and return how many it holds.

        Raises:
            StorageError: it could not be written.

        Clauses: E-04 E-05
        """
        self.backend.append(header.id, records)
        return stored + len(records)

    def begin(self, header: SessionHeader, records: Sequence[Record]) -> int:
        """Store a session that is new, and return how many records are stored.

        Raises:
            DuplicateIdError: another session is stored under this id.
            SessionBusyError: somebody else writes it.
            StorageError: it could not be written.

        Clauses: E-02 E-03 E-09
        """
        with ExitStack() as undo:
            self._lease(undo)
            try:
                self.backend.begin(header, records)
            except DuplicateIdError as error:
                raise self._taken("resume it, or choose another session id") from error
            undo.pop_all()
        return len(records)

    def catch_up(self, header: SessionHeader, records: Sequence[Record]) -> int:
        """Store what is missing of a session that may be stored in part, and return the length.

        What is open in it stays open: the session lives.

        Raises:
            DuplicateIdError: another session is stored under this id; it was left as it is.
            SessionBusyError: somebody else writes it.
            StorageError: it could not be written.

        Clauses: E-30 E-31
        """
        with ExitStack() as undo:
            self._lease(undo)
            try:
                stored = self.backend.read(header.id)
            except UnknownIdError:
                self.backend.begin(header, records)
            else:
                length = len(stored.records)
                if stored.header != header or stored.records != tuple(records[:length]):
                    raise self._taken("its records, or its header, are not those of the live one")
                self._cut(stored)
                self.backend.append(header.id, records[length:])
            undo.pop_all()
        return len(records)

    def finish(self, write: Callable[[], int]) -> int:
        """Write for the last time, let others write the session, and return what `write` returns.

        Raises:
            StorageError: it could not be written; others may write it all the same.
        """
        try:
            return write()
        finally:
            self.release()

    def release(self) -> None:
        """Let others write the session; what failed may be tried again."""
        if self.is_leased:
            self.backend.release(self.session_id)
            self.is_leased = False

    def _lease(self, undo: ExitStack) -> None:
        """Take the lease, for as long as nothing fails unless it was held before."""
        if not self.is_leased:
            self.backend.acquire(self.session_id)
            self.is_leased = True
            undo.callback(self.release)

    def _cut(self, stored: StoredSession) -> None:
        if stored.torn is not None:
            self.backend.cut(self.session_id)

    def _taken(self, what: str) -> DuplicateIdError:
        return DuplicateIdError(
            f"session {self.session_id!r} refused: {self.backend.name} keeps another one under "
            f"this id: {what}"
        )


def remove_stored(backend: RemovingBackend, session_id: str) -> None:
    """Remove the stored copy of a session that nobody writes; nothing if there is none.

    Raises:
        SessionBusyError: somebody writes it.
        StorageError: it could not be removed.

    Clauses: E-90
    """
    with ExitStack() as undo:
        backend.acquire(session_id)
        undo.callback(backend.release, session_id)
        with suppress(UnknownIdError):
            backend.remove(session_id)
