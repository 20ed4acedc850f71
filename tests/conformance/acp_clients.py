"""The client's side of a connection on the stage: a wire, and what is known of what was said."""

import asyncio
import json
from collections import deque
from typing import Any

from attrs import define, field

__all__ = ["Connection", "Count", "MemoryWire", "Sent"]

Frame = dict[str, Any]


@define
class Count:
    """How much was done in all the programs of a suite."""

    programs: int = 0
    judged: int = 0
    answers: int = 0
    cancelled: int = 0
    loads: int = 0
    gone: int = 0
    """Connections whose end was judged."""


@define(eq=False)
class MemoryWire:
    """A wire whose other end is the test."""

    written: list[Frame] = field(factory=list)
    is_ended: bool = False
    _unread: deque[bytes] = field(factory=deque)
    _reader: "asyncio.Future[None] | None" = None

    async def read(self) -> bytes:
        """See `Wire`."""
        while not self._unread and not self.is_ended:
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        return self._unread.popleft() if self._unread else b""

    def write(self, data: bytes) -> None:
        """See `Wire`."""
        self.written.append(json.loads(data))

    async def drain(self) -> None:
        """See `Wire`; this one is read at once."""

    def say(self, *frames: Frame) -> None:
        """Write messages to the program, in one piece."""
        self._unread.append(b"".join(json.dumps(frame).encode() + b"\n" for frame in frames))
        self._wake()

    def end(self) -> None:
        """Go."""
        self.is_ended = True
        self._wake()

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)


@define(eq=False)
class Sent:
    """One prompt of a client."""

    text: str
    session: str
    request: int
    was_accepted: bool = False
    must_cancel: bool = False
    must_not_run: bool = False
    may_cancel: bool = False
    """Whether anything that cancels came after it."""


@define(eq=False)
class Connection:
    """One client, and what is known of it."""

    wire: MemoryWire
    task: "asyncio.Task[None]"
    requests: dict[int, str] = field(factory=dict)
    """What was asked for, by id."""
    loads: dict[int, str] = field(factory=dict)
    prompts: list[Sent] = field(factory=list)
    sessions: list[str] = field(factory=list)
    """Those that are open, as far as the client knows."""
    closes: dict[int, str] = field(factory=dict)
    touched: set[str] = field(factory=set)
    """Every session that was ever open here."""
    read: int = 0
    """Written messages that were judged."""
    questions: list[int] = field(factory=list)
