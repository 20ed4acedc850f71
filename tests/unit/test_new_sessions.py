"""A new session that is kept: its seed, and an id that is stored already."""

import pytest

from runtime import DuplicateIdError
from tests.unit.stored import StoredScene, causes, errors_of


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


@pytest.mark.clause("E-09", "E-33")
def test_a_new_session_never_touches_a_stored_one_of_its_id() -> None:
    """Its flushes fail and say what to do; it works in memory."""
    with StoredScene() as scene:
        scene.ask("A")
        scene.settle()
        before = scene.stored()
        scene.dispose()
        scene.settle()
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
