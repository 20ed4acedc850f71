"""SQLite: a batch is all or nothing, whatever fails, and the next one is accepted."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest

from runtime.errors import (
    DamagedSessionError,
    DuplicateIdError,
    InvalidContentError,
    InvalidRecordError,
    StorageError,
)
from runtime.session.codec import encode_record
from runtime.session.disk import Disk
from runtime.session.log import SessionHeader
from runtime.session.sqlite import APPLICATION_ID, SqliteBackend

from .recorded import descriptors, recorded, store

HEADER, RECORDS = recorded(turns=3)


def backend_in(directory: Path, connect: Callable[..., Any] = sqlite3.connect) -> SqliteBackend:
    """Return an open backend."""
    backend = SqliteBackend(directory / "s.db", connect=connect)
    backend.open()
    return backend


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """Give a directory with a database that nobody has open: six records, two turns."""
    backend = backend_in(tmp_path)
    store(backend, HEADER, RECORDS[:6])
    backend.close()
    return tmp_path


# ------------------------------------------------------------------------------------------ writing


@pytest.mark.clause("E-09")
def test_a_stored_session_is_not_begun_again(stored: Path) -> None:
    """Whatever its working directory."""
    backend = backend_in(stored)
    backend.acquire("s")
    with pytest.raises(DuplicateIdError, match="'s' refused: it is stored already; resume it"):
        backend.begin(*recorded(cwd="/else"))
    assert backend.read("s").header == HEADER
    backend.close()


@pytest.mark.clause("E-05", "E-42")
def test_a_batch_with_a_gap_writes_nothing(stored: Path) -> None:
    """And the transaction is over: the next batch is accepted."""
    backend = backend_in(stored)
    backend.acquire("s")
    with pytest.raises(InvalidRecordError, match="record 7 refused where 6 is next"):
        backend.append("s", RECORDS[7:])
    backend.append("s", RECORDS[6:])
    assert backend.read("s").records == RECORDS
    backend.close()


@pytest.mark.clause("E-70")
def test_an_append_to_a_database_that_is_gone_is_refused(stored: Path) -> None:
    """SQLite itself would write into the file without a name, and call it done."""
    backend = backend_in(stored)
    backend.acquire("s")
    backend.append("s", RECORDS[6:7])
    (stored / "s.db").rename(stored / "moved.db")
    with pytest.raises(StorageError, match=r"s\.db was removed or replaced while it was open"):
        backend.append("s", RECORDS[7:])
    (stored / "s.db").touch()
    with pytest.raises(StorageError, match="removed or replaced"):
        backend.append("s", RECORDS[7:])
    (stored / "moved.db").replace(stored / "s.db")
    backend.append("s", RECORDS[7:])
    assert backend.read("s").records == RECORDS
    backend.close()


class Failing(sqlite3.Connection):
    """A connection on which a statement fails when it is told to."""

    fails_at = ""
    code = sqlite3.SQLITE_FULL

    def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:  # noqa: ANN401  # passed on
        """Execute, or fail as a full disk does."""
        if Failing.fails_at and sql.startswith(Failing.fails_at):
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = Failing.code
            raise error
        return super().execute(sql, *parameters)


@pytest.mark.clause("E-42", "E-68")
@pytest.mark.parametrize("statement", ["BEGIN IMMEDIATE", "SELECT coalesce", "COMMIT"])
def test_an_append_that_fails_stores_nothing_and_can_be_tried_again(
    stored: Path, statement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The transaction is rolled back, wherever it failed."""
    backend = backend_in(stored, partial(sqlite3.connect, factory=Failing))
    backend.acquire("s")
    backend.append("s", RECORDS[6:7])
    monkeypatch.setattr(Failing, "fails_at", statement)
    with pytest.raises(StorageError, match=r"'s' cannot be written: .*full; free some space"):
        backend.append("s", RECORDS[7:])
    monkeypatch.setattr(Failing, "fails_at", "")
    assert backend.read("s").records == RECORDS[:7]
    backend.append("s", RECORDS[7:])
    assert backend.read("s").records == RECORDS
    backend.close()


