"""The calls by which sessions reach a disk, in one object, and what is said when one fails.

Everything that can go wrong on a disk goes wrong in one of these calls, so a test that wants to see
a full disk or a failing `fsync` puts in a `Disk` that fails. The calls are those of the operating
system, with its errors; what they mean for a session is said by `storage_errors`.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

from runtime.errors import StorageError

# Windows has neither; there a store says so when it is used.
try:
    import fcntl
except ImportError:  # pragma: no cover - not on the systems that are tested
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "NO_LINK",
    "NO_WAITING",
    "PRIVATE_DIRECTORY",
    "PRIVATE_FILE",
    "Disk",
    "make_private_directory",
    "mode_of",
    "opened",
    "storage_errors",
]

PRIVATE_FILE: Final = 0o600
"""What a session says is its owner's business."""
PRIVATE_DIRECTORY: Final = 0o700

NO_WAITING: Final[int] = getattr(os, "O_NONBLOCK", 0)
"""A flag to open what may be a pipe: nobody waits for somebody at its other end."""
NO_LINK: Final[int] = getattr(os, "O_NOFOLLOW", 0)
"""A flag to open a file of our own: what a link leads to is somebody else's."""

_READ_BYTES: Final = 64 * 1024

# On macOS `fsync` leaves the data in the cache of the drive; this does not.
_FULL_SYNC: Final[int | None] = getattr(fcntl, "F_FULLFSYNC", None)


class Disk:
    """What is done to files, call by call."""

    __slots__ = ()

    def write(self, descriptor: int, data: memoryview, offset: int) -> int:
        """Write some of the data at an offset and return how many bytes that was."""
        return os.pwrite(descriptor, data, offset)

    def write_all(self, descriptor: int, data: bytes, offset: int) -> None:
        """Write everything at an offset, in as many writes as it takes.

        Raises:
            OSError: it did not get through; some of it may have been written.
        """
        unwritten = memoryview(data)
        while unwritten:
            written = self.write(descriptor, unwritten, offset)
            if not written:
                raise OSError(errno.EIO, "nothing was written")
            unwritten, offset = unwritten[written:], offset + written

    def sync(self, descriptor: int) -> None:
        """Wait until what was written would survive a loss of power."""
        if _FULL_SYNC is not None:
            # Not every file system of macOS knows it.
            with suppress(OSError):
                fcntl.fcntl(descriptor, _FULL_SYNC)
                return
        os.fsync(descriptor)

    def truncate(self, descriptor: int, length: int) -> None:
        """Cut a file off behind its first bytes."""
        os.ftruncate(descriptor, length)

    def publish(self, source: Path, target: Path) -> None:
        """Give a file its name, unless another file has it.

        Raises:
            FileExistsError: another file has it.
        """
        os.link(source, target)
        source.unlink()

    def lock(self, descriptor: int) -> bool:
        """Lock a file for whoever opened it, without waiting; False if somebody else has it.

        The lock belongs to this opening of the file and goes with it, at the latest when the
        process dies.
        """
        if fcntl is None:  # pragma: no cover - not on the systems that are tested
            raise OSError(errno.ENOSYS, "this system has no file locks that the runtime knows")
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def sync_directory(self, directory: Path) -> None:
        """Wait until the names in a directory would survive a loss of power."""
        self.sync_file(directory)

    def sync_file(self, path: Path) -> None:
        """Wait until what somebody else wrote into a file would survive a loss of power."""
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | NO_WAITING)
        try:
            self.sync(descriptor)
        finally:
            os.close(descriptor)


def opened(path: Path) -> BinaryIO:
    """Open a file for reading, also where it is a pipe at which nobody writes.

    Raises:
        OSError: as of `open`.
    """
    # Whoever calls closes it.
    return open(path, "rb", buffering=_READ_BYTES, opener=_without_waiting)


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | NO_WAITING)


def mode_of(path: Path) -> int | None:
    """Return what kind of file stands at a path, as `stat` calls it; None if there is none.

    Raises:
        OSError: it cannot be seen whether there is one, which is not the same.
    """
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def make_private_directory(directory: Path, disk: Disk) -> None:
    """Make a directory that only its owner can look into, and what is missing above it.

    One that exists keeps its mode.
    """
    missing = []
    while mode_of(directory) is None:
        missing.append(directory)
        directory = directory.parent
    for each in reversed(missing):
        # Somebody else may be making it, too.
        with suppress(FileExistsError), ExitStack() as undo:
            each.mkdir(PRIVATE_DIRECTORY)
            # Whoever finds it takes it for durable.
            undo.callback(each.rmdir)
            disk.sync_directory(each.parent)
            undo.pop_all()


@contextmanager
def storage_errors(doing: str, path: Path) -> Iterator[None]:
    """Turn an error of the operating system into one that says what could not be done, and where.

    Args:
        doing: what is being done, as `session 's' cannot be written`.
        path: the file or directory, if the error names none.

    Raises:
        StorageError: instead of any other `OSError`.
    """
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        place: Any = error.filename or path
        reason = error.strerror or str(error)
        raise StorageError(f"{doing}: {place}: {reason}{_advice(error.errno)}") from error


def _advice(number: int | None) -> str:
    advice = _ADVICE.get(number or 0)
    return "" if advice is None else f"; {advice}"


_ADVICE: Final = {
    errno.ENOSPC: "free some space and try again",
    errno.EDQUOT: "free some space and try again",
    errno.EFBIG: "raise the limit of the size of files (ulimit -f) and try again",
    errno.EACCES: "give its owner the permission, or choose another place",
    errno.EPERM: "give its owner the permission, or choose another place",
    errno.EROFS: "choose a place that can be written",
    errno.ENOTDIR: "choose a place whose parents are directories",
    errno.ENOLCK: "choose a place on a local disk: this file system has no locks",
    errno.ENOTSUP: "choose a place on a local disk: this file system cannot do it",
}
