"""A model that answers from a script: for tests, demonstrations and the bench.

A script is a file of JSON objects, one a line. The first line whose `when` is found in the last
user message answers:

* `when` - a regular expression; without it the line answers everything
* `chunks` - the pieces of text, in order
* `reasoning` - pieces of reasoning, before them
* `tool_calls` - calls behind them: `call_id`, `name`, `arguments` (a string, or any JSON value)
* `finish` - a kind of finish; without it `tool-calls` or `stop`, whichever fits
* `delay_s` - seconds to wait before each piece, the finish included
* `error` - the answer fails with this text; with `"finish": "error"` it says so instead of raising
* `hang` - true: behind its pieces, the answer waits until it is cancelled
* `repeat` - how often the line may answer; then the search passes it by

A script is read completely before it is used; a damaged one is refused with the place.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any, Final

from attrs import define, field, frozen

from .errors import CallerError, InvalidContentError, LimitError, ModelError
from .model import (
    AbortSignalLike,
    Chunk,
    Finish,
    FinishKind,
    ModelRequest,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    last_user_text,
)
from .ports import pause
from .session.content import freeze_json, thaw

__all__ = ["ScriptError", "ScriptedModel"]


class ScriptError(CallerError):
    """A script is damaged; the message names file, line and place, and what belongs there."""


@frozen(kw_only=True)
class _Line:
    """One line of a script, checked."""

    pattern: re.Pattern[str]
    pieces: tuple[Chunk, ...]
    finish: Finish
    delay_s: float
    repeat: int | None
    error: str | None
    hangs: bool


@define
class _Entry:
    line: _Line
    answered: int = field(default=0, init=False)

    def take(self, prompt: str) -> bool:
        """Whether this line answers the prompt; counts it if so."""
        if self.line.repeat is not None and self.answered >= self.line.repeat:
            return False
        if self.line.pattern.search(prompt) is None:
            return False
        self.answered += 1
        return True


class ScriptedModel:
    """A model that answers from a script."""

    __slots__ = ("_entries",)

    cooperative: Final = True

    def __init__(self, lines: Iterable[_Line]) -> None:
        self._entries = tuple(_Entry(line) for line in lines)

    @classmethod
    def from_file(cls, path: str | Path) -> "ScriptedModel":
        """Read a script from a file, UTF-8.

        Raises:
            ScriptError: it cannot be read or is damaged.
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            raise ScriptError(f"{path}:{line}: the script must be UTF-8 text") from error
        except OSError as error:
            raise ScriptError(f"{path}: the script cannot be read: {error.strerror}") from error
        return cls.from_lines(text.split("\n"), name=str(path))

    @classmethod
    def from_lines(cls, lines: Iterable[str], *, name: str = "script") -> "ScriptedModel":
        """Make a model from the lines of a script; empty lines are skipped.

        Raises:
            ScriptError: a line is damaged, or there is none.
        """
        parsed = [
            _parse_line(line, f"{name}:{number}")
            for number, line in enumerate(lines, start=1)
            if line.strip()
        ]
        if not parsed:
            raise ScriptError(f"{name}: the script is empty; it needs one JSON object a line")
        return cls(parsed)

    async def stream(
        self,
        request: ModelRequest,
        signal: AbortSignalLike,  # noqa: ARG002  # it is cancelled, and so need not ask
    ) -> AsyncIterator[Chunk]:
        """Answer with the first line of the script that fits.

        Raises:
            ModelError: no line fits, or the line that does says so.
        """
        line = self._line_for(last_user_text(request.messages))
        for piece in line.pieces:
            await _wait(line.delay_s)
            yield piece
        await _wait(line.delay_s)
        if line.hangs:
            # Nobody completes this future: the only way out is the cancellation of the answer.
            await asyncio.get_running_loop().create_future()
        if line.error is not None and line.finish.kind is not FinishKind.ERROR:
            raise ModelError(line.error, code="scripted")
        yield line.finish

    def _line_for(self, prompt: str) -> _Line:
        for entry in self._entries:
            if entry.take(prompt):
                return entry.line
        patterns = ", ".join(ascii(entry.line.pattern.pattern) for entry in self._entries)
        raise ModelError(
            f"no line of the script answers {prompt[:200]!a}; its patterns are {patterns}",
            code="no-script-line",
        )


