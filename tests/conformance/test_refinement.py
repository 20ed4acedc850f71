"""Refinement compares every decision, and what the cells hold, with the machine as declared."""

from collections.abc import Callable
from functools import partial
from unittest.mock import patch

import pytest
from attrs import evolve

from runtime.core import Core
from runtime.obey import OBEY
from runtime.subject import RuntimeSubject
from statemachine import MACHINE, Command, Decision, Inbox, Input, Machine, Shape, Status, Window
from statemachine.conformance.suite.examination import Examination
from statemachine.conformance.suite.refinement import Projection, Refinement
from statemachine.conformance.suite.story import Violation

AGENT = "a"


def _projection(shape: Shape, **changes: object) -> Projection:
    at_rest = Projection(
        agent=AGENT,
        shape=shape,
        holding=shape.inbox,
        has_open_turn=shape.is_turn_open,
        has_open_step=False,
        is_unopened=False,
        is_aborted=False,
        announced=shape.status,
        waiters=0,
        has_driver=False,
    )
    return evolve(at_rest, **changes)  # type: ignore[arg-type]  # fields by name


class Cell:
    """A runtime's cell that holds what its shape says, unless a test changes it."""

    def __init__(self, **changes: object) -> None:
        self.shape = self.held = MACHINE.initial
        self.changes: dict[str, object] = changes

    def post(self, watch: Refinement, input: Input) -> None:
        """Decide as the machine does, tell, and obey."""
        before = self.shape
        decision = MACHINE.decide(before, input)
        self.shape = decision.shape
        watch.observe(self, before, input, decision)
        self.held = decision.shape


def _watching(**changes: object) -> tuple[Refinement, Cell]:
    def project(one: Cell) -> Projection:
        return evolve(_projection(one.held, **one.changes), shape=one.shape)

    return Refinement(project), Cell(**changes)


def _finds(act: Callable[[], object]) -> str:
    with pytest.raises(Violation) as caught:
        act()
    return caught.value.invariant


@pytest.mark.clause("B-133")
def test_a_decision_that_is_not_the_machines_is_found() -> None:
    """A runtime that goes elsewhere than declared is found at that decision."""
    watch, cell = _watching()
    decided = MACHINE.decide(MACHINE.initial, Input.SEND)
    elsewhere = evolve(decided, shape=evolve(decided.shape, window=Window.PARKED))
    cell.shape = elsewhere.shape
    assert (
        _finds(lambda: watch.observe(cell, MACHINE.initial, Input.SEND, elsewhere)) == "refinement"
    )


@pytest.mark.clause("B-133")
def test_a_command_that_was_left_out_is_found() -> None:
    """A decision is its shape and its commands."""
    watch, cell = _watching()
    decided = MACHINE.decide(MACHINE.initial, Input.SEND)
    quiet = Decision(shape=decided.shape, commands=(Command.QUEUE,), row=decided.row)
    assert _finds(lambda: watch.observe(cell, MACHINE.initial, Input.SEND, quiet)) == "refinement"


@pytest.mark.clause("A-56")
def test_a_decision_that_nobody_told_of_is_found() -> None:
    """The shapes of a cell form one chain."""
    watch, cell = _watching()
    skipped = MACHINE.decide(MACHINE.initial, Input.SEND).shape
    cell.shape = skipped
    assert _finds(lambda: cell.post(watch, Input.CANCEL)) == "refinement"


@pytest.mark.clause("C-16", "B-130", "B-115", "A-40", "A-65")
@pytest.mark.parametrize(
    ("changes", "invariant"),
    [
        ({"holding": Inbox.BOTH}, "INV-03"),
        ({"has_open_turn": True}, "INV-06"),
        ({"has_open_step": True}, "INV-06"),
        ({"announced": Status.RUNNING}, "A-41"),
        ({"waiters": 1}, "INV-08"),
    ],
    ids=["inbox", "turn", "step", "status", "waiters"],
)
def test_a_cell_that_holds_something_else_is_found(
    changes: dict[str, object], invariant: str
) -> None:
    """What a parked cell holds is what its shape says."""
    watch, cell = _watching(**changes)
    assert _finds(lambda: cell.post(watch, Input.CANCEL)) == invariant


@pytest.mark.clause("B-115")
def test_a_signal_that_fired_by_itself_is_found() -> None:
    """In a turn the signal is aborted exactly if the shape is stopped."""
    watch, cell = _watching()
    running = MACHINE.decide(MACHINE.decide(MACHINE.initial, Input.SEND).shape, Input.DONE).shape
    cell.post(watch, Input.SEND)
    cell.post(watch, Input.DONE)
    assert cell.shape is running
    cell.changes = {"is_aborted": True}
    assert _finds(watch.look) == "INV-05"


@pytest.mark.clause("A-77")
def test_a_missing_step_is_a_failure_and_not_a_pause() -> None:
    """When nothing is left to do, an agent that owes a step is found."""
    watch, cell = _watching()
    cell.post(watch, Input.SEND)
    assert _finds(watch.at_rest) == "refinement"


@pytest.mark.clause("A-77")
def test_a_parked_agent_with_a_task_is_found() -> None:
    """An agent at rest has no driver."""
    watch, cell = _watching()
    cell.post(watch, Input.CANCEL)
    watch.at_rest()
    cell.changes = {"has_driver": True}
    assert _finds(watch.at_rest) == "refinement"


def _turn(play: Examination) -> None:
    play.create()
    play.send()
    play.run_until_quiet()
    play.steer()
    play.cancel()
    play.send()
    play.finish()


def test_the_runtime_decides_as_the_machine_does() -> None:
    """A turn with everything in it is a behaviour of the machine, from first to last."""
    with Examination(RuntimeSubject, inside=True) as play:
        _turn(play)
        assert play.refinement is not None
        assert play.refinement.decisions > 20
        assert ("stream", "cancel") in play.refinement.points


def test_a_runtime_with_another_table_is_found() -> None:
    """Whatever else the table of a runtime says is found when it is decided."""
    faulty = Machine(table=[row for row in MACHINE.table if Command.STEER not in row.commands])
    make = partial(RuntimeSubject, machine=faulty)
    with Examination(make, inside=True) as play:
        assert _finds(lambda: _turn(play)) == "refinement"


def test_a_runtime_that_does_not_obey_is_found() -> None:
    """A command that is decided and not carried out shows in the data."""

    def obey_nothing(_: Core, __: object) -> None:
        """Leave the queues as they are."""

    with (
        patch.dict(OBEY, {Command.DISCARD: obey_nothing}),
        Examination(RuntimeSubject, inside=True) as play,
    ):
        play.create()
        play.send()
        assert _finds(play.cancel) in ("INV-01", "INV-03")
