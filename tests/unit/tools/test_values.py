"""What a tool has to be, before anybody may call it."""

from typing import Any

import pytest

from runtime.errors import CallerError
from runtime.session.content import FrozenObject
from runtime.tools import Tool, violations

from .scene import READ, do_nothing, made


async def _present_later(_arguments: object, _meta: object) -> object:
    return None


@pytest.mark.clause("K-20")
@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"name": ""}, "tool '' refused: a name consists of"),
        ({"name": "read file"}, "tool 'read file' refused: a name consists of"),
        ({"name": "read\n"}, "a name consists of"),
        ({"name": "é"}, "a name consists of"),
        ({"name": "a" * 65}, "a name consists of"),
        ({"name": None}, "tool NoneType refused"),
        ({"description": None}, "description must be a string, not NoneType"),
        ({"description": "a\ud800"}, "tool 'read'.description holds half a surrogate pair"),
        ({"parameters": None}, "parameters must be an object, a JSON Schema, not NoneType"),
        ({"parameters": True}, "parameters must be an object, a JSON Schema, not bool"),
        ({"parameters": {"enum": {1, 2}}}, "parameters.enum must be"),
        ({"parameters": {"type": "strnig"}}, "tool 'read' refused: parameters.type must be object"),
        ({"parameters": {"type": "string"}}, "parameters.type must be object"),
        ({"parameters": {"type": ["object", "null"]}}, "parameters.type must be object"),
        (
            {"parameters": {"required": "path"}},
            "parameters.required: 'path' is not of type 'array'",
        ),
        ({"parameters": {"properties": ["a"]}}, r"properties: \['a'\] is not of type 'object'"),
        (
            {"parameters": {"properties": {"a": 3}}},
            "properties.a: 3 is not of type 'object', 'bool",
        ),
        ({"parameters": {"not": {"minimum": "a"}}}, "not.minimum: 'a' is not of type 'number'"),
        ({"parameters": {"not": {"minLength": -1}}}, "minLength: -1 is less than the minimum of 0"),
        ({"parameters": {"not": {"pattern": "("}}}, r"pattern: '\(' is not a 'regex'"),
        ({"parameters": {"not": {"type": "strnig"}}}, "not.type: 'strnig' is not"),
        ({"parameters": {"items": [{}]}}, r"parameters.items: \[{}\] is not of type 'object'"),
        ({"parameters": {"anyOf": []}}, r"parameters.anyOf: \[\] should be non-empty"),
        ({"parameters": {"allOf": [{}, {"if": 1}]}}, r"parameters.allOf\[1\].if: 1 is not of type"),
        ({"parameters": {"$defs": {"a b": {"then": 1}}}}, r"\$defs'\]\['a b'\].then: 1 is not of"),
        ({"parameters": {"patternProperties": {"(": {}}}}, r"'\(' is not a 'regex'"),
        ({"parameters": {"title": 4}}, "parameters.title: 4 is not of type 'string'"),
        ({"parameters": {"$ref": 3}}, r"parameters\['\$ref'\]: 3 is not of type 'string'"),
        ({"parameters": {"$ref": "#/$defs/a"}}, "refer to '#/.defs/a', which is no schema in here"),
        ({"parameters": {"$ref": "#/type", "type": "object"}}, "refer to '#/type', which is no"),
        ({"parameters": {"items": {"$ref": "file:///a#"}}}, "to 'file:///a#', which is no schema"),
        ({"parameters": {"items": {"$ref": "http://["}}}, r"refer to 'http://\[', which is no"),
        ({"parameters": {"$ref": "#/x/0", "x": [{}]}}, "refer to '#/x/0', which is no schema"),
        ({"parameters": {"$ref": "#/x/a", "x": [{}]}}, "refer to '#/x/a', which is no schema"),
        ({"parameters": {"$ref": "#a"}}, "refer to '#a', which is no schema in here"),
        ({"parameters": {"$ref": "#"}}, "refused: parameters refer to themselves in a circle"),
        ({"parameters": {"not": {"dependencies": {}}}}, "keyword dependencies, which is not supp"),
        ({"execute": None}, "execute must be a function, not NoneType"),
        ({"cooperative": 1}, "cooperative must be True or False, not int"),
        ({"is_raw": "no"}, "is_raw must be True or False, not 'no'"),
        ({"present": "always"}, "present must be a plain function or None, not 'always'"),
        ({"present": _present_later}, "present must be a plain function or None, not function"),
    ],
    ids=lambda value: value if type(value) is str else "",
)
def test_a_tool_that_is_none_is_refused(fields: dict[str, Any], why: str) -> None:
    """Whoever makes it learns at once what is wrong; no model and no turn ever meets it."""
    with pytest.raises(CallerError, match=why):
        made(**fields)


@pytest.mark.clause("K-20")
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        READ,
        {"type": "object", "properties": {"$ref": {"type": "string"}}},
        {"const": {"$ref": "nowhere"}},
        {"x-order": 3, "format": "uuid", "default": [], "$id": "http://localhost/"},
        {"$ref": "#/definitions/a~1b%20c", "definitions": {"a/b c": {"not": True}}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {}},
    ],
    ids=["empty", "read", "property", "constant", "remarks", "reference", "draft"],
)
def test_a_usable_schema_is_accepted(parameters: dict[str, Any]) -> None:
    """A reference is one only where a schema stands."""
    assert made(parameters=parameters).parameters == parameters


@pytest.mark.clause("K-02")
def test_a_model_is_told_exactly_name_description_and_parameters() -> None:
    """No function and no flag of the tool leaks into a request."""
    tool = made(present=lambda _arguments, _meta: None)
    assert tool.schema == {"name": "read", "description": "Reads a file.", "parameters": READ}


@pytest.mark.clause("K-02")
def test_a_tool_keeps_its_own_copy_of_the_schema() -> None:
    """Neither its maker nor a model can change what was checked."""
    mine: dict[str, Any] = {"properties": {"path": {"type": "string"}}}
    tool = made(parameters=mine)
    mine["properties"]["path"]["type"] = "integer"
    assert tool.schema["parameters"] == {"properties": {"path": {"type": "string"}}}
    assert type(tool.schema["parameters"]["properties"]) is FrozenObject
    with pytest.raises(TypeError, match="cannot be changed"):
        tool.schema["parameters"]["properties"]["path"] = {}
    assert violations(tool, {"path": "a"}) == ()


@pytest.mark.clause("K-11")
def test_the_schema_of_a_raw_tool_is_passed_on_unchecked() -> None:
    """It comes from elsewhere and is somebody else's business; it only has to be JSON."""
    odd = {"type": "strnig", "$ref": "http://localhost/"}
    assert made(is_raw=True, parameters=odd).schema["parameters"] == odd
    with pytest.raises(CallerError, match=r"parameters\.x must be"):
        made(is_raw=True, parameters={"x": object()})


def test_tools_are_told_apart_by_identity() -> None:
    """Two tools that look alike have bodies of their own."""
    one, other = made(), made()
    assert one != other
    assert {one, other} == {one, other}


def test_a_body_is_cooperative_only_if_it_says_so() -> None:
    """A body that is wrongly believed to be would hold up the whole agent."""
    tool = Tool(name="a", description="", parameters={}, execute=do_nothing)
    assert (tool.cooperative, tool.is_raw, tool.present) == (False, False, None)
