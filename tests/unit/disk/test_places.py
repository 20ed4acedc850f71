"""Which backend a path means."""

import os
from pathlib import Path

import pytest

from runtime.errors import CallerError, StorageError
from runtime.session.jsonl import JsonLinesBackend
from runtime.session.places import backend_at
from runtime.session.sqlite import SqliteBackend

from .recorded import contents, recorded, store

HEADER, RECORDS = recorded(turns=3)


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """Give a directory with a database that nobody has open."""
    backend = SqliteBackend(tmp_path / "s.db")
    store(backend, HEADER, RECORDS[:6])
    backend.close()
    return tmp_path


@pytest.mark.clause("E-66")
def test_what_is_there_decides_and_then_the_name(stored: Path) -> None:
    """Looking for it makes nothing."""
    (stored / "folder.db").mkdir()
    (stored / "empty.jsonl").touch()
    (stored / "s.db").rename(stored / "database.jsonl")
    before = contents(stored)
    kinds = {
        "new": SqliteBackend,
        "new.db": SqliteBackend,
        "new/deep.sqlite": SqliteBackend,
        "database.jsonl": SqliteBackend,
        "empty.jsonl": SqliteBackend,
        "new.jsonl": JsonLinesBackend,
        "folder.db": JsonLinesBackend,
        ".": JsonLinesBackend,
    }
    for name, kind in kinds.items():
        assert type(backend_at(stored / name)) is kind, name
    assert contents(stored) == before


@pytest.mark.clause("E-66")
@pytest.mark.parametrize(
    ("name", "said"),
    [("file", "choose another file"), ("s.jsonl", "name the directory above that of its working")],
)
def test_a_foreign_file_is_refused_with_what_it_may_be(
    tmp_path: Path, name: str, said: str
) -> None:
    """The file of one session is no store; the directory it stands in is."""
    (tmp_path / name).write_text("hello\n" * 100, encoding="utf-8")
    with pytest.raises(StorageError, match=f"{name} is no database; .*{said}"):
        backend_at(tmp_path / name)


@pytest.mark.clause("E-66")
def test_a_pipe_is_refused_without_waiting_for_its_other_end(tmp_path: Path) -> None:
    """Opening it would hold up the whole loop, for ever."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StorageError, match="pipe is no database"):
        backend_at(tmp_path / "pipe")


@pytest.mark.clause("E-66")
@pytest.mark.parametrize("store", ["", "a\0b"])
def test_what_names_no_place_is_refused(store: str) -> None:
    """A variable that is not set does not mean the working directory."""
    with pytest.raises(CallerError, match="it names no place"):
        backend_at(store)


@pytest.mark.clause("E-66")
def test_looking_at_a_database_that_is_in_use_does_not_unlock_it(stored: Path) -> None:
    """A second opening by other means would take away the locks of this process."""
    backend = SqliteBackend(stored / "s.db")
    backend.acquire("s")
    backend.append("s", RECORDS[6:7])
    locked = Path("/proc/locks")
    if not locked.exists():
        pytest.skip("no /proc/locks on this system, so locks cannot be seen")
    inode = f":{(stored / 's.db').stat().st_ino} "
    before = [line for line in locked.read_text().splitlines() if inode in line]
    other = backend_at(stored / "s.db")
    other.open()
    assert other.headers()
    assert len(before) == len([x for x in locked.read_text().splitlines() if inode in x]) > 0
    backend.close()
