"""Cancelling: a stop that came too early, too late, or hit the wrong work."""

import pytest

from statemachine.conformance.schedules import Scenario

from .conftest import Examine
from .world import GRACE_S, HELD, Act, World, act, actor, scene

Scenes = tuple[Scenario[World], ...]


def a_runs(world: World) -> None:
    """Send A; setting up ends with the model being asked."""
    world.send("A")


def case_001() -> Scenes:
    """Cancel an agent at rest, then give it work."""

    def check(world: World) -> None:
        assert world.turns() == [["A", "completed"]]
        assert world.calls == ["A"]
        assert world.statuses() == ("running", "idle")
        assert world.discards() == []
        assert [release.endings for release in world.releases] == [("completed",)]

    user = actor(
        "user", lambda w: w.cancel("nothing"), act("send A, wait", lambda w: w.send("A"), World.wait)
    )
    return (scene("a cancel at rest", user, check=check),)


@pytest.mark.case("CASE-001")
@pytest.mark.clause("A-22", "B-01")
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
        opening(
            "step/start", ["turn/start", "user/message", "step/start", "step/end", "turn/end"]
        ),
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
