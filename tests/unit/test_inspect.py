"""`inspect`: what runs, what waits, where each driver is and since when."""

import pytest

from runtime import Status, Window
from tests.unit.windows.scene import CALL, Scene


@pytest.mark.clause("F-41")
def test_a_parked_agent_waits_for_nothing() -> None:
    """Both ids, the status, two empty queues, the window, no task and no wait."""
    with Scene() as scene:
        (about,) = scene.rt.inspect().agents
        assert (about.id, about.session_id, about.status) == ("a", "a", Status.IDLE)
        assert (about.queued, about.steering, about.window) == (0, 0, Window.PARKED)
        assert (about.has_task, about.waits_since_ms, about.stragglers) == (False, None, ())


@pytest.mark.clause("F-41")
@pytest.mark.parametrize("window", [Window.STREAM, Window.CHECKPOINT, Window.FLUSH])
def test_a_busy_agent_says_where_it_waits_and_since_when(window: Window) -> None:
    """The clock is the runtime's; what was accepted meanwhile is counted."""
    with Scene() as scene:
        scene.stage.loop.advance(5)
        scene.hold()
        scene.replies = [CALL] if window is Window.CHECKPOINT else []
        scene.ask("A")
        scene.quiet()
        if window is not Window.STREAM:
            scene.open("model")
        scene.stage.loop.advance(3)
        scene.a.send("B")
        scene.a.send("C")
        scene.a.steer("S")
        (about,) = scene.rt.inspect().agents
        assert (about.status, about.queued, about.steering) == (Status.RUNNING, 2, 1)
        assert (about.window, about.has_task, about.waits_since_ms) == (window, True, 5_000)
        scene.settle()


@pytest.mark.clause("F-41", "A-63")
def test_every_agent_is_listed_until_it_is_unregistered() -> None:
    """In order of registration, also while it unwinds."""
    with Scene(agents=("a", "b")) as scene:
        scene.ask("A")
        scene.quiet()
        scene.dispose()
        first, second = scene.rt.inspect().agents
        assert (first.id, first.status, second.id) == ("a", Status.DISPOSED, "b")
        scene.settle()
        assert [each.id for each in scene.rt.inspect().agents] == ["b"]
