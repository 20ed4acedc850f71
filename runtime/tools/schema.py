"""JSON Schema, as far as tools use it: whether a schema is one, and what is wrong with a value.

The library `jsonschema` holds values against schemas. It follows references without a bound, and
arguments are a model's own choice, so a schema that refers to itself would let a model decide how
deep it recurses. Such a schema is refused when the tool is made; with any other the recursion ends
where the schema ends, whose levels are counted along its references. The stack that they need is
tried first: the library has a native part, which need not answer an exhausted stack with an
`Exception`. The work of a check is counted, too, and nothing is ever fetched.

A `pattern` runs as it was written: which expressions a tool holds a model's text against, and how
long they take, is the tool's own business.

The library is slow to import, so whoever needs this module imports it when the need is there.
"""

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from itertools import islice
from typing import Any, Final

from jsonschema import Draft202012Validator, ValidationError, validators
from jsonschema.exceptions import best_match
from jsonschema.protocols import Validator
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from runtime.containment import attempt, render_error
from runtime.errors import InvalidContentError, LimitError
from runtime.session.content import FrozenObject, thaw

__all__ = ["SchemaChecker"]

_VIOLATIONS_MAX: Final = 20
_VIOLATION_CHARACTERS_MAX: Final = 300
_ARGUMENT_LEVELS_MAX: Final = 100
_KEYWORDS_MAX: Final = 50_000
# Lists and objects in a schema. One costs up to 8 frames while the schema itself is checked.
_JSON_LEVELS_MAX: Final = 60
# Schemas in a schema, each counted again wherever a reference leads to it. One inside another
# costs up to 4 frames while arguments are checked.
_SCHEMA_LEVELS_MAX: Final = 40
_SCHEMAS_MAX: Final = 2_000
_SPARE_FRAMES: Final = 50

