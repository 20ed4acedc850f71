"""JSON Lines: how a batch gets into a file, and what keeps it out."""

from functools import partial
from pathlib import Path

import pytest

from runtime.errors import DuplicateIdError, InvalidRecordError, StorageError
from runtime.session.disk import Disk
from runtime.session.jsonl import JsonLinesBackend

from .recorded import contents, recorded, store

FILE = "no-cwd/s.jsonl"
HEADER, RECORDS = recorded(turns=3)


def backend_in(root: Path, disk: Disk | None = None) -> JsonLinesBackend:
    """Return an open backend."""
    backend = JsonLinesBackend(root, disk=disk)
    backend.open()
    return backend


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """Give a directory with a session of six records, two turns."""
    store(backend_in(tmp_path), HEADER, RECORDS[:6])
    return tmp_path


# ------------------------------------------------------------------------------------------ writing


@pytest.mark.clause("E-09", "E-28")
def test_a_stored_session_is_not_begun_again_for_another_directory(stored: Path) -> None:
    """The id counts, wherever the session is kept."""
    before = (stored / FILE).read_bytes()
    backend = backend_in(stored)
    backend.acquire("s")
    for cwd in (None, "/else"):
        with pytest.raises(DuplicateIdError, match="'s' refused: it is stored already; resume it"):
            backend.begin(*recorded(cwd=cwd))
    assert (stored / FILE).read_bytes() == before


class Racing(Disk):
    """A disk on which somebody takes the name at the last moment."""

    def publish(self, source: Path, target: Path) -> None:
        """Find the name taken."""
        target.write_bytes(b"theirs")
        super().publish(source, target)


@pytest.mark.clause("E-28")
def test_a_name_that_is_taken_at_the_last_moment_stays_as_it_is(tmp_path: Path) -> None:
    """And the draft goes."""
    backend = backend_in(tmp_path, Racing())
    backend.acquire("s")
    with pytest.raises(DuplicateIdError, match="stored already"):
        backend.begin(HEADER, RECORDS)
    backend.close()
    assert contents(tmp_path) == {"no-cwd": None, FILE: b"theirs"}


@pytest.mark.clause("E-03")
def test_a_draft_that_a_dead_process_left_is_no_session(tmp_path: Path) -> None:
    """It is not listed, and the next beginning takes its place."""
    (tmp_path / "no-cwd").mkdir()
    (tmp_path / "no-cwd" / ".s.jsonl.new").write_bytes(b'{"type":"session"' * 1000)
    backend = backend_in(tmp_path)
    assert backend.headers() == ()
    assert backend.problems() == ()
    store(backend, HEADER, RECORDS)
    assert set(contents(tmp_path)) == {"no-cwd", FILE}
    assert backend.read("s").records == RECORDS


@pytest.mark.clause("E-05")
def test_a_batch_with_a_gap_writes_nothing(stored: Path) -> None:
    """Expected and actual seq are said."""
    backend = backend_in(stored)
    backend.acquire("s")
    before = (stored / FILE).read_bytes()
    with pytest.raises(InvalidRecordError, match="record 7 refused where 6 is next"):
        backend.append("s", RECORDS[7:])
    assert (stored / FILE).read_bytes() == before


@pytest.mark.clause("E-70")
def test_an_append_to_a_file_that_somebody_changed_is_refused(stored: Path) -> None:
    """Whether it has grown or shrunk, or is gone."""
    backend = backend_in(stored)
    backend.acquire("s")
    backend.append("s", RECORDS[6:7])
    whole = (stored / FILE).read_bytes()
    for text in (whole + b"x", whole[:-5]):
        (stored / FILE).write_bytes(text)
        with pytest.raises(StorageError, match=r"somebody else changed .*s\.jsonl"):
            backend.append("s", RECORDS[7:])
        assert (stored / FILE).read_bytes() == text
    (stored / FILE).unlink()
    with pytest.raises(StorageError, match="No such file"):
        backend.append("s", RECORDS[7:])
    assert not (stored / FILE).exists()


def test_writing_takes_the_lease(tmp_path: Path) -> None:
    """Whoever writes without it has a defect."""
    backend = backend_in(tmp_path)
    for act in (
        partial(backend.begin, HEADER, RECORDS),
        partial(backend.append, "s", RECORDS),
        partial(backend.cut, "s"),
    ):
        with pytest.raises(AssertionError, match="lease"):
            act()


class Watched(Disk):
    """A disk that writes down in which order it is called."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def write(self, descriptor: int, data: memoryview, offset: int) -> int:
        """Write."""
        self.calls.append("write")
        return super().write(descriptor, data, offset)

    def sync(self, descriptor: int) -> None:
        """Sync."""
        self.calls.append("sync")
        super().sync(descriptor)

    def publish(self, source: Path, target: Path) -> None:
        """Publish."""
        self.calls.append("publish")
        super().publish(source, target)

    def sync_directory(self, directory: Path) -> None:
        """Sync a directory."""
        self.calls.append(f"directory {directory.name}")


@pytest.mark.clause("E-04", "E-03", "E-80")
def test_what_is_acknowledged_was_synced_and_its_name_too(tmp_path: Path) -> None:
    """A batch is one write and one sync; a new name counts when its directory is synced."""
    disk = Watched()
    backend = backend_in(tmp_path / "root", disk)
    backend.acquire("s")
    disk.calls.clear()
    backend.begin(HEADER, RECORDS[:3])
    made = ["directory root", "write", "sync", "publish", "directory no-cwd"]
    assert disk.calls == made
    backend.append("s", RECORDS[3:6])
    backend.append("s", RECORDS[6:])
    assert disk.calls == [*made, "write", "sync", "write", "sync"]
    with (tmp_path / "root" / FILE).open("ab") as file:
        file.write(b"{")
    backend.release("s")
    disk.calls.clear()
    backend.acquire("s")
    assert disk.calls == ["directory root", "sync"]
    disk.calls.clear()
    backend.cut("s")
    assert disk.calls == ["sync"]
