"""What every module owes its reader."""

import ast
import re
from typing import Final

import pytest

from .tree import CODE, PACKAGES, python_files, text_of

BARE_IGNORE: Final = re.compile(r"#\s*type:\s*ignore(?!\[[a-z, -]+\])")
NOQA: Final = re.compile(r"#\s*(?:ruff:\s*)?noqa\b.*", re.IGNORECASE)
REASONED_NOQA: Final = re.compile(r"# (?:ruff: )?noqa: [A-Z]+\d+(?:, [A-Z]+\d+)*  # \w.*")


def lists_all(source: str) -> bool:
    """Say whether a module assigns `__all__` at its top level."""
    targets = [
        target
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    ]
    return any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets)


def unreasoned(source: str) -> list[str]:
    """List the silencing comments that name no rule or no reason."""
    noqas = [found for found in NOQA.findall(source) if not REASONED_NOQA.fullmatch(found)]
    return noqas + BARE_IGNORE.findall(source)


@pytest.mark.parametrize("name", python_files(*CODE))
def test_every_module_says_what_it_is_for(name: str) -> None:
    """A reader learns the purpose of a file from its first line."""
    assert ast.get_docstring(ast.parse(text_of(name)))


@pytest.mark.parametrize("name", python_files(*PACKAGES))
def test_every_public_module_lists_what_is_public(name: str) -> None:
    """What a module offers is said, not guessed from underscores."""
    private = name.rpartition("/")[2].startswith("_") and not name.endswith("__init__.py")
    assert private or lists_all(text_of(name))


@pytest.mark.parametrize(
    "name", [name for name in python_files(*CODE) if name != "tests/house/test_modules.py"]
)
def test_a_silenced_rule_is_named_and_explained(name: str) -> None:
    """Nobody has to guess why a tool was told to look away."""
    assert unreasoned(text_of(name)) == []


@pytest.mark.parametrize(
    ("line", "accepted"),
    [
        ("import x  # noqa", False),
        ("import x  # noqa: E402", False),
        ("import x  # noqa: E402  # the fence stands first", True),
        ("import x  # noqa: E402, I001  # the fence stands first", True),
        ("import x  # noqa: E402 " + "- the fence stands first", False),
        ("import x  # noqa: E402  #", False),
        ("# ruff: noqa", False),
        ("x = y  # type: ignore", False),
        ("x = y  # type: ignore[arg-type]", True),
    ],
)
def test_an_unexplained_silence_is_seen(line: str, accepted: bool) -> None:  # noqa: FBT001  # a parametrised flag
    """The patterns refuse a bare comment and accept an explained one."""
    assert (unreasoned(line) == []) is accepted


def test_a_missing_list_of_public_names_is_seen() -> None:
    """Only an assignment at the top level counts."""
    assert lists_all('__all__ = ["a"]')
    assert lists_all("__all__: list[str] = []")
    assert not lists_all('"""A docstring that names __all__."""\n')
