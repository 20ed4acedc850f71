"""How a fault is planted for one search: another table, another obedience, another part."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import pytest

from statemachine import MACHINE, Machine
from tests.mutants.planting import Plant

from .world import PLANTED

__all__ = ["FAULTS", "fault", "planted", "use"]

Fault = Callable[[pytest.MonkeyPatch], object]

FAULTS: Final[dict[str, Fault]] = {}
"""Every fault by name."""


def fault(plant: Fault) -> Fault:
    """List a fault under the name of its function; its docstring says what goes wrong."""
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


def use(plant: Plant, _: pytest.MonkeyPatch | None = None) -> None:
    """Let the runtime execute another table."""
    PLANTED.set(Machine(table=plant(MACHINE.table)))
