"""What a command wrote: the last of it in memory, all of it in a file if that was too much.

Bytes are counted, and characters are never cut by us: what is dropped from the front is dropped up
to the next character, and a character of which only a part has arrived waits for the rest.
"""

from collections import deque

from attrs import define, field

from .seam import StreamOutput
from .spill import Spill, SpillFolder

__all__ = ["Output"]

_CHARACTER_BYTES_MAX = 4


@define(eq=False, kw_only=True)
class Output:
    """One stream of one command.

    Clauses: H-16 H-17 H-18 H-19 H-20 H-24 H-25 H-26
    """

    bytes_max: int
    spills: SpillFolder
    name: str
    """Of the file, if one is needed."""
    total_bytes: int = 0
    is_ended: bool = False
    """Whether nothing more will come."""
    _chunks: deque[bytes] = field(factory=deque, init=False)
    _kept_bytes: int = field(default=0, init=False)
    _read_bytes: int = field(default=0, init=False)
    _spill: Spill | None = field(default=None, init=False)

    def append(self, data: bytes) -> None:
        """Take what arrived."""
        if self._spill is not None:
            self._spill.write(data)
        elif self.total_bytes + len(data) > self.bytes_max:
            self._spill = self.spills.open(self.name, (*self._chunks, data))
        self.total_bytes += len(data)
        self._chunks.append(data)
        self._kept_bytes += len(data)
        while self._kept_bytes - len(self._chunks[0]) >= self.bytes_max:
            self._kept_bytes -= len(self._chunks.popleft())

    def end(self) -> None:
        """Take nothing more, and keep no more than is promised."""
        self.is_ended = True
        self._chunks = deque((self._last(self._kept_bytes),))
        self._kept_bytes = len(self._chunks[0])
        if self._spill is not None:
            self._spill.close()

    def drop(self) -> None:
        """Forget everything; nobody will ask again."""
        self._chunks.clear()
        self._kept_bytes = 0
        if self._spill is not None:
            self._spill.remove()

    def read(self) -> StreamOutput:
        """Return what arrived since the last read, as far as it is still there."""
        unread = self.total_bytes - self._read_bytes
        output, held_back = self._decode(unread)
        self._read_bytes = self.total_bytes - held_back
        return output

    def tail(self) -> StreamOutput:
        """Return all that is still there."""
        return self._decode(self.total_bytes)[0]

    def _decode(self, wanted: int) -> tuple[StreamOutput, int]:
        """Return the last `wanted` bytes, and how many of them wait for the rest of a character."""
        is_lossy = wanted > self.bytes_max
        data = self._last(wanted)
        if is_lossy:
            data = data[_rest_of_character(data) :]
        held_back = 0 if self.is_ended else _begun_character(data)
        text = data[: len(data) - held_back].decode(errors="replace")
        path = None if self._spill is None else self._spill.path
        output = StreamOutput(
            text=text, total_bytes=self.total_bytes, is_lossy=is_lossy, spill_path=path
        )
        return output, held_back

    def _last(self, wanted: int) -> bytes:
        wanted = min(wanted, self.bytes_max)
        if not wanted:
            return b""
        parts: list[bytes] = []
        for chunk in reversed(self._chunks):
            parts.append(chunk)
            wanted -= len(chunk)
            if wanted <= 0:
                break
        joined = b"".join(reversed(parts))
        return joined[-wanted:] if wanted < 0 else joined


def _rest_of_character(data: bytes) -> int:
    """Count the bytes in front that belong to a character that was cut."""
    count = 0
    while count < min(len(data), _CHARACTER_BYTES_MAX - 1) and data[count] & 0xC0 == 0x80:
        count += 1
    return count


def _begun_character(data: bytes) -> int:
    """Count the bytes at the end that are the beginning of a character."""
    for count in range(1, min(len(data), _CHARACTER_BYTES_MAX - 1) + 1):
        byte = data[-count]
        if byte & 0xC0 != 0x80:
            return count if _character_bytes(byte) > count else 0
    return 0


def _character_bytes(first: int) -> int:
    """Return how many bytes a character has that begins with this one."""
    if first >= 0xF0:
        return 4
    return 3 if first >= 0xE0 else 2 if first >= 0xC0 else 1
