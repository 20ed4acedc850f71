"""What can be seen of the connection world from outside a runtime, and how to follow one."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from statemachine.worlds.agreement import Call, Follower
from statemachine.worlds.rows import Actor, Event, Label

from .state import AGENTS, NOBODY, SESSIONS, Asked, Caller, Connection, Fiber, Phase, State
from .table import CALLS, REST, SLOTTED
from .world import connection_world

__all__ = ["View", "connection_follower", "view_of"]

_ALL_ASKS: Final = tuple(
    Asked(caller, agent, session)
    for caller in Caller
    for agent in (0, 1)
    for session in range(len(SESSIONS))
)
_UNANSWERED: Final = (Phase.PENDING, Phase.READ, Phase.OPENING, Phase.TOLD, Phase.RETURNED,
                      Phase.FAILING)  # fmt: skip


class View(NamedTuple):
    """What can be seen between two callbacks, or inside a listener."""

    registered: tuple[int, ...]
    """By agent id: the session of the agent that is registered, or `NOBODY`."""
    stopped: tuple[bool, ...]
    """By agent id: whether that agent is disposed."""
    entered: tuple[bool, ...]
    """By session id: whether it is live."""
    unanswered: tuple[Asked, ...]
    """What was asked for and is neither made nor refused yet, in order."""
    closing: int
    """How many closes wait."""
    is_calling_out: bool
    """Whether listeners of a new session, or of a new agent, are being told."""
    connection: Connection
    is_owner_gone: bool
    is_provider_gone: bool

    def __str__(self) -> str:
        """Return it as a reader of a story wants it: only what is not at rest."""
        parts = [
            f"{AGENTS[agent]} on {SESSIONS[session]}{' disposed' * is_stopped}"
            for agent, (session, is_stopped) in enumerate(
                zip(self.registered, self.stopped, strict=True)
            )
            if session != NOBODY
        ]
        live = [name for name, is_live in zip(SESSIONS, self.entered, strict=True) if is_live]
        parts += [f"live {' '.join(live)}"] if live else []
        parts += [f"unanswered {asked}" for asked in self.unanswered]
        parts += [f"{self.closing} closing"] if self.closing else []
        parts += ["listeners are told"] if self.is_calling_out else []
        parts += [f"connection {self.connection}"]
        parts += ["owner gone"] if self.is_owner_gone else []
        parts += ["provider gone"] if self.is_provider_gone else []
        return "; ".join(parts)


def view_of(state: State) -> View:
    """Return what would be seen of a state."""
    agents = [None if at == NOBODY else state.at(at) for at in state.registry]
    return View(
        registered=tuple(NOBODY if slot is None else slot.asked.session for slot in agents),
        stopped=tuple(slot is not None and slot.is_stopped for slot in agents),
        entered=tuple(at != NOBODY for at in state.store),
        unanswered=tuple(sorted(s.asked for _, s in state.taken if s.phase in _UNANSWERED)),
        closing=sum(slot.phase is Phase.CLOSING for _, slot in state.taken),
        is_calling_out=bool(state.standing),
        connection=state.connection,
        is_owner_gone=state.owner is Fiber.GONE,
        is_provider_gone=state.provider is Fiber.GONE,
    )


def connection_follower(slots: int = 4) -> Follower[State, View]:
    """Return what follows a runtime with so many requests under way at most."""
    return Follower(
        world=connection_world(slots=slots, asks=_ALL_ASKS),
        view=view_of,
        labels_of=_labels_of,
        is_hidden=lambda event: event.actor is not Actor.OUTSIDE or event is REST,
    )


def _labels_of(state: State, call: Call) -> Iterable[Label]:
    if call.event in CALLS or call.about is None:
        yield Label(call.event, NOBODY if call.about is None else call.about)
    else:
        assert call.event in SLOTTED
        yield from _labels_about(state, call.event, call.about)


def _labels_about(state: State, event: Event, about: object) -> Iterable[Label]:
    """Return the event at every slot that was asked for so."""
    for at, slot in state.taken:
        if slot.asked == about:
            yield Label(event, at)
