"""Choosing rows of the table and changing them: the words in which faults are planted."""

from collections.abc import Callable

from attrs import evolve

from statemachine.commands import Command, Input
from statemachine.lifecycle import REGIONS, Guard, Row
from statemachine.windows import Window

__all__ = [
    "Change", "Choice", "Plant", "also", "also_ask", "also_in", "ask", "before", "chain", "change",
    "make", "not_in", "only_in", "remove", "rows", "send_to", "silence", "skip", "stay", "swap",
    "unset", "when",
]  # fmt: skip

Table = tuple[Row, ...]
Choice = Callable[[Row], bool]
Change = Callable[[Row], Row]
Plant = Callable[[Table], Table]


# -- Which rows ------------------------------------------------------------------------------------


def rows(
    on: Input, window: Window | None = None, guard: str | None = None, windows_max: int = 99
) -> Choice:
    """Choose rows by input, by a window that they are about, and by the name of their guard."""

    def is_chosen(row: Row) -> bool:
        is_here = (window is None or window in row.where) and len(row.where) <= windows_max
        return row.on is on and is_here and (guard is None or row.when.name == guard)

    return is_chosen


def _first(table: Table, chosen: Choice) -> int:
    """Return the place of the first chosen row; a fault that finds none is a mistake."""
    places = [number for number, row in enumerate(table) if chosen(row)]
    assert places, "the fault finds no row to plant itself in"
    return places[0]


# -- What happens to the table ---------------------------------------------------------------------


def change(chosen: Choice, changed: Change) -> Plant:
    """Change every chosen row."""

    def plant(table: Table) -> Table:
        _first(table, chosen)
        return tuple(changed(row) if chosen(row) else row for row in table)

    return plant


def remove(chosen: Choice) -> Plant:
    """Remove every chosen row."""

    def plant(table: Table) -> Table:
        _first(table, chosen)
        return tuple(row for row in table if not chosen(row))

    return plant


def before(chosen: Choice, changed: Change) -> Plant:
    """Put a changed copy before the first chosen row, so that it is asked first."""

    def plant(table: Table) -> Table:
        place = _first(table, chosen)
        return (*table[:place], changed(table[place]), *table[place:])

    return plant


def swap(first: Choice, second: Choice) -> Plant:
    """Let two rows change places, so that the later one is asked first."""

    def plant(table: Table) -> Table:
        swapped = list(table)
        one, other = _first(table, first), _first(table, second)
        swapped[one], swapped[other] = swapped[other], swapped[one]
        return tuple(swapped)

    return plant


def chain(*plants: Plant) -> Plant:
    """Plant several changes that make up one fault."""

    def plant(table: Table) -> Table:
        for each in plants:
            table = each(table)
        return table

    return plant


# -- What happens to a row -------------------------------------------------------------------------


def also(*changes: Change) -> Change:
    """Make several changes to one row."""

    def changed(row: Row) -> Row:
        for each in changes:
            row = each(row)
        return row

    return changed


def silence(command: Command) -> Change:
    """Drop a command."""

    def changed(row: Row) -> Row:
        return evolve(row, commands=tuple(each for each in row.commands if each is not command))

    return changed


def ask(*commands: Command) -> Change:
    """Replace the commands."""

    def changed(row: Row) -> Row:
        return evolve(row, commands=commands)

    return changed


def also_ask(command: Command) -> Change:
    """Append a command."""

    def changed(row: Row) -> Row:
        return evolve(row, commands=(*row.commands, command))

    return changed


def skip(name: str) -> Change:
    """Drop a move."""

    def changed(row: Row) -> Row:
        return evolve(row, moves=tuple(move for move in row.moves if move.name != name))

    return changed


def make(*names: str) -> Change:
    """Replace the moves."""
    chosen = tuple(move for moves in REGIONS.values() for move in moves if move.name in names)

    def changed(row: Row) -> Row:
        return evolve(row, moves=chosen)

    return changed


def only_in(window: Window) -> Change:
    """Let a row hold in one window only."""

    def changed(row: Row) -> Row:
        return evolve(row, where=(window,))

    return changed


def not_in(window: Window) -> Change:
    """Let a row hold in one window less."""

    def changed(row: Row) -> Row:
        return evolve(row, where=tuple(each for each in row.where if each is not window))

    return changed


def also_in(window: Window) -> Change:
    """Let a row hold in one window more."""

    def changed(row: Row) -> Row:
        return evolve(row, where=(*row.where, window))

    return changed


def when(guard: Guard) -> Change:
    """Replace the guard."""

    def changed(row: Row) -> Row:
        return evolve(row, when=guard)

    return changed


def send_to(window: Window) -> Change:
    """Send the driver somewhere else."""

    def changed(row: Row) -> Row:
        return evolve(row, to=window)

    return changed


def stay(row: Row) -> Row:
    """Let the driver stay where it is."""
    return evolve(row, to=None)


def unset(row: Row) -> Row:
    """Leave the flags as they are."""
    return evolve(row, sets=())
