"""Particular sequences that no single act in a window shows."""

import pytest

from runtime import Limits, ModelError, Status
from statemachine import Window

from .scene import CALL, CUT, EITHER_TASK, FAILS, Scene, call

DONE = "running TS UM(A) SS CH CH AM SE TE{completed}"


@pytest.mark.clause("B-33")
def test_what_an_idle_listener_sends_after_its_own_cancel_runs() -> None:
    """A listener of `idle` sends B, cancels and sends C: B is dropped and C runs."""

    def act() -> None:
        scene.a.send("B")
        scene.a.cancel("r")
        scene.a.send("C")

    with Scene() as scene:
        scene.at("idle", act)
        scene.ask("A")
        scene.settle()
        scene.expect(
            "running [A] idle -B{cancelled:r} running TS UM(C) SS W CH CH AM SE TE{completed} "
            "FLUSH idle"
        )


@pytest.mark.clause("A-38", "A-36")
def test_a_waiter_for_work_that_an_idle_listener_cancels_is_released() -> None:
    """A task started between `send` and `cancel` inside `idle` waits for no further turn."""

    def act() -> None:
        scene.a.send("B")
        scene.stage.spawn(scene.wait(), "waits")
        scene.a.cancel("r")

    with Scene() as scene:
        scene.at("idle", act)
        scene.a.send("A")
        scene.settle()
        scene.expect("running [A] idle -B{cancelled:r} W")


@pytest.mark.clause("A-13", "C-15", "B-78", "C-01")
def test_left_over_steering_is_merged_in_order_of_acceptance() -> None:
    """B, steering S and D, accepted in this order in a turn that fails, are recorded in it."""

    def act() -> None:
        scene.a.send("B")
        scene.a.steer("S")
        scene.a.send("D")

    with Scene() as scene:
        scene.replies = [FAILS]
        scene.at("ERR", act)
        scene.ask("A")
        scene.settle()
        scene.expect("running TS UM(A) SS SE ERR(1) TE{error} FLUSH [B,S,D] idle W")
        ids = [each.data["message_id"] for each in scene.records() if "message_id" in each.data]
        assert ids == ["m1", "m2", "m3", "m4"]


@pytest.mark.clause("B-74")
def test_the_next_turn_begins_without_the_truncation() -> None:
    """A turn that ran out of tokens leaves the next one untouched."""
    with Scene() as scene:
        scene.replies = [CUT]
        scene.ask("A")
        scene.settle()
        scene.expect("running TS UM(A) SS CH CH AM SE TE{max-tokens} FLUSH idle W")
        scene.a.send("B")
        scene.settle()
        assert scene.trace()[-2:] == ["FLUSH", "idle"]
        assert scene.records()[-1].data["ending"] == "completed"


@pytest.mark.clause("A-05", "A-06", "B-105")
def test_messages_sent_during_a_turn_share_the_next_one() -> None:
    """B and C, sent while A runs, are one batch, and no `idle` comes between."""
    with Scene() as scene:
        scene.ask("A")
        scene.quiet()
        scene.a.send("B")
        scene.a.send("C")
        scene.settle()
        scene.expect("running [A] [B,C] idle W")
        assert len(scene.requests) == 2


@pytest.mark.clause("B-105", "B-99", "B-07")
def test_nobody_gets_in_between_the_decision_and_the_next_turn() -> None:
    """Between two callbacks of the loop no agent is ever between two turns."""
    seen: set[Window] = set()

    def look() -> None:
        seen.update(about.window for about in scene.rt.inspect().agents)

    with Scene() as scene:
        scene.stage.loop.monitor = look
        scene.replies = [CALL, CUT, FAILS]
        scene.ask("A")
        scene.quiet()
        for text in "BCD":
            scene.a.send(text)
            scene.settle()
        scene.a.steer("E")
        scene.settle()
        scene.stage.loop.monitor = None
        waits = {Window.CHECKPOINT, Window.STREAM, Window.FLUSH}
        assert seen == {Window.WOKEN, Window.PARKED} | waits


@pytest.mark.clause("A-28", "A-24")
def test_every_further_cancel_empties_the_inbox_and_changes_nothing_else() -> None:
    """Three cancels: each drops what waits with its own reason, the turn keeps the first."""
    with Scene() as scene:
        scene.ask("A")
        scene.quiet()
        for text, reason in (("B", "x"), ("C", "y"), ("D", "z")):
            scene.a.send(text)
            scene.a.cancel(reason)
        scene.settle()
        scene.expect(
            "running TS UM(A) SS abort cancelled -B{cancelled:x} -C{cancelled:y} -D{cancelled:z} "
            "SE TE{aborted:x} FLUSH idle W"
        )


