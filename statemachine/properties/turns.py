"""What a turn may and may not do on its way: windows, records, endings, authority, waiters.

The order of endings and the windows that lead forward are stated here again, from the clauses.
"""

from typing import Final

from statemachine.commands import OUTSIDE_INPUTS, Command, Input
from statemachine.shape import Ending, Inbox, Shape, Status
from statemachine.windows import OPEN_WINDOWS, REST_WINDOWS, TURN_WINDOWS, WINDOWS, Window

from .kinds import Always, Claim, Edge, always

__all__ = ["TURN_PROPERTIES"]

_FORWARD: Final = (
    Window.ASSEMBLY, Window.PRE_STEP, Window.STEP_START, Window.REQUEST, Window.STREAM,
    Window.RESULT, Window.CHECKPOINT, Window.TOOL_CALL, Window.TOOL_BODY, Window.CONTINUATION,
)  # fmt: skip
_INSIDE_A_STEP: Final = _FORWARD[2:-1]
_STRENGTH: Final = (
    Ending.COMPLETED, Ending.MAX_TOKENS, Ending.MAX_STEPS, Ending.REJECTED, Ending.ERROR,
)  # fmt: skip
"""The tentative endings, from the one that every other overrules to the one that none does."""


def _expected_ending(before: Shape) -> Ending:
    """Return the ending of a turn that is closed now: the first of the list that applies."""
    for ending, applies in (
        (Ending.ERROR, before.ending is Ending.ERROR),
        (Ending.DISPOSED, before.status is Status.DISPOSED),
        (Ending.REJECTED, before.ending is Ending.REJECTED),
        (Ending.ABORTED, before.status is Status.CANCELLED),
        (Ending.MAX_STEPS, before.ending is Ending.MAX_STEPS),
        (Ending.MAX_TOKENS, before.ending is Ending.MAX_TOKENS),
    ):
        if applies:
            return ending
    return Ending.COMPLETED


def _entering(*windows: Window) -> Claim:
    def is_entered(edge: Edge) -> bool:
        return edge.enters(*windows)

    return is_entered


def _leaving(*windows: Window) -> Claim:
    def is_left(edge: Edge) -> bool:
        return edge.is_moved and edge.before.window in windows

    return is_left


def _asking(command: Command) -> Claim:
    def is_asked(edge: Edge) -> bool:
        return command in edge.commands

    return is_asked


def _is_stopped_in_a_turn(edge: Edge) -> bool:
    return edge.before.is_stopped and edge.before.window in TURN_WINDOWS


def _begins(edge: Edge) -> bool:
    is_again = edge.before.window is edge.after.window is Window.ANNOUNCE_RUNNING
    is_renewed = edge.before.status is not Status.RUNNING is edge.after.status
    return edge.enters(Window.ANNOUNCE_RUNNING) or (is_again and is_renewed)


def _loses_authority(edge: Edge) -> bool:
    is_within = edge.before.window in TURN_WINDOWS
    return is_within and (edge.after.window not in TURN_WINDOWS or _begins(edge))


# -- A turn begins ---------------------------------------------------------------------------------


@always("B-112", "A-52", "B-06")
def a_turn_gets_its_authority_when_it_is_announced(edge: Edge) -> bool:
    """BEGIN is asked for when ANNOUNCE_RUNNING begins, also when it begins again."""
    return (Command.BEGIN in edge.commands) == _begins(edge)


@always("B-112", about=_asking(Command.BEGIN))
def a_turn_has_its_authority_before_anybody_hears_of_it(edge: Edge) -> bool:
    """BEGIN stands in front of the announcement: who is told of a turn can stop that turn."""
    return edge.asks_in_order(Command.BEGIN, Command.ANNOUNCE)


@always("A-51", "B-105", "C-04", about=_begins)
def a_turn_is_announced_for_work_that_waits(edge: Edge) -> bool:
    """A turn that is announced finds `running` and something in the queue."""
    return edge.after.status is Status.RUNNING and edge.after.has_queued


