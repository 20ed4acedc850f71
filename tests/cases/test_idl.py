"""Idle, waiting, status: waits that ended too early or never, and a status that lied."""

import pytest
from attrs import define

from runtime.ports import Clock
from statemachine.conformance.stage.schedules import Scenario

from .cast import Scenes
from .conftest import Examine
from .world import Act, World, act, actor, scene


def send_a(world: World) -> None:
    """Send A."""
    world.send("A")


def case_051() -> Scenes:
    """Send and wait in one tick."""

    def check(world: World) -> None:
        ((release),) = world.releases
        assert release.endings == ("completed",)
        assert release.flushes_ended == 1
        assert world.calls == ["A"]

    return (
        scene("send, wait", actor("user", act("send A, wait", send_a, World.wait)), check=check),
    )


@pytest.mark.case("CASE-051")
@pytest.mark.clause("A-30", "B-86")
def test_a_wait_right_after_a_send_waits_for_that_message(examine: Examine) -> None:
    """It ends behind the turn of the message and the flush of that turn."""
    examine(*case_051())


def case_052() -> Scenes:
    """Replace the work from inside the announcement of `running`."""

    def check(world: World) -> None:
        assert world.discards() == [("A", "cancelled", "other work")]
        assert world.turns() == [["B", "completed"]]
        assert world.calls == ["B"]
        assert world.statuses() == ("running", "cancelled", "running", "idle")
        assert [release.endings for release in world.releases] == [("completed",)]

    def replace(world: World) -> None:
        world.cancel("other work")
        world.send("B")

    return (
        scene(
            "other work in `running`",
            actor("user", act("send A, wait", send_a, World.wait_at_once)),
            before=lambda w: w.on("status running", replace),
            check=check,
        ),
    )


@pytest.mark.case("CASE-052")
@pytest.mark.clause("A-31", "A-37", "B-06")
@pytest.mark.seed("SEED-21")
def test_a_running_listener_that_replaces_the_work_does_not_free_the_waiters(
    examine: Examine,
) -> None:
    """The wait ends behind the turn of the replacement."""
    examine(*case_052())


def case_053() -> Scenes:
    """Cancel what a waiter waits for, before it starts."""

    def check(world: World) -> None:
        assert [release.status for release in world.releases] == ["idle"]
        assert world.statuses() == ()
        assert world.records() == ()

    stretch = act("send A, wait, cancel", send_a, World.wait_at_once, lambda w: w.cancel("stop"))
    return (scene("send, wait, cancel", actor("user", stretch), check=check),)


@pytest.mark.case("CASE-053")
@pytest.mark.clause("A-36", "B-02")
@pytest.mark.seed("SEED-09", "SEED-21")
def test_a_wait_survives_the_cancel_of_the_work_it_waited_for(examine: Examine) -> None:
    """The waiter is released although no status was announced."""
    examine(*case_053())


def case_057() -> Scenes:
    """Begin to wait when everything is over, while somebody may send again."""

    def check(world: World) -> None:
        was_at_rest, returned_at_once, endings = world.notes["late wait"]
        assert returned_at_once is was_at_rest
        assert endings[0] == "completed"
        ((release),) = world.releases
        assert release.endings == (endings if was_at_rest else ("completed", "completed"))

    def wait_late(world: World) -> None:
        was_at_rest = len(world.ledger.accepted) == len(world.endings())
        was_at_rest = was_at_rest and world.status() == "idle"
        world.notes["late wait"] = was_at_rest, world.wait_at_once(), world.endings()

    def a_is_over(world: World) -> None:
        world.send("A")
        world.stage.complete(world.subject.when_idle("a"))

    return (
        scene(
            "a late wait",
            actor("caller", wait_late),
            actor("other", lambda w: w.send("B")),
            before=a_is_over,
            check=check,
        ),
    )


@pytest.mark.case("CASE-057")
@pytest.mark.clause("A-29", "A-76")
def test_a_wait_that_begins_after_the_end_returns(examine: Examine) -> None:
    """It returns without waiting at rest, and waits if work has come since."""
    examine(*case_057())


@define
class _BrokenClock:
    """A clock that fails once."""

    clock: Clock
    has_failed: bool = False

    def now_ms(self) -> int:
        """Fail, then tell the time."""
        if not self.has_failed:
            self.has_failed = True
            raise OSError("the clock is broken")
        return self.clock.now_ms()


def _break_next_append(world: World) -> None:
    # The first thing an append needs from outside is the time.
    log = world.core().log
    log._clock = _BrokenClock(log._clock)  # noqa: SLF001  # no other way in


def case_058() -> Scenes:
    """Let the model, the flush and the opening of the turn fail."""

    def b_follows(ending: str) -> Act:
        def check(world: World) -> None:
            assert world.turns() == [["A", ending], ["B", "completed"]]
            assert len(world.errors) == 1
            assert world.status() == "idle"
            assert world.discards() == []

        return check

    def unopened(world: World) -> None:
        ((text, cause, reason),) = world.discards()
        assert (text, cause) == ("A", "error")
        assert "the clock is broken" in reason
        assert world.turns() == [["B", "completed"]]
        assert len(world.errors) == 1
        assert world.calls == ["B"]
        assert world.statuses()[0] == "running"

    def broken(world: World) -> None:
        world.on("status running", _break_next_append)
        # Behind the failure, or B would share the batch of A.
        world.on("error", lambda w: w.send("B"))

    send_b = actor("user", lambda w: w.send("B"))
    return (
        scene(
            "the model raises", send_b, before=send_a, answers={"A": ("error",)},
            check=b_follows("error"),
        ),
        scene(
            "the flush fails", send_b, before=send_a, flushes=("error", "ok"),
            check=b_follows("completed"),
        ),
        scene("the turn does not open", actor("user", send_a), before=broken, check=unopened),
    )  # fmt: skip


@pytest.mark.case("CASE-058")
@pytest.mark.clause("B-75", "B-85", "B-93", "B-110")
def test_a_failure_never_leaves_the_agent_busy(examine: Examine) -> None:
    """Each failure is reported once, and the next prompt runs."""
    examine(*case_058())


def case_061() -> Scenes:
    """Stop the work from inside the first record of its turn."""

    def stopped(ending: str, *statuses: str) -> Act:
        def check(world: World) -> None:
            assert world.calls == []
            assert world.turns() == [["A", ending]]
            assert world.types() == ["turn/start", "user/message", "turn/end"]
            assert world.statuses() == statuses
            assert world.announced_in_calls == []
            assert len(world.releases) == 1

        return check

    def run(name: str, stop: Act, check: Act) -> Scenario[World]:
        return scene(
            name,
            actor("user", act("send A, wait", send_a, World.wait)),
            before=lambda w: w.on("turn/start", stop),
            check=check,
        )

    return (
        run(
            "a cancel in the first record",
            lambda w: w.cancel("stop"),
            stopped("aborted: stop", "running", "cancelled", "idle"),
        ),
        run(
            "a dispose in the first record",
            World.dispose,
            stopped("disposed", "running", "disposed"),
        ),
    )


@pytest.mark.case("CASE-061")
@pytest.mark.clause("A-02", "A-42", "B-08", "B-41")
def test_a_listener_that_stops_the_work_as_it_is_taken_up_is_obeyed(examine: Examine) -> None:
    """No model is called, the records are closed, and statuses come in their order."""
    examine(*case_061())
