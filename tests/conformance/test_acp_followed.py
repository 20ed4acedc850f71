"""The real bridge does what the bridge world can do, and a fault planted in it is told at once."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from statemachine.conformance.stage.schedules import Actor, Scenario, SearchResult, search
from statemachine.conformance.verdict.parts import merge_parts
from statemachine.worlds import Call, DisagreementError, Follower, Row, Seen, follows
from statemachine.worlds.bridge import (
    Outcome,
    Progress,
    State,
    Told,
    View,
    bridge_follower,
    view_of,
)
from statemachine.worlds.bridge import table as t
from tests.conformance import acp_plants
from tests.conformance import test_acp_suite as oracles
from tests.conformance.acp_clients import Count
from tests.conformance.acp_followed import FollowedWorld
from tests.conformance.acp_following import FOLLOWER, PROMPTS_MAX, SESSIONS_MAX
from tests.conformance.acp_scripts import RACES, SCRIPTS, Act, make_conversation
from tests.conformance.acp_suite import acp_suite

Plant = Callable[[pytest.MonkeyPatch], None]


@pytest.mark.clause("J-13", "J-19", "J-21", "J-22", "J-23", "J-28", "J-33", "J-34", "J-35", "J-36")
@pytest.mark.clause("J-38", "J-40", "J-48", "J-54", "J-57", "J-58")
@pytest.mark.slow
def test_the_bridge_follows_its_world(parts_directory: Path | None) -> None:
    """Whatever is created, loaded, prompted, cancelled, closed and left, in any order."""
    why, count = None, Count()
    try:
        acp_suite(count=count, examples=400, make_world=FollowedWorld)
    except DisagreementError as error:
        why = str(error)
        raise
    finally:
        if parts_directory is not None:
            text = part(count, why)
            (parts_directory / "bridge.json").write_text(text, encoding="utf-8")
    assert count.events >= {event.name for event in (*t.WRITTEN, *SAID)} - {t.STORE_FAILS.name}
    assert count.refused >= {event.name for event in (t.LOAD, t.PROMPT, t.CLOSE)}


SAID: Final = (t.NEW, t.LOAD, t.PROMPT, t.CANCEL, t.CLOSE, t.DISCONNECT)


def part(count: Count, why: str | None) -> str:
    """Tell the verdict what was compared with the world."""
    rows = [
        {
            "id": row,
            "checks": [
                {
                    "name": f"clients: {name}",
                    "kind": kind,
                    "engine": "suites",
                    "explored": explored,
                    "why": why,
                }
                for kind, name, explored in (
                    ("always", "the bridge does what the bridge world can do", count.looks),
                    ("eventually", "at rest the bridge owes nothing of its world", count.gone),
                )
            ],
        }
        for row in ("INV-14", "INV-15")
    ]
    suite = {"name": "bridge", "examples": count.programs, "judged": count.looks}
    return json.dumps({"criteria": rows, "suites": [suite]}, indent=2)


def test_the_part_of_the_verdict_can_be_read(tmp_path: Path) -> None:
    """What is written has the form that the verdict reads."""
    text = part(Count(looks=3, gone=2), "no")
    (tmp_path / "bridge.json").write_text(text, encoding="utf-8")
    checks = merge_parts(tmp_path).checks
    assert [each.criterion for each in checks] == ["INV-14"] * 2 + ["INV-15"] * 2
    assert [each.kind.value for each in checks] == ["always", "eventually"] * 2
    assert [(each.explored, each.why) for each in checks] == [(3, "no"), (2, "no")] * 2


# -- Races, and the faults that they find ----------------------------------------------------------


def run(race: Act, follower: Follower[State, View] = FOLLOWER) -> None:
    """Play one race to its end."""
    world = FollowedWorld(follower=follower)
    try:
        race(world)
        world.finish()
    finally:
        world.shut()


@pytest.mark.clause("J-13", "J-19", "J-36", "J-54", "J-57", "J-58")
@pytest.mark.parametrize("race", RACES, ids=lambda race: race.__name__)
def test_a_race_follows_the_world(race: Act) -> None:
    """Without a fault there is nothing to tell."""
    run(race)


def searched(name: str, deviations: int) -> SearchResult:
    """Search the schedules of one script."""
    is_stored, actors = SCRIPTS[name]
    scenario = Scenario(
        name=name,
        actors=tuple(
            Actor(name=f"actor {number}", actions=acts) for number, acts in enumerate(actors)
        ),
        setup=lambda stage: make_conversation(
            FollowedWorld(stage=stage, is_guest=True), is_stored=is_stored
        ),
        check=close_down,
        after_each=lambda world: world.following.judge(),
    )
    return search(scenario, deviations=deviations)


def close_down(world: FollowedWorld) -> None:
    """Judge the rest, and leave nothing."""
    try:
        world.finish()
    finally:
        world.shut()


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_race_follows_the_world_under_every_near_schedule(name: str, deviations: int) -> None:
    """What nobody prompts has few schedules; where models answer, one deviation fewer is tried."""
    is_stored, _ = SCRIPTS[name]
    result = searched(name, deviations if is_stored else max(1, deviations - 1))
    assert result.failure is None, f"{result.failure.text}\n{result.failure.story}"
    assert result.complete
    assert result.runs > len(result.runs_by_deviations)


PLANTS: Final[dict[Plant, str]] = {**oracles.PLANTS, **acp_plants.PLANTS}


@pytest.mark.parametrize(
    ("plant", "row"), PLANTS.items(), ids=[plant.__name__.strip("_") for plant in PLANTS]
)
def test_a_fault_of_the_bridge_is_told(
    plant: Plant, row: str, monkeypatch: pytest.MonkeyPatch, parts_directory: Path | None
) -> None:
    """Some race shows it at the first callback at which the world could not have come to that."""
    plant(monkeypatch)
    stories = [story for race in RACES if (story := disagreement(race)) is not None]
    if parts_directory is not None and plant in acp_plants.PLANTS:
        name = plant.__name__.strip("_").replace("_", "-")
        told = oracles.mutant(name, row, row if stories else None)
        text = json.dumps({"mutants": [told]}, indent=2)
        (parts_directory / f"bridge-{name}.json").write_text(text, encoding="utf-8")
    assert stories
    assert "new(0)" in stories[0]


def disagreement(race: Act, follower: Follower[State, View] = FOLLOWER) -> str | None:
    """Return what a race shows, or None."""
    try:
        run(race, follower)
    except DisagreementError as error:
        return str(error)
    return None


UNSEEN: Final = {
    "prompt when the_client_leaves": "its session is not open either, so the next row refuses it",
    "close when the_client_leaves": "its session is not open either, so the next row refuses it",
    "an update waits when a_turn_is_open and no_update_is_due_last": "nothing is written by that",
}
"""Rows that nobody could miss, and why."""


@pytest.mark.parametrize("row", t.TABLE, ids=lambda row: row.name.replace(" ", "-"))
def test_every_row_of_the_world_is_something_that_the_bridge_does(row: Row[State]) -> None:
    """Without any one row the world is too small for some race: the bridge was there."""
    rest = tuple(each for each in t.TABLE if each is not row)
    follower = bridge_follower(rest, sessions=SESSIONS_MAX, prompts=PROMPTS_MAX)
    is_missed = any(disagreement(race, follower) is not None for race in RACES)
    assert is_missed is (row.name not in UNSEEN)


# -- The follower itself ---------------------------------------------------------------------------


def test_a_conversation_is_followed_to_its_first_disagreement() -> None:
    """A cancelled prompt that is answered `cancelled` is a trace of the world; otherwise, none."""
    follower = bridge_follower(sessions=1, prompts=1)
    start = view_of(follower.world.initial)
    there = start._replace(there=(True,))
    waiting = there._replace(prompts=(Progress.WAITING,))
    cancelled = [
        Seen(view=start),
        Seen(view=there, call=Call(event=t.NEW, about=0)),
        Seen(view=waiting, call=Call(event=t.PROMPT, about=0)),
        Seen(view=waiting, call=Call(event=t.CANCEL, about=0)),
    ]
    told = Call(event=t.ANSWER, about=Told(0, Outcome.CANCELLED))
    assert follows(follower, [*cancelled, Seen(view=there, call=told)]) is None
    wrong = Call(event=t.ANSWER, about=Told(0, Outcome.TURN))
    follower = bridge_follower(sessions=1, prompts=1)
    error = follows(follower, [*cancelled, Seen(view=there, call=wrong)])
    assert error is not None
    assert "the prompt is answered(prompt 0: turn) is not what the world does" in str(error)


def test_an_answer_that_is_owed_when_all_is_quiet_is_told() -> None:
    """A prompt that waits for its model is excused while the model is held up, and no longer."""
    follower = bridge_follower(sessions=1, prompts=1)
    there = view_of(follower.world.initial)._replace(there=(True,))
    running = there._replace(prompts=(Progress.RUNNING,), turns=(True,))
    asked = [
        Seen(view=there, call=Call(event=t.NEW, about=0)),
        Seen(view=there._replace(prompts=(Progress.WAITING,)), call=Call(event=t.PROMPT, about=0)),
    ]
    held_up = Seen(view=running, is_quiet=True, excused=frozenset({t.COMPLETE.actor}))
    assert follows(follower, [*asked, held_up]) is None
    error = follows(follower, [Seen(view=running, is_quiet=True)])
    assert error is not None
    assert "somebody owes a step" in str(error)
