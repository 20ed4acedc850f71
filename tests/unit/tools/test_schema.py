"""The checker of schemas: what a keyword demands, what is refused, and that a check always ends."""

import re
import subprocess
import sys
from collections.abc import Iterable
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import CallerError, InvalidContentError
from runtime.session.content import freeze_json
from runtime.tools import schema as checking
from runtime.tools.schema import SchemaChecker

from .scene import JSON, READ

KEYWORDS: Final = (
    *("$defs", "$id", "$ref", "$schema", "additionalProperties", "allOf", "const", "contains"),
    *("dependentRequired", "enum", "if", "items", "minLength", "multipleOf", "not", "pattern"),
    *("patternProperties", "prefixItems", "properties", "required", "then", "type", "uniqueItems"),
)


def checker_of(schema: Any, **defs: Any) -> SchemaChecker:  # noqa: ANN401  # any JSON
    """Make the checker of an object that has a property of this schema."""
    parameters = {"properties": {"value": schema}, "$defs": defs}
    return SchemaChecker(freeze_json(parameters, what="parameters"))


def checked(schema: Any, value: object, **defs: Any) -> tuple[str, ...]:  # noqa: ANN401  # any JSON
    """Hold a value against a schema, as the property of an object."""
    arguments = freeze_json({"value": value}, what="arguments")
    return checker_of(schema, **defs).violations(arguments)


def nested(levels: int, keyword: str, inmost: Any) -> Any:  # noqa: ANN401  # any JSON
    """Put objects of one name around a value."""
    for _ in range(levels):
        inmost = {keyword: inmost}
    return inmost


@pytest.mark.clause("K-20")
@given(schema=st.dictionaries(st.sampled_from(KEYWORDS), JSON, max_size=2))
def test_any_schema_is_refused_or_can_be_used(schema: dict[str, Any]) -> None:
    """A refusal is the caller's error, and what is not refused can check whatever comes."""
    try:
        checker = checker_of(schema)
    except CallerError:
        return
    found = checker.violations(freeze_json({"value": {"a": [1, "a"]}}, what="arguments"))
    assert not any("could not be checked" in each for each in found)


@pytest.mark.clause("K-09")
@given(value=JSON)
def test_a_check_never_raises(value: object) -> None:
    """Whatever a model writes, it is told what is wrong in short sentences."""
    arguments = freeze_json({"path": value, "within": value, "lines": value}, what="arguments")
    found = SchemaChecker(freeze_json(READ, what="parameters")).violations(arguments)
    assert found
    assert all(each.startswith("arguments.") and len(each) < 400 for each in found)


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
        ({"multipleOf": 0.5}, 1.5, 1.25),
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
        ({"contains": {"type": "null"}, "maxContains": 1}, [1, None], [None, None]),
        ({"dependentRequired": {"a": ["b"]}}, {"b": 1}, {"a": 1}),
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
def test_formats_and_defaults_are_only_remarks() -> None:
    """Nothing is filled in, and nothing is held to a format."""
    schema = {"format": "date", "properties": {"a": {"default": 1}}, "contentEncoding": "base64"}
    assert checked(schema, "no date") == ()
    assert checked({**schema, "required": ["a"]}, {}) == (
        "arguments.value: 'a' is a required property",
    )


@pytest.mark.clause("K-09")
@pytest.mark.parametrize(
    "reference",
    ["#/$defs/a%20leaf", "#leaf", "leaf", "#/$defs/twice/anyOf/1"],
    ids=["pointer", "anchor", "id", "inside"],
)
def test_references_are_followed(reference: str) -> None:
    """To wherever a schema stands in the parameters, as often as there are any."""
    leaf = {"$anchor": "leaf", "type": "string"}
    defs = {
        "a leaf": leaf,
        "twice": {"anyOf": [{"$ref": "#/$defs/a leaf"}, {"$ref": "#leaf"}]},
        "its": {"$id": "leaf", "$ref": "#/$defs/own", "$defs": {"own": {"type": "string"}}},
    }
    schema = {"items": {"$ref": reference, "maxLength": 1}}
    assert checked(schema, ["a", "b"], **defs) == ()
    assert checked(schema, ["a", 1], **defs)[0].startswith("arguments.value[1]: 1 is not ")
    assert checked(schema, ["a", "ab"], **defs) == ("arguments.value[1]: 'ab' is too long",)


@pytest.mark.clause("K-20")
@pytest.mark.parametrize("keyword", ["not", "if", "anyOf", "properties", "$ref"])
def test_a_schema_that_refers_to_itself_is_refused(keyword: str) -> None:
    """Nested arguments would decide how deep the check recurses, and could break it."""
    inner: Any = {"properties": {"a": {"$ref": "#/$defs/tree"}}}
    trees: dict[str, Any] = {"anyOf": {"anyOf": [inner]}, "properties": inner}
    trees["$ref"] = {"$ref": "#/$defs/tree"}
    with pytest.raises(InvalidContentError, match=r"refer to themselves in a circle.*is_raw=True"):
        checker_of({"$ref": "#/$defs/tree"}, tree=trees.get(keyword, {keyword: inner}))