@pytest.mark.clause("A-52", "B-06", "B-102")
def test_a_listener_that_always_cancels_and_resends_cannot_starve_the_loop() -> None:
    """Each round gives the loop one pass, in which somebody else can end it."""
    rounds = 0

    def cancel_and_resend() -> None:
        nonlocal rounds
        rounds += 1
        scene.at("running", cancel_and_resend)
        scene.a.cancel("q")
        scene.a.send("Y")

    with Scene() as scene:
        scene.at("running", cancel_and_resend)
        scene.a.send("A")
        for _ in range(20):
            scene.stage.tick()
        assert rounds > 3
        assert scene.records() == []
        scene.dispose()
        scene.settle()
        assert scene.trace()[-2:] == ["gone", "END"]


@pytest.mark.clause("A-31", "A-65", "B-02")
@pytest.mark.seed("SEED-09", "SEED-21")
def test_a_cancel_itself_releases_nobody() -> None:
    """A waiter for a message that is dropped before its turn is released when the driver parks."""
    with Scene() as scene:
        scene.ask("A")
        scene.stage.tick()
        scene.a.cancel()
        assert "W" not in scene.trace()
        scene.stage.tick()  # the driver runs, and parks
        scene.settle()
        scene.expect("-A{cancelled:cancelled} W")


@pytest.mark.clause("B-21", "B-77")
def test_a_failure_is_recorded_with_step_message_and_code() -> None:
    """`turn/end` names the step, what was said, and the code if there is one."""
    with Scene() as scene:
        scene.replies = [FAILS, (ValueError(),)]
        scene.ask("A")
        scene.settle()
        scene.a.send("B")
        scene.settle()
        first, second = (each.data["error"] for each in scene.records() if "error" in each.data)
        assert first == {
            "step": 1,
            "message": "ModelError: the model is out of order",
            "code": "out",
        }
        assert second == {"step": 1, "message": "ValueError"}


@pytest.mark.clause("B-75", "B-76")
def test_a_turn_reports_one_failure_behind_its_step() -> None:
    """`step/end` comes first, then one `agent/error`, then `turn/end`."""
    with Scene() as scene:
        scene.replies = [(call(1),), FAILS]
        scene.ask("A")
        scene.settle()
        scene.expect(
            "running TS UM(A) SS CH AM FLUSH TC TR(unknown-tool) SE SS SE ERR(2) TE{error} FLUSH "
            "idle W"
        )
        assert scene.records()[-1].data["error"]["step"] == 2


