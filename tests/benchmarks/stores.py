"""Sessions on a disk, and beside them a plain loop that does the least that could be done.

The plain loops are given the lines, already encoded, and write them with the same settings: the
same journal, the same syncs, one transaction or one write for each batch. So a ratio says what the
runtime adds: encoding, checks, the lookup of the session, and reading back into checked records.
Of an append the time is that of the wall: most of it is the disk's. Loading finds everything in
memory, so its time is that of the processor.
"""

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from runtime.session.codec import encode_record
from runtime.session.jsonl import JsonLinesBackend
from runtime.session.log import SessionHeader, SessionLog
from runtime.session.places import DiskBackend
from runtime.session.records import Record
from runtime.session.sqlite import SqliteBackend

from .measure import Contender, now_ns

__all__ = ["KINDS", "appending", "lines_of", "loaded", "loading", "records_of", "stored"]

KINDS: Final[dict[str, Callable[[Path], DiskBackend]]] = {
    "sqlite": lambda directory: SqliteBackend(directory / "s.db"),
    "json lines": lambda directory: JsonLinesBackend(directory / "s.jsonl"),
}
_HEADER: Final = SessionHeader(id="s", created_ms=0)


class _StillClock:
    def now_ms(self) -> int:
        return 1_700_000_000_000


@cache
def records_of(length: int) -> tuple[Record, ...]:
    """Return a session of turns of seven records, as a chat has them, cut at a length."""
    log = SessionLog(_HEADER, clock=_StillClock())
    source, said = {"kind": "user"}, [{"type": "text", "text": "What is the weather like today?"}]
    for turn in range(1, length // 7 + 2):
        step = {"turn": turn, "step": 1}
        message = {"turn": turn, "message_id": f"m{turn}", "content": said, "source": source}
        log.append("turn/start", {"turn": turn, "trigger": {"kind": "message", "source": source}})
        log.append("user/message", message, placement="append")
        log.append("step/start", step)
        log.append("assistant/chunk", {**step, "chunk": {"type": "text", "text": "It is sunny."}})
        answer = [{"type": "text", "text": "It is sunny."}]
        log.append("assistant/message", {**step, "content": answer}, placement="append")
        log.append("step/end", step)
        log.append("turn/end", {"turn": turn, "ending": "completed"})
    return tuple(log.events[:length])


@cache
def lines_of(length: int) -> tuple[str, ...]:
    """Return the same session as lines."""
    return tuple(map(encode_record, records_of(length)))


# ---------------------------------------------------------------------------------------- appending


def appending(batch: int) -> dict[str, Contender]:
    """Return contenders that store records batch by batch, each durable before the next."""
    return {
        "plain sqlite": partial(_append_plain_sqlite, batch),
        "sqlite": partial(_append, "sqlite", batch),
        "plain file": partial(_append_plain_file, batch),
        "json lines": partial(_append, "json lines", batch),
    }


async def _append(kind: str, batch: int, items: int) -> int:
    records = records_of(items + 1)
    with TemporaryDirectory() as directory:
        backend = KINDS[kind](Path(directory))
        backend.acquire("s")
        backend.begin(_HEADER, records[:1])
        began = time.perf_counter_ns()
        for start in range(1, items + 1, batch):
            backend.append("s", records[start : start + batch])
        took = time.perf_counter_ns() - began
        backend.close()
    return took


async def _append_plain_sqlite(batch: int, items: int) -> int:
    lines = lines_of(items + 1)
    with TemporaryDirectory() as directory, _plain_database(Path(directory)) as database:
        began = time.perf_counter_ns()
        for start in range(1, items + 1, batch):
            rows = enumerate(lines[start : start + batch], start)
            database.execute("BEGIN IMMEDIATE")
            database.executemany("INSERT INTO record VALUES (?, ?)", rows)
            database.execute("COMMIT")
        return time.perf_counter_ns() - began


async def _append_plain_file(batch: int, items: int) -> int:
    lines = lines_of(items + 1)
    with TemporaryDirectory() as directory:
        descriptor = os.open(Path(directory) / "plain", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        began = time.perf_counter_ns()
        for start in range(1, items + 1, batch):
            text = "".join(f"{line}\n" for line in lines[start : start + batch])
            os.write(descriptor, text.encode())
            os.fsync(descriptor)
        took = time.perf_counter_ns() - began
        os.close(descriptor)
    return took


@contextmanager
def _plain_database(directory: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(directory / "plain.db", isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.execute("CREATE TABLE record(seq INTEGER PRIMARY KEY, line TEXT NOT NULL)")
        yield database


# ------------------------------------------------------------------------------------------ loading


@contextmanager
def stored(length: int) -> Iterator[Path]:
    """Store a session of a length in every way there is, for loading."""
    records, lines = records_of(length), lines_of(length)
    with TemporaryDirectory() as name:
        directory = Path(name)
        for make in KINDS.values():
            backend = make(directory)
            backend.acquire("s")
            backend.begin(_HEADER, records)
            backend.close()
        with _plain_database(directory) as database:
            database.executemany("INSERT INTO record VALUES (?, ?)", enumerate(lines))
        (directory / "plain").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        yield directory


def loading(directory: Path) -> dict[str, Contender]:
    """Return contenders that load what is stored, over and over, one session an item."""
    return {
        "plain sqlite": partial(_repeat, partial(loaded, "plain sqlite", directory)),
        "sqlite": partial(_repeat, partial(loaded, "sqlite", directory)),
        "plain file": partial(_repeat, partial(loaded, "plain file", directory)),
        "json lines": partial(_repeat, partial(loaded, "json lines", directory)),
    }


def loaded(kind: str, directory: Path) -> Sequence[Any]:
    """Load what is stored: checked records, or whatever JSON says."""
    if kind == "plain sqlite":
        with closing(sqlite3.connect(directory / "plain.db")) as database:
            rows = database.execute("SELECT line FROM record ORDER BY seq")
            return [json.loads(line) for (line,) in rows]
    if kind == "plain file":
        with (directory / "plain").open("rb") as file:
            return [json.loads(line) for line in file]
    return KINDS[kind](directory).read("s").records


async def _repeat(load: Callable[[], Sequence[Any]], items: int) -> int:
    began = now_ns()
    for _ in range(items):
        load()
    return now_ns() - began
