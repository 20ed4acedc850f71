"""The job world, put together."""

from collections.abc import Hashable

from statemachine.worlds.rows import Label, Row
from statemachine.worlds.world import World

from .state import EXECUTOR, NOWHERE, Access, Job, State, Token
from .table import EXECUTORS, KILL, READ, SLOTTED, START, TABLE, WHOLE

__all__ = ["job_world"]


def job_world(rows: tuple[Row[State], ...] = TABLE, *, slots: int = 2) -> World[State]:
    """Return the world with so many jobs at one time at most.

    Args:
        rows: what can happen.
        slots: how many jobs can be asked for at one time.
    """
    owners = (Token.MINE, Token.EMPTY, Token.NONE)
    accesses = [Access(at, caller) for at in range(slots) for caller in Token]
    return World(
        name="job",
        initial=State(jobs=(None,) * slots),
        rows=rows,
        labels=(
            *(Label(START, owner) for owner in owners),
            *(Label(event, access) for access in accesses for event in (READ, KILL)),
            *(Label(event, at) for event in SLOTTED for at in range(slots)),
            *(Label(event, NOWHERE) for event in WHOLE),
            *(Label(event, EXECUTOR) for event in EXECUTORS),
        ),
        ask=_ask,
        stands=lambda _: False,
    )


def _ask(state: State, place: Hashable) -> tuple[State, int] | None:
    """Give a start the first free slot, and a request its caller."""
    match place:
        case Token():
            free = state.jobs.index(None) if None in state.jobs else None
            return None if free is None else (state.put(free, Job(place)), free)
        case Access(at, caller):
            return None if state.jobs[at] is None else (state._replace(caller=caller), at)
        case int():
            is_there = place < 0 or state.jobs[place] is not None
            return (state, place) if is_there else None
        case _:
            raise AssertionError(f"{place!r} is no place of this world")