@always("A-06", "B-99", "B-100", "C-09", about=_entering(Window.TURN_START))
def a_turn_opens_with_a_batch_after_running(edge: Edge) -> bool:
    """A turn opens from `running`, announced, and drains a queue that is not empty."""
    is_announced = edge.before.window is Window.ANNOUNCE_RUNNING
    is_filled = edge.before.has_queued and Command.DRAIN in edge.commands
    return is_announced and edge.before.status is Status.RUNNING and is_filled


@always("B-99", invariant="INV-02", about=_asking(Command.DRAIN))
def a_batch_is_drained_in_the_stretch_of_turn_start(edge: Edge) -> bool:
    """The queue is drained where `turn/start` is committed, and only there."""
    return edge.enters(Window.TURN_START) and not edge.after.has_queued


@always("B-110", "B-111", "B-83", invariant="INV-21", about=_asking(Command.DISCARD_BATCH))
def a_batch_is_dropped_only_when_its_turn_cannot_open(edge: Edge) -> bool:
    """A drained batch is discarded when `turn/start` could not be appended, and only then."""
    is_unopened = edge.before.window is Window.TURN_START and edge.input is Input.UNOPENED
    return is_unopened and Command.REPORT in edge.commands


@always("B-101", about=_asking(Command.YIELD))
def the_loop_gets_a_pass_before_a_replacement(edge: Edge) -> bool:
    """The driver yields in ANNOUNCE_RUNNING for work behind a cancel; nothing changes."""
    is_due = edge.before.status is Status.CANCELLED and edge.before.has_queued
    is_there = edge.before.window is Window.ANNOUNCE_RUNNING
    return is_due and is_there and edge.after == edge.before


@always(
    "B-101", invariant="INV-06",
    about=lambda edge: _begins(edge) and edge.before.window is Window.ANNOUNCE_RUNNING,
)  # fmt: skip
def a_replacement_begins_after_that_pass(edge: Edge) -> bool:
    """A turn that replaces an unopened one is announced when the loop has had its pass."""
    return edge.input is Input.YIELDED


# -- A turn goes on --------------------------------------------------------------------------------


@always("B-26", "B-108", "B-134", "B-16", "B-27", invariant="INV-05", about=_is_stopped_in_a_turn)
def a_stopped_turn_never_goes_forward(edge: Edge) -> bool:
    """After a stop nothing leads to another step, request, model call, tool call or vote."""
    return not edge.enters(*_FORWARD)


@always(
    "A-28", "B-102", invariant="INV-05",
    about=lambda edge: edge.before.is_stopped and edge.before.window in OPEN_WINDOWS,
)  # fmt: skip
def a_stop_lasts_until_the_turn_has_ended(edge: Edge) -> bool:
    """A turn that was stopped while it was open is still stopped when it ends."""
    return edge.after.is_stopped


@always("B-93", "B-117", "B-118", invariant="INV-06",
        about=lambda edge: edge.input not in OUTSIDE_INPUTS)  # fmt: skip
def every_outcome_leads_on(edge: Edge) -> bool:
    """What a visit reports moves the driver, but for the pass and for the next of several calls."""
    is_next_call = edge.before.window is Window.TOOL_CALL and edge.input is Input.ANSWERED
    return edge.is_moved or is_next_call or Command.YIELD in edge.commands or _begins(edge)


@always("B-24", "B-125", invariant="INV-05", about=_entering(Window.TOOL_BODY))
def a_body_is_entered_only_while_running(edge: Edge) -> bool:
    """A tool body is entered when no stop is in effect at that moment."""
    return edge.after.status is Status.RUNNING


@always("B-14", "B-45", "B-56", about=_entering(Window.STEP_START, Window.ASSEMBLY))
def a_step_opens_only_outside_a_step(edge: Edge) -> bool:
    """A step is prepared and opened from windows in which none is open."""
    return edge.before.window not in _INSIDE_A_STEP