@pytest.mark.clause("B-97")
@pytest.mark.parametrize(("stop", "ending"), [("cancel", "aborted:r"), ("dispose", "disposed")])
def test_a_failure_that_a_stop_overtakes_is_not_reported(
    stop: str, ending: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The step failed, and a listener of its `step/end` stops: logged, not announced."""
    with Scene() as scene:
        scene.replies = [FAILS]
        scene.at("SE", lambda: scene.stop(stop))
        scene.ask("A")
        scene.settle()
        assert "ERR(1)" not in scene.trace()
        assert f"TE{{{ending}}}" in scene.trace()
        assert "the model is out of order" in caplog.text


@pytest.mark.clause("B-97", "B-20")
@EITHER_TASK
def test_a_model_that_fails_because_it_was_stopped_is_not_reported(
    caplog: pytest.LogCaptureFixture, *, cooperative: bool
) -> None:
    """What a model raises after the cancel goes to the log, and the ending stays `aborted`."""

    def cancel() -> None:
        scene.a.cancel("r")

    with Scene(cooperative=cooperative) as scene:
        scene.replies = [(ModelError("cut off"),)]
        scene.at("model", cancel)
        scene.ask("A")
        scene.settle()
        scene.expect("running TS UM(A) SS model abort cancelled SE TE{aborted:r} FLUSH idle W")
        assert "cut off" in caplog.text


@pytest.mark.clause("B-69", "B-129", "B-96")
def test_steering_without_a_step_left_ends_max_steps() -> None:
    """A turn that has used its last step and would go on ends so, and the steering runs next."""
    with Scene(limits=Limits(steps_per_turn_max=1)) as scene:
        scene.at("SE", lambda: scene.a.steer("S"))
        scene.ask("A")
        scene.settle()
        scene.expect("running TS UM(A) SS CH CH AM SE TE{max-steps} FLUSH [S] idle W")


@pytest.mark.clause("B-129", "B-96")
def test_a_turn_out_of_steps_ends_max_steps_although_a_reply_was_cut() -> None:
    """Of the two limits the turn names the one that ended it."""
    with Scene(limits=Limits(steps_per_turn_max=1)) as scene:
        scene.replies = [CUT]
        scene.at("SE", lambda: scene.a.steer("S"))
        scene.ask("A")
        scene.settle()
        scene.expect("running TS UM(A) SS CH CH AM SE TE{max-steps} FLUSH [S] idle W")


@pytest.mark.clause("B-129")
def test_calls_without_a_step_left_end_max_steps() -> None:
    """A last step that needs no other one completes; one with calls does not."""
    with Scene(limits=Limits(steps_per_turn_max=2)) as scene:
        scene.replies = [CALL, CALL]
        scene.ask("A")
        scene.settle()
        assert [each for each in scene.trace() if each.startswith("TE")] == ["TE{max-steps}"]
        scene.replies = [CALL]
        scene.a.send("B")
        scene.settle()
        assert scene.trace()[-3:] == ["TE{completed}", "FLUSH", "idle"]


@pytest.mark.clause("B-103", "B-35", "A-22")
@pytest.mark.seed("SEED-10")
def test_a_cancel_behind_the_end_of_a_turn_is_forgotten() -> None:
    """Cancelled at every instant after `turn/end`, the agent still runs the next prompt."""
    with Scene() as scene:
        scene.hold()
        scene.ask("A")
        scene.at("TE", scene.a.cancel)
        scene.quiet()
        scene.open("model")
        scene.a.cancel()
        scene.at("idle", scene.a.cancel)
        scene.open("flush")
        scene.a.cancel()
        scene.expect(f"{DONE} FLUSH idle W")
        scene.a.send("B")
        scene.settle()
        assert "cancelled" not in scene.trace()


@pytest.mark.clause("A-76", "B-86")
@pytest.mark.seed("SEED-19")
def test_a_waiter_waits_for_the_flush() -> None:
    """Neither `idle` nor a release comes before the turn is durable."""
    with Scene() as scene:
        scene.hold()
        scene.ask("A")
        scene.quiet()
        scene.open("model")
        scene.stage.loop.advance(1_000)
        scene.quiet()
        scene.expect(DONE)
        (about,) = scene.rt.inspect().agents
        assert (about.window, about.status) == (Window.FLUSH, Status.RUNNING)
        scene.open("flush")
        scene.expect(f"{DONE} FLUSH idle W")


@pytest.mark.clause("A-73")
def test_an_injection_turn_is_neither_cancelled_nor_disposed() -> None:
    """Listeners of its records cancel and dispose; it is in the log whole, and completed."""
    with Scene() as scene:
        scene.at("TS", scene.a.cancel)
        scene.at("CM", scene.dispose)
        scene.a.inject("c")
        scene.settle()
        scene.expect("TS CM(c) TE{completed} disposed FLUSH gone END")


@pytest.mark.clause("A-75", "A-67", "D-51")
def test_a_teardown_begun_inside_an_injection_waits_for_its_flush() -> None:
    """The flush is owed before the first record is announced."""
    with Scene() as scene:
        core = scene.a._core  # type: ignore[attr-defined]  # noqa: SLF001  # the inside
        scene.hold()

        def act() -> None:
            assert len(core.owed) == 1
            scene.dispose()

        scene.at("TS", act)
        scene.a.inject("c")
        scene.quiet()
        scene.expect("TS CM(c) TE{completed} disposed")
        scene.open("flush")
        scene.expect("TS CM(c) TE{completed} disposed FLUSH gone END")


@pytest.mark.clause("A-11", "A-12", "A-03")
def test_only_what_joins_a_running_turn_is_announced_as_steering() -> None:
    """Steered on an idle agent, in a turn, and in a turn that was cancelled."""
    with Scene() as scene:
        scene.a.steer("A")
        scene.quiet()
        scene.a.steer("S")
        scene.a.cancel("r")
        scene.a.steer("B")
        scene.settle()
        assert [each.steering for each in scene.queued] == [False, True, False]
