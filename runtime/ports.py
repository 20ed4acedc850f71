"""The runtime's only doors to the clock, to chance and to plain waiting.

Everything else receives these as values, so that a test can stand in for them.
"""

import asyncio
import threading
import time
import uuid
from typing import Protocol

__all__ = [
    "Clock",
    "Identifiers",
    "SystemClock",
    "SystemIdentifiers",
    "pause",
    "thread_id",
    "yield_once",
]


class Clock(Protocol):
    """Tells the time of day."""

    def now_ms(self) -> int:
        """Return milliseconds since the Unix epoch, UTC.

        The answer may go backwards when somebody sets the system's clock; the log, which promises
        order, corrects for that.
        """
        ...


class Identifiers(Protocol):
    """Makes names that nobody else has."""

    def new_id(self) -> str:
        """Return a name that was never returned before, by anyone."""
        ...


class SystemClock:
    """The clock of the operating system."""

    __slots__ = ()

    def now_ms(self) -> int:
        """Return the system's time in whole milliseconds since the Unix epoch."""
        return time.time_ns() // 1_000_000


class SystemIdentifiers:
    """Random UUIDs."""

    __slots__ = ()

    def new_id(self) -> str:
        """Return a random UUID in its usual form, 36 characters."""
        return str(uuid.uuid4())


def thread_id() -> int:
    """Return a number that is the calling thread's own."""
    return threading.get_ident()


async def yield_once() -> None:
    """Let the loop run everything that is ready, once, and come back."""
    await asyncio.sleep(0)


async def pause(seconds: float) -> None:
    """Wait for a time; for behaviour that *is* a delay, never to wait for a thing."""
    await asyncio.sleep(seconds)