@always("B-123", "B-124", invariant="INV-06", about=_entering(Window.STEP_END))
def no_step_closes_over_an_open_call(edge: Edge) -> bool:
    """Unanswered calls are closed before `step/end` on every way into it."""
    return edge.asks_in_order(Command.CLOSE_CALLS, Command.RECORD)


@always("B-25", "B-142", about=_entering(Window.STEP_END))
def attached_context_goes_with_a_stopped_turn(edge: Edge) -> bool:
    """It is dropped exactly when a stop is in effect, before the context that stays is recorded."""
    return edge.before.is_stopped is edge.asks_in_order(Command.DROP_ATTACHED, Command.CLOSE_CALLS)


@always("B-135", "B-124", invariant="INV-06", about=_leaving(*_INSIDE_A_STEP))
def an_open_step_is_left_only_through_its_end(edge: Edge) -> bool:
    """From inside a step the driver goes on inside it or to STEP_END."""
    return edge.after.window in (*_INSIDE_A_STEP, Window.STEP_END)


@always("B-123", "B-135", "B-57", invariant="INV-06",
        about=_entering(*_INSIDE_A_STEP[1:], Window.STEP_END))  # fmt: skip
def what_belongs_to_a_step_happens_inside_one(edge: Edge) -> bool:
    """A request, a reply, a call and the end of a step are reached only from inside a step."""
    return edge.before.window in _INSIDE_A_STEP


@always("A-10", "B-56", "B-69", invariant="INV-09",
        about=lambda e: e.enters(Window.STEP_END) and Command.TAKE in e.commands)  # fmt: skip
def steering_recorded_in_a_step_wants_another(edge: Edge) -> bool:
    """A step that ends with steering the model has not seen is not the last one."""
    return edge.after.wants_step


@always("B-56", about=lambda e: e.enters(Window.STEP_END) and Command.TAKE in e.commands)
def steering_is_recorded_in_front_of_the_end_of_its_step(edge: Edge) -> bool:
    """Steering that is taken when a step ends stands inside that step."""
    return edge.asks_in_order(Command.TAKE, Command.RECORD)


@always("A-10", "B-09", "B-56", about=_asking(Command.TAKE))
def steering_is_recorded_in_the_running_turn(edge: Edge) -> bool:
    """Steering is taken by a turn that is open, and never by one that was stopped."""
    is_running = edge.before.status is Status.RUNNING
    is_idle_take = edge.before.inbox in (Inbox.EMPTY, Inbox.QUEUED)
    return edge.after.window in OPEN_WINDOWS and (is_running or is_idle_take)


@always(
    "B-68", "B-69",
    about=lambda edge: edge.before.window is Window.CONTINUATION
    and edge.before.status is Status.RUNNING
    and edge.before.has_steering
    and edge.input in (Input.DONE, Input.STOP, Input.CONTINUE),
)  # fmt: skip
def steering_makes_the_turn_go_on(edge: Edge) -> bool:
    """Steering that waits when the vote is counted leads to another step."""
    return edge.after.window is Window.ASSEMBLY and not edge.after.has_steering


# -- Failures --------------------------------------------------------------------------------------


@always("B-42", "B-97", invariant="INV-05", about=_asking(Command.REPORT))
def a_stopped_turn_reports_no_failure(edge: Edge) -> bool:
    """A failure is reported while no stop is in effect; a failed flush is reported in any case."""
    return edge.before.status is Status.RUNNING or edge.before.window is Window.FLUSH


@always(
    "B-49", "B-75", "B-76", "B-72", "B-92",
    about=lambda edge: Command.REPORT in edge.commands
    and edge.before.window not in (Window.FLUSH, Window.TURN_START),
)  # fmt: skip
def a_reported_failure_ends_its_turn(edge: Edge) -> bool:
    """A failure is reported once, on the way to CLOSING, and makes the ending `error`."""
    is_first = edge.before.ending is not Ending.ERROR is edge.after.ending
    return is_first and edge.enters(Window.CLOSING)


