"""The keywords of JSON Schema that tools may use, one row each.

A row says which form the value of the keyword has, which kind of value the keyword is about, and
what it demands. A keyword without a demand is looked at by another one.
"""

import json
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from operator import ge, gt, le, lt
from typing import Any, Final, TypeAlias

from attrs import frozen

from runtime.containment import attempt

__all__ = [
    "KEYWORDS",
    "NAMED_SCHEMAS",
    "PATTERN_SCHEMAS",
    "REFERENCE",
    "SCHEMA",
    "SCHEMAS",
    "Form",
    "Keyword",
    "Place",
    "kind_of",
    "step_to",
]


@frozen
class Place:
    """A value, and the schema that it is held against."""

    check: Callable[[Any, Any, str, int], Iterator[str]]
    """Holds a value against a schema: schema, value, path and depth."""
    targets: dict[str, Any]
    """What references lead to."""
    schema: dict[str, Any]
    value: Any
    path: str
    depth: int

    def inside(self, schema: object, key: Any) -> Iterator[str]:  # noqa: ANN401  # name or index
        """Hold one item or property against a schema."""
        return self.check(schema, self.value[key], self.path + step_to(key), self.depth + 1)

    def again(self, schema: object) -> Iterator[str]:
        """Hold the value against another schema."""
        return self.check(schema, self.value, self.path, self.depth + 1)

    def fits(self, schema: object) -> bool:
        """Return whether another schema has nothing against the value."""
        return next(self.again(schema), None) is None

    def unless(self, is_right: bool, demand: str) -> Iterator[str]:  # noqa: FBT001  # reads as a sentence
        """Yield the demand, unless it is met."""
        if not is_right:
            yield f"{self.path}: {demand}"


Setting: TypeAlias = Any
"""The value of a keyword, whose form was checked."""

Rule: TypeAlias = Callable[[Setting, Place], Iterator[str]]


@frozen
class Keyword:
    """One keyword: the form of its value, the kind of value it is about, and its demand."""

    form: "Form"
    kind: str | None = None
    """The only kind of value it is about, or None for all."""
    rule: Rule | None = None


def step_to(key: object) -> str:
    """Return the last step of the path to an item or a property."""
    if type(key) is int:
        return f"[{key}]"
    return f".{key}" if str(key).isidentifier() else f"[{key!a}]"


# ------------------------------------------------------------------------------------------- kinds

_KINDS: Final[tuple[tuple[Any, str], ...]] = (
    (bool, "boolean"),
    (str, "string"),
    ((int, float), "number"),
    (dict, "object"),
    ((list, tuple), "array"),
    (type(None), "null"),
)


def kind_of(value: object) -> str:
    """Return what JSON calls a value; an integer is a number."""
    known = (kind for classes, kind in _KINDS if isinstance(value, classes))
    return next(known, type(value).__name__)


def _is_of(value: Any, name: str) -> bool:  # noqa: ANN401  # any JSON
    kind = kind_of(value)
    return value == value // 1 if name == "integer" and kind == "number" else kind == name


def _identity(value: Any) -> object:  # noqa: ANN401  # any JSON
    """Return something that is equal exactly for equal JSON: 1 is 1.0, and is not true."""
    if isinstance(value, dict):
        return frozenset((name, _identity(item)) for name, item in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_identity, value))
    return (bool, value) if isinstance(value, bool) else value


# ------------------------------------------------------------------------------------------- forms


@frozen(eq=False)
class Form:
    """What the value of a keyword has to be."""

    says: str
    holds: Callable[[Any], bool]


def _is_schema(value: object) -> bool:
    return isinstance(value, bool | dict)


def _is_pattern(value: object) -> bool:
    return type(value) is str and attempt(re.compile, value) is None


def _is_number(value: object) -> bool:
    return type(value) in (int, float)


def _are_names(value: object) -> bool:
    return isinstance(value, tuple) and all(type(each) is str for each in value)


_TYPES: Final = {*(kind for _, kind in _KINDS), "integer"}

