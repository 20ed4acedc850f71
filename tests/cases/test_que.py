"""Queue, steering, injection: messages that were lost, doubled, joined together or left lying."""

import pytest

from statemachine.conformance.stage.schedules import Scenario

from .cast import Scenes, a_runs
from .conftest import Examine
from .world import HELD, Act, World, act, actor, scene


def case_031() -> Scenes:
    """Steer behind the last look of a turn, in three places."""

    def one_more_step(world: World) -> None:
        assert world.turns() == [["A", "steering S", "completed"]]
        assert world.types().count("step/start") == 2
        assert len(world.calls) == 2
        assert "\nS\n" in world.calls[1]

    def one_more_turn(world: World) -> None:
        assert world.turns() == [["A", "completed"], ["S", "completed"]]
        assert world.calls == ["A", "S"]

    def from_listener(point: str, check: Act) -> Scenario[World]:
        return scene(
            f"steering from {point}",
            actor("user", lambda w: w.send("A")),
            before=lambda w: w.on(point, lambda w: w.steer("S")),
            check=check,
        )

    def a_is_flushed(world: World) -> None:
        world.send("A")
        world.stage.run_until_quiet()
        world.answer("A")

    return (
        from_listener("step/end", one_more_step),
        from_listener("turn/end", one_more_turn),
        scene(
            "steering while the flush is awaited",
            actor("user", lambda w: w.steer("S")),
            before=a_is_flushed,
            answers={"A": HELD},
            check=one_more_turn,
        ),
    )


@pytest.mark.case("CASE-031")
@pytest.mark.clause("A-13", "B-69", "B-105", "C-10")
def test_steering_that_just_misses_the_last_look_of_a_turn_is_answered(examine: Examine) -> None:
    """It makes one more step, or one more turn, without any further call."""
    examine(*case_031())


def case_032() -> Scenes:
    """Steer an agent at rest."""

    def check(world: World) -> None:
        assert world.turns() == [["S", "completed"]]
        assert world.types().count("user/message") == 1
        assert world.calls == ["S"]
        assert [release.endings for release in world.releases] == [("completed",)]

    user = actor("user", act("steer S, wait", lambda w: w.steer("S"), World.wait))
    return (scene("steering at rest", user, check=check),)


@pytest.mark.case("CASE-032")
@pytest.mark.clause("A-11")
@pytest.mark.seed("SEED-24")
def test_steering_an_idle_agent_is_sending(examine: Examine) -> None:
    """One turn with one user message and one call of the model."""
    examine(*case_032())


def case_034() -> Scenes:
    """Cancel while steering waits, and while it is being recorded."""

    def dropped(world: World) -> None:
        assert world.discards() == [("S", "cancelled", "why")]
        assert world.turns() == [["A", "aborted: why"]]

    def recorded(world: World) -> None:
        assert world.discards() == []
        assert world.turns() == [["A", "steering S", "aborted: why"]]
        assert world.calls == ["A"]

    def steered(world: World) -> None:
        world.send("A")
        world.stage.run_until_quiet()
        world.steer("S")
        world.on("steering/message", lambda w: w.cancel("why"))

    return (
        scene(
            "a cancel before steering is taken",
            actor("user", lambda w: w.steer("S"), lambda w: w.cancel("why")),
            before=a_runs,
            answers={"A": HELD},
            check=dropped,
        ),
        scene(
            "a cancel from steering/message",
            actor("caller", World.wait),
            before=steered,
            check=recorded,
        ),
    )


@pytest.mark.case("CASE-034")
@pytest.mark.clause("A-24", "A-54")
def test_steering_that_meets_a_cancel_has_one_fate(examine: Examine) -> None:
    """It is discarded or recorded, never both."""
    examine(*case_034())


def case_036() -> Scenes:
    """Mix everything, and keep the books."""

    def check(world: World) -> None:
        assert len(world.ledger.accepted) + len(world.refused) == 3
        assert {cause for _, cause, _ in world.discards()} <= {"cancelled", "disposed"}

    def mixture(*others: Act) -> Scenario[World]:
        return scene(
            "a mixture",
            actor("sender", lambda w: w.send("A"), lambda w: w.send("B")),
            actor("other", lambda w: w.steer("S"), *others),
            flushes=(),
            check=check,
        )

    return (mixture(lambda w: w.cancel("why")), mixture(World.dispose))


