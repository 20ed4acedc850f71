"""One message and its fate."""

from typing import TYPE_CHECKING, Any

import pytest

from runtime import (
    AgentDisposedError,
    CallerError,
    Fate,
    InvalidContentError,
    TextDelta,
    exchange,
    open_runtime,
)
from statemachine.conformance.stage.stage import Stage
from tests.unit.windows.scene import CALL, FAILS, Scene

if TYPE_CHECKING:
    import asyncio


def asking(scene: Scene, text: str = "A") -> "asyncio.Task[Fate]":
    """Start a task that exchanges one message, and let it send."""
    task = scene.stage.spawn(exchange(scene.a, text), f"exchanges {text}")
    scene.quiet()
    return task


@pytest.mark.clause("A-79")
def test_an_exchange_returns_when_the_flush_of_its_turn_has_ended() -> None:
    """Not before, and with ending and text."""
    with Scene() as scene:
        scene.hold()
        task = asking(scene)
        scene.open("model")
        assert not task.done()
        scene.open("flush")
        assert task.result() == Fate("recorded", "completed", None, "12")


@pytest.mark.clause("A-79", "A-54")
@pytest.mark.parametrize("stop", ["cancel", "dispose"])
def test_a_discarded_message_returns_at_once(stop: str) -> None:
    """Nobody waits for the turn that keeps others busy."""
    with Scene() as scene:
        first = asking(scene)
        second = asking(scene, "B")
        scene.stop(stop)
        scene.stage.tick(12)
        reason = "r" if stop == "cancel" else "disposed"
        scene.settle()
        assert second.result() == Fate("discarded", None, reason, "")
        ending = "aborted" if stop == "cancel" else "disposed"
        assert first.result().fate == "recorded"
        assert first.result().ending == ending


@pytest.mark.clause("A-79", "B-122")
def test_a_cancel_during_the_flush_settles_the_exchange_at_once() -> None:
    """Its turn had ended; the flush itself goes on."""
    with Scene() as scene:
        scene.hold()
        task = asking(scene)
        scene.open("model")
        scene.a.cancel("r")
        scene.quiet()
        assert task.result() == Fate("recorded", "completed", None, "12")
        assert scene.trace()[-1] == "TE{completed}"
        scene.open("flush")


@pytest.mark.clause("A-79")
def test_messages_that_share_a_turn_share_its_outcome() -> None:
    """And a turn that failed says why."""
    with Scene() as scene:
        scene.replies = [FAILS]
        tasks = [scene.stage.spawn(exchange(scene.a, text), text) for text in "AB"]
        scene.settle()
        first, second = (task.result() for task in tasks)
        assert first == second
        assert first.ending == "error"
        assert "out of order" in (first.reason or "")


@pytest.mark.clause("A-79", "B-36")
def test_an_aborted_exchange_has_the_reason_of_the_cancel() -> None:
    """The text is what was recorded, which is nothing."""
    with Scene() as scene:
        task = asking(scene)
        scene.a.cancel("r")
        scene.settle()
        assert task.result() == Fate("recorded", "aborted", "r", "")


@pytest.mark.clause("A-79", "A-66")
def test_whoever_gives_up_an_exchange_takes_nothing_back() -> None:
    """The message runs all the same."""
    with Scene() as scene:
        task = asking(scene)
        task.cancel()
        scene.settle()
        scene.expect("running [A] idle")


@pytest.mark.clause("A-79", "A-20", "A-78")
@pytest.mark.parametrize(
    ("agent", "content", "error"),
    [(None, "A", AgentDisposedError), (None, "", InvalidContentError), (7, "A", CallerError)],
)
def test_an_exchange_refuses_like_send(
    agent: Any,  # noqa: ANN401  # the point
    content: str,
    error: type[Exception],
) -> None:
    """Nothing is left waiting."""
    with Scene() as scene:
        if error is AgentDisposedError:
            scene.dispose()
        task = scene.stage.spawn(
            exchange(scene.a if agent is None else agent, content), "exchanges"
        )
        scene.settle()
        with pytest.raises(error, match=r"refused|content"):
            task.result()


@pytest.mark.clause("A-79", "B-85")
def test_an_exchange_whose_flush_fails_still_has_its_fate() -> None:
    """The turn had ended, and what came of it is known."""
    with Scene() as scene:
        scene.hold()
        task = asking(scene)
        scene.open("model")
        scene.open("flush", "error")
        scene.settle()
        assert task.result() == Fate("recorded", "completed", None, "12")


@pytest.mark.clause("A-79")
def test_an_exchange_tells_what_all_steps_answered() -> None:
    """The answer of a turn is not that of its last step alone."""
    with Scene() as scene:
        scene.replies.append((TextDelta("0"), *CALL))
        task = asking(scene)
        scene.settle()
        assert task.result() == Fate("recorded", "completed", None, "012")


@pytest.mark.clause("A-79")
def test_an_exchange_ends_where_nobody_makes_sessions_durable() -> None:
    """There is no flush to wait for."""

    async def scenario() -> Fate:
        async with open_runtime() as rt, rt.agents.create() as agent:
            return await exchange(agent, "A")

    with Stage() as stage:
        assert stage.complete(scenario()).ending == "completed"
