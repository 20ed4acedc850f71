"""What can be seen of the bridge world from both ends of a connection, and how to follow one."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final, NamedTuple

from statemachine.worlds.agreement import Call, Follower
from statemachine.worlds.rows import Actor, Event, Label, Row

from . import table as t
from .state import CLIENT, Client, Kind, Outcome, Phase, Place, State
from .world import bridge_world

__all__ = ["Progress", "Told", "View", "bridge_follower", "view_of"]


class Progress(StrEnum):
    """How far a prompt is, as far as its session's log tells."""

    WAITING = "waiting"
    """Accepted, and not recorded: it is queued, or was dropped."""
    RUNNING = "running"
    """Recorded, and its turn is open."""
    ENDED = "ended"
    """Recorded, and its turn has ended."""


class Told(NamedTuple):
    """An answer that was written."""

    prompt: int
    outcome: Outcome

    def __str__(self) -> str:
        """Return it as a story tells it."""
        return f"prompt {self.prompt}: {self.outcome}"


class View(NamedTuple):
    """What can be seen between two callbacks, or while something is written."""

    there: tuple[bool, ...]
    """By session: whether its agent is registered or its entry is in the store."""
    turns: tuple[bool, ...]
    """By session: whether its log has an open turn."""
    prompts: tuple[Progress | None, ...]
    """By slot: how far the prompt is that has to be answered, if there is one."""
    client: Client

    def __str__(self) -> str:
        """Return it as a reader of a story wants it."""
        parts = [f"session {at} is there" for at, is_there in enumerate(self.there) if is_there]
        parts += [f"session {at} has a turn" for at, is_open in enumerate(self.turns) if is_open]
        parts += [f"prompt {at} {each}" for at, each in enumerate(self.prompts) if each is not None]
        return "; ".join([*parts, f"client {self.client}"])


_PROGRESS: Final = {
    Phase.QUEUED: Progress.WAITING,
    Phase.DROPPED: Progress.WAITING,
    Phase.RUNNING: Progress.RUNNING,
    Phase.ENDED: Progress.ENDED,
    Phase.SETTLED: Progress.ENDED,
}


def view_of(state: State) -> View:
    """Return what would be seen of a state."""
    return View(
        there=tuple(session.is_there for session in state.sessions),
        turns=tuple(
            any(prompt.phase is Phase.RUNNING for _, prompt in state.of(at))
            for at in range(len(state.sessions))
        ),
        prompts=tuple(None if each is None else _PROGRESS[each.phase] for each in state.prompts),
        client=state.client,
    )


def bridge_follower(
    rows: tuple[Row[State], ...] = t.TABLE, *, sessions: int, prompts: int
) -> Follower[State, View]:
    """Return what follows a bridge with so many sessions, and prompts under way, at most.

    What a client asks for, and everything that it is told, is a call: of a session by its number,
    of an answer by what was told. A prompt has the first slot that is free when it is accepted.
    """
    return Follower(
        world=bridge_world(rows, sessions=sessions, prompts=prompts),
        view=view_of,
        labels_of=_labels_of,
        is_hidden=lambda event: event.actor is not Actor.OUTSIDE and event not in t.WRITTEN,
    )


def _labels_of(state: State, call: Call) -> Iterable[Label]:
    event, about = call.event, call.about
    match about:
        case None:
            yield Label(event, CLIENT)
        case Told(prompt, outcome):
            there = state.prompts[prompt]
            if there is not None and there.outcome is outcome:
                yield Label(event, Place(Kind.PROMPT, prompt))
        case int():
            kind = Kind.NEW_PROMPT if event is t.PROMPT else Kind.SESSION
            for each in _events_of(event):
                yield Label(each, Place(kind, about))
        case _:
            raise AssertionError(f"{call} is about nothing that there is")


def _events_of(event: Event) -> tuple[Event, ...]:
    # A client cannot tell why its load is refused.
    return (t.REFUSED, t.STORE_FAILS) if event is t.REFUSED else (event,)
