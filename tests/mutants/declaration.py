"""Faults planted in the table, each with the claims that must break and no others.

A fault is a function from the table to another table. Beside the claims that are there to find it
stand the ones that it drags along, so that a claim which falls silent, or one that begins to
complain about something else, is seen.
"""

from collections.abc import Callable

from attrs import frozen

from statemachine.commands import Command, Input
from statemachine.lifecycle import Guard, Row
from statemachine.shape import Shape, Status
from statemachine.windows import Window

from .planting import (
    also,
    also_ask,
    also_in,
    ask,
    before,
    chain,
    change,
    make,
    not_in,
    only_in,
    remove,
    rows,
    send_to,
    silence,
    skip,
    stay,
    swap,
    unset,
    when,
)

__all__ = ["MUTANTS", "Mutant"]


@frozen(kw_only=True)
class Mutant:
    """One planted fault."""

    id: str
    fault: str
    """The fault in one line."""
    invariant: str
    """The row of the verdict table that it endangers."""
    plant: Callable[[tuple[Row, ...]], tuple[Row, ...]]
    dies_of: frozenset[str]
    """The claims that are there to find this fault."""
    drags: frozenset[str]
    """The other claims that break with them."""


def _mutant(  # noqa: PLR0913, PLR0917  # the columns of a list
    name: str,
    fault: str,
    invariant: str,
    plant: Callable[[tuple[Row, ...]], tuple[Row, ...]],
    dies_of: str,
    drags: str = "",
) -> Mutant:
    return Mutant(
        id=name,
        fault=fault,
        invariant=invariant,
        plant=plant,
        dies_of=frozenset(dies_of.split()),
        drags=frozenset(drags.split()),
    )


def _is_cancelled(shape: Shape) -> bool:
    return shape.status is Status.CANCELLED


CANCELLED = Guard("cancelled", _is_cancelled)
CANCEL_OF_A_TURN = rows(Input.CANCEL, Window.STREAM, "running")
DISPOSE_OF_A_TURN = rows(Input.DISPOSE, Window.STREAM, "running")