# What leads where only the library sees, what doubles its work at every level, and what it ignores
# although authors mean it.
_UNSUPPORTED: Final = frozenset(
    {
        "$dynamicRef",
        "$recursiveRef",
        "additionalItems",
        "dependencies",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)


class SchemaChecker:
    """A JSON Schema that was found to be one, ready to check values.

    Clauses: K-09 K-20
    """

    __slots__ = ("_validator",)

    def __init__(self, schema: FrozenObject) -> None:
        """Check a schema of arguments.

        Raises:
            InvalidContentError: it is no JSON Schema of an object, has a keyword that is not
                supported or a reference that leads away or in a circle, or is too deep or large.
        """
        if schema.get("type", "object") != "object":
            raise InvalidContentError("parameters.type must be object, because arguments are one")
        error = attempt(self._prepare, schema)
        if isinstance(error, InvalidContentError):
            raise error
        if error is not None:
            why = render_error(error)
            raise InvalidContentError(f"parameters could not be checked: {why}") from error

    def _prepare(self, schema: FrozenObject) -> None:
        if _is_deeper(schema, _JSON_LEVELS_MAX):
            raise _refusal(f"are nested deeper than {_JSON_LEVELS_MAX} levels")
        _try_stack(8 * _JSON_LEVELS_MAX + _SPARE_FRAMES)
        plain = thaw(schema)
        error = best_match(_OF_SCHEMAS.iter_errors(plain))
        if error is not None:
            raise InvalidContentError(_told("parameters", error))
        _Walk(plain)
        # The registry that the library has by default fetches what it does not know.
        self._validator = _Bounded(plain, registry=Registry())

    def violations(self, arguments: object) -> tuple[str, ...]:
        """Say what is wrong with some arguments, the first things if there are many."""
        if _is_deeper(arguments, _ARGUMENT_LEVELS_MAX):
            return (f"arguments: must not be nested deeper than {_ARGUMENT_LEVELS_MAX} levels",)
        found: list[str] = []
        error = attempt(self._collect, arguments, found)
        if error is not None:
            found.append(f"arguments could not be checked: {render_error(error)}")
        return tuple(found)

    def _collect(self, arguments: object, found: list[str]) -> None:
        _try_stack(4 * _SCHEMA_LEVELS_MAX + _SPARE_FRAMES)
        _work.set(iter(range(_KEYWORDS_MAX)))
        for each in islice(self._validator.iter_errors(thaw(arguments)), _VIOLATIONS_MAX):
            found.append(_told("arguments", each))  # noqa: PERF401  # what was found stays found


def _told(what: str, error: ValidationError) -> str:
    told = f"{what}{error.json_path[1:]}: {error.message}"
    if len(told) <= _VIOLATION_CHARACTERS_MAX:
        return told
    # A sentence begins with the place and ends with what is wrong; between them are values.
    half = _VIOLATION_CHARACTERS_MAX // 2
    return f"{told[:half]} ... {told[-half:]}"


def _refusal(why: str) -> InvalidContentError:
    return InvalidContentError(
        f"parameters {why}; change them, or make the tool a raw one (is_raw=True), whose body "
        "checks its arguments"
    )


class _Walk:
    """A walk through a schema and along its references, which has to end soon."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._count = 0
        schemas: list[Any] = [schema]
        for each in schemas:
            schemas.extend(DRAFT202012.subresources_of(each))
        self._known = set(map(id, schemas))
        root = DRAFT202012.create_resource(schema)
        self._follow(schema, Registry().resolver_with_root(root), ())

    def _follow(self, schema: Any, resolver: Any, around: tuple[int, ...]) -> None:  # noqa: ANN401  # any JSON
        if isinstance(schema, bool):
            return
        self._count += 1
        if id(schema) in around:
            raise _refusal("refer to themselves in a circle")
        if self._count > _SCHEMAS_MAX or len(around) == _SCHEMA_LEVELS_MAX:
            raise _refusal(
                f"hold more than {_SCHEMAS_MAX} schemas, or more than {_SCHEMA_LEVELS_MAX} inside "
                "one another, counting those that they refer to"
            )
        # Where the library meets a `$schema` on its way, it changes to another draft.
        for name in schema.keys() & (_UNSUPPORTED | {"$schema"} if around else _UNSUPPORTED):
            raise _refusal(f"use the keyword {name}, which is not supported there")
        around = (*around, id(schema))
        resolver = resolver.in_subresource(DRAFT202012.create_resource(schema))
        for each in DRAFT202012.subresources_of(schema):
            self._follow(each, resolver, around)
        if "$ref" in schema:
            found = self._found(schema["$ref"], resolver)
            self._follow(found.contents, found.resolver, around)

    def _found(self, reference: str, resolver: Any) -> Any:  # noqa: ANN401  # the library's own
        try:
            found = resolver.lookup(reference)
        except (Unresolvable, ValueError):
            found = None
        if found is None or id(found.contents) not in self._known:
            raise _refusal(f"refer to {reference[:100]!r}, which is no schema in here")
        return found


# ------------------------------------------------------------------------------- what has an end

_work: ContextVar[Iterator[int]] = ContextVar("work")
"""What is left of the keywords that the check in hand may look at."""


def _counted(rule: Callable[..., Any]) -> Callable[..., Any]:
    def counted(*place: object) -> object:
        if next(_work.get(), None) is None:
            raise LimitError("it would take too long")
        return rule(*place)

    return counted


def _unique_items(validator: Any, wanted: bool, value: Any, _: object) -> Iterator[ValidationError]:  # noqa: ANN401, FBT001  # the library's form
    """Stand in for the library's rule, which compares every item with every other."""
    if wanted and validator.is_type(value, "array") and len(set(map(_key, value))) < len(value):
        yield ValidationError(f"{value!r} has non-unique elements")


def _key(value: Any) -> object:  # noqa: ANN401  # any JSON
    """Return something that is equal exactly for equal JSON: 1 is 1.0, and is not true."""
    if isinstance(value, dict):
        return frozenset((name, _key(item)) for name, item in value.items())
    if isinstance(value, list):
        return tuple(map(_key, value))
    return (bool, value) if isinstance(value, bool) else value


def _is_deeper(value: object, levels: int) -> bool:
    inside = [value]
    for _ in range(levels):
        inside = [
            item
            for each in inside
            if isinstance(each, dict | list | tuple)
            for item in (each.values() if isinstance(each, dict) else each)
        ]
    return any(isinstance(each, dict | list | tuple) for each in inside)


def _try_stack(frames: int) -> None:
    if frames:
        _try_stack(frames - 1)


_OF_SCHEMAS: Final = Draft202012Validator(
    Draft202012Validator.META_SCHEMA, format_checker=Draft202012Validator.FORMAT_CHECKER
)
_RULES: Final = {**Draft202012Validator.VALIDATORS, "uniqueItems": _unique_items}
_Bounded: type[Validator] = validators.extend(  # type: ignore[no-untyped-call]  # no types in its stubs
    Draft202012Validator, {name: _counted(rule) for name, rule in _RULES.items()}
)
