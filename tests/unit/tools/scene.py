"""What the tests of tools put into an application."""

from typing import Any

from hypothesis import strategies as st

from runtime.tools import Tool

__all__ = ["JSON", "READ", "do_nothing", "made"]

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
"""Any JSON value that can be recorded."""


def do_nothing(_arguments: object, _use: object) -> None:
    """Be a body that does nothing."""


def made(name: str = "read", **fields: Any) -> Tool:  # noqa: ANN401  # the fields of a tool
    """Make a tool; what is not given is right."""
    rest = {"description": "Reads a file.", "parameters": READ, "execute": do_nothing}
    return Tool(name=name, **{**rest, **fields})
