"""`when_idle`: what it waits for, and what cannot keep a waiter waiting."""

import pytest

from runtime import AGENT_STATUS, Status, StatusChanged
from tests.unit.windows.scene import Scene


@pytest.mark.clause("A-29", "A-64")
@pytest.mark.seed("SEED-18")
def test_when_idle_returns_at_once_when_there_is_nothing_to_wait_for() -> None:
    """It looks when it is first run, not when it is made."""
    with Scene() as scene:
        early = scene.a.when_idle()
        scene.a.send("A")
        scene.settle()
        with pytest.raises(StopIteration):
            early.send(None)
        late = scene.a.when_idle()
        scene.a.send("B")
        waiter = scene.stage.loop.create_task(late)
        scene.stage.tick(2)
        assert not waiter.done()
        scene.settle()
        assert waiter.done()


@pytest.mark.clause("A-30")
@pytest.mark.seed("SEED-19")
def test_when_idle_counts_an_accepted_message_as_work() -> None:
    """The status is still `idle`, and the waiter waits for the turn."""
    with Scene() as scene:
        scene.a.send("A")
        scene.stage.spawn(scene.wait(), "waits")
        assert scene.a.status is Status.IDLE
        scene.settle()
        scene.expect("running [A] idle W")


@pytest.mark.clause("A-29", "A-66")
@pytest.mark.seed("SEED-22")
def test_waiting_stops_nothing() -> None:
    """However many wait and give up, the turn runs to its end and so does the next one."""
    with Scene() as scene:
        scene.ask("A")
        scene.quiet()
        waiters = [scene.stage.spawn(scene.wait(), f"waiter {n}") for n in range(3)]
        scene.a.send("B")
        scene.quiet()
        for waiter in waiters:
            waiter.cancel()
        scene.quiet()
        assert not scene.signals[0].is_aborted
        assert scene.a.status is Status.RUNNING
        scene.settle()
        scene.expect("running [A] [B] idle W")


@pytest.mark.clause("A-66")
def test_a_cancelled_waiter_is_removed() -> None:
    """The other one is released as if it had been alone."""
    with Scene() as scene:
        scene.ask("A")
        gone = scene.stage.spawn(scene.wait(), "gives up")
        scene.quiet()
        gone.cancel()
        scene.quiet()
        waiters = scene.a._core.waiters  # type: ignore[attr-defined]  # noqa: SLF001  # the inside
        assert len(waiters) == 1
        scene.settle()
        assert gone.cancelled()
        scene.expect("running [A] idle W")


@pytest.mark.clause("A-34", "A-35", "A-43")
def test_waiters_do_not_depend_on_listeners() -> None:
    """A listener that raises at every status keeps nobody waiting."""
    seen: list[Status] = []

    def fail(notice: StatusChanged) -> None:
        seen.append(notice.status)
        raise RuntimeError("listener")

    with Scene() as scene:
        scene.rt.on(AGENT_STATUS, fail, plugin="bad")
        scene.ask("A")
        scene.quiet()
        scene.a.cancel()
        scene.settle()
        scene.dispose()
        scene.settle()
        assert seen == ["running", "cancelled", "idle", "disposed"]
        assert scene.trace()[-4:] == ["W", "disposed", "gone", "END"]