@always("B-75", "B-97", about=lambda e: e.after.ending is Ending.ERROR is not e.before.ending)
def an_error_ending_is_reported(edge: Edge) -> bool:
    """The ending becomes `error` with the report of the failure, never silently."""
    return Command.REPORT in edge.commands


@always("B-97", about=lambda edge: edge.input is Input.FAILED and _is_stopped_in_a_turn(edge))
def a_failure_under_a_stop_is_logged(edge: Edge) -> bool:
    """A visit that raises while a stop is in effect is written to the process log."""
    return Command.LOG in edge.commands


@always(
    "B-75", "B-97",
    about=lambda edge: edge.before.failed and _leaving(Window.STEP_END)(edge),
)  # fmt: skip
def a_failed_step_is_told_once_it_has_ended(edge: Edge) -> bool:
    """A failure of a step is reported behind `step/end`, or logged if a stop came first."""
    wanted = Command.LOG if edge.before.is_stopped else Command.REPORT
    return wanted in edge.commands and not edge.after.failed


@always("B-85", "B-86", about=lambda e: e.before.window is Window.FLUSH and e.input is Input.FAILED)
def a_failed_flush_is_reported_and_goes_on(edge: Edge) -> bool:
    """A flush that fails is reported first, and what follows is what follows anyway."""
    return edge.commands[:1] == (Command.REPORT,) and edge.is_moved


# -- A turn ends -----------------------------------------------------------------------------------


@always("B-12", "B-47", "B-49", "B-50", "B-52", "B-74", "B-96", "B-129", invariant="INV-05",
        about=_entering(Window.TURN_END))  # fmt: skip
def a_turn_ends_as_the_first_that_applies(edge: Edge) -> bool:
    """The ending is the first that applies of the one list of endings."""
    return edge.after.ending is _expected_ending(edge.before)


@always("B-74", "B-129", about=lambda edge: edge.after.window in OPEN_WINDOWS)
def a_tentative_ending_only_gets_stronger(edge: Edge) -> bool:
    """While the turn is open its tentative ending is never replaced by a weaker one."""
    return _STRENGTH.index(edge.after.ending) >= _STRENGTH.index(edge.before.ending)


@always("B-29", "B-46", "B-82", invariant="INV-05",
        about=lambda edge: edge.before.window is Window.TURN_END and not edge.is_moved)  # fmt: skip
def an_ending_that_is_written_stands(edge: Edge) -> bool:
    """What lands in TURN_END leaves the ending as it is."""
    return edge.after.ending is edge.before.ending


@always("B-86", "B-122", invariant="INV-07", about=_leaving(*OPEN_WINDOWS, Window.TURN_END))
def an_ended_turn_is_flushed_before_anything_else(edge: Edge) -> bool:
    """An open turn leads to its end, its end to the flush, and nowhere else."""
    is_unopened = edge.before.window is Window.TURN_START and edge.input is Input.UNOPENED
    if edge.before.window is Window.TURN_END or is_unopened:
        return edge.after.window is Window.FLUSH
    closes = Window.TURN_END if edge.before.window is Window.CLOSING else None
    return edge.after.window is closes or (closes is None and edge.after.window in OPEN_WINDOWS)


@always("B-121", about=_entering(Window.FLUSH))
def the_flush_of_a_stopped_turn_is_bounded(edge: Edge) -> bool:
    """The flush gets its bound exactly when a stop is in effect."""
    return (Command.BOUND in edge.commands) == edge.before.is_stopped


@always("B-102", "B-103", "B-112")
def the_authority_ends_with_the_turn(edge: Edge) -> bool:
    """RETIRE is asked for on every way out of the turn's authority, and only there."""
    return (Command.RETIRE in edge.commands) == _loses_authority(edge)


