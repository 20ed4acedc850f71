"""A stored session as a person would want to read it.

Control characters are shown and not obeyed: what a model or a user wrote must not move the cursor,
change colours or hide anything on the terminal of whoever looks at it later.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from .session.backend import StoredSession
from .session.content import FrozenObject, text_of, thaw
from .session.records import Record

__all__ = ["said", "time_of", "transcript"]

_MARGIN: Final = 11
_ARGUMENTS_MAX: Final = 500
# What a terminal may obey: control characters, and those that turn the direction of writing.
_TURNS: Final = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_OBEYED: Final = {
    code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
    for code in (*range(32), *range(127, 160), *_TURNS)
}
_OBEYED_IN_TEXT: Final = {code: each for code, each in _OBEYED.items() if chr(code) not in "\n\t"}


def transcript(stored: StoredSession) -> Iterator[str]:
    """Give the lines of a transcript, turn by turn.

    Clauses: E-72
    """
    header = stored.header
    yield f"session {said(header.id)}, created {time_of(header.created_ms)}"
    if header.cwd is not None:
        yield f"in {said(header.cwd)}"
    if header.parent is not None:
        yield f"forked from {said(header.parent)}, with {header.seed_length} records of it"
    yield from _spoken(stored.records)
    if stored.torn is not None:
        yield f"--- {said(stored.torn)}"
    elif stored.records and stored.records[-1].type != "turn/end":
        yield "--- the turn is open: its runtime still works on it, or died"


def time_of(milliseconds: int) -> str:
    """Return a time for people, in UTC; the number itself if it is no time of this world."""
    try:
        moment = datetime.fromtimestamp(milliseconds // 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return f"{milliseconds} ms"
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def said(text: str) -> str:
    """Return a text on one line in which a terminal finds nothing to obey."""
    return text.translate(_OBEYED)


def _spoken(records: Sequence[Record]) -> Iterator[str]:
    # What the model of the open step said so far; a message says the same as a whole.
    chunks: list[str] = []
    for record in records:
        if record.type == "assistant/chunk":
            chunks.append(_text_of(record.data["chunk"]))
        elif record.type == "assistant/message":
            chunks.clear()
        elif record.type == "step/end":
            yield from _cut_speech(chunks)
        yield from _LINES.get(record.type, _foreign)(record)
    yield from _cut_speech(chunks)


def _turn_start(record: Record) -> Iterator[str]:
    yield ""
    yield f"--- turn {record.data['turn']}, {time_of(record.time_ms)}"


def _turn_end(record: Record) -> Iterator[str]:
    data = record.data
    reasons = [data.get("reason"), data.get("error", {}).get("message")]
    yield f"--- {': '.join([data['ending'], *(said(str(each)) for each in reasons if each)])}"


def _spoken_by(who: str) -> Callable[[Record], Iterator[str]]:
    return lambda record: _speech(who, record.data["content"])


def _blocked(record: Record) -> Iterator[str]:
    yield from _speech("blocked", record.data["content"])
    yield from _labelled("because", record.data["reason"])


def _call(record: Record) -> Iterator[str]:
    data = record.data
    return _labelled("call", f"{data['name']} {_shortened(data['arguments'])}")


def _result(record: Record) -> Iterator[str]:
    return _speech("failed" if record.data["is_error"] else "result", record.data["content"])


def _foreign(record: Record) -> Iterator[str]:
    text = json.dumps(thaw(record.data), ensure_ascii=False)
    return _labelled(record.type, _shortened(text))


def _nothing(_: Record) -> Iterator[str]:
    return iter(())


_LINES: Final[dict[str, Callable[[Record], Iterator[str]]]] = {
    "turn/start": _turn_start,
    "user/message": _spoken_by("user"),
    "steering/message": _spoken_by("steering"),
    "context/message": _spoken_by("context"),
    "prompt/blocked": _blocked,
    "step/start": _nothing,
    "assistant/chunk": _nothing,
    "assistant/message": _spoken_by("assistant"),
    "tool/call": _call,
    "tool/result": _result,
    "step/end": _nothing,
    "turn/end": _turn_end,
}


def _cut_speech(chunks: list[str]) -> Iterator[str]:
    """Show what a model had said when it was stopped, and forget it."""
    text = "".join(chunks)
    chunks.clear()
    if text:
        yield from _labelled("assistant", f"{text} [cut]")


def _text_of(chunk: FrozenObject) -> str:
    return str(chunk.get("text", "")) if chunk.get("type") == "text" else ""


def _speech(who: str, content: Sequence[Any]) -> Iterator[str]:
    text = text_of(content)
    if text:
        yield from _labelled(who, text)
    for block in content:
        # A call has a record of its own once its turn has come.
        if block["type"] not in ("text", "tool-call"):
            yield from _labelled(who, f"[{block['type']}] {_shortened(str(block.get('text', '')))}")


def _labelled(label: str, text: str) -> Iterator[str]:
    first, *others = text.translate(_OBEYED_IN_TEXT).split("\n")
    yield f"{said(label):<{_MARGIN - 1}} {first}".rstrip()
    for each in others:
        yield f"{'':<{_MARGIN}}{each}".rstrip()


def _shortened(text: str) -> str:
    return text if len(text) <= _ARGUMENTS_MAX else f"{text[:_ARGUMENTS_MAX]}..."
