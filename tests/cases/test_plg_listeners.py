"""Plugins that listen: one that raises, and one that reads the log."""

from typing import Any

import pytest

from runtime import (
    AGENT_DISCARDED,
    AGENT_DISPOSED,
    AGENT_ERROR,
    AGENT_QUEUED,
    AGENT_STATUS,
    SESSION_EVENT,
    Announcement,
    RecordAppended,
)
from statemachine.conformance.stage.schedules import Scenario

from .cast import Scenes
from .conftest import Examine
from .world import Act, World, actor, scene

EVERYTHING: tuple[Announcement[Any], ...] = (
    AGENT_STATUS,
    SESSION_EVENT,
    AGENT_QUEUED,
    AGENT_DISCARDED,
    AGENT_ERROR,
    AGENT_DISPOSED,
)


def _a_listener_that_raises(world: World) -> None:
    """Register it for everything, and another one behind it that counts."""
    runtime = world.subject.runtime
    failed: list[object] = []
    heard: list[object] = []
    world.notes |= {"failed": failed, "heard": heard}

    def fail(notice: object) -> None:
        failed.append(notice)
        raise OSError("a listener")

    for kind in EVERYTHING:
        runtime.on(kind, fail, plugin="bad")
        runtime.on(kind, heard.append, plugin="good")


def case_126() -> Scenes:
    """Let a listener of everything raise, in a turn that works and in one that fails."""

    def check(ending: str) -> Act:
        def told(world: World) -> None:
            assert world.notes["heard"] == world.notes["failed"]
            records = [each for each in world.notes["heard"] if isinstance(each, RecordAppended)]
            assert [each.record for each in records] == list(world.records())
            assert world.turns() == [["A", ending]]
            assert world.status() == "idle"
            assert len(world.errors) == (ending == "error")

        return told

    def run(name: str, answer: str, ending: str) -> Scenario[World]:
        return scene(
            name,
            actor("user", lambda w: w.send("A")),
            before=_a_listener_that_raises,
            answers={"A": (answer,)},
            check=check(ending),
        )

    return (
        run("a turn that works", "ok", "completed"),
        run("a turn that fails", "error", "error"),
    )


@pytest.mark.case("CASE-126")
@pytest.mark.clause("B-84", "B-93", "B-126", "G-24")
def test_a_listener_that_raises_starves_nobody(examine: Examine) -> None:
    """Whoever listens behind it is told of everything, and the turn is what it would have been."""
    examine(*case_126())


_BOUNDARIES = ("turn/start", "step/start", "step/end", "turn/end")


def _a_reader_of_the_log(world: World) -> None:
    """Compare what is announced with what the log says at that moment."""
    tails: list[tuple[str, bool, bool]] = []
    world.notes["tails"] = tails

    def read(notice: RecordAppended) -> None:
        events, record = notice.session.events, notice.record
        is_in = record.seq < len(events) and events[record.seq] is record
        tails.append((record.type, is_in, is_in and events[-1] is record))

    world.subject.runtime.on(SESSION_EVENT, read)


def case_128() -> Scenes:
    """Read the log in a listener of its records, alone and beside one that cancels."""

    def in_the_log(world: World) -> None:
        assert [kind for kind, _, __ in world.notes["tails"]] == [
            record.type for record in world.records()
        ]
        assert all(is_in for _, is_in, __ in world.notes["tails"])

    def at_the_end(world: World) -> None:
        in_the_log(world)
        boundaries = [tail for tail in world.notes["tails"] if tail[0] in _BOUNDARIES]
        assert len(boundaries) == 4
        assert all(is_tail for _, __, is_tail in boundaries)

    def with_a_canceller(world: World) -> None:
        world.on("step/start", lambda w: w.cancel("stop"))
        _a_reader_of_the_log(world)

    user = actor("user", lambda w: w.send("A"))
    return (
        scene("nobody interferes", user, before=_a_reader_of_the_log, check=at_the_end),
        scene("a listener cancels", user, before=with_a_canceller, check=in_the_log),
    )


@pytest.mark.case("CASE-128")
@pytest.mark.clause("B-130", "D-01", "D-50")
def test_a_record_is_in_the_log_before_it_is_announced(examine: Examine) -> None:
    """Also for the record of a boundary, which is then the last one."""
    examine(*case_128())
