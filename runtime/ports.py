"""The runtime's only doors to the clock, to chance, to blocking work and to plain waiting.

Everything else receives these as values, so that a test can stand in for them.
"""

import asyncio
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

__all__ = [
    "Blocking",
    "Clock",
    "Identifiers",
    "SystemBlocking",
    "SystemClock",
    "SystemIdentifiers",
    "pause",
    "thread_id",
    "yield_once",
]

T = TypeVar("T")


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


class Blocking(Protocol):
    """Does what blocks, such as I/O, without holding up the loop."""

    async def run(self, call: Callable[[], T]) -> T:
        """Call, and return what it returns; never two calls at a time.

        Whoever is cancelled here must not conclude that the call did not happen.

        Clauses: E-10 E-51
        """
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


class SystemBlocking:
    """One thread, made when it is first needed."""

    __slots__ = ("_worker",)

    def __init__(self) -> None:
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="quiesce blocking")

    async def run(self, call: Callable[[], T]) -> T:
        """Call in the thread, after every call that was made before."""
        # Shielded: a call that waits for its turn would be struck off when its waiter is cancelled.
        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._worker, call))

    def close(self) -> None:
        """Accept no more calls; those that were made are still done."""
        self._worker.shutdown(wait=False)


def thread_id() -> int:
    """Return a number that is the calling thread's own."""
    return threading.get_ident()


async def yield_once() -> None:
    """Let the loop run everything that is ready, once, and come back."""
    await asyncio.sleep(0)


async def pause(seconds: float) -> None:
    """Wait for a time; for behaviour that *is* a delay, never to wait for a thing."""
    await asyncio.sleep(seconds)
