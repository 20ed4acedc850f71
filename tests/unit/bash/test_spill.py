"""Files for output that is too much for the memory.

Their bounds are `Limits.spill_file_bytes_max` and `Limits.spill_bytes_max`.
"""

import errno
import gc
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from runtime.bash.spill import Spill, SpillFolder


@pytest.fixture(autouse=True)
def temporary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Let the folders be made where a test can see all of them."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def folders() -> Iterator[Callable[..., SpillFolder]]:
    """Make folders that are closed afterwards."""
    made: list[SpillFolder] = []

    def make(file_bytes_max: int = 100, bytes_max: int = 100) -> SpillFolder:
        made.append(SpillFolder(file_bytes_max, bytes_max))
        return made[-1]

    yield make
    for each in made:
        each.close()


def path_of(spill: Spill) -> Path:
    """Return where a file is."""
    assert spill.path is not None
    return Path(spill.path)


@pytest.mark.clause("H-20", "H-21")
def test_a_file_is_private(folders: Callable[..., SpillFolder], temporary: Path) -> None:
    """The folder has a random name and lets nobody else in; the file is its owner's, too."""
    before = os.umask(0)
    try:
        folder = folders()
        path = path_of(folder.open("a", (b"12", b"34")))
    finally:
        os.umask(before)
    assert path.read_bytes() == b"1234"
    assert path.parent.parent == temporary
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.clause("H-21", "H-22")
def test_a_planted_link_is_refused(folders: Callable[..., SpillFolder], temporary: Path) -> None:
    """Nothing is written to where it leads, and nothing is named."""
    folder = folders()
    home = path_of(folder.open("a", (b"1",))).parent
    victim = temporary / "victim"
    (home / "b").symlink_to(victim)
    spill = folder.open("b", (b"1",))
    spill.write(b"2")
    spill.close()
    assert spill.path is None
    assert not victim.exists()


@pytest.mark.clause("H-21", "H-22")
def test_a_planted_file_is_refused(folders: Callable[..., SpillFolder]) -> None:
    """Nothing is written into what somebody else made, and nothing is named."""
    folder = folders()
    planted = path_of(folder.open("a", (b"1",))).parent / "b"
    planted.write_bytes(b"theirs")
    spill = folder.open("b", (b"1",))
    assert spill.path is None
    assert planted.read_bytes() == b"theirs"


@pytest.mark.clause("H-23")
def test_a_file_that_grows_too_large_goes(folders: Callable[..., SpillFolder]) -> None:
    """It is deleted and named no more; the room is free again."""
    folder = folders(4, 100)
    spill = folder.open("a", (b"1234",))
    path = path_of(spill)
    spill.write(b"5")
    assert (spill.path, path.exists(), folder.bytes_used) == (None, False, 0)
    spill.write(b"6")
    assert spill.path is None


@pytest.mark.clause("H-23")
def test_all_files_together_have_a_bound(folders: Callable[..., SpillFolder]) -> None:
    """Those of finished commands make room, oldest first; the others are left alone."""
    folder = folders(10, 10)
    running, oldest, newest = (folder.open(name, (b"123",)) for name in "abc")
    oldest.close()
    newest.close()
    another = folder.open("d", (b"12",))
    assert oldest.path is None
    assert [each.path is not None for each in (running, newest, another)] == [True] * 3
    running.write(b"1234")
    assert newest.path is None
    another.write(b"12")
    assert another.path is None
    assert path_of(running).read_bytes() == b"1231234"
    assert folder.bytes_used == 7


@pytest.mark.clause("H-58")
def test_nothing_is_left_of_a_folder(folders: Callable[..., SpillFolder], temporary: Path) -> None:
    """Neither of open files nor of closed ones, and it can be used again."""
    folder = folders()
    folder.open("a", (b"1",)).close()
    folder.open("b", (b"1",))
    folder.close()
    folder.close()
    assert list(temporary.iterdir()) == []
    assert folder.bytes_used == 0
    path_of(folder.open("a", (b"1",)))
    folder.close()


@pytest.mark.clause("H-58")
def test_a_folder_that_nobody_closed_goes_with_its_owner(temporary: Path) -> None:
    """Nothing is left, and nobody is warned; the exit of the interpreter does the same."""
    folder = SpillFolder(100, 100)
    folder.open("a", (b"1",)).close()
    assert len(list(temporary.iterdir())) == 1
    del folder
    gc.collect()
    assert list(temporary.iterdir()) == []


class _Full:
    """A file on a disk that is full."""

    def __init__(self, *, closes: bool) -> None:
        self.closes = closes

    def write(self, _: bytes) -> None:
        """Fail."""
        raise OSError(errno.ENOSPC, "No space left on device")

    def close(self) -> None:
        """Fail, too, if it is that sort of disk."""
        if not self.closes:
            raise OSError(errno.EDQUOT, "Disk quota exceeded")


@pytest.mark.clause("H-22")
@pytest.mark.parametrize("closes", [True, False])
def test_a_full_disk_costs_the_file_and_nothing_else(
    folders: Callable[..., SpillFolder], *, closes: bool
) -> None:
    """It is named no more, what was on the disk goes, and later writes are swallowed."""
    folder = folders()
    spill = folder.open("a", (b"1",))
    path = path_of(spill)
    broken: Any = _Full(closes=closes)
    assert spill._file is not None  # noqa: SLF001  # the fault is planted inside
    spill._file.close()  # noqa: SLF001  # the fault is planted inside
    spill._file = broken  # noqa: SLF001  # the fault is planted inside
    spill.write(b"2")
    spill.write(b"3")
    assert (spill.path, path.exists(), folder.bytes_used) == (None, False, 0)


@pytest.mark.clause("H-22")
def test_a_disk_that_refuses_the_close_costs_the_file(folders: Callable[..., SpillFolder]) -> None:
    """What may not have reached the disk is not offered to anybody."""
    folder = folders()
    spill = folder.open("a", (b"1",))
    broken: Any = _Full(closes=False)
    assert spill._file is not None  # noqa: SLF001  # the fault is planted inside
    spill._file.close()  # noqa: SLF001  # the fault is planted inside
    spill._file = broken  # noqa: SLF001  # the fault is planted inside
    spill.close()
    assert (spill.path, folder.bytes_used) == (None, 0)


@pytest.mark.clause("H-22")
def test_no_place_for_files_is_no_failure(
    folders: Callable[..., SpillFolder], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """There is just no file."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    spill = folders().open("a", (b"1",))
    spill.write(b"2")
    spill.close()
    assert spill.path is None
