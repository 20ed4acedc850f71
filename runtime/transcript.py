"""A stored session as a person would want to read it.

Control characters are shown and not obeyed: what a model or a user wrote must not move the cursor,
change colours or hide anything on the terminal of whoever looks at it later.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from .session.backend import StoredSession
from .session.content import text_of, thaw
from .session.records import Record

__all__ = ["said", "time_of", "transcript"]

_MARGIN: Final = 11
_ARGUMENTS_MAX: Final = 500
# Everything that a terminal may obey, but the end of a line and the tab.
_OBEYED: Final = {
    code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"
}


def transcript(stored: StoredSession) -> Iterator[str]:
    """Give the lines of a transcript, turn by turn.

    Clauses: E-72
    """
    header, records = stored.header, stored.records
    yield f"session {said(header.id)}, created {time_of(header.created_ms)}"
    if header.cwd is not None:
        yield f"in {said(header.cwd)}"
    if header.parent is not None:
        yield f"forked from {said(header.parent)}, which wrote the first {header.seed_length} records"
    for record in records:
        yield from _lines_of(record, records)
    if stored.torn is not None:
        yield f"--- {said(stored.torn)}"
    elif records and records[-1].type != "turn/end":
        yield "--- the turn is open: its runtime still works on it, or died"


def time_of(milliseconds: int) -> str:
    """Return a time for people, in UTC; the number itself if it is no time of this world."""
    try:
        moment = datetime.fromtimestamp(milliseconds // 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return f"{milliseconds} ms"
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def said(text: str) -> str:
    """Return a text in which a terminal finds nothing to obey."""
    return text.translate(_OBEYED)


def _lines_of(record: Record, records: Sequence[Record]) -> Iterator[str]:
    data = record.data
    match record.type:
        case "turn/start":
            yield ""
            yield f"--- turn {data['turn']}, {time_of(record.time_ms)}"
        case "turn/end":
            error = data.get("error")
            why = [data.get("reason"), None if error is None else error.get("message")]
            yield f"--- {': '.join([data['ending'], *(said(str(each)) for each in why if each)])}"
        case "step/start" | "assistant/chunk":
            pass
        case "step/end":
            yield from _cut_stream(record, records)
        case "user/message":
            yield from _speech("user", data["content"])
        case "assistant/message":
            yield from _speech("assistant", data["content"])
        case "steering/message":
            yield from _speech("steering", data["content"])
        case "context/message":
            yield from _speech("context", data["content"])
        case "prompt/blocked":
            yield from _speech("blocked", data["content"])
            yield from _labelled("because", data["reason"])
        case "tool/call":
            yield from _labelled("call", f"{data['name']} {_shortened(data['arguments'])}")
        case "tool/result":
            yield from _speech("failed" if data["is_error"] else "result", data["content"])
        case other:
            yield from _labelled(other, _shortened(json.dumps(thaw(data), ensure_ascii=False)))


def _cut_stream(end: Record, records: Sequence[Record]) -> Iterator[str]:
    """Show what a model had said when it was stopped: there are chunks, and no message."""
    step = []
    for record in reversed(records[: end.seq]):
        if record.type in ("step/start", "assistant/message"):
            break
        step.append(record)
    else:
        return
    if record.type == "step/start":
        chunks = [each.data["chunk"] for each in reversed(step) if each.type == "assistant/chunk"]
        said_so_far = "".join(str(each["text"]) for each in chunks if _is_text(each))
        if said_so_far:
            yield from _labelled("assistant", f"{said_so_far} [cut]")


def _is_text(chunk: dict[str, Any]) -> bool:
    return chunk.get("type") == "text" and "text" in chunk


def _speech(who: str, content: Sequence[Any]) -> Iterator[str]:
    text = text_of(content)
    if text:
        yield from _labelled(who, text)
    for block in content:
        # A call has a record of its own once its turn has come.
        if block["type"] not in ("text", "tool-call"):
            yield from _labelled(who, f"[{block['type']}] {_shortened(str(block.get('text', '')))}")


def _labelled(label: str, text: str) -> Iterator[str]:
    first, *others = said(text).split("\n")
    yield f"{said(label):<{_MARGIN - 1}} {first}".rstrip()
    for each in others:
        yield f"{'':<{_MARGIN}}{each}".rstrip()


def _shortened(text: str) -> str:
    return text if len(text) <= _ARGUMENTS_MAX else f"{text[:_ARGUMENTS_MAX]}..."
