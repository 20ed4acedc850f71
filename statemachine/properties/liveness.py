"""What must be possible (*sometimes*) and what must come (*eventually*).

A *sometimes* keeps an *always* honest: a machine that never cancels would keep every promise about
cancels. An *eventually* holds under assumptions about the world around the agent, and each of them
is needed: `FALSE_VARIANTS` leaves out one at a time, and every one of those must be refuted.

The driver is weakly fair: while it has a visit to finish, it finishes it at some time, because what
it waits for answers or its grace runs out. Nothing is assumed of the environment, except where a
premise says that something stops. An input that changes nothing is no progress.
"""

from collections.abc import Callable
from typing import Final

from statemachine.commands import Command, Input
from statemachine.shape import Ending, Inbox, Shape, Status
from statemachine.windows import OPEN_WINDOWS, REST_WINDOWS, TURN_WINDOWS, Window

from .kinds import Assumption, Claim, Edge, Eventually, Sometimes

__all__ = ["EVENTUALITIES", "FALSE_VARIANTS", "MODEL_STOPS", "POSSIBILITIES"]


# -- Sometimes -------------------------------------------------------------------------------------


def sometimes(*clauses: str, invariant: str | None = None) -> Callable[[Claim], Sometimes]:
    """Turn a function of an edge into a `Sometimes` that has its name and its sentence."""

    def declare(claim: Claim) -> Sometimes:
        return Sometimes(
            name=claim.__name__,
            clauses=clauses,
            invariant=invariant,
            statement=(claim.__doc__ or "").strip(),
            witness=claim,
        )

    return declare


@sometimes("A-23", "B-02", invariant="INV-01")
def a_queued_message_is_cancelled_before_any_turn(edge: Edge) -> bool:
    """A cancel can land on a message that waits while the status is still `idle`."""
    is_idle = edge.before.status is Status.IDLE
    return edge.input is Input.CANCEL and is_idle and edge.before.has_queued


@sometimes("A-28", invariant="INV-01")
def a_second_cancel_drops_the_replacement(edge: Edge) -> bool:
    """A further cancel can find new work behind the first one, and drops it."""
    is_second = edge.before.status is Status.CANCELLED
    return edge.input is Input.CANCEL and is_second and Command.DISCARD in edge.commands


@sometimes("A-52", "B-136", invariant="INV-06")
def a_replacement_runs_after_the_flush(edge: Edge) -> bool:
    """The status can go from `cancelled` to `running` with no `idle` between."""
    is_direct = edge.before.status is Status.CANCELLED and edge.after.status is Status.RUNNING
    return edge.before.window is Window.FLUSH and is_direct


@sometimes("B-06", "B-102", invariant="INV-06")
def a_replacement_runs_without_a_turn_before_it(edge: Edge) -> bool:
    """A turn that was cancelled inside `running` can be replaced by the next one."""
    is_unopened = edge.before.window is Window.ANNOUNCE_RUNNING
    return edge.input is Input.YIELDED and is_unopened and edge.after.status is Status.RUNNING


@sometimes("A-13", "C-15")
def leftover_steering_becomes_a_prompt(edge: Edge) -> bool:
    """Steering can be left over and be merged with queued messages into the next turn."""
    return edge.before.inbox is Inbox.BOTH and Command.MERGE in edge.commands


@sometimes("B-47", "B-104", invariant="INV-04")
def a_dispose_overtakes_a_cancel(edge: Edge) -> bool:
    """A cancelled turn can be disposed while it unwinds, its marker still armed."""
    is_cancelled = edge.before.status is Status.CANCELLED
    return edge.input is Input.DISPOSE and is_cancelled and edge.before.window in OPEN_WINDOWS


@sometimes("B-49", "B-98")
def an_error_outlives_a_stop(edge: Edge) -> bool:
    """A turn whose failure was reported can be stopped in CLOSING and still ends as `error`."""
    is_written = edge.enters(Window.TURN_END) and edge.after.ending is Ending.ERROR
    return is_written and edge.before.is_stopped


