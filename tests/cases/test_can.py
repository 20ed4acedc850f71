"""Cancelling: a stop that came too early, too late, or hit the wrong work."""

import pytest

from statemachine.conformance.stage.schedules import Actor, Scenario

from .cast import OWNER, Scenes, a_runs
from .conftest import Examine
from .world import GRACE_S, HELD, Act, World, act, actor, scene


def case_001() -> Scenes:
    """Cancel an agent at rest, then give it work."""

    def check(world: World) -> None:
        assert world.turns() == [["A", "completed"]]
        assert world.calls == ["A"]
        assert world.statuses() == ("running", "idle")
        assert world.discards() == []
        assert [release.endings for release in world.releases] == [("completed",)]

    user = actor(
        "user",
        lambda w: w.cancel("nothing"),
        act("send A, wait", lambda w: w.send("A"), World.wait),
    )
    return (scene("a cancel at rest", user, check=check),)


@pytest.mark.case("CASE-001")
@pytest.mark.clause("A-22", "B-01")
@pytest.mark.seed("SEED-10")
def test_a_cancel_with_nothing_to_stop_spares_the_next_prompt(examine: Examine) -> None:
    """An idle agent that was cancelled runs its next prompt as if nothing had been."""
    examine(*case_001())


def case_002() -> Scenes:
    """Send and cancel before the driver has run."""

    def check(world: World) -> None:
        assert world.records() == ()
        assert world.calls == []
        assert world.discards() == [("A", "cancelled", "stop")]
        assert world.statuses() == ()

    user = actor("user", act("send A, cancel", lambda w: w.send("A"), lambda w: w.cancel("stop")))
    return (scene("a cancel before the start", user, actor("caller", World.wait), check=check),)


@pytest.mark.case("CASE-002")
@pytest.mark.clause("A-23", "A-36", "B-02", "C-09")
@pytest.mark.seed("SEED-05")
def test_a_prompt_cancelled_before_the_driver_wakes_never_runs(examine: Examine) -> None:
    """There is no turn, one discard with the reason, and nobody waits for ever."""
    examine(*case_002())


def case_004() -> Scenes:
    """Cancel from inside the listener of a boundary that opens."""

    def opening(point: str, types: list[str]) -> Scenario[World]:
        def check(world: World) -> None:
            assert world.calls == []
            assert world.endings() == ("aborted: mine",)
            assert world.types() == types
            assert world.statuses() == ("running", "cancelled", "idle")

        return scene(
            f"a cancel in {point}",
            actor("user", act("send A, wait", lambda w: w.send("A"), World.wait)),
            before=lambda w: w.on(point, lambda w: w.cancel("mine")),
            check=check,
        )

    return (
        opening("turn/start", ["turn/start", "user/message", "turn/end"]),
        opening("step/start", ["turn/start", "user/message", "step/start", "step/end", "turn/end"]),
    )


@pytest.mark.case("CASE-004")
@pytest.mark.clause("B-08", "B-15", "B-36")
def test_a_cancel_while_the_turn_or_its_step_opens_calls_no_model(examine: Examine) -> None:
    """What was opened is closed, with the listener's reason, and the model is not asked."""
    examine(*case_004())


def case_006() -> Scenes:
    """Cancel with one reason in three places."""

    def unstarted(world: World) -> None:
        assert world.endings() == ()
        assert world.discards() == [("A", "cancelled", "why")]

    def started(world: World) -> None:
        assert world.endings() == ("aborted: why",)
        assert world.discards() == []

    def cancel(world: World) -> None:
        world.cancel("why")

    send = actor("user", lambda w: w.send("A"))
    return (
        scene(
            "the reason before the turn",
            actor("user", act("send A, cancel", lambda w: w.send("A"), cancel)),
            check=unstarted,
        ),
        scene(
            "the reason while the model answers",
            actor("user", cancel),
            before=a_runs,
            answers={"A": ("more", *HELD)},
            check=started,
        ),
        scene(
            "the reason at the end of a step",
            send,
            before=lambda w: w.on("step/end", cancel),
            check=started,
        ),
    )


