"""One writer for each session, across processes.

A lease is a locked file. The kernel holds the lock for the opening of the file, so it goes when the
process dies, however it dies, and no clock and no heartbeat can be wrong about it. What stands in
the file - who holds it, and since when - is for the message only; nobody decides by it.

The file is removed with the lease. That has one trap: somebody may have opened it before it was
removed and lock it after. So whoever locks a file looks whether it is still the one with the name,
and otherwise begins anew.
"""

import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from runtime.errors import SessionBusyError, StorageError
from runtime.ports import Clock

from .disk import NO_LINK, NO_WAITING, PRIVATE_FILE, Disk, make_private_directory, storage_errors
from .segments import segment_of, shown

__all__ = ["Leases"]

_SUFFIX: Final = ".lock"
_NOTE_BYTES_MAX: Final = 200
# Each further attempt means that another holder came and went in between.
_ATTEMPTS_MAX: Final = 100


class Leases:
    """The leases that one backend holds, by session."""

    def __init__(self, directory: Path, *, clock: Clock, disk: Disk) -> None:
        """Hold nothing yet.

        Args:
            directory: where the locked files are; made with the first lease, gone with the last.
            clock: says since when a lease is held, for the message.
            disk: the calls to use.
        """
        self._directory = directory
        self._clock = clock
        self._disk = disk
        self._descriptors: dict[str, int] = {}

    def holds(self, session_id: str) -> bool:
        """Say whether this is the writer of a session."""
        return session_id in self._descriptors

    def acquire(self, session_id: str) -> None:
        """Become the one writer of a session.

        Raises:
            SessionBusyError: there is one; the message names it.
            StorageError: the file cannot be made or locked.

        Clauses: E-60 E-61
        """
        path = self._path(session_id)
        with storage_errors(f"session {shown(session_id)} cannot be locked", path):
            for _ in range(_ATTEMPTS_MAX):
                descriptor = self._lock(session_id, path)
                if descriptor is not None:
                    self._descriptors[session_id] = descriptor
                    self._sign(descriptor)
                    return
        raise StorageError(
            f"session {shown(session_id)} cannot be locked: {path} comes and goes; try again"
        )

    def release(self, session_id: str) -> None:
        """Let go of a session; nothing if it is not held here.

        Clauses: E-62
        """
        descriptor = self._descriptors.pop(session_id, None)
        if descriptor is None:
            return
        # Removed while it is locked, so that nobody can have just taken it. If it stays, it is an
        # unlocked file, which means nothing.
        with suppress(OSError):
            self._path(session_id).unlink()
        os.close(descriptor)
        with suppress(OSError):
            self._directory.rmdir()

    def release_all(self) -> None:
        """Let go of every session."""
        for session_id in tuple(self._descriptors):
            self.release(session_id)

    def _path(self, session_id: str) -> Path:
        return self._directory / (segment_of(session_id) + _SUFFIX)

    def _lock(self, session_id: str, path: Path) -> int | None:
        """Lock the file of a session; None if it or its directory was removed meanwhile."""
        make_private_directory(self._directory, self._disk)
        try:
            descriptor = os.open(
                path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | NO_LINK | NO_WAITING, PRIVATE_FILE
            )
        except FileNotFoundError:
            return None
        kept = False
        try:
            if not self._disk.lock(descriptor):
                holder = _holder(descriptor)
                raise SessionBusyError(
                    f"session {shown(session_id)} refused: {holder} writes it; "
                    "dispose the agent there, or end that process"
                )
            kept = _is_named(descriptor, path)
        finally:
            if not kept:
                os.close(descriptor)
        return descriptor if kept else None

    def _sign(self, descriptor: int) -> None:
        note = f"process {os.getpid()}, since {_moment(self._clock.now_ms())}"
        # A lease without a note is a lease: the message will be poorer, on a full disk.
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, note.encode(), 0)


def _moment(milliseconds: int) -> str:
    try:
        moment = datetime.fromtimestamp(milliseconds / 1_000, UTC)
    except (ValueError, OverflowError, OSError):
        return f"{milliseconds} ms"
    return moment.isoformat(timespec="milliseconds")


def _holder(descriptor: int) -> str:
    note = os.pread(descriptor, _NOTE_BYTES_MAX, 0).decode(errors="replace")
    return note if note.isprintable() and note else "another process"


def _is_named(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
