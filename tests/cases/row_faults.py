"""Faults in the table: one rule of the lifecycle that a careless runtime gets wrong."""

from typing import Final

import pytest
from attrs import evolve

from statemachine import MACHINE, Command, Input, Machine, Status, Window
from statemachine.lifecycle import Row

from .planting import also, change, fault, rows, silence, use
from .world import PLANTED

__all__: list[str] = []

BEFORE_A_STEP: Final = (Window.PROMPTS, Window.ASSEMBLY, Window.PRE_STEP)
_BUSY: Final = (Status.RUNNING, Status.CANCELLED)


@fault
def queue_survives_a_cancel(_: pytest.MonkeyPatch) -> None:
    """A cancel without a turn leaves the inbox as it was."""
    change(rows(Input.CANCEL, Window.PARKED, "has_work"))


@fault
def stop_overlooked(_: pytest.MonkeyPatch) -> None:
    """A step opens although the turn was stopped before it."""
    change(
        lambda row: (
            row.on is Input.DONE and row.where[0] in BEFORE_A_STEP and row.when.name == "stopped"
        )
    )


@fault
def cancel_releases(_: pytest.MonkeyPatch) -> None:
    """A cancel lets go of those who wait for idle."""
    also(rows(Input.CANCEL, Window.PARKED, "has_work"), Command.RELEASE)


@fault
def idle_between(_: pytest.MonkeyPatch) -> None:
    """What replaces a cancelled turn is found only after `idle` was announced."""
    change(rows(Input.DONE, Window.FLUSH, "replaced"))


@fault
def replacement_forgotten(_: pytest.MonkeyPatch) -> None:
    """An agent parks after a turn without a look at what was queued meanwhile."""

    def forget(row: Row) -> Row | None:
        if row.on is Input.DONE and Window.ANNOUNCE_IDLE in row.where:
            return evolve(row, where=(Window.WOKEN,)) if row.when.name == "has_queued" else row
        is_look = row.when.name in ("replaced", "running_with_work")
        return None if is_look and Window.FLUSH in row.where else row

    use(forget)


@fault
def sticky_marker(_: pytest.MonkeyPatch) -> None:
    """The cancel marker outlives its turn."""
    change(rows(Input.DONE, Window.CLOSING, "cancelled"), moves=())


@fault
def abort_over_error(_: pytest.MonkeyPatch) -> None:
    """A turn whose failure was reported ends as aborted."""
    chosen = rows(Input.DONE, Window.CLOSING, "cancelled")
    PLANTED.set(Machine(table=sorted(MACHINE.table, key=lambda row: not chosen(row))))


@fault
def steering_while_cancelled(_: pytest.MonkeyPatch) -> None:
    """A steer joins a turn that is unwinding."""
    chosen = rows(Input.STEER, Window.STREAM, "running")
    guard = next(row.when for row in MACHINE.table if chosen(row))
    busy = evolve(guard, name="busy", holds=lambda shape: shape.status in _BUSY)
    change(chosen, when=busy)


@fault
def steering_not_looked_for(_: pytest.MonkeyPatch) -> None:
    """A turn ends although steering has come during its last step."""
    change(rows(Input.DONE, Window.CONTINUATION, "would_go_on"))


@fault
def steering_wakes_nobody(_: pytest.MonkeyPatch) -> None:
    """A steer at rest is queued and left lying."""
    change(rows(Input.STEER, Window.PARKED, "always"))


@fault
def turn_without_a_message(_: pytest.MonkeyPatch) -> None:
    """A wake opens a turn, whatever is queued."""
    guards = {row.when.name: row.when for row in MACHINE.table}
    change(rows(Input.DONE, Window.WOKEN, "has_queued"), when=guards["always"])


@fault
def early_release(_: pytest.MonkeyPatch) -> None:
    """Waiters go on when the turn has ended, before it was flushed."""
    also(rows(Input.DONE, Window.TURN_END, "always"), Command.RELEASE)


@fault
def replacement_releases(_: pytest.MonkeyPatch) -> None:
    """Replaced in `running`, the old work's end lets go of the waiters."""
    also(rows(Input.DONE, Window.ANNOUNCE_RUNNING, "replaced"), Command.RELEASE)


@fault
def parking_without_release(_: pytest.MonkeyPatch) -> None:
    """A driver that finds no work parks and tells no waiter."""
    silence(rows(Input.DONE, Window.WOKEN, "always"), Command.RELEASE)


@fault
def unopened_batch_lost(_: pytest.MonkeyPatch) -> None:
    """The prompts of a turn that could not be opened vanish."""
    silence(
        lambda row: row.on is Input.UNOPENED and Command.DISCARD_BATCH in row.commands,
        Command.DISCARD_BATCH,
    )


@fault
def dispose_drops_silently(_: pytest.MonkeyPatch) -> None:
    """A dispose empties the inbox and tells nobody."""
    silence(lambda row: row.on is Input.DISPOSE, Command.DISCARD)


@fault
def dispose_interrupts_nobody(_: pytest.MonkeyPatch) -> None:
    """A dispose leaves the turn's signal alone, and the model goes on."""
    silence(lambda row: row.on is Input.DISPOSE, Command.ABORT)


@fault
def idle_not_announced(_: pytest.MonkeyPatch) -> None:
    """After a turn that never opened nobody hears that the agent rests."""
    chosen = rows(Input.DONE, Window.ANNOUNCE_RUNNING, "cancelled")
    silence(chosen, Command.ANNOUNCE)


@fault
def disposed_accepts(_: pytest.MonkeyPatch) -> None:
    """A message for a disposed agent is queued."""
    change(rows(Input.SEND, Window.PARKED, "disposed"))


@fault
def closed_while_unwinding(_: pytest.MonkeyPatch) -> None:
    """Nothing is accepted while a cancelled turn unwinds."""
    guards = {row.when.name: row.when for row in MACHINE.table}
    change(rows(Input.SEND, Window.PARKED, "disposed"), when=guards["stopped"])