@pytest.mark.case("CASE-006")
@pytest.mark.clause("A-55", "B-02", "B-17", "B-26", "B-36")
def test_the_reason_does_not_depend_on_where_the_cancel_lands(examine: Examine) -> None:
    """The turn, or the discard where there is no turn, carries the caller's reason."""
    examine(*case_006())


def case_007() -> Scenes:
    """Send, wait, cancel, send in one stretch."""

    def check(world: World) -> None:
        assert world.discards() == [("A", "cancelled", "stop")]
        assert world.turns() == [["B", "completed"]]
        assert world.calls == ["B"]
        assert [release.endings for release in world.releases] == [("completed",)]

    stretch = act(
        "send A, wait, cancel, send B",
        lambda w: w.send("A"),
        World.wait_at_once,
        lambda w: w.cancel("stop"),
        lambda w: w.send("B"),
    )
    return (scene("send, cancel, send", actor("user", stretch), check=check),)


@pytest.mark.case("CASE-007")
@pytest.mark.clause("A-37", "A-52", "B-03")
@pytest.mark.seed("SEED-08")
def test_the_prompt_after_a_cancelled_one_is_not_eaten(examine: Examine) -> None:
    """The second prompt runs once, and the waiter of the first is released behind it."""
    examine(*case_007())


def case_010() -> Scenes:
    """Replace the work of a turn that hangs, and perhaps stop the replacement."""

    def replaced(world: World) -> None:
        assert world.turns() == [["A", "aborted: one"], ["B", "completed"]]
        assert world.statuses() == ("running", "cancelled", "running", "idle")

    def stopped(world: World) -> None:
        assert world.turns() == [["A", "aborted: one"]]
        assert world.discards() == [("B", "cancelled", "two")]
        assert world.statuses() == ("running", "cancelled", "idle")

    def ended(world: World) -> None:
        assert world.turns() == [["A", "disposed"]]
        assert world.discards() == [("B", "disposed", "disposed")]
        assert world.calls == ["A"]
        assert len(world.reports) == 1

    def run(name: str, check: Act, *more: Act) -> Scenario[World]:
        replace = act(name, lambda w: w.cancel("one"), lambda w: w.send("B"), *more)
        return scene(name, actor("user", replace), before=a_runs, answers={"A": HELD}, check=check)

    return (
        run("cancel, send B", replaced),
        run("cancel, send B, cancel", stopped, lambda w: w.cancel("two")),
        run("cancel, send B, dispose", ended, World.dispose),
    )


@pytest.mark.case("CASE-010")
@pytest.mark.clause("A-52", "B-39", "B-136", "C-06")
def test_a_prompt_sent_while_the_turn_unwinds_needs_no_second_wake(examine: Examine) -> None:
    """Replacement work runs by itself, unless it is stopped in its turn."""
    examine(*case_010())


def case_012() -> Scenes:
    """Cancel three turns in a row, the last one twice."""

    def check(world: World) -> None:
        assert world.turns() == [
            ["A", "aborted: one"],
            ["B", "aborted: two"],
            ["C", "aborted: three"],
        ]
        assert world.statuses() == ("running", "cancelled", "idle") * 3
        assert world.discards() == []
        assert world.calls == ["A", "B", "C"]

    def twice(world: World) -> None:
        world.cancel("three")
        world.cancel("four")

    def arrange(world: World) -> None:
        world.when_asked("A", lambda w: w.cancel("one"))
        world.when_asked("B", lambda w: w.cancel("two"))
        world.when_asked("C", twice)
        world.when_asked("A", lambda w: w.after_idle("B"))
        world.when_asked("B", lambda w: w.after_idle("C"))

    return (
        scene("three cancels", actor("user", lambda w: w.send("A")), before=arrange, check=check),
    )


@pytest.mark.case("CASE-012")
@pytest.mark.clause("A-27", "A-28", "B-35")
def test_every_cancel_works_and_not_only_the_first(examine: Examine) -> None:
    """Each turn is aborted once, with the first reason it was given."""
    examine(*case_012())