@pytest.mark.case("CASE-036")
@pytest.mark.clause("A-53", "A-54", "A-55")
def test_every_accepted_message_ends_exactly_once(examine: Examine) -> None:
    """Each announced id is in exactly one record or one discard."""
    examine(*case_036())


def case_037() -> Scenes:
    """Let the model fail on a prompt behind which another waits."""

    def check(world: World) -> None:
        assert world.turns() == [["A", "completed"], ["B", "error"], ["C", "completed"]]
        assert world.calls == ["A", "B", "C"]
        assert world.discards() == []

    def b_waits(world: World) -> None:
        world.send("A")
        world.stage.run_until_quiet()
        world.send("B")
        world.when_asked("B", lambda w: w.send("C"))

    answers = {"B": ("error",)}
    caller = actor("caller", World.wait)
    return (scene("B fails", caller, before=b_waits, answers=answers, check=check),)


@pytest.mark.case("CASE-037")
@pytest.mark.clause("B-75", "B-93", "B-111")
def test_a_failed_turn_does_not_deliver_its_prompt_again(examine: Examine) -> None:
    """The failed prompt is in the log once, and the one behind it runs next."""
    examine(*case_037())


def case_039() -> Scenes:
    """Queue two prompts behind a turn that ends by itself, and by a cancel."""

    def separate(ending: str) -> Act:
        def check(world: World) -> None:
            assert world.turns() == [["A", ending], ["B", "C", "completed"]]
            ids = [r.data["message_id"] for r in world.records() if r.type == "user/message"]
            assert ids == ["m1", "m2", "m3"]
            assert world.users_of(1) == ["A", "B", "C"]

        return check

    def both(world: World) -> None:
        world.send("B")
        world.send("C")

    by_itself = actor("user", lambda w: w.send("B"), lambda w: w.send("C"), lambda w: w.answer("A"))
    cancelled = actor("user", act("cancel, send B and C", lambda w: w.cancel("stop"), both))
    return (
        scene(
            "A ends by itself",
            by_itself,
            before=a_runs,
            answers={"A": HELD},
            check=separate("completed"),
        ),
        scene(
            "A is cancelled",
            cancelled,
            before=a_runs,
            answers={"A": HELD},
            check=separate("aborted: stop"),
        ),
    )


@pytest.mark.case("CASE-039")
@pytest.mark.clause("A-05", "A-06", "B-106")
def test_prompts_that_share_a_turn_stay_separate_messages(examine: Examine) -> None:
    """One turn holds two records, in order, each with its own text and id."""
    examine(*case_039())


def case_040() -> Scenes:
    """Cancel a turn behind which a prompt and steering wait."""

    def check(world: World) -> None:
        assert sorted(world.discards()) == [("B", "cancelled", "why"), ("S", "cancelled", "why")]
        assert world.turns() == [["A", "aborted: why"]]
        assert world.calls == ["A"]
        assert world.status() == "idle"

    user = actor("user", lambda w: w.send("B"), lambda w: w.steer("S"), lambda w: w.cancel("why"))
    return (scene("one cancel for all", user, before=a_runs, answers={"A": HELD}, check=check),)


@pytest.mark.case("CASE-040")
@pytest.mark.clause("A-24", "A-55", "B-135")
def test_one_cancel_brings_an_agent_with_waiting_work_to_rest(examine: Examine) -> None:
    """What waited is discarded with the reason, and no other call is made."""
    examine(*case_040())


