"""SQLite: one database for all, closed to others, of our schema, and damage found by its row."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from runtime.errors import (
    DamagedSessionError,
    InvalidContentError,
    StorageError,
    UnknownIdError,
)
from runtime.session.sqlite import SCHEMA_VERSION, SqliteBackend

from .recorded import contents, recorded, store

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


def edit(directory: Path, *statements: str) -> None:
    """Change the database as somebody with another program would."""
    with closing(sqlite3.connect(directory / "s.db", isolation_level=None)) as database:
        for each in statements:
            database.execute(each)


# ------------------------------------------------------------------------------------- the database


@pytest.mark.clause("E-42", "E-02", "E-06")
def test_nothing_is_made_before_there_is_something_to_store(tmp_path: Path) -> None:
    """Neither by opening, nor by asking, nor by an empty batch."""
    backend = backend_in(tmp_path)
    assert backend.headers() == ()
    assert backend.problems() == ()
    backend.append("s", ())
    for act in (backend.read, backend.cut):
        with pytest.raises(UnknownIdError, match=r"'s' is not in .*s\.db.*sessions list"):
            act("s")
    backend.close()
    assert contents(tmp_path) == {}


@pytest.mark.clause("E-42", "E-27")
def test_the_database_and_what_lies_beside_it_are_for_the_owner_only(tmp_path: Path) -> None:
    """Whatever the mask of the process says; what exists keeps its mode."""
    before = os.umask(0)
    try:
        backend = backend_in(tmp_path / "deep")
        backend.acquire("s")
        backend.begin(HEADER, RECORDS)
    finally:
        os.umask(before)
    names = set(contents(tmp_path))
    assert {"deep/s.db", "deep/s.db-wal", "deep/s.db-shm", "deep/s.db.locks/s.lock"} <= names
    for path in tmp_path.rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path
    (tmp_path / "deep" / "s.db").chmod(0o644)
    backend.append("s", ())
    backend.close()
    assert (tmp_path / "deep" / "s.db").stat().st_mode & 0o777 == 0o644


@pytest.mark.clause("E-42")
def test_the_write_ahead_log_is_synced(tmp_path: Path) -> None:
    """Settings are those of a connection, so they are looked at on the one that writes."""
    opened: list[sqlite3.Connection] = []

    def connect(*arguments: Any, **options: Any) -> sqlite3.Connection:  # noqa: ANN401  # passed on
        opened.append(sqlite3.connect(*arguments, **options))
        return opened[-1]

    backend = backend_in(tmp_path, connect)
    backend.acquire("s")
    backend.begin(HEADER, RECORDS)
    assert opened[-1].execute("PRAGMA synchronous").fetchone() == (2,)
    assert opened[-1].execute("PRAGMA journal_mode").fetchone() == (b"wal",)
    backend.close()


@pytest.mark.clause("E-42")
@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (f"PRAGMA user_version = {SCHEMA_VERSION + 1}", "schema version 2, which is newer than"),
        ("PRAGMA user_version = 0", "schema version 0, which is older than"),
        ("PRAGMA application_id = 5", "database of another program"),
    ],
)
def test_another_version_and_another_program_are_refused(
    stored: Path, statement: str, said: str
) -> None:
    """By every act, and the file stays as it is."""
    edit(stored, statement)
    before = (stored / "s.db").read_bytes()
    backend = SqliteBackend(stored / "s.db")
    backend.acquire("s")
    acts: tuple[Callable[[], object], ...] = (
        backend.open,
        backend.headers,
        backend.problems,
        partial(backend.read, "s"),
        partial(backend.append, "s", RECORDS[6:]),
        partial(backend.begin, HEADER, RECORDS),
    )
    for act in acts:
        with pytest.raises(StorageError, match=rf"s\.db.*{said}"):
            act()
    backend.close()
    assert contents(stored) == {"s.db": before}


@pytest.mark.clause("E-42")
def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    """Even if it says nothing of itself, and even for reading."""
    edit(tmp_path, "CREATE TABLE theirs(x)")
    before = contents(tmp_path)
    backend = SqliteBackend(tmp_path / "s.db")
    with pytest.raises(StorageError, match="database of another program; choose another file"):
        backend.open()
    backend.acquire("s")
    with pytest.raises(StorageError, match="database of another program"):
        backend.begin(HEADER, RECORDS)
    backend.close()
    assert contents(tmp_path) == before


@pytest.mark.clause("E-42", "E-66")
@pytest.mark.parametrize("text", [b"hello" * 1000, b"SQLite format 3\x00" + b"x" * 5000, b"x"])
def test_a_file_that_is_no_database_is_refused(tmp_path: Path, text: bytes) -> None:
    """And stays as it is."""
    (tmp_path / "s.db").write_bytes(text)
    backend = SqliteBackend(tmp_path / "s.db")
    backend.acquire("s")
    for act in (backend.open, partial(backend.begin, HEADER, RECORDS)):
        with pytest.raises(StorageError, match=r"s\.db"):
            act()
    backend.close()
    assert contents(tmp_path) == {"s.db": text}


@pytest.mark.clause("E-25", "E-42")
def test_a_place_that_can_be_no_file_is_refused(tmp_path: Path) -> None:
    """A directory, and a path below a file."""
    (tmp_path / "s.db").mkdir()
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(StorageError, match=r"s\.db is no file.*JSON Lines"):
        SqliteBackend(tmp_path / "s.db").open()
    with pytest.raises(StorageError, match="Not a directory; choose a place whose parents"):
        SqliteBackend(tmp_path / "file" / "s.db").open()


@pytest.mark.clause("E-66")
def test_an_empty_file_becomes_a_database(tmp_path: Path) -> None:
    """Somebody reserved the name."""
    (tmp_path / "s.db").touch(0o600)
    backend = backend_in(tmp_path)
    assert backend.headers() == ()
    store(backend, HEADER, RECORDS)
    assert backend.read("s").records == RECORDS
    backend.close()


@pytest.mark.clause("E-29")
def test_a_relative_path_is_resolved_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later change of the working directory does not move the sessions."""
    monkeypatch.chdir(tmp_path)
    backend = SqliteBackend("s.db")
    (tmp_path / "else").mkdir()
    monkeypatch.chdir("else")
    backend.open()
    store(backend, HEADER, RECORDS)
    backend.close()
    assert set(contents(tmp_path)) == {"else", "s.db"}
    assert backend.name == "sqlite s.db"


