"""A few actors who do what they like: no story to check, but everything that always holds.

The oracle is the audit of the cases.
"""

import pytest

from runtime import Fate, exchange

from .cast import CANCELLER, OWNER, REPLACER, a_is_flushed, a_runs
from .conftest import Holds
from .world import HELD, Act, World, actor, scene


def nothing_more(_: World) -> None:
    """Leave it to the audit."""


@pytest.mark.clause("A-20", "A-32", "A-54", "F-17")
def test_send_cancel_dispose_and_a_waiter_in_any_order(holds: Holds) -> None:
    """Whatever comes first, each message has its fate and everybody comes back."""
    holds(
        scene(
            "send, cancel, dispose",
            actor("sender", lambda w: w.send("A")),
            CANCELLER,
            OWNER,
            flushes=(),
            check=nothing_more,
        ),
    )


@pytest.mark.clause("A-10", "A-12", "A-24", "A-54")
def test_steer_and_cancel_at_the_boundary_of_a_step(holds: Holds) -> None:
    """Steering is recorded in the running turn, or discarded, or work for the next turn."""

    def check(world: World) -> None:
        assert world.endings()[0] in ("completed", "aborted: why")
        texts = [text for turn in world.turns() for text in turn]
        assert sum("S" in text.split() for text in texts) + len(world.discards()) == 1

    holds(
        scene(
            "steer, cancel",
            actor("user", lambda w: w.steer("S")),
            CANCELLER,
            before=a_runs,
            answers={"A": ("call",)},
            flushes=(),
            check=check,
        ),
    )


@pytest.mark.clause("A-28", "B-35")
def test_of_two_cancels_the_first_gives_the_reason(holds: Holds) -> None:
    """The turn ends once, with one reason, and it is not the later one."""

    def cancel(reason: str) -> Act:
        def act(world: World) -> None:
            world.notes.setdefault("first", reason)
            world.cancel(reason)

        return act

    def check(world: World) -> None:
        assert world.endings() == (f"aborted: {world.notes['first']}",)
        assert world.statuses() == ("running", "cancelled", "idle")

    holds(
        scene(
            "two cancels",
            actor("one", cancel("one")),
            actor("two", cancel("two")),
            before=a_runs,
            answers={"A": ("more", *HELD)},
            check=check,
        ),
    )


@pytest.mark.clause("B-29", "B-31", "A-52")
def test_a_cancel_in_the_flush_window_spares_what_is_sent_behind_it(holds: Holds) -> None:
    """The turn that had ended stays completed, and the next prompt runs."""

    def check(world: World) -> None:
        assert world.turns() == [["A", "completed"], ["B", "completed"]]
        assert "cancelled" not in world.statuses()

    holds(
        scene(
            "cancel and send in the flush",
            actor("user", lambda w: w.cancel("late"), lambda w: w.send("B")),
            before=a_is_flushed,
            answers={"A": HELD},
            check=check,
        ),
    )


@pytest.mark.clause("B-46", "B-121", "F-17")
def test_a_dispose_in_the_flush_window_keeps_the_ending(holds: Holds) -> None:
    """The turn had completed; what waits is discarded or refused."""

    def check(world: World) -> None:
        assert world.endings()[0] == "completed"
        assert world.status() == "disposed"

    holds(
        scene(
            "dispose in the flush",
            OWNER,
            actor("sender", lambda w: w.send("B")),
            before=a_is_flushed,
            answers={"A": HELD},
            check=check,
        ),
    )


@pytest.mark.clause("A-14", "A-16", "A-74")
def test_what_is_injected_is_recorded_once_wherever_it_lands(holds: Holds) -> None:
    """Context joins an open turn or makes its own, also when a cancel is about."""

    def check(world: World) -> None:
        assert world.types().count("context/message") == 1
        assert world.discards() == []

    holds(
        scene(
            "inject, cancel",
            actor("plugin", lambda w: w.inject("X")),
            CANCELLER,
            before=a_runs,
            answers={"A": ("call",)},
            flushes=(),
            check=check,
        ),
    )


@pytest.mark.clause("A-24", "B-115")
def test_a_cancel_reaches_one_agent_and_not_its_neighbour(holds: Holds) -> None:
    """The other agent's turn, queue and status are its own."""

    def both_run(world: World) -> None:
        world.send("A")
        world.send("N", agent="b")

    def check(world: World) -> None:
        assert world.turns() == [["A", "aborted: why"]]
        assert world.turns("b") == [["N", "completed"], ["M", "completed"]]
        assert world.statuses("b") == ("running", "idle")

    holds(
        scene(
            "two agents",
            CANCELLER,
            actor("neighbour", lambda w: w.send("M", agent="b"), lambda w: w.answer("N")),
            before=both_run,
            agents=("a", "b"),
            answers={"A": HELD, "N": HELD},
            flushes=(),
            check=check,
        ),
    )


@pytest.mark.clause("A-37", "B-06", "B-101")
def test_a_listener_of_running_may_replace_the_work_while_others_send(holds: Holds) -> None:
    """What came before the replacement is discarded, what came behind it runs with it."""

    def replace(world: World) -> None:
        world.cancel("other work")
        world.send("B")

    def check(world: World) -> None:
        assert ("A", "cancelled", "other work") in world.discards()
        assert any("B" in turn for turn in world.turns())

    holds(
        scene(
            "replace in `running`",
            actor("sender", lambda w: w.send("A"), lambda w: w.send("C")),
            before=lambda w: w.on("status running", replace),
            check=check,
        ),
    )


