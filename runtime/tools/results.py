"""What comes back from a call of a tool.

A body is foreign code: it may return anything, and raise anything. Whatever it does becomes a
result that can be recorded, because every call needs an answer.
"""

import re
from collections.abc import Iterable
from typing import Any, Final, Self, final

from attrs import Attribute, field, frozen

from runtime.containment import attempt, render_error
from runtime.errors import CallerError, InvalidContentError, LifecycleError
from runtime.limits import ANY_SIZE, DEFAULT_LIMITS, Limits
from runtime.session.content import Block, FrozenList, FrozenObject, check_blocks, freeze_json
from runtime.session.records import check_fits

__all__ = [
    "ToolErrorInfo",
    "ToolResult",
    "failed_result",
    "invalid_arguments_result",
    "unknown_tool_result",
]


def _is_word(info: object, attribute: "Attribute[str]", value: object) -> None:
    del info
    if type(value) is not str or not value:
        raise InvalidContentError(f"error.{attribute.name} must be a string that is not empty")
    freeze_json(value, what=f"error.{attribute.name}")


@frozen(kw_only=True)
class ToolErrorInfo:
    """What went wrong, for programs; the content of the result says it to the model.

    Clauses: K-04
    """

    name: str = field(validator=_is_word)
    """The kind of error: `UnknownTool`."""
    code: str = field(validator=_is_word)
    """The same for a program: `unknown-tool`."""


def _checked_content(value: object) -> tuple[Block, ...]:
    if value is None:
        value = []
    elif type(value) is str:
        value = [{"type": "text", "text": value}] if value else []
    elif type(value) is tuple:
        value = list(value)
    content = freeze_json(value, what="content", limits=ANY_SIZE)
    if type(content) is not FrozenList:
        raise InvalidContentError(
            f"content must be a string, a list of blocks or None, not {type(value).__name__}"
        )
    check_blocks(content, "content")
    return content


def _checked_meta(value: object) -> FrozenObject | None:
    meta = freeze_json(value, what="meta", limits=ANY_SIZE)
    if meta is not None and type(meta) is not FrozenObject:
        raise InvalidContentError(f"meta must be an object or None, not {type(value).__name__}")
    return meta


def _is_claim(_result: object, attribute: "Attribute[bool]", value: object) -> None:
    if type(value) is not bool:
        raise InvalidContentError(f"{attribute.name} must be True or False")


@final
@frozen(kw_only=True)
class ToolResult:
    """What a call comes back with; nobody can change it, and all of it is frozen JSON.

    Raises:
        InvalidContentError: a field would not survive the log, or is of another kind.

    Clauses: K-08 K-12 K-21
    """

    content: tuple[Block, ...] = field(default=None, converter=_checked_content)
    """What the model is shown; given as a string, a list of blocks, or None for nothing."""
    is_error: bool = field(default=False, validator=_is_claim)
    error: ToolErrorInfo | None = field(default=None)
    """What went wrong, for programs; only of an error, and not of every error."""
    meta: FrozenObject | None = field(default=None, converter=_checked_meta)
    """What the model is not shown; kept in the log for whoever presents the call."""

    @error.validator
    def _is_of_an_error(self, _attribute: object, value: object) -> None:
        if value is not None and (type(value) is not ToolErrorInfo or not self.is_error):
            raise InvalidContentError("error must be a ToolErrorInfo, and is_error be True")

    @classmethod
    def of(cls, value: object, limits: Limits = DEFAULT_LIMITS) -> Self:
        """Make a result of whatever a body returned; never raises.

        A string, a list of blocks and None are content, a result stays what it is. Anything else,
        and what is too large for one record, becomes an error result that says so.

        Clauses: K-21
        """
        found: list[Self] = []
        error = attempt(lambda: found.append(cls._fitting(value, limits)))
        if error is None:
            return found[0]
        why = error if isinstance(error, CallerError) else render_error(error)
        text = _told(f"the tool returned what is no result: {why}")
        return cls(
            content=text, is_error=True, error=ToolErrorInfo(name="BadResult", code="bad-result")
        )

    @classmethod
    def _fitting(cls, value: object, limits: Limits) -> Self:
        result = value if type(value) is cls else cls(content=value)
        # The meta counts, too: it stands in the same record.
        check_fits("the result", limits, result.content, result.meta)
        return result

    def record_data(self) -> dict[str, Any]:
        """Return its fields of a `tool/result`; `error` and `meta` only if there is one.

        Clauses: B-66
        """
        data: dict[str, Any] = {"content": self.content, "is_error": self.is_error}
        if self.error is not None:
            data["error"] = {"name": self.error.name, "code": self.error.code}
        if self.meta is not None:
            data["meta"] = self.meta
        return data


def failed_result(error: BaseException) -> ToolResult:
    """Make a result of what a body or an interceptor raised; never raises.

    An error of the runtime is named, with its code; any other is only text.

    Clauses: K-03 K-04
    """
    found: list[ToolErrorInfo | None] = []
    # The code of an error that somebody derived from ours may be anything.
    attempt(lambda: found.append(_info_of(error)))
    info = found[0] if found else None
    return ToolResult(content=_told(render_error(error)), is_error=True, error=info)


def unknown_tool_result(name: str) -> ToolResult:
    """Make the result of a call of a tool that nobody registered.

    Clauses: K-03 K-04
    """
    info = ToolErrorInfo(name="UnknownTool", code="unknown-tool")
    text = _told(f"no tool is named {name[:_QUOTED_CHARACTERS_MAX]!r}.")
    return ToolResult(content=text, is_error=True, error=info)


def invalid_arguments_result(name: str, found: Iterable[str]) -> ToolResult:
    """Make the result of a call whose arguments are not what the tool takes.

    Clauses: K-04 K-09
    """
    info = ToolErrorInfo(name="InvalidArguments", code="invalid-arguments")
    listed = "".join(f"\n- {violation}" for violation in found)
    text = _told(f"tool {name!r} was not run, because its arguments are wrong:{listed}")
    return ToolResult(content=text, is_error=True, error=info)


def _info_of(error: BaseException) -> ToolErrorInfo | None:
    if not isinstance(error, LifecycleError):
        return None
    name = type(error).__name__
    code = getattr(error, "code", None)
    if type(code) is not str or not code:
        code = _CAPITAL.sub("-", name.removesuffix("Error")).lower()
    return ToolErrorInfo(name=name, code=code)


_QUOTED_CHARACTERS_MAX: Final = 100

# The place in front of a capital letter inside a word.
_CAPITAL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def _told(text: str) -> str:
    return f"Error: {text}"