SCHEMA: Final = Form("a schema: an object, true or false", _is_schema)
SCHEMAS: Final = Form(
    "a list of schemas that is not empty",
    lambda value: isinstance(value, tuple) and value != () and all(map(_is_schema, value)),
)
NAMED_SCHEMAS: Final = Form(
    "an object of schemas",
    lambda value: isinstance(value, dict) and all(map(_is_schema, value.values())),
)
PATTERN_SCHEMAS: Final = Form(
    "an object of schemas whose names are regular expressions",
    lambda value: NAMED_SCHEMAS.holds(value) and all(map(_is_pattern, value)),
)
REFERENCE: Final = Form("a reference, a string", lambda value: type(value) is str)
_ANYTHING: Final = Form("anything", lambda _value: True)
_CHOICES: Final = Form("a list", lambda value: isinstance(value, tuple))
_COUNT: Final = Form("a whole number from 0 on", lambda value: type(value) is int and value >= 0)
_FLAG: Final = Form("true or false", lambda value: type(value) is bool)
_NAMES: Final = Form("a list of strings", _are_names)
_NUMBER: Final = Form("a number", _is_number)
_PATTERN: Final = Form("a regular expression", _is_pattern)
_POSITIVE: Final = Form("a number above 0", lambda value: _is_number(value) and value > 0)
_TYPE: Final = Form(
    "the name of a type, or a list of them",
    lambda value: (
        value in _TYPES
        if type(value) is str
        else _are_names(value) and value != () and _TYPES.issuperset(value)
    ),
)


# ------------------------------------------------------------------------------------------- rules


def _type(names: Setting, here: Place) -> Iterator[str]:
    wanted = (names,) if type(names) is str else names
    is_right = any(_is_of(here.value, name) for name in wanted)
    return here.unless(
        is_right, f"must be of type {' or '.join(wanted)}, not {kind_of(here.value)}"
    )


def _enum(choices: Setting, here: Place) -> Iterator[str]:
    is_right = _identity(here.value) in {_identity(choice) for choice in choices}
    return here.unless(is_right, f"must be one of {', '.join(map(_told, choices))}")


def _const(choice: Setting, here: Place) -> Iterator[str]:
    is_right = _identity(here.value) == _identity(choice)
    return here.unless(is_right, f"must be {_told(choice)}")


def _ref(reference: Setting, here: Place) -> Iterator[str]:
    return here.again(here.targets[reference])


def _all_of(schemas: Setting, here: Place) -> Iterator[str]:
    for schema in schemas:
        yield from here.again(schema)


def _any_of(schemas: Setting, here: Place) -> Iterator[str]:
    return here.unless(any(map(here.fits, schemas)), "fits none of the alternatives")


def _one_of(schemas: Setting, here: Place) -> Iterator[str]:
    count = sum(map(here.fits, schemas))
    return here.unless(count == 1, f"must fit exactly one of the alternatives, not {count}")


def _not(schema: Setting, here: Place) -> Iterator[str]:
    return here.unless(not here.fits(schema), "is what it must not be")


def _if(schema: Setting, here: Place) -> Iterator[str]:
    return here.again(here.schema.get("then" if here.fits(schema) else "else", True))


def _required(names: Setting, here: Place) -> Iterator[str]:
    for name in names:
        yield from here.unless(name in here.value, f"needs the property {_told(name)}")


def _properties(schemas: Setting, here: Place) -> Iterator[str]:
    for name, schema in schemas.items():
        if name in here.value:
            yield from here.inside(schema, name)


def _pattern_properties(schemas: Setting, here: Place) -> Iterator[str]:
    for pattern, schema in schemas.items():
        for name in here.value:
            if re.search(pattern, name):
                yield from here.inside(schema, name)


def _additional_properties(schema: Setting, here: Place) -> Iterator[str]:
    named = here.schema.get("properties", {})
    patterns = here.schema.get("patternProperties", {})
    for name in here.value:
        if name not in named and not any(re.search(pattern, name) for pattern in patterns):
            yield from here.inside(schema, name)


def _property_names(schema: Setting, here: Place) -> Iterator[str]:
    for name in here.value:
        yield from here.check(schema, name, f"{here.path}: name {_told(name)}", here.depth + 1)


