"""What the runs of a suite reached: every place at which something can be done, by what was done.

Places are listeners, `outside` of them all, and at level `inside` the windows of the declaration.
A blank is a pair that was never met: it says where the suite is blind, which a percentage hides.
"""

from collections.abc import Iterable, Mapping

__all__ = ["coverage_table", "unmet"]

Points = Mapping[tuple[str, str], int]


def unmet(points: Points, places: Iterable[str], inputs: Iterable[str]) -> list[tuple[str, str]]:
    """Return the pairs that were never met, place by place."""
    wanted = tuple(inputs)
    return [(place, name) for place in places for name in wanted if not points.get((place, name))]


def coverage_table(points: Points, places: Iterable[str], inputs: Iterable[str]) -> str:
    """Return a table of counts: a line for each place, a column for each input."""
    columns, lines = tuple(inputs), tuple(places)
    width = max((len(place) for place in lines), default=0)
    head = " ".join(f"{name:>9}" for name in columns)
    rows = [f"{'':{width}} {head}"]
    for place in lines:
        counts = (points.get((place, name)) or "" for name in columns)
        rows.append(f"{place:{width}} " + " ".join(f"{count:>9}" for count in counts))
    return "\n".join(row.rstrip() for row in rows)
