"""Walks over the declaration, for windows in which this runtime lets nobody in yet.

A walk is a list of inputs; it stops where the agent stands afterwards, and shows what the last
decision asked for.
"""

import pytest

from statemachine import (
    MACHINE,
    OUTSIDE_INPUTS,
    TURN_WINDOWS,
    Command,
    Decision,
    Ending,
    Input,
    Marker,
    RefusedInputError,
    Shape,
    Window,
)
from statemachine.lifecycle import Row

OPENING = "send done done done"  # in PROMPTS
STEP = f"{OPENING} done done done"  # in STEP_START
RESULT = f"{STEP} done done done"  # in RESULT


def walk(inputs: str) -> Decision:
    """Return the last decision of a walk from rest."""
    shape = MACHINE.initial
    decision = None
    for word in inputs.split():
        decision = MACHINE.decide(shape, Input(word))
        shape = decision.shape
    assert decision is not None
    return decision


@pytest.mark.clause("B-11", "B-12", "B-91", "B-96")
@pytest.mark.parametrize("stop", ["", "cancel"])
def test_a_turn_whose_prompts_were_all_blocked_is_rejected(stop: str) -> None:
    """Also when a cancel came while they were submitted."""
    decision = walk(f"{OPENING} {stop} blocked done")
    assert decision.shape.window is Window.TURN_END
    assert decision.shape.ending is Ending.REJECTED


@pytest.mark.clause("B-96", "B-41")
def test_a_dispose_wins_over_a_rejection() -> None:
    """The list of endings says `disposed` before `rejected`."""
    assert walk(f"{OPENING} dispose blocked done").shape.ending is Ending.DISPOSED


@pytest.mark.clause("B-13", "B-14", "B-41", "B-134")
@pytest.mark.seed("SEED-06")
@pytest.mark.parametrize("extra", ["", "done"], ids=["assembly", "pre-step"])
@pytest.mark.parametrize(("stop", "ending"), [("cancel", "aborted"), ("dispose", "disposed")])
@pytest.mark.parametrize("outcome", ["done", "cut", "failed"])
def test_a_stop_before_the_step_opens_no_step(
    extra: str, stop: str, ending: str, outcome: str
) -> None:
    """Whatever the interceptor answers: no step, and no failure is reported."""
    decision = walk(f"{OPENING} done {extra} {stop} {outcome}")
    assert decision.shape.window is Window.CLOSING
    assert Command.REPORT not in decision.commands
    assert walk(f"{OPENING} done {extra} {stop} {outcome} done").shape.ending == ending


@pytest.mark.clause("B-42", "B-97")
def test_an_interceptor_that_disposes_and_raises_reports_nothing() -> None:
    """The turn ends `disposed`, and the failure goes to the process log."""
    decision = walk(f"{OPENING} done done dispose failed")
    assert decision.commands == (Command.LOG,)
    assert walk(f"{OPENING} done done dispose failed done").shape.ending is Ending.DISPOSED


@pytest.mark.clause("B-127", "B-109", "B-92")
def test_an_interceptor_that_raises_ends_its_turn_as_error() -> None:
    """Before the step at once, inside it behind `step/end`."""
    for walked in (f"{OPENING} failed done", f"{OPENING} done failed done"):
        assert walk(walked).shape.ending is Ending.ERROR
    decision = walk(f"{STEP} done failed done")
    assert decision.commands == (Command.REPORT,)
    assert decision.shape.ending is Ending.ERROR


@pytest.mark.clause("B-109", "B-111")
def test_the_prompts_behind_one_that_broke_go_back_to_the_queue() -> None:
    """They run in the next turn, without anybody calling again."""
    decision = walk(f"{OPENING} broke-off")
    assert decision.commands == (Command.REQUEUE, Command.REPORT)
    assert decision.shape.has_queued
    assert walk(f"{OPENING} broke-off done done done").shape.window is Window.ANNOUNCE_RUNNING


@pytest.mark.clause("B-16", "B-134")
@pytest.mark.parametrize("outcome", ["done", "cut", "failed"])
def test_a_cancel_while_the_request_is_made_calls_no_model(outcome: str) -> None:
    """The step closes without a stream."""
    decision = walk(f"{STEP} done cancel {outcome}")
    assert decision.shape.window is Window.STEP_END
    assert Command.RECORD in decision.commands


@pytest.mark.clause("B-25", "B-63", "B-123", "B-125")
@pytest.mark.parametrize("stop", ["cancel", "dispose"])
@pytest.mark.parametrize("outcome", ["answered", "done", "cut", "failed"])
def test_a_stop_in_a_body_lets_no_further_call_begin(stop: str, outcome: str) -> None:
    """The step closes, and the calls that have no result are given one."""
    decision = walk(f"{RESULT} called done allowed {stop} {outcome}")
    assert decision.shape.window is Window.STEP_END
    assert decision.commands.index(Command.CLOSE_CALLS) < decision.commands.index(Command.RECORD)


@pytest.mark.clause("B-24", "B-125")
@pytest.mark.parametrize("stop", ["cancel", "dispose"])
def test_a_body_that_was_allowed_is_not_entered_once_a_stop_is_in_effect(stop: str) -> None:
    """The window of the body is never reached."""
    assert walk(f"{RESULT} called done {stop} allowed").shape.window is Window.STEP_END