# fmt: off
MUTANTS = (
    _mutant("cancel-keeps-the-queue", "a cancel in STREAM leaves the inbox as it was", "INV-03",
            before(CANCEL_OF_A_TURN, also(only_in(Window.STREAM), skip("clear"),
                silence(Command.DISCARD))),
            dies_of="a_stop_empties_the_inbox a_stop_discards_what_waited",
            drags="""
                steering_waits_only_while_running disposed_means_an_empty_inbox
                contents_are_taken_before_the_signal_fires a_stop_of_a_disposed_agent_is_nothing
                leftover_steering_is_merged_in_the_deciding_stretch
                idle_is_written_only_with_an_empty_inbox a_driver_parks_with_an_empty_inbox
                waiters_are_released_only_at_rest a_driver_that_exited_never_comes_back
                every_waiter_is_released what_is_steering_leaves_the_fifo
                a_cancelled_message_is_discarded_by_that_call"""),
    _mutant("cancel-forgets-to-tell",
            "a cancel of a turn empties the inbox, and what was in it has no fate", "INV-21",
            change(CANCEL_OF_A_TURN, silence(Command.DISCARD)),
            dies_of="every_move_of_the_inbox_has_its_command",
            drags="""
                a_stop_discards_what_waited contents_are_taken_before_the_signal_fires
                a_cancelled_message_is_discarded_by_that_call"""),
    _mutant("cancel-ignores-idle-work",
            "a cancel outside a running turn leaves the inbox as it was", "INV-01",
            remove(rows(Input.CANCEL, None, "has_work")),
            dies_of="a_cancelled_message_is_discarded_by_that_call a_stop_discards_what_waited",
            drags="a_stop_empties_the_inbox a_second_cancel_drops_the_replacement"),
    _mutant("cancel-overlooked", "a cancel in STREAM only empties the inbox", "INV-02",
            change(CANCEL_OF_A_TURN, not_in(Window.STREAM)),
            dies_of="no_turn_holds_messages_from_both_sides_of_a_cancel",
            drags="""
                a_stop_takes_effect_at_the_call contents_are_taken_before_the_signal_fires
                the_signal_fires_exactly_when_a_running_turn_is_stopped
                a_cancel_in_stream_ends_the_turn the_first_reason_ends_the_turn
                an_ending_tells_what_stopped_the_turn"""),
    _mutant("signal-before-contents",
            "a cancel fires the signal before it takes the contents", "INV-03",
            change(CANCEL_OF_A_TURN, ask(Command.ABORT, Command.ANNOUNCE, Command.DISCARD)),
            dies_of="contents_are_taken_before_the_signal_fires"),
    _mutant("cancel-without-marker", "a cancel in STREAM does not arm the marker", "INV-04",
            before(CANCEL_OF_A_TURN, also(only_in(Window.STREAM), skip("arm"))),
            dies_of="a_cancelled_turn_is_marked",
            drags="""
                every_move_is_legal a_cancel_in_stream_ends_the_turn a_cancelled_turn_unwinds
                a_cancel_ends_in_idle_or_in_a_replacement an_open_turn_closes
                every_waiter_is_released what_is_queued_leaves_the_queue"""),
    _mutant("cancel-after-the-end",
            "a cancel that lands in TURN_END cancels the turn that has ended", "INV-04",
            change(CANCEL_OF_A_TURN, also_in(Window.TURN_END)),
            dies_of="marker_is_armed_only_by_a_cancel_of_a_turn marker_ends_with_its_turn",
            drags="""
                every_move_is_legal only_a_cancel_of_a_turn_makes_cancelled
                an_armed_marker_means_a_stopped_agent a_cancel_of_nothing_is_nothing
                the_signal_fires_exactly_when_a_running_turn_is_stopped
                the_authority_belongs_to_one_turn"""),
    _mutant("cancel-without-signal", "a cancel of a turn does not fire its signal", "INV-05",
            change(CANCEL_OF_A_TURN, silence(Command.ABORT)),
            dies_of="the_signal_fires_exactly_when_a_running_turn_is_stopped",
            drags="contents_are_taken_before_the_signal_fires the_first_reason_ends_the_turn"),
    _mutant("cancel-signals-twice", "a second cancel of a turn fires the signal again", "INV-05",
            change(rows(Input.CANCEL, None, "has_work"), also_ask(Command.ABORT)),
            dies_of="the_signal_fires_exactly_when_a_running_turn_is_stopped",
            drags="the_authority_belongs_to_one_turn"),
    _mutant("cancel-releases", "a cancel of a turn releases the waiters itself", "INV-07",
            change(CANCEL_OF_A_TURN, also_ask(Command.RELEASE)),
            dies_of="a_cancel_releases_nobody",
            drags="waiters_are_released_only_at_rest waiters_are_released_only_with_nothing_left"),
    _mutant("dispose-rows-swapped",
            "the general row of a dispose is asked before the special ones", "INV-12",
            swap(rows(Input.DISPOSE, Window.PARKED, "always"), rows(Input.DISPOSE, Window.WOKEN,
                "always")),
            dies_of="a_dispose_comes_to_the_exit",
            drags="""
                contents_are_taken_before_the_signal_fires
                the_signal_fires_exactly_when_a_running_turn_is_stopped
                a_stop_never_moves_a_driver only_a_dispose_bounds_a_flush_that_is_awaited
                every_waiter_is_released at_rest_nothing_is_owed"""),
    _mutant("dispose-keeps-the-queue", "a dispose of a turn leaves the inbox as it was", "INV-11",
            change(DISPOSE_OF_A_TURN, also(skip("clear"), silence(Command.DISCARD))),
            dies_of="disposed_means_an_empty_inbox",
            drags="""
                steering_waits_only_while_running a_stop_empties_the_inbox
                a_stop_discards_what_waited contents_are_taken_before_the_signal_fires
                a_stop_of_a_disposed_agent_is_nothing
                leftover_steering_is_merged_in_the_deciding_stretch
                a_driver_that_exited_never_comes_back what_is_queued_leaves_the_queue
                what_is_steering_leaves_the_fifo a_cancelled_message_is_discarded_by_that_call"""),
    _mutant("dispose-unbounded", "a dispose in FLUSH gives the flush no bound", "INV-12",
            change(rows(Input.DISPOSE, Window.FLUSH, "always"), silence(Command.BOUND)),
            dies_of="only_a_dispose_bounds_a_flush_that_is_awaited"),
    _mutant("send-after-dispose", "a disposed agent accepts a message", "INV-11",
            remove(rows(Input.SEND, None, "disposed")),
            dies_of="send_is_queued_unless_disposed",
            drags="""
                disposed_means_an_empty_inbox a_stop_empties_the_inbox
                a_stop_discards_what_waited a_stop_of_a_disposed_agent_is_nothing
                a_driver_that_exited_never_comes_back what_is_queued_leaves_the_queue
                waiters_are_released_only_with_nothing_left at_rest_nothing_is_owed"""),
    _mutant("steering-while-cancelled",
            "a steer in a cancelled STREAM joins the turn that unwinds", "INV-09",
            before(rows(Input.STEER, None, "running"), also(only_in(Window.STREAM),
                when(CANCELLED))),
            dies_of="""
                steer_joins_a_running_turn_and_is_a_send_otherwise
                steering_waits_only_while_running""",
            drags="""
                disposed_means_an_empty_inbox a_stop_empties_the_inbox
                a_stop_discards_what_waited a_stop_of_a_disposed_agent_is_nothing
                leftover_steering_is_merged_in_the_deciding_stretch
                idle_is_written_only_with_an_empty_inbox a_driver_parks_with_an_empty_inbox
                waiters_are_released_only_at_rest a_driver_that_exited_never_comes_back
                every_waiter_is_released what_is_steering_leaves_the_fifo
                waiters_are_released_only_with_nothing_left"""),
    _mutant("inject-by-status", "an injection in FLUSH joins the turn that has ended", "INV-09",
            change(rows(Input.INJECT, Window.STREAM, "always", 20), also_in(Window.FLUSH)),
            dies_of="inject_joins_an_open_turn_and_changes_no_shape",
            drags="an_injection_joins_exactly_an_open_turn"),
    _mutant("lost-wake-up", "a send to a parked agent wakes nobody", "INV-08",
            remove(rows(Input.SEND, Window.PARKED, "always", 1)),
            dies_of="a_driver_is_started_exactly_from_parked every_waiter_is_released",
            drags="""
                disposed_means_an_empty_inbox a_stop_empties_the_inbox
                a_stop_discards_what_waited a_stop_of_a_disposed_agent_is_nothing
                a_driver_that_exited_never_comes_back what_is_queued_leaves_the_queue
                waiters_are_released_only_with_nothing_left at_rest_nothing_is_owed"""),
    _mutant("wake-not-asked", "a parked agent is woken and no driver is started", "INV-08",
            change(rows(Input.SEND, Window.PARKED, "always", 1), silence(Command.WAKE)),
            dies_of="a_driver_is_started_exactly_from_parked"),
    _mutant("park-with-work",
            "a driver parks behind an `idle` listener that sent something", "INV-08",
            change(rows(Input.DONE, Window.WOKEN, "has_queued"), only_in(Window.WOKEN)),
            dies_of="a_driver_parks_with_an_empty_inbox",
            drags="""
                disposed_means_an_empty_inbox a_stop_empties_the_inbox
                a_stop_discards_what_waited a_stop_of_a_disposed_agent_is_nothing
                waiters_are_released_only_at_rest a_driver_that_exited_never_comes_back
                every_waiter_is_released what_is_queued_leaves_the_queue
                waiters_are_released_only_with_nothing_left"""),
    _mutant("begin-missing", "a turn is announced without its abort authority", "INV-05",
            change(rows(Input.DONE, Window.WOKEN, "has_queued"), silence(Command.BEGIN)),
            dies_of="a_turn_gets_its_authority_when_it_is_announced",
            drags="the_authority_belongs_to_one_turn"),
    _mutant("drained-too-early", "the batch is drained before `running` is announced", "INV-01",
            chain(change(rows(Input.DONE, Window.WOKEN, "has_queued"), also(make("begin",
                "drain"), ask(Command.DRAIN, Command.BEGIN, Command.ANNOUNCE))),
                change(rows(Input.DONE, Window.ANNOUNCE_RUNNING, "running"), also(make(),
                ask(Command.RECORD)))),
            dies_of="a_batch_is_drained_in_the_stretch_of_turn_start",
            drags="""
                a_turn_is_announced_for_work_that_waits a_turn_opens_with_a_batch_after_running
                every_waiter_is_released what_is_queued_leaves_the_queue
                waiters_are_released_only_with_nothing_left a_turn_opens_for_a_message"""),
    _mutant("no-pass-for-the-loop",
            "a listener that cancels and sends again is not made to wait", "INV-06",
            remove(rows(Input.DONE, Window.ANNOUNCE_RUNNING, "replaced")),
            dies_of="the_loop_gets_a_pass_before_a_replacement",
            drags="""
                idle_is_written_only_with_an_empty_inbox waiters_are_released_only_at_rest
                waiters_are_released_only_with_nothing_left"""),
    _mutant("batch-lost", "a batch whose `turn/start` could not be appended is forgotten", "INV-21",
            change(rows(Input.UNOPENED), silence(Command.DISCARD_BATCH)),
            dies_of="a_batch_is_dropped_only_when_its_turn_cannot_open",
            drags="""
                waiters_are_released_only_with_nothing_left
                an_injection_joins_exactly_an_open_turn a_turn_opens_for_a_message"""),
    _mutant("unread-lost", "the prompts behind a broken one are forgotten", "INV-21",
            change(rows(Input.BROKE_OFF), also(skip("queue"), silence(Command.REQUEUE))),
            dies_of="no_message_is_lost",
            drags="unread_prompts_go_back"),
    _mutant("pre-step-goes-on", "a stop in PRE_STEP is overlooked and the step opens", "INV-05",
            remove(rows(Input.DONE, Window.PRE_STEP, "stopped")),
            dies_of="a_stopped_turn_never_goes_forward"),
    _mutant("body-after-cancel",
            "a call that was allowed is carried out although a stop is in effect", "INV-05",
            remove(rows(Input.ALLOWED, Window.TOOL_CALL, "stopped")),
            dies_of="a_body_is_entered_only_while_running a_stopped_turn_never_goes_forward"),
    _mutant("vote-beats-cancel", "a vote to go on overrules a stop", "INV-05",
            remove(rows(Input.CONTINUE, Window.CONTINUATION, "stopped")),
            dies_of="a_stopped_turn_never_goes_forward"),
    _mutant("steering-forgotten", "a vote to stop overrules steering", "INV-09",
            remove(rows(Input.STOP, Window.CONTINUATION, "has_steering")),
            dies_of="steering_makes_the_turn_go_on"),
    _mutant("calls-left-open", "a failed stream leaves its calls unanswered", "INV-06",
            change(rows(Input.FAILED, Window.STREAM, "always"), silence(Command.CLOSE_CALLS)),
            dies_of="no_step_closes_over_an_open_call"),
    _mutant("attached-kept", "what interceptors attached outlives a stop behind a body", "INV-05",
            change(rows(Input.DONE, Window.TOOL_BODY, "stopped"), silence(Command.DROP_ATTACHED)),
            dies_of="attached_context_goes_with_a_stopped_turn"),
    _mutant("step-not-recorded", "a step opens without `step/start`", "INV-06",
            change(rows(Input.DONE, Window.PRE_STEP, "always"), silence(Command.RECORD)),
            dies_of="a_window_is_entered_with_its_record"),
    _mutant("report-under-stop", "a failure behind a stop is announced", "INV-05",
            change(rows(Input.FAILED, Window.PRE_STEP, "stopped"), ask(Command.REPORT)),
            dies_of="a_stopped_turn_reports_no_failure",
            drags="a_reported_failure_ends_its_turn a_failure_under_a_stop_is_logged"),
    _mutant("failure-hushed", "a failed step makes the ending `error` and tells nobody", "INV-05",
            change(rows(Input.DONE, Window.STEP_END, "failed"), silence(Command.REPORT)),
            dies_of="an_error_ending_is_reported a_failed_step_is_told_once_it_has_ended"),
    _mutant("endings-swapped", "`rejected` overrules `disposed`", "INV-05",
            swap(rows(Input.DONE, Window.CLOSING, "disposed"), rows(Input.DONE, Window.CLOSING,
                "rejected")),
            dies_of="a_turn_ends_as_the_first_that_applies",
            drags="""
                every_move_is_legal an_armed_marker_means_a_stopped_agent
                marker_ends_with_its_turn"""),
    _mutant("tokens-over-cancel", "`max-tokens` overrules `aborted`", "INV-05",
            swap(rows(Input.DONE, Window.CLOSING, "cancelled"), rows(Input.DONE, Window.CLOSING,
                "out_of_tokens")),
            dies_of="a_turn_ends_as_the_first_that_applies an_ending_tells_what_stopped_the_turn",
            drags="""
                every_move_is_legal an_armed_marker_means_a_stopped_agent
                marker_ends_with_its_turn"""),
    _mutant("truncation-forgotten", "a truncated step leaves no trace in the ending", "INV-05",
            change(rows(Input.TRUNCATED, Window.STREAM, "always"), unset),
            dies_of="a_turn_ends_max_tokens"),
    _mutant("sticky-marker", "the marker survives the end of a cancelled turn", "INV-04",
            change(rows(Input.DONE, Window.CLOSING, "cancelled"), skip("retire")),
            dies_of="marker_ends_with_its_turn",
            drags="every_move_is_legal an_armed_marker_means_a_stopped_agent"),
    _mutant("authority-kept", "the abort authority is not taken back when a turn ends", "INV-04",
            change(rows(Input.DONE, Window.CLOSING, "always"), silence(Command.RETIRE)),
            dies_of="the_authority_ends_with_the_turn",
            drags="the_authority_belongs_to_one_turn"),
    _mutant("flush-skipped", "an ended turn goes back to CLOSING instead of to its flush", "INV-07",
            change(rows(Input.DONE, Window.TURN_END, "always"), also(send_to(Window.CLOSING))),
            dies_of="an_ended_turn_is_flushed_before_anything_else",
            drags="""
                a_tentative_ending_only_gets_stronger every_waiter_is_released
                what_is_queued_leaves_the_queue what_is_steering_leaves_the_fifo
                the_authority_belongs_to_one_turn an_injection_joins_exactly_an_open_turn"""),
    _mutant("early-release", "waiters are released before the flush", "INV-07",
            change(rows(Input.DONE, Window.TURN_END, "always"), also_ask(Command.RELEASE)),
            dies_of="""
                waiters_are_released_only_at_rest waiters_are_released_only_with_nothing_left"""),
    _mutant("idle-without-release", "the idle decision after a flush releases nobody", "INV-08",
            change(rows(Input.DONE, Window.FLUSH, "always"), silence(Command.RELEASE)),
            dies_of="""
                every_way_to_rest_releases_waiters
                waiters_are_released_in_the_stretch_that_writes_idle"""),
    _mutant("park-without-release",
            "a driver that was woken for nothing parks and releases nobody", "INV-08",
            change(rows(Input.DONE, Window.WOKEN, "always"), silence(Command.RELEASE)),
            dies_of="every_way_to_rest_releases_waiters at_rest_nothing_is_owed"),
    _mutant("replacement-forgotten",
            "after a cancelled turn `idle` is written although new work waits", "INV-06",
            remove(rows(Input.DONE, Window.FLUSH, "replaced")),
            dies_of="idle_is_written_only_with_an_empty_inbox",
            drags="waiters_are_released_only_at_rest waiters_are_released_only_with_nothing_left"),
    _mutant("leftover-not-merged", "left-over steering is not moved into the queue", "INV-21",
            change(rows(Input.DONE, Window.FLUSH, "running_with_work"), also(skip("merge"),
                silence(Command.MERGE))),
            dies_of="leftover_steering_is_merged_in_the_deciding_stretch",
            drags="""
                every_move_is_legal a_turn_is_announced_for_work_that_waits
                every_waiter_is_released what_is_steering_leaves_the_fifo"""),
    _mutant("exit-refused", "a disposed driver decides between `idle` and `running`", "INV-12",
            remove(rows(Input.DONE, Window.FLUSH, "disposed")),
            dies_of="every_move_is_legal"),
    _mutant("cut-leads-nowhere", "a stream that was cut leaves the driver where it is", "INV-06",
            change(rows(Input.CUT, Window.STREAM, "stopped"), also(stay, make(), ask())),
            dies_of="every_outcome_leads_on"),
)
# fmt: on
