"""The connection world, put together."""

from collections.abc import Hashable

from statemachine.worlds.rows import Label, Row
from statemachine.worlds.world import World

from .state import NOBODY, Asked, Caller, Slot, State
from .table import CALLS, SLOTTED, TABLE, WHOLE

__all__ = ["connection_world", "one_client"]

_ASKS = (
    Asked(Caller.CONNECTION, 0, 0),
    Asked(Caller.CONNECTION, 0, 1),
    Asked(Caller.PROGRAM, 1, 0),
)
"""One agent id with two sessions, one session with two agent ids, and twice the same."""


def connection_world(
    rows: tuple[Row[State], ...] = TABLE, *, slots: int = 2, asks: tuple[Asked, ...] = _ASKS
) -> World[State]:
    """Return the world with so many requests under way at most.

    Args:
        rows: what can happen.
        slots: how many requests, with the agents that came of them, exist at one time.
        asks: what calls may ask for.
    """
    return World(
        name="connection",
        initial=State(slots=(None,) * slots),
        rows=rows,
        labels=(
            *(Label(event, asked) for event in CALLS for asked in asks),
            *(Label(event, place) for event in SLOTTED for place in range(slots)),
            *(Label(event, NOBODY) for event in WHOLE),
        ),
        ask=_ask,
        stands=lambda state: bool(state.standing),
    )


def one_client(slots: int) -> World[State]:
    """Return the world of a client that always asks for the same session, and of nobody else."""
    return connection_world(slots=slots, asks=_ASKS[:1])


def _ask(state: State, place: Hashable) -> tuple[State, int] | None:
    """Give a call the first free slot; an event of a slot needs somebody in it."""
    if isinstance(place, Asked):
        if None not in state.slots:
            return None
        free = state.slots.index(None)
        return state.put(free, Slot(place)), free
    assert isinstance(place, int)
    return (state, place) if place == NOBODY or state.slots[place] is not None else None