@sometimes("B-109", invariant="INV-21")
def unread_prompts_go_back(edge: Edge) -> bool:
    """A prompt can break off the batch, and the ones behind it are queued again."""
    return Command.REQUEUE in edge.commands


def _is_cancelled(shape: Shape) -> bool:
    return shape.status is Status.CANCELLED


def _ended_aborted(shape: Shape) -> bool:
    return shape.window is Window.TURN_END and shape.ending is Ending.ABORTED


def _never_opened(shape: Shape) -> bool:
    return shape.window is Window.ANNOUNCE_IDLE


def _cancel_in(window: Window) -> Sometimes:
    """Return the claim that a turn can be cancelled in `window` and ends for that reason."""
    is_open = window in OPEN_WINDOWS

    def lands(edge: Edge) -> bool:
        is_here = edge.before.window is window and edge.input is Input.CANCEL
        return is_here and edge.before.status is Status.RUNNING

    return Sometimes(
        name=f"a_cancel_in_{window.name.lower()}_ends_the_turn",
        clauses=("B-36", "B-135") if is_open else ("B-05",),
        invariant="INV-05",
        statement=(
            f"A cancel can land in {window.name}, "
            + ("and that turn then ends `aborted`." if is_open else "and no turn opens.")
        ),
        witness=lands,
        then=_ended_aborted if is_open else _never_opened,
        through=_is_cancelled if is_open else None,
    )


def _ends(ending: Ending) -> Sometimes:
    """Return the claim that a turn can end this way."""

    def is_written(edge: Edge) -> bool:
        return edge.enters(Window.TURN_END) and edge.after.ending is ending

    return Sometimes(
        name=f"a_turn_ends_{ending.name.lower()}",
        clauses=("B-96",),
        statement=f"A turn can end `{ending.value}`.",
        witness=is_written,
    )


POSSIBILITIES: Final = (
    *(each for each in tuple(globals().values()) if isinstance(each, Sometimes)),
    *(_cancel_in(window) for window in TURN_WINDOWS),
    *(_ends(ending) for ending in Ending if ending is not Ending.INTERRUPTED),
)
"""Every *sometimes*: the named ones, one per window of a turn, one per ending."""


# -- Eventually ------------------------------------------------------------------------------------

DRIVER_IS_FAIR: Final = Assumption(
    name="the driver is fair",
    text="what the driver waits for answers, or its grace runs out",
    is_fair=True,
)
SENDERS_STOP: Final = Assumption(
    name="senders stop",
    text="nobody sends or steers any more",
    excludes=frozenset({Input.SEND, Input.STEER}),
)
MODEL_STOPS: Final = Assumption(
    name="the model stops",
    text="the model asks for no more calls, the last call has been answered, and no interceptor "
    "votes for another step",
    excludes=frozenset({Input.CALLED, Input.CONTINUE, Input.ANSWERED}),
)
PROMPTS_ARE_READ: Final = Assumption(
    name="prompts are read",
    text="no submission breaks off a batch: each time costs a message, which a shape cannot count, "
    "so the exploration with labels proves that this comes to an end by itself",
    excludes=frozenset({Input.BROKE_OFF}),
)


def _is_cancelled_in_a_turn(shape: Shape) -> bool:
    return _is_cancelled(shape) and shape.window in TURN_WINDOWS


def _is_unwound(shape: Shape) -> bool:
    is_unopened = shape.window is Window.ANNOUNCE_RUNNING and not shape.is_stopped
    is_over = shape.window in (Window.TURN_END, Window.ANNOUNCE_IDLE, Window.EXITED)
    return is_over or is_unopened


def _is_answered(shape: Shape) -> bool:
    is_replaced = shape.window is Window.ANNOUNCE_RUNNING and shape.status is Status.RUNNING
    return is_replaced or shape.window in (Window.ANNOUNCE_IDLE, Window.EXITED)


