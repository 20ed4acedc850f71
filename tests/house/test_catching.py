"""Who may catch everything, and who may catch a cancellation."""

import ast
from typing import Final

import pytest

from .tree import PACKAGES, matches, python_files, text_of

# The step boundary of the driver, the one place that contains foreign failures, and the kit, in
# which the failure of a foreign subject is a finding.
MAY_CATCH_ALL: Final = ("runtime/containment.py", "runtime/driver.py", "statemachine/conformance/")
# An observer that is called, not awaited, cannot be cancelled; what it raises is contained.
MAY_CATCH_CANCELLATION: Final = ("runtime/abort.py", "runtime/containment.py")


def caught(source: str) -> set[str]:
    """Name what a module catches or suppresses; a bare `except` catches BaseException.

    A handler that ends by raising the same exception again cleans up and keeps nothing.
    """
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ExceptHandler):
            if ast.unparse(node.body[-1]) == "raise":
                continue
            names |= _names(node.type) if node.type else {"BaseException"}
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
            names |= {name for argument in node.args for name in _names(argument)}
    return names


def _names(expression: ast.expr) -> set[str]:
    parts = expression.elts if isinstance(expression, ast.Tuple) else [expression]
    return {ast.unparse(part).rpartition(".")[2] for part in parts}


@pytest.mark.parametrize("name", python_files(*PACKAGES))
def test_failures_are_contained_in_one_place(name: str) -> None:
    """Whoever catches everything swallows our own bugs, so almost nobody may."""
    if not matches(name, *MAY_CATCH_ALL):
        assert caught(text_of(name)) & {"Exception", "BaseException"} == set()


@pytest.mark.parametrize("name", python_files(*PACKAGES))
def test_cancellation_is_caught_in_one_place(name: str) -> None:
    """Only the abort scope can tell a cancellation it asked for from any other."""
    if not matches(name, *MAY_CATCH_CANCELLATION):
        assert "CancelledError" not in caught(text_of(name))


@pytest.mark.parametrize(
    ("handler", "expected"),
    [
        ("except:", {"BaseException"}),
        ("except Exception as error:", {"Exception"}),
        ("except (ValueError, asyncio.CancelledError):", {"ValueError", "CancelledError"}),
    ],
)
def test_every_spelling_is_seen(handler: str, expected: set[str]) -> None:
    """A handler is found however it is written."""
    assert caught(f"try:\n    pass\n{handler}\n    pass\n") == expected


def test_raising_again_is_not_catching() -> None:
    """Undoing half a change on the way out is wanted; stopping the exception is not."""
    assert caught("try:\n    pass\nexcept BaseException:\n    undo()\n    raise\n") == set()


def test_suppression_is_seen() -> None:
    """Suppressing is catching."""
    assert caught("with contextlib.suppress(CancelledError):\n    pass\n") == {"CancelledError"}