def _items(schema: Setting, here: Place) -> Iterator[str]:
    for index in range(len(here.schema.get("prefixItems", ())), len(here.value)):
        yield from here.inside(schema, index)


def _prefix_items(schemas: Setting, here: Place) -> Iterator[str]:
    for index, schema in enumerate(schemas[: len(here.value)]):
        yield from here.inside(schema, index)


def _unique_items(is_wanted: Setting, here: Place) -> Iterator[str]:
    is_right = not is_wanted or len(set(map(_identity, here.value))) == len(here.value)
    return here.unless(is_right, "must not hold one item twice")


def _multiple_of(number: Setting, here: Place) -> Iterator[str]:
    # By their decimals: 0.3 is a multiple of 0.1, although no float is exactly either.
    is_right = Fraction(str(here.value)) % Fraction(str(number)) == 0
    return here.unless(is_right, f"must be a multiple of {number}")


def _pattern(pattern: Setting, here: Place) -> Iterator[str]:
    return here.unless(bool(re.search(pattern, here.value)), f"must match {pattern}")


def _bound(is_right: Callable[[Any, Any], bool], what: str, size: Callable[[Any], Any]) -> Rule:
    def rule(bound: Setting, here: Place) -> Iterator[str]:
        return here.unless(is_right(size(here.value), bound), f"must {what} {bound}")

    return rule


def _itself(value: Setting) -> Setting:
    return value


def _told(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


KEYWORDS: Final[dict[str, Keyword]] = {
    "type": Keyword(_TYPE, None, _type),
    "enum": Keyword(_CHOICES, None, _enum),
    "const": Keyword(_ANYTHING, None, _const),
    "$ref": Keyword(REFERENCE, None, _ref),
    "$defs": Keyword(NAMED_SCHEMAS),
    "definitions": Keyword(NAMED_SCHEMAS),
    "allOf": Keyword(SCHEMAS, None, _all_of),
    "anyOf": Keyword(SCHEMAS, None, _any_of),
    "oneOf": Keyword(SCHEMAS, None, _one_of),
    "not": Keyword(SCHEMA, None, _not),
    "if": Keyword(SCHEMA, None, _if),
    "then": Keyword(SCHEMA),
    "else": Keyword(SCHEMA),
    "required": Keyword(_NAMES, "object", _required),
    "properties": Keyword(NAMED_SCHEMAS, "object", _properties),
    "patternProperties": Keyword(PATTERN_SCHEMAS, "object", _pattern_properties),
    "additionalProperties": Keyword(SCHEMA, "object", _additional_properties),
    "propertyNames": Keyword(SCHEMA, "object", _property_names),
    "minProperties": Keyword(
        _COUNT, "object", _bound(ge, "have at least this many properties:", len)
    ),
    "maxProperties": Keyword(
        _COUNT, "object", _bound(le, "have at most this many properties:", len)
    ),
    "items": Keyword(SCHEMA, "array", _items),
    "prefixItems": Keyword(SCHEMAS, "array", _prefix_items),
    "minItems": Keyword(_COUNT, "array", _bound(ge, "have at least this many items:", len)),
    "maxItems": Keyword(_COUNT, "array", _bound(le, "have at most this many items:", len)),
    "uniqueItems": Keyword(_FLAG, "array", _unique_items),
    "minimum": Keyword(_NUMBER, "number", _bound(ge, "be at least", _itself)),
    "maximum": Keyword(_NUMBER, "number", _bound(le, "be at most", _itself)),
    "exclusiveMinimum": Keyword(_NUMBER, "number", _bound(gt, "be above", _itself)),
    "exclusiveMaximum": Keyword(_NUMBER, "number", _bound(lt, "be below", _itself)),
    "multipleOf": Keyword(_POSITIVE, "number", _multiple_of),
    "minLength": Keyword(_COUNT, "string", _bound(ge, "have at least this many characters:", len)),
    "maxLength": Keyword(_COUNT, "string", _bound(le, "have at most this many characters:", len)),
    "pattern": Keyword(_PATTERN, "string", _pattern),
}
"""Every keyword that has a meaning here, by its name."""
