"""One SQLite file, created, read and written with care.

**Creating.** The tables come in one transaction, so a database has all of them or is empty, and an
empty one counts as none. Only its owner can read it, and what SQLite puts beside it.

**Reading** opens the database read-only. Where nobody writes there is no write-ahead log, and the
file is read as one that does not change: SQLite would otherwise put files beside it. If somebody
began to write meanwhile, that is seen, and it is read again.

**Writing** keeps one connection, in a write-ahead log that is synced before a transaction returns.
"""

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Final, TypeVar

from attrs import frozen

from runtime.errors import DamagedSessionError, LifecycleError, StorageError

from .disk import PRIVATE_FILE, Disk, make_private_directory, storage_errors

__all__ = ["Database", "Schema", "code_of", "is_database"]

# How long a write waits for that of another process, which is over when its batch is synced.
_BUSY_S: Final = 10.0

# One page of the smallest size there is.
_BYTES_MIN: Final = 512

_T = TypeVar("_T")


@frozen(kw_only=True)
class Schema:
    """What makes a database ours, and of which version."""

    application_id: int
    version: int
    statements: tuple[str, ...]


class Database:
    """A database that need not exist yet."""

    def __init__(
        self,
        path: Path,
        schema: Schema,
        *,
        disk: Disk,
        connect: Callable[..., sqlite3.Connection],
    ) -> None:
        """Name the file; nothing is touched yet."""
        self._path = path
        self._log = path.with_name(f"{path.name}-wal")
        self._schema = schema
        self._disk = disk
        self._connect = connect
        self._writer: sqlite3.Connection | None = None
        self._inode = 0

    def look(self, doing: str, ask: Callable[[sqlite3.Connection], _T]) -> _T | None:
        """Ask the database something and change nothing; None if there is none yet.

        Args:
            doing: what is being done, for a message.
            ask: reads what it wants; may be called twice.

        Raises:
            StorageError: the database cannot be read, or is not ours.

        Clauses: E-25 E-42
        """
        with self.errors(doing):
            stamp = self._stamp()
            if self._writer is not None:
                self._check_same(doing, stamp)
                return ask(self._writer)
            if stamp is None:
                return None
            if not stamp.has_log:
                # Nobody writes, so nothing has to be locked. If somebody begins to meanwhile, what
                # was read may be of two states, and so may be what was found wrong with it.
                try:
                    answer = self._ask(ask, "mode=ro&immutable=1")
                except (sqlite3.Error, LifecycleError):
                    if self._stamp() == stamp:
                        raise
                else:
                    if self._stamp() == stamp:
                        return answer
            return self._ask(ask, "mode=ro")

    @contextmanager
    def writing(self, doing: str, *, creating: bool = False) -> Iterator[sqlite3.Connection | None]:
        """Run one transaction, all of it or nothing.

        Args:
            doing: what is being done, for a message.
            creating: make the database if there is none; otherwise None is given.

        Raises:
            StorageError: the database cannot be written; nothing was.

        Clauses: E-04 E-42
        """
        with self.errors(doing):
            stamp = self._stamp()
            if stamp is None and self._writer is None and not creating:
                yield None
                return
            if self._writer is None:
                self._writer = self._open_for_writing()
            else:
                self._check_same(doing, stamp)
            with _transaction(self._writer):
                yield self._writer

    def sync(self, doing: str) -> None:
        """Make durable what a process wrote that died before it could.

        Only the write-ahead log can have anything of that kind. Nothing but SQLite opens the
        database itself: closed again, that would take the locks of this process away.

        Raises:
            StorageError: it cannot be made durable.

        Clauses: E-80
        """
        with self.errors(doing), suppress(FileNotFoundError):
            self._disk.sync_file(self._log)

    def close(self) -> None:
        """Close the file; the write-ahead log is merged into it if nobody else has it open."""
        if self._writer is not None:
            writer, self._writer = self._writer, None
            with self.errors("sessions cannot be closed"):
                writer.close()

    @contextmanager
    def errors(self, doing: str) -> Iterator[None]:
        """Turn the errors of SQLite and of the operating system into `StorageError`."""
        with storage_errors(doing, self._path):
            try:
                yield
            except sqlite3.Error as error:
                advice = _ADVICE.get(code_of(error), "")
                message = f"{doing}: {self._path}: {error}{advice}"
                if code_of(error) == sqlite3.SQLITE_CORRUPT:
                    raise DamagedSessionError(message, place=str(self._path)) from error
                raise StorageError(message) from error

    def _check_same(self, doing: str, stamp: "_Stamp | None") -> None:
        """Refuse to go on with a database that has no name any more, or whose name has another."""
        if stamp is None or stamp.inode != self._inode:
            raise StorageError(
                f"{doing}: {self._path} was removed or replaced while it was open; "
                "put it back, or end the runtime"
            )

    def _ask(self, ask: Callable[[sqlite3.Connection], _T], mode: str) -> _T | None:
        with closing(self._connection(mode)) as database:
            return ask(database) if self._is_ours(database) else None

    def _stamp(self) -> "_Stamp | None":
        """Return by what a change of the database is seen; None if there is no database."""
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(status.st_mode):
            raise StorageError(
                f"{self._path} is no file, so it is no database; "
                "name a file, or let JSON Lines keep the sessions in a directory"
            )
        if 0 < status.st_size < _BYTES_MIN:
            # SQLite would take so short a file for an empty one, and overwrite it.
            raise StorageError(f"{self._path} is no database; choose another file")
        return _Stamp(
            has_log=self._has_log(),
            inode=status.st_ino,
            size=status.st_size,
            time_ns=status.st_mtime_ns,
        )

    def _has_log(self) -> bool:
        try:
            return self._log.stat().st_size > 0
        except FileNotFoundError:
            return False

    def _is_ours(self, database: sqlite3.Connection) -> bool:
        """Say whether the database has our tables; it has not if it is empty.

        Raises:
            StorageError: it has those of somebody else, or of another version.
        """
        ((application,),) = database.execute("PRAGMA application_id")
        ((version,),) = database.execute("PRAGMA user_version")
        if application == self._schema.application_id and version == self._schema.version:
            return True
        if application == self._schema.application_id:
            ours = self._schema.version
            age = "newer" if version > ours else "older"
            raise StorageError(
                f"{self._path} has schema version {version}, which is {age} than the {ours} of "
                "this program; use the version of the program that made it"
            )
        ((tables,),) = database.execute("SELECT count(*) FROM sqlite_master")
        if application or version or tables:
            raise StorageError(
                f"{self._path} is the database of another program; choose another file"
            )
        return False

    def _open_for_writing(self) -> sqlite3.Connection:
        make_private_directory(self._path.parent, self._disk)
        flags = os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with suppress(FileExistsError):
            # SQLite gives its other files the mode of this one.
            os.close(os.open(self._path, flags, PRIVATE_FILE))
        with ExitStack() as undo:
            database = undo.enter_context(closing(self._connection("mode=rw")))
            database.execute("PRAGMA synchronous = FULL")
            # On macOS only; elsewhere it changes nothing.
            database.execute("PRAGMA fullfsync = ON")
            if not self._is_ours(database):
                self._create(database)
            undo.pop_all()
        self._inode = self._path.stat().st_ino
        return database

    def _create(self, database: sqlite3.Connection) -> None:
        ((mode,),) = database.execute("PRAGMA journal_mode = WAL")
        if mode != b"wal":
            raise StorageError(
                f"{self._path} is on a file system that has no shared memory, so it may be a "
                "network's; choose a place on a local disk"
            )
        # Before the tables: whoever finds them takes the name of the file for durable.
        self._disk.sync_directory(self._path.parent)
        with _transaction(database):
            # Meanwhile another process may have made them.
            if not self._is_ours(database):
                for statement in self._schema.statements:
                    database.execute(statement)

    def _connection(self, mode: str) -> sqlite3.Connection:
        database = self._connect(
            f"{self._path.as_uri()}?{mode}",
            uri=True,
            timeout=_BUSY_S,
            isolation_level=None,
            # One call at a time, but not always on the same thread.
            check_same_thread=False,
        )
        # Whoever edits a database may leave in it what is no text.
        database.text_factory = bytes
        return database


