"""No test waits for a time: it waits for the thing, or moves the virtual clock."""

import ast
from typing import Final

import pytest

from .tree import matches, python_files, text_of

SLEEPS: Final = frozenset({"time.sleep", "asyncio.sleep", "anyio.sleep", "sleep"})
# There, and only there, asyncio's sleep runs on the virtual clock and is what is being tested.
VIRTUAL: Final = "tests/conformance/"


def real_sleeps(source: str, *, is_virtual: bool = False) -> list[int]:
    """List the lines that sleep; a sleep of zero only yields to the loop."""
    sleeps = SLEEPS - {"asyncio.sleep"} if is_virtual else SLEEPS
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in sleeps
        and not (node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value == 0)
    ]


@pytest.mark.parametrize("name", python_files("tests"))
def test_no_test_sleeps(name: str) -> None:
    """A sleep is too short on a busy machine and too long on any other."""
    assert real_sleeps(text_of(name), is_virtual=matches(name, VIRTUAL)) == []


@pytest.mark.parametrize("call", ["time.sleep(1)", "asyncio.sleep(0.01)", "sleep(wait)"])
def test_a_sleep_is_seen(call: str) -> None:
    """Each spelling of a sleep is found; yielding to the loop is not one."""
    assert real_sleeps(call) == [1]
    assert real_sleeps("asyncio.sleep(0)") == []


def test_the_virtual_clock_excuses_only_what_runs_on_it() -> None:
    """The tests of the stage may sleep virtually, and still never really."""
    assert real_sleeps("asyncio.sleep(5)", is_virtual=True) == []
    assert real_sleeps("time.sleep(5)", is_virtual=True) == [1]
