"""What a row of this world may ask: claims about one slot, or about the whole."""

from collections.abc import Callable

from statemachine.worlds.driver import Driver
from statemachine.worlds.rows import Guard

from .state import NOBODY, Caller, Connection, End, Fiber, Phase, Slot, State, of_connection

__all__ = ["in_phase", "the_connection", "the_driver", "the_end", "the_owner", "the_provider"]

Claim = Callable[[State, int], bool]


def _guard(claim: Claim) -> Guard[State]:
    return Guard(claim.__name__, claim)


def in_phase(*phases: Phase) -> Guard[State]:
    """Return the guard that the request is so far."""
    return Guard(
        f"{' or '.join(phase.value for phase in phases)}",
        lambda state, at: (slot := state.slots[at]) is not None and slot.phase in phases,
    )


def the_driver(driver: Driver) -> Guard[State]:
    """Return the guard that the driver is there."""
    return Guard(
        f"driver {driver.value}",
        lambda state, at: (slot := state.slots[at]) is not None and slot.driver is driver,
    )


def the_end(end: End) -> Guard[State]:
    """Return the guard that the teardown is so far."""
    return Guard(
        f"end {end.value}",
        lambda state, at: (slot := state.slots[at]) is not None and slot.end is end,
    )


def the_connection(phase: Connection) -> Guard[State]:
    """Return the guard that the connection is so far."""
    return Guard(f"connection {phase.value}", lambda state, _: state.connection is phase)


def the_owner(phase: Fiber) -> Guard[State]:
    """Return the guard that the fiber of the connection is so far."""
    return Guard(f"owner {phase.value}", lambda state, _: state.owner is phase)


def the_provider(phase: Fiber) -> Guard[State]:
    """Return the guard that the fiber of the driver's plugin is so far."""
    return Guard(f"provider {phase.value}", lambda state, _: state.provider is phase)


# -- About one request -----------------------------------------------------------------------------


@_guard
def by_program(state: State, at: int) -> bool:
    return state.at(at).asked.caller is Caller.PROGRAM


@_guard
def of_a_connection_that_ends(state: State, at: int) -> bool:
    is_over = state.connection is not Connection.OPEN
    return is_over and state.at(at).asked.caller is Caller.CONNECTION


@_guard
def an_owner_unloads(state: State, at: int) -> bool:
    is_owner_open = state.owner is Fiber.OPEN or state.at(at).asked.caller is Caller.PROGRAM
    return not is_owner_open or state.provider is not Fiber.OPEN


@_guard
def the_agent_id_is_registered(state: State, at: int) -> bool:
    return state.registry[state.at(at).asked.agent] != NOBODY


@_guard
def the_agent_id_is_reserved(state: State, at: int) -> bool:
    return state.names[state.at(at).asked.agent] != NOBODY


@_guard
def the_session_is_live(state: State, at: int) -> bool:
    return state.store[state.at(at).asked.session] != NOBODY


@_guard
def the_session_is_reserved(state: State, at: int) -> bool:
    return state.reserved[state.at(at).asked.session] != NOBODY


@_guard
def the_lease_is_free(state: State, at: int) -> bool:
    return state.leases[state.at(at).asked.session] == NOBODY


@_guard
def leased(state: State, at: int) -> bool:
    return at in state.leases


@_guard
def unleased(state: State, at: int) -> bool:
    return at not in state.leases


@_guard
def the_stretch_is_innermost(state: State, at: int) -> bool:
    return bool(state.standing) and state.standing[-1] == at


@_guard
def stopped(state: State, at: int) -> bool:
    return state.at(at).is_stopped


@_guard
def recorded(state: State, at: int) -> bool:
    slot = state.slots[at]
    return slot is not None and _is_recorded(slot)


@_guard
def held_by_program(state: State, at: int) -> bool:
    slot = state.slots[at]
    return slot is not None and slot.phase is Phase.LIVE and slot.asked.caller is Caller.PROGRAM


@_guard
def announced(state: State, at: int) -> bool:
    slot = state.slots[at]
    return slot is not None and slot.driver is not Driver.NONE and slot.phase is not Phase.OPENING


# -- About the whole -------------------------------------------------------------------------------


def _is_recorded(slot: Slot) -> bool:
    return slot.asked.caller is Caller.CONNECTION and slot.phase is Phase.LIVE


_SERVED = (
    Phase.PENDING, Phase.READ, Phase.OPENING, Phase.TOLD, Phase.RETURNED, Phase.FAILING,
)  # fmt: skip


@_guard
def no_request_is_served(state: State, _: int) -> bool:
    return not any(slot.phase in _SERVED for slot in of_connection(state))


@_guard
def no_close_waits(state: State, _: int) -> bool:
    return not any(slot.phase is Phase.CLOSING for slot in of_connection(state))


@_guard
def no_record_ends(state: State, _: int) -> bool:
    return not any(slot.phase in (Phase.LIVE, Phase.FAILED) for slot in of_connection(state))


@_guard
def nothing_driven_ends(state: State, _: int) -> bool:
    return not any(slot is not None and slot.is_owned for slot in state.slots)
