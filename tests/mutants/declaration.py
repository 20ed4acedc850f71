"""Faults planted in the table, each with the claims that must break and no others.

A fault is a function from the table to another table. It is listed with everything that it breaks,
so that a claim which falls silent, or one that begins to complain about something else, is seen.
"""

from collections.abc import Callable

from attrs import evolve, frozen

from statemachine.commands import Command, Input
from statemachine.lifecycle import REGIONS, Guard, Row
from statemachine.shape import Shape, Status
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
    dies_of: frozenset[str]
    """The claims that are there to find this fault."""
    drags: frozenset[str]
    """The other claims that break with them."""
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


def _before(chosen: Choice, change: Callable[[Row], Row]) -> Callable[[Table], Table]:
    """Put a changed copy before the chosen row, so that it is asked first."""

    def plant(table: Table) -> Table:
        place = next(number for number, row in enumerate(table) if chosen(row))
        return (*table[:place], change(table[place]), *table[place:])

    return plant


def _chain(*plants: Callable[[Table], Table]) -> Callable[[Table], Table]:
    def plant(table: Table) -> Table:
        for each in plants:
            table = each(table)
        return table

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


def _only_in(window: Window) -> Callable[[Row], Row]:
    """Let a row hold in one window only."""
    return lambda row: evolve(row, where=(window,))


def _not_in(window: Window) -> Callable[[Row], Row]:
    """Let a row hold in one window less."""
    return lambda row: evolve(row, where=tuple(each for each in row.where if each is not window))


def _when(guard: Guard) -> Callable[[Row], Row]:
    return lambda row: evolve(row, when=guard)


def _stay(row: Row) -> Row:
    """Let a row leave the driver where it is."""
    return evolve(row, to=None)


def _is_cancelled(shape: Shape) -> bool:
    return shape.status is Status.CANCELLED


def _also_in(window: Window) -> Callable[[Row], Row]:
    """Let a row hold in one more window."""
    return lambda row: evolve(row, where=(*row.where, window))


def _unset(row: Row) -> Row:
    """Let a row leave the flags as they are."""
    return evolve(row, sets=())


# -- The faults ------------------------------------------------------------------------------------

_CANCEL_OF_A_TURN = _rows(Input.CANCEL, Window.STREAM, "running")
_DISPOSE_OF_A_TURN = _rows(Input.DISPOSE, Window.STREAM, "running")
_CANCELLED = Guard("cancelled", _is_cancelled)


def _mutant(  # noqa: PLR0913 - the columns of a list
    id: str,  # noqa: A002 - the name of the column
    fault: str,
    invariant: str,
    plant: Callable[[Table], Table],
    dies_of: tuple[str, ...],
    drags: tuple[str, ...] = (),
) -> Mutant:
    return Mutant(
        id=id,
        fault=fault,
        invariant=invariant,
        plant=plant,
        dies_of=frozenset(dies_of),
        drags=frozenset(drags),
    )


