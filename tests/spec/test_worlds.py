"""The worlds around the machine: what must hold does, the engine sees what it must, and no more."""

from typing import Final

import pytest

from statemachine.clauses import clause
from statemachine.commands import Input
from statemachine.explorer import Counterexample, explore
from statemachine.machine import MACHINE, Machine
from statemachine.worlds import (
    Actor,
    Assumption,
    Claim,
    Driver,
    Event,
    Eventually,
    Examined,
    Guard,
    Label,
    Move,
    Row,
    World,
    check_driver,
    examine_world,
    explore_world,
)
from statemachine.worlds.bridge import TABLE as BRIDGE_TABLE
from statemachine.worlds.bridge import bridge_claims, bridge_world, false_bridge_variants
from statemachine.worlds.connection import (
    TABLE,
    connection_claims,
    connection_world,
    false_variants,
    one_client,
)
from statemachine.worlds.jobs import false_job_variants, job_claims, job_world
from statemachine.worlds.store import TABLE as STORE_TABLE
from statemachine.worlds.store import (
    false_store_variants,
    one_process,
    store_claims,
    store_world,
)
from tests.mutants.planting import remove, rows

# A changed number is a changed world, and the commit that changes it says why.
STATES: Final = 78856
STEPS: Final = 359797


@pytest.fixture(scope="module")
def connection() -> Examined:
    """Give the examined connection world; it is a value."""
    return examine_world(connection_world(), connection_claims(slots=2))


@pytest.mark.clause("F-55", "F-56", "F-52", "E-23", "F-18", "F-38")
@pytest.mark.slow
def test_every_claim_about_connections_holds(connection: Examined) -> None:
    """Whatever races a teardown, nothing is shared, nothing leaks and everything is answered."""
    assert [str(verdict.why) for verdict in connection.verdicts if not verdict.holds] == []
    assert all(verdict.explored for verdict in connection.verdicts)


@pytest.mark.slow
def test_the_numbers_of_the_connection_world_are_pinned(connection: Examined) -> None:
    """A state more or less is noticed."""
    assert (connection.states, connection.steps) == (STATES, STEPS)
    assert len(TABLE) == 46
    assert len(connection.verdicts) == 1 + len(connection_claims(slots=2))


@pytest.mark.clause("B-132")
def test_claims_about_connections_tell_who_they_are() -> None:
    """A claim has a name of its own, one sentence, and clauses that exist, and so has a row."""
    claims = connection_claims(slots=1)
    names = [claim.name for claim in claims]
    assert sorted(names) == sorted(set(names))
    assert len({row.name for row in TABLE}) == len(TABLE)
    for claim in claims:
        assert claim.statement.endswith(".")
        assert "\n" not in claim.statement
    for cited in (*(claim.clauses for claim in claims), *(row.clauses for row in TABLE)):
        assert cited
        assert [clause(each).id for each in cited] == list(cited)


@pytest.mark.slow
def test_no_part_of_a_premise_about_connections_can_be_left_out() -> None:
    """Without any one promise something never comes."""
    verdicts = examine_world(one_client(slots=2), false_variants(slots=2)).verdicts[1:]
    assert len(verdicts) == 28
    assert [verdict.name for verdict in verdicts if verdict.holds] == []


# -- Jobs ------------------------------------------------------------------------------------------


@pytest.mark.clause("H-34", "H-41", "H-54", "I-08", "I-13", "I-15", "I-19", "I-31", "I-32")
def test_every_claim_about_jobs_holds() -> None:
    """Whatever is reloaded, disposed, resumed and ended, jobs answer and are told as promised."""
    jobs = examine_world(job_world(), job_claims(slots=2))
    assert [str(verdict.why) for verdict in jobs.verdicts if not verdict.holds] == []
    assert all(verdict.explored for verdict in jobs.verdicts)
    assert (jobs.states, jobs.steps) == (2752, 14151)


def test_no_part_of_a_premise_about_jobs_can_be_left_out() -> None:
    """Without any one promise something never comes."""
    verdicts = examine_world(job_world(), false_job_variants(slots=2)).verdicts[1:]
    assert len(verdicts) == 5
    assert [verdict.name for verdict in verdicts if verdict.holds] == []


# -- The store -------------------------------------------------------------------------------------


