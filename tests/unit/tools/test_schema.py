"""The checker of schemas: what each keyword demands, and that a check always ends."""

import sys
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import CallerError, InvalidContentError
from runtime.session.content import freeze_json
from runtime.tools.keywords import KEYWORDS
from runtime.tools.schema import SchemaChecker

from .scene import JSON

# Alike in everything but what counts: numbers that are equal, and values that are no numbers.
SCALARS = st.sampled_from([None, True, False, 0, 1, 1.0, 2, 2.5, -1, 6, "", "a", "ab", "é", "b1"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "c1"]), inner, max_size=3)
    ),
    max_leaves=6,
)
NAMES = st.sampled_from(["a", "b", "c1"])
COUNTS = st.integers(0, 3)
NUMBERS = st.sampled_from([-1, 0, 1, 1.5, 2, 3])
TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])
PATTERNS = st.sampled_from(["a", "^a", "[0-9]$", "^$"])


def schemas_of(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw schemas that consist of others; one of every keyword that is supported."""
    several = st.lists(inner, min_size=1, max_size=2)
    keywords = {
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=2, unique=True),
        "enum": st.lists(VALUES, min_size=1, max_size=3),
        "const": VALUES,
        "$ref": st.just("#/$defs/leaf"),
        **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), several),
        **dict.fromkeys(("not", "if", "then", "else"), inner),
        **dict.fromkeys(("items", "additionalProperties", "propertyNames"), inner),
        **dict.fromkeys(("properties", "definitions"), st.dictionaries(NAMES, inner, max_size=2)),
        "patternProperties": st.dictionaries(PATTERNS, inner, max_size=2),
        "required": st.lists(NAMES, unique=True, max_size=2),
        **dict.fromkeys(("minProperties", "maxProperties"), COUNTS),
        **dict.fromkeys(("minItems", "maxItems", "minLength", "maxLength"), COUNTS),
        "uniqueItems": st.booleans(),
        **dict.fromkeys(("minimum", "maximum"), NUMBERS),
        **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), NUMBERS),
        "multipleOf": st.sampled_from([1, 2, 3, 0.5]),
        "pattern": PATTERNS,
    }
    assert keywords.keys() | {"$defs"} == KEYWORDS.keys()
    drawn = st.lists(st.sampled_from(sorted(keywords)), max_size=3, unique=True)
    return drawn.flatmap(
        lambda names: st.fixed_dictionaries({name: keywords[name] for name in names})
    )


SCHEMAS = st.recursive(st.booleans() | schemas_of(st.booleans()), schemas_of, max_leaves=5)
LEAVES = st.booleans() | st.builds(lambda name: {"type": name}, TYPES)


def checked(schema: Any, value: object, **defs: Any) -> tuple[str, ...]:  # noqa: ANN401  # any JSON
    """Hold a value against a schema, as the property of an object."""
    parameters = {"properties": {"value": schema}, "$defs": defs}
    checker = SchemaChecker(freeze_json(parameters, what="parameters"))
    return checker.violations(freeze_json({"value": value}, what="arguments"))


def fits(schema: Any, value: object, **defs: Any) -> bool:  # noqa: ANN401  # any JSON
    """Ask the library."""
    whole = {"properties": {"value": schema}, "$defs": defs}
    return jsonschema.Draft202012Validator(whole).is_valid({"value": value})


@pytest.mark.clause("K-09")
@given(schema=SCHEMAS, value=VALUES, leaf=LEAVES)
def test_the_checker_agrees_with_the_library(schema: Any, value: object, leaf: object) -> None:  # noqa: ANN401  # any JSON
    """On every keyword that is supported, alone and with others, about every kind of value."""
    assert (checked(schema, value, leaf=leaf) == ()) is fits(schema, value, leaf=leaf)


@pytest.mark.clause("K-20")
@given(schema=st.dictionaries(st.sampled_from(sorted(KEYWORDS)), JSON, max_size=2))
def test_any_schema_is_refused_or_can_be_used(schema: dict[str, Any]) -> None:
    """A refusal is the caller's error, and what the library refuses is refused."""
    try:
        checked(schema, {"a": [1, "a"]})
    except CallerError:
        return
    jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.clause("K-09")
@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"enum": [1]}, 1.0, True),
        ({"const": [0, {"a": False}]}, [0.0, {"a": False}], [False, {"a": 0}]),
        ({"const": {"a": [1]}}, {"a": [1.0]}, {"a": [2]}),
        ({"uniqueItems": False, "minItems": 2}, [1, 1], [1]),
        ({"uniqueItems": True}, [1, True, "1", [1], [True]], [[1], [1.0]]),
        ({"type": "integer"}, 3.0, 3.5),
        ({"type": ["string", "null"]}, None, False),
        ({"multipleOf": 0.1}, 0.3, 0.35),
        ({"multipleOf": 1e-300}, 2**53 - 1, 5e-324),
        ({"minLength": 2}, "\U0001f600b", "\U0001f600"),
        ({"minLength": 3, "minimum": 3, "minItems": 3}, {}, "aa"),
        ({"exclusiveMinimum": 1}, 1.5, 1),
        ({"exclusiveMaximum": 1}, 0, 1.0),
        ({"pattern": "b"}, "abc", "ac"),
        ({"anyOf": [{"type": "null"}, {"const": "a"}]}, "a", "b"),
        ({"oneOf": [{"minimum": 1}, {"type": "integer"}]}, 1.5, 2),
        ({"not": {"type": "string"}}, 1, "a"),
        ({"if": {"type": "string"}, "then": {"maxLength": 1}}, 5, "ab"),
        ({"if": {"type": "string"}, "else": False}, "ab", 5),
        ({"prefixItems": [{"type": "string"}], "items": {"type": "null"}}, ["a", None], ["a", 1]),
        ({"prefixItems": [{}, {"type": "null"}, {}]}, ["a"], ["a", 1]),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"a": 1}, {"b": 1}),
        ({"patternProperties": {"^x": {}}, "additionalProperties": False}, {"xa": 1}, {"a": 1}),
        ({"patternProperties": {"^x": {"type": "null"}}}, {"a": 1, "xa": None}, {"xa": 1}),
        ({"propertyNames": {"maxLength": 1}}, {"a": 1}, {"ab": 1}),
        ({"required": ["a"]}, {"a": None}, {"b": 1}),
        (True, "anything", None),
        (False, None, "anything"),
    ],
    ids=str,
)
def test_a_keyword_demands_what_the_standard_says(
    schema: object, right: object, wrong: object
) -> None:
    """What is accepted, and what is not; a keyword has nothing to say about other kinds."""
    assert checked(schema, right) == () or schema is False
    assert checked(schema, wrong) != () or schema is True


