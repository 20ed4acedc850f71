"""What the tests of tools put into an application."""

from typing import Any

from runtime.tools import Tool

__all__ = ["READ", "do_nothing", "made"]

READ: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1},
        "lines": {"type": "array", "items": {"type": "integer"}, "maxItems": 2},
        "mode": {"enum": ["text", "bytes"], "default": "text"},
        "within": {
            "type": "object",
            "properties": {"root": {"type": "string"}},
            "required": ["root"],
        },
    },
    "required": ["path"],
}
"""The parameters of a tool that reads files."""


def do_nothing(_arguments: object, _use: object) -> None:
    """Be a body that does nothing."""


def made(name: str = "read", **fields: Any) -> Tool:  # noqa: ANN401  # the fields of a tool
    """Make a tool; what is not given is right."""
    rest = {"description": "Reads a file.", "parameters": READ, "execute": do_nothing}
    return Tool(name=name, **{**rest, **fields})