def _is_open(shape: Shape) -> bool:
    return shape.window in OPEN_WINDOWS


def _is_closed(shape: Shape) -> bool:
    return shape.window in (Window.TURN_END, Window.FLUSH)


def _is_any(_shape: Shape) -> bool:
    return True


def _is_at_rest(shape: Shape) -> bool:
    return shape.is_quiescent and shape.window in REST_WINDOWS


def _is_disposed(shape: Shape) -> bool:
    return shape.status is Status.DISPOSED


def _has_exited(shape: Shape) -> bool:
    return shape.window is Window.EXITED


def _has_steering(shape: Shape) -> bool:
    return shape.has_steering


def _has_no_steering(shape: Shape) -> bool:
    return not shape.has_steering


def _has_queued(shape: Shape) -> bool:
    return shape.has_queued


def _has_no_queued(shape: Shape) -> bool:
    return not shape.has_queued


def _eventually(  # noqa: PLR0913, PLR0917  # the columns of a declaration
    name: str,
    statement: str,
    from_: Callable[[Shape], bool],
    to: Callable[[Shape], bool],
    premise: tuple[Assumption, ...],
    clauses: str,
    invariant: str | None,
) -> Eventually:
    return Eventually(
        name=name,
        statement=statement,
        from_=from_,
        to=to,
        premise=premise,
        clauses=tuple(clauses.split()),
        invariant=invariant,
    )


EVENTUALITIES: Final = (
    _eventually(
        "a_cancelled_turn_unwinds",
        "A cancelled turn comes to its TURN_END, or is given up where it was announced.",
        _is_cancelled_in_a_turn, _is_unwound,
        (DRIVER_IS_FAIR,),
        "B-117 B-135", "INV-06",
    ),
    _eventually(
        "a_cancel_ends_in_idle_or_in_a_replacement",
        "A cancelled agent comes to `idle`, to the announcement of new work, or to its exit.",
        _is_cancelled, _is_answered,
        (DRIVER_IS_FAIR,),
        "A-52 B-135", "INV-06",
    ),
    _eventually(
        "an_open_turn_closes",
        "A turn that is open comes to its end.",
        _is_open, _is_closed,
        (DRIVER_IS_FAIR, SENDERS_STOP, MODEL_STOPS),
        "B-52 B-93", "INV-08",
    ),
    _eventually(
        "every_waiter_is_released",
        "From any shape the driver comes to rest, by a way that releases waiters.",
        _is_any, _is_at_rest,
        (DRIVER_IS_FAIR, SENDERS_STOP, MODEL_STOPS, PROMPTS_ARE_READ),
        "A-80 A-36 B-93", "INV-08",
    ),
    _eventually(
        "a_dispose_comes_to_the_exit",
        "A disposed agent comes to EXITED.",
        _is_disposed, _has_exited,
        (DRIVER_IS_FAIR,),
        "A-32 B-94 C-05", "INV-12",
    ),
    _eventually(
        "what_is_queued_leaves_the_queue",
        "A queued message is drained into a turn, or discarded.",
        _has_queued, _has_no_queued,
        (DRIVER_IS_FAIR, SENDERS_STOP, MODEL_STOPS),
        "A-54 B-136", "INV-21",
    ),
    _eventually(
        "what_is_steering_leaves_the_fifo",
        "A steering message is recorded in its turn, moves to the next, or is discarded.",
        _has_steering, _has_no_steering,
        (DRIVER_IS_FAIR, MODEL_STOPS),
        "A-10 A-13 A-54", "INV-21",
    ),
)  # fmt: skip
"""Every *eventually*, each with no more premise than it needs."""

FALSE_VARIANTS: Final = tuple(
    claim.without(assumption) for claim in EVENTUALITIES for assumption in claim.premise
)
"""The same claims with one part of the premise left out; none of them may hold."""
