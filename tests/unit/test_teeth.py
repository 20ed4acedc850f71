"""Planted faults: for each, the row of a window's table that claims the clause must fail.

The same row holds on the true machine, so it is the fault that is found.
"""

from collections.abc import Callable

import pytest
from attrs import evolve

from runtime.obey import OBEY
from statemachine import MACHINE, TURN_WINDOWS, Command, Ending, Input, Machine, Window
from statemachine.lifecycle import Row
from tests.unit.windows import test_answering as answering
from tests.unit.windows import test_before_a_turn as before
from tests.unit.windows import test_calling as calling
from tests.unit.windows import test_closing as closing
from tests.unit.windows import test_opening as opening
from tests.unit.windows import test_stopping as stopping
from tests.unit.windows.table import Point, check

Change = Callable[[Row], Row]

OPEN = "running TS UM(A) SS"
ENDED = f"{closing.DONE} TE{{completed}}"


def the_row(on: Input, where: tuple[Window, ...], guard: str) -> Row:
    """Return the one row of an input, its windows and its guard."""
    (found,) = (
        row for row in MACHINE.table if (row.on, row.where, row.when.name) == (on, where, guard)
    )
    return found


def planted(on: Input, where: tuple[Window, ...], guard: str, change: Change) -> Machine:
    """Return a machine in which that row is another one."""
    original = the_row(on, where, guard)
    return Machine(table=[change(row) if row is original else row for row in MACHINE.table])


def without(*commands: Command) -> Change:
    """Drop commands of a row."""
    return lambda row: evolve(row, commands=tuple(c for c in row.commands if c not in commands))


def with_commands(*commands: Command) -> Change:
    """Give a row other commands."""
    return lambda row: evolve(row, commands=commands)


def nowhere(row: Row) -> Row:
    """Take a row out of the table: it holds in no window."""
    return evolve(row, where=())


ANYWHERE = tuple(Window)
ANNOUNCING = (Window.ANNOUNCE_RUNNING,)

