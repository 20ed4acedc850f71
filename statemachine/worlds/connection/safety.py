"""What is never seen, whatever races: shared ids, leaks, an end that nobody may begin."""

from typing import Final

from statemachine.worlds.claims import Everywhere, OnEveryStep, everywhere, on_every_step
from statemachine.worlds.driver import Driver
from statemachine.worlds.world import Step

from . import table as t
from .state import NOBODY, Caller, Connection, End, Fiber, Phase, Slot, State, of_connection

__all__ = ["SAFETY"]

_TABLES: Final = ("registry", "names", "reserved", "store", "leases")


# -- Of every state --------------------------------------------------------------------------------


@everywhere("A-48 F-05 F-06 F-07", invariant="INV-16")
def no_two_live_agents_share_an_id(state: State) -> bool:
    """No two agents whose drivers have not exited have an agent id or a session id in common."""
    alive = [slot.asked for _, slot in state.taken if slot.is_alive]
    agents, sessions = ({asked[part] for asked in alive} for part in (1, 2))
    return len(agents) == len(sessions) == len(alive)


@everywhere("F-06 F-08 E-22 E-23", invariant="INV-16")
def a_session_has_one_user(state: State) -> bool:
    """A session is live, or being loaded, or its lease is being given back, for one at a time."""
    return all(
        NOBODY in (reserved, entered)
        and (lease in (NOBODY, reserved, entered) or state.at(lease).end is End.DETACHED)
        for reserved, entered, lease in zip(state.reserved, state.store, state.leases, strict=True)
    )


@everywhere("F-38 F-52", invariant="INV-14")
def every_entry_is_somebodys(state: State) -> bool:
    """An id that is registered, entered, reserved or leased belongs to a request that is there."""
    return all(
        at == NOBODY or ((slot := state.slots[at]) is not None and slot.asked[key] == number)
        for name, key in zip(_TABLES, (1, 1, 2, 2, 2), strict=True)
        for number, at in enumerate(getattr(state, name))
    )


def _somebody_lives(state: State) -> bool:
    return any(slot.is_known for _, slot in state.taken)


@everywhere("A-49 F-02", invariant="INV-10", about=_somebody_lives)
def who_lives_can_be_found(state: State) -> bool:
    """An agent that was announced and whose driver has not exited is registered and entered."""
    return all(
        state.registry[slot.asked.agent] == at and state.store[slot.asked.session] == at
        for at, slot in state.taken
        if slot.is_known
    )


def _is_connection_over(state: State) -> bool:
    return state.connection is Connection.CLOSED


@everywhere("F-55", invariant="INV-14", about=_is_connection_over)
def nothing_of_a_connection_outlives_it(state: State) -> bool:
    """When the teardown of a connection has resolved nothing of it is left, then and later."""
    return not of_connection(state)


def _has_agent(slot: Slot) -> bool:
    return slot.driver is not Driver.NONE and slot.end is not End.RESOLVED


def _is_owner_gone(state: State) -> bool:
    return state.owner is Fiber.GONE


@everywhere("F-18 F-23", invariant="INV-10", about=_is_owner_gone)
def nothing_owned_outlives_its_owner(state: State) -> bool:
    """When a fiber has unloaded, no agent that it owned is left, then and later."""
    return not any(map(_has_agent, of_connection(state)))


def _is_provider_gone(state: State) -> bool:
    return state.provider is Fiber.GONE


@everywhere("F-18 F-24", invariant="INV-10", about=_is_provider_gone)
def nothing_driven_outlives_the_driver(state: State) -> bool:
    """When the plugin that drives agents has unloaded, no agent is left, then and later."""
    return not any(_has_agent(slot) for _, slot in state.taken)


def _is_anybody_made(state: State) -> bool:
    return any(_has_agent(slot) for _, slot in state.taken)


@everywhere("F-23 F-24", invariant="INV-10", about=_is_anybody_made)
def an_agent_is_owned_from_the_first_moment(state: State) -> bool:
    """Before anybody can hear of an agent its fibers own it, until its end."""
    return all(slot.is_owned for _, slot in state.taken if _has_agent(slot))


# -- Of every step ---------------------------------------------------------------------------------


def _left(step: Step[State], table: str) -> set[int]:
    """Return the slots whose entry in a table goes in a step."""
    before, after = getattr(step.before, table), getattr(step.after, table)
    if before is after:
        return set()
    return {old for old, new in zip(before, after, strict=True) if old not in (new, NOBODY)}


def _removes_something(step: Step[State]) -> bool:
    return any(_left(step, name) for name in _TABLES)


@on_every_step("F-38", invariant="INV-16", about=_removes_something)
def an_entry_is_removed_only_by_its_own(step: Step[State]) -> bool:
    """Nobody but the request that made an entry, or the end of its agent, takes the entry out."""
    return all(_left(step, name) <= {step.place} for name in _TABLES)