@pytest.mark.clause("E-12", "E-13", "E-17", "E-22", "E-30", "E-31", "E-33", "E-36", "E-40", "E-41")
@pytest.mark.clause("E-46", "E-47", "E-49", "E-61", "E-79", "D-42", "D-43", "D-47")
@pytest.mark.slow
def test_every_claim_about_a_stored_session_holds() -> None:
    """Whatever fails, dies, is late or reloaded, what was acknowledged is there, once."""
    store = examine_world(store_world(), store_claims())
    assert [str(verdict.why) for verdict in store.verdicts if not verdict.holds] == []
    assert all(verdict.explored for verdict in store.verdicts)
    assert (store.states, store.steps) == (25084, 151231)
    assert len(STORE_TABLE) == 42


@pytest.mark.slow
def test_no_part_of_a_premise_about_a_stored_session_can_be_left_out() -> None:
    """Without any one promise something never comes."""
    verdicts = examine_world(one_process(), false_store_variants()).verdicts[1:]
    assert len(verdicts) == 12
    assert [verdict.name for verdict in verdicts if verdict.holds] == []


@pytest.mark.clause("B-132")
def test_claims_about_a_stored_session_tell_who_they_are() -> None:
    """A claim has a name of its own, one sentence, and clauses that exist, and so has a row."""
    claims = store_claims()
    names = [claim.name for claim in claims]
    assert sorted(names) == sorted(set(names))
    assert len({row.name for row in STORE_TABLE}) == len(STORE_TABLE)
    for claim in claims:
        assert claim.statement.endswith(".")
        assert "\n" not in claim.statement
    for cited in (*(claim.clauses for claim in claims), *(row.clauses for row in STORE_TABLE)):
        assert cited
        assert [clause(each).id for each in cited] == list(cited)


# -- The bridge ------------------------------------------------------------------------------------


@pytest.mark.clause("J-13", "J-19", "J-21", "J-22", "J-23", "J-28", "J-33", "J-34", "J-35", "J-36")
@pytest.mark.clause("J-38", "J-40", "J-48", "J-54", "J-57", "J-58")
@pytest.mark.slow
def test_every_claim_about_a_client_of_the_bridge_holds() -> None:
    """Whatever a client asks for, and whenever it goes, it is told what is so, and all of it."""
    bridge = examine_world(bridge_world(), bridge_claims())
    assert [str(verdict.why) for verdict in bridge.verdicts if not verdict.holds] == []
    assert all(verdict.explored for verdict in bridge.verdicts)
    assert (bridge.states, bridge.steps) == (12553, 57157)
    assert len(BRIDGE_TABLE) == 32


@pytest.mark.slow
def test_no_part_of_a_premise_about_a_client_can_be_left_out() -> None:
    """Without any one promise something never comes."""
    verdicts = examine_world(bridge_world(sessions=1), false_bridge_variants(sessions=1)).verdicts
    assert len(verdicts) == 1 + 17
    assert [verdict.name for verdict in verdicts[1:] if verdict.holds] == []


@pytest.mark.clause("B-132")
def test_claims_about_a_client_tell_who_they_are() -> None:
    """A claim has a name of its own, one sentence, and clauses that exist, and so has a row."""
    claims = bridge_claims()
    names = [claim.name for claim in claims]
    assert sorted(names) == sorted(set(names))
    assert len({row.name for row in BRIDGE_TABLE}) == len(BRIDGE_TABLE)
    for claim in claims:
        assert claim.statement.endswith(".")
        assert "\n" not in claim.statement
    for cited in (*(claim.clauses for claim in claims), *(row.clauses for row in BRIDGE_TABLE)):
        assert cited
        assert [clause(each).id for each in cited] == list(cited)


# -- The machine in the world ----------------------------------------------------------------------


@pytest.mark.clause("B-38", "B-39")
def test_the_worlds_drive_as_the_machine_does() -> None:
    """What the worlds assume of an agent is what the declaration does, no more and no less."""
    assert check_driver(explore()).holds


def test_a_machine_that_drives_otherwise_is_noticed() -> None:
    """A parked agent that a dispose does not end breaks the picture that the worlds have of it."""
    table = remove(rows(Input.DISPOSE, guard="always", windows_max=1))(MACHINE.table)
    verdict = check_driver(explore(Machine(table=table)))
    assert not verdict.holds
    assert Driver.PARKED in str(verdict.why)


# -- The engine, on worlds of a few states ---------------------------------------------------------

