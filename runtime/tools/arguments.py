"""Arguments of a call: what the model wrote, read and held against the tool's JSON Schema.

Both are total. What a model writes may be anything, and all that may come of it is an argument that
no body takes, or a list of what is wrong; never an exception. A schema is checked once, when its
tool is made, so that a wrong one is the business of whoever wrote it.

The checking itself is left to `jsonschema`. It is imported when the first tool is made, because it
takes longer to import than the whole runtime. References are looked up inside the schema only.
"""

import json
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from runtime.containment import attempt, render_error
from runtime.errors import InvalidContentError, LimitError
from runtime.limits import Limits
from runtime.session.content import INTEGER_MAX, FrozenObject, freeze_json, thaw

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator
    from referencing import Resource
    from referencing._core import Resolver

    from .values import Tool

__all__ = ["ANY_SIZE", "ArgumentChecker", "parse_arguments", "violations"]

ANY_SIZE: Final = Limits(record_bytes_max=INTEGER_MAX)
"""For what is measured later, or was measured before."""

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_VIOLATIONS_MAX: Final = 20
_VIOLATION_CHARACTERS_MAX: Final = 300


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
    return () if tool.checker is None else tool.checker.violations(arguments)


class ArgumentChecker:
    """A JSON Schema that was found to be one, ready to check arguments.

    Clauses: K-09 K-20
    """

    __slots__ = ("_validator",)

    def __init__(self, schema: FrozenObject) -> None:
        """Check a schema.

        Raises:
            InvalidContentError: it is no JSON Schema, describes no object, or refers to something
                outside itself; the message says where.
        """
        made: list[Validator] = []
        error = attempt(lambda: made.append(_compile(thaw(schema))))
        if error is not None:
            raise InvalidContentError(f"parameters are no usable JSON Schema: {_told(error)}")
        (self._validator,) = made

    def violations(self, arguments: object) -> tuple[str, ...]:
        """Say what is wrong with some arguments; never raises."""
        if not isinstance(arguments, dict):
            return (f"arguments must be a JSON object, not {_kind_of(arguments)}",)
        found: list[str] = []
        error = attempt(lambda: _collect(self._validator.iter_errors(thaw(arguments)), found))
        if error is not None:
            found.append(_clipped(f"arguments could not be checked: {render_error(error)}"))
        return tuple(found)


def _collect(errors: "Iterable[ValidationError]", found: list[str]) -> None:
    for error in islice(errors, _VIOLATIONS_MAX):
        sentence = f"arguments{error.json_path[1:]}: {error.message}"
        found.append(_clipped(sentence))


def _compile(schema: dict[str, Any]) -> "Validator":
    # Not at the top: whoever uses no tools should not wait for it.
    from jsonschema.validators import validator_for  # noqa: PLC0415  # see above
    from referencing import Registry, Resource  # noqa: PLC0415  # see above
    from referencing.jsonschema import DRAFT202012  # noqa: PLC0415  # see above

    schema.setdefault("$schema", _DIALECT)
    nothing: Any = None
    dialect: type[Validator] | None = validator_for(schema, default=nothing)
    if dialect is None:
        raise InvalidContentError(f"$schema names a dialect that is not known, use {_DIALECT}")
    dialect.check_schema(schema)
    if schema.get("type", "object") != "object":
        raise InvalidContentError("its type must be object, because arguments are one")
    # This registry is empty and cannot fetch; the one that is used by default can.
    registry: Registry[Any] = Registry()
    root = Resource.from_contents(schema, default_specification=DRAFT202012)
    _check_references(root, registry.resolver_with_root(root))
    return dialect(schema, registry=registry)


def _check_references(root: "Resource[Any]", resolver: "Resolver[Any]") -> None:
    pending = [(root, resolver)]
    while pending:
        resource, resolver = pending.pop()
        contents = resource.contents if isinstance(resource.contents, dict) else {}
        for reference in (contents.get("$ref"), contents.get("$dynamicRef")):
            if reference is not None and attempt(resolver.lookup, reference) is not None:
                raise InvalidContentError(f"the reference {reference!r} leads to nothing inside it")
        inner = resource.subresources()
        pending.extend((each, resolver.in_subresource(each)) for each in inner)


def _told(error: Exception) -> str:
    if isinstance(error, InvalidContentError):
        return str(error)
    message, path = getattr(error, "message", None), getattr(error, "json_path", None)
    if type(message) is str and type(path) is str:
        return _clipped(f"parameters{path[1:]}: {message}")
    return _clipped(render_error(error))


def _clipped(text: str) -> str:
    return (
        text if len(text) <= _VIOLATION_CHARACTERS_MAX else f"{text[:_VIOLATION_CHARACTERS_MAX]}..."
    )


def _kind_of(arguments: object) -> str:
    return "text that is no JSON object" if type(arguments) is str else type(arguments).__name__


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) < len(pairs):
        raise ValueError("a name is given twice")
    return built


_NO_ARGUMENTS: Final[FrozenObject] = freeze_json({}, what="arguments")
