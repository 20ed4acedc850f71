"""Records that the log refuses at the worst moment: what the driver owes then."""

from typing import TYPE_CHECKING, Any

import pytest

from runtime import AGENT_DISCARDED, AGENT_ERROR, AgentFailed, Discarded, InvalidRecordError
from runtime import exchange as exchange_message
from runtime.session.log import SessionLog
from tests.unit.windows.scene import Scene

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Refusing:
    """A log that refuses the next record of one type, and is the true log otherwise."""

    def __init__(self, log: Any, record_type: str, times: int = 1) -> None:  # noqa: ANN401  # handed on
        self.log = log
        self.record_type = record_type
        self.times = times

    def append(self, type_name: str, data: Any, **rest: Any) -> Any:  # noqa: ANN401  # handed on
        """Refuse, or hand on."""
        if type_name == self.record_type and self.times > 0:
            self.times -= 1
            raise InvalidRecordError(f"{type_name} is refused by the test")
        return self.log.append(type_name, data, **rest)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # handed on
        return getattr(self.log, name)


def refuse(scene: Scene, record_type: str, times: int = 1) -> None:
    """Put a refusing log in front of the log of `a`."""
    core = scene.a._core  # type: ignore[attr-defined]  # noqa: SLF001  # a fault is planted inside
    core.log = Refusing(core.log, record_type, times)


@pytest.mark.clause("B-83", "B-110", "B-111", "A-54", "A-55")
def test_a_turn_that_cannot_be_opened_discards_its_batch() -> None:
    """With cause `error` and step 0; nothing is appended, and the next prompt runs."""
    dropped: list[Discarded] = []
    errors: list[AgentFailed] = []
    with Scene() as scene:
        scene.rt.on(AGENT_DISCARDED, dropped.append)
        scene.rt.on(AGENT_ERROR, errors.append)
        refuse(scene, "turn/start")
        scene.ask("A", "B")
        scene.settle()
        assert [(each.message_id, each.cause) for each in dropped] == [
            ("m1", "error"),
            ("m2", "error"),
        ]
        assert all("refused by the test" in each.reason for each in dropped)
        assert [each.step for each in errors] == [0]
        assert scene.records() == []
        assert scene.trace()[-2:] == ["idle", "W"]
        scene.a.send("Z")
        scene.settle()
        assert scene.trace()[-1] == "idle"
        assert "UM(Z)" in scene.trace()


@pytest.mark.clause("B-83", "B-110", "B-111")
@pytest.mark.parametrize("verb", ["send", "steer"])
def test_what_was_accepted_beside_an_unopened_turn_runs(verb: str) -> None:
    """Only the batch is discarded: what a listener sends meanwhile is the next turn."""
    with Scene() as scene:
        refuse(scene, "turn/start")
        scene.at("-", lambda: getattr(scene.a, verb)("S"))
        scene.ask("A")
        scene.settle()
        assert "UM(S)" in scene.trace()
        assert scene.trace()[-2:] == ["idle", "W"]


@pytest.mark.clause("B-83", "B-110", "A-24", "B-39")
@pytest.mark.parametrize("stop", ["cancel", "dispose"])
@pytest.mark.parametrize("head", ["-", "ERR"])
def test_a_stop_beside_an_unopened_turn(stop: str, head: str) -> None:
    """No turn is open: a cancel only empties the inbox, a dispose ends the agent."""

    def act() -> None:
        scene.a.send("B")
        scene.stop(stop)

    with Scene() as scene:
        refuse(scene, "turn/start")
        scene.at(head, act)
        scene.ask("A")
        scene.settle()
        reason = "cancelled:r" if stop == "cancel" else "disposed:disposed"
        assert f"-B{{{reason}}}" in scene.trace()
        assert scene.records() == []
        assert ("gone" in scene.trace()) is (stop == "dispose")
        assert "W" in scene.trace()


@pytest.mark.clause("B-109", "B-111", "A-54")
@pytest.mark.parametrize("stop", ["", "cancel", "dispose"])
def test_a_prompt_that_cannot_be_recorded_has_its_fate_and_the_rest_runs(stop: str) -> None:
    """It is discarded with cause `error`; the prompts behind it lose nothing."""

    def act() -> None:
        if stop == "cancel":
            scene.a.cancel("r")
        elif stop == "dispose":
            scene.handle().dispose()

    with Scene() as scene:
        refuse(scene, "user/message")
        scene.at("TS", act)
        scene.ask("A", "B", "C")
        scene.settle()
        fates = [each for each in scene.trace() if each.startswith(("UM", "-"))]
        assert fates[0].startswith("-A{error:")
        assert fates[1:] == ["UM(B)", "UM(C)"]
        assert scene.stage.pending == ()


@pytest.mark.clause("B-131", "A-78")
@pytest.mark.parametrize("record_type", ["step/start", "step/end", "turn/end"])
def test_a_driver_that_dies_of_a_bug_fails_who_waits_for_it(
    record_type: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A boundary record that cannot be written is our own defect: loud, and nobody hangs."""
    scene = Scene()
    with scene.stage:
        scene.__enter__()
        refuse(scene, record_type, times=1_000)
        waits: Sequence[Callable[[], Any]] = (
            scene.a.when_idle,
            lambda: exchange_message(scene.a, "B"),
        )
        scene.a.send("A")
        tasks = [scene.stage.spawn(each(), "waits") for each in waits]
        scene.settle()
        for task in tasks:
            assert isinstance(task.exception(), InvalidRecordError)
        assert "died of a defect" in caplog.text
        report = scene.stage.complete(_joined(scene))
        assert report.failed
        assert scene.rt.agents.get("a") is None
        assert scene.stage.pending == ()


@pytest.mark.clause("A-17", "A-18")
@pytest.mark.parametrize("record_type", ["turn/start", "context/message", "turn/end"])
def test_an_injection_is_in_the_log_whole_or_not_at_all(
    record_type: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller gets the error, nothing is announced or flushed, and the next turn is number 1."""
    commit = SessionLog._commit  # noqa: SLF001  # a fault is planted inside

    def refuse_one(log: SessionLog, type_name: str, *rest: Any) -> Any:  # noqa: ANN401  # handed on
        if type_name == record_type:
            raise InvalidRecordError(f"{type_name} is refused by the test")
        return commit(log, type_name, *rest)

    with Scene() as scene:
        with monkeypatch.context() as patched:
            patched.setattr(SessionLog, "_commit", refuse_one)
            with pytest.raises(InvalidRecordError, match=record_type):
                scene.a.inject("c")
        scene.settle()
        scene.expect("")
        scene.a.inject("d")
        scene.settle()
        scene.expect("TS CM(d) TE{completed} FLUSH")
        assert scene.records()[0].data["turn"] == 1


@pytest.mark.clause("B-131", "A-80")
def test_whoever_comes_after_the_driver_has_died_is_failed_as_well() -> None:
    """A late waiter, or a late message, does not wait for a driver that will never come."""
    scene = Scene()
    with scene.stage:
        scene.__enter__()
        refuse(scene, "step/start", times=1_000)
        scene.a.send("A")
        scene.settle()
        late = [
            scene.stage.spawn(scene.a.when_idle(), "waits"),
            scene.stage.spawn(exchange_message(scene.a, "B"), "exchanges"),
        ]
        scene.settle()
        assert all(task.exception() is not None for task in late)
        scene.stage.complete(_joined(scene))


async def _joined(scene: Scene) -> Any:  # noqa: ANN401  # handed on
    return await scene.handle().dispose()
