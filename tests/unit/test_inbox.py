"""The two FIFOs, alone and in an agent."""

import pytest
from attrs import evolve, frozen

from statemachine import (
    MACHINE,
    IllegalMoveError,
    Inbox,
    Input,
    Machine,
    Marker,
    Queues,
    Shape,
    Status,
    Window,
)
from tests.unit.windows.scene import Scene


@frozen
class Letter:
    """A message that knows its order."""

    order: int


def filled() -> Queues[Letter]:
    """Return an inbox that took 1 queued, 2 steering, 3 queued, 4 steering."""
    queues: Queues[Letter] = Queues()
    queues.queue(Letter(1))
    queues.steer(Letter(2))
    queues.queue(Letter(3))
    queues.steer(Letter(4))
    return queues


def orders(letters: list[Letter]) -> list[int]:
    """Return the orders of some messages."""
    return [letter.order for letter in letters]


@pytest.mark.clause("C-01", "C-02")
def test_draining_one_fifo_leaves_the_other() -> None:
    """Each is drained whole, in order of arrival, and is empty afterwards."""
    queues = filled()
    assert orders(queues.drain()) == [1, 3]
    assert queues.holding == "steering"
    assert orders(queues.take()) == [2, 4]
    assert queues.holding == "empty"
    assert queues.drain() == queues.take() == []


@pytest.mark.clause("C-07", "A-24")
@pytest.mark.seed("SEED-02")
def test_clearing_empties_both_and_nothing_comes_back() -> None:
    """What is dropped is told in order of acceptance, with what it was."""
    queues = filled()
    dropped = [(letter.order, steering) for letter, steering in queues.clear()]
    assert dropped == [(1, False), (2, True), (3, False), (4, True)]
    assert len(queues) == 0
    assert queues.drain() == queues.take() == []


@pytest.mark.clause("C-10", "C-15", "A-13")
def test_left_over_steering_is_merged_by_order_of_acceptance() -> None:
    """The next turn records 1, 2, 3, 4."""
    queues = filled()
    queues.merge()
    assert queues.holding is Inbox.QUEUED
    assert orders(queues.drain()) == [1, 2, 3, 4]


@pytest.mark.clause("B-109")
def test_prompts_that_go_back_stand_in_front() -> None:
    """In their order, before what came meanwhile."""
    queues = filled()
    queues.requeue([Letter(-1), Letter(0)])
    assert orders(queues.drain()) == [-1, 0, 1, 3]


@pytest.mark.clause("C-16", "A-41", "B-104")
@pytest.mark.parametrize(
    ("shape", "input"),
    [
        # Each is a shape that no run reaches: a row that fires in it asks for an illegal move.
        (Shape(window=Window.STREAM, status=Status.RUNNING, marker=Marker.ARMED), Input.CANCEL),
        (Shape(window=Window.ANNOUNCE_RUNNING, status=Status.RUNNING), Input.DONE),
        (Shape(window=Window.CLOSING, status=Status.CANCELLED), Input.DONE),
    ],
)
def test_an_illegal_move_raises(shape: Shape, input: Input) -> None:
    """Arming twice, draining nothing, retiring what is absent."""
    with pytest.raises(IllegalMoveError, match="is no move from"):
        MACHINE.decide(MACHINE.intern(shape), input)


@pytest.mark.clause("A-41", "A-40")
def test_nothing_leaves_disposed() -> None:
    """No row of the table, in no window, whatever the input."""
    machine = Machine()
    for window in Window:
        shape = machine.intern(evolve(machine.initial, window=window, status=Status.DISPOSED))
        for input in Input:
            try:
                answer = machine.fire(shape, input)
            except IllegalMoveError:
                continue
            assert answer.shape.status is Status.DISPOSED


@pytest.mark.clause("C-03", "C-08", "A-14", "A-22")
def test_neither_an_injection_nor_a_cancel_starts_a_driver() -> None:
    """An agent that is parked stays without a task."""
    with Scene() as scene:
        scene.a.inject("c")
        scene.a.cancel()
        assert not any(each.startswith("driver") for each in scene.stage.pending)
        scene.settle()


@pytest.mark.clause("C-06", "C-04", "A-77")
def test_there_is_one_driver_and_an_ended_one_takes_no_wake() -> None:
    """A message sent after every single callback: one task at a time, and everything runs."""
    texts = [str(number) for number in range(40)]
    most = 0

    def look() -> None:
        nonlocal most
        drivers = [each for each in scene.stage.pending if each.startswith("driver")]
        most = max(most, len(drivers))

    with Scene() as scene:
        scene.stage.loop.monitor = look
        scene.stage.gates.auto = lambda _: True
        for text in texts:
            scene.a.send(text)
            scene.stage.tick()
        scene.settle()
        scene.stage.loop.monitor = None
        assert most == 1
        recorded = [each for each in scene.trace() if each.startswith("UM")]
        assert recorded == [f"UM({text})" for text in texts]


@pytest.mark.clause("C-06", "C-04")
def test_a_message_sent_between_the_last_step_and_the_end_of_a_driver_runs(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The agent is parked, its old task has not told its end yet: a new one takes the work."""
    with Scene() as scene:
        scene.stage.gates.auto = lambda _: True
        scene.a.send("A")
        while scene.rt.inspect().agents[0].window is not Window.PARKED:
            assert scene.stage.tick() == 1
        assert scene.rt.inspect().agents[0].has_task
        scene.ask("B")
        scene.stage.tick(2)
        assert scene.rt.inspect().agents[0].has_task
        scene.settle()
        scene.expect("running [A] idle running [B] idle W")
        assert caplog.text == ""


@pytest.mark.clause("C-05", "B-94", "C-12", "B-39")
def test_waiting_for_work_ends_with_a_dispose() -> None:
    """What was queued leaves no record and is announced as discarded."""
    with Scene() as scene:
        scene.a.send("A")
        scene.dispose()
        scene.settle()
        scene.expect("disposed -A{disposed:disposed} gone END")
        assert scene.records() == []


@pytest.mark.clause("C-09", "C-07", "B-02")
def test_a_driver_woken_for_what_was_cleared_parks_again() -> None:
    """There is no turn, and the next message wakes it."""
    with Scene() as scene:
        scene.a.send("A")
        scene.a.cancel()
        scene.settle()
        scene.expect("-A{cancelled:cancelled}")
        scene.a.send("B")
        scene.settle()
        assert scene.trace()[-1] == "idle"


@pytest.mark.clause("C-11")
def test_what_is_accepted_while_a_drain_is_published_waits_for_the_next_boundary() -> None:
    """A steer from the listener of taken steering is recorded one step later."""
    with Scene() as scene:
        scene.ask("A")
        scene.quiet()
        scene.a.steer("S")
        scene.at("SM", lambda: scene.a.steer("T"))
        scene.settle()
        scene.expect(
            "running TS UM(A) SS CH CH AM SM(S) SE SM(T) SS CH CH AM SE TE{completed} FLUSH idle W"
        )
