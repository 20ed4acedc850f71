"""`when_idle`: what it waits for, and what cannot keep a waiter waiting."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from runtime import AGENT_STATUS, EchoModel, Runtime, Status, StatusChanged, open_runtime
from runtime.ports import yield_once
from runtime.subject import StageClock, StageIdentifiers
from statemachine.conformance.stage.stage import Stage
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


@pytest.mark.clause("A-38", "A-36")
def test_a_waiter_that_an_idle_listener_registers_at_once_is_released() -> None:
    """It waits before the listener cancels the work, and no status will change any more."""
    waiters: list[asyncio.Future[Any]] = []

    def act() -> None:
        scene.a.send("B")
        # The first stretch of an eager task runs inside whoever makes it, and not on his task.
        loop, driver = asyncio.get_running_loop(), asyncio.current_task()
        assert driver is not None
        asyncio.tasks._leave_task(loop, driver)  # noqa: SLF001  # made for tasks of one's own
        waiters.append(wait.send(None))
        asyncio.tasks._enter_task(loop, driver)  # noqa: SLF001  # made for tasks of one's own
        assert not waiters[0].done()
        scene.a.cancel("r")
        assert not waiters[0].done()

    with Scene() as scene:
        wait = scene.a.when_idle()
        scene.at("idle", act)
        scene.a.send("A")
        scene.settle()
        scene.expect("running [A] idle -B{cancelled:r}")
        assert waiters[0].done()
        with pytest.raises(StopIteration):
            wait.send(None)


@pytest.mark.clause("A-31", "A-35", "A-65", "A-76")
def test_only_the_driver_releases_waiters() -> None:
    """No cancel does, wherever it lands, and no end of a turn; `idle` does, before it is told."""
    told: list[bool] = []
    with Scene() as scene:
        scene.hold()
        scene.a.send("A")
        wait = scene.a.when_idle()
        waiter = wait.send(None)
        scene.at("idle", lambda: told.append(waiter.done()))
        scene.a.cancel()
        assert not waiter.done()
        for _ in ("in its stream", "in its flush"):
            scene.a.send("B")
            scene.quiet()
            assert not waiter.done()
            scene.a.cancel()
            assert not waiter.done()
        scene.open("flush")
        assert told == [True]


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


@contextmanager
def quick_runtime(stage: Stage) -> Iterator[Runtime]:
    """Open a runtime without a listener, in which nothing has to be waited for."""
    opening = open_runtime(
        models={"echo": EchoModel()},
        default_model="echo",
        clock=StageClock(stage),
        identifiers=StageIdentifiers(),
    )
    yield stage.complete(opening.__aenter__())
    stage.complete(opening.__aexit__(None, None, None))


@pytest.mark.clause("A-34")
def test_waiters_need_no_listener(stage: Stage) -> None:
    """Nobody listens to any status, or the only one leaves while others wait."""
    with quick_runtime(stage) as rt:
        agent = rt.agents.create().agent
        agent.send("A")
        stage.complete(agent.when_idle())
        leaving = rt.on(AGENT_STATUS, lambda _: leaving.close())
        agent.send("B")
        stage.complete(agent.when_idle())


@pytest.mark.clause("B-150", "B-93")
def test_turn_upon_turn_leaves_the_loop_to_others_in_between(stage: Stage) -> None:
    """A listener that always sends again does not keep the loop from anybody."""
    passes, seen = 0, list[int]()

    async def somebody_else() -> None:
        nonlocal passes
        while len(seen) < 6:
            passes += 1
            await yield_once()

    def again(notice: StatusChanged) -> None:
        if notice.status is Status.IDLE and len(seen) < 6:
            seen.append(passes)
            notice.agent.send("again")

    with quick_runtime(stage) as rt:
        agent = rt.agents.create().agent
        rt.on(AGENT_STATUS, again)
        stage.spawn(somebody_else(), "somebody else")
        agent.send("A")
        stage.settle()
        assert len(set(seen[1:])) == 5, seen
