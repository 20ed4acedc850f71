"""The process that is killed: scripted agents on one store, which say what they rely on.

It goes on where its predecessor was killed. What it says goes through a pipe, one short write each,
so that it has been said when it is killed a moment later:

    tried SESSION SEQ CHECKSUM     a record is about to be handed to the store
    stored SESSION LENGTH          the store has returned, and is taken at its word
    relied SESSION LENGTH          a program was told that all this is durable, or a tool acts on it
"""

import os
import random
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, Final
from zlib import crc32

from runtime import (
    Agent,
    Finish,
    FinishKind,
    ModelRequest,
    Runtime,
    TextDelta,
    Tool,
    ToolCallDelta,
    exchange,
    open_runtime,
)
from runtime.model import AbortSignalLike, Chunk
from runtime.session.backend import StoredHeader, StoredSession
from runtime.session.codec import encode_record
from runtime.session.disk import Disk
from runtime.session.jsonl import JsonLinesBackend
from runtime.session.log import SessionHeader
from runtime.session.places import DiskBackend, backend_at
from runtime.session.records import Record

__all__ = ["SESSIONS", "checksum", "live"]

SESSIONS: Final = ("a", "b", "../c")
_TURNS: Final = 8


def checksum(record: Record) -> int:
    """Return a number that is another one for another record."""
    return crc32(encode_record(record).encode())


async def live(store: Path, pipe: int, seed: int, *, is_lying: bool = False) -> None:
    """Work until the script is at its end, or until this process is killed.

    Args:
        store: the path of the store.
        pipe: where to say what is relied on.
        seed: decides what is said and done.
        is_lying: the store holds back its last batch and says that it is stored; that must be
            found out.
    """
    chance = random.Random(seed)
    backend = _Witness(_backend(store, chance), pipe, is_lying=is_lying)
    models = {"scripted": _Scripted(chance)}
    async with open_runtime(store=backend, models=models, default_model="scripted") as rt:
        look = Tool(
            name="look",
            description="Looks.",
            parameters={},
            is_raw=True,
            execute=lambda _, use: backend.rely_on_call(rt, use.call_id),
        )
        rt.tools.register(rt.context, look)
        stored = {each.header.id for each in backend.headers()}
        for session_id in SESSIONS:
            if session_id in stored:
                await rt.agents.resume(session_id=session_id)
            else:
                rt.agents.create(session_id=session_id, cwd="/")
        for number in range(_TURNS):
            agent = chance.choice(rt.agents.list())
            await _take_a_turn(agent, chance, f"{seed} {number}")
            # The turn has ended and is flushed, and nothing else was asked of this agent.
            backend.say("relied", agent.session.id, len(agent.session.events))


def _backend(store: Path, chance: random.Random) -> DiskBackend:
    if store.suffix == ".jsonl" and chance.random() < 0.5:
        # One write is hardly ever cut short by a kill; of many, the last ones often are missing.
        return JsonLinesBackend(store, disk=_Piecemeal())
    return backend_at(store)


class _Piecemeal(Disk):
    """A disk that takes a little at a time."""

    def write(self, descriptor: int, data: memoryview, offset: int) -> int:
        """Write a piece."""
        return super().write(descriptor, data[:300], offset)


async def _take_a_turn(agent: Agent, chance: random.Random, text: str) -> None:
    if chance.random() < 0.2:
        agent.inject(f"injected {text}")
    if chance.random() < 0.2:
        agent.send(f"first {text}")
        agent.cancel("changed my mind")
    await exchange(agent, f"{text} {'x' * chance.choice((0, 1_000, 100_000))}")


class _Scripted:
    """A model that streams, and sometimes calls a tool first."""

    cooperative = True

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._calls = 0

    async def stream(self, _: ModelRequest, __: AbortSignalLike) -> AsyncIterator[Chunk]:
        """Answer with a few chunks."""
        for _number in range(self._chance.randrange(1, 4)):
            yield TextDelta("hm ")
        if self._chance.random() < 0.4:
            for _number in range(self._chance.randrange(1, 3)):
                self._calls += 1
                yield ToolCallDelta(f"k{self._calls}", "look", "{}")
            yield Finish(FinishKind.TOOL_CALLS)
        else:
            yield Finish(FinishKind.STOP)


class _Witness:
    """A store that says what it is asked, and what it has answered."""

    def __init__(self, inner: DiskBackend, pipe: int, *, is_lying: bool) -> None:
        self._inner = inner
        self._pipe = pipe
        self._is_lying = is_lying
        self._held_back: dict[str, Sequence[Record]] = {}
        self.open = self._inner.open
        self.close = self._inner.close
        self.acquire = self._inner.acquire
        self.release = self._inner.release
        self.cut = self._inner.cut
        self.ids = self._inner.ids

    @property
    def name(self) -> str:
        """What messages call it."""
        return self._inner.name

    def say(self, what: str, session_id: str, *numbers: int) -> None:
        """Say one thing, in one write."""
        os.write(self._pipe, f"{what} {session_id} {' '.join(map(str, numbers))}\n".encode())

    def rely_on_call(self, rt: Runtime, call_id: str) -> str:
        """Act on a call: what it stands in must survive, because acting cannot be undone."""
        for agent in rt.agents.list():
            for record in reversed(agent.session.events):
                if record.type == "assistant/message" and _calls(record, call_id):
                    self.say("relied", agent.session.id, record.seq + 1)
                    return "done"
        return "nobody called"

    def read(self, session_id: str) -> StoredSession:
        """Read; nothing of it has to be said."""
        return self._inner.read(session_id)

    def headers(self) -> tuple[StoredHeader, ...]:
        """List; nothing of it has to be said."""
        return self._inner.headers()

    def begin(self, header: SessionHeader, records: Sequence[Record]) -> None:
        """Begin, and say so before and after."""
        end = self._tried(header.id, records)
        self._inner.begin(header, records)
        self.say("stored", header.id, end)

    def append(self, session_id: str, records: Sequence[Record]) -> None:
        """Append, and say so before and after."""
        if not records:
            return
        end = self._tried(session_id, records)
        if self._is_lying:
            records, self._held_back[session_id] = self._held_back.get(session_id, ()), records
        self._inner.append(session_id, records)
        self.say("stored", session_id, end)

    def _tried(self, session_id: str, records: Sequence[Record]) -> int:
        for record in records:
            self.say("tried", session_id, record.seq, checksum(record))
        return records[-1].seq + 1


def _calls(record: Record, call_id: str) -> bool:
    content: Sequence[dict[str, Any]] = record.data["content"]
    return any(block.get("call_id") == call_id for block in content)
