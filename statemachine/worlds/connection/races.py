"""The races that are really met, so that nothing holds because nothing happens."""

from typing import Final

from statemachine.worlds.claims import Claim, sometimes
from statemachine.worlds.world import Step

from . import table as t
from .state import NOBODY, Asked, Caller, Connection, End, Fiber, Phase, State, of_connection

__all__ = ["RACES"]


@sometimes("F-56", on=(t.SETTLE,), invariant="INV-14")
def a_load_comes_back_to_a_connection_that_ends(step: Step[State]) -> bool:
    """A connection can end between the call of a load and its agent, which is then disposed."""
    after = step.after.slots[step.place]
    is_ending = step.before.connection is Connection.CLOSING
    return is_ending and after is not None and after.phase is Phase.FAILING


@sometimes("F-30 F-52", on=(t.GO_ON,), invariant="INV-10")
def a_load_comes_back_to_an_owner_that_unloads(step: Step[State]) -> bool:
    """A fiber can begin to unload while a load waits, and the load then makes no agent."""
    return step.after.slots[step.place] is None and step.before.owner is not Fiber.OPEN


def _nothing_ends(state: State) -> bool:
    """Say whether nothing unloads and the connection is open."""
    fibers = (state.owner, state.provider)
    return fibers == (Fiber.OPEN, Fiber.OPEN) and state.connection is Connection.OPEN


@sometimes("E-23", on=(t.LOAD, t.CREATE), invariant="INV-16")
def a_second_load_meets_the_first(step: Step[State]) -> bool:
    """A session can be asked for while a load of it waits, and that is refused."""
    is_free = step.before.store[_asked(step).session] == NOBODY
    return step.is_refused and is_free and _nothing_ends(step.before) and _is_reserved(step)


@sometimes("A-48", on=(t.LOAD, t.CREATE), invariant="INV-16")
def a_load_meets_the_reserved_id_of_another(step: Step[State]) -> bool:
    """An agent id can be asked for while a load on another session waits: that is refused."""
    asked = _asked(step)
    holder = step.before.names[asked.agent]
    is_other = holder != NOBODY and step.before.at(holder).asked.session != asked.session
    return step.is_refused and is_other and not step.before.standing


def _asked(step: Step[State]) -> Asked:
    asked = step.label.place
    assert isinstance(asked, Asked)
    return asked


def _is_reserved(step: Step[State]) -> bool:
    return step.before.reserved[_asked(step).session] != NOBODY


@sometimes("F-06", on=(t.LOAD,), invariant="INV-16")
def a_load_meets_a_session_that_ends(step: Step[State]) -> bool:
    """A session can be asked for while the teardown of its agent is under way: that is refused."""
    at = step.before.store[_asked(step).session]
    return step.is_refused and at != NOBODY and step.before.at(at).is_stopped


@sometimes("F-22 F-38", on=(t.CREATE, t.LOAD), invariant="INV-16")
def an_agent_id_is_used_again_before_the_session_is_detached(step: Step[State]) -> bool:
    """An agent id can be taken while the last agent of that name still has its session."""
    return not step.is_refused and any(
        slot.end is End.UNREGISTERED and slot.asked.agent == _asked(step).agent
        for _, slot in step.before.taken
    )


@sometimes("F-24 F-55", on=(t.DISCONNECT, t.UNLOAD_OWNER, t.UNLOAD_PROVIDER), invariant="INV-14")
def a_listener_of_the_new_session_ends_everything(step: Step[State]) -> bool:
    """Connection and fibers can begin to end inside the announcement of a session."""
    return any(slot.phase is Phase.OPENING for _, slot in step.before.taken)


@sometimes("F-18", on=(t.UNWIND_OWNER,), invariant="INV-12")
def an_owner_meets_a_teardown_that_is_under_way(step: Step[State]) -> bool:
    """A fiber can unload while its agent is being disposed by its handle, and joins that end."""
    return any(
        slot.phase is Phase.CLOSING and slot.end is End.STARTED
        for slot in of_connection(step.before)
    )


@sometimes("F-56", on=(t.SETTLE,), invariant="INV-14")
def a_request_gets_an_agent_that_has_ended(step: Step[State]) -> bool:
    """An agent can be disposed before whoever asked for it goes on."""
    slot = step.before.at(step.place)
    is_over = slot.end is End.RESOLVED
    return is_over and slot.asked.caller is Caller.CONNECTION and _nothing_ends(step.before)


@sometimes("F-21 F-55", on=(t.OVER,), invariant="INV-10")
def a_program_goes_on_when_a_connection_is_over(step: Step[State]) -> bool:
    """An agent of somebody else can live through the end of a connection."""
    return any(slot.is_alive for _, slot in step.before.taken)


RACES: Final[tuple[Claim, ...]] = (
    a_load_comes_back_to_a_connection_that_ends,
    a_load_comes_back_to_an_owner_that_unloads,
    a_load_meets_the_reserved_id_of_another,
    a_second_load_meets_the_first,
    a_load_meets_a_session_that_ends,
    an_agent_id_is_used_again_before_the_session_is_detached,
    a_listener_of_the_new_session_ends_everything,
    an_owner_meets_a_teardown_that_is_under_way,
    a_request_gets_an_agent_that_has_ended,
    a_program_goes_on_when_a_connection_is_over,
)
