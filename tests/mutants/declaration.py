"""Faults planted in the table, each with the claims that must break and no others.

A fault is a function from the table to another table. It is listed with everything that it breaks,
so that a claim which falls silent, or one that begins to complain about something else, is seen.
"""

from collections.abc import Callable

from attrs import evolve, frozen

from statemachine.commands import Command, Input
from statemachine.lifecycle import REGIONS, Move, Row
from statemachine.shape import Ending
from statemachine.windows import Window

__all__ = ["MUTANTS", "Mutant"]

Table = tuple[Row, ...]


@frozen(kw_only=True)
class Mutant:
    """One planted fault."""

    id: str
    fault: str
    """The fault in one line."""
    plant: Callable[[Table], Table]
    breaks: frozenset[str]
    """The names of all claims that must break."""
    invariant: str


# -- Planting --------------------------------------------------------------------------------------

Choice = Callable[[Row], bool]


def _rows(on: Input, window: Window | None = None, when: str | None = None) -> Choice:
    """Choose rows by input, by a window that they are about, and by the name of their guard."""

    def is_chosen(row: Row) -> bool:
        is_here = window is None or window in row.where
        return row.on is on and is_here and (when is None or row.when.name == when)

    return is_chosen


def _asking(*commands: Command) -> Choice:
    """Choose rows that ask for all of `commands`."""
    return lambda row: set(commands) <= set(row.commands)


def _both(first: Choice, second: Choice) -> Choice:
    return lambda row: first(row) and second(row)


def _change(chosen: Choice, change: Callable[[Row], Row]) -> Callable[[Table], Table]:
    """Change the chosen rows; a fault that finds no row is a mistake of this page."""

    def plant(table: Table) -> Table:
        assert any(map(chosen, table)), "the fault finds no row to plant itself in"
        return tuple(change(row) if chosen(row) else row for row in table)

    return plant


def _remove(chosen: Choice) -> Callable[[Table], Table]:
    def plant(table: Table) -> Table:
        assert any(map(chosen, table)), "the fault finds no row to remove"
        return tuple(row for row in table if not chosen(row))

    return plant


def _swap(first: Choice, second: Choice) -> Callable[[Table], Table]:
    """Let two rows change places, so that the later one is asked first."""

    def plant(table: Table) -> Table:
        rows = list(table)
        one, other = (next(i for i, row in enumerate(rows) if each(row)) for each in (first, second))
        rows[one], rows[other] = rows[other], rows[one]
        return tuple(rows)

    return plant


def _silence(command: Command) -> Callable[[Row], Row]:
    """Drop a command from a row."""
    return lambda row: evolve(row, commands=tuple(c for c in row.commands if c is not command))


def _skip(name: str) -> Callable[[Row], Row]:
    """Drop a move from a row."""
    return lambda row: evolve(row, moves=tuple(move for move in row.moves if move.name != name))


def _also(*changes: Callable[[Row], Row]) -> Callable[[Row], Row]:
    def change(row: Row) -> Row:
        for each in changes:
            row = each(row)
        return row

    return change


def _send_to(window: Window) -> Callable[[Row], Row]:
    return lambda row: evolve(row, to=window)


def _ask(*commands: Command) -> Callable[[Row], Row]:
    """Replace the commands of a row."""
    return lambda row: evolve(row, commands=commands)


def _move(region: str, name: str) -> Move:
    return next(move for move in REGIONS[region] if move.name == name)


def _make(*moves: Move) -> Callable[[Row], Row]:
    """Replace the moves of a row."""
    return lambda row: evolve(row, moves=moves)


def _sets(**flags: object) -> Callable[[Row], Row]:
    return lambda row: evolve(row, sets=tuple({**dict(row.sets), **flags}.items()))


# -- The faults ------------------------------------------------------------------------------------

_CANCEL_OF_A_TURN = _rows(Input.CANCEL, Window.STREAM, "running")
_DISPOSE_OF_A_TURN = _rows(Input.DISPOSE, Window.STREAM, "running")
_OPENING = _rows(Input.DONE, Window.ANNOUNCE_RUNNING, "running")
_IDLE_DECISION = _rows(Input.DONE, Window.FLUSH, "always")


