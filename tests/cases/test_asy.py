"""Async primitives: cancellations that were eaten, tasks that nobody held, ends that were cut."""

import asyncio
import gc
from typing import Any

import pytest

from runtime import AGENT_QUEUED, AGENT_STATUS, Announcement, DuplicateIdError
from statemachine.conformance.stage.schedules import Scenario

from .cast import OWNER, Scenes, a_runs
from .conftest import Examine
from .world import GRACE_S, HELD, Act, World, act, actor, scene

DEADLINE_S = 1.0


def case_156() -> Scenes:
    """Let the answer and the cancel come in one pass of the loop, in either order."""

    def check(world: World) -> None:
        assert world.turns() == [["A", "aborted: stop"], ["B", "completed"]]
        assert world.calls == ["A", "B"]
        assert world.types().count("assistant/message") == 1

    def run(name: str, *acts: Act, cooperative: bool) -> Scenario[World]:
        return scene(
            f"{name}, {'on the task' if cooperative else 'beside it'}",
            actor("user", act(f"{name}, then B", *acts, lambda w: w.send("B"))),
            before=a_runs,
            answers={"A": HELD},
            cooperative=cooperative,
            flushes=("ok",) if cooperative else (),
            check=check,
        )

    def answer(world: World) -> None:
        world.answer("A")

    def cancel(world: World) -> None:
        world.cancel("stop")

    return tuple(
        run(name, *acts, cooperative=cooperative)
        for cooperative in (True, False)
        for name, acts in (
            ("an answer, then a cancel", (answer, cancel)),
            ("a cancel, then an answer", (cancel, answer)),
        )
    )


@pytest.mark.case("CASE-156")
@pytest.mark.clause("B-19", "B-118")
def test_a_cancel_in_the_tick_of_the_answer_is_not_swallowed(examine: Examine) -> None:
    """The turn is aborted without a message, and the flush behind it is not struck."""
    examine(*case_156())


def case_159() -> Scenes:
    """Collect garbage while a flush runs that nobody waits for, then dispose."""

    def check(world: World) -> None:
        ((report, when),) = world.reports
        assert when.flushes_ended == 1 or report.stragglers
        assert when.flushes_ended == world.flushes_begun or when.at_s >= GRACE_S

    return (
        scene(
            "garbage is collected",
            actor("host", act("collect", lambda _: gc.collect(1))),
            OWNER,
            before=lambda w: w.inject("X"),
            check=check,
        ),
    )


@pytest.mark.case("CASE-159")
@pytest.mark.clause("A-67", "F-34")
def test_a_task_that_nobody_waits_for_is_held(examine: Examine) -> None:
    """The runtime keeps it, and the teardown waits for it or names it."""
    examine(*case_159())


def case_160() -> Scenes:
    """Cancel, twice, the task that waits for the teardown."""

    def check(world: World) -> None:
        waiting: asyncio.Task[object] = world.notes["waiting"]
        assert waiting.done()
        assert waiting.cancelled() or waiting.result() is world.reports[0][0]
        ((report, when),) = world.reports
        assert report.failed == ()
        assert when.endings == ("disposed",)
        assert world.subject.runtime.agents.get("a") is None

    async def wait_for_end(world: World) -> object:
        return await world.subject.dispose("a")

    def wait(world: World) -> None:
        world.notes["waiting"] = world.stage.loop.create_task(wait_for_end(world), name="impatient")

    def give_up(world: World) -> None:
        if "waiting" in world.notes:
            world.notes["waiting"].cancel()

    return (
        scene(
            "an impatient waiter",
            actor("owner", wait, World.dispose),
            actor("impatience", act("give up twice", give_up, give_up)),
            before=a_runs,
            answers={"A": HELD},
            flushes=(),
            check=check,
        ),
    )


@pytest.mark.case("CASE-160")
@pytest.mark.clause("F-17", "F-33")
def test_a_waiter_that_gives_up_cuts_no_teardown(examine: Examine) -> None:
    """The teardown runs in a task of its own, and whoever else waits gets its report."""
    examine(*case_160())