def case_041() -> Scenes:
    """Send while the flush of a cancelled turn is awaited."""

    def check(world: World) -> None:
        assert world.endings()[0] == "aborted: stop"
        assert set(world.endings()[1:]) == {"completed"}
        messages = [text for turn in world.turns() for text in turn[:-1]]
        assert messages == ["A", "B", "C"]
        assert world.turns()[0] == ["A", "aborted: stop"]
        assert world.discards() == []

    def unwinding(world: World) -> None:
        world.send("A")
        world.stage.run_until_quiet()
        world.cancel("stop")

    return (
        scene(
            "two prompts in the flush",
            actor("user", lambda w: w.send("B"), lambda w: w.send("C")),
            before=unwinding,
            answers={"A": HELD},
            check=check,
        ),
    )


@pytest.mark.case("CASE-041")
@pytest.mark.clause("A-02", "A-52", "B-31")
def test_the_inbox_works_while_a_cancelled_turn_unwinds(examine: Examine) -> None:
    """Prompts sent meanwhile are accepted and run behind it, in their order."""
    examine(*case_041())


def case_042() -> Scenes:
    """Send three prompts while a turn runs."""

    def check(world: World) -> None:
        assert world.turns() == [["A", "completed"], ["B", "C", "D", "completed"]]
        assert world.users_of(1)[-3:] == ["B", "C", "D"]

    user = actor(
        "user",
        lambda w: w.send("B"),
        lambda w: w.send("C"),
        lambda w: w.send("D"),
        lambda w: w.answer("A"),
    )
    return (scene("three prompts", user, before=a_runs, answers={"A": HELD}, check=check),)


@pytest.mark.case("CASE-042")
@pytest.mark.clause("A-05", "A-06", "C-02")
def test_later_messages_do_not_replace_earlier_ones(examine: Examine) -> None:
    """All of them are recorded, in the order in which they were sent."""
    examine(*case_042())


def case_048() -> Scenes:
    """Inject into an agent at rest, with a listener that raises and a flush that waits."""

    def check(world: World) -> None:
        assert world.notes["released"] == [("idle", 0)]
        assert world.calls == ["A"]
        assert world.turns() == [["context X", "completed"], ["A", "completed"]]
        context, prompt = world.users_of(0)
        assert "\nX\n" in context
        assert prompt == "A"
        assert world.flushes_ended == 2
        assert world.errors == []

    def raising(_: World) -> None:
        raise RuntimeError("a listener of the case")

    def injected(world: World) -> None:
        for point in ("turn/start", "context/message", "turn/end"):
            world.on(point, raising)
        world.inject("X")
        world.wait()
        world.stage.run_until_quiet()
        world.notes["released"] = [(r.status, r.flushes_ended) for r in world.releases]

    return (
        scene(
            "an injection at rest",
            actor("user", lambda w: w.send("A")),
            actor("disk", World.let_flush),
            before=injected,
            flushes=(*HELD, "ok"),
            check=check,
        ),
    )


@pytest.mark.case("CASE-048")
@pytest.mark.clause("A-14", "A-67", "A-73", "A-75")
def test_an_injection_on_an_idle_agent_leaves_a_closed_turn_and_calls_nobody(
    examine: Examine,
) -> None:
    """The wait does not depend on its flush, and the next request has it in front."""
    examine(*case_048())


def case_049() -> Scenes:
    """Cancel what woke the driver, before it is taken up and while that is announced."""

    def check(*statuses: str) -> Act:
        def nothing_ran(world: World) -> None:
            assert world.records() == ()
            assert world.calls == []
            assert world.statuses() == statuses
            assert world.status() == "idle"
            assert world.discards() == [("A", "cancelled", "stop")]

        return nothing_ran

    def stop(world: World) -> None:
        world.cancel("stop")

    return (
        scene(
            "a cancel behind the wake",
            actor("user", act("send A, cancel", lambda w: w.send("A"), stop)),
            check=check(),
        ),
        scene(
            "a cancel in `running`",
            actor("user", lambda w: w.send("A")),
            before=lambda w: w.on("status running", stop),
            check=check("running", "cancelled", "idle"),
        ),
    )


@pytest.mark.case("CASE-049")
@pytest.mark.clause("B-02", "B-05", "C-09")
def test_a_wake_without_a_message_opens_no_turn(examine: Examine) -> None:
    """The agent rests again, by way of `cancelled` if others had heard of `running`."""
    examine(*case_049())
