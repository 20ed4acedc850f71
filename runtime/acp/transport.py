"""Messages over lines: what the SDK is given instead of its own standard input and output.

The end of the input is the end of the client. Before the SDK hears of it, everybody who works for
the client has ended, and what they answered has been written; after it, nothing is left that could
still want to write.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Protocol

from attrs import define, field

from runtime.limits import Limits
from runtime.ports import yield_once

from .frames import INVALID_REQUEST, Frame, Lines, Message, encode, failure, parse

__all__ = ["LineTransport", "Wire"]


class Wire(Protocol):
    """Where bytes come from and go to."""

    async def read(self) -> bytes:
        """Wait for some bytes; none at the end, however the client ended."""
        ...

    def write(self, data: bytes) -> None:
        """Take bytes to be written, in this order; dropped once nobody can read them."""
        ...

    async def drain(self) -> None:
        """Wait until not much waits to be read, or nobody can read it."""
        ...


@define(eq=False)
class LineTransport:
    """The transport that the SDK's connection runs on.

    Args:
        wire: where bytes come from and go to.
        limits: bound a line.
    """

    wire: Wire
    limits: Limits
    on_end: Callable[[], Awaitable[object]] | None = field(init=False, default=None)
    """Ends everything that works for the client; awaited at the end of the input."""
    _lines: Lines = field(init=False)
    _messages: deque[Frame] = field(init=False, factory=deque)
    _is_closed: bool = field(init=False, default=False)

    @_lines.default
    def _lines_within_the_limit(self) -> Lines:
        return Lines(self.limits.acp_line_bytes_max)

    def put(self, frame: Frame) -> None:
        """Write a message at once, behind everything that was put before.

        Dropped once the transport is closed: whoever still has something to say must not fail.

        Clauses: J-53 J-54
        """
        if not self._is_closed:
            self.wire.write(encode(frame))

    async def send(self, message: Frame) -> None:
        """Write a message of the SDK."""
        self.put(message)

    async def receive(self) -> Frame | None:
        """Return the next message; None when the client has gone and nobody works for it."""
        while not self._messages:
            data = await self.wire.read()
            # A last line that is not ended was not finished, and is not guessed at.
            for line in self._lines.feed(data):
                self._take(line)
            if not data:
                # The handlers of the last messages begin before anything ends.
                await yield_once()
                if self.on_end is not None:
                    await self.on_end()
                return None
        return self._messages.popleft()

    async def close(self) -> None:
        """Write nothing any more."""
        self._is_closed = True

    def _take(self, line: bytes | None) -> None:
        if line is None:
            bound = f"acp_line_bytes_max={self.limits.acp_line_bytes_max}"
            self.put(failure(None, INVALID_REQUEST, f"Invalid request: longer than {bound}"))
            return
        read = parse(line)
        if isinstance(read, Message):
            self._messages.append(read.frame)
        elif read.frame is not None:
            self.put(read.frame)
