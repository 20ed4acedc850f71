"""Sessions in one SQLite database, the default for a path.

    session(key, id, header)            one row a session; the header is a line of JSON
    record(session, seq, line)          one row a record, by session and seq

A batch is one transaction, in a write-ahead log that is synced before the call returns. So there is
never half a batch, and a row that cannot be read or is missing is damage, never a torn tail.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, TypeVar

from runtime.errors import (
    DamagedSessionError,
    DuplicateIdError,
    UnknownIdError,
)
from runtime.limits import DEFAULT_LIMITS, Limits
from runtime.ports import Clock, SystemClock

from .backend import StoredHeader, StoredSession, check_contiguous
from .codec import (
    Glance,
    UnreadableError,
    decode_header,
    encode_header,
    encode_record,
    glance,
    scan,
)
from .database import Database, Schema, code_of
from .disk import Disk
from .lock import Leases
from .log import SessionHeader
from .records import Record
from .segments import check_storable, shown

__all__ = ["APPLICATION_ID", "SCHEMA_VERSION", "SqliteBackend"]

APPLICATION_ID: Final = 0x51756965
"""Says in the file that it is ours: `Quie`."""
SCHEMA_VERSION: Final = 1

_SCHEMA: Final = Schema(
    application_id=APPLICATION_ID,
    version=SCHEMA_VERSION,
    statements=(
        "CREATE TABLE session(key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, "
        "header TEXT NOT NULL)",
        "CREATE TABLE record(session INTEGER NOT NULL REFERENCES session(key), "
        "seq INTEGER NOT NULL, line TEXT NOT NULL, PRIMARY KEY(session, seq)) WITHOUT ROWID",
        f"PRAGMA application_id = {APPLICATION_ID}",
        f"PRAGMA user_version = {SCHEMA_VERSION}",
    ),
)


_T = TypeVar("_T")


class SqliteBackend:
    """Keeps all sessions in one database."""

    def __init__(
        self,
        path: Path | str,
        *,
        limits: Limits = DEFAULT_LIMITS,
        clock: Clock | None = None,
        disk: Disk | None = None,
        connect: Callable[..., sqlite3.Connection] = sqlite3.connect,
    ) -> None:
        """Name the database; nothing is touched yet.

        Args:
            path: the file; a relative one is resolved now, once.
            limits: bounds every record that is read.
            clock: says since when a session is being written.
            disk: the calls to use beside those of SQLite.
            connect: opens a connection, as `sqlite3.connect` does.

        Clauses: E-29
        """
        self._name = f"sqlite {path}"
        self._path = Path(path).absolute()
        self._limits = limits
        disk = disk or Disk()
        self._database = Database(self._path, _SCHEMA, disk=disk, connect=connect)
        locks = self._path.with_name(f"{self._path.name}.locks")
        self._leases = Leases(locks, clock=clock or SystemClock(), disk=disk)

    @property
    def name(self) -> str:
        """What messages call it."""
        return self._name

    def open(self) -> None:
        """Look whether the database can be used, if it is there.

        Raises:
            StorageError: it is no database, none of ours, or one of another version.

        Clauses: E-02 E-25 E-42
        """
        self._database.look("sessions cannot be kept", lambda _: None)

    def close(self) -> None:
        """Give back every lease and close the database."""
        self._leases.release_all()
        self._database.close()

    def acquire(self, session_id: str) -> None:
        """Become the one writer of a session, and make durable what stands there.

        The writer before may have died between a write and its sync.

        Raises:
            SessionBusyError: there is one; the message names it.
            StorageError: it cannot be locked, or not be made durable.

        Clauses: E-60 E-61 E-80
        """
        self._leases.acquire(session_id)
        with ExitStack() as undo:
            undo.callback(self._leases.release, session_id)
            self._database.sync(f"session {shown(session_id)} cannot be synced")
            undo.pop_all()

    def release(self, session_id: str) -> None:
        """Stop being the writer of a session.

        Clauses: E-62
        """
        self._leases.release(session_id)

    def read(self, session_id: str) -> StoredSession:
        """Return a stored session and change nothing.

        Raises:
            UnknownIdError: there is none with this id.
            DamagedSessionError: it is damaged.
            LimitError: a record is larger or deeper than the limits allow.
            StorageError: it cannot be read.

        Clauses: E-11 E-16 E-19 E-21 E-42
        """
        check_storable(session_id)
        doing = f"session {shown(session_id)} cannot be read"
        stored = self._database.look(doing, lambda database: self._stored(database, session_id))
        if stored is None:
            raise self._unknown(session_id)
        return stored

    def begin(self, header: SessionHeader, records: Sequence[Record]) -> None:
        """Store a new session, header and first records in one.

        Raises:
            DuplicateIdError: there is one with this id.
            InvalidRecordError: the records do not begin at 0, or have a gap.
            StorageError: it cannot be written; nothing was.

        Clauses: E-03 E-05 E-09 E-42
        """
        assert self._leases.holds(header.id), "a session is written by the holder of its lease"
        check_contiguous(header.id, 0, records)
        with self._database.writing(_writing(header.id), creating=True) as writer:
            assert writer is not None
            if _key_of(writer, header.id) is not None:
                raise DuplicateIdError(
                    f"session {shown(header.id)} refused: it is stored already; "
                    "resume it, or choose another session id"
                )
            row = (header.id, encode_header(header))
            key = writer.execute("INSERT INTO session(id, header) VALUES (?, ?)", row).lastrowid
            assert key is not None
            _insert(writer, key, records)

    def append(self, session_id: str, records: Sequence[Record]) -> None:
        """Store further records; durable when this returns.

        Raises:
            UnknownIdError: there is no session with this id.
            InvalidRecordError: the records do not continue what is stored, or have a gap.
            StorageError: it cannot be written; nothing was.

        Clauses: E-04 E-05 E-06 E-42
        """
        if not records:
            return
        assert self._leases.holds(session_id), "a session is written by the holder of its lease"
        with self._database.writing(_writing(session_id)) as writer:
            key = None if writer is None else _key_of(writer, session_id)
            if writer is None or key is None:
                raise self._unknown(session_id)
            length = "SELECT coalesce(max(seq) + 1, 0) FROM record WHERE session = ?"
            ((stored,),) = writer.execute(length, (key,))
            check_contiguous(session_id, stored, records)
            _insert(writer, key, records)

    def cut(self, session_id: str) -> None:
        """Do nothing: a transaction leaves no torn tail.

        Raises:
            UnknownIdError: there is no session with this id.
        """
        if (
            self._database.look("sessions cannot be read", lambda each: _key_of(each, session_id))
            is None
        ):
            raise self._unknown(session_id)

    def remove(self, session_id: str) -> None:
        """Remove a session and its records in one transaction.

        Raises:
            UnknownIdError: there is no session with this id.
            StorageError: the database cannot be written; nothing was removed.

        Clauses: E-90
        """
        assert self._leases.holds(session_id), "a session is removed by the holder of its lease"
        doing = f"session {shown(session_id)} cannot be removed"
        with self._database.writing(doing) as writer:
            key = None if writer is None else _key_of(writer, session_id)
            if writer is None or key is None:
                raise self._unknown(session_id)
            writer.execute("DELETE FROM record WHERE session = ?", (key,))
            writer.execute("DELETE FROM session WHERE key = ?", (key,))

    def headers(self) -> tuple[StoredHeader, ...]:
        """Return what is stored, from the oldest, without reading records.

        A row that is no session is passed over; `problems` names it.

        Raises:
            StorageError: the database cannot be read.

        Clauses: E-24 E-25
        """
        return tuple(stored for stored, _ in self._listed(lambda _, __: None))

    def ids(self) -> frozenset[str]:
        """Return the ids of the rows, sessions or not.

        Raises:
            StorageError: the database cannot be read.

        Clauses: E-104
        """
        return self._database.look("sessions cannot be listed", _ids) or frozenset()

    def survey(self) -> tuple[tuple[StoredHeader, Glance | None], ...]:
        """Return the same, and how far each session has come, from its last row alone.

        Raises:
            StorageError: the database cannot be read.

        Clauses: E-71
        """
        return tuple(self._listed(_glance_at))

    def _listed(
        self, look: Callable[[sqlite3.Connection, int], _T]
    ) -> list[tuple[StoredHeader, _T]]:
        def found(database: sqlite3.Connection) -> list[tuple[StoredHeader, _T]]:
            return [
                (StoredHeader(header=header, place=str(self._path)), look(database, key))
                for key, header in _sessions(database)
                if isinstance(header, SessionHeader)
            ]

        listed = self._database.look("sessions cannot be listed", found) or []
        return sorted(listed, key=lambda each: (each[0].header.created_ms, each[0].header.id))

    def problems(self) -> tuple[str, ...]:
        """Name what is wrong with the database and belongs to no session.

        Raises:
            StorageError: the database cannot be read.
        """
        return self._database.look("sessions cannot be verified", self._problems) or ()

    def _stored(self, database: sqlite3.Connection, session_id: str) -> StoredSession | None:
        what = f"session {shown(session_id)} ({self._path})"
        query = "SELECT key, header FROM session WHERE id = ?"
        row = database.execute(query, (session_id,)).fetchone()
        if row is None:
            return None
        key, line = row
        header = _header(session_id, line)
        if isinstance(header, str):
            raise DamagedSessionError(
                f"{what} cannot be read: {header}; it was left as it is", place="its header"
            )
        found = scan(
            _rows(database, key, what), what=what, place=_row, limits=self._limits, can_tear=False
        )
        return StoredSession(header=header, records=found.records)

    def _problems(self, database: sqlite3.Connection) -> tuple[str, ...]:
        found = [_bytes(text).decode() for (text,) in database.execute("PRAGMA integrity_check")]
        if found == ["ok"]:
            found = [reason for _, reason in _sessions(database) if isinstance(reason, str)]
            query = "SELECT DISTINCT session FROM record EXCEPT SELECT key FROM session"
            found += [f"records of no session, key {key}" for (key,) in database.execute(query)]
        return tuple(f"{self._path}: {each}" for each in found)

    def _unknown(self, session_id: str) -> UnknownIdError:
        return UnknownIdError(
            f"session {shown(session_id)} is not in {self._path}; "
            "`python -m runtime sessions list` says which are"
        )


def _writing(session_id: str) -> str:
    return f"session {shown(session_id)} cannot be written"


def _insert(database: sqlite3.Connection, key: int, records: Sequence[Record]) -> None:
    rows = ((key, each.seq, encode_record(each)) for each in records)
    database.executemany("INSERT INTO record(session, seq, line) VALUES (?, ?, ?)", rows)


def _ids(database: sqlite3.Connection) -> frozenset[str]:
    query = "SELECT id FROM session"
    return frozenset(_bytes(name).decode(errors="replace") for (name,) in database.execute(query))


def _key_of(database: sqlite3.Connection, session_id: str) -> int | None:
    row = database.execute("SELECT key FROM session WHERE id = ?", (session_id,)).fetchone()
    return None if row is None else int(row[0])


def _sessions(database: sqlite3.Connection) -> Iterator[tuple[int, SessionHeader | str]]:
    """Give the key and the header in each row; if it is none of that session, say why."""
    for key, session_id, line in database.execute("SELECT key, id, header FROM session"):
        name = _bytes(session_id).decode(errors="replace")
        header = _header(name, line)
        is_header = isinstance(header, SessionHeader)
        yield key, header if is_header else f"session {shown(name)}: {header}"


def _glance_at(database: sqlite3.Connection, key: int) -> Glance | None:
    query = "SELECT line FROM record WHERE session = ? ORDER BY seq DESC LIMIT 1"
    (line,) = next(database.execute(query, (key,)), (None,))
    return glance(_bytes(line))


def _header(session_id: str, line: object) -> SessionHeader | str:
    try:
        header = decode_header(_bytes(line))
    except UnreadableError as error:
        return str(error)
    if header.id != session_id:
        return f"its header is that of session {shown(header.id)}"
    return header


def _rows(database: sqlite3.Connection, key: int, what: str) -> Iterator[tuple[int, bytes]]:
    query = "SELECT seq, line FROM record WHERE session = ? ORDER BY seq"
    expected = 0
    try:
        for seq, line in database.execute(query, (key,)):
            if seq != expected:
                raise _damaged(what, expected, "it is missing")
            yield seq, _bytes(line)
            expected += 1
    except sqlite3.DatabaseError as error:
        if code_of(error) != sqlite3.SQLITE_CORRUPT:
            raise
        raise _damaged(what, expected, str(error)) from error


def _damaged(what: str, seq: int, reason: str) -> DamagedSessionError:
    return DamagedSessionError(
        f"{what} is damaged at {_row(seq)}: {reason}; it was left as it is", place=_row(seq)
    )


def _row(seq: int) -> str:
    return f"row {seq}"


def _bytes(value: object) -> bytes:
    """Return the bytes of a text; none for anything else, which is no line either."""
    return value if isinstance(value, bytes) else b""
