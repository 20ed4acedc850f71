"""What goes into the machine and what comes out of it.

An *input* is one thing that happened: a call from outside, or the outcome of the driver's visit to
a window. A *command* is one thing a decision asks the runtime to do. The machine never does
anything itself, so every effect an agent has on the world is one of the commands listed here.
"""

from enum import StrEnum

__all__ = ["OUTCOMES", "OUTSIDE_INPUTS", "Command", "Input"]


class Input(StrEnum):
    """One thing that happens to an agent."""

    # From outside, at any instant. Their members are compared by identity on the hot path.
    SEND = "send"
    STEER = "steer"
    INJECT = "inject"
    CANCEL = "cancel"
    DISPOSE = "dispose"

    # From the driver: how its visit to the current window came out.
    DONE = "done"
    """The visit finished and has nothing more to say."""
    FAILED = "failed"
    """The visit raised."""
    CUT = "cut"
    """The visit was given up because a cancel or a dispose is in effect."""
    YIELDED = "yielded"
    """The loop has had its one pass between an unopened turn and what replaces it."""
    UNOPENED = "unopened"
    """`turn/start` could not be appended, so there is no turn."""
    BLOCKED = "blocked"
    """Every prompt of the batch was blocked."""
    BROKE_OFF = "broke-off"
    """One prompt's submission raised while prompts behind it were still unread."""
    TRUNCATED = "truncated"
    """The model stopped because its tokens ran out."""
    CALLED = "called"
    """The recorded reply asks for tools."""
    ALLOWED = "allowed"
    """The tool's body may be entered."""
    ANSWERED = "answered"
    """One call has its result and another call waits."""
    STOP = "stop"
    """The interceptors voted to end the turn."""
    CONTINUE = "continue"
    """The interceptors voted for another step."""
    EXHAUSTED = "exhausted"
    """The turn has had as many steps as it may have; nobody was asked."""


OUTSIDE_INPUTS = (Input.SEND, Input.STEER, Input.INJECT, Input.CANCEL, Input.DISPOSE)
OUTCOMES = tuple(member for member in Input if member not in OUTSIDE_INPUTS)


class Command(StrEnum):
    """One thing a decision asks the runtime to do, in the order the decision lists them."""

    REFUSE = "refuse"
    """Raise to the caller; nothing has changed."""

    QUEUE = "queue"
    """Append the message to the queued FIFO and place `agent/queued`."""
    STEER = "steer"
    """Append the message to the steering FIFO and place `agent/queued`."""
    DRAIN = "drain"
    """Take the whole queued FIFO as the batch of the turn that opens now."""
    TAKE = "take"
    """Take the whole steering FIFO and record each message in the open turn."""
    MERGE = "merge"
    """Move left-over steering into the queued FIFO, by order of acceptance."""
    REQUEUE = "requeue"
    """Put the unread prompts of the batch back at the head of the queued FIFO."""
    DISCARD = "discard"
    """Drop both FIFOs and place one `agent/discarded` for each message."""
    DISCARD_BATCH = "discard-batch"
    """Drop the drained batch with cause `error`, one `agent/discarded` each."""

    JOIN = "join"
    """Record the context in the open turn; while calls are unanswered, after the last result."""
    ONE_SHOT = "one-shot"
    """Record a whole injection turn in one append and owe its flush."""

    RECORD = "record"
    """Commit the boundary record of the window that is entered."""
    DROP_ATTACHED = "drop-attached"
    """Forget the context that interceptors attached to results; what was injected stays."""
    CLOSE_CALLS = "close-calls"
    """Give every unanswered call an `interrupted` result, then record deferred context."""

    ANNOUNCE = "announce"
    """Place `agent/status` in the outbox."""
    REPORT = "report"
    """Place `agent/error` in the outbox."""
    LOG = "log"
    """Write the failure to the process log; a stop was in effect first, so nobody is told."""
    RELEASE = "release"
    """Complete every `when_idle` waiter."""

    BEGIN = "begin"
    """Give the coming turn its abort authority."""
    ABORT = "abort"
    """Fire the turn's abort signal and start its one grace."""
    RETIRE = "retire"
    """Take the abort authority back; nothing can abort this turn any more."""
    BOUND = "bound"
    """Give the flush that is awaited one grace from now."""

    WAKE = "wake"
    """Start the driver's task."""
    YIELD = "yield"
    """Let the loop make one pass before the driver goes on."""
