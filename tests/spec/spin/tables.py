"""Faults of the declaration that a comparison has to see."""

from attrs import evolve

from statemachine.lifecycle import Row

__all__ = ["without_the_marker"]


def without_the_marker(row: Row) -> Row:
    """Return a row that neither arms the marker nor takes it back."""
    return evolve(row, moves=tuple(move for move in row.moves if move.region != "marker"))
