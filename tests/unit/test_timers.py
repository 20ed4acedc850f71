"""No deadline outlives what it was for."""

import pytest

from tests.unit.windows.scene import Scene


@pytest.mark.clause("B-117", "B-120", "B-121")
@pytest.mark.parametrize("stop", ["cancel", "dispose"])
@pytest.mark.parametrize("where", ["running", "TS", "SS", "model"])
def test_a_stopped_turn_leaves_no_timer(stop: str, where: str) -> None:
    """Neither the deadline of the turn nor the one of its flush is still counting."""
    with Scene() as scene:
        scene.at(where, lambda: scene.stop(stop))
        scene.ask("A")
        scene.quiet()
        if where == "model":
            scene.open("model")
        ended = {"cancel": ["idle"], "dispose": ["disposed"]}[stop]
        assert [each for each in scene.trace() if each in ended] == ended
        assert scene.stage.loop.next_timer() is None


@pytest.mark.clause("B-120", "B-121")
def test_a_turn_that_was_stopped_in_time_counts_only_its_flush() -> None:
    """The deadline of the turn ends with the turn, the one of the flush begins there."""
    with Scene() as scene:
        scene.hold()
        scene.ask("A")
        scene.quiet()
        began = scene.stage.now
        scene.a.cancel("r")
        scene.quiet()
        assert scene.trace()[-1] == "TE{aborted:r}"
        timers = [each for each in scene.stage.loop._timers if not each[2].cancelled()]  # noqa: SLF001  # the inside
        assert [each[0] for each in timers] == [began + 2.0]
        scene.open("flush")
        assert scene.stage.loop.next_timer() is None