def case_161() -> Scenes:
    """Raise a cancellation in the middle of the announcements."""

    def check(world: World) -> None:
        assert [text for turn in world.turns() for text in turn if text in "AB"] == ["A", "B"]
        assert set(world.endings()) == {"completed"}
        assert len(world.notes["raised"]) >= 4
        assert world.notes["heard"] == world.notes["raised"]
        assert world.errors == []

    def raise_cancelled(world: World) -> None:
        raised: list[object] = []
        heard: list[object] = []
        world.notes |= {"raised": raised, "heard": heard}

        def listener(notice: object) -> None:
            raised.append(notice)
            raise asyncio.CancelledError

        kinds: tuple[Announcement[Any], ...] = (AGENT_STATUS, AGENT_QUEUED)
        for kind in kinds:
            world.subject.runtime.on(kind, listener)
            world.subject.runtime.on(kind, heard.append)

    return (
        scene(
            "a listener raises a cancellation",
            actor("user", lambda w: w.send("A"), lambda w: w.send("B")),
            before=raise_cancelled,
            check=check,
        ),
    )


@pytest.mark.case("CASE-161")
@pytest.mark.clause("B-93", "B-126")
def test_a_cancellation_in_the_announcements_stops_no_later_one(examine: Examine) -> None:
    """What is processing stays able to process."""
    examine(*case_161())


def _with_a_deadline(world: World) -> None:
    async def waits() -> None:
        try:
            async with asyncio.timeout(DEADLINE_S):
                await world.subject.when_idle("a")
        except TimeoutError:
            world.notes["timed out"] = world.look()

    world.stage.spawn(waits(), "has a deadline")


def _cancel_the_driver(world: World) -> None:
    driver = world.core().driver
    if driver is not None:
        driver.cancel()


def case_163() -> Scenes:
    """Let a deadline around a wait pass, and a stranger cancel the driver behind our own cancel."""

    def timed_out(world: World) -> None:
        when = world.notes["timed out"]
        assert (when.at_s, when.endings) == (DEADLINE_S, ())
        # The agent goes on as if nobody had waited.
        world.answer("A")
        world.stage.settle()
        assert world.turns() == [["A", "completed"], ["B", "completed"]]

    def disposed(world: World) -> None:
        assert world.endings() == ("disposed",)
        assert world.statuses() == ("running", "cancelled", "disposed")
        assert world.calls == ["A"]
        assert world.subject.runtime.agents.get("a") is None

    return (
        scene(
            "a deadline around a wait",
            actor("caller", _with_a_deadline),
            actor("user", lambda w: w.send("B")),
            before=a_runs,
            answers={"A": HELD},
            check=timed_out,
        ),
        scene(
            "a stranger behind a cancel",
            actor("both", act("cancel, cancel the task", World.cancel, _cancel_the_driver)),
            before=a_runs,
            answers={"A": HELD},
            check=disposed,
        ),
    )


@pytest.mark.case("CASE-163")
@pytest.mark.clause("A-66", "B-95")
def test_a_cancellation_reaches_whoever_asked_for_it(examine: Examine) -> None:
    """A deadline passes to its owner, and a stranger's cancellation is told from ours."""
    examine(*case_163())


def case_165() -> Scenes:
    """Take an agent's session for another agent, without waiting for the end of the first."""

    def replace(world: World) -> None:
        first = world.subject.observe("a")
        world.notes["records"] = len(first.log)
        try:
            world.subject.create("b", "session of a")
        except DuplicateIdError:
            world.notes["refused"] = first.in_store
        else:
            found = world.subject.runtime.agents.get("b")
            assert found is not None
            world.agents["b"] = found
            world.notes["was free"] = bool(world.teardowns) and not first.in_store
            world.send("B", "b")

    def check(world: World) -> None:
        # What the first one's model says now is nobody's.
        world.answer("A")
        world.stage.run_until_quiet()
        assert world.records()[-1].type == "turn/end"
        assert world.endings() == ("disposed",)
        if "b" in world.agents:
            assert world.notes["was free"]
            assert len(world.records()) == world.notes["records"]
            assert world.turns("b") == [["B", "completed"]]
        else:
            assert world.notes["refused"]

    def run(name: str, *, cooperative: bool) -> Scenario[World]:
        return scene(
            name,
            OWNER,
            actor("successor", replace),
            before=a_runs,
            answers={"A": ("more", *HELD)},
            flushes=(),
            stubborn=frozenset() if cooperative else frozenset("A"),
            cooperative=cooperative,
            check=check,
        )

    return (run("a session soon free", cooperative=True), run("one held", cooperative=False))


@pytest.mark.case("CASE-165")
@pytest.mark.clause("A-48", "F-22", "F-38")
def test_a_predecessor_is_joined_before_its_session_is_free(examine: Examine) -> None:
    """Until the teardown is over the session is refused; afterwards the old one writes nothing."""
    examine(*case_165())
