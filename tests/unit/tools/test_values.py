"""What a tool has to be, before anybody may call it."""

import subprocess
import sys
from typing import Any

import pytest

from runtime.errors import CallerError
from runtime.session.content import FrozenObject
from runtime.tools import Tool, violations

from .scene import READ, do_nothing, made

NESTED: dict[str, Any] = {}
for _ in range(120):
    NESTED = {"properties": {"inner": NESTED}}


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
        ({"parameters": {"type": "strnig"}}, "tool 'read' refused: .*parameters.type: 'strnig'"),
        ({"parameters": {"type": "string"}}, "its type must be object"),
        ({"parameters": {"required": "path"}}, "parameters.required: 'path' is not of type"),
        ({"parameters": {"properties": {"a": {"pattern": "("}}}}, "properties.a.pattern"),
        ({"parameters": {"properties": {"a": 3}}}, "parameters.properties.a: 3"),
        ({"parameters": {"$ref": "#/$defs/a"}}, "'#/\\$defs/a' leads to nothing"),
        ({"parameters": {"items": {"$ref": "file:///a"}}}, "'file:///a' leads to nothing"),
        ({"parameters": {"$dynamicRef": "#a"}}, "'#a' leads to nothing"),
        ({"parameters": {"$schema": "http://localhost/"}}, "a dialect that is not known"),
        ({"parameters": {"$schema": []}}, "no usable JSON Schema"),
        ({"parameters": NESTED}, "no usable JSON Schema: RecursionError"),
        ({"execute": None}, "execute must be a function, not NoneType"),
        ({"cooperative": 1}, "cooperative must be True or False, not int"),
        ({"is_raw": "no"}, "is_raw must be True or False, not 'no'"),
        ({"present": "always"}, "present must be a function, not 'always'"),
    ],
    ids=str,
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
        {"$defs": {"a": {"$anchor": "here"}}, "properties": {"a": {"$ref": "#here"}}},
    ],
    ids=["empty", "read", "property", "constant", "anchor"],
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


def test_who_uses_no_tools_does_not_wait_for_the_schema_library() -> None:
    """It takes longer to import than the runtime, so the first tool imports it."""
    script = (
        "import sys, runtime.tools as tools\n"
        "before = 'jsonschema' in sys.modules\n"
        "tools.Tool(name='a', description='', parameters={}, execute=print)\n"
        "print(before, 'jsonschema' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["False", "True"]
