"""The page about the records of a log, and the log that it shows as an example.

The example goes through a real log, so it cannot show what the runtime would refuse.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from attrs import define

from runtime.session.codec import encode_header, encode_record
from runtime.session.content import BLOCK_STRINGS
from runtime.session.log import Draft, SessionHeader, SessionLog
from runtime.session.record_types import RECORD_TYPES, Field, RecordType
from runtime.session.records import Record
from runtime.session.schema import record_schema

__all__ = ["HEADER", "example", "record_pages"]

_BEGAN_MS: Final = 1_700_000_000_000
HEADER: Final = SessionHeader(id="example", created_ms=_BEGAN_MS, cwd="/project")
"""The header of the example."""
_USER: Final = {"kind": "user"}
_FIRST, _SECOND = {"turn": 1, "step": 1}, {"turn": 1, "step": 2}
_CALL: Final = {"call_id": "c1", "name": "read", "arguments": '{"path": "todo.txt"}'}
_LOST: Final = {"call_id": "c2", "name": "print", "arguments": "{}"}


def _text(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


def _draft(type_name: str, data: Mapping[str, Any], **fields: Any) -> Draft:  # noqa: ANN401  # passed on
    declared = RECORD_TYPES.get(type_name)
    if declared is not None and declared.is_message:
        fields.setdefault("placement", "append")
    return Draft(type=type_name, data=data, **fields)


_DRAFTS: Final = (
    _draft("turn/start", {"turn": 1, "trigger": {"kind": "message", "source": _USER}}),
    _draft(
        "user/message",
        {"turn": 1, "message_id": "m1", "content": _text("What is to be done?"), "source": _USER},
    ),
    _draft("step/start", _FIRST),
    _draft("assistant/chunk", {**_FIRST, "chunk": {"type": "tool-call", **_CALL}}),
    _draft("assistant/message", {**_FIRST, "content": [{"type": "tool-call", **_CALL}]}),
    _draft("tool/call", {**_FIRST, **_CALL}),
    _draft("acme/file-read", {"path": "todo.txt", "lines": 2}),
    _draft(
        "tool/result",
        {**_FIRST, "call_id": "c1", "content": _text("milk\nbread"), "is_error": False},
    ),
    _draft(
        "steering/message",
        {"turn": 1, "message_id": "m2", "content": _text("Print it, too."), "source": _USER},
    ),
    _draft("step/end", _FIRST),
    _draft("step/start", _SECOND),
    _draft(
        "assistant/message",
        {
            **_SECOND,
            "content": [*_text("Milk and bread."), {"type": "tool-call", **_LOST}],
            "usage": {"output_tokens": 12},
        },
    ),
    _draft(
        "tool/result",
        {
            **_SECOND,
            "call_id": "c2",
            "content": _text("The call was interrupted."),
            "is_error": True,
            "error": {"name": "Interrupted", "code": "interrupted"},
            "execution": "not-started",
        },
    ),
    _draft("step/end", _SECOND),
    _draft("turn/end", {"turn": 1, "ending": "aborted", "reason": "user pressed stop"}),
    _draft("turn/start", {"turn": 2, "trigger": {"kind": "message", "source": _USER}}),
    _draft(
        "prompt/blocked",
        {
            "turn": 2,
            "message_id": "m3",
            "content": _text("Delete everything."),
            "source": _USER,
            "reason": "too dangerous",
        },
    ),
    _draft("turn/end", {"turn": 2, "ending": "rejected"}),
    _draft(
        "turn/start", {"turn": 3, "trigger": {"kind": "injection", "source": {"kind": "summary"}}}
    ),
    _draft(
        "context/message",
        {"turn": 3, "content": _text("The list was read."), "source": {"kind": "summary"}},
        placement={"replace": {"start": 1, "end": 7}},
        sources=(1, 4, 7),
    ),
    _draft("turn/end", {"turn": 3, "ending": "completed"}),
)


@define
class _Ticks:
    """A clock on which every record comes a quarter of a second behind the last one."""

    time_ms: int = _BEGAN_MS

    def now_ms(self) -> int:
        self.time_ms += 250
        return self.time_ms


def example() -> tuple[Record, ...]:
    """Return a log in which each type of record occurs, and one of a plugin."""
    log = SessionLog(HEADER, clock=_Ticks())
    return log.append_many(_DRAFTS)


def record_pages() -> dict[str, str]:
    """Return the page about records and their schema, by file name."""
    return {
        "records.schema.json": json.dumps(record_schema(), indent=2) + "\n",
        "records.md": "\n".join(_page()) + "\n",
    }


def _page() -> Iterator[str]:
    records = example()
    yield _HEAD
    yield from _table(_COLUMNS, _ENVELOPE)
    yield _BLOCKS
    strings = ((f"`{kind}`", _words(names)) for kind, names in BLOCK_STRINGS.items())
    yield from _table(("type", "its strings"), strings)
    for declared in RECORD_TYPES.values():
        yield from _section(declared, next(each for each in records if each.type == declared.name))
    yield from (_EXAMPLE, "```json", encode_header(HEADER), *map(encode_record, records), "```")


_HEAD: Final = """\
# Records

