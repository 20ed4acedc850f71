"""What a row of this world may do: small changes, each to a table or to one slot.

A table is always changed by object: a slot takes only its own entry out. Doing it by id instead is
one of the faults that the claims are there to find.
"""

from collections.abc import Callable, Iterable

from statemachine.commands import Input
from statemachine.worlds.driver import MOVES, OWN, Driver
from statemachine.worlds.rows import Move

from .state import NOBODY, Caller, Connection, End, Fiber, Phase, Slot, State

__all__ = ["phase"]


def _move(make: Callable[[State, int], State]) -> Move[State]:
    return Move(make.__name__, make)


def phase(to: Phase) -> Move[State]:
    """Return the move of a request to its next phase."""
    return Move(to.value, lambda state, at: state.put(at, state.at(at)._replace(phase=to)))


def _with(table: tuple[int, ...], key: int, value: int) -> tuple[int, ...]:
    return (*table[:key], value, *table[key + 1 :])


def _without(table: tuple[int, ...], key: int, own: int) -> tuple[int, ...]:
    return _with(table, key, NOBODY) if table[key] == own else table


# -- Ids -------------------------------------------------------------------------------------------


@_move
def reserve_name(state: State, at: int) -> State:
    return state._replace(names=_with(state.names, state.at(at).asked.agent, at))


@_move
def give_up_name(state: State, at: int) -> State:
    return state._replace(names=_without(state.names, state.at(at).asked.agent, at))


@_move
def reserve(state: State, at: int) -> State:
    return state._replace(reserved=_with(state.reserved, state.at(at).asked.session, at))


@_move
def give_up_reservation(state: State, at: int) -> State:
    return state._replace(reserved=_without(state.reserved, state.at(at).asked.session, at))


@_move
def take_lease(state: State, at: int) -> State:
    return state._replace(leases=_with(state.leases, state.at(at).asked.session, at))


@_move
def take_free_lease(state: State, at: int) -> State:
    """Become the writer of a new session; behind the last writer if that has not gone yet."""
    is_free = state.leases[state.at(at).asked.session] == NOBODY
    return take_lease.make(state, at) if is_free else state


@_move
def pass_lease_on(state: State, at: int) -> State:
    """Give the lease back: to whoever made a new session meanwhile, or to nobody."""
    session = state.at(at).asked.session
    if state.leases[session] != at:
        return state
    return state._replace(leases=_with(state.leases, session, state.store[session]))


@_move
def enter(state: State, at: int) -> State:
    return state._replace(store=_with(state.store, state.at(at).asked.session, at))


@_move
def detach(state: State, at: int) -> State:
    return state._replace(store=_without(state.store, state.at(at).asked.session, at))


@_move
def register(state: State, at: int) -> State:
    return state._replace(registry=_with(state.registry, state.at(at).asked.agent, at))


@_move
def unregister(state: State, at: int) -> State:
    return state._replace(registry=_without(state.registry, state.at(at).asked.agent, at))


# -- Requests --------------------------------------------------------------------------------------


@_move
def free(state: State, at: int) -> State:
    return state.put(at, None)


@_move
def stand(state: State, at: int) -> State:
    return state._replace(standing=(*state.standing, at))


@_move
def return_(state: State, _: int) -> State:
    return state._replace(standing=state.standing[:-1])


@_move
def answer(state: State, at: int) -> State:
    """Hand the agent over; of one that has ended meanwhile nothing is left."""
    slot = state.at(at)
    return state.put(at, None if slot.end is End.RESOLVED else slot._replace(phase=Phase.LIVE))


@_move
def refuse(state: State, at: int) -> State:
    """Refuse what had begun; what it has taken from the store is given back behind that."""
    slot = state.at(at)
    if slot.end is End.NONE:
        slot = slot._replace(driver=Driver.NONE, end=End.DETACHED, is_owned=False)
    is_done = slot.end is End.DETACHED and at not in state.leases
    return state.put(at, None if is_done else slot._replace(phase=Phase.FAILED))


# -- The agent -------------------------------------------------------------------------------------


@_move
def make_agent(state: State, at: int) -> State:
    return state.put(at, state.at(at)._replace(phase=Phase.OPENING, driver=Driver.PARKED))


