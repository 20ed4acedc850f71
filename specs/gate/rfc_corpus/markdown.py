"""As much of Markdown as the gates need: what stands outside fenced code, and the headings."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from attrs import frozen

__all__ = ["Line", "headings", "prose"]

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


@frozen(kw_only=True)
class Line:
    """A line of a file, or the text of a heading in it, with its number counted from one."""

    number: int
    text: str


def prose(lines: Sequence[str]) -> Iterator[Line]:
    """Yield the lines outside fenced code: what looks like a heading in a fence is none."""
    fence = ""
    for number, text in enumerate(lines, start=1):
        found = _FENCE.match(text)
        if fence:
            # Only the same mark, as long or longer and with nothing behind it, ends a fence.
            if found and found[1].startswith(fence) and not found[2].strip():
                fence = ""
        elif found:
            fence = found[1]
        else:
            yield Line(number=number, text=text)


def headings(lines: Iterable[Line], level: int) -> tuple[Line, ...]:
    """Return the headings of a level, without their mark and without blanks at their end."""
    mark = f"{'#' * level} "
    return tuple(
        Line(number=line.number, text=line.text.removeprefix(mark).rstrip())
        for line in lines
        if line.text.startswith(mark)
    )
