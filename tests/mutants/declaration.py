"""Faults planted in the table, each with the claims that must break and no others.

A fault is a function from the table to another table. It is listed with everything that it breaks,
so that a claim which falls silent, or one that begins to complain about something else, is seen.
"""

from collections.abc import Callable

from attrs import evolve, frozen

from statemachine.commands import Command, Input
from statemachine.lifecycle import REGIONS, Row
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


def _rows(
    on: Input, window: Window | None = None, when: str | None = None, windows_max: int = 99
) -> Choice:
    """Choose rows by input, by a window that they are about, and by the name of their guard."""

    def is_chosen(row: Row) -> bool:
        is_here = (window is None or window in row.where) and len(row.where) <= windows_max
        return row.on is on and is_here and (when is None or row.when.name == when)

    return is_chosen


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


def _make(*names: str) -> Callable[[Row], Row]:
    """Replace the moves of a row."""
    moves = tuple(move for moves in REGIONS.values() for move in moves if move.name in names)
    return lambda row: evolve(row, moves=moves)


def _also_ask(command: Command) -> Callable[[Row], Row]:
    """Append a command to a row."""
    return lambda row: evolve(row, commands=(*row.commands, command))


def _also_in(window: Window) -> Callable[[Row], Row]:
    """Let a row hold in one more window."""
    return lambda row: evolve(row, where=(*row.where, window))


def _unset(row: Row) -> Row:
    """Let a row leave the flags as they are."""
    return evolve(row, sets=())


# -- The faults ------------------------------------------------------------------------------------

