"""Faults in the table: one rule of the lifecycle that a careless runtime gets wrong."""

from functools import partial
from typing import Final

from attrs import evolve

from statemachine import MACHINE, Command, Input, Status, Window
from statemachine.lifecycle import Guard, Row
from tests.mutants.planting import (
    Plant,
    also_ask,
    chain,
    change,
    make,
    only_in,
    remove,
    rows,
    silence,
    when,
)

from .planting import FAULTS, use

__all__ = ["BEFORE_A_STEP"]

BEFORE_A_STEP: Final = (Window.PROMPTS, Window.ASSEMBLY, Window.PRE_STEP)

_GUARDS: Final[dict[str, Guard]] = {row.when.name: row.when for row in MACHINE.table}
_BUSY: Final = evolve(
    _GUARDS["running"],
    name="busy",
    holds=lambda shape: shape.status in (Status.RUNNING, Status.CANCELLED),
)


def _overlooks_a_stop(row: Row) -> bool:
    return row.on is Input.DONE and row.where[0] in BEFORE_A_STEP and row.when.name == "stopped"


def _looks_at_what_came_meanwhile(row: Row) -> bool:
    return Window.FLUSH in row.where and row.when.name in ("replaced", "running_with_work")


def _abort_first(table: tuple[Row, ...]) -> tuple[Row, ...]:
    chosen = rows(Input.DONE, Window.CLOSING, "cancelled")
    return tuple(sorted(table, key=lambda row: not chosen(row)))


_PLANTS: Final[dict[str, Plant]] = {
    # A cancel without a turn leaves the inbox as it was.
    "queue-survives-a-cancel": remove(rows(Input.CANCEL, Window.PARKED, "has_work")),
    # A step opens although the turn was stopped before it.
    "stop-overlooked": remove(_overlooks_a_stop),
    # A cancel lets go of those who wait for idle.
    "cancel-releases": change(
        rows(Input.CANCEL, Window.PARKED, "has_work"), also_ask(Command.RELEASE)
    ),
    # What replaces a cancelled turn is found only after `idle` was announced.
    "idle-between": remove(rows(Input.DONE, Window.FLUSH, "replaced")),
    # An agent parks after a turn without a look at what was queued meanwhile.
    "replacement-forgotten": chain(
        change(rows(Input.DONE, Window.ANNOUNCE_IDLE, "has_queued"), only_in(Window.WOKEN)),
        remove(_looks_at_what_came_meanwhile),
    ),
    # The cancel marker outlives its turn.
    "sticky-marker": change(rows(Input.DONE, Window.CLOSING, "cancelled"), make()),
    # A turn whose failure was reported ends as aborted.
    "abort-over-error": _abort_first,
    # A steer joins a turn that is unwinding.
    "steering-while-cancelled": change(rows(Input.STEER, Window.STREAM, "running"), when(_BUSY)),
    # A turn ends although steering has come during its last step.
    "steering-not-looked-for": remove(rows(Input.DONE, Window.CONTINUATION, "would_go_on")),
    # A steer at rest is queued and left lying.
    "steering-wakes-nobody": remove(rows(Input.STEER, Window.PARKED, "always")),
    # A wake opens a turn, whatever is queued.
    "turn-without-a-message": change(
        rows(Input.DONE, Window.WOKEN, "has_queued"), when(_GUARDS["always"])
    ),
    # Waiters go on when the turn has ended, before it was flushed.
    "early-release": change(rows(Input.DONE, Window.TURN_END, "always"), also_ask(Command.RELEASE)),
    # Replaced in `running`, the old work's end lets go of the waiters.
    "replacement-releases": change(
        rows(Input.DONE, Window.ANNOUNCE_RUNNING, "replaced"), also_ask(Command.RELEASE)
    ),
    # A driver that finds no work parks and tells no waiter.
    "parking-without-release": change(
        rows(Input.DONE, Window.WOKEN, "always"), silence(Command.RELEASE)
    ),
    # The prompts of a turn that could not be opened vanish.
    "unopened-batch-lost": change(rows(Input.UNOPENED), silence(Command.DISCARD_BATCH)),
    # A dispose empties the inbox and tells nobody.
    "dispose-drops-silently": change(rows(Input.DISPOSE), silence(Command.DISCARD)),
    # A dispose leaves the turn's signal alone, and the model goes on.
    "dispose-interrupts-nobody": change(rows(Input.DISPOSE), silence(Command.ABORT)),
    # After a turn that never opened nobody hears that the agent rests.
    "idle-not-announced": change(
        rows(Input.DONE, Window.ANNOUNCE_RUNNING, "cancelled"), silence(Command.ANNOUNCE)
    ),
    # A message for a disposed agent is queued.
    "disposed-accepts": remove(rows(Input.SEND, Window.PARKED, "disposed")),
    # Nothing is accepted while a cancelled turn unwinds.
    "closed-while-unwinding": change(
        rows(Input.SEND, Window.PARKED, "disposed"), when(_GUARDS["stopped"])
    ),
}


FAULTS.update({name: partial(use, plant) for name, plant in _PLANTS.items()})
