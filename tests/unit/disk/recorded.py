"""Small sessions to be stored, and what a test wants to see of a store."""

from collections.abc import Sequence
from pathlib import Path

from runtime.session.backend import Backend
from runtime.session.log import SessionHeader, SessionLog
from runtime.session.records import Record

__all__ = ["StillClock", "contents", "descriptors", "recorded", "store", "turn"]


class StillClock:
    """A clock that says what it is told."""

    def __init__(self, now_ms: int = 1_700_000_000_000) -> None:
        self.time_ms = now_ms

    def now_ms(self) -> int:
        """Return the time that was set."""
        return self.time_ms


def recorded(
    session_id: str = "s", *, turns: int = 2, cwd: str | None = None, is_open: bool = False
) -> tuple[SessionHeader, tuple[Record, ...]]:
    """Return a session of turns of three records each; the last turn may lack its end."""
    header = SessionHeader(id=session_id, created_ms=1_700_000_000_000, cwd=cwd)
    log = SessionLog(header, clock=StillClock())
    for number in range(1, turns + 1):
        turn(log, number)
    records = tuple(log.events)
    return header, records[:-1] if is_open else records


def turn(log: SessionLog, number: int, text: str = "hello") -> None:
    """Append one turn."""
    source = {"kind": "user"}
    log.append("turn/start", {"turn": number, "trigger": {"kind": "message", "source": source}})
    content = [{"type": "text", "text": f"{text} {number}"}]
    message = {"turn": number, "message_id": f"m{number}", "content": content, "source": source}
    log.append("user/message", message, placement="append")
    log.append("turn/end", {"turn": number, "ending": "completed"})


def store(backend: Backend, header: SessionHeader, records: Sequence[Record]) -> None:
    """Store a session and give its lease back."""
    backend.acquire(header.id)
    backend.begin(header, records)
    backend.release(header.id)


def contents(directory: Path) -> dict[str, bytes | None]:
    """Return every file below a directory with its bytes, and every directory."""
    return {
        str(path.relative_to(directory)): path.read_bytes() if path.is_file() else None
        for path in sorted(directory.rglob("*"))
    }


def descriptors() -> int:
    """Return how many files this process has open."""
    return sum(1 for _ in Path("/dev/fd").iterdir())
