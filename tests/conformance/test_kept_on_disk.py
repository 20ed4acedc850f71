"""The random programs over kept sessions once more, over the real SQLite and JSON Lines.

The stage runs the real code: what blocks is done when its gate opens, in one piece, and a process
that is killed leaves the files as they are between two such pieces.
"""

import shutil
from collections.abc import Callable, Container, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from attrs import define
from hypothesis import HealthCheck, Phase, given, settings

from runtime import (
    JsonLinesBackend,
    Record,
    SessionHeader,
    SqliteBackend,
    StorageError,
    StoredHeader,
    StoredSession,
)
from runtime.session.places import DiskBackend

from .kept_acts import PROGRAMS, Act
from .kept_suite import Program

Make = Callable[[Path], DiskBackend]


@define(eq=False)
class _View:
    """What stands on a disk, looked at by somebody who has nothing to do with it."""

    root: Path
    make: Make

    @property
    def headers(self) -> dict[str, SessionHeader]:
        """The headers by id."""
        return {each.header.id: each.header for each in self.make(self.root).headers()}

    @property
    def records(self) -> dict[str, list[Record]]:
        """The records by id."""
        backend = self.make(self.root)
        return {name: list(backend.read(name).records) for name in self.headers}

    @property
    def writers(self) -> dict[str, Path]:
        """The locked files."""
        return {path.stem: path for path in self.root.rglob("*.lock")}


class OnDisk:
    """One process on a disk, with the face of `MemoryBackend`."""

    def __init__(self, root: Path, make: Make) -> None:
        self.disk = _View(root, make)
        self._inner = make(root)
        self._is_dead = False

    def _alive(self) -> DiskBackend:
        if self._is_dead:
            raise StorageError("this process was killed")
        return self._inner

    @property
    def name(self) -> str:
        """See `Backend`."""
        return self._inner.name

    def open(self) -> None:
        """See `Backend`."""
        self._alive().open()

    def acquire(self, session_id: str) -> None:
        """See `Backend`."""
        self._alive().acquire(session_id)

    def release(self, session_id: str) -> None:
        """See `Backend`."""
        self._alive().release(session_id)

    def read(self, session_id: str) -> StoredSession:
        """See `Backend`."""
        return self._alive().read(session_id)

    def begin(self, header: SessionHeader, records: Sequence[Record]) -> None:
        """See `Backend`."""
        self._alive().begin(header, records)

    def append(self, session_id: str, records: Sequence[Record]) -> None:
        """See `Backend`."""
        self._alive().append(session_id, records)

    def cut(self, session_id: str) -> None:
        """See `Backend`."""
        self._alive().cut(session_id)

    def headers(self) -> tuple[StoredHeader, ...]:
        """See `Backend`."""
        return self._alive().headers()

    def ids(self) -> Container[str]:
        """See `Backend`."""
        return self._alive().ids()

    def close(self) -> None:
        """See `Backend`."""
        self._inner.close()

    def crash(self) -> "OnDisk":
        """Die, and return the next process, on a copy of the files as they are now."""
        root = self.disk.root.with_name(f"{self.disk.root.name}+")
        shutil.copytree(self.disk.root, root)
        for path in root.rglob("*.lock"):
            # A file that nobody holds is no lease; here, it would be counted as one.
            path.unlink()
        self._inner.close()
        self._is_dead = True
        return OnDisk(root, self.disk.make)


MAKES: dict[str, Make] = {
    "sqlite": lambda root: SqliteBackend(root / "s.db"),
    "json lines": lambda root: JsonLinesBackend(root / "s.jsonl"),
}


def run_on_disk(make: Make, acts: list[Act]) -> None:
    """Run a program over one kind of store."""
    with TemporaryDirectory() as directory:
        root = Path(directory) / "0"
        root.mkdir()
        program = Program()
        stand_in: Any = OnDisk(root, make)
        program.backend = stand_in
        try:
            program.run(acts)
        finally:
            program.backend.close()


@pytest.mark.clause("E-13", "E-43", "E-46", "E-61", "E-79")
@pytest.mark.parametrize("kind", MAKES)
@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=40)
@given(acts=PROGRAMS)
def test_whatever_happens_what_is_on_the_disk_goes_on(kind: str, acts: list[Act]) -> None:
    """It only grows, nothing is missing at rest, and everything can be resumed."""
    run_on_disk(MAKES[kind], acts)


class _LosesTheLast(SqliteBackend):
    """A store that drops the last record of long batches."""

    def append(self, session_id: str, records: Sequence[Record]) -> None:
        """Append less than was given."""
        super().append(session_id, records[:-1] if len(records) > 2 else records)


@pytest.mark.clause("E-43")
def test_a_store_on_a_disk_that_loses_records_is_seen() -> None:
    """The programs do write, and somebody does look."""

    @settings(
        max_examples=100, database=None, derandomize=True, phases=[Phase.generate], deadline=None
    )
    @given(acts=PROGRAMS)
    def run(acts: list[Act]) -> None:
        run_on_disk(lambda root: _LosesTheLast(root / "s.db"), acts)

    with pytest.raises((AssertionError, ExceptionGroup)):
        run()
