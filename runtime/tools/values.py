"""A tool, and one use of it."""

import re
from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, Final

from attrs import Attribute, field, frozen

from runtime.errors import CallerError
from runtime.model import AbortSignalLike
from runtime.session.content import FrozenObject, freeze_json
from runtime.session.log import Session

if TYPE_CHECKING:
    from .schema import SchemaChecker

__all__ = ["Tool", "ToolUse"]

# What every provider of models takes as the name of a tool.
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_QUOTED_CHARACTERS_MAX: Final = 100


@frozen(kw_only=True)
class ToolUse:
    """One call of a tool, as its body sees it."""

    agent: Any
    """The bare `Agent` whose turn it is."""
    session: Session
    turn: int
    step: int
    call_id: str
    name: str
    arguments: Any
    """The parsed arguments, frozen; the raw string if that is not JSON (raw tools only)."""
    raw_arguments: str
    """The arguments as the model wrote them, and as they are recorded."""
    signal: AbortSignalLike
    """Fires when the turn is stopped; a body that heeds it ends in time."""


def _checked_name(name: object) -> str:
    if type(name) is not str or _NAME.fullmatch(name) is None:
        raise CallerError(
            f"tool {_quoted(name)} refused: a name consists of 1 to 64 letters, digits, _ and -"
        )
    return name


def _checked_description(text: object) -> str:
    if type(text) is not str:
        raise CallerError(f"a tool's description must be a string, not {type(text).__name__}")
    return text


def _checked_parameters(schema: object) -> FrozenObject:
    frozen_schema = freeze_json(schema, what="parameters")
    if type(frozen_schema) is not FrozenObject:
        raise CallerError(
            f"a tool's parameters must be an object, a JSON Schema, not {type(schema).__name__}"
        )
    return frozen_schema


def _is_flag(tool: "Tool", attribute: "Attribute[bool]", value: object) -> None:
    if type(value) is not bool:
        raise _refused(tool, f"{attribute.name} must be True or False, not {_quoted(value)}")


def _is_body(tool: "Tool", _attribute: object, value: Any) -> None:  # noqa: ANN401  # checked here
    if not callable(value):
        raise _refused(tool, f"execute must be a function, not {_quoted(value)}")


def _is_presenter(tool: "Tool", _attribute: object, value: Any) -> None:  # noqa: ANN401  # checked here
    # Whoever shows a call to people does not wait.
    if value is not None and (not callable(value) or iscoroutinefunction(value)):
        raise _refused(tool, f"present must be a plain function or None, not {_quoted(value)}")


@frozen(kw_only=True, eq=False)
class Tool:
    """Something that a model may call.

    Raises:
        CallerError: a field is not what it has to be; the message names the tool and says why.

    Clauses: K-02 K-20
    """

    name: str = field(converter=_checked_name)
    """What the model calls it: 1 to 64 letters, digits, `_` and `-`."""
    description: str = field(converter=_checked_description)
    """What it does, for the model."""
    parameters: FrozenObject = field(converter=_checked_parameters, repr=False)
    """The JSON Schema of its arguments, an object; given as plain JSON, kept frozen."""
    execute: Callable[[Any, ToolUse], object] = field(validator=_is_body, repr=False)
    """The body: is given the parsed arguments and the use; its result is awaited if it can be."""
    cooperative: bool = field(default=False, validator=_is_flag)
    """Whether a cancellation passes through the body at once; claim it only where a test proves it.

    A body that swallows its cancellation would hold up the whole agent.
    """
    is_raw: bool = field(default=False, validator=_is_flag)
    """Whether the body checks its arguments itself: they, and the schema, are passed on unchecked.

    Clauses: K-11
    """
    present: Callable[[Any, FrozenObject | None], object] | None = field(
        default=None, validator=_is_presenter, repr=False
    )
    """Shows a call to people: is given the arguments and, behind the result, its `meta`.

    Returns a JSON object, or None for nothing to show; see `ToolRegistry.presentation`. A `title`
    heads the call; a `plan`, a list of objects with a `content` and perhaps a `status` (`pending`,
    `in_progress`, `completed`) and a `priority` (`high`, `medium`, `low`), is what is to be done.

    Clauses: K-10 K-12
    """
    schema: FrozenObject = field(init=False, repr=False)
    """What a model is told: exactly name, description and parameters."""
    checker: "SchemaChecker | None" = field(init=False, repr=False)
    """Checks arguments; None for a raw tool."""

    @schema.default
    def _what_a_model_is_told(self) -> FrozenObject:
        told = {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }
        frozen_told: FrozenObject = freeze_json(told, what=f"tool {self.name!r}")
        return frozen_told

    @checker.default
    def _check_of_the_schema(self) -> "SchemaChecker | None":
        if self.is_raw:
            return None
        from .schema import SchemaChecker  # noqa: PLC0415  # slow to import, and not for raw tools

        try:
            return SchemaChecker(self.parameters)
        except CallerError as error:
            raise _refused(self, str(error)) from error


def _refused(tool: Tool, why: str) -> CallerError:
    return CallerError(f"tool {tool.name!r} refused: {why}")


def _quoted(value: object) -> str:
    return repr(value)[:_QUOTED_CHARACTERS_MAX] if type(value) is str else type(value).__name__
