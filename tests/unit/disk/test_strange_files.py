"""Files that somebody took away, linked or made a pipe of: refused by name, and nobody waits."""

import os
from pathlib import Path

import pytest

from runtime.errors import DamagedSessionError, StorageError
from runtime.session.journal import Journal
from runtime.session.jsonl import JsonLinesBackend
from runtime.session.places import backend_at
from runtime.session.sqlite import SqliteBackend

from .recorded import recorded

STORES = ["s.db", "s.jsonl"]
HEADER, RECORDS = recorded(turns=3)


@pytest.mark.clause("E-105", "E-70")
@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_database_that_is_gone_is_not_read(tmp_path: Path, *, is_replaced: bool) -> None:
    """SQLite itself would read the file without a name, and a resume would go on in it."""
    backend = SqliteBackend(tmp_path / "s.db")
    backend.acquire("s")
    backend.begin(HEADER, RECORDS)
    (tmp_path / "s.db").rename(tmp_path / "moved.db")
    if is_replaced:
        (tmp_path / "s.db").touch()
    for ask in (lambda: backend.read("s"), backend.headers, backend.ids):
        with pytest.raises(StorageError, match="removed or replaced while it was open"):
            ask()
    (tmp_path / "moved.db").replace(tmp_path / "s.db")
    assert backend.read("s").records == RECORDS
    backend.close()


@pytest.mark.clause("E-106", "E-60")
@pytest.mark.parametrize("name", STORES)
def test_a_lock_file_that_is_a_link_is_refused(tmp_path: Path, name: str) -> None:
    """What it leads to would be overwritten with the name of the holder."""
    locks = tmp_path / ("s.db.locks" if name == "s.db" else "s.jsonl/.locks")
    locks.mkdir(parents=True)
    letter = tmp_path / "letter"
    letter.write_text("dear reader")
    (locks / "s.lock").symlink_to(letter)
    with pytest.raises(StorageError, match=r"s\.lock: .*(link|symbolic)"):
        backend_at(tmp_path / name).acquire("s")
    assert letter.read_text() == "dear reader"


@pytest.mark.clause("E-107", "E-73")
def test_nobody_waits_for_a_pipe_among_the_sessions(tmp_path: Path) -> None:
    """There is nobody at its other end; the sessions beside it are listed and written."""
    backend = JsonLinesBackend(tmp_path)
    backend.acquire("s")
    backend.begin(HEADER, RECORDS[:6])
    (path,) = tmp_path.rglob("s.jsonl")
    os.mkfifo(path.with_name("pipe.jsonl"))
    assert [each.header.id for each in backend.headers()] == ["s"]
    assert [each.header.id for each, _ in backend.survey()] == ["s"]
    assert ["pipe.jsonl" in each for each in backend.problems()] == [True]
    with pytest.raises(DamagedSessionError, match="pipe"):
        backend.read("pipe")
    with pytest.raises(StorageError, match="'pipe' cannot be synced"):
        backend.acquire("pipe")
    backend.append("s", RECORDS[6:])
    assert backend.read("s").records == RECORDS
    backend.close()


@pytest.mark.clause("E-108", "E-13")
def test_a_session_whose_file_was_removed_is_stored_again(tmp_path: Path) -> None:
    """The whole of it, by the write behind the one that failed."""
    journal = Journal(JsonLinesBackend(tmp_path), "s")
    journal.begin(HEADER, RECORDS[:6])
    (path,) = tmp_path.rglob("s.jsonl")
    path.unlink()
    with pytest.raises(StorageError, match="No such file"):
        journal.write(HEADER, RECORDS[6:7], 6)
    assert journal.catch_up(HEADER, RECORDS) == len(RECORDS)
    assert JsonLinesBackend(tmp_path).read("s").records == RECORDS
    journal.release()
