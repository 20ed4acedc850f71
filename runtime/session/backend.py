"""The seam behind which sessions survive: what a place that keeps them can do.

Every method is a plain function that does its I/O before it returns. A runtime calls them one after
the other, never two at a time, behind its `Blocking` port; so a backend needs no lock of its own
and may be slow. Whoever calls holds the lease of the session for everything but `read` and
`headers`, which change nothing.
"""

from collections.abc import Container, Sequence
from typing import Protocol, runtime_checkable

from attrs import frozen

from runtime.errors import InvalidRecordError

from .log import SessionHeader
from .records import Record

__all__ = ["Backend", "RemovingBackend", "StoredHeader", "StoredSession", "check_contiguous"]


@frozen(kw_only=True)
class StoredHeader:
    """What is known of a stored session without reading its records."""

    header: SessionHeader
    place: str
    """Where it is kept, for people."""


@frozen(kw_only=True)
class StoredSession:
    """A session as it is kept."""

    header: SessionHeader
    records: tuple[Record, ...]
    torn: str | None = None
    """What was left out behind the last record because a write did not get through; None if
    nothing was. It is still there until `cut`."""


@runtime_checkable
class Backend(Protocol):
    """A place that keeps sessions.

    What a call raises, it leaves undone: there is never half a batch.

    Clauses: E-43
    """

    @property
    def name(self) -> str:
        """What messages call it, such as `sqlite sessions.db`."""
        ...

    def open(self) -> None:
        """Look whether the place can be used; create nothing that a reader would not expect.

        Raises:
            StorageError: it cannot, or is of another version.

        Clauses: E-25
        """
        ...

    def acquire(self, session_id: str) -> None:
        """Become the one writer of a session, stored or not.

        The lease ends with `release`, with `close` and with the process, however that ends.

        Raises:
            SessionBusyError: there is one already; the message names it.
        """
        ...

    def release(self, session_id: str) -> None:
        """Stop being the writer of a session; nothing if this is not the writer."""
        ...

    def read(self, session_id: str) -> StoredSession:
        """Return a stored session and change nothing.

        Raises:
            UnknownIdError: there is none with this id.
            DamagedSessionError: it is damaged other than by a torn tail.
            StorageError: the place cannot be read.

        Clauses: E-11 E-16
        """
        ...

    def begin(self, header: SessionHeader, records: Sequence[Record]) -> None:
        """Store a new session, header and first records in one.

        Raises:
            DuplicateIdError: there is one with this id.
            InvalidRecordError: the records do not begin at 0, or have a gap.
            StorageError: the place cannot be written; nothing was.

        Clauses: E-03 E-05 E-09
        """
        ...

    def append(self, session_id: str, records: Sequence[Record]) -> None:
        """Store further records; durable when this returns. No records: nothing happens.

        Raises:
            UnknownIdError: there is no session with this id.
            InvalidRecordError: the records do not continue what is stored, or have a gap.
            StorageError: the place cannot be written; nothing was.

        Clauses: E-04 E-05 E-06
        """
        ...

    def cut(self, session_id: str) -> None:
        """Remove the torn tail that `read` reported; nothing if there is none.

        Raises:
            UnknownIdError: there is no session with this id.
            StorageError: the place cannot be written.
        """
        ...

    def headers(self) -> tuple[StoredHeader, ...]:
        """Return what is stored, from the oldest, without reading records.

        Raises:
            StorageError: the place cannot be read; that nothing was ever stored is no error.

        Clauses: E-25
        """
        ...

    def ids(self) -> Container[str]:
        """Return what says which ids are stored as of now, by their names alone.

        Raises:
            StorageError: the place cannot be read; that nothing was ever stored is no error.

        Clauses: E-104
        """
        ...

    def close(self) -> None:
        """Give back every lease and whatever is open; it may be opened again."""
        ...


@runtime_checkable
class RemovingBackend(Backend, Protocol):
    """A place from which sessions can also be removed."""

    def remove(self, session_id: str) -> None:
        """Remove a session with all its records; durable when this returns.

        Raises:
            UnknownIdError: there is no session with this id.
            DamagedSessionError: it cannot be said which one it is.
            StorageError: the place cannot be written; it is not known whether it is removed.

        Clauses: E-90
        """
        ...


def check_contiguous(session_id: str, stored: int, records: Sequence[Record]) -> None:
    """Check that records continue a session of `stored` records, for a backend.

    Raises:
        InvalidRecordError: they do not.

    Clauses: E-05
    """
    for expected, record in enumerate(records, start=stored):
        if record.seq != expected:
            raise InvalidRecordError(
                f"session {session_id!r}: record {record.seq} refused where {expected} is next; "
                "nothing was written"
            )