_CANCEL_OF_A_TURN = _rows(Input.CANCEL, Window.STREAM, "running")
_DISPOSE_OF_A_TURN = _rows(Input.DISPOSE, Window.STREAM, "running")


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
        "cancel-forgets-to-tell", "a cancel empties the inbox without a fate for what was in it", "INV-21",
        _change(_CANCEL_OF_A_TURN, _silence(Command.DISCARD)),
    ),
    _mutant(
        "cancel-drops-nothing-when-idle", "a cancel outside a turn leaves the inbox as it was", "INV-01",
        _remove(_rows(Input.CANCEL, None, "has_work")),
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
        "cancel-after-the-end", "a cancel that lands in FLUSH cancels a turn that has ended", "INV-04",
        _change(_CANCEL_OF_A_TURN, _also_in(Window.FLUSH)),
    ),
    _mutant(
        "cancel-without-signal", "a cancel of a turn does not fire its signal", "INV-05",
        _change(_CANCEL_OF_A_TURN, _silence(Command.ABORT)),
    ),
    _mutant(
        "cancel-signals-twice", "a second cancel of a turn fires the signal again", "INV-05",
        _change(_rows(Input.CANCEL, None, "has_work"), _also_ask(Command.ABORT)),
    ),
    _mutant(
        "cancel-releases", "a cancel releases the waiters itself", "INV-07",
        _change(_CANCEL_OF_A_TURN, _also_ask(Command.RELEASE)),
    ),
    _mutant(
        "cancel-runs-on", "a cancel of a turn only empties the inbox", "INV-05",
        _remove(_CANCEL_OF_A_TURN),
    ),
    _mutant(
        "dispose-rows-swapped", "the row of a parked dispose is asked after the general one", "INV-12",
        _swap(_rows(Input.DISPOSE, Window.PARKED, "always"), _rows(Input.DISPOSE, Window.WOKEN, "always")),
    ),
    _mutant(
        "dispose-keeps-the-queue", "a dispose of a turn leaves the inbox as it was", "INV-11",
        _change(_DISPOSE_OF_A_TURN, _also(_skip("clear"), _silence(Command.DISCARD))),
    ),
    _mutant(
        "dispose-unbounded", "a dispose in FLUSH gives the flush no bound", "INV-12",
        _change(_rows(Input.DISPOSE, Window.FLUSH, "always"), _silence(Command.BOUND)),
    ),
    _mutant(
        "send-after-dispose", "a disposed agent accepts a message", "INV-11",
        _remove(_rows(Input.SEND, None, "disposed")),
    ),
    _mutant(
        "steering-while-cancelled", "a steer is steering whatever the status is", "INV-09",
        _change(_rows(Input.STEER, Window.STREAM, "always"), _also(_make("steer"), _ask(Command.STEER))),
    ),
    _mutant(
        "inject-by-status", "an injection in FLUSH joins the turn that has ended", "INV-09",
        _change(_rows(Input.INJECT, Window.STREAM, "always"), _also_in(Window.FLUSH)),
    ),
    _mutant(
        "lost-wake-up", "a send to a parked agent wakes nobody", "INV-08",
        _remove(_rows(Input.SEND, Window.PARKED, "always", 1)),
    ),
    _mutant(
        "wake-not-asked", "a parked agent is woken and no driver is started", "INV-08",
        _change(_rows(Input.SEND, Window.PARKED, "always", 1), _silence(Command.WAKE)),
    ),
    _mutant(
        "park-with-work", "a driver parks although something is queued", "INV-21",
        _remove(_rows(Input.DONE, Window.WOKEN, "has_queued")),
    ),
    _mutant(
        "begin-missing", "a turn is announced without its abort authority", "INV-05",
        _change(_rows(Input.DONE, Window.WOKEN, "has_queued"), _silence(Command.BEGIN)),
    ),
    _mutant(
        "drained-too-early", "the batch is drained before `running` is announced", "INV-01",
        _change(_rows(Input.DONE, Window.WOKEN, "has_queued"), _also(_make("begin", "drain"), _ask(Command.DRAIN, Command.BEGIN, Command.ANNOUNCE))),
    ),
    _mutant(
        "no-pass-for-the-loop", "a listener that cancels and sends again is not made to wait", "INV-06",
        _remove(_rows(Input.DONE, Window.ANNOUNCE_RUNNING, "replaced")),
    ),
    _mutant(
        "batch-lost", "a batch whose `turn/start` could not be appended is forgotten", "INV-21",
        _change(_rows(Input.UNOPENED), _silence(Command.DISCARD_BATCH)),
    ),
    _mutant(
        "unread-lost", "the prompts behind a broken one are forgotten", "INV-21",
        _change(_rows(Input.BROKE_OFF), _also(_skip("queue"), _silence(Command.REQUEUE))),
    ),
    _mutant(
        "pre-step-goes-on", "a stop in PRE_STEP is overlooked and the step opens", "INV-05",
        _remove(_rows(Input.DONE, Window.PRE_STEP, "stopped")),
    ),
    _mutant(
        "body-after-cancel", "a call that was allowed is carried out although a stop is in effect", "INV-05",
        _remove(_rows(Input.ALLOWED, Window.TOOL_CALL, "stopped")),
    ),
    _mutant(
        "vote-beats-cancel", "a vote to go on overrules a stop", "INV-05",
        _remove(_rows(Input.CONTINUE, Window.CONTINUATION, "stopped")),
    ),
    _mutant(
        "steering-forgotten", "a vote to stop overrules steering", "INV-09",
        _remove(_rows(Input.STOP, Window.CONTINUATION, "has_steering")),
    ),
    _mutant(
        "calls-left-open", "a failed stream leaves its calls unanswered", "INV-06",
        _change(_rows(Input.FAILED, Window.STREAM, "always"), _silence(Command.CLOSE_CALLS)),
    ),
    _mutant(
        "step-not-recorded", "a step opens without `step/start`", "INV-06",
        _change(_rows(Input.DONE, Window.PRE_STEP, "always"), _silence(Command.RECORD)),
    ),
    _mutant(
        "report-under-stop", "a failure behind a cancel is announced", "INV-05",
        _change(_rows(Input.FAILED, Window.PRE_STEP, "stopped"), _also(_silence(Command.LOG), _also_ask(Command.REPORT))),
    ),
    _mutant(
        "failure-hushed", "a failed step makes the ending `error` and tells nobody", "INV-05",
        _change(_rows(Input.DONE, Window.STEP_END, "failed"), _silence(Command.REPORT)),
    ),
    _mutant(
        "endings-swapped", "`rejected` overrules `disposed`", "INV-05",
        _swap(_rows(Input.DONE, Window.CLOSING, "disposed"), _rows(Input.DONE, Window.CLOSING, "rejected")),
    ),
    _mutant(
        "tokens-over-cancel", "`max-tokens` overrules `aborted`", "INV-05",
        _swap(_rows(Input.DONE, Window.CLOSING, "cancelled"), _rows(Input.DONE, Window.CLOSING, "out_of_tokens")),
    ),
    _mutant(
        "truncation-forgotten", "a truncated step leaves no trace in the ending", "INV-05",
        _change(_rows(Input.TRUNCATED, Window.STREAM, "always"), _unset),
    ),
    _mutant(
        "sticky-marker", "the marker survives the end of a cancelled turn", "INV-04",
        _change(_rows(Input.DONE, Window.CLOSING, "cancelled"), _skip("retire")),
    ),
    _mutant(
        "authority-kept", "the abort authority is not taken back when a turn ends", "INV-04",
        _change(_rows(Input.DONE, Window.CLOSING, "always"), _silence(Command.RETIRE)),
    ),
    _mutant(
        "flush-skipped", "an ended turn goes on without its flush", "INV-07",
        _change(_rows(Input.DONE, Window.TURN_END, "always"), _also(_make("settle"), _send_to(Window.ANNOUNCE_IDLE), _ask(Command.ANNOUNCE, Command.RELEASE))),
    ),
    _mutant(
        "early-release", "waiters are released before the flush", "INV-07",
        _change(_rows(Input.DONE, Window.TURN_END, "always"), _also_ask(Command.RELEASE)),
    ),
    _mutant(
        "idle-without-release", "the idle decision after a flush releases nobody", "INV-08",
        _change(_rows(Input.DONE, Window.FLUSH, "always"), _silence(Command.RELEASE)),
    ),
    _mutant(
        "replacement-forgotten", "after a cancelled turn `idle` is written although new work waits", "INV-06",
        _remove(_rows(Input.DONE, Window.FLUSH, "replaced")),
    ),
    _mutant(
        "leftover-not-merged", "left-over steering is not moved into the queue", "INV-21",
        _change(_rows(Input.DONE, Window.FLUSH, "running_with_work"), _also(_skip("merge"), _silence(Command.MERGE))),
    ),
    _mutant(
        "exit-refused", "a disposed driver parks when its turn was flushed", "INV-12",
        _remove(_rows(Input.DONE, Window.FLUSH, "disposed")),
    ),
)  # fmt: skip