def _detaches(step: Step[State]) -> bool:
    return bool(_left(step, "store"))


@on_every_step("F-15 F-16", invariant="INV-11", about=_detaches)
def a_session_is_detached_last(step: Step[State]) -> bool:
    """A session is detached after the driver's exit and after the agent is unregistered."""
    return all(_may_be_detached(step.before, at) for at in _left(step, "store"))


def _may_be_detached(state: State, at: int) -> bool:
    slot = state.at(at)
    is_unheard_of = slot.phase is Phase.OPENING
    return is_unheard_of or (slot.driver is Driver.EXITED and at not in state.registry)


def _begun(step: Step[State]) -> list[int]:
    """Return the slots whose teardown begins in a step."""
    return [
        at
        for at, slot in step.before.taken
        if slot.end is End.NONE
        and slot.driver is not Driver.NONE
        # An agent that nobody has heard of is not ended but never made.
        and slot.phase is not Phase.OPENING
        and (after := step.after.slots[at]) is not None
        and after.end is not End.NONE
    ]


def _begins_an_end(step: Step[State]) -> bool:
    return bool(_begun(step))


@on_every_step("A-49 F-21 F-23 F-24 F-40", invariant="INV-10", about=_begins_an_end)
def only_who_may_begins_an_end(step: Step[State]) -> bool:
    """An agent ends by its handle's holder, its driver's task or a fiber that owns it, alone."""
    event = step.label.event
    if event is t.UNWIND_PROVIDER:
        return True
    if event in (t.UNWIND_OWNER, t.DISCONNECT):
        callers = {step.before.at(at).asked.caller for at in _begun(step)}
        return callers == {Caller.CONNECTION}
    is_holder = event in (t.DISPOSE, t.CLOSE, t.SETTLE, t.CANCEL_DRIVER)
    return is_holder and _begun(step) == [step.place]


def _answers_the_connection(step: Step[State]) -> bool:
    slot = step.after.slots[step.place]
    is_live = slot is not None and slot.phase is Phase.LIVE
    return is_live and step.before.at(step.place).asked.caller is Caller.CONNECTION


@on_every_step("F-55 F-56", on=(t.SETTLE,), invariant="INV-14", about=_answers_the_connection)
def nobody_is_given_to_a_connection_that_ends(step: Step[State]) -> bool:
    """A request of a connection is answered with a live agent only while the connection is open."""
    is_alive = step.before.at(step.place).is_alive
    return is_alive and step.before.connection is Connection.OPEN


def _makes_somebody(step: Step[State]) -> bool:
    return step.place in step.after.store


@on_every_step("F-24", on=(t.CREATE, t.GO_ON, t.OPENED), invariant="INV-10", about=_makes_somebody)
def nobody_is_made_on_a_fiber_that_unloads(step: Step[State]) -> bool:
    """An agent is made and registered only while both fibers that own it are loaded."""
    is_program = step.after.at(step.place).asked.caller is Caller.PROGRAM
    is_open = is_program or step.before.owner is Fiber.OPEN
    return is_open and step.before.provider is Fiber.OPEN


def _is_over(step: Step[State]) -> bool:
    """Say whether a request is answered with a refusal, or given up, behind its call."""
    slot = step.before.slots[step.place] if step.place != NOBODY else None
    early = (Phase.PENDING, Phase.READ, Phase.OPENING, Phase.FAILING, Phase.FAILED)
    is_early = slot is not None and slot.phase in early
    return is_early and step.after.slots[step.place] is None


@on_every_step("F-09 F-52", invariant="INV-14", about=_is_over)
def a_failed_request_leaves_nothing(step: Step[State]) -> bool:
    """A request that fails leaves no agent, no session, no reservation and no lease."""
    return not any(step.place in getattr(step.after, name) for name in _TABLES)


@on_every_step("F-22", on=(t.CLOSED,), invariant="INV-14")
def a_closed_session_is_gone(step: Step[State]) -> bool:
    """When a close is answered nothing of that agent is left."""
    asked = step.before.at(step.place).asked
    places = {step.after.registry[asked.agent], step.after.store[asked.session]}
    return step.place not in places


SAFETY: Final[tuple[Everywhere[State] | OnEveryStep[State], ...]] = (
    no_two_live_agents_share_an_id,
    a_session_has_one_user,
    every_entry_is_somebodys,
    who_lives_can_be_found,
    nothing_of_a_connection_outlives_it,
    nothing_owned_outlives_its_owner,
    nothing_driven_outlives_the_driver,
    an_agent_is_owned_from_the_first_moment,
    an_entry_is_removed_only_by_its_own,
    a_session_is_detached_last,
    only_who_may_begins_an_end,
    nobody_is_given_to_a_connection_that_ends,
    nobody_is_made_on_a_fiber_that_unloads,
    a_failed_request_leaves_nothing,
    a_closed_session_is_gone,
)
