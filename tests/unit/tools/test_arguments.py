"""Arguments: how what a model wrote is read, and what is found wrong with it."""

import json
import urllib.request
import warnings
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import CallerError
from runtime.session.content import FrozenObject, freeze_json, thaw
from runtime.tools import parse_arguments, violations

from .scene import READ, made

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=12,
)


def wrong(arguments: object, **fields: Any) -> tuple[str, ...]:  # noqa: ANN401  # of a tool
    """Say what is wrong with arguments, given as plain JSON."""
    return violations(made(**fields), freeze_json(arguments, what="arguments"))


# ------------------------------------------------------------------------------------- reading


@pytest.mark.clause("B-64")
@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("", {}),
        ("{}", {}),
        ('{"path": "a", "lines": [1, 2.5, null, true]}', None),
        ("[1, 2]", None),
        ('"text"', "text"),
        ("3", 3),
        ("null", None),
    ],
)
def test_arguments_that_are_json_reach_the_body_parsed(raw: str, expected: object) -> None:
    """Nothing at all is an empty object; anything else is what JSON says it is."""
    parsed = parse_arguments(raw)
    assert thaw(parsed) == (expected if expected is not None else json.loads(raw))


@pytest.mark.clause("B-64")
@pytest.mark.parametrize(
    "raw",
    [
        " ",
        "{",
        "path=a",
        "{'path': 'a'}",
        '{"path": "a"} {}',
        '{"path": "a", "path": "b"}',
        '{"within": {"root": "a", "root": "b"}}',
        "NaN",
        "[Infinity]",
        "[-Infinity]",
        "[1e999]",
        str(2**53),
        "9" * 5_000,
        '"\\ud800"',
        '"a\ud800"',
        "[" * 300 + "]" * 300,
        "[" * 200_000,
        '{"a":' * 200_000,
    ],
    ids=lambda raw: raw.encode(errors="backslashreplace").decode()[:20],
)
def test_what_not_every_reader_would_read_alike_stays_a_string(raw: str) -> None:
    """A name given twice, an inexact number, endless nesting: the body gets what was written."""
    assert parse_arguments(raw) is raw


@pytest.mark.clause("B-64")
@given(raw=st.text() | JSON.map(json.dumps) | JSON.map(json.dumps).map(lambda text: text[1:]))
def test_reading_arguments_never_raises(raw: str) -> None:
    """Whatever a model writes is JSON that can be recorded, or the string that it was."""
    parsed = parse_arguments(raw)
    assert parsed is raw or freeze_json(parsed, what="parsed") is parsed


@given(value=JSON)
def test_json_comes_through_unchanged(value: Any) -> None:  # noqa: ANN401  # any JSON
    """What was written is what is read."""
    assert thaw(parse_arguments(json.dumps(value))) == value


def test_parsed_arguments_are_frozen() -> None:
    """The body, the interceptors and the log share them, so nobody may change them."""
    parsed = parse_arguments('{"within": {"root": "a"}}')
    assert type(parsed["within"]) is FrozenObject
    with pytest.raises(TypeError, match="cannot be changed"):
        parsed["within"]["root"] = "b"
    assert parse_arguments("") == {}
    with pytest.raises(TypeError, match="cannot be changed"):
        parse_arguments("")["path"] = "a"


# ------------------------------------------------------------------------------------ checking


@pytest.mark.clause("K-09")
@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ({}, "arguments: 'path'"),
        ({"path": 3}, "arguments.path: 3"),
        ({"path": None}, "arguments.path: None"),
        ({"path": ""}, "arguments.path: ''"),
        ({"path": "a", "mode": "image"}, "arguments.mode: 'image'"),
        ({"path": "a", "lines": [1, "2"]}, "arguments.lines[1]: '2'"),
        ({"path": "a", "lines": {}}, "arguments.lines: {}"),
        ({"path": "a", "lines": [True]}, "arguments.lines[0]: True"),
        ({"path": "a", "lines": [1, 2, 3]}, "arguments.lines: [1, 2, 3]"),
        ({"path": "a", "within": {}}, "arguments.within: 'root'"),
        ({"path": "a", "within": {"root": []}}, "arguments.within.root: []"),
        ([], "arguments must be a JSON object, not"),
        ("{", "arguments must be a JSON object, not"),
        (None, "arguments must be a JSON object, not"),
    ],
)
def test_a_violation_says_what_is_wrong_and_where(arguments: object, place: str) -> None:
    """Required names, types, enumerations, nested objects and lists are all held to the schema."""
    (only,) = wrong(arguments)
    assert only.startswith(place)


