"""The table of the verdict in the README: what is promised, who looks, which faults must be found.

It stands between two comments and is written like a generated page. Nothing in it changes from run
to run: numbers are on the page of claims and in the report.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from statemachine.properties import Kind
from statemachine.render.markdown import table

from .claims_page import Basis, basis

__all__ = ["README", "verdict_table", "with_table"]

README: Final = "README.md"
_BEGIN: Final = "<!-- The table is written by `make docs`. -->"
_END: Final = "<!-- The end of the table. -->"
_BLOCK: Final = re.compile(f"{re.escape(_BEGIN)}.*?{re.escape(_END)}", re.DOTALL)
_CLAIMS: Final = "specs/generated/claims.md"
_COLUMNS: Final = (
    "row", "promise", "kind", "model", "schedules", "random", "cases", "tests",
    "faults that have to be found",
)  # fmt: skip
_LETTERS: Final = {Kind.ALWAYS: "A", Kind.SOMETIMES: "S", Kind.EVENTUALLY: "E"}
_NAMED_MAX: Final = 2


def verdict_table() -> Iterator[str]:
    """Return the lines of the table: a row for each invariant."""
    return iter(table(_COLUMNS, map(_row, basis())))


def with_table(text: str) -> str:
    """Return the README with the table that it should have.

    Raises:
        ValueError: there is no place for the table, or more than one.
    """
    block = "\n".join([_BEGIN, "", *verdict_table(), "", _END])
    new, count = _BLOCK.subn(lambda _: block, text)
    if count != 1:
        raise ValueError(f"{README} has to have `{_BEGIN}` and `{_END}` once, around the table")
    return new


def _row(each: Basis) -> tuple[str, ...]:
    return (
        f"[{each.row.id}]({_CLAIMS}#{each.anchor})",
        each.row.short,
        " ".join(_LETTERS[kind] for kind in each.row.kinds),
        *map(_mark, (each.proved, each.searched, each.drawn, each.cases, each.tests)),
        _some(each.faults),
    )


def _mark(looked: object) -> str:
    return "●" if looked else ""


def _some(names: Iterable[str]) -> str:
    # The shortest names, so that the table stays narrow.
    listed = [f"`{name}`" for name in sorted(names, key=lambda name: (len(name), name))]
    more = len(listed) - _NAMED_MAX
    return ", ".join(listed[:_NAMED_MAX]) + (f" and {more} more" if more > 0 else "")
