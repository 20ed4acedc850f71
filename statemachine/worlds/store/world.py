"""The store world, put together."""

from statemachine.worlds.rows import Label, Row
from statemachine.worlds.world import World

from .state import KEEPER, SESSION, State
from .table import EVENTS, KEEPERS, RIVALS, TABLE

__all__ = ["one_process", "store_world"]


def store_world(rows: tuple[Row[State], ...] = TABLE) -> World[State]:
    """Return the world of one session, two processes and one disk.

    Args:
        rows: what can happen.
    """
    return World(
        name="store",
        initial=State(),
        rows=rows,
        labels=(
            *(Label(event, SESSION) for event in EVENTS),
            *(Label(event, KEEPER) for event in KEEPERS),
        ),
        ask=lambda state, _: (state, SESSION),
        stands=lambda _: False,
    )


def one_process() -> World[State]:
    """Return the world without the other process, which has a third of the states."""
    return store_world(tuple(row for row in TABLE if row.on not in RIVALS))
