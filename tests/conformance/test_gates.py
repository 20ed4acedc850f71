"""A gate makes the moment and the outcome of one outside thing a decision of the test."""

import asyncio
from collections.abc import Iterator

import pytest

from statemachine.conformance.stage.stage import Stage, StageError


@pytest.fixture
def stage() -> Iterator[Stage]:
    """A stage that is closed afterwards."""
    with Stage() as made:
        yield made


def names(stage: Stage) -> list[str]:
    """The open gates in their order."""
    return [str(gate) for gate in stage.gates.open_gates]


def test_gates_stand_in_the_order_of_arrival(stage: Stage) -> None:
    """A gate is listed from its first wait to its opening, numbered within its name."""
    for name in ("disk", "model", "disk"):
        stage.spawn(stage.gate(name, value=name.upper()), name)
    assert names(stage) == []
    stage.run_until_quiet()
    assert names(stage) == ["disk #1", "model #1", "disk #2"]
    assert stage.gates.openings() == 6
    model = stage.gates.open_gates[1]
    assert model.value == "MODEL"
    stage.gates.open(model, "error")
    assert names(stage) == ["disk #1", "disk #2"]
    stage.run_until_quiet()
    assert [task.done() for task in stage.spawned] == [False, True, False]
    assert stage.spawned[1].result() == "error"


def test_opening_wakes_through_the_queue(stage: Stage) -> None:
    """The waiter goes on after what was ready before the gate was opened."""
    seen: list[str] = []

    async def wait() -> None:
        seen.append(await stage.gate("outside"))

    stage.spawn(wait(), "waiter")
    stage.run_until_quiet()
    stage.loop.call_soon(seen.append, "earlier")
    stage.gates.open(stage.gates.open_gates[0], "ok")
    assert seen == []
    stage.run_until_quiet()
    assert seen == ["earlier", "ok"]


def test_cancelled_waiter_closes_its_gate_at_once(stage: Stage) -> None:
    """From the cancel on nobody can open the gate, also before the waiter has noticed."""
    task = stage.spawn(stage.gate("outside"), "waiter")
    stage.run_until_quiet()
    gate = stage.gates.open_gates[0]
    task.cancel()
    assert names(stage) == []
    assert stage.gates.openings() == 0
    with pytest.raises(ValueError, match="nobody waits at gate outside #1"):
        stage.gates.open(gate, "ok")
    stage.run_until_quiet()
    assert task.cancelled()


def test_wrong_outcome_is_refused_and_leaves_the_gate_open(stage: Stage) -> None:
    """A gate has the outcomes it was declared with; an opened one is not opened twice."""
    stage.spawn(stage.gate("outside", ("yes", "no")), "waiter")
    stage.run_until_quiet()
    gate = stage.gates.open_gates[0]
    with pytest.raises(ValueError, match="no outcome 'ok', only yes, no"):
        stage.gates.open(gate, "ok")
    assert names(stage) == ["outside #1"]
    stage.gates.open(gate, "no")
    with pytest.raises(ValueError, match="nobody waits"):
        stage.gates.open(gate, "yes")


def test_automatic_gates_are_passed_without_suspension(stage: Stage) -> None:
    """Where the predicate holds, the first outcome comes at once and nothing is listed."""
    stage.gates.auto = {"disk"}.__contains__
    disk = stage.spawn(stage.gate("disk"), "disk")
    model = stage.spawn(stage.gate("model"), "model")
    assert stage.run_until_quiet() == 2
    assert disk.result() == "ok"
    assert not model.done()
    assert names(stage) == ["model #1"]


def test_gate_without_outcomes_hangs(stage: Stage) -> None:
    """Nothing the stage may do ends such a wait, automatic or not."""
    stage.gates.auto = lambda _name: True
    task = stage.spawn(stage.gate("never", ()), "waiter", may_linger=True)
    stage.settle()
    assert not task.done()
    assert names(stage) == ["never #1"]


def test_model_answers_as_the_outcome_says(stage: Stage) -> None:
    """The model's gate has an echo, a failure, and what an offer adds."""
    stage.model_answers["cut"] = lambda prompt: prompt[:2]
    tasks = [stage.spawn(stage.model(f"hello {n}"), f"turn {n}") for n in range(3)]
    stage.run_until_quiet()
    for gate, outcome in zip(stage.gates.open_gates, ("ok", "error", "cut"), strict=True):
        stage.gates.open(gate, outcome)
    stage.run_until_quiet()
    assert tasks[0].result() == "echo: hello 0"
    assert tasks[2].result() == "he"
    with pytest.raises(StageError, match="hello 1"):
        tasks[1].result()


def test_gate_can_be_waited_for_by_hand(stage: Stage) -> None:
    """A gate made by the registry is only listed once it is waited for, shielded or not."""
    gate = stage.gates.create("outside")
    assert names(stage) == []

    async def wait() -> str:
        return await asyncio.shield(gate.wait())

    stage.spawn(wait(), "waiter")
    stage.run_until_quiet()
    assert names(stage) == ["outside #1"]
    stage.settle()
    assert names(stage) == []


def test_leaving_the_stage_ends_what_waits_and_stops_the_loop() -> None:
    """After the block no task is left, no gate is open and no loop is running."""
    with Stage() as stage:
        task = stage.spawn(stage.gate("outside"), "waiter")
        stage.run_until_quiet()
    assert task.cancelled()
    assert names(stage) == []
    assert stage.loop.is_closed()
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()
