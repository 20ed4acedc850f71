"""Sessions as files of JSON lines: one file each, for people, for `grep`, for other programs.

    ROOT/<working directory>/<session>.jsonl     the header, then one record a line
    ROOT/.locks/<session>.lock                   its writer

**Beginning.** A session gets its name when its first records are on the disk, and only if nobody
else has the name; so there is no session with a header alone, and none is ever overwritten.

**Appending.** A batch is one buffer, written behind the last line that is known to be whole, and
synced. If that fails, the file is cut back to where it was; if even that fails, it is cut back
before the next write. What a crash leaves is found by whoever reads (`codec`).

**Lines** end with one byte, 10, and no other end of line counts.
"""

import os
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from attrs import evolve, frozen

from runtime.errors import DuplicateIdError, LimitError, StorageError
from runtime.limits import DEFAULT_LIMITS, Limits
from runtime.ports import Clock, SystemClock

from .backend import StoredHeader, StoredSession, check_contiguous
from .codec import Glance, Scan, encode_header, encode_record, line_bytes_max, scan
from .disk import PRIVATE_FILE, Disk, make_private_directory, opened, storage_errors
from .folder import HEADER_BYTES_MAX, Folder, Lines, glance_at, header_of
from .lock import Leases
from .log import SessionHeader
from .records import Record
from .segments import shown

__all__ = ["JsonLinesBackend"]


@frozen(kw_only=True)
class _Tail:
    """Where a session ends, as its writer knows it."""

    path: Path
    size: int
    """Bytes up to the end of the last whole line."""
    length: int
    """Records."""
    is_ended: bool = True
    """The last line has its end. A crash can take it and leave the line whole."""
    is_torn: bool = False
    """Behind `size` stands what a crash left."""
    is_unsure: bool = False
    """Behind `size` stands what an append of ours left that failed, and could not be undone."""