@pytest.mark.clause("K-09")
def test_arguments_that_fit_have_no_violation() -> None:
    """Names that the schema does not mention are allowed, and nothing is filled in."""
    arguments = freeze_json({"path": "a", "lines": [1, 2.0], "other": {}}, what="arguments")
    assert violations(made(), arguments) == ()
    assert "mode" not in arguments


@pytest.mark.clause("K-09")
def test_every_violation_is_listed() -> None:
    """A model can mend all of them at once; more than it can use are left out."""
    several = wrong({"path": 1, "mode": 2, "lines": 3, "within": 4})
    assert sorted(each.partition(":")[0] for each in several) == [
        "arguments.lines",
        "arguments.mode",
        "arguments.path",
        "arguments.within",
    ]
    numbers = {"type": "object", "additionalProperties": {"type": "number"}}
    many = wrong({f"n{count}": "x" * 10_000 for count in range(500)}, parameters=numbers)
    assert (len(many), max(map(len, many)) < 400) == (20, True)


@pytest.mark.clause("K-09")
@pytest.mark.parametrize(
    "parameters",
    [{"$ref": "#"}, {"properties": {"a": {"$ref": "#/properties/a"}}}],
    ids=["circle", "inner circle"],
)
def test_a_check_that_breaks_down_is_a_violation(parameters: dict[str, Any]) -> None:
    """The library raises here; the model is told that its arguments could not be checked."""
    arguments = {"a": 1}
    with pytest.raises(RecursionError):
        list(jsonschema.Draft202012Validator(parameters).iter_errors(arguments))
    (only,) = wrong(arguments, parameters=parameters)
    assert only.startswith("arguments could not be checked: ")


@pytest.mark.clause("K-09")
def test_what_was_found_before_a_breakdown_is_told() -> None:
    """A violation is worth something even if the check could not be finished."""
    circle = {"$ref": "#/properties/a"}
    first, last = wrong({"a": 1}, parameters={"required": ["n"], "properties": {"a": circle}})
    assert first == "arguments: 'n' is a required property"
    assert last.startswith("arguments could not be checked: ")


@pytest.mark.clause("K-09")
@given(arguments=JSON)
def test_checking_never_raises(arguments: object) -> None:
    """Any JSON value has its list of violations, and it is empty exactly if the library agrees."""
    found = wrong(arguments)
    fits = isinstance(arguments, dict) and jsonschema.Draft202012Validator(READ).is_valid(arguments)
    assert (found == ()) is fits


def test_arguments_that_are_no_json_at_all_are_a_violation() -> None:
    """The check does not rely on its caller having frozen them."""
    (only,) = violations(made(), {"path": object()})
    assert "is not of type 'string'" in only
    assert violations(made(), object()) == ("arguments must be a JSON object, not object",)


@pytest.mark.clause("K-09")
def test_references_inside_the_schema_are_followed() -> None:
    """Also those of older dialects, in which definitions have another name."""
    parameters = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"path": {"type": "string"}},
        "properties": {"path": {"$ref": "#/definitions/path"}},
    }
    (only,) = wrong({"path": 3}, parameters=parameters)
    assert only.startswith("arguments.path: 3")


@pytest.mark.clause("K-09")
def test_a_reference_fetches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library would ask the network; a tool that wants that is refused before it is used."""
    asked: list[object] = []

    def fetch(request: object, *_args: object, **_kwargs: object) -> object:
        asked.append(request)
        raise OSError("no network")

    monkeypatch.setattr(urllib.request, "urlopen", fetch)
    elsewhere = {"properties": {"path": {"$ref": "http://localhost/path.json"}}}
    trusting = jsonschema.Draft202012Validator(elsewhere)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(Exception, match="Unresolvable"):
            trusting.is_valid({"path": 1})
    assert asked != []
    asked.clear()
    with pytest.raises(CallerError, match="leads to nothing inside it"):
        made(parameters=elsewhere)
    assert asked == []


@pytest.mark.clause("K-11")
def test_the_arguments_of_a_raw_tool_are_not_checked() -> None:
    """Its body checks them itself, so it may get anything, also what is no JSON."""
    raw = made(is_raw=True)
    assert violations(raw, {"path": 3}) == ()
    assert violations(raw, "{") == ()
    assert violations(made(), "{") != ()
