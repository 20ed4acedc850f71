"""What calls from outside may and may not do: status, marker, inbox, cancel and dispose.

The claims are written from the clauses, not from the rows: the moves of the status, for instance,
are stated here once more, so that a wrong row is found.
"""

from typing import Final

from statemachine.commands import Command, Input
from statemachine.shape import Inbox, Marker, Status
from statemachine.windows import OPEN_WINDOWS, TURN_WINDOWS, Window

from .kinds import Always, Claim, Edge, always

__all__ = ["OUTSIDE_PROPERTIES"]

_STOPS: Final = (Input.CANCEL, Input.DISPOSE)
_STATUS_MOVES: Final = {
    Status.IDLE: {Status.RUNNING, Status.DISPOSED},
    Status.RUNNING: {Status.IDLE, Status.CANCELLED, Status.DISPOSED},
    Status.CANCELLED: {Status.IDLE, Status.RUNNING, Status.DISPOSED},
    Status.DISPOSED: set[Status](),
}
_COMMANDS_OF_MOVE: Final = {
    "queue": (Command.QUEUE, Command.REQUEUE),
    "steer": (Command.STEER,),
    "drain": (Command.DRAIN,),
    "take": (Command.TAKE,),
    "merge": (Command.MERGE,),
    "clear": (Command.DISCARD,),
}
_INBOX_COMMANDS: Final = {each for commands in _COMMANDS_OF_MOVE.values() for each in commands}


def _on(*inputs: Input) -> Claim:
    def is_posted(edge: Edge) -> bool:
        return edge.input in inputs

    return is_posted


_is_stop = _on(*_STOPS)


def _is_live_stop(edge: Edge) -> bool:
    return _is_stop(edge) and edge.before.status is not Status.DISPOSED


def _stops_a_turn(edge: Edge) -> bool:
    is_running = edge.before.status is Status.RUNNING
    return _is_stop(edge) and is_running and edge.before.window in TURN_WINDOWS


def _cancels_nothing(edge: Edge) -> bool:
    is_waiting = edge.before.inbox is not Inbox.EMPTY
    return edge.input is Input.CANCEL and not is_waiting and not _stops_a_turn(edge)


# -- Status ----------------------------------------------------------------------------------------


@always("A-41", about=lambda edge: edge.before.status is not edge.after.status)
def status_makes_only_its_eight_moves(edge: Edge) -> bool:
    """The status moves only along the eight moves that it has."""
    return edge.after.status in _STATUS_MOVES[edge.before.status]


@always("A-40", "A-41", invariant="INV-11", about=lambda e: e.before.status is Status.DISPOSED)
def disposed_is_final(edge: Edge) -> bool:
    """An agent that is disposed stays disposed."""
    return edge.after.status is Status.DISPOSED


@always("A-27", "A-40", "A-51")
def status_is_announced_exactly_when_it_changes(edge: Edge) -> bool:
    """ANNOUNCE is asked for on the edges that change the status, and on no other."""
    return (Command.ANNOUNCE in edge.commands) == (edge.before.status is not edge.after.status)


@always(
    "A-27", "A-31",
    about=lambda edge: edge.after.status is Status.CANCELLED is not edge.before.status,
)  # fmt: skip
def only_a_cancel_of_a_turn_makes_cancelled(edge: Edge) -> bool:
    """`cancelled` is entered by a cancel of a turn that is running."""
    return edge.input is Input.CANCEL and _stops_a_turn(edge)


@always("A-26", "A-27", invariant="INV-05", about=_stops_a_turn)
def a_stop_takes_effect_at_the_call(edge: Edge) -> bool:
    """A cancel or a dispose of a running turn changes the status at once."""
    stopped = Status.CANCELLED if edge.input is Input.CANCEL else Status.DISPOSED
    return edge.after.status is stopped


@always("A-57", "B-38", "B-46", invariant="INV-12", about=_on(Input.DISPOSE))
def a_dispose_always_disposes(edge: Edge) -> bool:
    """A dispose leaves the agent disposed, in whatever window it lands."""
    return edge.after.status is Status.DISPOSED


# -- Marker ----------------------------------------------------------------------------------------


@always(
    "B-103", invariant="INV-04",
    about=lambda edge: edge.before.marker is Marker.ABSENT and edge.after.marker is Marker.ARMED,
)  # fmt: skip
def marker_is_armed_only_by_a_cancel_of_a_turn(edge: Edge) -> bool:
    """The marker is armed by a cancel that stops a turn, and by nothing else."""
    return edge.input is Input.CANCEL and _stops_a_turn(edge)


