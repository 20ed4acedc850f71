"""How a call is headed for people."""

from collections.abc import Callable
from typing import Any

import pytest

from runtime.acp.updates import call_title
from runtime.tools import Tool

from .conftest import Connected


def _fails(*_: object) -> object:
    raise RuntimeError("no presentation")


@pytest.mark.clause("J-43")
@pytest.mark.parametrize(
    ("present", "title"),
    [
        (lambda *_: {"title": "Look at a file"}, "Look at a file"),
        (lambda arguments, _: {"title": f"Read {arguments['path']}"}, "Read x"),
        (None, "reader"),
        (lambda *_: None, "reader"),
        (lambda *_: {}, "reader"),
        (lambda *_: {"title": " "}, "reader"),
        (lambda *_: {"title": 7}, "reader"),
        (lambda *_: "a title", "reader"),
        (_fails, "reader"),
    ],
)
def test_a_call_is_headed_as_its_tool_says_or_by_its_name(
    connected: Connected, present: Callable[[Any, Any], object] | None, title: str
) -> None:
    """Also where the tool says nothing, nonsense, or fails."""
    parameters = {"type": "object", "required": ["path"]}
    tool = Tool(
        name="reader", description="d", parameters=parameters, execute=_fails, present=present
    )
    connected.runtime.tools.register(connected.runtime.context, tool)
    assert call_title(connected.runtime.tools, "reader", '{"path": "x"}')[0] == title
