"""The directory that keeps sessions as files: which file is whose.

    ROOT/<working directory>/<session>.jsonl
    ROOT/no-cwd/<session>.jsonl                  a session without a working directory

The id in the name of a file and the id in its header are two facts, until they were compared.
"""

import os
import sys
from collections.abc import Container, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from runtime.errors import DamagedSessionError, LimitError, UnknownIdError

from .backend import StoredHeader
from .codec import Glance, UnreadableError, decode_header, glance
from .disk import mode_of, opened
from .log import SessionHeader
from .segments import segment_of, shown

__all__ = ["HEADER_BYTES_MAX", "Folder", "Lines", "Names", "glance_at", "header_of"]

HEADER_BYTES_MAX: Final = 1024 * 1024
_SUFFIX: Final = ".jsonl"
_NO_CWD: Final = "no-cwd"
"""No path: those that are encoded begin with `%2f`, or with the letter of a drive."""
_READ_BYTES: Final = 64 * 1024


class Folder:
    """Finds the files of sessions; the errors are those of the operating system."""

    def __init__(self, root: Path) -> None:
        """Name the directory; it need not exist."""
        self.root = root

    def place_of(self, header: SessionHeader) -> Path:
        """Return where a new session belongs.

        Clauses: E-26 E-27
        """
        bucket = _NO_CWD if header.cwd is None else segment_of(header.cwd)
        return self.root / bucket / (segment_of(header.id) + _SUFFIX)

    def find(self, session_id: str) -> Path:
        """Return the file of a session.

        Raises:
            UnknownIdError: there is none.
            DamagedSessionError: there are two.
        """
        paths = self.paths_of(session_id)
        if not paths:
            raise UnknownIdError(
                f"session {shown(session_id)} is not in {self.root}; "
                "`python -m runtime sessions list` says which are"
            )
        if len(paths) > 1:
            places = " and ".join(map(str, paths))
            raise DamagedSessionError(
                f"session {shown(session_id)} is kept twice, in {places}; move one of them away",
                place=str(paths[0]),
            )
        return paths[0]

    def paths_of(self, session_id: str) -> list[Path]:
        """Return every file that has the name of a session, whatever the working directory."""
        name = segment_of(session_id) + _SUFFIX
        return [bucket / name for bucket in self.buckets() if mode_of(bucket / name)]

    def buckets(self) -> list[Path]:
        """Return the directories of the working directories; none if there is no root."""
        try:
            with os.scandir(self.root) as entries:
                return sorted(
                    self.root / each.name
                    for each in entries
                    if each.is_dir() and not each.name.startswith(".")
                )
        except FileNotFoundError:
            return []

    def ids(self) -> "Names":
        """Return the names of all files, which ids can be looked up in."""
        names: set[str] = set()
        for bucket in self.buckets():
            with os.scandir(bucket) as entries:
                names.update(each.name for each in entries)
        return Names(frozenset(names))

    def headers(self) -> list[StoredHeader]:
        """Return the headers of what is a session, and pass over what is none."""
        return [
            StoredHeader(header=header, place=str(path))
            for path in self._files()
            if isinstance(header := _listed(path), SessionHeader)
        ]

    def problems(self) -> list[str]:
        """Name what is no session, and every session that is kept twice."""
        found, seen = [], dict[str, Path]()
        for path in self._files():
            header = _listed(path)
            if isinstance(header, str):
                found.append(f"{path}: {header}")
            elif header.id in seen:
                found.append(f"{path}: the same session is kept in {seen[header.id]}")
            else:
                seen[header.id] = path
        return found

    def _files(self) -> Iterator[Path]:
        for bucket in self.buckets():
            yield from sorted(each for each in bucket.iterdir() if each.suffix == _SUFFIX)


class Names(Container[str]):
    """The ids that some files have by their names."""

    def __init__(self, names: frozenset[str]) -> None:
        """Look ids up among these names."""
        self._names = names

    def __contains__(self, session_id: object) -> bool:
        # A name cannot be read backwards: that of a long id ends in a digest.
        return isinstance(session_id, str) and segment_of(session_id) + _SUFFIX in self._names


class Lines:
    """The lines of a file, each behind its offset, one at a time."""

    def __init__(
        self, file: BinaryIO, what: str, *, bytes_max: int, end: int | None = None
    ) -> None:
        """Begin at the beginning of a file.

        Args:
            file: open for reading.
            what: the session and the file, for a message.
            bytes_max: how long a line may be, its end included.
            end: the offset at which to end, if that is not the end of the file.
        """
        self._file = file
        self._what = what
        self._bytes_max = bytes_max
        self._end = sys.maxsize if end is None else end
        self.position = 0
        """Bytes read so far."""
        self.is_ended = True
        """The last line that was read had its end."""

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        while line := self.read(self._bytes_max):
            yield self.position - len(line), line

    def read(self, bytes_max: int) -> bytes:
        """Read one line, with its end if it has one; nothing at the end of the file.

        Raises:
            LimitError: it is too long to be read.

        Clauses: E-65
        """
        line = self._file.readline(min(bytes_max + 1, self._end - self.position))
        if len(line) > bytes_max:
            raise LimitError(
                f"{self._what} cannot be read at byte {self.position}: the line is longer than "
                f"{bytes_max} bytes; if it is no mistake, raise the limit record_bytes_max"
            )
        if line:
            self.position += len(line)
            self.is_ended = line.endswith(b"\n")
        return line


def header_of(lines: Lines, session_id: str, path: Path) -> SessionHeader:
    """Read the header of a session's file.

    Raises:
        DamagedSessionError: there is none, or that of another session.

    Clauses: E-21
    """
    header = _decoded(lines.read(HEADER_BYTES_MAX))
    if isinstance(header, SessionHeader):
        if header.id == session_id:
            return header
        header = _other_name(header)
    raise DamagedSessionError(
        f"session {shown(session_id)} ({path}) cannot be read: {header}; it was left as it is",
        place=f"{path} byte 0",
    )


def _decoded(line: bytes) -> SessionHeader | str:
    try:
        return decode_header(line)
    except UnreadableError as error:
        return str(error)


def _listed(path: Path) -> SessionHeader | str:
    """Read the header of a file; if it is none of a session, say why."""
    try:
        with opened(path) as file:
            header = _decoded(file.readline(HEADER_BYTES_MAX))
    except FileNotFoundError:
        return "it has just been removed"
    except IsADirectoryError:
        return "it is a directory"
    if isinstance(header, SessionHeader) and segment_of(header.id) + _SUFFIX != path.name:
        return _other_name(header)
    return header


def _other_name(header: SessionHeader) -> str:
    return f"it holds session {shown(header.id)}, which is not what its name says"


def glance_at(path: Path) -> Glance | None:
    """Say how far a session has come, from the last whole line of its file; None if it has none."""
    return next((found for line in reversed(_last_lines(path)) if (found := glance(line))), None)


def _last_lines(path: Path) -> list[bytes]:
    """Read the last two lines of a file, from behind; the very last may be half a line."""
    with path.open("rb") as file:
        start = file.seek(0, os.SEEK_END)
        text = b""
        while start and text.count(b"\n") < 3:
            size = min(start, max(_READ_BYTES, len(text)))
            start = file.seek(start - size)
            text = file.read(size) + text
    return [each for each in text.split(b"\n") if each][-2:]
