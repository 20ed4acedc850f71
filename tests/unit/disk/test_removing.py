"""Sessions that are removed from a store, and everything that stays."""

from collections.abc import Callable
from pathlib import Path

import pytest

from runtime.errors import CallerError, SessionBusyError, StorageError, UnknownIdError
from runtime.session.backend import RemovingBackend
from runtime.session.disk import Disk
from runtime.session.journal import remove_stored
from runtime.session.jsonl import JsonLinesBackend
from runtime.session.memory import MemoryBackend, MemoryDisk
from runtime.session.places import DiskBackend
from runtime.session.sqlite import SqliteBackend

from .recorded import contents, recorded, store

Reopen = Callable[[], RemovingBackend]


@pytest.fixture(params=["sqlite", "jsonl", "memory"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Reopen:
    """Makes one process after the other on one store."""
    disk = MemoryDisk()
    kinds: dict[str, Reopen] = {
        "sqlite": lambda: SqliteBackend(tmp_path / "s.db"),
        "jsonl": lambda: JsonLinesBackend(tmp_path / "s"),
        "memory": lambda: MemoryBackend(disk),
    }
    return kinds[request.param]


@pytest.mark.clause("E-90")
def test_a_removed_session_is_gone_and_no_other(reopen: Reopen) -> None:
    """It cannot be read or listed, also by the next process; its neighbour is as it was."""
    first, gone, stays = reopen(), recorded("gone", cwd="/x"), recorded("stays", cwd="/x")
    store(first, *gone)
    store(first, *stays)
    remove_stored(first, "gone")
    first.close()
    second = reopen()
    assert [each.header.id for each in second.headers()] == ["stays"]
    assert second.read("stays").records == stays[1]
    with pytest.raises(UnknownIdError):
        second.read("gone")
    second.close()


@pytest.mark.clause("E-90")
def test_an_id_whose_session_was_removed_is_free(reopen: Reopen) -> None:
    """What is stored under it next has none of the old records."""
    backend = reopen()
    store(backend, *recorded("s", turns=3))
    remove_stored(backend, "s")
    header, records = recorded("s", turns=1)
    store(backend, header, records)
    assert backend.read("s").records == records
    backend.close()


@pytest.mark.clause("E-90")
def test_what_is_not_there_is_removed_already(reopen: Reopen) -> None:
    """Nothing is raised, and the lease is free again."""
    backend = reopen()
    store(backend, *recorded("other"))
    remove_stored(backend, "s")
    remove_stored(backend, "s")
    store(backend, *recorded("s"))
    backend.close()


@pytest.mark.clause("E-90")
def test_a_session_that_somebody_writes_is_not_removed(reopen: Reopen) -> None:
    """Whoever holds the lease keeps the session, in this process or another."""
    writer, other = reopen(), reopen()
    header, records = recorded("s")
    writer.acquire("s")
    writer.begin(header, records)
    for backend in (writer, other):
        with pytest.raises(SessionBusyError):
            remove_stored(backend, "s")
    assert writer.read("s").records == records
    writer.release("s")
    remove_stored(other, "s")
    assert other.headers() == ()
    writer.close()
    other.close()


class _CannotSync(Disk):
    def sync_directory(self, directory: Path) -> None:
        """Fail where the name of a session went."""
        if directory.name == "no-cwd":
            raise OSError(5, "Input/output error")
        super().sync_directory(directory)


@pytest.mark.clause("E-90")
def test_a_removal_that_may_come_undone_says_so(tmp_path: Path) -> None:
    """A name whose absence cannot be made durable is an error, not a success."""
    store(JsonLinesBackend(tmp_path), *recorded("s"))
    backend = JsonLinesBackend(tmp_path, disk=_CannotSync())
    with pytest.raises(StorageError, match="cannot be removed"):
        remove_stored(backend, "s")
    backend.close()


@pytest.mark.clause("E-90")
@pytest.mark.parametrize("kind", [SqliteBackend, JsonLinesBackend])
def test_nothing_of_a_removed_session_is_left(
    tmp_path: Path, kind: Callable[[Path], DiskBackend]
) -> None:
    """No file, no lock and no row without a session."""
    backend = kind(tmp_path / "s")
    store(backend, *recorded("s"))
    assert isinstance(backend, RemovingBackend)
    remove_stored(backend, "s")
    assert backend.problems() == ()
    backend.close()
    left = [name for name, text in contents(tmp_path).items() if text is not None]
    assert left == (["s"] if kind is SqliteBackend else [])


def test_refusals_of_a_removal_are_the_callers_business() -> None:
    """A client is told what to do, instead of that something broke."""
    assert issubclass(SessionBusyError, CallerError)