*Written by `make docs`. Do not edit.*

A session is its log: a list of records that only grows. Each record is a JSON object with the
fields below; [records.schema.json](records.schema.json) says the same to a program, and what the
header of a session looks like.
"""
_COLUMNS: Final = ("field", "type", "", "meaning")
_ENVELOPE: Final = (
    ("`seq`", "integer", "", "Its place in the log, from 0."),
    ("`time_ms`", "integer", "", "Milliseconds since the Unix epoch, UTC; never goes backwards."),
    ("`type`", "string", "", "Its type: one of those below, or `vendor/name` of a plugin."),
    ("`data`", "object", "", "The fields of its type; a plugin's record may have any."),
    (
        "`placement`",
        "string or object",
        "optional",
        "Where it stands in the history that a model sees: `append`, or "
        '`{"replace": {"start": seq, "end": seq}}` for the records whose place it takes. A record '
        "that a model sees always has it, and no other has.",
    ),
    (
        "`sources`",
        "array",
        "optional",
        "With a placement only: the seqs of the records it was made from, at least those it "
        "replaces.",
    ),
)
_BLOCKS: Final = """
A log is a sequence of turns, a turn a sequence of steps, and every record lies inside a turn. Turns
count from 1 in a log, steps from 1 in a turn. Numbers, strings, lists and objects are those of
JSON; an integer is at most 2**53 - 1 in size, a number finite, a string free of lone surrogates.

Content is a list of blocks: objects with a `type`, which may be a plugin's own. Ours hold strings:
"""
_EXAMPLE: Final = """
## A whole log

As it stands in a file, behind the header: a turn that reads a file, is steered, and is cancelled
before its second call; a turn whose only prompt was blocked; and a summary that takes the place of
the first records in the history.
"""


def _section(declared: RecordType, shown: Record) -> Iterator[str]:
    seen = " A model sees it." if declared.is_message else ""
    yield from ("", f"## {declared.name}", "", f"{declared.story}{seen}", "")
    yield from _table(_COLUMNS, map(_cells, declared.fields))
    yield from ("", "```json", encode_record(shown), "```")


def _cells(declared: Field) -> tuple[str, ...]:
    choices = f" One of {_words(declared.choices)}." if declared.choices else ""
    optional = "" if declared.is_required else "optional"
    return f"`{declared.name}`", declared.kind, optional, declared.meaning + choices


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    for cells in (columns, ("---",) * len(columns), *rows):
        yield f"| {' | '.join(cells)} |"


def _words(words: tuple[str, ...]) -> str:
    return ", ".join(f"`{each}`" for each in words)
