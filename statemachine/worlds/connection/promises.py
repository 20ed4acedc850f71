"""What comes in the end, and who has to do their part for that: every part is needed."""

from collections.abc import Callable
from typing import Final

from statemachine.worlds.claims import Assumption, Eventually
from statemachine.worlds.rows import Actor

from .state import NOBODY, Connection, End, Fiber, Phase, State

__all__ = ["PREMISE", "false_variants", "promises"]

RETURNS: Final = Assumption(
    name="listeners return",
    text="Code that is called returns.",
    fair=frozenset({Actor.STRETCH}),
)
DRIVERS: Final = Assumption(
    name="drivers go on",
    text="What a stopped driver waits for answers, or its grace runs out.",
    fair=frozenset({Actor.DRIVER}),
)
TEARDOWNS: Final = Assumption(
    name="teardowns go on",
    text="A teardown, while it has something to do, at some time does it.",
    fair=frozenset({Actor.TEARDOWN}),
)
STORES: Final = Assumption(
    name="the store answers",
    text="The store does what it is asked, or says that it cannot.",
    fair=frozenset({Actor.STORE}),
)
REQUESTS: Final = Assumption(
    name="requests go on",
    text="Whoever serves a request, while there is something to do, at some time does it.",
    fair=frozenset({Actor.REQUEST}),
)
_ENDS: Final = (RETURNS, DRIVERS, TEARDOWNS, STORES)
PREMISE: Final = (*_ENDS, REQUESTS)

_Question = Callable[[State, int], bool]


def _phase_is(*phases: Phase) -> _Question:
    return lambda state, at: (slot := state.slots[at]) is not None and slot.phase in phases


def _is_ending(state: State, at: int) -> bool:
    slot = state.slots[at]
    return slot is not None and slot.end in (End.STARTED, End.UNREGISTERED, End.DETACHED)


def _has_ended(state: State, at: int) -> bool:
    slot = state.slots[at]
    return slot is None or slot.end is End.RESOLVED


def _is_answered(state: State, at: int) -> bool:
    slot = state.slots[at]
    return slot is None or slot.phase in (Phase.LIVE, Phase.FAILED)


def _is_free(state: State, at: int) -> bool:
    return state.slots[at] is None


_Promise = tuple[str, str, str, str, bool, _Question, _Question, tuple[Assumption, ...]]

_PROMISES: Final[tuple[_Promise, ...]] = (
    ("every_teardown_completes", "B-38 F-33", "INV-12",
     "Every teardown that begins completes.",
     True, _is_ending, _has_ended, _ENDS),
    ("every_load_is_answered", "F-52 F-56", "INV-14",
     "Every load is answered.",
     True, _phase_is(Phase.PENDING), _is_answered, PREMISE),
    ("every_close_is_answered", "F-22", "INV-14",
     "Every close is answered.",
     True, _phase_is(Phase.CLOSING), _is_free, (*_ENDS, REQUESTS)),
    ("every_connection_that_ends_is_over", "F-55", "INV-14",
     "The teardown of a connection completes.",
     False, lambda state, _: state.connection is Connection.CLOSING,
     lambda state, _: state.connection is Connection.CLOSED, PREMISE),
    ("every_owner_that_unloads_is_gone", "F-18 F-23", "INV-12",
     "The unload of the fiber of a connection completes.",
     False, lambda state, _: state.owner is Fiber.CALLED,
     lambda state, _: state.owner is Fiber.GONE, PREMISE),
    ("every_driver_that_unloads_is_gone", "F-18 F-24", "INV-12",
     "The unload of the plugin that drives agents completes.",
     False, lambda state, _: state.provider is Fiber.CALLED,
     lambda state, _: state.provider is Fiber.GONE, _ENDS),
)  # fmt: skip


def promises(slots: int) -> tuple[Eventually[State], ...]:
    """Return every *eventually* of a world with so many slots."""
    return tuple(
        Eventually(
            name=name, clauses=tuple(clauses.split()), invariant=invariant, statement=statement,
            places=tuple(range(slots)) if is_of_slots else (NOBODY,),
            from_=from_, to=to, premise=premise,
        )
        for name, clauses, invariant, statement, is_of_slots, from_, to, premise in _PROMISES
    )  # fmt: skip


def false_variants(slots: int) -> tuple[Eventually[State], ...]:
    """Return the claims that lack one part of their premise, which must all be refuted."""
    return tuple(claim.without(part) for claim in promises(slots) for part in claim.premise)
