"""Standard input and output as the wire of one client.

Nothing here blocks the loop. The descriptors stay blocking ones, as they were found, because others
may share them: input is read when there is some, and output is written in pieces that a pipe which
is ready takes whole.
"""

import asyncio
import os
import select
from typing import Final

from attrs import define, field

from runtime.containment import log_line
from runtime.errors import CallerError
from runtime.limits import Limits
from runtime.ports import yield_once

__all__ = ["StandardWire", "take_standard_streams"]

_READ_BYTES: Final = 64 * 1024
_WAITING_BYTES: Final = 1024 * 1024
"""So much may wait before whoever has more to say is held up."""
_INPUT, _OUTPUT, _ERRORS = 0, 1, 2


def take_standard_streams() -> tuple[int, int]:
    """Keep standard input and output for the protocol, and return their new descriptors.

    Whatever else prints goes to standard error, and whatever else reads finds nothing.

    Raises:
        CallerError: one of the three is closed.

    Clauses: J-47
    """
    try:
        os.fstat(_ERRORS)
        taken = os.dup(_INPUT), os.dup(_OUTPUT)
    except OSError as error:
        why = "standard input, output and error are needed, and one is closed"
        raise CallerError(why) from error
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, _INPUT)
    os.close(nothing)
    os.dup2(_ERRORS, _OUTPUT)
    return taken


@define(eq=False)
class StandardWire:
    """A client at the other end of two descriptors, which are closed with this.

    It has gone at the end of its input, when it cannot be written to, when it lets too much
    output wait, or when `end` is called.

    Clauses: J-53 J-60
    """

    _source: int
    _sink: int
    _limits: Limits
    _unwritten: bytearray = field(init=False, factory=bytearray)
    _is_ended: bool = field(init=False, default=False)
    _is_lost: bool = field(init=False, default=False)
    _is_watched: bool = field(init=False, default=False)
    _readable: "asyncio.Future[None] | None" = field(init=False, default=None)
    _written: "asyncio.Future[None] | None" = field(init=False, default=None)
    _has_room: asyncio.Event = field(init=False, factory=asyncio.Event)

    @property
    def is_ended(self) -> bool:
        """Whether nothing is read any more."""
        return self._is_ended

    def end(self) -> None:
        """Read nothing any more, as if the client had ended its input."""
        self._is_ended = True
        _wake(self._readable)

    async def read(self) -> bytes:
        """Wait for some bytes; none once the client has gone."""
        while not self._is_ended:
            if await self._until_readable():
                continue
            try:
                data = os.read(self._source, _READ_BYTES)
            except BlockingIOError:
                continue
            except OSError:
                break
            if data:
                return data
            break
        self._is_ended = True
        return b""

    def write(self, data: bytes) -> None:
        """Take bytes to be written."""
        if self._is_lost:
            return
        self._unwritten += data
        if len(self._unwritten) > self._limits.acp_unread_bytes_max:
            bound = f"acp_unread_bytes_max={self._limits.acp_unread_bytes_max}"
            self._lose(f"the client reads nothing, and more than {bound} waits for it")
        else:
            if len(self._unwritten) > _WAITING_BYTES:
                self._has_room.clear()
            self._watch()

    async def drain(self) -> None:
        """Wait until no more than a megabyte waits, or the client has gone."""
        if not self._is_lost and len(self._unwritten) > _WAITING_BYTES:
            await self._has_room.wait()

    async def flush(self, within_s: float) -> None:
        """Wait until everything is written, the client has gone, or the time is over."""
        if self._unwritten and not self._is_lost:
            self._written = asyncio.get_running_loop().create_future()
            await asyncio.wait((self._written,), timeout=within_s)

    def close(self) -> None:
        """Give the descriptors back; what was not written is dropped."""
        self.end()
        self._unwatch()
        self._is_lost = True
        self._has_room.set()
        os.close(self._source)
        os.close(self._sink)

    # -- Reading -----------------------------------------------------------------------------------

    async def _until_readable(self) -> bool:
        """Wait until there is something to read; return whether the wire was ended instead."""
        loop = asyncio.get_running_loop()
        self._readable = loop.create_future()
        try:
            loop.add_reader(self._source, _wake, self._readable)
        except PermissionError:
            # A file, or the null device: never makes anybody wait.
            await yield_once()
            return self._is_ended
        try:
            await self._readable
        finally:
            loop.remove_reader(self._source)
        return self._is_ended

    # -- Writing -----------------------------------------------------------------------------------

    def _watch(self) -> None:
        if self._is_watched:
            return
        try:
            asyncio.get_running_loop().add_writer(self._sink, self._write_some)
            self._is_watched = True
        except PermissionError:
            # A file, or the null device: always takes everything.
            while self._unwritten and not self._is_lost:
                self._write_some()

    def _unwatch(self) -> None:
        if self._is_watched:
            asyncio.get_running_loop().remove_writer(self._sink)
            self._is_watched = False

    def _write_some(self) -> None:
        # This much a pipe that is ready takes without making the writer wait.
        piece = self._unwritten[: select.PIPE_BUF]
        try:
            count = os.write(self._sink, piece)
        except BlockingIOError:
            return
        except OSError as error:
            self._lose(f"the client cannot be written to: {error.strerror}")
            return
        del self._unwritten[:count]
        if len(self._unwritten) <= _WAITING_BYTES:
            self._has_room.set()
        if not self._unwritten:
            self._unwatch()
            _wake(self._written)

    def _lose(self, why: str) -> None:
        log_line(why)
        self._is_lost = True
        self._unwritten.clear()
        self._has_room.set()
        self._unwatch()
        _wake(self._written)
        self.end()


def _wake(waiter: "asyncio.Future[None] | None") -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)
