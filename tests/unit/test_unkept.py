"""What is not stored or not given back when an agent or its keeper ends, and who says so."""

from typing import Final

import pytest

from runtime import MemoryBackend, StorageError, TeardownReport
from tests.unit.stored import ENDS, StoredScene, keeper, owned_by_a_plugin, store_of

UNKEPT: Final = "the last records of session 'a' are not stored in memory"


@pytest.mark.clause("E-101", "E-41", "F-43")
@pytest.mark.parametrize("end", ENDS)
def test_whoever_ends_an_agent_is_told_that_nobody_kept_its_last_records(end: str) -> None:
    """The report says so at every level, and where the records still are."""
    with StoredScene(agents=()) as scene:
        owner = owned_by_a_plugin(scene)
        scene.ask("A")
        scene.quiet()
        scene.wait_for(keeper(scene).dispose())
        before = scene.stored()
        ending = scene.start(ENDS[end](scene, owner))
        scene.settle()
        told = {str(each.error) for each in ending.result().failed if each.link == "release"}
        assert [each.partition(":")[0] for each in told] == [UNKEPT]
        assert scene.stored() == before
        assert scene.records()[-1].data["ending"] == "disposed"


@pytest.mark.clause("E-101")
@pytest.mark.parametrize("session", ["stored", "empty"])
def test_a_dispose_without_a_keeper_has_nothing_to_tell_where_nothing_is_missing(
    session: str,
) -> None:
    """Everything was stored when the keeper went, or there is nothing to store."""
    with StoredScene() as scene:
        if session == "stored":
            scene.ask("A")
            scene.settle()
        scene.wait_for(keeper(scene).dispose())
        assert scene.wait_for(scene.handle().dispose()) == TeardownReport()
        assert scene.stored() == scene.records()


@pytest.mark.clause("E-101")
def test_a_session_that_nobody_has_ever_kept_is_reported_in_a_runtime_with_a_store() -> None:
    """It came when the keeper had gone; in a runtime without a store nobody expects it."""
    for is_kept in (True, False):
        with StoredScene(agents=(), is_kept=is_kept) as scene:
            if is_kept:
                scene.wait_for(keeper(scene).dispose())
            scene.create("a")
            scene.ask("A")
            scene.settle()
            report = scene.wait_for(scene.handle().dispose())
            assert [each.link for each in report.failed] == ["release"] * is_kept


@pytest.mark.clause("E-101", "E-30")
def test_an_agent_that_ends_while_its_keeper_comes_back_is_not_forgotten() -> None:
    """The keeper takes on what lives when its place is open; what has ended before is reported."""
    with StoredScene() as scene:
        scene.ask("A")
        scene.quiet()
        scene.hold("disk")
        restart = scene.start(keeper(scene).restart())
        scene.open_until("open")
        ending = scene.start(scene.handle().dispose())
        assert [str(each.error).partition(":")[0] for each in ending.result().failed] == [UNKEPT]
        scene.release()
        assert restart.done()
        assert scene.backend.disk.writers == {}


@pytest.mark.clause("E-102", "E-33", "E-49")
@pytest.mark.parametrize("ends", ["dispose", "give up"])
def test_a_lease_that_was_not_given_back_is_given_back_before_the_next_call(
    ends: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever does what blocks failed; that is logged, and the session is resumed all the same."""
    with StoredScene(store_of("A"), agents=()) as scene:
        if ends == "give up":
            scene.hold("disk")
            scene.start(scene.rt.agents.resume(session_id="a")).cancel()
            scene.open("disk")
        else:
            scene.resume()
            scene.hold("disk")
            scene.handle().dispose()
            scene.quiet()
        scene.open("disk", "error")
        assert list(scene.backend.disk.writers) == ["a"]
        assert "release of session a was not done" in caplog.text
        scene.release()
        scene.resume()
        scene.ask("B")
        scene.settle()
        assert scene.stored() == scene.records()
        scene.wait_for(scene.handle().dispose())
        assert scene.backend.disk.writers == {}


@pytest.mark.clause("E-102", "E-30")
def test_a_lease_that_was_not_given_back_does_not_keep_the_next_life_of_a_keeper_away() -> None:
    """Neither the last write nor the close came to be done; the live session is taken on."""
    with StoredScene() as scene:
        scene.ask("A")
        scene.settle()
        scene.hold("disk")
        restart = scene.start(keeper(scene).restart())
        scene.open("disk", "error")
        scene.open("disk", "error")
        scene.release()
        assert [str(each.error) for each in restart.result().failed] == ["the disk is full"] * 2
        scene.ask("B")
        scene.settle()
        assert scene.stored() == scene.records()
        assert len(scene.records()) == 16


class _KeepsOnce(MemoryBackend):
    """A place that fails to give a lease back, the first time."""

    is_failing = True

    def release(self, session_id: str) -> None:
        if self.is_failing:
            self.is_failing = False
            raise StorageError("it would not let go")
        super().release(session_id)


@pytest.mark.clause("E-102")
def test_a_place_that_fails_to_give_a_lease_back_is_asked_again() -> None:
    """The failure is in the report, and a session of the same id is resumed by the next call."""
    with StoredScene(_KeepsOnce(), agents=("a", "b")) as scene:
        scene.ask("A")
        scene.settle()
        report = scene.wait_for(scene.handle().dispose())
        assert [str(each.error) for each in report.failed] == ["it would not let go"]
        assert list(scene.backend.disk.writers) == ["a"]
        scene.agent("b").inject("whatever is asked next")
        scene.settle()
        assert list(scene.backend.disk.writers) == ["b"]
        scene.resume()
