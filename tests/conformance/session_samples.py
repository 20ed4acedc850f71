"""Sessions with every kind of record, and every kind of value in them, for stores to keep."""

from runtime import Record, SessionHeader
from runtime.session.log import SessionLog

__all__ = ["log_of", "sample"]


class _Clock:
    """A clock that moves at every look."""

    def __init__(self) -> None:
        self.time_ms = 1_000

    def now_ms(self) -> int:
        self.time_ms += 7
        return self.time_ms


def log_of(session_id: str = "s", turns: int = 2) -> SessionLog:
    """Return a log that has every kind of record, and every kind of value in them."""
    header = SessionHeader(
        id=session_id, created_ms=1_000, cwd="/home", parent="the other", seed_length=3
    )
    log = SessionLog(header, clock=_Clock())
    for turn in range(1, turns + 1):
        _add_turn(log, turn)
    return log


def _add_turn(log: SessionLog, turn: int) -> None:
    source = {"kind": "user", "nested": [[{"a": None}], True, -1.5, 2**53 - 1, 'q"\\\n\u2028']}
    text = [{"type": "text", "text": "Grüße, 世界 \U0001f600\x00"}]
    one = {"turn": turn, "step": 1}
    message = {"turn": turn, "message_id": "m1", "content": text, "source": source}
    log.append("turn/start", {"turn": turn, "trigger": {"kind": "message", "source": source}})
    said = log.append("user/message", message, placement="append")
    log.append("vendor/note", {"anything": [1, 1.0, "", {}]})
    log.append("step/start", one)
    chunk = log.append("assistant/chunk", {**one, "chunk": {"type": "text", "text": "hm"}})
    call = {"type": "tool-call", "call_id": "k", "name": "look", "arguments": '{"x": 1}'}
    answer = {**one, "content": [*text, call], "usage": {"input": 3}}
    log.append("assistant/message", answer, placement="append", sources=[chunk.seq])
    called = {**one, "call_id": "k", "name": "look", "arguments": '{"x": 1}'}
    at = log.append("tool/call", called)
    result = {**one, "call_id": "k", "content": text, "is_error": False, "meta": {"n": 0}}
    log.append("tool/result", result, placement="append", sources=[at.seq])
    log.append("step/end", one)
    summary = {"turn": turn, "content": text, "source": {"kind": "plugin"}}
    place = {"replace": {"start": said.seq, "end": said.seq}}
    log.append("context/message", summary, placement=place, sources=[said.seq])
    log.append("turn/end", {"turn": turn, "ending": "aborted", "reason": ""})


def sample(session_id: str = "s") -> tuple[SessionHeader, tuple[Record, ...]]:
    """Return a header and the records of two turns."""
    log = log_of(session_id)
    return log.session.header, tuple(log.events)
