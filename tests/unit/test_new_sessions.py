"""A new session that is kept: its seed, and an id under which a session is stored already."""

from collections.abc import Callable
from typing import Final

import pytest

import runtime
from runtime import DuplicateIdError, MemoryBackend, Record, SessionHeader
from tests.unit.stored import StoredScene, causes, errors_of, keeper, nothing_is_left, store_of


@pytest.mark.clause("E-34", "D-31")
def test_the_seed_of_a_fork_is_written_once_when_it_is_made() -> None:
    """Before anybody asks; the header keeps where it ends and where it came from."""
    with StoredScene() as scene:
        scene.ask("A")
        scene.settle()
        seed = scene.records()
        scene.adopt(scene.rt.agents.create(agent_id="fork", seed=seed, parent="a"))
        scene.quiet()
        assert scene.stored("fork") == seed
        scene.ask("B", agent="fork")
        scene.settle()
        assert scene.stored("fork") == scene.records("fork")
        header = scene.backend.read("fork").header
        assert (header.parent, header.seed_length) == ("a", len(seed))
        assert scene.disk.calls.count("begin") == 2


def _stored_before(_: StoredScene) -> None:
    """Do nothing: it was there when the runtime opened."""


def _stored_and_disposed(scene: StoredScene) -> None:
    scene.create("b")
    scene.ask("A", agent="b")
    scene.settle()
    scene.wait_for(scene.handle("b").dispose())


def _loaded_and_disposed(scene: StoredScene) -> None:
    store_elsewhere(scene, "b")
    scene.resume("b")
    scene.wait_for(scene.handle("b").dispose())


def _found_by_the_next_life_of_the_keeper(scene: StoredScene) -> None:
    store_elsewhere(scene, "b")
    scene.wait_for(keeper(scene).restart())


WAYS: Final[dict[str, tuple[str, Callable[[StoredScene], None]]]] = {
    "when it opened": ("a", _stored_before),
    "by itself": ("b", _stored_and_disposed),
    "and loaded": ("b", _loaded_and_disposed),
    "before a reload": ("b", _found_by_the_next_life_of_the_keeper),
}


def store_elsewhere(scene: StoredScene, session_id: str) -> list[Record]:
    """Let another process store a session, and return its records."""
    other = MemoryBackend(scene.backend.disk, "another process")
    records = store_of("A").disk.records["a"]
    other.acquire(session_id)
    other.begin(SessionHeader(id=session_id, created_ms=7), records)
    other.release(session_id)
    return records


@pytest.mark.clause("E-103", "E-09", "E-33")
@pytest.mark.parametrize("stored", WAYS)
def test_an_id_that_is_known_to_be_stored_is_refused_at_the_call(stored: str) -> None:
    """The message says what to do; nothing is made, and nothing is written."""
    session_id, store = WAYS[stored]
    with StoredScene(store_of("A"), agents=()) as scene:
        store(scene)
        before, calls = scene.stored(session_id), len(scene.disk.calls)
        told = "resume it, or choose another session id"
        with pytest.raises(DuplicateIdError, match=told):
            scene.rt.agents.create(agent_id="new", session_id=session_id)
        assert len(scene.disk.calls) == calls
        assert scene.rt.agents.get("new") is None
        assert scene.rt.sessions.get(session_id) is None
        assert list(scene.resume(session_id).session.events) == before


@pytest.mark.clause("E-103", "E-02")
def test_an_id_that_is_not_stored_any_more_is_free_when_a_resume_has_found_out() -> None:
    """And so is one under which nothing ever happened."""
    with StoredScene(store_of("A"), agents=()) as scene:
        with pytest.raises(DuplicateIdError):
            scene.rt.agents.create(agent_id="a")
        disk = scene.backend.disk
        del disk.headers["a"], disk.records["a"]
        with pytest.raises(runtime.UnknownIdError):
            scene.resume()
        nothing_is_left(scene)
        scene.create("a")
        scene.ask("B")
        scene.settle()
        assert scene.stored() == scene.records()


@pytest.mark.clause("E-09", "E-33")
def test_a_new_session_never_touches_one_that_another_process_has_stored() -> None:
    """Its flushes fail and say what to do; it works in memory, and its end says so, too."""
    with StoredScene(agents=()) as scene:
        before = store_elsewhere(scene, "a")
        scene.create("a")
        told = errors_of(scene)
        scene.ask("A")
        scene.settle()
        (error,) = causes(told[0])
        assert isinstance(error, DuplicateIdError)
        assert "resume it" in str(error)
        assert scene.stored() == before
        assert scene.backend.disk.writers == {}
        report = scene.wait_for(scene.handle().dispose())
        assert [each.link for each in report.failed] == ["last flush", "release"]