TICK: Final = Event("tick", Actor.TEARDOWN, needs_loop=True)
SPIN: Final = Event("spin", Actor.OUTSIDE)
CALL: Final = Event("call", Actor.OUTSIDE)
BACK: Final = Event("back", Actor.STRETCH)
FAIR: Final = Assumption(name="tick", text="It ticks.", fair=frozenset({Actor.TEARDOWN}))
RETURNS: Final = Assumption(name="return", text="Calls return.", fair=frozenset({Actor.STRETCH}))

# A state is whether it has ticked, which way it spins, and whether a stretch stands.
Toy = tuple[bool, bool, bool]
standing: Final[Guard[Toy]] = Guard("standing", lambda state, _: state[2])
waiting: Final[Guard[Toy]] = Guard("waiting", lambda state, _: not state[0])
tick: Final[Move[Toy]] = Move("tick", lambda state, _: (True, state[1], state[2]))
spin: Final[Move[Toy]] = Move("spin", lambda state, _: (state[0], not state[1], state[2]))
call: Final[Move[Toy]] = Move("call", lambda state, _: (state[0], state[1], True))
back: Final[Move[Toy]] = Move("back", lambda state, _: (state[0], state[1], False))
ROWS: Final = (
    Row(TICK, (waiting,), (tick,)),
    Row(SPIN, (), (spin,)),
    Row(CALL, (standing,), refuses="it is being served"),
    Row(CALL, (), (call,)),
    Row(BACK, (standing,), (back,)),
)


def toy(rows: tuple[Row[Toy], ...] = ROWS) -> World[Toy]:
    """Return a world that ticks once while others spin and call."""
    return World(
        name="toy", initial=(False, False, False), rows=rows,
        labels=tuple(map(Label, (TICK, SPIN, CALL, BACK))),
        ask=lambda state, _: (state, 0), stands=lambda state: state[2],
    )  # fmt: skip


def ticks(*premise: Assumption) -> Claim:
    """Return the claim that it ticks, under a premise."""
    return Eventually(
        name="it_ticks", clauses=("A-01",), statement="It ticks.", places=(0,),
        from_=lambda state, _: not state[0], to=lambda state, _: bool(state[0]), premise=premise,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("premise", "holds"),
    [((FAIR, RETURNS), True), ((FAIR,), False), ((RETURNS,), False), ((), False)],
)
def test_a_task_that_only_waits_for_a_stretch_is_not_forgotten(
    premise: tuple[Assumption, ...],
    holds: bool,  # noqa: FBT001  # a parametrised flag
) -> None:
    """Others may spin and call forever: the tick comes if tasks are fair and calls return."""
    verdict = examine_world(toy(), [ticks(*premise)]).verdicts[-1]
    assert verdict.holds is holds
    assert verdict.explored == 4


def test_a_row_that_never_fires_is_told() -> None:
    """A table does not speak of what cannot happen."""
    never: Row[Toy] = Row(TICK, (standing, waiting), (tick,))
    verdict = examine_world(toy((never, *ROWS)), []).verdicts[0]
    assert not verdict.holds
    assert never.name in str(verdict.why)


def test_a_refused_call_changes_nothing_and_says_why() -> None:
    """A refusal is an answer, and no step of the graph."""
    world = toy()
    step = world.step((False, False, True), Label(CALL))
    assert step is not None
    assert step.is_refused
    assert step.row.refuses == "it is being served"
    assert step.after == step.before
    assert explore_world(world).steps == 8 + 4 + 4 + 2


def test_no_task_runs_while_a_stretch_stands() -> None:
    """What needs the loop has to wait, and is known to wait."""
    world = toy()
    assert world.step((False, False, True), Label(TICK)) is None
    assert list(world.waiting((False, False, True))) == [Label(TICK)]
    assert list(world.waiting((False, False, False))) == []


@pytest.mark.slow
def test_a_story_of_a_world_tells_events_and_what_is_there(connection: Examined) -> None:
    """A reader sees who asked for what, and what was there afterwards."""
    variant = false_variants(slots=1)[1]
    why = examine_world(connection_world(slots=1), [variant]).verdicts[-1].why
    assert isinstance(why, Counterexample)
    assert str(why).splitlines()[1] == (
        "  1. create(connection: a on s): 0 connection: a on s opening parked; names a:0; "
        "store s:0; leases s:0; 0 calls out"
    )
    assert connection.is_holding