@pytest.mark.clause("B-27", "B-45", "B-50", "B-108")
@pytest.mark.seed("SEED-07")
@pytest.mark.parametrize("vote", ["done", "continue", "stop", "exhausted", "cut"])
@pytest.mark.parametrize(("stop", "ending"), [("cancel", "aborted"), ("dispose", "disposed")])
@pytest.mark.parametrize("reply", ["done", "truncated"])
def test_a_stop_overrules_every_vote(vote: str, stop: str, ending: str, reply: str) -> None:
    """The turn ends after exactly that step, and not `max-tokens`."""
    walked = f"{STEP} done done {reply} done done {stop} {vote}"
    assert walk(walked).shape.window is Window.CLOSING
    assert walk(f"{walked} done").shape.ending == ending


@pytest.mark.clause("B-26", "B-108")
@pytest.mark.parametrize("stop", ["cancel", "dispose"])
def test_a_stopped_step_asks_nobody_whether_to_go_on(stop: str) -> None:
    """From `step/end` the driver goes to the end of the turn."""
    assert walk(f"{RESULT} done {stop} done").shape.window is Window.CLOSING


@pytest.mark.clause("B-68", "B-69", "B-71")
def test_votes_and_steering() -> None:
    """A vote to stop ends a turn with calls; steering overrules it; no vote follows the step."""
    plain = f"{RESULT} done done"
    calls = f"{RESULT} called done done done"
    assert walk(f"{plain} done").shape.window is Window.CLOSING
    assert walk(f"{calls} done").shape.window is Window.ASSEMBLY
    assert walk(f"{calls} stop").shape.window is Window.CLOSING
    assert walk(f"{calls} steer stop").shape.window is Window.ASSEMBLY
    assert walk(f"{plain} steer done").shape.window is Window.ASSEMBLY
    assert walk(f"{plain} continue").shape.window is Window.ASSEMBLY


@pytest.mark.clause("B-72", "B-127")
def test_a_continuation_that_raises_ends_the_turn_as_error() -> None:
    """And a queued prompt runs in the next turn."""
    assert walk(f"{RESULT} done done failed done").shape.ending is Ending.ERROR
    after = walk(f"send {RESULT} done done failed send done done done")
    assert after.shape.window is Window.ANNOUNCE_RUNNING


@pytest.mark.clause("B-138", "B-124")
@pytest.mark.parametrize("outcome", ["failed", "cut"])
def test_a_flush_before_the_first_body_that_fails_lets_no_body_begin(outcome: str) -> None:
    """The calls are closed inside the step."""
    stop = "cancel" if outcome == "cut" else ""
    decision = walk(f"{RESULT} called {stop} {outcome}")
    assert decision.shape.window is Window.STEP_END
    assert Command.CLOSE_CALLS in decision.commands


@pytest.mark.clause("B-132", "C-05")
def test_an_outcome_that_a_window_does_not_list_is_refused() -> None:
    """A driver that says something impossible is told so, in words."""
    with pytest.raises(RefusedInputError, match="'truncated' is not an outcome"):
        walk(f"{OPENING} truncated")


@pytest.mark.clause("C-03", "C-08", "C-05", "A-77")
def test_only_a_queued_message_wakes_a_parked_driver() -> None:
    """An injection and a cancel do not; a dispose ends the wait at once."""
    assert Command.WAKE in walk("send").commands
    assert Command.WAKE in walk("steer").commands
    for quiet in ("inject", "cancel"):
        assert walk(quiet).shape.window is Window.PARKED
    assert walk("dispose").shape.window is Window.EXITED


@pytest.mark.clause("C-13", "C-14", "B-104")
@pytest.mark.parametrize("stop", ["cancel", "dispose", "cancel dispose"])
def test_a_stop_leaves_no_steering(stop: str) -> None:
    """Steering is non-empty only while running, and nothing waits for a disposed agent."""
    decision = walk(f"{STEP} steer send {stop}")
    assert not decision.shape.has_steering
    assert not decision.shape.has_queued


@pytest.fixture(scope="module")
def walked() -> tuple[set[Shape], set[Row]]:
    """Give every shape that can be reached from rest, and every row that fires on the way."""
    reached, fired, waiting = {MACHINE.initial}, set(), [MACHINE.initial]
    while waiting:
        shape = waiting.pop()
        for input in Input:
            answer = MACHINE.fire(shape, input)
            if isinstance(answer, Decision):
                fired.add(answer.row)
                if answer.shape not in reached:
                    reached.add(answer.shape)
                    waiting.append(answer.shape)
            else:
                assert input not in OUTSIDE_INPUTS
    return reached, fired


@pytest.mark.clause("B-139", "B-132", "C-16")
def test_every_row_fires_somewhere(walked: tuple[set[Shape], set[Row]]) -> None:
    """No row is dead, and no input from outside is refused anywhere."""
    assert [row.label for row in MACHINE.table if row not in walked[1]] == []


@pytest.mark.clause("B-104", "C-13", "C-14", "B-35", "B-103")
def test_what_no_shape_is(walked: tuple[set[Shape], set[Row]]) -> None:
    """Marker and steering belong to a turn that is cancelled, to one that runs, and to no other."""
    for shape in walked[0]:
        if shape.marker is Marker.ARMED:
            assert shape.status in ("cancelled", "disposed"), shape
            assert shape.window in TURN_WINDOWS, shape
        if shape.has_steering:
            assert shape.status == "running", shape
        if shape.status == "disposed":
            assert shape.inbox == "empty", shape
        if shape.window in (Window.PARKED, Window.EXITED):
            assert shape.inbox == "empty", shape