MUTANTS = (
    _mutant(
        "cancel-keeps-the-queue",
        "a cancel in STREAM leaves the inbox as it was",
        "INV-03",
        _before(_CANCEL_OF_A_TURN, _also(_only_in(Window.STREAM), _skip("clear"), _silence(Command.DISCARD))),
        ("a_stop_empties_the_inbox", "a_stop_discards_what_waited"),
        ("steering_waits_only_while_running", "disposed_means_an_empty_inbox", "contents_are_taken_before_the_signal_fires", "a_stop_of_a_disposed_agent_is_nothing", "leftover_steering_is_merged_in_the_deciding_stretch", "idle_is_written_only_with_an_empty_inbox", "a_driver_parks_with_an_empty_inbox", "waiters_are_released_only_at_rest", "a_driver_that_exited_never_comes_back", "every_waiter_is_released", "what_is_steering_leaves_the_fifo", "a_cancelled_message_is_discarded_by_that_call"),
    ),
    _mutant(
        "cancel-forgets-to-tell",
        "a cancel of a turn empties the inbox, and what was in it has no fate",
        "INV-21",
        _change(_CANCEL_OF_A_TURN, _silence(Command.DISCARD)),
        ("every_move_of_the_inbox_has_its_command",),
        ("a_stop_discards_what_waited", "contents_are_taken_before_the_signal_fires", "a_cancelled_message_is_discarded_by_that_call"),
    ),
    _mutant(
        "cancel-ignores-idle-work",
        "a cancel outside a running turn leaves the inbox as it was",
        "INV-01",
        _remove(_rows(Input.CANCEL, None, "has_work")),
        ("a_cancelled_message_is_discarded_by_that_call", "a_stop_discards_what_waited"),
        ("a_stop_empties_the_inbox", "a_second_cancel_drops_the_replacement"),
    ),
    _mutant(
        "cancel-overlooked",
        "a cancel in STREAM only empties the inbox",
        "INV-02",
        _change(_CANCEL_OF_A_TURN, _not_in(Window.STREAM)),
        ("no_turn_holds_messages_from_both_sides_of_a_cancel",),
        ("a_stop_takes_effect_at_the_call", "contents_are_taken_before_the_signal_fires", "the_signal_fires_exactly_when_a_running_turn_is_stopped", "a_cancel_in_stream_ends_the_turn", "the_first_reason_ends_the_turn", "an_ending_tells_what_stopped_the_turn"),
    ),
    _mutant(
        "signal-before-contents",
        "a cancel fires the signal before it takes the contents",
        "INV-03",
        _change(_CANCEL_OF_A_TURN, _ask(Command.ABORT, Command.ANNOUNCE, Command.DISCARD)),
        ("contents_are_taken_before_the_signal_fires",),
    ),
    _mutant(
        "cancel-without-marker",
        "a cancel in STREAM does not arm the marker",
        "INV-04",
        _before(_CANCEL_OF_A_TURN, _also(_only_in(Window.STREAM), _skip("arm"))),
        ("a_cancelled_turn_is_marked",),
        ("every_move_is_legal", "a_cancel_in_stream_ends_the_turn", "a_cancelled_turn_unwinds", "a_cancel_ends_in_idle_or_in_a_replacement", "an_open_turn_closes", "every_waiter_is_released", "what_is_queued_leaves_the_queue", "at_rest_nothing_is_owed"),
    ),
    _mutant(
        "cancel-after-the-end",
        "a cancel that lands in TURN_END cancels the turn that has ended",
        "INV-04",
        _change(_CANCEL_OF_A_TURN, _also_in(Window.TURN_END)),
        ("marker_is_armed_only_by_a_cancel_of_a_turn", "marker_ends_with_its_turn"),
        ("every_move_is_legal", "only_a_cancel_of_a_turn_makes_cancelled", "an_armed_marker_means_a_stopped_agent", "a_cancel_of_nothing_is_nothing", "the_signal_fires_exactly_when_a_running_turn_is_stopped", "the_authority_belongs_to_one_turn"),
    ),
    _mutant(
        "cancel-without-signal",
        "a cancel of a turn does not fire its signal",
        "INV-05",
        _change(_CANCEL_OF_A_TURN, _silence(Command.ABORT)),
        ("the_signal_fires_exactly_when_a_running_turn_is_stopped",),
        ("contents_are_taken_before_the_signal_fires", "the_first_reason_ends_the_turn"),
    ),
    _mutant(
        "cancel-signals-twice",
        "a second cancel of a turn fires the signal again",
        "INV-05",
        _change(_rows(Input.CANCEL, None, "has_work"), _also_ask(Command.ABORT)),
        ("the_signal_fires_exactly_when_a_running_turn_is_stopped",),
        ("the_authority_belongs_to_one_turn",),
    ),
    _mutant(
        "cancel-releases",
        "a cancel of a turn releases the waiters itself",
        "INV-07",
        _change(_CANCEL_OF_A_TURN, _also_ask(Command.RELEASE)),
        ("a_cancel_releases_nobody",),
        ("waiters_are_released_only_at_rest", "waiters_are_released_only_with_nothing_left"),
    ),
    _mutant(
        "dispose-rows-swapped",
        "the general row of a dispose is asked before the special ones",
        "INV-12",
        _swap(_rows(Input.DISPOSE, Window.PARKED, "always"), _rows(Input.DISPOSE, Window.WOKEN, "always")),
        ("a_dispose_comes_to_the_exit",),
        ("contents_are_taken_before_the_signal_fires", "the_signal_fires_exactly_when_a_running_turn_is_stopped", "a_stop_never_moves_a_driver", "only_a_dispose_bounds_a_flush_that_is_awaited", "every_waiter_is_released", "at_rest_nothing_is_owed"),
    ),
    _mutant(
        "dispose-keeps-the-queue",
        "a dispose of a turn leaves the inbox as it was",
        "INV-11",
        _change(_DISPOSE_OF_A_TURN, _also(_skip("clear"), _silence(Command.DISCARD))),
        ("disposed_means_an_empty_inbox",),
        ("steering_waits_only_while_running", "a_stop_empties_the_inbox", "a_stop_discards_what_waited", "contents_are_taken_before_the_signal_fires", "a_stop_of_a_disposed_agent_is_nothing", "leftover_steering_is_merged_in_the_deciding_stretch", "a_driver_that_exited_never_comes_back", "what_is_queued_leaves_the_queue", "what_is_steering_leaves_the_fifo", "a_cancelled_message_is_discarded_by_that_call"),
    ),
    _mutant(
        "dispose-unbounded",
        "a dispose in FLUSH gives the flush no bound",
        "INV-12",
        _change(_rows(Input.DISPOSE, Window.FLUSH, "always"), _silence(Command.BOUND)),
        ("only_a_dispose_bounds_a_flush_that_is_awaited",),
    ),
    _mutant(
        "send-after-dispose",
        "a disposed agent accepts a message",
        "INV-11",
        _remove(_rows(Input.SEND, None, "disposed")),
        ("send_is_queued_unless_disposed",),
        ("disposed_means_an_empty_inbox", "a_stop_empties_the_inbox", "a_stop_discards_what_waited", "a_stop_of_a_disposed_agent_is_nothing", "a_driver_that_exited_never_comes_back", "what_is_queued_leaves_the_queue", "waiters_are_released_only_with_nothing_left", "at_rest_nothing_is_owed"),
    ),
    _mutant(
        "steering-while-cancelled",
        "a steer in a cancelled STREAM joins the turn that unwinds",
        "INV-09",
        _before(_rows(Input.STEER, None, "running"), _also(_only_in(Window.STREAM), _when(_CANCELLED))),
        ("steer_joins_a_running_turn_and_is_a_send_otherwise", "steering_waits_only_while_running"),
        ("disposed_means_an_empty_inbox", "a_stop_empties_the_inbox", "a_stop_discards_what_waited", "a_stop_of_a_disposed_agent_is_nothing", "leftover_steering_is_merged_in_the_deciding_stretch", "idle_is_written_only_with_an_empty_inbox", "a_driver_parks_with_an_empty_inbox", "waiters_are_released_only_at_rest", "a_driver_that_exited_never_comes_back", "every_waiter_is_released", "what_is_steering_leaves_the_fifo", "waiters_are_released_only_with_nothing_left"),
    ),
    _mutant(
        "inject-by-status",
        "an injection in FLUSH joins the turn that has ended",
        "INV-09",
        _change(_rows(Input.INJECT, Window.STREAM, "always", 20), _also_in(Window.FLUSH)),
        ("inject_joins_an_open_turn_and_changes_no_shape",),
        ("an_injection_joins_exactly_an_open_turn",),
    ),
    _mutant(
        "lost-wake-up",
        "a send to a parked agent wakes nobody",
        "INV-08",
        _remove(_rows(Input.SEND, Window.PARKED, "always", 1)),
        ("a_driver_is_started_exactly_from_parked", "every_waiter_is_released"),
        ("disposed_means_an_empty_inbox", "a_stop_empties_the_inbox", "a_stop_discards_what_waited", "a_stop_of_a_disposed_agent_is_nothing", "a_driver_that_exited_never_comes_back", "what_is_queued_leaves_the_queue", "waiters_are_released_only_with_nothing_left", "at_rest_nothing_is_owed"),
    ),
    _mutant(
        "wake-not-asked",
        "a parked agent is woken and no driver is started",
        "INV-08",
        _change(_rows(Input.SEND, Window.PARKED, "always", 1), _silence(Command.WAKE)),
        ("a_driver_is_started_exactly_from_parked",),
    ),
    _mutant(
        "park-with-work",
        "a driver parks behind an `idle` listener that sent something",
        "INV-08",
        _change(_rows(Input.DONE, Window.WOKEN, "has_queued"), _only_in(Window.WOKEN)),
        ("a_driver_parks_with_an_empty_inbox",),
        ("disposed_means_an_empty_inbox", "a_stop_empties_the_inbox", "a_stop_discards_what_waited", "a_stop_of_a_disposed_agent_is_nothing", "waiters_are_released_only_at_rest", "a_driver_that_exited_never_comes_back", "every_waiter_is_released", "what_is_queued_leaves_the_queue", "waiters_are_released_only_with_nothing_left"),
    ),
    _mutant(
        "begin-missing",
        "a turn is announced without its abort authority",
        "INV-05",
        _change(_rows(Input.DONE, Window.WOKEN, "has_queued"), _silence(Command.BEGIN)),
        ("a_turn_gets_its_authority_when_it_is_announced",),
        ("the_authority_belongs_to_one_turn",),
    ),
    _mutant(
        "drained-too-early",
        "the batch is drained before `running` is announced",
        "INV-01",
        _chain(_change(_rows(Input.DONE, Window.WOKEN, "has_queued"), _also(_make("begin", "drain"), _ask(Command.DRAIN, Command.BEGIN, Command.ANNOUNCE))), _change(_rows(Input.DONE, Window.ANNOUNCE_RUNNING, "running"), _also(_make(), _ask(Command.RECORD)))),
        ("a_batch_is_drained_in_the_stretch_of_turn_start",),
        ("a_turn_is_announced_for_work_that_waits", "a_turn_opens_with_a_batch_after_running", "every_waiter_is_released", "what_is_queued_leaves_the_queue", "waiters_are_released_only_with_nothing_left", "a_turn_opens_for_a_message"),
    ),
    _mutant(
        "no-pass-for-the-loop",
        "a listener that cancels and sends again is not made to wait",
        "INV-06",
        _remove(_rows(Input.DONE, Window.ANNOUNCE_RUNNING, "replaced")),
        ("the_loop_gets_a_pass_before_a_replacement",),
        ("idle_is_written_only_with_an_empty_inbox", "waiters_are_released_only_at_rest", "waiters_are_released_only_with_nothing_left"),
    ),
    _mutant(
        "batch-lost",
        "a batch whose `turn/start` could not be appended is forgotten",
        "INV-21",
        _change(_rows(Input.UNOPENED), _silence(Command.DISCARD_BATCH)),
        ("a_batch_is_dropped_only_when_its_turn_cannot_open",),
        ("waiters_are_released_only_with_nothing_left", "an_injection_joins_exactly_an_open_turn", "a_turn_opens_for_a_message"),
    ),
    _mutant(
        "unread-lost",
        "the prompts behind a broken one are forgotten",
        "INV-21",
        _change(_rows(Input.BROKE_OFF), _also(_skip("queue"), _silence(Command.REQUEUE))),
        ("no_message_is_lost",),
        ("unread_prompts_go_back",),
    ),
    _mutant(
        "pre-step-goes-on",
        "a stop in PRE_STEP is overlooked and the step opens",
        "INV-05",
        _remove(_rows(Input.DONE, Window.PRE_STEP, "stopped")),
        ("a_stopped_turn_never_goes_forward",),
    ),
    _mutant(
        "body-after-cancel",
        "a call that was allowed is carried out although a stop is in effect",
        "INV-05",
        _remove(_rows(Input.ALLOWED, Window.TOOL_CALL, "stopped")),
        ("a_body_is_entered_only_while_running", "a_stopped_turn_never_goes_forward"),
    ),
    _mutant(
        "vote-beats-cancel",
        "a vote to go on overrules a stop",
        "INV-05",
        _remove(_rows(Input.CONTINUE, Window.CONTINUATION, "stopped")),
        ("a_stopped_turn_never_goes_forward",),
    ),
    _mutant(
        "steering-forgotten",
        "a vote to stop overrules steering",
        "INV-09",
        _remove(_rows(Input.STOP, Window.CONTINUATION, "has_steering")),
        ("steering_makes_the_turn_go_on",),
    ),
    _mutant(
        "calls-left-open",
        "a failed stream leaves its calls unanswered",
        "INV-06",
        _change(_rows(Input.FAILED, Window.STREAM, "always"), _silence(Command.CLOSE_CALLS)),
        ("no_step_closes_over_an_open_call",),
    ),
    _mutant(
        "step-not-recorded",
        "a step opens without `step/start`",
        "INV-06",
        _change(_rows(Input.DONE, Window.PRE_STEP, "always"), _silence(Command.RECORD)),
        ("a_window_is_entered_with_its_record",),
    ),
    _mutant(
        "report-under-stop",
        "a failure behind a stop is announced",
        "INV-05",
        _change(_rows(Input.FAILED, Window.PRE_STEP, "stopped"), _ask(Command.REPORT)),
        ("a_stopped_turn_reports_no_failure",),
        ("a_reported_failure_ends_its_turn", "a_failure_under_a_stop_is_logged"),
    ),
    _mutant(
        "failure-hushed",
        "a failed step makes the ending `error` and tells nobody",
        "INV-05",
        _change(_rows(Input.DONE, Window.STEP_END, "failed"), _silence(Command.REPORT)),
        ("an_error_ending_is_reported", "a_failed_step_is_told_once_it_has_ended"),
    ),
    _mutant(
        "endings-swapped",
        "`rejected` overrules `disposed`",
        "INV-05",
        _swap(_rows(Input.DONE, Window.CLOSING, "disposed"), _rows(Input.DONE, Window.CLOSING, "rejected")),
        ("a_turn_ends_as_the_first_that_applies",),
        ("every_move_is_legal", "an_armed_marker_means_a_stopped_agent", "marker_ends_with_its_turn"),
    ),
    _mutant(
        "tokens-over-cancel",
        "`max-tokens` overrules `aborted`",
        "INV-05",
        _swap(_rows(Input.DONE, Window.CLOSING, "cancelled"), _rows(Input.DONE, Window.CLOSING, "out_of_tokens")),
        ("a_turn_ends_as_the_first_that_applies", "an_ending_tells_what_stopped_the_turn"),
        ("every_move_is_legal", "an_armed_marker_means_a_stopped_agent", "marker_ends_with_its_turn"),
    ),
    _mutant(
        "truncation-forgotten",
        "a truncated step leaves no trace in the ending",
        "INV-05",
        _change(_rows(Input.TRUNCATED, Window.STREAM, "always"), _unset),
        ("a_turn_ends_max_tokens",),
    ),
    _mutant(
        "sticky-marker",
        "the marker survives the end of a cancelled turn",
        "INV-04",
        _change(_rows(Input.DONE, Window.CLOSING, "cancelled"), _skip("retire")),
        ("marker_ends_with_its_turn",),
        ("every_move_is_legal", "an_armed_marker_means_a_stopped_agent"),
    ),
    _mutant(
        "authority-kept",
        "the abort authority is not taken back when a turn ends",
        "INV-04",
        _change(_rows(Input.DONE, Window.CLOSING, "always"), _silence(Command.RETIRE)),
        ("the_authority_ends_with_the_turn",),
        ("the_authority_belongs_to_one_turn",),
    ),
    _mutant(
        "flush-skipped",
        "an ended turn goes back to CLOSING instead of to its flush",
        "INV-07",
        _change(_rows(Input.DONE, Window.TURN_END, "always"), _also(_send_to(Window.CLOSING))),
        ("an_ended_turn_is_flushed_before_anything_else",),
        ("a_tentative_ending_only_gets_stronger", "every_waiter_is_released", "what_is_queued_leaves_the_queue", "what_is_steering_leaves_the_fifo", "the_authority_belongs_to_one_turn", "an_injection_joins_exactly_an_open_turn"),
    ),
    _mutant(
        "early-release",
        "waiters are released before the flush",
        "INV-07",
        _change(_rows(Input.DONE, Window.TURN_END, "always"), _also_ask(Command.RELEASE)),
        ("waiters_are_released_only_at_rest", "waiters_are_released_only_with_nothing_left"),
    ),
    _mutant(
        "idle-without-release",
        "the idle decision after a flush releases nobody",
        "INV-08",
        _change(_rows(Input.DONE, Window.FLUSH, "always"), _silence(Command.RELEASE)),
        ("every_way_to_rest_releases_waiters", "waiters_are_released_in_the_stretch_that_writes_idle"),
    ),
    _mutant(
        "park-without-release",
        "a driver that was woken for nothing parks and releases nobody",
        "INV-08",
        _change(_rows(Input.DONE, Window.WOKEN, "always"), _silence(Command.RELEASE)),
        ("every_way_to_rest_releases_waiters", "at_rest_nothing_is_owed"),
    ),
    _mutant(
        "replacement-forgotten",
        "after a cancelled turn `idle` is written although new work waits",
        "INV-06",
        _remove(_rows(Input.DONE, Window.FLUSH, "replaced")),
        ("idle_is_written_only_with_an_empty_inbox",),
        ("waiters_are_released_only_at_rest", "waiters_are_released_only_with_nothing_left"),
    ),
    _mutant(
        "leftover-not-merged",
        "left-over steering is not moved into the queue",
        "INV-21",
        _change(_rows(Input.DONE, Window.FLUSH, "running_with_work"), _also(_skip("merge"), _silence(Command.MERGE))),
        ("leftover_steering_is_merged_in_the_deciding_stretch",),
        ("every_move_is_legal", "a_turn_is_announced_for_work_that_waits", "every_waiter_is_released", "what_is_steering_leaves_the_fifo", "at_rest_nothing_is_owed"),
    ),
    _mutant(
        "exit-refused",
        "a disposed driver decides between `idle` and `running`",
        "INV-12",
        _remove(_rows(Input.DONE, Window.FLUSH, "disposed")),
        ("every_move_is_legal",),
    ),
    _mutant(
        "stream-ends-nowhere",
        "a stopped stream waits for its model",
        "INV-06",
        _change(_rows(Input.CUT, Window.STREAM, "stopped"), _also(_stay, _make(), _ask())),
        ("a_cancelled_turn_unwinds",),
    ),
)
