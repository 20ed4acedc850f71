"""What an agent's end and a resume leave behind: nothing that grows."""

import pytest

from runtime import MemoryBackend, SessionHeader, SessionNotice, StorageError
from runtime.persistence import PERSISTENCE
from runtime.session.journal import Journal
from tests.unit.stored import StoredScene, keeper, store_of
from tests.unit.windows.scene import Scene


def effects(scene: StoredScene) -> list[str]:
    """Return the names of what the two owners of every agent hold."""
    owners = (scene.rt.context.fiber, scene.rt.driver)
    return [effect.name for owner in owners for effect in owner.effects]


@pytest.mark.clause("F-38", "G-38", "E-33")
def test_resumes_and_ends_leave_nothing_with_their_owners() -> None:
    """However often, the fibers and the keeper hold what they held before."""
    with StoredScene(store_of("A"), agents=()) as scene:
        before = effects(scene)
        persistence = scene.rt.context.get(PERSISTENCE)
        assert persistence is not None
        for _ in range(3):
            agent = scene.resume()
            assert [each for each in effects(scene) if "resume" in each] == []
            scene.dispose()
            scene.settle()
            assert effects(scene) == before
            with pytest.raises(StorageError, match="not stored"):
                persistence.release(agent.session)


@pytest.mark.clause("A-67", "B-119")
def test_an_owed_flush_that_nobody_answers_ends_with_its_agent() -> None:
    """It is named in the report, and does not outlive it."""
    with Scene() as scene:
        scene.hold()
        scene.a.inject("c")
        scene.quiet()
        end = scene.dispose()
        for _ in range(3):
            scene.quiet()
            scene.stage.loop.advance(2)
        scene.quiet()
        assert end.is_done
        assert scene.stage.pending == ()


@pytest.mark.clause("E-36", "E-49")
def test_a_flush_behind_the_last_write_of_a_session_writes_nothing() -> None:
    """It waits for that one, which holds everything."""
    with StoredScene() as scene:
        persistence = scene.rt.context.get(PERSISTENCE)
        assert persistence is not None
        scene.hold("disk")
        scene.a.inject("1")
        scene.quiet()
        scene.a.inject("2")
        notice = SessionNotice(session=scene.a.session)
        flush = scene.start(persistence.on_flush(notice))
        end = scene.start(keeper(scene).dispose())
        scene.release()
        scene.settle()
        assert flush.done()
        assert end.done()
        assert scene.disk.calls == ["open", "begin", "finish", "close"]
        assert scene.stored() == scene.records()


@pytest.mark.clause("E-13", "E-36")
def test_a_flush_that_waited_for_the_last_write_fails_with_it() -> None:
    """Whoever asked for durability is told that there is none."""
    with StoredScene() as scene:
        persistence = scene.rt.context.get(PERSISTENCE)
        assert persistence is not None
        scene.hold("disk")
        scene.a.inject("1")
        scene.quiet()
        scene.a.inject("2")
        flush = scene.start(persistence.on_flush(SessionNotice(session=scene.a.session)))
        end = scene.start(keeper(scene).dispose())
        scene.open("disk")
        scene.open("disk", "error")
        scene.release()
        scene.settle()
        assert isinstance(flush.exception(), StorageError)
        assert [str(each.error) for each in end.result().failed] == ["the disk is full"]


@pytest.mark.clause("E-10", "E-11")
def test_whoever_stops_waiting_for_the_disk_does_not_stop_its_work() -> None:
    """It is somebody's who comes behind, and the disk does one thing at a time."""
    with StoredScene(store_of("A"), agents=()) as scene:
        persistence = scene.rt.context.get(PERSISTENCE)
        assert persistence is not None
        scene.hold("disk")
        reading = scene.start(persistence.read("a"))
        reading.cancel()
        behind = scene.start(persistence.read("a"))
        assert scene.disk.calls == ["open", "read"]
        scene.open("disk")
        assert scene.disk.calls == ["open", "read", "read"]
        scene.release()
        assert reading.cancelled()
        assert len(behind.result().records) == 8


@pytest.mark.clause("E-33", "E-49")
def test_a_last_write_that_fails_gives_the_lease_back() -> None:
    """Others may write the session all the same."""

    def fail() -> int:
        raise StorageError("the disk is full")

    disk = MemoryBackend()
    disk.open()
    journal = Journal(disk, "s")
    header = SessionHeader(id="s", created_ms=0)
    journal.begin(header, ())
    with pytest.raises(StorageError):
        journal.finish(fail)
    MemoryBackend(disk.disk).acquire("s")