class JsonLinesBackend:
    """Keeps each session in a file of its own, below one directory."""

    def __init__(
        self,
        root: Path | str,
        *,
        limits: Limits = DEFAULT_LIMITS,
        clock: Clock | None = None,
        disk: Disk | None = None,
    ) -> None:
        """Name the directory; nothing is touched yet.

        Args:
            root: the directory; a relative one is resolved now, once.
            limits: bounds every record that is read.
            clock: says since when a session is being written.
            disk: the calls to use.

        Clauses: E-29
        """
        self._name = f"json lines {root}"
        self._root = Path(root).absolute()
        self._folder = Folder(self._root)
        self._limits = limits
        self._disk = disk or Disk()
        self._leases = Leases(self._root / ".locks", clock=clock or SystemClock(), disk=self._disk)
        self._tails: dict[str, _Tail] = {}

    @property
    def name(self) -> str:
        """What messages call it."""
        return self._name

    def open(self) -> None:
        """Look whether the directory can be used, if it is there.

        Raises:
            StorageError: it is no directory, or cannot be looked into.

        Clauses: E-02 E-25
        """
        with storage_errors("sessions cannot be kept", self._root):
            self._folder.buckets()

    def close(self) -> None:
        """Give back every lease."""
        self._tails.clear()
        self._leases.release_all()

    def acquire(self, session_id: str) -> None:
        """Become the one writer of a session, and make durable what stands there.

        The writer before may have died between a write and its sync.

        Raises:
            SessionBusyError: there is one; the message names it.
            StorageError: it cannot be locked, or not be made durable.

        Clauses: E-60 E-61 E-80
        """
        self._leases.acquire(session_id)
        with ExitStack() as undo:
            undo.callback(self._leases.release, session_id)
            with storage_errors(f"session {shown(session_id)} cannot be synced", self._root):
                for path in self._folder.paths_of(session_id):
                    self._disk.sync_file(path)
            undo.pop_all()

    def release(self, session_id: str) -> None:
        """Stop being the writer of a session.

        Clauses: E-62
        """
        self._tails.pop(session_id, None)
        self._leases.release(session_id)

    def read(self, session_id: str) -> StoredSession:
        """Return a stored session and change nothing.

        Raises:
            UnknownIdError: there is none with this id.
            DamagedSessionError: it is damaged other than by a torn tail.
            LimitError: a record is larger or deeper than the limits allow.
            StorageError: it cannot be read.

        Clauses: E-11 E-16 E-18 E-19 E-20 E-21
        """
        doing = f"session {shown(session_id)} cannot be read"
        with storage_errors(doing, self._root):
            path = self._folder.find(session_id)
        what = f"session {shown(session_id)} ({path})"
        known = self._tails.get(session_id)
        # What an append of ours could neither finish nor undo is not there.
        end = known.size if known is not None and known.is_unsure else None
        with storage_errors(doing, path), opened(path) as file:
            lines = Lines(file, what, bytes_max=line_bytes_max(self._limits), end=end)
            header = header_of(lines, session_id, path)
            found = scan(lines, what=what, place=_byte, limits=self._limits, can_tear=True)
        if known is None and self._leases.holds(session_id):
            self._tails[session_id] = _tail_of(path, lines, found)
        return StoredSession(header=header, records=found.records, torn=found.torn)

    def begin(self, header: SessionHeader, records: Sequence[Record]) -> None:
        """Store a new session, header and first records in one.

        Raises:
            DuplicateIdError: there is one with this id, for whatever working directory.
            InvalidRecordError: the records do not begin at 0, or have a gap.
            LimitError: the header is too long.
            StorageError: it cannot be written; nothing was.

        Clauses: E-03 E-05 E-09 E-27 E-28
        """
        assert self._leases.holds(header.id), "a session is written by the holder of its lease"
        check_contiguous(header.id, 0, records)
        text = _joined([encode_header(header)])
        if len(text) > HEADER_BYTES_MAX:
            raise LimitError(
                f"session {shown(header.id)} refused: its header has {len(text)} bytes, and at "
                f"most {HEADER_BYTES_MAX} are allowed; choose a shorter id"
            )
        text += _joined(map(encode_record, records))
        path = self._folder.place_of(header)
        with storage_errors(f"session {shown(header.id)} cannot be written", path):
            if self._folder.paths_of(header.id):
                raise _duplicate(header.id)
            make_private_directory(path.parent, self._disk)
            self._publish(header.id, text, path)
        self._tails[header.id] = _Tail(path=path, size=len(text), length=len(records))

    def append(self, session_id: str, records: Sequence[Record]) -> None:
        """Store further records; durable when this returns.

        Raises:
            UnknownIdError: there is no session with this id.
            InvalidRecordError: the records do not continue what is stored, or have a gap.
            StorageError: it cannot be written; nothing was.

        Clauses: E-04 E-05 E-06 E-15
        """
        if not records:
            return
        tail = self._tail(session_id)
        if tail.is_torn:
            raise StorageError(
                f"session {shown(session_id)} cannot be written: {tail.path} has a torn tail at "
                f"byte {tail.size}; cut it first"
            )
        check_contiguous(session_id, tail.length, records)
        text = (b"" if tail.is_ended else b"\n") + _joined(map(encode_record, records))
        with storage_errors(f"session {shown(session_id)} cannot be written", tail.path):
            self._extend(session_id, tail, text)
        self._tails[session_id] = _Tail(
            path=tail.path, size=tail.size + len(text), length=tail.length + len(records)
        )

    def cut(self, session_id: str) -> None:
        """Remove the torn tail that `read` reported; nothing if there is none.

        Raises:
            UnknownIdError: there is no session with this id.
            StorageError: it cannot be written.

        Clauses: E-18
        """
        tail = self._tail(session_id)
        if not tail.is_torn:
            return
        doing = f"session {shown(session_id)} cannot be cut"
        with storage_errors(doing, tail.path), _opened(tail.path, os.O_WRONLY) as descriptor:
            self._disk.truncate(descriptor, tail.size)
            self._disk.sync(descriptor)
        self._tails[session_id] = evolve(tail, is_torn=False)

    def remove(self, session_id: str) -> None:
        """Remove the file of a session.

        Raises:
            UnknownIdError: there is no session with this id.
            DamagedSessionError: there are two.
            StorageError: it cannot be removed, or not durably.

        Clauses: E-90
        """
        assert self._leases.holds(session_id), "a session is removed by the holder of its lease"
        with storage_errors(f"session {shown(session_id)} cannot be removed", self._root):
            path = self._folder.find(session_id)
            path.unlink()
            self._tails.pop(session_id, None)
            self._disk.sync_directory(path.parent)

    def headers(self) -> tuple[StoredHeader, ...]:
        """Return what is stored, from the oldest, without reading records.

        A file that is no session is passed over; `problems` names it.

        Raises:
            StorageError: the directory or a file cannot be read.

        Clauses: E-24 E-25
        """
        with storage_errors("sessions cannot be listed", self._root):
            found = self._folder.headers()
        return tuple(sorted(found, key=lambda each: (each.header.created_ms, each.header.id)))

    def ids(self) -> Container[str]:
        """Return the ids that the files have by their names, sessions or not.

        Raises:
            StorageError: the directory cannot be read.

        Clauses: E-104
        """
        with storage_errors("sessions cannot be listed", self._root):
            return self._folder.ids()

    def survey(self) -> tuple[tuple[StoredHeader, Glance | None], ...]:
        """Return the same, and how far each session has come, from its last lines alone.

        Raises:
            StorageError: the directory or a file cannot be read.

        Clauses: E-71
        """
        with storage_errors("sessions cannot be listed", self._root):
            return tuple((each, glance_at(Path(each.place))) for each in self.headers())

    def problems(self) -> tuple[str, ...]:
        """Name what is in the directory and is no session, each with the reason.

        Raises:
            StorageError: the directory or a file cannot be read.
        """
        with storage_errors("sessions cannot be verified", self._root):
            return tuple(self._folder.problems())

    def _tail(self, session_id: str) -> _Tail:
        assert self._leases.holds(session_id), "a session is written by the holder of its lease"
        if session_id not in self._tails:
            self.read(session_id)
        return self._tails[session_id]

    def _publish(self, session_id: str, text: bytes, path: Path) -> None:
        # The lease makes this name ours; what stands there is of a process that died.
        draft = path.with_name(f".{path.name}.new")
        with ExitStack() as undo:
            undo.callback(draft.unlink, missing_ok=True)
            with _opened(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as descriptor:
                self._disk.write_all(descriptor, text, 0)
                self._disk.sync(descriptor)
            try:
                self._disk.publish(draft, path)
            except FileExistsError:
                raise _duplicate(session_id) from None
            undo.callback(path.unlink)
            self._disk.sync_directory(path.parent)
            undo.pop_all()

    def _extend(self, session_id: str, tail: _Tail, text: bytes) -> None:
        with _opened(tail.path, os.O_WRONLY) as descriptor:
            if tail.is_unsure:
                self._disk.truncate(descriptor, tail.size)
            if os.fstat(descriptor).st_size != tail.size:
                raise StorageError(
                    f"session {shown(session_id)} cannot be written: somebody else changed "
                    f"{tail.path}; end this agent and resume the session to go on with it"
                )
            is_done = False
            try:
                self._disk.write_all(descriptor, text, tail.size)
                self._disk.sync(descriptor)
                is_done = True
            finally:
                if not is_done:
                    self._tails[session_id] = evolve(tail, is_unsure=True)
                    # If it cannot be undone now, it is before the next write.
                    with suppress(OSError):
                        self._disk.truncate(descriptor, tail.size)
                        self._disk.sync(descriptor)


def _byte(position: int) -> str:
    return f"byte {position}"


def _tail_of(path: Path, lines: Lines, found: Scan) -> _Tail:
    if found.torn_at is None:
        size, is_ended = lines.position, lines.is_ended
    else:
        size, is_ended = found.torn_at, True
    return _Tail(
        path=path,
        size=size,
        length=len(found.records),
        is_ended=is_ended,
        is_torn=found.torn_at is not None,
    )


def _joined(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _duplicate(session_id: str) -> DuplicateIdError:
    return DuplicateIdError(
        f"session {shown(session_id)} refused: it is stored already; "
        "resume it, or choose another session id"
    )


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    descriptor = os.open(path, flags | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
