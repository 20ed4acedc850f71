"""Around the bridge on the stage: a wire, what is known of what was said, a model and a disk."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from attrs import define, field

from runtime.model import AbortSignalLike, Chunk, ModelRequest, TextDelta, last_user_text
from runtime.subject import StageModel
from statemachine.conformance.stage.stage import Stage

__all__ = ["Connection", "Count", "GatedBlocking", "MemoryWire", "PromptedModel", "Sent"]

Frame = dict[str, Any]
T = TypeVar("T")


@define(eq=False)
class PromptedModel(StageModel):
    """Waits at a gate, but for every third prompt, which it answers without any wait."""

    async def stream(self, request: ModelRequest, signal: AbortSignalLike) -> AsyncIterator[Chunk]:
        """See `Model`."""
        text = last_user_text(request.messages)
        if int(text.strip("p.").rpartition("p")[2]) % 3 == 0:
            yield TextDelta(f"at once: {text}")
            return
        async for chunk in super().stream(request, signal):
            yield chunk


@define(eq=False)
class GatedBlocking:
    """A disk whose time belongs to the stage."""

    stage: Stage

    async def run(self, call: Callable[[], T]) -> T:
        """See `Blocking`."""
        await self.stage.gate("disk", ("ok",))
        return call()


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
    looks: int = 0
    """Instants that were compared with the bridge world."""
    events: set[str] = field(factory=set)
    """What was said and told, as the bridge world calls it, and not refused at the call."""
    refused: set[str] = field(factory=set)


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