@pytest.mark.clause("E-26")
def test_hostile_ids_are_rows_like_others(tmp_path: Path) -> None:
    """And so are hostile names of the database itself."""
    name = "a b?mode=memory&x#%41;'\".db"
    backend = SqliteBackend(tmp_path / name)
    backend.open()
    ids = ("", ".", "..", "../../x", "x" * 10_000, "a\x00", "a", "A", "é", "e\u0301", "'; --")
    for session_id in ids:
        store(backend, *recorded(session_id))
    assert {each.header.id for each in backend.headers()} == set(ids)
    assert all(backend.read(each).header.id == each for each in ids)
    with pytest.raises(InvalidContentError, match="half a surrogate"):
        backend.read("\ud800")
    with pytest.raises(UnknownIdError):
        backend.read("a\x00b")
    backend.close()
    assert set(contents(tmp_path)) == {name}


# ------------------------------------------------------------------------------------------ reading


@pytest.mark.clause("E-67")
def test_looking_at_a_database_that_nobody_has_open_leaves_no_file(stored: Path) -> None:
    """Nor does it change a byte."""
    before = contents(stored)
    assert set(before) == {"s.db"}
    backend = backend_in(stored)
    assert backend.read("s").records == RECORDS[:6]
    assert len(backend.headers()) == 1
    assert len(backend.survey()) == 1
    assert backend.problems() == ()
    assert contents(stored) == before
    backend.close()
    assert contents(stored) == before


@pytest.mark.clause("E-67", "E-04")
def test_what_a_dead_process_wrote_is_read_from_its_log(stored: Path, tmp_path: Path) -> None:
    """The log stays where it is; only its writer merges it."""
    backend = backend_in(stored)
    backend.acquire("s")
    backend.append("s", RECORDS[6:])
    # As a process that is killed leaves them: all files, and nobody who has them open.
    dead = tmp_path / "dead"
    dead.mkdir()
    for name in ("s.db", "s.db-wal"):
        (dead / name).write_bytes((stored / name).read_bytes())
    backend.close()
    before = contents(dead)
    other = backend_in(dead)
    assert other.read("s").records == RECORDS
    assert len(other.headers()) == 1
    other.close()
    after = contents(dead)
    assert {name: after[name] for name in before} == before


@pytest.mark.clause("E-67")
def test_a_writer_that_begins_while_somebody_reads_is_noticed(stored: Path) -> None:
    """What was read as unchanging is read again, and so is what was found wrong."""
    opened: list[str] = []

    def connect(place: str, **options: Any) -> sqlite3.Connection:  # noqa: ANN401  # passed on
        opened.append(place.partition("?")[2])
        if len(opened) == 1:
            writer.acquire("t")
            writer.begin(*recorded("t"))
        database: sqlite3.Connection = sqlite3.connect(place, **options)
        return database

    writer = backend_in(stored)
    reader = SqliteBackend(stored / "s.db", connect=connect)
    assert {each.header.id for each in reader.headers()} == {"s", "t"}
    assert opened == ["mode=ro&immutable=1", "mode=ro"]
    writer.close()