def _mutant(
    id: str, fault: str, invariant: str, plant: Callable[[Table], Table], *breaks: str
) -> Mutant:
    return Mutant(
        id=id, fault=fault, invariant=invariant, plant=plant, breaks=frozenset(breaks)
    )


MUTANTS = (
    _mutant(
        "cancel-keeps-the-queue", "a cancel of a turn leaves the inbox as it was", "INV-01",
        _change(_CANCEL_OF_A_TURN, _also(_skip("clear"), _silence(Command.DISCARD))),
    ),
    _mutant(
        "cancel-forgets-to-tell", "a cancel empties the inbox and discards nothing visibly", "INV-21",
        _change(_CANCEL_OF_A_TURN, _silence(Command.DISCARD)),
    ),
    _mutant(
        "signal-before-contents", "a cancel fires the signal before it takes the contents", "INV-03",
        _change(_CANCEL_OF_A_TURN, _ask(Command.ABORT, Command.ANNOUNCE, Command.DISCARD)),
    ),
    _mutant(
        "cancel-without-marker", "a cancel of a turn does not arm the marker", "INV-04",
        _change(_CANCEL_OF_A_TURN, _skip("arm")),
    ),
    _mutant(
        "cancel-without-signal", "a cancel of a turn does not fire its signal", "INV-05",
        _change(_CANCEL_OF_A_TURN, _silence(Command.ABORT)),
    ),
    _mutant(
        "cancel-releases", "a cancel releases the waiters itself", "INV-07",
        _change(_CANCEL_OF_A_TURN, lambda row: evolve(row, commands=(*row.commands, Command.RELEASE))),
    ),
    _mutant(
        "cancel-signals-twice", "a second cancel of a turn fires the signal again", "INV-05",
        _change(_rows(Input.CANCEL, None, "has_work"), lambda row: evolve(row, commands=(*row.commands, Command.ABORT))),
    ),
    _mutant(
        "dispose-late", "a dispose of a parked agent is asked after the one of a turn and everywhere", "INV-12",
        _swap(_rows(Input.DISPOSE, Window.PARKED, "always"), _rows(Input.DISPOSE, Window.WOKEN, "always")),
    ),
    _mutant(
        "dispose-keeps-the-queue", "a dispose of a turn leaves the inbox as it was", "INV-11",
        _change(_DISPOSE_OF_A_TURN, _also(_skip("clear"), _silence(Command.DISCARD))),
    ),
    _mutant(
        "idle-without-release", "the idle decision after a flush releases nobody", "INV-08",
        _change(_IDLE_DECISION, _silence(Command.RELEASE)),
    ),
    _mutant(
        "early-release", "waiters are released when the turn has ended, before its flush", "INV-07",
        _change(_rows(Input.DONE, Window.TURN_END), lambda row: evolve(row, commands=(*row.commands, Command.RELEASE))),
    ),
    _mutant(
        "pre-step-goes-on", "a stop in PRE_STEP is overlooked and the step opens", "INV-05",
        _remove(_rows(Input.DONE, Window.PRE_STEP, "stopped")),
    ),
    _mutant(
        "body-after-cancel", "a call that was allowed is entered although a stop is in effect", "INV-05",
        _remove(_rows(Input.ALLOWED, Window.TOOL_CALL, "stopped")),
    ),
    _mutant(
        "vote-beats-cancel", "a vote to go on overrules a stop", "INV-05",
        _remove(_rows(Input.CONTINUE, Window.CONTINUATION, "stopped")),
    ),
    _mutant(
        "sticky-marker", "the marker survives the end of a cancelled turn", "INV-04",
        _change(_rows(Input.DONE, Window.CLOSING, "cancelled"), _skip("retire")),
    ),
    _mutant(
        "authority-kept", "the abort authority is not taken back when a turn ends", "INV-04",
        _change(_rows(Input.DONE, Window.CLOSING), _silence(Command.RETIRE)),
    ),
    _mutant(
        "steering-while-cancelled", "a steer is steering in an open turn, cancelled or not", "INV-09",
        _change(_rows(Input.STEER, None, "running"), lambda row: evolve(row, when=_guard_of("stopped_or_running"))),
    ),
)  # fmt: skip


def _guard_of(name: str):
    raise KeyError(name)
