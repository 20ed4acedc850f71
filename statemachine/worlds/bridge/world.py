"""The bridge world, put together."""

from collections.abc import Hashable

from statemachine.worlds.rows import Label, Row
from statemachine.worlds.world import World

from .state import CLIENT, Kind, Place, Prompt, Session, State
from .table import OF_PROMPTS, OF_SESSIONS, OF_THE_CLIENT, PROMPT, TABLE

__all__ = ["bridge_world"]


def bridge_world(
    rows: tuple[Row[State], ...] = TABLE, *, sessions: int = 2, prompts: int = 2
) -> World[State]:
    """Return the world of one client.

    Args:
        rows: what can happen.
        sessions: how many sessions it may have.
        prompts: how many prompts may be under way at one time.
    """
    at_sessions = [Place(Kind.SESSION, at) for at in range(sessions)]
    return World(
        name="bridge",
        initial=State(sessions=(Session(),) * sessions, prompts=(None,) * prompts),
        rows=rows,
        labels=(
            *(Label(event, place) for place in at_sessions for event in OF_SESSIONS),
            *(Label(PROMPT, Place(Kind.NEW_PROMPT, at)) for at in range(sessions)),
            *(
                Label(event, Place(Kind.PROMPT, at))
                for at in range(prompts)
                for event in OF_PROMPTS
            ),
            *(Label(event, CLIENT) for event in OF_THE_CLIENT),
        ),
        ask=_ask,
        stands=lambda _: False,
    )


def _ask(state: State, place: Hashable) -> tuple[State, int] | None:
    """Give a new prompt the first free slot; an event of a prompt needs one that is there."""
    assert isinstance(place, Place)
    kind, at = place
    match kind:
        case Kind.NEW_PROMPT:
            if None not in state.prompts:
                return None
            free = state.prompts.index(None)
            return state.put(free, Prompt(at)), free
        case Kind.PROMPT:
            return None if state.prompts[at] is None else (state, at)
        case _:
            return state, at