@pytest.mark.clause("B-40", "B-41", "B-44", "A-69")
@pytest.mark.parametrize(
    ("point", "endings", "calls"),
    [
        ("status running", (), []),
        ("turn/start", ("disposed",), []),
        ("user/message", ("disposed",), []),
        ("step/start", ("disposed",), []),
        ("assistant/chunk", ("disposed",), ["A"]),
        ("turn/end", ("completed",), ["A"]),
    ],
)
def test_a_dispose_from_inside_a_listener_ends_the_agent(
    holds: Holds, point: str, endings: tuple[str, ...], calls: list[str]
) -> None:
    """The call returns at once, and the end comes by itself."""

    def check(world: World) -> None:
        assert world.status() == "disposed"
        assert len(world.reports) == 1
        assert world.reports[0][0].failed == ()
        assert world.endings() == endings
        assert world.calls == calls
        assert world.discards() == ([] if endings else [("A", "disposed", "disposed")])

    holds(
        scene(
            f"dispose from {point}",
            actor("user", lambda w: w.send("A")),
            before=lambda w: w.on(point, World.dispose),
            flushes=(),
            check=check,
        ),
    )


@pytest.mark.clause("A-64")
def test_a_waiter_that_gives_up_is_forgotten_and_no_other(holds: Holds) -> None:
    """Cancelling one wait for idle leaves the other waiters, and the agent, alone."""

    def wait(world: World) -> None:
        world.notes["waiter"] = world.stage.loop.create_task(world.subject.when_idle("a"))

    def give_up(world: World) -> None:
        world.notes["waiter"].cancel()

    def check(world: World) -> None:
        assert world.notes["waiter"].done()
        assert world.core().waiters == {}
        assert world.turns() == [["A", "completed"]]

    holds(
        scene(
            "a waiter gives up",
            actor("impatient", wait, give_up),
            actor("user", lambda w: w.send("A")),
            check=check,
        ),
    )


@pytest.mark.clause("A-54", "A-79")
@pytest.mark.parametrize("stop", ["cancel", "dispose"])
def test_an_exchange_learns_the_fate_of_its_own_message(holds: Holds, stop: str) -> None:
    """It comes back once, and says what the log and the discards say."""

    async def ask(world: World) -> None:
        world.notes["fate"] = await exchange(world.agents["a"], "A")

    def begin(world: World) -> None:
        world.epochs.setdefault("a", []).append(0)
        world.stage.spawn(ask(world), "exchange")
        world.stage.tick()

    def check(world: World) -> None:
        fate: Fate = world.notes["fate"]
        if fate.fate == "discarded":
            ((text, _, reason),) = world.discards()
            assert (text, reason) == ("A", fate.reason)
        else:
            assert world.endings()[0].partition(":")[0] == fate.ending
        assert (fate.text == "<A>") is (fate.ending == "completed")

    act: Act = (lambda w: w.cancel("why")) if stop == "cancel" else World.dispose
    holds(scene(f"exchange, {stop}", actor("user", act), before=begin, check=check))


@pytest.mark.clause("F-43")
def test_closing_the_runtime_ends_an_agent_wherever_it_is(holds: Holds) -> None:
    """Everything that was accepted has its fate when the runtime is closed."""

    def close(world: World) -> None:
        world.stage.spawn(_join(world), "closer")

    async def _join(world: World) -> None:
        await world.subject.runtime.aclose()

    def check(world: World) -> None:
        assert world.status() == "disposed"

    holds(
        scene(
            "close at any time",
            actor("user", lambda w: w.send("A"), lambda w: w.steer("S")),
            actor("host", close),
            flushes=(),
            check=check,
        ),
    )


@pytest.mark.clause("B-117", "B-118", "B-119", "A-52")
def test_a_model_that_lets_go_late_delays_nobody_beyond_the_grace(holds: Holds) -> None:
    """An uncooperative model is cut, or ends by itself; the next prompt runs either way."""

    def check(world: World) -> None:
        assert world.endings()[0] in ("aborted: why", "completed")
        assert world.turns()[-1] == ["B", "completed"]

    holds(
        scene(
            "an uncooperative model",
            REPLACER,
            before=a_runs,
            answers={"A": ("more", "ok")},
            cooperative=False,
            flushes=(),
            check=check,
        ),
    )


@pytest.mark.clause("B-85", "B-121", "B-122")
def test_a_flush_that_fails_stops_neither_a_cancel_nor_the_next_turn(holds: Holds) -> None:
    """The failure is reported, and the work goes on."""

    def check(world: World) -> None:
        assert world.turns()[-1] == ["B", "completed"]
        assert len(world.errors) <= 2

    holds(
        scene(
            "a failing flush",
            REPLACER,
            before=a_runs,
            flushes=("error",),
            check=check,
        ),
    )


@pytest.mark.clause("B-95", "F-40")
def test_whoever_cancels_the_drivers_task_disposes_the_agent(holds: Holds) -> None:
    """The turn is closed, the teardown runs by itself, and what comes later is refused."""

    def cancel_driver(world: World) -> None:
        driver = world.core().driver
        world.notes["struck"] = driver is not None and driver.cancel()

    def check(world: World) -> None:
        assert world.status() == ("disposed" if world.notes["struck"] else "idle")
        if world.notes["struck"]:
            assert not world.subject.observe("a").registered

    holds(
        scene(
            "a stranger cancels the driver",
            actor("stranger", cancel_driver),
            actor("sender", lambda w: w.send("B")),
            before=a_runs,
            check=check,
        ),
    )
