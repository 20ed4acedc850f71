"""JSON Lines: what a failing disk leaves of a batch, and that the next try finds it undone."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from runtime.errors import StorageError
from runtime.session.disk import Disk
from runtime.session.jsonl import JsonLinesBackend

from .recorded import StillClock, contents, descriptors, recorded, store

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


class Failing(Disk):
    """A disk whose calls fail when they are told to."""

    def __init__(self) -> None:
        self.fails: set[str] = set()
        self.written_max: int | None = None
        """How many bytes get through before a write fails; None for all."""
        self.bytes_per_call = 1_000_000
        self.lengths: list[int] = []
        self.directories = 0
        """How many directories can be synced all the same."""

    def _look(self, call: str) -> None:
        if call in self.fails:
            raise OSError(errno.EIO, f"{call} failed")

    def write(self, descriptor: int, data: memoryview, offset: int) -> int:
        """Write as much as is allowed."""
        if self.written_max is not None:
            if not self.written_max:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            data = data[: self.written_max]
        written = super().write(descriptor, data[: self.bytes_per_call], offset)
        self.lengths.append(written)
        if self.written_max is not None:
            self.written_max -= written
        return written

    def sync(self, descriptor: int) -> None:
        """Sync, or fail."""
        self._look("sync")
        super().sync(descriptor)

    def truncate(self, descriptor: int, length: int) -> None:
        """Truncate, or fail."""
        self._look("truncate")
        super().truncate(descriptor, length)

    def sync_directory(self, directory: Path) -> None:
        """Sync a directory, or fail; the first ones may be let through."""
        if self.directories:
            self.directories -= 1
        else:
            self._look("sync_directory")
        super().sync_directory(directory)


def full(disk: Failing) -> None:
    """Let a few bytes through."""
    disk.written_max = 30


def unsynced(disk: Failing) -> None:
    """Let everything through, and then fail."""
    disk.fails.add("sync")


def stuck(disk: Failing) -> None:
    """Let a few bytes through, and let nobody take them back."""
    disk.written_max = 30
    disk.fails.add("truncate")


def unsynced_and_stuck(disk: Failing) -> None:
    """Let everything through, then fail, and let nobody take it back."""
    disk.fails |= {"sync", "truncate"}


def heal(disk: Failing) -> None:
    """Let everything through again."""
    disk.written_max = None
    disk.fails.clear()


FAULTS = [full, unsynced, stuck, unsynced_and_stuck]


@pytest.mark.clause("E-68")
@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_fires_on_a_plain_write(
    tmp_path: Path, fault: Callable[[Failing], None]
) -> None:
    """Otherwise the tests below would show nothing."""
    disk = Failing()
    fault(disk)
    descriptor = os.open(tmp_path / "plain", os.O_WRONLY | os.O_CREAT)
    try:
        with pytest.raises(OSError, match=r"No space left|sync failed"):
            _write(disk, descriptor)
        if "truncate" in disk.fails:
            with pytest.raises(OSError, match="truncate failed"):
                disk.truncate(descriptor, 0)
    finally:
        os.close(descriptor)
    assert (tmp_path / "plain").stat().st_size == (30 if disk.written_max == 0 else 100)


def _write(disk: Disk, descriptor: int) -> None:
    disk.write_all(descriptor, b"x" * 100, 0)
    disk.sync(descriptor)


@pytest.mark.clause("E-15", "E-68")
@pytest.mark.parametrize("fault", FAULTS)
def test_an_append_that_fails_stores_nothing_and_can_be_tried_again(
    tmp_path: Path, fault: Callable[[Failing], None]
) -> None:
    """What is left on the disk is not read by its writer, and gone with the next append."""
    disk = Failing()
    backend = backend_in(tmp_path, disk)
    backend.acquire("s")
    backend.begin(HEADER, RECORDS[:3])
    before = (tmp_path / FILE).read_bytes()
    for _ in range(2):
        fault(disk)
        with pytest.raises(StorageError, match=r"'s' cannot be written: .*s\.jsonl: .*") as it:
            backend.append("s", RECORDS[3:6])
        assert isinstance(it.value.__cause__, OSError)
        assert backend.read("s").records == RECORDS[:3]
        if "truncate" not in disk.fails:
            assert (tmp_path / FILE).read_bytes() == before
    heal(disk)
    backend.append("s", RECORDS[3:5])
    backend.append("s", RECORDS[5:])
    assert backend.read("s").records == RECORDS
    backend.close()
    assert backend_in(tmp_path).read("s").records == RECORDS


@pytest.mark.clause("E-15")
@pytest.mark.parametrize("fault", [stuck, unsynced_and_stuck])
def test_what_a_failed_append_left_is_a_torn_tail_to_others_or_whole(
    tmp_path: Path, fault: Callable[[Failing], None]
) -> None:
    """If its process dies before it can undo it, the next one finds what a crash leaves."""
    disk = Failing()
    backend = backend_in(tmp_path, disk)
    backend.acquire("s")
    backend.begin(HEADER, RECORDS[:3])
    fault(disk)
    with pytest.raises(StorageError):
        backend.append("s", RECORDS[3:6])
    found = backend_in(tmp_path).read("s")
    assert found.records == (RECORDS[:3] if fault is stuck else RECORDS[:6])
    assert (found.torn is not None) == (fault is stuck)


@pytest.mark.clause("E-03", "E-68")
@pytest.mark.parametrize("fault", FAULTS)
def test_a_beginning_that_fails_leaves_no_session(
    tmp_path: Path, fault: Callable[[Failing], None]
) -> None:
    """No header alone, no draft, no open file; and it can be tried again."""
    disk = Failing()
    backend = backend_in(tmp_path, disk)
    backend.acquire("s")
    backend.acquire("t")
    backend.begin(*recorded("t"))
    before = descriptors()
    fault(disk)
    with pytest.raises(StorageError, match="'s' cannot be written"):
        backend.begin(HEADER, RECORDS)
    assert descriptors() == before
    assert [each.header.id for each in backend.headers()] == ["t"]
    assert ".s.jsonl.new" not in {each.name for each in (tmp_path / "no-cwd").iterdir()}
    heal(disk)
    backend.begin(HEADER, RECORDS)
    assert backend.read("s").records == RECORDS


@pytest.mark.clause("E-03", "E-04", "E-68")
@pytest.mark.parametrize("directories", [0, 1])
def test_a_name_that_cannot_be_synced_is_taken_back(tmp_path: Path, directories: int) -> None:
    """A power failure could take it away, and whoever finds it would believe in it."""
    disk = Failing()
    backend = backend_in(tmp_path, disk)
    backend.acquire("s")
    before = contents(tmp_path)
    disk.fails.add("sync_directory")
    disk.directories = directories
    with pytest.raises(StorageError, match=r"'s' cannot be written: .*sync_directory failed"):
        backend.begin(HEADER, RECORDS)
    # With the first one the directory of the session has been made durable.
    assert contents(tmp_path) == {**before, **({"no-cwd": None} if directories else {})}
    heal(disk)
    backend.begin(HEADER, RECORDS)
    assert backend.read("s").records == RECORDS


@pytest.mark.clause("E-68")
def test_a_short_write_is_continued(tmp_path: Path) -> None:
    """A write may take less than it was given, and says so."""
    disk = Failing()
    disk.bytes_per_call = 7
    backend = backend_in(tmp_path, disk)
    backend.acquire("s")
    backend.begin(HEADER, RECORDS[:3])
    backend.append("s", RECORDS[3:])
    assert max(disk.lengths) == 7
    assert backend.read("s").records == RECORDS


@pytest.mark.clause("E-68")
def test_a_write_that_takes_nothing_is_an_error(tmp_path: Path) -> None:
    """It would be tried for ever."""
    disk = Failing()
    disk.bytes_per_call = 0
    backend = backend_in(tmp_path, disk)
    backend.acquire("s")
    with pytest.raises(StorageError, match="nothing was written"):
        backend.begin(HEADER, RECORDS)


def test_a_lease_and_a_clock_are_handed_on(tmp_path: Path) -> None:
    """The backend's clock is the one in the message."""
    clock = StillClock(0)
    backend = JsonLinesBackend(tmp_path, clock=clock)
    backend.acquire("s")
    assert b"1970-01-01" in (tmp_path / ".locks" / "s.lock").read_bytes()


@pytest.mark.clause("E-80")
def test_a_session_that_cannot_be_made_durable_is_not_taken(stored: Path) -> None:
    """What its last writer left in memory must not be believed; the lease is given back."""
    (stored / ".locks").mkdir()
    disk = Failing()
    backend = backend_in(stored, disk)
    disk.fails.add("sync")
    with pytest.raises(StorageError, match="'s' cannot be synced: "):
        backend.acquire("s")
    heal(disk)
    backend.acquire("s")
