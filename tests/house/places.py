"""Where a test does everything that can be done: every window and every point inside one.

A place is a window, `stream`, or a point inside one, `stream: chunk`, or a point that belongs to no
window, `abort callback`. A test marked `at` a place has a row for every input from outside there.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from statemachine import OUTSIDE_INPUTS, WINDOWS
from statemachine.windows import POINTS_ANYWHERE

from .traceability import Marked, by_id, marked_tests
from .tree import ROOT

__all__ = ["EXCUSED", "marked_places", "places", "places_page", "uncovered", "unknown"]

EXCUSED: Final = {
    "created": "the agent is parked and nobody has its handle yet; `test_registry` acts from here",
    "session start": "as `created`",
}
"""Places at which no test does everything, and why."""


def places() -> tuple[str, ...]:
    """Return every place, in time order."""
    inside = [
        place
        for window, record in WINDOWS.items()
        for place in (window.value, *(f"{window.value}: {point}" for point in record.points))
    ]
    return (*inside, *POINTS_ANYWHERE)


def uncovered(marked: Mapping[str, object]) -> list[str]:
    """Name the places where no test does everything and that have no excuse."""
    return [each for each in places() if each not in marked and each not in EXCUSED]


def unknown(marked: Iterable[str]) -> list[str]:
    """Name the places that tests are marked with and that do not exist."""
    return sorted(set(marked) - set(places()))


def marked_places() -> dict[str, list[Marked]]:
    """Return the tests by the places that they are marked with."""
    return by_id(marked_tests(ROOT / "tests", ("at",)))


def places_page() -> str:
    """Return the page that says for each place and input what tests it."""
    marked = marked_places()
    heads = [each.value for each in OUTSIDE_INPUTS]
    lines = [_HEAD, f"| place | {' | '.join(heads)} | test |", "| --- |" + " --- |" * 6]
    for place in places():
        tests = marked.get(place, ())
        names = "<br>".join(f"{each.file}: `{each.name.removeprefix('test_')}`" for each in tests)
        cell = "yes" if tests else "-"
        told = names or f"not all: {EXCUSED[place]}"
        lines.append(f"| {place} | {' | '.join([cell] * len(heads))} | {told} |")
    covered = sum(place in marked for place in places())
    pairs = covered * len(heads)
    lines.append(f"\n{pairs} of {len(places()) * len(heads)} pairs of a place and an input.")
    return "\n".join(lines) + "\n"


_HEAD: Final = """\
# Every input at every place

*Written by `make docs`. Do not edit.*

A place is a window, a point inside one, or a point that is the answer of whichever window the
driver is in. `yes`: a test does this there, and compares log, ending, reason, statuses, waiters and
discards with what the clauses say.
"""
