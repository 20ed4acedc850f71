"""Votes on another step: what goes on, what stops, and what is said about it."""

import pytest

from runtime import (
    seams,
)
from runtime.seams import (
    TURN_CONTINUE,
    AsUsual,
    Continue,
    Stop,
)
from runtime.session.content import text_of
from tests.unit.windows.scene import CALL, Scene, spelled

STEP = "SS CH CH AM SE"


def failing(_argument: object) -> object:
    """Raise as a plugin might."""
    raise ValueError("the plugin is out of order")


@pytest.mark.clause("B-70", "B-107")
def test_a_continuation_says_why_when_its_step_opens() -> None:
    """As steering of its own source, announced to nobody as queued or discarded."""
    with Scene() as scene:
        votes: list[object] = [Continue("look again"), Stop()]
        scene.intercept(TURN_CONTINUE, lambda _: votes.pop(0))
        scene.ask("A")
        scene.settle()
        vote = "turn/continue?"
        trace = " ".join(scene.trace())
        assert f"{STEP} {vote} SM(look" in trace
        record = next(each for each in scene.records() if each.type == "steering/message")
        assert record.data["source"]["kind"] == "continuation"
        assert "message_id" not in record.data
        assert [each.message_id for each in scene.queued] == ["m1"]


@pytest.mark.clause("B-70")
def test_a_continuation_without_a_reason_just_opens_a_step() -> None:
    """Nothing is recorded for it."""
    with Scene() as scene:
        votes: list[object] = [Continue(), Stop()]
        scene.intercept(TURN_CONTINUE, lambda _: votes.pop(0))
        scene.ask("A")
        scene.settle()
        vote = "turn/continue?"
        scene.expect(f"running TS UM(A) {STEP} {vote} {STEP} {vote} TE{{completed}} FLUSH idle W")


@pytest.mark.clause("B-71", "B-68")
def test_a_vote_to_stop_ends_a_turn_with_calls() -> None:
    """The results are in the log, and no step answers them."""
    with Scene() as scene:
        scene.tool()
        scene.replies = [CALL]
        scene.intercept(TURN_CONTINUE, lambda _: Stop())
        scene.ask("A")
        scene.settle()
        scene.expect(
            "running TS UM(A) SS CH AM FLUSH TC body TR(done) SE turn/continue? "
            "TE{completed} FLUSH idle W"
        )


@pytest.mark.clause("B-69")
def test_steering_overrules_a_vote_to_stop() -> None:
    """It came while the vote was taken."""
    with Scene() as scene:

        def answer(it: seams.Moment) -> Stop:
            if it.step == 1:
                it.agent.steer("S")
            return Stop()

        scene.intercept(TURN_CONTINUE, answer)
        scene.ask("A")
        scene.settle()
        vote = "turn/continue?"
        scene.expect(
            f"running TS UM(A) {STEP} {vote} SM(S) {STEP} {vote} TE{{completed}} FLUSH idle W"
        )


@pytest.mark.clause("B-27", "B-28", "B-107")
@pytest.mark.seed("SEED-07")
def test_a_cancel_overrules_a_vote_to_go_on_and_its_reason_vanishes() -> None:
    """Neither in this turn nor as one of its own."""
    with Scene() as scene:

        def answer(it: seams.Moment) -> Continue:
            it.agent.cancel("r")
            return Continue("look again")

        scene.intercept(TURN_CONTINUE, answer)
        scene.ask("A")
        scene.settle()
        aborted = "turn/continue? abort cancelled TE{aborted:r} FLUSH"
        scene.expect(f"running TS UM(A) {STEP} {aborted} idle W")
        scene.a.send("B")
        scene.settle()
        assert scene.trace()[-12:] == spelled(f"W running TS UM(B) {STEP} {aborted} idle")[-12:]


@pytest.mark.clause("B-151")
def test_a_reason_stands_before_the_steering_that_came_during_the_vote() -> None:
    """Whichever was there first: the step is the one that was voted for."""
    with Scene() as scene:

        def answer(it: seams.Moment) -> object:
            if it.step > 1:
                return Stop()
            it.agent.steer("S")
            return Continue("look again")

        scene.intercept(TURN_CONTINUE, answer)
        scene.ask("A")
        scene.settle()
        told = [each for each in scene.records() if each.type == "steering/message"]
        assert [text_of(each.data["content"]) for each in told] == ["look again", "S"]


@pytest.mark.clause("B-26", "B-45", "B-108")
@pytest.mark.parametrize(
    ("stop", "rest"),
    [
        ("cancel", "abort cancelled TE{aborted:r} FLUSH idle W"),
        ("dispose", "abort disposed TE{disposed} FLUSH W gone"),
    ],
)
def test_a_step_that_was_stopped_asks_for_no_vote(stop: str, rest: str) -> None:
    """The stop comes from a listener of `step/end`, and somebody would have voted."""
    with Scene() as scene:
        scene.intercept(TURN_CONTINUE, lambda _: Continue())
        scene.at("SE", lambda: scene.stop(stop))
        scene.ask("A")
        scene.settle()
        scene.expect(f"running TS UM(A) {STEP} {rest}")


@pytest.mark.clause("B-70", "B-107")
def test_a_reason_is_told_once() -> None:
    """It belongs to the step that it opened, and not to the next one, which steering opened."""
    with Scene() as scene:
        votes: list[object] = [Continue("look again"), AsUsual(), Stop()]
        scene.intercept(TURN_CONTINUE, lambda _: votes.pop(0))
        scene.ask("A")
        scene.quiet()
        scene.open("model")
        scene.quiet()
        scene.a.steer("S")
        scene.settle()
        told = [each for each in scene.records() if each.type == "steering/message"]
        texts = [each.data["content"][0]["text"] for each in told]
        assert texts == ["look again", "S"]
