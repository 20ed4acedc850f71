"""Which failure is told, where, and to whom, when a turn fails in more than one way."""

import pytest

from runtime import AGENT_DISCARDED, AGENT_ERROR, AgentFailed, Discarded
from tests.unit.test_refused_records import refuse
from tests.unit.windows.scene import FAILS, Scene


def texts(failed: AgentFailed) -> str:
    """Return everything that a failure says, those that it is made of included."""
    parts = getattr(failed.error, "exceptions", ())
    return " ".join(str(each) for each in (failed.error, *parts))


@pytest.mark.clause("B-75", "B-85", "D-53")
def test_a_flush_that_fails_behind_a_failed_turn_is_told_as_itself() -> None:
    """Two failures, two errors: the step's with its step, the flush's with step 0."""
    errors: list[AgentFailed] = []
    with Scene() as scene:
        scene.rt.on(AGENT_ERROR, errors.append)
        scene.replies.append(FAILS)
        scene.hold()
        scene.a.send("A")
        scene.quiet()
        scene.open("model")
        scene.open("flush", "error")
        scene.settle()
    assert [each.step for each in errors] == [1, 0]
    assert "out of order" in texts(errors[0])
    assert "disk is full" in texts(errors[1])
    assert scene.records()[-1].data["error"]["message"] == "ModelError: the model is out of order"


@pytest.mark.clause("B-109", "B-111", "A-54")
def test_a_turn_whose_last_prompt_could_not_be_recorded_asks_no_model() -> None:
    """It has nothing to answer: the failure is told and the turn ends with it."""
    errors: list[AgentFailed] = []
    with Scene() as scene:
        scene.rt.on(AGENT_ERROR, errors.append)
        refuse(scene, "user/message")
        scene.ask("A")
        scene.settle()
        assert scene.requests == []
        assert len(errors) == 1
        assert "refused by the test" in texts(errors[0])
        end = scene.records()[-1]
        assert (end.type, end.data["ending"]) == ("turn/end", "error")
        assert "refused by the test" in end.data["error"]["message"]


@pytest.mark.clause("B-97", "B-109")
def test_a_prompt_that_could_not_be_recorded_under_a_stop_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nobody is told of a failure behind a stop, but it does not vanish."""
    errors: list[AgentFailed] = []
    with Scene() as scene:
        scene.rt.on(AGENT_ERROR, errors.append)
        refuse(scene, "user/message")
        scene.at("TS", lambda: scene.a.cancel("r"))
        scene.ask("A")
        scene.settle()
        assert scene.records()[-1].data["ending"] == "aborted"
    assert errors == []
    assert any("not reported" in each and "refused by the test" in each for each in caplog.messages)


@pytest.mark.clause("A-54", "B-109")
def test_a_prompt_that_cannot_be_recorded_at_all_is_discarded_as_an_error() -> None:
    """It has a fate that can be seen, and the prompt behind it waits for its turn."""
    told: list[Discarded] = []
    with Scene() as scene:
        scene.rt.on(AGENT_DISCARDED, told.append)
        refuse(scene, "user/message")
        scene.ask("A")
        scene.settle()
        (discard,) = told
        assert (discard.message_id, discard.cause) == ("m1", "error")
        assert "refused by the test" in discard.reason
        assert scene.records()[-1].data["ending"] == "error"