async def _wait(seconds: float) -> None:
    if seconds > 0:
        await pause(seconds)


# --- reading ------------------------------------------------------------------------------------


def _parse_line(text: str, place: str) -> _Line:
    fields = _parse_object(text, place)
    for name in fields:
        if name not in _FIELDS:
            known = ", ".join(_FIELDS)
            raise ScriptError(f"{place}: unknown field {name!a}; a line may have {known}")
    for name, (fits, expected) in _FIELDS.items():
        if name in fields and not fits(fields[name]):
            raise ScriptError(f"{place}: field {name} must be {expected}")
    calls = tuple(
        _parse_call(call, f"{place}: field tool_calls[{index}]")
        for index, call in enumerate(fields.get("tool_calls", ()))
    )
    error = fields.get("error")
    kind = fields.get("finish", FinishKind.TOOL_CALLS if calls else FinishKind.STOP)
    return _Line(
        pattern=_parse_pattern(fields.get("when", ""), place),
        pieces=(
            *(ReasoningDelta(piece) for piece in fields.get("reasoning", ())),
            *(TextDelta(piece) for piece in fields.get("chunks", ())),
            *calls,
        ),
        finish=Finish(kind, message=error),
        delay_s=fields.get("delay_s", 0),
        repeat=fields.get("repeat"),
        error=error,
        hangs=fields.get("hang", False),
    )


def _parse_object(text: str, place: str) -> dict[str, Any]:
    try:
        parsed = json.loads(text, object_pairs_hook=_without_repetition)
        fields = thaw(freeze_json(parsed, what="line"))
    except json.JSONDecodeError as error:
        raise ScriptError(f"{place}:{error.colno}: not JSON: {error.msg}") from error
    except (ValueError, RecursionError, InvalidContentError, LimitError) as error:
        raise ScriptError(f"{place}: {error}") from error
    if type(fields) is not dict:
        raise ScriptError(f"{place}: a line must be a JSON object, not {_json_name(fields)}")
    return fields


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field {repeated!a} stands there twice")
    return fields


def _parse_pattern(pattern: str, place: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ScriptError(
            f"{place}: field when must be a regular expression of Python: {error}"
        ) from error


def _parse_call(call: dict[str, Any], place: str) -> ToolCallDelta:
    if not call.keys() <= {"call_id", "name", "arguments"}:
        unknown = sorted(call.keys() - {"call_id", "name", "arguments"})
        raise ScriptError(f"{place} may have call_id, name and arguments, not {unknown[0]!a}")
    for name in ("call_id", "name"):
        if type(call.get(name)) is not str or not call[name]:
            raise ScriptError(f"{place}.{name} must be a string that is not empty")
    arguments = call.get("arguments", "")
    rendered = arguments if type(arguments) is str else json.dumps(arguments)
    return ToolCallDelta(call["call_id"], call["name"], rendered)


def _json_name(value: object) -> str:
    return {list: "a list", str: "a string", bool: "a boolean", type(None): "null"}.get(
        type(value), "a number"
    )


def _is_text(value: object) -> bool:
    return type(value) is str


def _is_texts(value: object) -> bool:
    return type(value) is list and all(type(item) is str for item in value)


def _is_objects(value: object) -> bool:
    return type(value) is list and all(type(item) is dict for item in value)


def _is_duration(value: object) -> bool:
    return (type(value) is int or type(value) is float) and value >= 0


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 1


def _is_flag(value: object) -> bool:
    return type(value) is bool


def _is_finish(value: object) -> bool:
    return type(value) is str and value in set(FinishKind)


_FIELDS: Final = {
    "when": (_is_text, "a string, a regular expression"),
    "chunks": (_is_texts, "a list of strings"),
    "delay_s": (_is_duration, "a number of seconds, 0 or more"),
    "repeat": (_is_count, "a whole number, 1 or more"),
    "reasoning": (_is_texts, "a list of strings"),
    "tool_calls": (_is_objects, "a list of objects"),
    "finish": (_is_finish, "one of " + ", ".join(FinishKind)),
    "error": (_is_text, "a string"),
    "hang": (_is_flag, "true or false"),
}
