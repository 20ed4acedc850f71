"""Several processes on one store: one writer for each session, and nobody in each other's way."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from runtime.errors import SessionBusyError
from runtime.session.places import backend_at

from .storing import Worker, header_of, records_of

pytestmark = pytest.mark.real

STORES = ["s.db", "s.jsonl"]


@pytest.fixture(params=STORES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Give the path of a store that is not there yet."""
    path: Path = tmp_path / request.param
    return path


@pytest.mark.clause("E-60", "E-61", "E-04")
def test_a_killed_writer_gives_its_lease_and_leaves_what_it_acknowledged(place: Path) -> None:
    """While it lives it is named, also while it stands still; everybody may read meanwhile."""
    backend = backend_at(place)
    with Worker("hold", place, "s", 5) as writer:
        assert writer.hear() == "stored 15"
        for _ in range(2):
            with pytest.raises(
                SessionBusyError, match=f"'s' refused: process {writer.process.pid}"
            ):
                backend.acquire("s")
            assert backend.read("s").records == records_of("s", 5)
            writer.stop()
        writer.kill()
    backend.acquire("s")
    stored = backend.read("s")
    assert (stored.records, stored.torn) == (records_of("s", 5), None)
    backend.append("s", records_of("s", 6)[15:])
    assert backend.read("s").records == records_of("s", 6)
    backend.close()


@pytest.mark.clause("E-60")
def test_a_writer_that_waited_is_still_the_writer(place: Path) -> None:
    """Being refused took nothing from it."""
    backend = backend_at(place)
    with Worker("hold", place, "s", 2) as writer:
        writer.hear()
        with pytest.raises(SessionBusyError):
            backend.acquire("s")
        writer.go()
        assert writer.hear() == "stored 9"
        writer.end()
    backend.acquire("s")
    backend.close()


@pytest.mark.clause("E-62")
def test_processes_that_take_turns_without_pause_never_write_together(place: Path) -> None:
    """Each adds a turn behind what it reads; two at once would make a gap or lose one."""
    backend = backend_at(place)
    backend.acquire("s")
    backend.begin(header_of("s"), records_of("s", 1))
    backend.close()
    with ExitStack() as stack:
        workers = [stack.enter_context(Worker("hammer", place, "s", 15)) for _ in range(3)]
        for each in workers:
            assert each.hear() == "ready"
        for each in workers:
            each.go()
        for each in workers:
            assert each.end() == ["done"]
    assert backend.read("s").records == records_of("s", 46)
    # The last lease took its file along.
    assert not list(place.parent.rglob("*.lock"))


@pytest.mark.clause("E-28", "E-42")
def test_processes_that_make_a_store_at_once_share_it(place: Path) -> None:
    """Each with a session of its own; nothing of any is lost."""
    with ExitStack() as stack:
        names = ["a", "b", "c"]
        workers = [stack.enter_context(Worker("fill", place, name, 10)) for name in names]
        for each in workers:
            assert each.hear() == "ready"
        for each in workers:
            each.go()
        for each in workers:
            assert each.end() == ["done"]
    backend = backend_at(place)
    assert [each.header.id for each in backend.headers()] == names
    for name in names:
        assert backend.read(name).records == records_of(name, 10)
    assert backend.problems() == ()


@pytest.mark.clause("E-28", "E-60")
def test_of_processes_that_begin_one_session_at_once_one_wins(place: Path) -> None:
    """The others are told that it is being written."""
    with ExitStack() as stack:
        workers = [stack.enter_context(Worker("race", place, "s")) for _ in range(3)]
        for each in workers:
            assert each.hear() == "ready"
        for each in workers:
            each.go()
        said = sorted(each.hear() for each in workers)
        assert said == ["refused SessionBusyError", "refused SessionBusyError", "won"]
        for each in workers:
            each.go()
            each.end()
    assert backend_at(place).read("s").records == records_of("s", 1)
