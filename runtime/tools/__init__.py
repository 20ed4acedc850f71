"""Tools: what a model may call, how a call is checked, and what comes back."""

from .arguments import parse_arguments, violations
from .registry import TOOLS, TOOLS_CHANGED, ToolRegistry, ToolsChanged
from .results import (
    ToolErrorInfo,
    ToolResult,
    failed_result,
    invalid_arguments_result,
    unknown_tool_result,
)
from .values import Tool, ToolUse

__all__ = [
    "TOOLS",
    "TOOLS_CHANGED",
    "Tool",
    "ToolErrorInfo",
    "ToolRegistry",
    "ToolResult",
    "ToolUse",
    "ToolsChanged",
    "failed_result",
    "invalid_arguments_result",
    "parse_arguments",
    "unknown_tool_result",
    "violations",
]
