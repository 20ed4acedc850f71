"""The one queue through which everything of one agent is announced."""

from typing import Any, TypeVar

from .announcements import Announcement
from .containment import contain
from .context import Channels

__all__ = ["Outbox"]

P = TypeVar("P")


class Outbox:
    """Everything one agent announces, in the order in which it happened.

    A call made while a notice is being delivered takes effect at once; its notices wait here until
    the current one has reached every listener. The outermost call delivers.

    Clauses: A-42 A-70 A-71
    """

    __slots__ = ("_bus", "_is_delivering", "_notices", "depth", "holds")

    def __init__(self, bus: Channels) -> None:
        self._bus = bus
        self._notices: list[tuple[Announcement[Any], Any, int]] = []
        self._is_delivering = False
        self.depth = 0
        """How long the chain of notices is, each caused by a listener of the one before, that led
        to the one being delivered; 0 outside of a delivery."""
        self.holds = 0
        """How many decisions are being obeyed, one inside the other; nothing leaves meanwhile."""

    def place(self, announcement: Announcement[P], notice: P) -> None:
        """Put a notice behind all that were placed before."""
        self._notices.append((announcement, notice, self.depth + 1))

    def deliver(self) -> None:
        """Deliver until nothing is left, unless somebody up the stack already does."""
        if not self._notices or self.holds or self._is_delivering:
            return
        self._is_delivering = True
        done = 0
        try:
            while done < len(self._notices):
                announcement, notice, self.depth = self._notices[done]
                done += 1
                contain(
                    self._bus.emit, announcement, notice, what=announcement.name, who="the runtime"
                )
        finally:
            del self._notices[:done]
            self._is_delivering = False
            self.depth = 0
