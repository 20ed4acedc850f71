"""The machine answers as the library would, remembers it, and refuses what is not declared."""

import re

import pytest
from attrs import evolve

from statemachine.commands import OUTCOMES, OUTSIDE_INPUTS, Input
from statemachine.explorer import Exploration, explore
from statemachine.lifecycle import REGIONS
from statemachine.machine import (
    MACHINE,
    Decision,
    IllegalMoveError,
    Machine,
    Refusal,
    RefusedInputError,
)
from statemachine.shape import Inbox, Marker, Shape, Status
from statemachine.windows import Window


@pytest.fixture(scope="module")
def exploration() -> Exploration:
    """Give the graph of the machine; it is a value."""
    return explore()


@pytest.mark.clause("B-133")
@pytest.mark.parametrize("window", Window)
def test_a_remembered_answer_is_what_fresh_machines_give(
    window: Window, exploration: Exploration
) -> None:
    """For every reachable shape and input, fresh machines decide or refuse just the same."""
    fresh = Machine()
    for shape in reversed(exploration.shapes):
        if shape.window is not window:
            continue
        for posted in reversed(Input):
            answer = fresh.fire(fresh.intern(shape), posted)
            assert answer == shape.answers[posted]
            if isinstance(answer, Refusal):
                with pytest.raises(RefusedInputError, match=re.escape(answer.why)):
                    MACHINE.decide(shape, posted)
            else:
                assert answer == MACHINE.decide(shape, posted)


@pytest.mark.clause("B-132")
def test_every_input_from_outside_has_an_answer_everywhere(exploration: Exploration) -> None:
    """No call can land in a shape that has no row for it."""
    answered = {(edge.before, edge.input) for edge in exploration.edges}
    missing = [
        (str(shape), outside)
        for shape in exploration.shapes
        for outside in OUTSIDE_INPUTS
        if (shape, outside) not in answered
    ]
    assert missing == []


@pytest.mark.clause("B-132")
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_an_outcome_is_refused_where_nobody_visits(outcome: Input) -> None:
    """A parked agent has no driver, so every outcome is a bug of the driver, said aloud."""
    with pytest.raises(RefusedInputError, match="idle parked"):
        MACHINE.decide(MACHINE.initial, outcome)


@pytest.mark.clause("B-132")
def test_a_refusal_is_remembered_and_raised_again() -> None:
    """Asking twice is as loud as asking once."""
    own = Machine()
    for _ in range(2):
        with pytest.raises(RefusedInputError):
            own.decide(own.initial, Input.DONE)
    assert isinstance(own.initial.answers[Input.DONE], Refusal)


@pytest.mark.clause("A-41", "C-16")
def test_an_illegal_move_raises() -> None:
    """A row that asks a small machine for a move it does not have is an error, not a change."""
    unreachable = MACHINE.intern(
        Shape(window=Window.STREAM, status=Status.RUNNING, marker=Marker.ARMED)
    )
    with pytest.raises(IllegalMoveError, match=r"marker\.arm is no move from 'armed'"):
        MACHINE.decide(unreachable, Input.CANCEL)
    assert Input.CANCEL not in unreachable.answers


@pytest.mark.clause("A-41", "A-27")
@pytest.mark.seed("SEED-28")
def test_the_status_has_exactly_its_moves(exploration: Exploration) -> None:
    """Eight changes are declared, and the explorer finds each of them and no other."""
    idle, running, cancelled, disposed = Status
    moves = {
        *((idle, running), (running, idle), (running, cancelled)),
        *((cancelled, idle), (cancelled, running)),
        *((idle, disposed), (running, disposed), (cancelled, disposed)),
    }
    assert {change for move in REGIONS["status"] for change in move.changes} == moves
    seen = {(edge.before.status, edge.after.status) for edge in exploration.edges}
    assert seen - {(each, each) for each in Status} == moves


@pytest.mark.clause("A-40", "A-41")
def test_no_move_of_the_status_leaves_disposed() -> None:
    """The small machine of the status has no way out of `disposed`."""
    assert all(
        before is not Status.DISPOSED for move in REGIONS["status"] for before, _ in move.changes
    )


def test_equal_shapes_are_one_in_a_machine_and_two_in_two() -> None:
    """Answers are shared by all agents of a machine, and never by two machines."""
    own, other = Machine(), Machine()
    shape = Shape(status=Status.RUNNING, window=Window.STREAM)
    assert own.intern(shape) is own.intern(evolve(shape))
    assert own.intern(shape) is not shape
    woken = other.decide(other.initial, Input.SEND).shape
    taken = own.intern(woken)
    assert taken == woken
    assert taken is not woken
    other.decide(woken, Input.CANCEL)
    assert not taken.answers


def test_a_decision_hands_out_a_shape_of_its_own_machine() -> None:
    """Whoever goes on with the shape of a decision finds remembered answers."""
    own = Machine()
    decision = own.decide(own.initial, Input.SEND)
    assert own.intern(decision.shape) is decision.shape
    assert own.decide(own.initial, Input.SEND) is decision


def test_firing_remembers_nothing() -> None:
    """`fire` is for comparing, so it leaves no answer behind."""
    own = Machine()
    assert isinstance(own.fire(own.initial, Input.SEND), Decision)
    assert not own.initial.answers


def test_the_library_adds_no_transitions_of_its_own() -> None:
    """The automatic `to_...` triggers would let anyone leave `disposed`."""
    own = Machine()
    driver = own._driver  # noqa: SLF001  # the library is behind the machine on purpose
    assert set(driver.events) == {row.on.value for row in own.table}
    for name, region in own._regions.items():  # noqa: SLF001  # the library is behind the machine
        assert set(region.events) == {move.name for move in REGIONS[name]}


def test_the_library_knows_no_agent() -> None:
    """Registered models cost kilobytes each, and ones that compare equal are silently dropped."""
    own = Machine()
    for shape in (own.initial, own.decide(own.initial, Input.SEND).shape):
        own.decide(shape, Input.CANCEL)
    libraries = (own._driver, *own._regions.values())  # noqa: SLF001  # behind the machine on purpose
    assert [library.models for library in libraries] == [[], [], [], []]
    assert [library.has_queue for library in libraries] == [False] * 4


def test_the_table_can_be_replaced_without_touching_the_machine_that_runs() -> None:
    """Faults are planted by giving another table, never by changing the one that is used."""
    deaf = Machine(table=[row for row in MACHINE.table if row.on is not Input.SEND])
    with pytest.raises(RefusedInputError):
        deaf.decide(deaf.initial, Input.SEND)
    assert MACHINE.decide(MACHINE.initial, Input.SEND).shape.inbox is Inbox.QUEUED