# ------------------------------------------------------------------------------------------- damage


@pytest.mark.clause("E-19", "E-77")
@pytest.mark.parametrize("at", range(6))
@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM record WHERE seq = {}",
        "UPDATE record SET seq = seq + 100 WHERE seq = {}",
        "UPDATE record SET line = '{{\"seq\":' WHERE seq = {}",
        "UPDATE record SET line = CAST(x'ff00' AS TEXT) WHERE seq = {}",
        "UPDATE record SET line = 5 WHERE seq = {}",
        "UPDATE record SET line = replace(line, '\"turn\"', '\"tern\"') WHERE seq = {}",
    ],
)
def test_an_edited_row_is_refused_with_its_place(stored: Path, statement: str, at: int) -> None:
    """Wherever it is, the last one included: no crash leaves half a transaction."""
    edit(stored, statement.format(at))
    before = contents(stored)
    backend = backend_in(stored)
    if "DELETE" in statement and at == 5:
        # Nobody can know of a row that was taken away behind the last one.
        assert backend.read("s").records == RECORDS[:5]
        return
    with pytest.raises(DamagedSessionError, match=rf"s\.db\) is damaged at row {at}: ") as it:
        backend.read("s")
    assert it.value.place == f"row {at}"
    assert contents(stored) == before


@pytest.mark.clause("E-21", "E-24", "E-78")
@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE session SET header = ''", "it is empty"),
        ("UPDATE session SET header = '{{'", "not JSON"),
        ("UPDATE session SET header = '[]'", "not the header"),
        ("UPDATE session SET header = 7", "not the header"),
        ("UPDATE session SET header = x'00'", "not JSON"),
        ("UPDATE session SET header = replace(header, '\"s\"', '\"t\"')", "that of session 't'"),
    ],
)
def test_an_edited_header_is_refused_and_not_listed(
    stored: Path, statement: str, said: str
) -> None:
    """It does not keep the others from being listed."""
    edit(stored, statement)
    backend = backend_in(stored)
    store(backend, *recorded("other"))
    with pytest.raises(DamagedSessionError, match=f"cannot be read: .*{said}"):
        backend.read("s")
    assert [each.header.id for each in backend.headers()] == ["other"]
    (problem,) = backend.problems()
    assert said in problem
    backend.close()


@pytest.mark.clause("E-19", "E-73")
def test_a_truncated_database_is_refused(tmp_path: Path) -> None:
    """With the place as far as it is known; the file stays as it is."""
    backend = backend_in(tmp_path)
    header, records = recorded(turns=400)
    store(backend, header, records)
    backend.close()
    whole = (tmp_path / "s.db").read_bytes()
    for pages in range(1, len(whole) // 4096):
        (tmp_path / "s.db").write_bytes(whole[: 4096 * pages])
        backend = SqliteBackend(tmp_path / "s.db")
        with pytest.raises(DamagedSessionError, match=r"s\.db: .*malformed; it is damaged") as it:
            backend.read("s")
        assert it.value.place == str(tmp_path / "s.db")
        assert contents(tmp_path) == {"s.db": whole[: 4096 * pages]}


@pytest.mark.clause("E-19", "E-77")
def test_a_page_that_cannot_be_read_is_said_by_its_row(tmp_path: Path) -> None:
    """As far as the rows before it can be read."""
    backend = backend_in(tmp_path)
    store(backend, *recorded(turns=400))
    backend.close()
    whole = (tmp_path / "s.db").read_bytes()
    places = set()
    for page in range(4, len(whole) // 4096):
        broken = bytearray(whole)
        broken[4096 * page : 4096 * page + 8] = b"\xff" * 8
        (tmp_path / "s.db").write_bytes(broken)
        with pytest.raises(DamagedSessionError, match=r"damaged at row .*: .*malformed") as it:
            SqliteBackend(tmp_path / "s.db").read("s")
        places.add(it.value.place)
    assert len(places) > 10


@pytest.mark.clause("E-19", "E-73")
def test_an_overwritten_page_is_found(tmp_path: Path) -> None:
    """By reading, by verifying, or, where nothing is stored, not at all."""
    backend = backend_in(tmp_path)
    header, records = recorded(turns=400)
    store(backend, header, records)
    backend.close()
    whole = (tmp_path / "s.db").read_bytes()
    for page in range(1, len(whole) // 4096):
        broken = bytearray(whole)
        broken[4096 * page : 4096 * page + 512] = b"\xa5" * 512
        (tmp_path / "s.db").write_bytes(broken)
        backend = SqliteBackend(tmp_path / "s.db")
        try:
            problems = backend.problems()
        except StorageError as error:
            problems = (str(error),)
        assert problems, page
