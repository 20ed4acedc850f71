"""A session with one of everything that is said, and what a command says about it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from runtime.session.log import SessionHeader, SessionLog
from runtime.session.records import Record

from .recorded import StillClock, turn

__all__ = ["STORES", "Run", "Said", "conversation", "spoil", "tear"]

STORES = ["s.db", "s.jsonl"]


def conversation(session_id: str) -> tuple[SessionHeader, tuple[Record, ...]]:
    """Return a session with one of everything that is said, killed in its second turn."""
    header = SessionHeader(id=session_id, created_ms=1_700_000_000_000, parent="closed")
    log = SessionLog(header, clock=StillClock())
    source, step = {"kind": "user"}, {"turn": 1, "step": 1}

    def text(words: str) -> list[dict[str, str]]:
        return [{"type": "text", "text": words}]

    def say(type_name: str, fields: dict[str, Any]) -> None:
        log.append(type_name, {"turn": 1, **fields}, placement="append")

    call = {"call_id": "k", "name": "look", "arguments": '{"at": "\\u001b"}'}
    log.append("turn/start", {"turn": 1, "trigger": {"kind": "message", "source": source}})
    say("user/message", {"message_id": "m1", "content": text("one\ntwo"), "source": source})
    blocked = {"turn": 1, "message_id": "m2", "content": text("bad"), "source": source}
    log.append("prompt/blocked", {**blocked, "reason": "rude"})
    say("context/message", {"content": text("a file changed"), "source": {"kind": "watch"}})
    log.append("vendor/note", {"turn": 1, "x": "\x07"})
    log.append("step/start", step)
    for words in ("I ", "look"):
        log.append("assistant/chunk", {**step, "chunk": {"type": "text", "text": words}})
    blocks = [{"type": "reasoning", "text": "hm"}, *text("I look"), {"type": "tool-call", **call}]
    say("assistant/message", {"step": 1, "content": blocks})
    log.append("tool/call", {**step, **call})
    say("steering/message", {"message_id": "m3", "content": text("faster"), "source": source})
    say("tool/result", {"step": 1, "call_id": "k", "content": text("no \x1b[2J"), "is_error": True})
    log.append("step/end", step)
    log.append("step/start", {"turn": 1, "step": 2})
    chunk = {"turn": 1, "step": 2, "chunk": {"type": "text", "text": "so far"}}
    log.append("assistant/chunk", chunk)
    log.append("step/end", {"turn": 1, "step": 2})
    log.append("turn/end", {"turn": 1, "ending": "aborted", "reason": "enough"})
    turn(log, 2)
    return header, tuple(log.events)[:-1]


class Said:
    """What one command said."""

    def __init__(self, status: int, out: str, notes: str) -> None:
        self.status = status
        self.out = out
        self.notes = notes

    @property
    def value(self) -> Any:  # noqa: ANN401  # any JSON
        """The answer as JSON."""
        return json.loads(self.out)


Run = Callable[..., Said]


def tear(place: Path) -> None:
    """Leave half a line behind the open session."""
    with (place / "no-cwd" / "open.jsonl").open("ab") as file:
        file.write(b'{"seq":99,"x":"\x1b')


def spoil(place: Path) -> None:
    """Damage the closed session."""
    if place.is_dir():
        path = place / "%2ftmp%2fx" / "closed.jsonl"
        path.write_bytes(path.read_bytes().replace(b"hello 1", b'hello"1'))
    else:
        whole = place.read_bytes()
        place.write_bytes(whole.replace(b"hello 1", b'hello"1', 1))