def is_database(path: Path) -> bool:
    """Say whether a file is an SQLite database, of whichever program, or empty.

    The file is opened by SQLite only: a second opening of a database by other means, in a process
    that has it open already, takes the locks of the first away when it is closed.
    """
    if 0 < path.stat().st_size < _BYTES_MIN:
        return False
    # Unchanging, so that nothing is put beside it; the header of the file is all it takes.
    uri = f"{path.as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as database:
            database.execute("PRAGMA schema_version")
    except sqlite3.DatabaseError as error:
        # Anything else is said better by whoever uses it.
        return code_of(error) != sqlite3.SQLITE_NOTADB
    return True


@frozen(kw_only=True)
class _Stamp:
    """By what a change of a database is seen."""

    has_log: bool
    """There is a write-ahead log: somebody writes, or died writing."""
    inode: int
    size: int
    time_ns: int


_ADVICE: Final = {
    sqlite3.SQLITE_BUSY: f"; another process has been writing for {_BUSY_S:g} s, so try again",
    sqlite3.SQLITE_CANTOPEN: "; look at the permissions of the file and its directory",
    sqlite3.SQLITE_CORRUPT: "; it is damaged: `python -m runtime sessions verify` says where",
    sqlite3.SQLITE_FULL: "; free some space and try again",
    sqlite3.SQLITE_NOTADB: "; choose another file",
    sqlite3.SQLITE_READONLY: "; give its owner the permission, or choose another place",
}


def code_of(error: sqlite3.Error) -> int:
    """Return the number by which SQLite calls an error, without its details."""
    # The upper bits say the same more precisely. An error of the driver itself has no code.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


@contextmanager
def _transaction(database: sqlite3.Connection) -> Iterator[None]:
    database.execute("BEGIN IMMEDIATE")
    is_done = False
    try:
        yield
        database.execute("COMMIT")
        is_done = True
    finally:
        # Some errors have ended the transaction already.
        if not is_done and database.in_transaction:
            with suppress(sqlite3.Error):
                database.execute("ROLLBACK")
