"""The contract of stores, kept by both places on a disk."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from runtime.session.backend import Backend
from runtime.session.jsonl import JsonLinesBackend
from runtime.session.sqlite import SqliteBackend

from .session_suite import CHECKS, Place


class _DiskPlace:
    """A directory, and processes that use it.

    A process that is killed leaves the files as they are at that moment. Here that is a copy of
    them, on which the others go on; what the dead one still does happens to the files that nobody
    looks at any more.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lives = 0
        self.root.mkdir()

    @property
    def root(self) -> Path:
        """Where the files are."""
        return self._directory / f"life {self._lives}"

    def crash(self, backend: Backend) -> None:
        """Kill a process."""
        before = self.root
        self._lives += 1
        shutil.copytree(before, self.root)
        backend.close()


class JsonLinesPlace(_DiskPlace):
    """A directory of JSON Lines."""

    def process(self) -> Backend:
        """Return the backend of one more process."""
        return JsonLinesBackend(self.root)

    def tear(self, session_id: str) -> bool:
        """Leave half a line behind a session."""
        (path,) = self.root.rglob(f"{session_id}.jsonl")
        with path.open("ab") as file:
            file.write(b'{"seq":')
        return True


class SqlitePlace(_DiskPlace):
    """A database."""

    def process(self) -> Backend:
        """Return the backend of one more process."""
        return SqliteBackend(self.root / "s.db")

    def tear(self, _: str) -> bool:
        """Do nothing: a transaction leaves no half of itself."""
        return False


@pytest.mark.clause("E-02", "E-03", "E-04", "E-05", "E-06", "E-07", "E-09", "E-11", "E-44", "E-45")
@pytest.mark.clause("E-43", "E-16", "E-18", "E-24", "E-25", "E-26", "E-28", "E-42", "E-60", "E-61")
@pytest.mark.clause("E-104")
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("make", [SqlitePlace, JsonLinesPlace])
def test_a_place_on_a_disk_keeps_the_contract(
    make: Callable[[Path], Place], check: Callable[[Place], None], tmp_path: Path
) -> None:
    """Every check, on each kind of place."""
    check(make(tmp_path))
