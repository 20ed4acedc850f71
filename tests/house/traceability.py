"""Who checks what: which tests are marked with a clause, with a row of the seeds, with a case.

The marks are read from the source, so that nothing has to be collected or imported.
"""

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from attrs import frozen

from statemachine.clauses import Clause, clauses
from statemachine.properties import PROPERTIES

from .tree import ROOT

__all__ = ["Marked", "Seed", "by_id", "marked_tests", "read_seeds", "traceability_page"]

_KINDS: Final = ("clause", "seed", "case")
_READ: Final = frozenset({*_KINDS, "at"})
_SEEDS: Final = ROOT / "specs" / "seeds.md"
_CASES: Final = ROOT / "specs" / "cases"
_TESTS: Final = ROOT / "tests"
_SEED_ROW: Final = re.compile(r"\| (SEED-\d{2}) \|(.+)\|(.*)\|(.*)\|")
_CASE_HEADING: Final = re.compile(r"^## (CASE-\d{3}) (.+)$", re.MULTILINE)


@frozen(kw_only=True)
class Marked:
    """A test and the ids that it is marked with."""

    file: str
    """Relative to the folder of tests, with slashes."""
    name: str
    ids: tuple[str, ...]


@frozen(kw_only=True)
class Seed:
    """One row of the seeds."""

    id: str
    sentence: str
    clauses: tuple[str, ...]
    waits_for: str
    """The part that is not built yet and without which no test is possible, or nothing."""


def marked_tests(folder: Path, kinds: Collection[str] = _KINDS) -> Iterator[Marked]:
    """Find every test below a folder that carries such marks with ids, in the order of files."""
    for file, name, marks in _marks_below(folder):
        ids = tuple(dict.fromkeys(each for kind, each in marks if kind in kinds))
        if ids:
            yield Marked(file=file, name=name, ids=ids)


@cache
def _marks_below(folder: Path) -> tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...]:
    """Read every test of a folder once: its file, its name, and the kind and id of each mark."""
    found = []
    for path in sorted(folder.rglob("test_*.py")):
        file = path.relative_to(folder).as_posix()
        module = ast.parse(path.read_text(encoding="utf-8"))
        of_all = [each for node in module.body if _is_pytestmark(node) for each in _marks(node)]
        for node in module.body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                own = [mark for each in node.decorator_list for mark in _marks(each)]
                found.append((file, node.name, (*of_all, *own)))
    return tuple(found)


def by_id(tests: Iterable[Marked]) -> dict[str, list[Marked]]:
    """Map each id to the tests that are marked with it."""
    found: dict[str, list[Marked]] = {}
    for test in tests:
        for each in test.ids:
            found.setdefault(each, []).append(test)
    return found


@cache
def read_seeds(path: Path = _SEEDS) -> tuple[Seed, ...]:
    """Read the rows of the seeds from their table."""
    rows = map(_SEED_ROW.fullmatch, path.read_text(encoding="utf-8").splitlines())
    return tuple(
        Seed(
            id=row[1],
            sentence=row[2].strip(),
            clauses=tuple(row[3].split()),
            waits_for=row[4].strip(),
        )
        for row in rows
        if row
    )


def traceability_page() -> str:
    """Return the page that says for each clause, seed and case what checks it."""
    tests = by_id(marked_tests(_TESTS))
    lines = [_HEAD, *_clauses(tests), _OF_SEEDS, *_seeds(tests), _OF_CASES, *_cases(tests)]
    return "\n".join(lines) + "\n"


_HEAD: Final = """\
# Who checks what

*Written by `make docs`. Do not edit.*

From the marks of the tests. A property is checked by the explorer on every reachable shape.

## Clauses
"""
_OF_SEEDS: Final = """
## Seeds

The rows of [seeds.md](../seeds.md).
"""
_OF_CASES: Final = """
## Cases

The [cases](../cases/README.md), which run under every schedule with few deviations.
"""


def _is_pytestmark(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and [
        each.id for each in node.targets if isinstance(each, ast.Name)
    ] == ["pytestmark"]


def _marks(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Find the marks below a node, also those of one parameter, each with the ids it names."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
            mark = each.func
            if mark.attr in _READ and isinstance(mark.value, ast.Attribute):
                yield from ((mark.attr, str(ast.literal_eval(one))) for one in each.args)


def _clauses(tests: Mapping[str, list[Marked]]) -> Iterator[str]:
    yield from ("| clause | properties | tests |", "| --- | --- | --- |")
    for each in clauses():
        properties = [f"`{claim.name}`" for claim in PROPERTIES if each.id in claim.clauses]
        link = f"[{each.id}](../clauses/{each.file}#{each.id.lower()})"
        checks = _told(tests.get(each.id, ())) or _unchecked(each)
        yield f"| {link} | {' '.join(properties)} | {checks} |"


def _unchecked(of: Clause) -> str:
    return "" if of.unchecked is None else f"unchecked: {of.unchecked}"


def _seeds(tests: Mapping[str, list[Marked]]) -> Iterator[str]:
    yield from ("| seed | clauses | tests |", "| --- | --- | --- |")
    for each in read_seeds():
        checks = _told(tests.get(each.id, ())) or f"waits for {each.waits_for}"
        yield f"| {each.id} | {' '.join(each.clauses)} | {checks} |"


def _cases(tests: Mapping[str, list[Marked]]) -> Iterator[str]:
    yield from ("| case | about | tests |", "| --- | --- | --- |")
    for path in sorted(_CASES.glob("*.md")):
        for case, title in _CASE_HEADING.findall(path.read_text(encoding="utf-8")):
            yield f"| [{case}](../cases/{path.name}) | {title} | {_told(tests.get(case, ()))} |"


def _told(tests: Iterable[Marked]) -> str:
    """Name tests, file by file."""
    names: dict[str, list[str]] = {}
    for test in tests:
        names.setdefault(test.file, []).append(f"`{test.name.removeprefix('test_')}`")
    return "<br>".join(f"{file}: {' '.join(found)}" for file, found in names.items())