@always("B-103", about=_asking(Command.RETIRE))
def the_authority_is_gone_before_anything_is_published(edge: Edge) -> bool:
    """RETIRE stands first among the commands of its decision."""
    return edge.commands[0] is Command.RETIRE


# -- Records, and what follows a turn --------------------------------------------------------------


@always("B-130", "B-123", invariant="INV-06")
def a_window_is_entered_with_its_record(edge: Edge) -> bool:
    """RECORD is asked for on the edges that enter a window with a boundary record."""
    is_due = edge.is_moved and WINDOWS[edge.after.window].record is not None
    return edge.commands.count(Command.RECORD) == int(is_due)


@always("B-130", about=_asking(Command.RECORD))
def a_record_stands_before_every_announcement(edge: Edge) -> bool:
    """A boundary record is committed before the announcements of the same decision."""
    told = (Command.ANNOUNCE, Command.REPORT, Command.RELEASE, Command.DISCARD_BATCH)
    return edge.asks_in_order(Command.RECORD, *told)


@always("A-13", "C-10", "C-15", about=_leaving(Window.FLUSH))
def leftover_steering_is_merged_in_the_deciding_stretch(edge: Edge) -> bool:
    """No steering is left over when the driver leaves FLUSH."""
    is_merged = Command.MERGE in edge.commands or not edge.before.has_steering
    return is_merged and not edge.after.has_steering


@always("A-05", "A-52", "B-105", "B-136", invariant="INV-06",
        about=lambda edge: edge.after.status is Status.IDLE is not edge.before.status)  # fmt: skip
def idle_is_written_only_with_an_empty_inbox(edge: Edge) -> bool:
    """The driver writes `idle` when nothing waits in either FIFO."""
    return edge.before.inbox is edge.after.inbox is Inbox.EMPTY


@always("A-36", "A-38", "C-04", "C-09", about=_entering(Window.PARKED))
def a_driver_parks_with_an_empty_inbox(edge: Edge) -> bool:
    """The driver parks as `idle`, with nothing in either FIFO."""
    return edge.after.status is Status.IDLE and edge.after.inbox is Inbox.EMPTY


@always("A-30", "A-31", "A-32", "A-65", "A-76", invariant="INV-07",
        about=_asking(Command.RELEASE))  # fmt: skip
def waiters_are_released_only_at_rest(edge: Edge) -> bool:
    """Waiters are released with no turn, no flush and no message left, or at the driver's exit."""
    is_idle = edge.after.status is Status.IDLE and edge.after.inbox is Inbox.EMPTY
    is_between = edge.after.window in (Window.PARKED, Window.ANNOUNCE_IDLE)
    return edge.after.window is Window.EXITED or (is_idle and is_between)


@always("A-36", "A-38", "A-65", "A-80", invariant="INV-08",
        about=lambda edge: edge.enters(*REST_WINDOWS)
        or (edge.input not in OUTSIDE_INPUTS and edge.enters(Window.ANNOUNCE_IDLE)))  # fmt: skip
def every_way_to_rest_releases_waiters(edge: Edge) -> bool:
    """Whoever parks, exits or announces `idle` releases the waiters."""
    return Command.RELEASE in edge.commands


@always("A-35", "A-31", invariant="INV-08",
        about=lambda edge: edge.after.status is Status.IDLE is not edge.before.status)  # fmt: skip
def waiters_are_released_in_the_stretch_that_writes_idle(edge: Edge) -> bool:
    """The decision that announces `idle` releases the waiters, before any listener can run."""
    return edge.asks_in_order(Command.RELEASE)


@always("A-32", "B-46", invariant="INV-12", about=lambda e: e.before.window is Window.EXITED)
def a_driver_that_exited_never_comes_back(edge: Edge) -> bool:
    """Nothing leaves EXITED."""
    return edge.after == edge.before


TURN_PROPERTIES = tuple(each for each in tuple(globals().values()) if isinstance(each, Always))
"""Every property of this page, from top to bottom."""