@_move
def own(state: State, at: int) -> State:
    return state.put(at, state.at(at)._replace(is_owned=True))


@_move
def wake(state: State, at: int) -> State:
    return state.put(at, _driven(state.at(at), Input.SEND))


@_move
def go_on_driving(state: State, at: int) -> State:
    return state.put(at, _driven(state.at(at), OWN))


def _driven(slot: Slot, by: Input | None) -> Slot:
    return slot._replace(driver=MOVES[by, slot.driver])


@_move
def dispose(state: State, at: int) -> State:
    return state.put(at, _disposed(state.at(at)))


def _disposed(slot: Slot) -> Slot:
    if slot.driver is Driver.NONE or slot.end is not End.NONE:
        return slot
    return _driven(slot, Input.DISPOSE)._replace(end=End.STARTED)


@_move
def unregistered(state: State, at: int) -> State:
    return state.put(at, state.at(at)._replace(end=End.UNREGISTERED))


@_move
def detached(state: State, at: int) -> State:
    return state.put(at, state.at(at)._replace(end=End.DETACHED))


@_move
def resolve(state: State, at: int) -> State:
    """End the teardown; whoever waits for it goes on, and without one nothing is left."""
    slot = state.at(at)
    if slot.phase in (Phase.LIVE, Phase.FAILED):
        return state.put(at, None)
    return state.put(at, slot._replace(end=End.RESOLVED, is_owned=False))


# -- The whole -------------------------------------------------------------------------------------


def _dispose_all(state: State, those: Iterable[Slot]) -> State:
    chosen = set(map(id, those))
    slots = (
        _disposed(slot) if slot is not None and id(slot) in chosen else slot for slot in state.slots
    )
    return state._replace(slots=tuple(slots))


def _present(state: State) -> tuple[Slot, ...]:
    return tuple(slot for slot in state.slots if slot is not None)


def _break_off(state: State, those: Iterable[Slot]) -> State:
    """Wake loads that wait: they find their owner gone."""
    chosen = set(map(id, those))
    slots = (
        slot._replace(phase=Phase.READ)
        if slot is not None and id(slot) in chosen and slot.phase is Phase.PENDING
        else slot
        for slot in state.slots
    )
    return state._replace(slots=tuple(slots))


@_move
def break_off_owned(state: State, _: int) -> State:
    return _break_off(
        state, (slot for slot in _present(state) if slot.asked.caller is Caller.CONNECTION)
    )


@_move
def break_off_all(state: State, _: int) -> State:
    return _break_off(state, _present(state))


@_move
def dispose_records(state: State, _: int) -> State:
    return _dispose_all(
        state,
        (
            slot
            for slot in _present(state)
            if slot.asked.caller is Caller.CONNECTION and slot.phase is Phase.LIVE
        ),
    )


@_move
def dispose_owned(state: State, _: int) -> State:
    return _dispose_all(
        state,
        (
            slot
            for slot in _present(state)
            if slot.asked.caller is Caller.CONNECTION and slot.is_owned
        ),
    )


@_move
def dispose_driven(state: State, _: int) -> State:
    return _dispose_all(state, (slot for slot in _present(state) if slot.is_owned))


@_move
def close_connection(state: State, _: int) -> State:
    if state.connection is not Connection.OPEN:
        return state
    return state._replace(connection=Connection.CLOSING)


def _connection(to: Connection) -> Move[State]:
    return Move(f"connection {to.value}", lambda state, _: state._replace(connection=to))


def _owner(to: Fiber) -> Move[State]:
    return Move(f"owner {to.value}", lambda state, _: state._replace(owner=to))


def _provider(to: Fiber) -> Move[State]:
    return Move(f"provider {to.value}", lambda state, _: state._replace(provider=to))


connection_closed = _connection(Connection.CLOSED)
owner_called, owner_unwound, owner_gone = map(_owner, (Fiber.CALLED, Fiber.UNWOUND, Fiber.GONE))
provider_called, provider_unwound, provider_gone = map(
    _provider, (Fiber.CALLED, Fiber.UNWOUND, Fiber.GONE)
)
