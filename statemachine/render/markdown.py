"""Markdown, as far as the pages need it."""

from collections.abc import Iterable
from typing import Final

__all__ = ["page", "section", "table", "words"]

_NOTE: Final = "*Written by `python -m statemachine render`. Do not edit.*"


def page(title: str, lead: str, *lines: str) -> str:
    """Return a whole page: a title, a note for whoever would edit it, a lead and the rest."""
    return "\n".join([f"# {title}", "", _NOTE, "", lead, *lines]) + "\n"


def section(title: str, lines: Iterable[str]) -> list[str]:
    """Return a section of a page."""
    return ["", f"## {title}", "", *lines]


def table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Return a table; a bar inside a cell stays a bar."""
    head = list(columns)
    body = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return [_line(head), _line(["---"] * len(head)), *map(_line, body)]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def words(each: Iterable[str], separator: str = " ") -> str:
    """Return words side by side."""
    return separator.join(each)
