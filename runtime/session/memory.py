"""Sessions kept in memory: a disk for tests, and for programs that keep no files.

`MemoryDisk` is the place, `MemoryBackend` one process that uses it. The place outlives runtimes and
survives the crash of a process, as a disk does.
"""

from collections.abc import Sequence

from attrs import define, field

from runtime.errors import DuplicateIdError, SessionBusyError, StorageError, UnknownIdError

from .backend import StoredHeader, StoredSession, check_contiguous
from .log import SessionHeader
from .records import Record

__all__ = ["MemoryBackend", "MemoryDisk"]


@define(eq=False)
class MemoryDisk:
    """What is stored, and who writes what."""

    headers: dict[str, SessionHeader] = field(factory=dict)
    records: dict[str, list[Record]] = field(factory=dict)
    torn: dict[str, str] = field(factory=dict)
    """What a torn tail was, by session; tests plant it."""
    writers: "dict[str, MemoryBackend]" = field(factory=dict)


@define(eq=False)
class MemoryBackend:
    """One process that keeps its sessions on a `MemoryDisk`.

    It may be given to one runtime after the other. What an `append` has not returned for is not
    there.

    Clauses: E-43
    """

    disk: MemoryDisk = field(factory=MemoryDisk)
    name: str = "memory"
    _is_dead: bool = field(init=False, default=False)

    def crash(self) -> "MemoryBackend":
        """Die as a process that is killed does, and return the next process on the same disk.

        Whoever still holds this one can do nothing with it any more.
        """
        self.close()
        self._is_dead = True
        return MemoryBackend(self.disk, self.name)

    def open(self) -> None:
        """See `Backend`."""
        self._check_alive()

    def close(self) -> None:
        """See `Backend`."""
        for session_id, writer in tuple(self.disk.writers.items()):
            if writer is self:
                del self.disk.writers[session_id]

    def acquire(self, session_id: str) -> None:
        """See `Backend`."""
        self._check_alive()
        if session_id in self.disk.writers:
            writer = self.disk.writers[session_id].name
            raise SessionBusyError(
                f"session {session_id!r} refused: a runtime on {writer} writes it; "
                "dispose its agent there first"
            )
        self.disk.writers[session_id] = self

    def release(self, session_id: str) -> None:
        """See `Backend`."""
        if self.disk.writers.get(session_id) is self:
            del self.disk.writers[session_id]

    def read(self, session_id: str) -> StoredSession:
        """See `Backend`."""
        records = self._records(session_id)
        header, torn = self.disk.headers[session_id], self.disk.torn.get(session_id)
        return StoredSession(header=header, records=tuple(records), torn=torn)

    def begin(self, header: SessionHeader, records: Sequence[Record]) -> None:
        """See `Backend`."""
        self._check_writer(header.id)
        if header.id in self.disk.headers:
            raise DuplicateIdError(
                f"session {header.id!r} refused: {self.name} keeps a session of this id"
            )
        check_contiguous(header.id, 0, records)
        self.disk.headers[header.id], self.disk.records[header.id] = header, list(records)

    def append(self, session_id: str, records: Sequence[Record]) -> None:
        """See `Backend`."""
        self._check_writer(session_id)
        stored = self._records(session_id)
        check_contiguous(session_id, len(stored), records)
        stored.extend(records)

    def cut(self, session_id: str) -> None:
        """See `Backend`."""
        self._check_writer(session_id)
        self._records(session_id)
        self.disk.torn.pop(session_id, None)

    def remove(self, session_id: str) -> None:
        """See `RemovingBackend`."""
        self._check_writer(session_id)
        self._records(session_id)
        for kept in (self.disk.headers, self.disk.records, self.disk.torn):
            kept.pop(session_id, None)

    def headers(self) -> tuple[StoredHeader, ...]:
        """See `Backend`."""
        self._check_alive()
        stored = self.disk.headers.values()
        oldest_first = sorted(stored, key=lambda header: (header.created_ms, header.id))
        return tuple(StoredHeader(header=header, place=self.name) for header in oldest_first)

    def ids(self) -> frozenset[str]:
        """See `Backend`."""
        self._check_alive()
        return frozenset(self.disk.headers)

    def _records(self, session_id: str) -> list[Record]:
        self._check_alive()
        records = self.disk.records.get(session_id)
        if records is None:
            raise UnknownIdError(
                f"session {session_id!r} refused: {self.name} keeps no session of this id"
            )
        return records

    def _check_writer(self, session_id: str) -> None:
        self._check_alive()
        assert self.disk.writers.get(session_id) is self, f"nobody took the lease of {session_id}"

    def _check_alive(self) -> None:
        if self._is_dead:
            raise StorageError(f"{self.name} refused: this process has crashed")
