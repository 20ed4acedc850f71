"""Which backend keeps the sessions at a path."""

import stat
from os import PathLike
from pathlib import Path
from typing import Final, Protocol

from runtime.errors import CallerError, StorageError
from runtime.limits import DEFAULT_LIMITS, Limits
from runtime.ports import Clock

from .backend import Backend, StoredHeader
from .codec import Glance
from .database import is_database
from .disk import mode_of, storage_errors
from .jsonl import JsonLinesBackend
from .sqlite import SqliteBackend

__all__ = ["DiskBackend", "backend_at"]

_JSON_LINES: Final = ".jsonl"


class DiskBackend(Backend, Protocol):
    """A backend that a person can look into."""

    def survey(self) -> tuple[tuple[StoredHeader, Glance | None], ...]:
        """Return the headers, and how far each session has come; None if that cannot be seen."""
        ...

    def problems(self) -> tuple[str, ...]:
        """Name what is wrong with the place and belongs to no session."""
        ...


def backend_at(
    path: PathLike[str] | str, *, limits: Limits = DEFAULT_LIMITS, clock: Clock | None = None
) -> DiskBackend:
    """Return the backend for a path; what is there decides, and else the name.

    A directory, and a new path that ends in `.jsonl`, hold one file of JSON lines for each session;
    a file, and any other new path, is an SQLite database. Nothing is created yet.

    Raises:
        CallerError: the path is empty, or none.
        StorageError: the file is no database, or cannot be looked at.

    Clauses: E-66
    """
    if path == "" or "\0" in str(path):
        # A variable that is not set must not mean the working directory.
        raise CallerError(f"{str(path)!r} refused: it names no place; give the path of a store")
    place = Path(path).absolute()
    kind: type[JsonLinesBackend | SqliteBackend]
    with storage_errors("sessions cannot be kept", place):
        mode = mode_of(place)
        if mode is None:
            kind = JsonLinesBackend if place.suffix == _JSON_LINES else SqliteBackend
        elif stat.S_ISDIR(mode):
            kind = JsonLinesBackend
        else:
            _check_database(place, mode)
            kind = SqliteBackend
    return kind(Path(path), limits=limits, clock=clock)


def _check_database(path: Path, mode: int) -> None:
    # Whoever opens a pipe waits for the one at its other end.
    if not stat.S_ISREG(mode) or not is_database(path):
        advice = "choose another file"
        if path.suffix == _JSON_LINES:
            advice = "if it is a session, name the directory above that of its working directory"
        raise StorageError(f"{path} is no database; {advice}")
