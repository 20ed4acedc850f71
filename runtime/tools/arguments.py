"""Arguments of a call: what the model wrote, read and held against the tool's JSON Schema.

Both are total. What a model writes may be anything, and all that may come of it is an argument that
no body takes, or a list of what is wrong; never an exception.
"""

import json
from typing import TYPE_CHECKING, Any, Final

from runtime.errors import LimitError
from runtime.limits import ANY_SIZE
from runtime.session.content import FrozenObject, freeze_json

if TYPE_CHECKING:
    from .values import Tool

__all__ = ["parse_arguments", "violations"]


def parse_arguments(raw: str) -> Any:  # noqa: ANN401  # any JSON
    """Read the arguments that a model wrote; never raises.

    Returns:
        The frozen JSON value; an empty object for an empty string; the string itself if it is not
        JSON that every reader reads alike (a name given twice, a number that JSON does not have or
        that is not exact, half a surrogate pair, nesting without end).

    Clauses: B-64
    """
    if not raw:
        return _NO_ARGUMENTS
    try:
        value = json.loads(raw, object_pairs_hook=_unique)
        return freeze_json(value, what="arguments", limits=ANY_SIZE)
    except (ValueError, RecursionError, LimitError):
        return raw


def violations(tool: "Tool", arguments: object) -> tuple[str, ...]:
    """Say what is wrong with the arguments of a call; nothing is if the tool is a raw one.

    Returns:
        One sentence for each violation, with its place, the first ones if there are many. Names
        that the schema does not mention are allowed if it does not forbid them, and nothing is
        filled in.

    Clauses: K-09 K-11
    """
    if tool.checker is None:
        return ()
    if not isinstance(arguments, dict):
        what = "text that is none" if type(arguments) is str else type(arguments).__name__
        return (f"arguments must be a JSON object, not {what}",)
    return tool.checker.violations(arguments)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) < len(pairs):
        raise ValueError("a name is given twice")
    return built


_NO_ARGUMENTS: Final[FrozenObject] = freeze_json({}, what="arguments")
