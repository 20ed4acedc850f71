"""The shape of an agent: the finite, hashable part that every decision is made on.

Contents, ids and reasons are data beside the shape. A guard reads the shape and nothing else,
which is why a decision can be remembered and why every shape can be visited.
"""

from enum import StrEnum
from typing import TYPE_CHECKING

from attrs import field, frozen

from .windows import OPEN_WINDOWS, Window

if TYPE_CHECKING:
    from .commands import Input
    from .machine import Answer

__all__ = ["Ending", "Inbox", "Marker", "Shape", "Status"]


class Status(StrEnum):
    """What others see of an agent."""

    IDLE = "idle"
    RUNNING = "running"
    CANCELLED = "cancelled"
    """A cancel is in effect on the running turn and the turn is unwinding: busy."""
    DISPOSED = "disposed"


class Inbox(StrEnum):
    """Which of the two FIFOs hold something."""

    EMPTY = "empty"
    QUEUED = "queued"
    STEERING = "steering"
    BOTH = "both"


class Marker(StrEnum):
    """Whether a cancel of the current turn is remembered."""

    ABSENT = "absent"
    ARMED = "armed"


class Ending(StrEnum):
    """Why a turn ended."""

    COMPLETED = "completed"
    ABORTED = "aborted"
    DISPOSED = "disposed"
    ERROR = "error"
    REJECTED = "rejected"
    MAX_TOKENS = "max-tokens"
    MAX_STEPS = "max-steps"
    INTERRUPTED = "interrupted"
    """Written by crash repair only; no decision of the machine ends a turn this way."""


@frozen(kw_only=True)
class Shape:
    """Everything a decision may depend on.

    Clauses: A-41 B-97
    """

    window: Window = Window.PARKED
    status: Status = Status.IDLE
    inbox: Inbox = Inbox.EMPTY
    marker: Marker = Marker.ABSENT
    ending: Ending = Ending.COMPLETED
    """Tentative while the turn is open; in TURN_END, the ending that is written."""
    failed: bool = False
    """A step failed and nobody has been told yet."""
    wants_step: bool = False
    """The default vote: the step had calls, or steering was recorded in it."""

    # Remembered decisions, by input. A machine interns its shapes, so that they are shared.
    answers: "dict[Input, Answer]" = field(factory=dict, init=False, eq=False, repr=False)

    @property
    def has_queued(self) -> bool:
        """Whether the queued FIFO holds something."""
        return self.inbox in (Inbox.QUEUED, Inbox.BOTH)

    @property
    def has_steering(self) -> bool:
        """Whether the steering FIFO holds something."""
        return self.inbox in (Inbox.STEERING, Inbox.BOTH)

    @property
    def is_stopped(self) -> bool:
        """Whether a cancel or a dispose is in effect."""
        return self.status in (Status.CANCELLED, Status.DISPOSED)

    @property
    def is_turn_open(self) -> bool:
        """Whether the log holds a turn without its end."""
        return self.window in OPEN_WINDOWS

    @property
    def is_quiescent(self) -> bool:
        """Whether a `when_idle` made now has nothing to wait for.

        Clauses: A-29 A-30 A-32
        """
        if self.window is Window.EXITED:
            return True
        return self.status is Status.IDLE and self.inbox is Inbox.EMPTY

    def __str__(self) -> str:
        """Return the shape as a reader of a story wants it: only what is not at rest."""
        parts = [self.status.value, self.window.value]
        if self.inbox is not Inbox.EMPTY:
            parts.append(f"inbox={self.inbox.value}")
        if self.marker is Marker.ARMED:
            parts.append("armed")
        if self.ending is not Ending.COMPLETED:
            parts.append(f"ending={self.ending.value}")
        parts += [name for name in ("failed", "wants_step") if getattr(self, name)]
        return " ".join(parts)