@pytest.mark.clause("K-09")
def test_references_are_followed() -> None:
    """Also in a circle, as long as the value ends."""
    tree = {"properties": {"inner": {"$ref": "#/$defs/tree"}, "leaf": {"type": "string"}}}
    assert checked({"$ref": "#/$defs/tree"}, {"inner": {"inner": {"leaf": "a"}}}, tree=tree) == ()
    assert checked({"$ref": "#/$defs/tree"}, {"inner": {"inner": {"leaf": 1}}}, tree=tree) == (
        "arguments.value.inner.inner.leaf: must be of type string, not number",
    )


@pytest.mark.clause("K-09")
@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"$ref": "#/$defs/self"}, "too many levels are inside one another"),
        ({"not": {"$ref": "#/$defs/twice"}}, "it would take too long"),
    ],
    ids=["circle", "explosion"],
)
def test_a_check_that_would_not_end_is_a_violation(schema: object, why: str) -> None:
    """The model is told that its arguments could not be checked, and the loop goes on."""
    itself = {"$ref": "#/$defs/self"}
    twice = {"items": {"oneOf": [{"$ref": "#/$defs/twice"}] * 4}}
    nested: list[Any] = []
    for _ in range(20):
        nested = [nested]
    found = checked(schema, nested, self=itself, twice=twice)
    assert found == (f"arguments could not be checked: {why}",)


@pytest.mark.clause("K-09")
def test_what_was_found_before_a_check_was_given_up_is_told() -> None:
    """A violation is worth something even if the check could not be finished."""
    first, last = checked({"minimum": 3, "$ref": "#/$defs/self"}, 1, self={"$ref": "#/$defs/self"})
    assert first == "arguments.value: must be at least 3"
    assert last == "arguments could not be checked: too many levels are inside one another"


def _deeper(frames: int, call: Any) -> Any:  # noqa: ANN401  # a function and its result
    return call() if frames == 0 else _deeper(frames - 1, call)


@pytest.mark.clause("K-09")
@pytest.mark.parametrize("keyword", ["not", "if", "anyOf", "properties"])
def test_nested_arguments_break_no_check(keyword: str) -> None:
    """From however deep in the stack: an exhausted stack is contained like anything else.

    The library fails here with an error that is no `Exception`.
    """
    inner: Any = {"properties": {"a": {"$ref": "#/$defs/tree"}}}
    tree = {"anyOf": [inner]} if keyword == "anyOf" else {keyword: inner}
    tree = inner if keyword == "properties" else tree
    value: Any = {}
    for _ in range(240):
        value = {"a": value}
    parameters = freeze_json(
        {"properties": {"a": {"$ref": "#/$defs/tree"}}, "$defs": {"tree": tree}}, what="parameters"
    )
    arguments, checker = freeze_json(value, what="arguments"), SchemaChecker(parameters)
    told = "arguments could not be checked: too many levels are inside one another"
    assert checker.violations(arguments) == (told,)
    for frames in range(sys.getrecursionlimit() - 400, sys.getrecursionlimit() - 150, 7):
        (only,) = _deeper(frames, lambda: checker.violations(arguments))
        assert only.startswith("arguments could not be checked: ")


@pytest.mark.clause("K-20")
def test_a_schema_of_any_depth_is_read() -> None:
    """Reading it needs no stack of Python's."""
    schema: Any = {"type": "string"}
    for _ in range(120):
        schema = {"not": schema}
    assert checked({}, 1, deep=schema) == ()
    with pytest.raises(InvalidContentError, match=r"not\.not\.type must be the name of a type"):
        checked({}, 1, deep={"not": {"not": {"type": "strnig"}}})