@always("B-104", invariant="INV-04", about=lambda edge: edge.after.marker is Marker.ARMED)
def an_armed_marker_means_a_stopped_agent(edge: Edge) -> bool:
    """The marker is armed only while the status is `cancelled`, or `disposed` over a cancel."""
    came_from = (Status.CANCELLED, Status.DISPOSED) if edge.before.marker is Marker.ARMED else ()
    is_overtaken = edge.after.status is Status.DISPOSED and edge.before.status in came_from
    return edge.after.status is Status.CANCELLED or is_overtaken


@always("B-35", "B-103", invariant="INV-04", about=lambda e: e.after.window not in TURN_WINDOWS)
def marker_ends_with_its_turn(edge: Edge) -> bool:
    """From the stretch that appends `turn/end` until the next turn the marker is absent."""
    return edge.after.marker is Marker.ABSENT


@always(
    "B-102", "B-103", invariant="INV-04",
    about=lambda edge: edge.after.status is Status.CANCELLED and edge.after.window in TURN_WINDOWS,
)  # fmt: skip
def a_cancelled_turn_is_marked(edge: Edge) -> bool:
    """While a cancelled turn is unwinding its marker is armed."""
    return edge.after.marker is Marker.ARMED


# -- Inbox -----------------------------------------------------------------------------------------


@always("C-13", invariant="INV-09", about=lambda edge: edge.after.has_steering)
def steering_waits_only_while_running(edge: Edge) -> bool:
    """The steering FIFO holds something only while the status is `running`."""
    return edge.after.status is Status.RUNNING


@always("C-14", invariant="INV-11", about=lambda edge: edge.after.status is Status.DISPOSED)
def disposed_means_an_empty_inbox(edge: Edge) -> bool:
    """A disposed agent has nothing in either FIFO."""
    return edge.after.inbox is Inbox.EMPTY


@always("C-16", "B-111", invariant="INV-21")
def every_move_of_the_inbox_has_its_command(edge: Edge) -> bool:
    """What the shape believes of the inbox and what the runtime does to it are the same."""
    moves = [move.name for move in edge.decision.row.moves if move.region == "inbox"]
    asked = [command for command in edge.commands if command in _INBOX_COMMANDS]
    if len(moves) != len(asked):
        return False
    paired = zip(moves, asked, strict=True)
    return all(done in _COMMANDS_OF_MOVE[move] for move, done in paired)


@always("B-111", "A-24", invariant="INV-21", about=lambda edge: Command.DISCARD in edge.commands)
def only_a_stop_discards_what_waits(edge: Edge) -> bool:
    """The inbox is discarded by a cancel or a dispose, and by nothing else."""
    return _is_stop(edge)


# -- Send, steer, inject ---------------------------------------------------------------------------


@always("A-02", "A-05", "A-52", invariant="INV-09", about=_on(Input.SEND))
def send_is_queued_unless_disposed(edge: Edge) -> bool:
    """A send is queued and leaves the status as it is, except that a disposed agent refuses it."""
    if edge.before.status is Status.DISPOSED:
        return edge.commands == (Command.REFUSE,)
    is_still = edge.after.status is edge.before.status
    return Command.QUEUE in edge.commands and edge.after.has_queued and is_still


@always("A-10", "A-11", "A-12", "B-09", invariant="INV-09", about=_on(Input.STEER))
def steer_joins_a_running_turn_and_is_a_send_otherwise(edge: Edge) -> bool:
    """A steer is steering while the status is `running`, and otherwise what a send is."""
    if edge.before.status is Status.DISPOSED:
        return edge.commands == (Command.REFUSE,)
    is_running = edge.before.status is Status.RUNNING
    return (Command.STEER if is_running else Command.QUEUE) in edge.commands


@always("A-20", about=lambda edge: Command.REFUSE in edge.commands)
def a_refusal_changes_nothing(edge: Edge) -> bool:
    """A refused call is refused because the agent is disposed, and nothing else happens."""
    is_disposed = edge.before.status is Status.DISPOSED
    return is_disposed and edge.after == edge.before and edge.commands == (Command.REFUSE,)


