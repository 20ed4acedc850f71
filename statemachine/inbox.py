"""The two FIFOs of an inbox, and the moves that the machine makes on them.

The machine knows only whether each FIFO holds something; here are the messages. The runtime and
the labelled exploration obey the machine's commands on the same class, so that what was explored
is what runs.
"""

from collections.abc import Iterable
from typing import Generic, Protocol, TypeVar

from attrs import define, field

from .shape import Inbox

__all__ = ["Accepted", "Queues"]


class Accepted(Protocol):
    """A message as far as its order is concerned."""

    @property
    def order(self) -> int:
        """The place in the order of acceptance; no two messages of an agent share one."""


M = TypeVar("M", bound=Accepted)


@define
class Queues(Generic[M]):
    """A queued FIFO, drained when a turn starts, and a steering FIFO, taken between steps.

    Clauses: C-01 C-02 C-07
    """

    queued: list[M] = field(factory=list)
    steering: list[M] = field(factory=list)

    def queue(self, message: M) -> None:
        """Append to the queued FIFO."""
        self.queued.append(message)

    def steer(self, message: M) -> None:
        """Append to the steering FIFO."""
        self.steering.append(message)

    def drain(self) -> list[M]:
        """Return the queued FIFO and leave it empty."""
        batch, self.queued = self.queued, []
        return batch

    def take(self) -> list[M]:
        """Return the steering FIFO and leave it empty."""
        taken, self.steering = self.steering, []
        return taken

    def merge(self) -> None:
        """Move left-over steering into the queued FIFO, by order of acceptance.

        Clauses: A-13 C-10 C-15
        """
        if self.steering:
            merged = [*self.queued, *self.take()]
            self.queued = sorted(merged, key=lambda message: message.order)

    def requeue(self, unread: Iterable[M]) -> None:
        """Put drained prompts that nobody read back at the head of the queued FIFO.

        Clauses: B-109
        """
        self.queued[:0] = unread

    def clear(self) -> list[tuple[M, bool]]:
        """Empty both FIFOs and return what they held with whether it was steering, by acceptance.

        Clauses: A-24 C-07
        """
        dropped = [(message, False) for message in self.drain()]
        dropped += [(message, True) for message in self.take()]
        return sorted(dropped, key=lambda pair: pair[0].order)

    @property
    def holding(self) -> Inbox:
        """Return what the machine must believe about these FIFOs."""
        if self.queued:
            return Inbox.BOTH if self.steering else Inbox.QUEUED
        return Inbox.STEERING if self.steering else Inbox.EMPTY

    def __len__(self) -> int:
        """Return how many messages wait in both."""
        return len(self.queued) + len(self.steering)
