"""How a fault is planted for one search: another table, another obedience, another part."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from attrs import evolve

from statemachine import MACHINE, Command, Input, Machine, Window
from statemachine.lifecycle import Row

from .world import PLANTED

__all__ = ["FAULTS", "also", "change", "fault", "planted", "rows", "silence", "use"]

Choice = Callable[[Row], bool]
Plant = Callable[[pytest.MonkeyPatch], object]

FAULTS: Final[dict[str, Plant]] = {}
"""Every fault by name; its docstring says what the careless runtime does."""


def fault(plant: Plant) -> Plant:
    """List a fault under the name of its function."""
    FAULTS[plant.__name__.replace("_", "-")] = plant
    return plant


@contextmanager
def planted(name: str) -> Iterator[None]:
    """Run with one fault."""
    with pytest.MonkeyPatch.context() as patch:
        token = PLANTED.set(PLANTED.get())
        try:
            FAULTS[name](patch)
            yield
        finally:
            PLANTED.reset(token)


def rows(on: Input, window: Window, when: str) -> Choice:
    """Choose rows by input, a window that they are about, and the name of their guard."""
    return lambda row: row.on is on and window in row.where and row.when.name == when


def use(alter: Callable[[Row], Row | None]) -> None:
    """Use a table in which rows were altered, or left out for None."""
    altered = [alter(row) for row in MACHINE.table]
    assert tuple(altered) != MACHINE.table, "the fault finds no row to plant itself in"
    PLANTED.set(Machine(table=filter(None, altered)))


def change(chosen: Choice, **values: Any) -> None:  # noqa: ANN401  # whatever a row may have
    """Use a table in which the chosen rows have other values; with none, they are gone."""

    def alter(row: Row) -> Row | None:
        if not chosen(row):
            return row
        return evolve(row, **values) if values else None

    use(alter)


def also(chosen: Choice, command: Command) -> None:
    """Let the chosen rows ask for one thing more."""
    use(lambda row: evolve(row, commands=(*row.commands, command)) if chosen(row) else row)


def silence(chosen: Choice, command: Command) -> None:
    """Let the chosen rows ask for one thing less."""

    def alter(row: Row) -> Row:
        left = tuple(each for each in row.commands if each is not command)
        return evolve(row, commands=left) if chosen(row) else row

    use(alter)