@pytest.mark.clause("E-03", "E-42", "E-68")
@pytest.mark.parametrize(
    "statement",
    ["PRAGMA synchronous", "PRAGMA journal_mode", "CREATE TABLE record", "PRAGMA user_version =",
     "INSERT INTO session", "COMMIT"],
)  # fmt: skip
def test_a_beginning_that_fails_leaves_no_session(
    tmp_path: Path, statement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the database is there by then or not; no file stays open, and it can be retried."""
    backend = backend_in(tmp_path, partial(sqlite3.connect, factory=Failing))
    backend.acquire("s")
    before = descriptors()
    monkeypatch.setattr(Failing, "fails_at", statement)
    with pytest.raises(StorageError, match="'s' cannot be written"):
        backend.begin(HEADER, RECORDS)
    assert statement in ("INSERT INTO session",) or descriptors() == before
    assert backend_in(tmp_path).headers() == ()
    monkeypatch.setattr(Failing, "fails_at", "")
    backend.begin(HEADER, RECORDS)
    backend.close()
    assert backend_in(tmp_path).read("s").records == RECORDS


@pytest.mark.clause("E-77")
def test_a_disk_that_cannot_be_read_is_no_damaged_session(
    stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody knows what stands there; tomorrow it may be read."""
    backend = backend_in(stored, partial(sqlite3.connect, factory=Failing))
    monkeypatch.setattr(Failing, "fails_at", "SELECT seq, line")
    monkeypatch.setattr(Failing, "code", sqlite3.SQLITE_IOERR)
    with pytest.raises(StorageError, match="'s' cannot be read: ") as it:
        backend.read("s")
    assert not isinstance(it.value, DamagedSessionError)


class Overtaken(sqlite3.Connection):
    """A connection whose owner is overtaken when it is about to make the tables."""

    waiting: ClassVar[list[Callable[[], object]]] = []

    def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:  # noqa: ANN401  # passed on
        """Execute, behind somebody else."""
        if sql.startswith("PRAGMA journal_mode"):
            while self.waiting:
                self.waiting.pop()()
        return super().execute(sql, *parameters)


@pytest.mark.clause("E-28", "E-42")
def test_two_that_make_the_database_at_once_share_it(tmp_path: Path) -> None:
    """Whoever comes second finds the tables."""
    first = backend_in(tmp_path)
    first.acquire("t")
    Overtaken.waiting.append(partial(first.begin, *recorded("t")))
    second = backend_in(tmp_path, partial(sqlite3.connect, factory=Overtaken))
    second.acquire("s")
    second.begin(HEADER, RECORDS)
    assert Overtaken.waiting == []
    assert {each.header.id for each in first.headers()} == {"s", "t"}
    second.close()
    first.close()


class Watched(Disk):
    """A disk that writes down which files are synced, or fails."""

    def __init__(self) -> None:
        self.synced: list[str] = []
        self.fails = False

    def sync_file(self, path: Path) -> None:
        """Sync, or fail."""
        if self.fails:
            raise OSError(5, "the disk is gone")
        self.synced.append(path.name)
        super().sync_file(path)


@pytest.mark.clause("E-80")
def test_the_log_of_a_dead_process_is_made_durable_before_it_is_believed(stored: Path) -> None:
    """If it cannot be, the session is not taken."""
    dead = backend_in(stored)
    dead.acquire("s")
    dead.append("s", RECORDS[6:7])
    disk = Watched()
    backend = SqliteBackend(stored / "s.db", disk=disk)
    disk.fails = True
    with pytest.raises(StorageError, match=r"'t' cannot be synced: .*the disk is gone"):
        backend.acquire("t")
    disk.fails = False
    backend.acquire("t")
    assert "s.db-wal" in disk.synced
    assert "s.db" not in disk.synced
    dead.close()
    backend.close()


class Nameless(Disk):
    """A disk on which names are not durable, until they are."""

    fails = True

    def sync_directory(self, directory: Path) -> None:
        """Fail, or sync."""
        if self.fails:
            raise OSError(5, f"{directory.name} cannot be synced")
        super().sync_directory(directory)


@pytest.mark.clause("E-04", "E-42", "E-68")
def test_a_database_is_not_believed_before_its_name_is_durable(tmp_path: Path) -> None:
    """However often it is tried."""
    disk = Nameless()
    backend = SqliteBackend(tmp_path / "s.db", disk=disk)
    disk.fails = False
    backend.acquire("s")
    disk.fails = True
    for _ in range(2):
        with pytest.raises(StorageError, match="cannot be synced"):
            backend.begin(HEADER, RECORDS)
        assert backend.headers() == ()
    disk.fails = False
    backend.begin(HEADER, RECORDS)
    assert backend.read("s").records == RECORDS
    backend.close()


@pytest.mark.clause("E-42", "E-68")
def test_a_full_database_is_a_full_disk(stored: Path) -> None:
    """SQLite's own error, from its own limit of pages."""

    def connect(*arguments: Any, **options: Any) -> sqlite3.Connection:  # noqa: ANN401  # passed on
        database: sqlite3.Connection = sqlite3.connect(*arguments, **options)
        database.execute("PRAGMA max_page_count = 10")
        return database

    backend = backend_in(stored, connect)
    backend.acquire("s")
    records = recorded(turns=500)[1]
    with pytest.raises(StorageError, match="database or disk is full; free some space"):
        backend.append("s", records[6:])
    assert backend.read("s").records == RECORDS[:6]
    backend.append("s", RECORDS[6:])
    assert backend.read("s").records == RECORDS
    backend.close()


@pytest.mark.clause("E-42", "E-68")
def test_a_database_that_somebody_keeps_locked_is_an_error_in_the_end(
    stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says that another process writes; nothing is written, and later it goes on."""
    monkeypatch.setattr("runtime.session.database._BUSY_S", 0.01)
    backend = backend_in(stored)
    backend.acquire("s")
    with closing(sqlite3.connect(stored / "s.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match=r"database is locked; another process has been"):
            backend.append("s", RECORDS[6:])
    backend.append("s", RECORDS[6:])
    assert backend.read("s").records == RECORDS
    backend.close()


def test_writing_takes_the_lease(stored: Path) -> None:
    """Whoever writes without it has a defect."""
    backend = backend_in(stored)
    with pytest.raises(AssertionError, match="lease"):
        backend.begin(HEADER, RECORDS)
    with pytest.raises(AssertionError, match="lease"):
        backend.append("s", RECORDS[6:])


def test_a_session_without_records_is_a_session(tmp_path: Path) -> None:
    """It has a header, and its first record is still to come."""
    backend = backend_in(tmp_path)
    backend.acquire("s")
    backend.begin(HEADER, ())
    assert backend.read("s").records == ()
    assert [glance for _, glance in backend.survey()] == [None]
    backend.append("s", RECORDS)
    assert backend.read("s").records == RECORDS
    backend.close()


@pytest.mark.clause("E-63")
def test_the_rows_are_the_lines_of_json_lines(stored: Path) -> None:
    """One form for both, so that one can be made from the other."""
    with closing(sqlite3.connect(stored / "s.db")) as database:
        ((application,),) = database.execute("PRAGMA application_id")
        lines = [line for (line,) in database.execute("SELECT line FROM record ORDER BY seq")]
    assert application == APPLICATION_ID
    assert lines == [encode_record(each) for each in RECORDS[:6]]


@pytest.mark.clause("E-26")
def test_a_header_that_no_file_can_store_is_refused(tmp_path: Path) -> None:
    """Before anything is made."""
    backend = backend_in(tmp_path)
    backend.acquire("s")
    with pytest.raises(InvalidContentError, match="half a surrogate"):
        backend.begin(SessionHeader(id="s", created_ms=1, cwd="/\udcff"), RECORDS)
    assert backend.headers() == ()
    backend.close()
