"""A process that is killed at any instant leaves a session that goes on."""

import pytest

from runtime import (
    SESSION_CREATED,
    MemoryBackend,
    Record,
    StorageError,
    TextDelta,
)
from tests.unit.stored import StoredScene, nothing_is_left, store_holding, store_of
from tests.unit.windows.scene import call


@pytest.mark.clause("E-17", "D-43", "D-44", "D-47")
def test_what_a_crash_left_open_is_closed_durably_before_anybody_sees_it() -> None:
    """A second resume finds nothing to close."""
    with StoredScene() as scene:
        scene.ask("A")
        scene.quiet()
        before = scene.stored()
        survivor = scene.crash()
    seen: list[list[Record]] = []
    with StoredScene(survivor, agents=()) as scene:
        scene.rt.on(SESSION_CREATED, lambda it: seen.append(list(it.session.events)))
        scene.resume()
        closed = scene.stored()
        assert seen == [closed]
        assert closed[: len(before)] == before
        assert [each.type for each in closed[len(before) :]] == ["step/end", "turn/end"]
        assert closed[-1].data["ending"] == "interrupted"
        scene.ask("B")
        scene.settle()
        scene.wait_for(scene.handle().dispose())
        after = scene.stored()
        scene.resume()
        assert scene.stored() == after


@pytest.mark.clause("E-17", "D-45", "D-47", "E-47")
def test_a_crash_between_any_two_callbacks_leaves_a_session_that_goes_on() -> None:
    """A turn with a call, killed at each instant: a prefix survives, is closed, and works."""
    lengths: set[int] = set()
    for instant in range(1_000):
        with StoredScene() as scene:
            scene.replies = [(TextDelta("hm"), call(1), call(2))]
            scene.ask("A")
            moves = sum(scene.stage.move() for _ in range(instant))
            logged = scene.records()
            survivor = scene.crash()
        kept = list(survivor.disk.records.get("a", ()))
        assert kept == logged[: len(kept)]
        lengths.add(len(kept))
        if kept:
            goes_on(survivor, kept)
        if moves < instant:
            break
    else:
        pytest.fail("the turn has no end")
    # Before the first write, in the step, in the batch of calls, between two of them, at the end.
    assert len(lengths) >= 5


def goes_on(survivor: MemoryBackend, kept: list[Record]) -> None:
    """Check that a session can be resumed after a crash, and answers."""
    with StoredScene(survivor, agents=()) as scene:
        scene.resume()
        assert scene.records()[: len(kept)] == kept
        assert scene.stored() == scene.records()
        assert [each.type for each in scene.records()][-1:] in ([], ["turn/end"])
        scene.ask("B")
        scene.settle()
        assert scene.trace()[-1] == "W"
        assert scene.records()[-1].data["ending"] == "completed"
        assert scene.stored() == scene.records()


@pytest.mark.clause("E-17", "E-20", "D-45", "D-46", "D-47")
def test_whatever_part_of_a_log_a_crash_has_left_the_session_goes_on() -> None:
    """Every prefix of a turn with two calls, also those that no write of ours would leave."""
    with StoredScene() as scene:
        scene.replies = [(TextDelta("hm"), call(1), call(2))]
        scene.ask("A")
        scene.settle()
        whole = scene.stored()
    assert [each.type for each in whole].count("tool/result") == 2
    for length in range(len(whole) + 1):
        backend = store_holding(whole[:length])
        goes_on(backend, whole[:length])


@pytest.mark.clause("E-18", "E-17")
def test_a_torn_tail_is_cut_before_the_session_goes_on() -> None:
    """What was whole stays."""
    backend = store_of("A")
    before = backend.read("a").records
    backend.disk.torn["a"] = "half a record"
    with StoredScene(backend, agents=()) as scene:
        scene.resume()
        assert backend.read("a").torn is None
        assert tuple(scene.stored()) == before


@pytest.mark.clause("E-17", "F-09")
@pytest.mark.parametrize("outcome", ["error", "late"])
def test_a_session_that_cannot_be_closed_durably_is_not_resumed(outcome: str) -> None:
    """Nothing is registered; the next attempt finds it as it is, and succeeds."""
    with StoredScene() as scene:
        scene.ask("A")
        scene.quiet()
        survivor = scene.crash()
    with StoredScene(survivor, agents=()) as scene:
        scene.hold("disk")
        resuming = scene.start(scene.rt.agents.resume(session_id="a"))
        scene.open("disk", outcome)
        scene.release()
        assert isinstance(resuming.exception(), StorageError)
        nothing_is_left(scene)
        scene.resume()
        assert scene.records()[-1].data["ending"] == "interrupted"


@pytest.mark.clause("E-20", "D-42")
def test_a_session_of_a_header_alone_can_be_resumed() -> None:
    """It is as empty as a new one."""
    with StoredScene(store_holding(()), agents=()) as scene:
        agent = scene.resume()
        assert len(agent.session.events) == 0
        scene.ask("B")
        scene.settle()
        assert scene.stored() == scene.records()