@pytest.mark.clause("K-20")
@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (nested(61, "default", {}), "are nested deeper than 60 levels"),
        (nested(41, "not", {}), "more than 40 inside one another"),
        ({"anyOf": [{}] * 2_000}, "more than 2000 schemas"),
        ({"$ref": "#/$defs/a0"}, "more than 2000 schemas"),
    ],
    ids=["values", "levels", "schemas", "references"],
)
def test_a_schema_that_is_too_large_is_refused(schema: object, why: str) -> None:
    """Also if only its references make it so."""
    defs: dict[str, Any] = {
        f"a{level}": {"allOf": [{"$ref": f"#/$defs/a{level + 1}"}] * 2} for level in range(10)
    }
    with pytest.raises(InvalidContentError, match=why):
        checker_of(schema, **defs, a10={})


@pytest.mark.clause("K-20")
@pytest.mark.parametrize(
    "keyword",
    ["$dynamicRef", "$recursiveRef", "unevaluatedItems", "unevaluatedProperties", "$schema"],
)
def test_a_keyword_that_is_not_supported_is_refused(keyword: str) -> None:
    """Wherever it stands, and with the advice to let the body check; elsewhere it is a word."""
    value: object = "#" if keyword.startswith("$") else False
    with pytest.raises(InvalidContentError, match=re.escape(keyword) + r".*is_raw=True"):
        checker_of({"items": {keyword: value}})
    checker_of({"const": {keyword: value}, "properties": {keyword: {}}})


def _deeper(frames: int, call: Any) -> Any:  # noqa: ANN401  # a function and its result
    return call() if frames == 0 else _deeper(frames - 1, call)


def _from_everywhere(call: Any) -> Iterable[Any]:  # noqa: ANN401  # a function and its results
    for frames in range(0, sys.getrecursionlimit() - 150, 7):
        yield _deeper(frames, call)


@pytest.mark.clause("K-09")
@pytest.mark.parametrize("keyword", ["not", "if", "contains", "items"])
def test_the_deepest_schema_breaks_no_check(keyword: str) -> None:
    """From however deep in the stack: an exhausted stack is contained like anything else."""
    checker = checker_of(nested(38, keyword, {"const": 1}))
    value: Any = 1
    for _ in range(90):
        value = [value]
    arguments = freeze_json({"value": value}, what="arguments")
    first = checker.violations(arguments)
    told = "arguments could not be checked: RecursionError"
    results = {
        found[0][: len(told)] if found else ""
        for found in _from_everywhere(lambda: checker.violations(arguments))
    }
    assert results == {first[0][: len(told)] if first else "", told}


@pytest.mark.clause("K-20")
def test_an_exhausted_stack_refuses_a_schema() -> None:
    """With the error of whoever makes the tool there."""
    parameters = freeze_json({"properties": {"a": nested(20, "not", {})}}, what="parameters")

    def refusal() -> str:
        try:
            SchemaChecker(parameters)
        except InvalidContentError as error:
            return str(error).partition(": ")[2][:14]
        return ""

    assert set(_from_everywhere(refusal)) == {"", "RecursionError"}


@pytest.mark.clause("K-09")
def test_arguments_that_are_nested_too_deep_are_one_violation() -> None:
    """The model is told so, and the loop goes on."""
    assert checked({}, nested(99, "a", [])) != ()
    assert checked({}, nested(98, "a", [])) == ()
    assert checked({"type": "string"}, nested(200, "a", [])) == (
        "arguments: must not be nested deeper than 100 levels",
    )


@pytest.mark.clause("K-09")
def test_a_check_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was found before is told, because it is worth something."""
    monkeypatch.setattr(checking, "_KEYWORDS_MAX", 100)
    schema = {"minItems": 100, "items": {"anyOf": [{"const": each} for each in range(10)]}}
    first, last = checked(schema, [9] * 20)
    assert first.endswith(" is too short")
    assert last == "arguments could not be checked: LimitError: it would take too long"


@pytest.mark.clause("K-09")
def test_a_long_violation_keeps_its_place_and_its_end() -> None:
    """Between them is what the model wrote, which it knows."""
    (only,) = checked({"maxLength": 1}, "a" * 10_000)
    assert only.startswith("arguments.value: 'aaa")
    assert only.endswith("aaa' is too long")
    assert len(only) < 400


def test_the_library_is_imported_for_the_first_tool_that_needs_it() -> None:
    """Neither the runtime nor a raw tool pays for it."""
    program = """
import sys
from runtime.tools import Tool
made = dict(name="a", description="", parameters={}, execute=print)
Tool(**made, is_raw=True)
assert "jsonschema" not in sys.modules
Tool(**made)
assert "jsonschema" in sys.modules
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