MUTANTS: dict[str, tuple[Machine, Point, str, str, str]] = {
    "a cancel in a turn only empties the inbox": (
        planted(Input.CANCEL, TURN_WINDOWS, "running", nowhere),
        before.announced, "running", "cancel", "cancelled -A{cancelled:r} idle W",
    ),
    "a cancel forgets to drop what is queued": (
        planted(Input.CANCEL, ANYWHERE, "has_work", nowhere),
        closing.flushing, ENDED, "send+cancel", "-B{cancelled:r} FLUSH idle W",
    ),
    "a cancel releases the waiters itself": (
        planted(
            Input.CANCEL, TURN_WINDOWS, "running",
            with_commands(Command.ANNOUNCE, Command.DISCARD, Command.RELEASE, Command.ABORT),
        ),
        answering.asked, OPEN, "cancel", "abort cancelled SE TE{aborted:r} FLUSH idle W",
    ),
    "callbacks run before the inbox is emptied": (
        planted(
            Input.CANCEL, TURN_WINDOWS, "running",
            with_commands(Command.ABORT, Command.ANNOUNCE, Command.DISCARD),
        ),
        stopping.in_callback, f"{OPEN} abort", "send",
        "cancelled -Q{cancelled:q} SE TE{aborted:q} FLUSH running [B] idle W",
    ),
    "a cancel does not abort": (
        planted(Input.CANCEL, TURN_WINDOWS, "running", without(Command.ABORT)),
        answering.first_chunk, f"{OPEN} CH", "cancel",
        "abort cancelled SE TE{aborted:r} FLUSH idle W",
    ),
    "a cancel in the flush is one of the turn": (
        planted(
            Input.CANCEL, TURN_WINDOWS, "running",
            lambda row: evolve(row, where=(*TURN_WINDOWS, Window.TURN_END, Window.FLUSH)),
        ),
        closing.flushing, ENDED, "cancel+send", "FLUSH [B] idle W",
    ),
    "a dispose is not announced": (
        planted(Input.DISPOSE, (Window.PARKED,), "always", without(Command.ANNOUNCE)),
        before.parked, "", "dispose", "disposed W gone END",
    ),
    "the end of a turn forgets the failure that was reported": (
        planted(
            Input.DONE, (Window.CLOSING,), "reported_and_armed",
            lambda row: evolve(row, sets=(("ending", Ending.ABORTED),)),
        ),
        closing.failed, f"{OPEN} SE ERR(1)", "cancel", "abort cancelled TE{error} FLUSH idle W",
    ),
    "an unopened turn gives the loop no pass": (
        planted(
            Input.DONE, ANNOUNCING, "replaced",
            lambda row: evolve(the_row(Input.YIELDED, row.where, "replaced"), on=Input.DONE),
        ),
        before.passing, "running cancelled -A{cancelled:q}", "cancel", "-Y{cancelled:r} idle W",
    ),
    "idle is not announced": (
        planted(Input.DONE, (Window.FLUSH,), "always", without(Command.ANNOUNCE)),
        closing.turn_ended, ENDED, "cancel", "FLUSH idle W",
    ),
    "a truncated turn stays so when it is stopped": (
        planted(
            Input.DONE, (Window.CLOSING,), "cancelled",
            lambda row: evolve(row, sets=(("ending", Ending.MAX_TOKENS),)),
        ),
        closing.truncated, closing.DONE, "cancel", "abort cancelled TE{aborted:r} FLUSH idle W",
    ),
    "a cancel announces itself again": (
        planted(
            Input.CANCEL, ANYWHERE, "always", with_commands(Command.ANNOUNCE),
        ),
        stopping.in_cancelled, f"{OPEN} abort cancelled", "cancel",
        "SE TE{aborted:q} FLUSH idle W",
    ),
    "what was drained goes back into the queue": (
        planted(
            Input.DONE, ANNOUNCING, "running",
            with_commands(Command.DRAIN, Command.RECORD, Command.REQUEUE),
        ),
        opening.opened, "running TS", "cancel", "cancelled UM(A) TE{aborted:r} FLUSH idle W",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_a_planted_fault_is_found_by_the_row_of_its_window(name: str) -> None:
    """The row holds on the true machine and fails on the mutant."""
    mutant, point, prefix, act, trace = MUTANTS[name]
    check(point, prefix, act, trace)
    with pytest.raises(AssertionError, match="expected"):
        check(point, prefix, act, trace, machine=mutant)


OBEYED: dict[str, tuple[Command, Point, str, str, str]] = {
    "nothing is discarded": (
        Command.DISCARD,
        before.woken, "", "cancel", "-A{cancelled:r} W",
    ),
    "waiters are not released at idle": (
        Command.RELEASE,
        closing.idle, "running [A] idle", "cancel", "W",
    ),
    "calls are not closed": (
        Command.CLOSE_CALLS,
        calling.called, f"{OPEN} CH AM FLUSH TC", "cancel",
        "abort cancelled TR(not-started) SE TE{aborted:r} FLUSH idle W",
    ),
    "steering is merged nowhere": (
        Command.MERGE,
        closing.turn_ended, ENDED, "steer", "FLUSH [S] idle W",
    ),
    "a stop aborts nothing": (
        Command.ABORT,
        answering.last_chunk, f"{OPEN} CH CH", "dispose",
        "abort disposed SE TE{disposed} FLUSH W gone END",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OBEYED)
def test_a_fault_in_what_obeys_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that is not carried out shows in the trace, or leaves somebody waiting."""
    command, point, prefix, act, trace = OBEYED[name]
    check(point, prefix, act, trace)
    monkeypatch.setitem(OBEY, command, lambda *_: None)
    with pytest.raises(Exception, match=r"expected|waits|is left to do|refused"):
        check(point, prefix, act, trace)
