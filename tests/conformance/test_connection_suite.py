"""A real runtime does what the connection world can do, and a planted fault is told at once."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from runtime.roster import Roster
from runtime.session.log import SessionLog
from runtime.session.store import Sessions
from statemachine.conformance.stage.schedules import Actor, Scenario, SearchResult, search
from statemachine.conformance.verdict.parts import merge_parts
from statemachine.worlds import Call, DisagreementError, Seen, follows
from statemachine.worlds.connection import Asked, Caller, Connection, connection_follower, view_of
from statemachine.worlds.connection import table as t
from tests.conformance.connection_scene import Scene
from tests.conformance.connection_suite import Count, connection_suite

CLIENT: Final = Asked(Caller.CONNECTION, 0, 0)
OTHER: Final = Asked(Caller.PROGRAM, 1, 0)
NAMESAKE: Final = Asked(Caller.PROGRAM, 0, 1)


@pytest.mark.clause("F-07", "F-08", "F-09", "F-18", "F-22", "F-23", "F-24", "F-38", "F-52", "F-53")
@pytest.mark.clause("A-48", "E-22", "E-23", "E-33")
def test_a_runtime_follows_the_connection_world(parts_directory: Path | None) -> None:
    """Whatever is created, loaded, closed, given up and unloaded, in any order and anywhere."""
    why, count = None, Count()
    try:
        connection_suite(count=count)
    except AssertionError as error:
        why = str(error)
        raise
    finally:
        if parts_directory is not None:
            (parts_directory / "connection.json").write_text(part(count, why), encoding="utf-8")
    assert count.loads > 0
    assert count.judged > count.programs


def part(count: Count, why: str | None) -> str:
    """Tell the verdict what was compared with the world."""
    check = {
        "name": "loads, closes and unloads: the runtime does what the connection world can do",
        "kind": "always",
        "explored": count.judged,
        "why": why,
    }
    rows = [{"id": row, "checks": [check]} for row in ("INV-10", "INV-12", "INV-16")]
    suite = {"name": "connection", "examples": count.programs, "judged": count.judged}
    return json.dumps({"criteria": rows, "suites": [suite]}, indent=2)


def test_the_part_of_the_verdict_can_be_read(tmp_path: Path) -> None:
    """What is written has the form that the verdict reads."""
    (tmp_path / "connection.json").write_text(part(Count(judged=3), "no"), encoding="utf-8")
    checks = merge_parts(tmp_path).checks
    assert [check.criterion for check in checks] == ["INV-10", "INV-12", "INV-16"]
    assert {(check.explored, check.why) for check in checks} == {(3, "no")}


# -- Directed races, and the faults that they find -------------------------------------------------


def load_beside_a_load(scene: Scene) -> None:
    """Load one session twice at a time."""
    scene.load(CLIENT)
    scene.load(OTHER)
    scene.stage.run_until_quiet()


def load_and_unload_the_owner(scene: Scene) -> None:
    """Unload the fiber of the client when it has an agent."""
    scene.load(CLIENT)
    scene.stage.settle()
    scene.unload_owner()
    scene.stage.settle()


def load_while_the_driver_unloads(scene: Scene) -> None:
    """Ask for an agent when the plugin that drives agents is asked to unload."""
    scene.unload_provider()
    scene.load(CLIENT)
    scene.stage.settle()


def load_and_close(scene: Scene) -> None:
    """Close a session, and load it again."""
    scene.load(CLIENT)
    scene.stage.settle()
    scene.close(scene.requests[-1])
    scene.stage.settle()
    scene.load(CLIENT)
    scene.stage.settle()


def disconnect_while_a_load_waits(scene: Scene) -> None:
    """Let the client go while the store has not answered."""
    scene.load(CLIENT)
    scene.stage.run_until_quiet()
    scene.disconnect()
    scene.stage.settle()


def take_the_id_while_listeners_are_told(scene: Scene) -> None:
    """Create an agent of the same id inside the announcement of a loaded session."""
    scene.load(CLIENT)
    scene.stage.settle()


RACES: Final = (
    load_beside_a_load,
    load_and_unload_the_owner,
    load_while_the_driver_unloads,
    load_and_close,
    disconnect_while_a_load_waits,
    take_the_id_while_listeners_are_told,
)


def run(race: Callable[[Scene], None]) -> None:
    """Play one race to its end."""

    def act_inside(scene: Scene, point: str) -> None:
        is_loaded = len(scene.requests) == 1
        if race is take_the_id_while_listeners_are_told and point == "session" and is_loaded:
            scene.create(NAMESAKE)

    scene = Scene(act_inside)
    try:
        race(scene)
        scene.finish()
    finally:
        scene.shut()


@pytest.mark.clause("F-55", "F-56")
@pytest.mark.parametrize("race", RACES, ids=lambda race: race.__name__)
def test_a_directed_race_follows_the_world(race: Callable[[Scene], None]) -> None:
    """Without a fault there is nothing to tell."""
    run(race)


# -- The same races under every schedule that is nearly first in, first out ------------------------


def end_one(scene: Scene) -> None:
    """Let whoever holds the first live agent end it."""
    for request in scene.requests:
        if request.is_live and not request.is_over:
            is_client = request.asked.caller is Caller.CONNECTION
            if not is_client or scene.state is Connection.OPEN:
                (scene.close if is_client else scene.dispose)(request)
                return


def give_one_up(scene: Scene) -> None:
    """Cancel whoever waits for the first load that is not answered."""
    for request in scene.requests:
        if not request.is_answered and request.handle is None:
            scene.give_up(request)
            return


def load_it(scene: Scene) -> None:
    """Let the client load the stored session."""
    scene.load(CLIENT)


def load_other(scene: Scene) -> None:
    """Let the program load the stored session."""
    scene.load(OTHER)


def create_namesake(scene: Scene) -> None:
    """Let the program make an agent of the same id."""
    scene.create(NAMESAKE)


Acts = tuple[Callable[[Scene], None], ...]
SCRIPTS: Final[dict[str, tuple[Acts, ...]]] = {
    "load-and-go": ((load_it,), (Scene.disconnect,)),
    "load-and-unload-owner": ((load_it,), (Scene.unload_owner,)),
    "load-and-unload-driver": ((load_it,), (Scene.unload_provider,)),
    "two-loads": ((load_it,), (load_other,)),
    "load-and-namesake": ((load_it,), (create_namesake, end_one)),
    "close-and-load-again": ((load_it, end_one), (load_it,)),
    "close-and-go": ((load_it, end_one), (Scene.disconnect,)),
    "give-up-and-load-again": ((load_it, give_one_up), (load_other,)),
    "dispose-and-unload-driver": ((load_other, end_one), (Scene.unload_provider,)),
}


def close_down(scene: Scene) -> None:
    """Judge the rest, and leave nothing."""
    try:
        scene.finish()
    finally:
        scene.shut()


def searched(name: str, deviations: int) -> SearchResult:
    """Search the schedules of one script."""
    actors = tuple(
        Actor(name=f"actor {number}", actions=acts) for number, acts in enumerate(SCRIPTS[name])
    )
    scenario = Scenario(
        name=name, actors=actors, setup=lambda stage: Scene(stage=stage), check=close_down,
        after_each=Scene.judge,
    )  # fmt: skip
    return search(scenario, deviations=deviations)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_race_follows_the_world_under_every_near_schedule(name: str) -> None:
    """With at most two deviations from first in, first out, and the search is complete."""
    result = searched(name, 2)
    assert result.failure is None, f"{result.failure.text}\n{result.failure.story}"
    assert result.complete
    assert result.runs_by_deviations[2] > result.runs_by_deviations[1] > 1


def _nothing(*_: object) -> None:
    """Do nothing."""


def _no_reservation(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Sessions, "reserve", lambda *_: _nothing)


def _not_unregistered(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Roster, "_unregister", _nothing)


def _not_detached(patch: pytest.MonkeyPatch) -> None:
    enter = Sessions.enter

    def enters(self: Sessions, log: SessionLog) -> Callable[[], None]:
        enter(self, log)
        return log.detach

    patch.setattr(Sessions, "enter", enters)


def _name_free_too_early(patch: pytest.MonkeyPatch) -> None:
    make = Roster._make

    def makes(self: Roster, *arguments: Any) -> Any:  # noqa: ANN401  # passed on
        self._reserved.clear()
        return make(self, *arguments)

    patch.setattr(Roster, "_make", makes)


def _late_load_kept(patch: pytest.MonkeyPatch) -> None:
    async def settle(_: Scene, request: Any) -> None:  # noqa: ANN401  # any request
        request.is_live = request.is_answered = True

    patch.setattr(Scene, "_settle", settle)


def _loads_not_awaited(patch: pytest.MonkeyPatch) -> None:
    async def drain(self: Scene, records: Any) -> None:  # noqa: ANN401  # any ends
        for end in records:
            await end
        self.state = type(self.state).CLOSED

    patch.setattr(Scene, "_drain", drain)


Fault = Callable[[pytest.MonkeyPatch], None]
FAULTS: Final[tuple[tuple[Fault, Callable[[Scene], None]], ...]] = (
    (_no_reservation, load_beside_a_load),
    (_not_unregistered, load_and_close),
    (_not_detached, load_and_close),
    (_name_free_too_early, take_the_id_while_listeners_are_told),
    (_late_load_kept, disconnect_while_a_load_waits),
    (_loads_not_awaited, disconnect_while_a_load_waits),
)


@pytest.mark.parametrize(("fault", "race"), FAULTS, ids=lambda value: value.__name__)
def test_a_fault_of_the_runtime_or_of_its_client_is_told(
    fault: Fault, race: Callable[[Scene], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What no state of the world can do is seen at the callback at which it is done."""
    fault(monkeypatch)
    with pytest.raises(DisagreementError) as raised:
        run(race)
    assert "load(connection: a on s)" in str(raised.value)