def case_013() -> Scenes:
    """Cancel from inside the listener of the failure."""

    def check(world: World) -> None:
        assert world.turns() == [["A", "error"]]
        assert world.statuses() == ("running", "cancelled", "idle")
        assert world.calls == ["A"]
        assert len(world.errors) == 1

    return (
        scene(
            "a cancel in agent/error",
            actor("user", act("send A, wait", lambda w: w.send("A"), World.wait)),
            before=lambda w: w.on("error", lambda w: w.cancel("late")),
            answers={"A": ("more", "error")},
            check=check,
        ),
    )


@pytest.mark.case("CASE-013")
@pytest.mark.clause("B-76", "B-96", "B-98")
def test_a_cancel_during_a_failure_starts_nothing_new(examine: Examine) -> None:
    """The ending that was reported stays, and the agent comes to rest."""
    examine(*case_013())


def case_015() -> Scenes:
    """Send, or steer, behind a cancel, while the turn unwinds or later."""

    def check(world: World) -> None:
        assert world.turns() == [["A", "aborted: stop"], ["B", "completed"]]
        assert world.calls == ["A", "B"]

    def behind(name: str, offer: Act) -> Scenario[World]:
        user = actor("user", lambda w: w.cancel("stop"), offer)
        return scene(name, user, before=a_runs, answers={"A": HELD}, check=check)

    return (
        behind("cancel, send B", lambda w: w.send("B")),
        behind("cancel, steer B", lambda w: w.steer("B")),
    )


@pytest.mark.case("CASE-015")
@pytest.mark.clause("A-12", "A-52", "B-09", "B-106")
@pytest.mark.seed("SEED-08")
def test_what_comes_after_a_cancel_is_no_steering_of_the_dying_turn(examine: Examine) -> None:
    """It opens a turn of its own, as that turn's user message."""
    examine(*case_015())


def case_017() -> Scenes:
    """Cancel a model that swallows its cancellation and does not return."""

    def check(world: World) -> None:
        assert world.turns() == [["A", "aborted: stop"], ["B", "completed"]]
        closed = next(record for record in world.records() if record.type == "turn/end")
        assert closed.time_ms <= GRACE_S * 1000
        assert world.model.swallowed == 1
        assert world.stragglers() == ("the model's stream in turn 1",)
        told = len(world.records())
        world.answer("A")
        world.stage.run_until_quiet()
        assert len(world.records()) == told
        assert world.stragglers() == ()

    def reported(world: World) -> None:
        assert world.endings() == ("disposed",)
        # A schedule may let the time of the flush run out, too.
        ((report, _),) = world.reports
        assert report.stragglers[0] == "the model's stream in turn 1"
        world.answer("A")
        world.stage.run_until_quiet()
        assert world.types()[-1] == "turn/end"

    def stubborn(name: str, act: Actor[World], check: Act) -> Scenario[World]:
        return scene(
            name,
            act,
            before=a_runs,
            answers={"A": HELD},
            stubborn=frozenset("A"),
            cooperative=False,
            check=check,
        )

    user = actor("user", lambda w: w.cancel("stop"), lambda w: w.send("B"))
    return (
        stubborn("a stubborn model is cancelled", user, check),
        stubborn("a stubborn model is disposed", OWNER, reported),
    )


@pytest.mark.case("CASE-017")
@pytest.mark.clause("B-18", "B-117", "B-118", "B-119")
def test_a_model_that_swallows_its_cancellation_does_not_hold_the_agent(examine: Examine) -> None:
    """The turn closes within the grace, the model is named, and its late words are dropped."""
    examine(*case_017())


def case_018() -> Scenes:
    """Look at the request of a prompt that follows a cancelled one."""

    def check(world: World) -> None:
        assert world.calls == ["A", "B"]
        assert world.users_of(1) == ["A", "B"]
        assert world.turns() == [["A", "aborted: stop"], ["B", "completed"]]

    user = actor("user", lambda w: w.cancel("stop"), lambda w: w.send("B"))
    answers = {"A": ("more", *HELD)}
    return (scene("A cancelled, then B", user, before=a_runs, answers=answers, check=check),)


@pytest.mark.case("CASE-018")
@pytest.mark.clause("A-24", "B-106", "D-23")
def test_the_text_of_a_cancelled_prompt_does_not_return_in_a_later_one(examine: Examine) -> None:
    """The later prompt is a message of its own, and the newest."""
    examine(*case_018())
