"""What can be seen of the store world from outside a runtime, and how to follow one.

A runtime is looked at when nobody has anything to do. In between, calls are told in the order in
which they are made; what the tasks of the runtime do is hidden. The followed world is the store
world, with four differences. Its bounds are lifted. What a call to the disk covers is looked up
when its task first runs, which may be later than when it was asked for. And the driver flushes
behind its closing records, before the teardown does. And a flush that was answered while there was
no keeper counts for the teardown, which then leaves the last write to the release.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from attrs import evolve

from statemachine.worlds.agreement import Call, Follower
from statemachine.worlds.rows import Actor, Event, Guard, Label, Row
from statemachine.worlds.world import World

from . import moves as m
from . import table as t
from .state import KEEPER, SESSION, Agent, Keeper, Kind, State, Work

__all__ = ["View", "store_follower", "view_of"]

_LOOK_UP: Final = Event("the disk is asked", Actor.STORE)
_NOTHING_OWED: Final = Event("no flush is owed", Actor.TEARDOWN)
_KEEPER_GRACE: Final = Event("the grace of the keeper runs out", Actor.OUTSIDE)
_OWN: Final = (_LOOK_UP, _NOTHING_OWED, _KEEPER_GRACE)
_BOUNDS: Final = ("room_for_a_record", "room_for_a_call")


class View(NamedTuple):
    """What can be seen when nobody has anything to do."""

    agent: str
    """`none`, `loading`, `live` or `ending`."""
    log: tuple[Kind, ...]
    """The beginnings and ends of the turns of the session, while there is an agent on it."""
    disk: tuple[Kind, ...]
    """The same, of what is stored."""
    is_kept: bool
    """Whether the keeper is loaded."""
    under_way: Work | None
    """What the disk has been asked for and has not answered."""
    is_flush_waiting: bool
    is_loss_untold: bool
    """Whether a dispose has said nothing of what is not stored."""

    def __str__(self) -> str:
        """Return it as a reader of a story wants it."""
        parts = [f"agent {self.agent}"]
        parts += [f"log {' '.join(self.log)}"] if self.log else []
        parts += [f"disk {' '.join(self.disk)}"] if self.disk else []
        parts += [] if self.is_kept else ["no keeper"]
        parts += [f"disk asked: {self.under_way}"] if self.under_way else []
        parts += ["a flush waits"] if self.is_flush_waiting else []
        parts += ["A LOSS IS NOT TOLD"] if self.is_loss_untold else []
        return "; ".join(parts)


def view_of(state: State) -> View:
    """Return what would be seen of a state."""
    has_agent = state.agent not in (Agent.NONE, Agent.LOADING)
    is_whole = state.agent in (Agent.NONE, Agent.LOADING, Agent.LIVE)
    return View(
        agent=state.agent.value if is_whole else "ending",
        log=tuple(record.kind for record in state.log) if has_agent else (),
        disk=tuple(record.kind for record in state.disk),
        is_kept=state.keeper is Keeper.LOADED,
        under_way=state.queue[0].work if state.queue else None,
        is_flush_waiting=state.barrier is not None,
        # That it never is one is a claim about the world.
        is_loss_untold=False,
    )


def store_follower(table: tuple[Row[State], ...] = t.TABLE) -> Follower[State, View]:
    """Return what follows a runtime that keeps one session."""
    return Follower(
        world=World(
            name="store, followed",
            initial=State(),
            rows=tuple(_followed(table)),
            labels=(
                *(Label(event, SESSION) for event in (*t.EVENTS, *_OWN)),
                *(Label(event, KEEPER) for event in t.KEEPERS),
            ),
            ask=lambda state, _: (state, SESSION),
            stands=lambda _: False,
        ),
        view=view_of,
        labels_of=_labels_of,
        is_hidden=_HIDDEN.__contains__,
    )


# A keeper that is reloaded loads when it has unloaded.
_HIDDEN: Final = (
    t.LOAD_KEEPER,
    _LOOK_UP,
    _NOTHING_OWED,
    t.CLOSES,
    t.LAST_FLUSH,
    t.RELEASE,
    *t.KEEPERS,
)


def _labels_of(_: State, call: Call) -> Iterable[Label]:
    yield Label(call.event, SESSION)
    if call.event is t.GRACE:
        yield Label(_KEEPER_GRACE, SESSION)
        # The time that was over was that of somebody else.
        yield Label(t.READ, SESSION)


def _followed(table: tuple[Row[State], ...]) -> Iterable[Row[State]]:
    for row in table:
        guards = {guard.name for guard in row.when}
        if row.on is t.GRACE and "keeper draining" in guards:
            yield evolve(row, on=_KEEPER_GRACE)
            continue
        yield evolve(row, when=tuple(each for each in row.when if each.name not in _BOUNDS))
        if row.on is t.LAST_FLUSH:
            # Of its two rows only the second is left, whatever is known to be stored.
            yield Row(_NOTHING_OWED, row.when[:2], (m.agent_becomes(Agent.FLUSHED),), None, ())
        if row.on is t.FLUSH:
            yield evolve(row, when=tuple(map(_or_closed, row.when)))
    yield Row(_LOOK_UP, (_WRITES,), (m.LOOK_UP,), None, ("E-47",))


def _or_closed(guard: Guard[State]) -> Guard[State]:
    """Return the guard for a flush of the driver behind its closing records."""
    if not guard.name.startswith("agent "):
        return _NO_BOUND if guard.name in _BOUNDS else guard
    return Guard(f"agent {Agent.CLOSED}", lambda state, _: state.agent is Agent.CLOSED)


_NO_BOUND: Final[Guard[State]] = Guard("no bound", lambda _, __: True)
_WRITES: Final[Guard[State]] = Guard(
    "something is written", lambda state, _: bool(state.queue) and state.queue[0].work != Work.LOAD
)