@always("A-14", "A-15", "A-16", "A-74", about=_on(Input.INJECT))
def inject_joins_an_open_turn_and_changes_no_shape(edge: Edge) -> bool:
    """An injection joins the turn that is open in the log or is a turn of its own."""
    is_open = edge.before.window in OPEN_WINDOWS
    wanted = Command.JOIN if is_open else Command.ONE_SHOT
    if edge.before.status is Status.DISPOSED:
        wanted = Command.REFUSE
    return edge.after == edge.before and edge.commands == (wanted,)


# -- Cancel and dispose ----------------------------------------------------------------------------


@always("A-22", "B-01", invariant="INV-04", about=_cancels_nothing)
def a_cancel_of_nothing_is_nothing(edge: Edge) -> bool:
    """A cancel with no turn to stop and nothing in the inbox changes and asks for nothing."""
    return edge.after == edge.before and not edge.commands


@always("A-24", "A-28", "A-56", "A-57", "B-29", "B-30", invariant="INV-03", about=_is_stop)
def a_stop_empties_the_inbox(edge: Edge) -> bool:
    """After a cancel or a dispose both FIFOs are empty."""
    return edge.after.inbox is Inbox.EMPTY


@always(
    "A-24", "B-02", "B-40", "C-12", invariant="INV-01",
    about=lambda edge: _is_stop(edge) and edge.before.inbox is not Inbox.EMPTY,
)  # fmt: skip
def a_stop_discards_what_waited(edge: Edge) -> bool:
    """What waits when a cancel or a dispose lands is discarded by that very call."""
    return Command.DISCARD in edge.commands


@always("A-25", "A-56", "A-57", "A-58", invariant="INV-03", about=_stops_a_turn)
def contents_are_taken_before_the_signal_fires(edge: Edge) -> bool:
    """A stop announces its status and takes the contents of the inbox before it calls out."""
    tail = (Command.ANNOUNCE, Command.DISCARD, Command.ABORT)
    return tuple(command for command in edge.commands if command in tail) == tail


@always("B-114", "B-115", "B-120", invariant="INV-05")
def the_signal_fires_exactly_when_a_running_turn_is_stopped(edge: Edge) -> bool:
    """ABORT is asked for by the first stop of a turn, and only then, so once in a turn."""
    return (Command.ABORT in edge.commands) == _stops_a_turn(edge)


@always("A-26", "B-38", about=_is_live_stop)
def a_stop_never_moves_a_driver(edge: Edge) -> bool:
    """A stop leaves the driver where it is; only a parked agent, which has none, exits at once."""
    is_parked = edge.before.window is Window.PARKED and edge.input is Input.DISPOSE
    return edge.after.window is (Window.EXITED if is_parked else edge.before.window)


@always("A-31", "A-65", invariant="INV-07", about=_on(Input.CANCEL))
def a_cancel_releases_nobody(edge: Edge) -> bool:
    """No cancel releases a `when_idle` waiter."""
    return Command.RELEASE not in edge.commands


@always("A-77", "C-03", "C-06", "C-08")
def a_driver_is_started_exactly_from_parked(edge: Edge) -> bool:
    """WAKE is asked for when a parked agent accepts a message, and never otherwise."""
    is_accepted = edge.input in (Input.SEND, Input.STEER) and Command.REFUSE not in edge.commands
    is_due = edge.before.window is Window.PARKED and is_accepted
    return (Command.WAKE in edge.commands) == is_due == edge.enters(Window.WOKEN)


@always("A-77", "C-06", about=lambda edge: Command.WAKE in edge.commands)
def a_driver_is_started_behind_its_message(edge: Edge) -> bool:
    """What a driver is started for is in the queue before it is started."""
    return edge.asks_in_order(Command.QUEUE, Command.WAKE)


@always("A-40", "B-48", "F-17", about=lambda edge: _is_stop(edge) and not _is_live_stop(edge))
def a_stop_of_a_disposed_agent_is_nothing(edge: Edge) -> bool:
    """A cancel or a further dispose after a dispose changes and asks for nothing."""
    return edge.after == edge.before and not edge.commands


@always("B-121", "B-122", about=lambda edge: _is_stop(edge) and edge.before.window is Window.FLUSH)
def only_a_dispose_bounds_a_flush_that_is_awaited(edge: Edge) -> bool:
    """The flush of a turn that had ended gets a bound by a dispose, and never by a cancel."""
    is_first_dispose = edge.input is Input.DISPOSE and edge.before.status is not Status.DISPOSED
    return (Command.BOUND in edge.commands) == is_first_dispose


OUTSIDE_PROPERTIES = tuple(each for each in tuple(globals().values()) if isinstance(each, Always))
"""Every property of this page, from top to bottom."""
