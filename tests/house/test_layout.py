"""The shape of the tree: a closed top level, short files, short functions, pinned versions."""

import ast
import re
import tomllib
from typing import Final

import pytest

from .tree import CODE, PACKAGES, ROOT, project_files, python_files, text_of

TOP_LEVEL: Final = frozenset(
    {
        ".ci",
        ".github",
        ".gitignore",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "LICENSE",
        "Makefile",
        "README.md",
        "pyproject.toml",
        "runtime",
        "specs",
        "statemachine",
        "tests",
    }
)
FILE_LINES_MAX: Final = 400
FUNCTION_LINES_MAX: Final = 50


def long_functions(source: str) -> list[str]:
    """Name the functions whose body, docstring left out, is longer than allowed."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        body = node.body[1:] if ast.get_docstring(node) else node.body
        if body and (node.end_lineno or 0) - body[0].lineno >= FUNCTION_LINES_MAX:
            found.append(node.name)
    return found


def test_top_level_is_a_closed_list() -> None:
    """A new file or folder at the top is a decision, not an accident."""
    assert {name.partition("/")[0] for name in project_files()} - TOP_LEVEL == set()


@pytest.mark.parametrize("name", python_files(*CODE))
def test_no_python_file_is_too_long(name: str) -> None:
    """A file can be read in one sitting."""
    assert len(text_of(name).splitlines()) <= FILE_LINES_MAX


def test_no_function_is_too_long() -> None:
    """A function fits on a screen."""
    found = {name: long_functions(text_of(name)) for name in python_files(*PACKAGES, "tests")}
    assert {name: names for name, names in found.items() if names} == {}


def test_a_long_function_is_seen() -> None:
    """The measure counts the body, and not the docstring."""
    lines = "".join(f"    x = {n}\n" for n in range(FUNCTION_LINES_MAX))
    assert long_functions(f'def fits():\n    """Doc."""\n{lines}') == []
    assert long_functions(f"def long():\n{lines}    x = 0\n") == ["long"]


def test_constraints_are_pins_and_nothing_else() -> None:
    """Each supported Python has its list, which names versions only, never a place."""
    classifiers = tomllib.loads(text_of("pyproject.toml"))["project"]["classifiers"]
    versions = re.findall(r"Python :: (3\.\d+)", "\n".join(classifiers))
    expected = sorted(f".ci/constraints-{version}.txt" for version in versions)
    assert sorted(f".ci/{path.name}" for path in (ROOT / ".ci").glob("*.txt")) == expected
    for name in expected:
        lines = [line for line in text_of(name).splitlines() if not line.startswith("#")]
        assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
