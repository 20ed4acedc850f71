"""One writer for each session: locked files, and what is said about who has them.

That a lease ends with its process is shown with real processes, elsewhere.
"""

import errno
import os
from pathlib import Path

import pytest

from runtime.errors import InvalidContentError, SessionBusyError, StorageError
from runtime.session.disk import Disk
from runtime.session.lock import Leases

from .recorded import StillClock, contents, descriptors

LOCKED = "s.lock"


def leases(directory: Path, disk: Disk | None = None) -> Leases:
    """Return what one backend would hold its leases in."""
    return Leases(directory / "locks", clock=StillClock(), disk=disk or Disk())


@pytest.mark.clause("E-60")
def test_a_second_writer_is_refused_and_told_who_the_first_is(tmp_path: Path) -> None:
    """The process and since when; another session is free."""
    first, second = leases(tmp_path), leases(tmp_path)
    first.acquire("s")
    for each in (first, second):
        with pytest.raises(
            SessionBusyError,
            match=f"'s' refused: process {os.getpid()}, since 2023-11-14T22:13:20.000.00:00 writes",
        ):
            each.acquire("s")
    assert first.holds("s")
    assert not second.holds("s")
    second.acquire("t")


@pytest.mark.clause("E-62")
def test_a_lease_that_is_given_back_can_be_taken_and_leaves_nothing(tmp_path: Path) -> None:
    """The file goes, and the directory with the last file."""
    first, second = leases(tmp_path), leases(tmp_path)
    for session_id in ("s", "t"):
        first.acquire(session_id)
    first.release("s")
    first.release("s")
    second.release("t")
    second.acquire("s")
    assert set(contents(tmp_path)) == {"locks", "locks/s.lock", "locks/t.lock"}
    first.release_all()
    second.release_all()
    assert contents(tmp_path) == {}


@pytest.mark.clause("E-61")
@pytest.mark.parametrize("note", [b"", b"process 1, since yesterday", b"\xff\x00", b"x" * 5000])
def test_a_file_that_stayed_behind_is_no_obstacle(tmp_path: Path, note: bytes) -> None:
    """What stands in it is not believed, and gone when somebody signs."""
    (tmp_path / "locks").mkdir()
    (tmp_path / "locks" / LOCKED).write_bytes(note)
    first = leases(tmp_path)
    first.acquire("s")
    with pytest.raises(SessionBusyError, match=f"process {os.getpid()}, since 2023"):
        leases(tmp_path).acquire("s")


@pytest.mark.clause("E-60")
@pytest.mark.parametrize("note", [b"", b"\xff\x1b[31m"])
def test_a_holder_without_a_readable_note_is_another_process(tmp_path: Path, note: bytes) -> None:
    """It may not have signed yet; nothing strange reaches the message."""
    leases_of_first = leases(tmp_path)
    leases_of_first.acquire("s")
    (tmp_path / "locks" / LOCKED).write_bytes(note)
    with pytest.raises(SessionBusyError, match="refused: another process writes it"):
        leases(tmp_path).acquire("s")


class Removing(Disk):
    """A disk on which somebody removes the file between its opening and its locking."""

    def __init__(self, path: Path, times: int) -> None:
        self.path = path
        self.times = times

    def lock(self, descriptor: int) -> bool:
        """Lock a file that has just lost its name."""
        if self.times:
            self.times -= 1
            self.path.unlink()
        return super().lock(descriptor)


@pytest.mark.clause("E-62")
def test_a_lock_on_a_removed_file_is_no_lease(tmp_path: Path) -> None:
    """Whoever opened the file before its holder removed it begins anew."""
    path = tmp_path / "locks" / LOCKED
    first = leases(tmp_path, Removing(path, times=3))
    first.acquire("s")
    assert path.exists()
    with pytest.raises(SessionBusyError):
        leases(tmp_path).acquire("s")


def test_a_file_that_is_always_removed_ends_in_an_error(tmp_path: Path) -> None:
    """Every wait has an end."""
    path = tmp_path / "locks" / LOCKED
    first = leases(tmp_path, Removing(path, times=1000))
    with pytest.raises(StorageError, match=r"s\.lock comes and goes; try again"):
        first.acquire("s")
    assert not first.holds("s")


class Lockless(Disk):
    """A disk like that of some networks."""

    def lock(self, _: int) -> bool:
        """Refuse."""
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))


@pytest.mark.clause("E-68")
def test_a_file_system_without_locks_is_refused(tmp_path: Path) -> None:
    """With the file, the reason and what to do; nothing is held, no descriptor is left open."""
    before = descriptors()
    first = leases(tmp_path, Lockless())
    with pytest.raises(StorageError, match=r"s\.lock: .*; choose a place on a local disk"):
        first.acquire("s")
    assert not first.holds("s")
    assert descriptors() == before


@pytest.mark.clause("E-27", "E-60")
def test_only_the_owner_can_look_at_locks(tmp_path: Path) -> None:
    """They say which sessions there are."""
    first = leases(tmp_path)
    first.acquire("s")
    assert (tmp_path / "locks").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "locks" / LOCKED).stat().st_mode & 0o777 == 0o600


@pytest.mark.clause("E-26", "E-60")
def test_hostile_ids_are_locked_in_the_directory(tmp_path: Path) -> None:
    """Each in a file of its own; what no file can store is refused."""
    first = leases(tmp_path)
    ids = ("", ".", "..", "../x", "/etc/x", "A", "a", "x" * 10_000, "\x00")
    for session_id in ids:
        first.acquire(session_id)
    assert len(contents(tmp_path)) == len(ids) + 1
    assert len(list((tmp_path / "locks").iterdir())) == len(ids)
    with pytest.raises(InvalidContentError, match="half a surrogate"):
        first.acquire("\ud800")


def test_a_clock_of_another_world_does_not_matter(tmp_path: Path) -> None:
    """The time is for the message only."""
    first = Leases(tmp_path / "locks", clock=StillClock(-(10**15)), disk=Disk())
    first.acquire("s")
    with pytest.raises(
        SessionBusyError, match=f"process {os.getpid()}, since -1000000000000000 ms"
    ):
        leases(tmp_path).acquire("s")