# -- The follower itself ---------------------------------------------------------------------------


def test_a_trace_is_followed_to_its_first_disagreement() -> None:
    """A call that the world refuses, accepted, is no trace of it; the same one refused is."""
    follower = connection_follower(slots=2)
    start = view_of(follower.world.initial)
    loading = start._replace(unanswered=(CLIENT,))
    first = Seen(view=loading, call=Call(event=t.LOAD, about=CLIENT))
    second = Call(event=t.LOAD, about=OTHER, is_refused=True)
    assert follows(follower, [Seen(view=start), first, Seen(view=loading, call=second)]) is None
    accepted = Seen(view=loading, call=Call(event=t.CREATE, about=OTHER))
    error = follows(follower, [accepted])
    assert error is not None
    assert "unanswered connection: a on s" in str(error)
    assert "the world has one of" in str(error)


def test_what_is_owed_when_all_is_quiet_is_told() -> None:
    """A load that nobody answers is excused while the store is held up, and by nothing else."""
    follower = connection_follower(slots=2)
    loading = view_of(follower.world.initial)._replace(unanswered=(CLIENT,))
    asked = Seen(view=loading, call=Call(event=t.LOAD, about=CLIENT))
    held_up = Seen(view=loading, is_quiet=True, excused=frozenset({t.STORE_ANSWERS.actor}))
    assert follows(follower, [asked, held_up]) is None
    error = follows(follower, [Seen(view=loading, is_quiet=True)])
    assert error is not None
    assert "somebody owes a step" in str(error)
