"""Disposing: teardowns that resolved too early, ran twice, or left work behind."""

import pytest

from statemachine.conformance.stage.schedules import Scenario

from .cast import OWNER, Scenes, a_runs
from .conftest import Examine
from .world import GRACE_S, HELD, World, actor, scene


def case_063() -> Scenes:
    """Dispose twice while the flush is still to come."""

    def check(world: World) -> None:
        assert world.teardowns[0] is world.teardowns[1]
        assert len(world.reports) == 2
        (first, when), (second, _) = world.reports
        assert first is second
        assert first.failed == ()
        # A schedule may let the time of the flush run out instead.
        assert when.flushes_ended == 1 or when.at_s >= GRACE_S
        assert world.notes["gone"] == 1
        assert world.statuses() == ("running", "disposed")

    def count(world: World) -> None:
        world.notes["gone"] = world.notes.get("gone", 0) + 1

    def listened(world: World) -> None:
        world.on("disposed", count, once=False)
        world.send("A")

    return (
        scene(
            "two disposals",
            OWNER,
            actor("host", World.dispose),
            before=listened,
            answers={"A": HELD},
            check=check,
        ),
    )


@pytest.mark.case("CASE-063")
@pytest.mark.clause("F-17", "F-33", "F-34")
def test_a_second_dispose_waits_for_the_first(examine: Examine) -> None:
    """Both resolve behind the flush, to one report, and no link runs twice."""
    examine(*case_063())


def case_071() -> Scenes:
    """Dispose while the model answers and goes on answering."""

    def check(world: World) -> None:
        ((_, when),) = world.reports
        assert when.endings == ("disposed",)
        # The log is looked at again once the model has said everything it had to say.
        world.answer("A")
        world.stage.run_until_quiet()
        assert world.records()[-1].type == "turn/end"
        assert world.endings() == ("disposed",)
        disposed_at = world.notes["records at the dispose"]
        later = [record.type for record in world.records()[disposed_at:]]
        assert later == ["step/end", "turn/end"]

    def dispose(world: World) -> None:
        world.dispose()
        world.notes["records at the dispose"] = len(world.records())

    def run(name: str, *, cooperative: bool) -> Scenario[World]:
        return scene(
            name,
            actor("owner", dispose),
            before=a_runs,
            answers={"A": ("more", *HELD, "more")},
            cooperative=cooperative,
            stubborn=frozenset() if cooperative else frozenset("A"),
            flushes=(),
            check=check,
        )

    return (run("the model lets go", cooperative=True), run("the model goes on", cooperative=False))


@pytest.mark.case("CASE-071")
@pytest.mark.clause("B-18", "B-44", "F-15")
def test_nothing_is_recorded_after_the_teardown(examine: Examine) -> None:
    """The log ends with the turn's end, for which the teardown has waited."""
    examine(*case_071())


def case_077() -> Scenes:
    """Send to an agent that is gone, and from inside its discards."""

    def refused(world: World) -> None:
        assert world.refused == ["A"]
        assert world.ledger.accepted == []
        assert world.records() == ()

    def nothing_taken(world: World) -> None:
        dropped = [("B", "disposed", "disposed"), ("C", "disposed", "disposed")]
        assert world.discards() == dropped
        assert world.refused == ["X", "X"]
        assert world.turns() == [["A", "disposed"]]
        assert world.statuses() == ("running", "disposed")

    def resend(world: World) -> None:
        # Bounded, for a runtime that accepts it would discard, and so ask for more, for ever.
        if len(world.discards()) <= 3:
            world.send("X")
        world.cancel("nothing left")

    def queued(world: World) -> None:
        world.send("A")
        world.stage.run_until_quiet()
        world.send("B")
        world.send("C")
        world.on("discarded", resend, once=False)

    return (
        scene(
            "send behind the dispose",
            actor("owner", World.dispose, lambda w: w.send("A")),
            check=refused,
        ),
        scene(
            "send from the discards",
            OWNER,
            before=queued,
            answers={"A": HELD},
            check=nothing_taken,
        ),
    )


@pytest.mark.case("CASE-077")
@pytest.mark.clause("A-20", "A-57", "B-39", "C-14")
def test_sending_to_a_disposed_agent_is_refused(examine: Examine) -> None:
    """The error says so, nothing is accepted, and what was queued is discarded once."""
    examine(*case_077())
