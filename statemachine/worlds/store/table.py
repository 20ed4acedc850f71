"""The store world as a table: what can happen, in which circumstance, and what it does.

Theory. The log is the buffer and a cursor says how much of it is stored, so nothing is emptied that
was not written. A call that failed may have got through all the same: then the cursor is not
trusted, and the next write compares first. The disk does one call after the other, the lease goes
with the first write or the load and ends with the last write, so whoever comes next comes behind.
"""

from collections.abc import Callable
from typing import Final

from statemachine.worlds.rows import Actor, Event, Guard, Move, Row

from . import moves as m
from .state import COMPARE, Agent, Keeper, Owner, State, Work

__all__ = [
    "APPEND", "CLOSES", "CRASH", "CRASH_LATE", "CREATE", "DISK_ERROR", "DISK_LATE", "DISK_OK",
    "DISPOSE", "DRAINED", "EVENTS", "FLUSH", "GIVE_UP", "GRACE", "KEEPERS", "LAST_FLUSH",
    "LENGTH_MAX", "LOAD_KEEPER", "READ", "RELEASE", "RESUME", "RIVALS", "RIVAL_GOES",
    "RIVAL_RESUMES", "STOP", "STOP_KEEPER", "TABLE", "UNLOAD_KEEPER",
]  # fmt: skip

LENGTH_MAX: Final = 3
"""How many records are appended at most; an end or a repair may close the turn that is open."""
_CALLS_MAX: Final = 2

_A = Actor
APPEND: Final = Event("append", _A.OUTSIDE)
FLUSH: Final = Event("flush", _A.OUTSIDE)
READ: Final = Event("read or list", _A.OUTSIDE)
DISK_OK: Final = Event("the disk has done it", _A.STORE)
DISK_ERROR: Final = Event("the disk fails", _A.STORE)
DISK_LATE: Final = Event("the disk has done it and fails", _A.STORE)
DISPOSE: Final = Event("dispose the agent", _A.OUTSIDE)
CLOSES: Final = Event("the driver exits", _A.DRIVER)
LAST_FLUSH: Final = Event("the teardown flushes", _A.TEARDOWN)
RELEASE: Final = Event("the teardown releases the session", _A.TEARDOWN)
GRACE: Final = Event("a grace runs out", _A.OUTSIDE)
CREATE: Final = Event("create", _A.OUTSIDE)
RESUME: Final = Event("resume", _A.OUTSIDE)
GIVE_UP: Final = Event("give the resume up", _A.OUTSIDE)
UNLOAD_KEEPER: Final = Event("unload the keeper", _A.OUTSIDE)
DRAINED: Final = Event("the keeper has drained", _A.TEARDOWN)
LOAD_KEEPER: Final = Event("load the keeper", _A.OUTSIDE)
STOP: Final = Event("stop the application", _A.OUTSIDE)
STOP_KEEPER: Final = Event("the application unloads the keeper", _A.TEARDOWN)
CRASH: Final = Event("crash", _A.OUTSIDE)
CRASH_LATE: Final = Event("crash behind the work", _A.OUTSIDE)
RIVAL_RESUMES: Final = Event("another process resumes", _A.OUTSIDE)
RIVAL_GOES: Final = Event("the other process goes", _A.OUTSIDE)

EVENTS: Final = (
    APPEND, FLUSH, READ, DISK_OK, DISK_ERROR, DISK_LATE, DISPOSE, CLOSES, LAST_FLUSH, RELEASE,
    GRACE, CREATE, RESUME, GIVE_UP, UNLOAD_KEEPER, LOAD_KEEPER, STOP, CRASH, CRASH_LATE,
    RIVAL_RESUMES, RIVAL_GOES,
)  # fmt: skip
RIVALS: Final = (RIVAL_RESUMES, RIVAL_GOES)
KEEPERS: Final = (DRAINED, STOP_KEEPER)
"""What the end of the keeper does, which is a task of its own."""


# -- Guards ----------------------------------------------------------------------------------------


def _guard(claim: Callable[[State, int], bool]) -> Guard[State]:
    return Guard(claim.__name__.strip("_"), claim)


def _agent(*phases: Agent) -> Guard[State]:
    return Guard(f"agent {' or '.join(phases)}", lambda state, _: state.agent in phases)


def _keeper(phase: Keeper) -> Guard[State]:
    return Guard(f"keeper {phase}", lambda state, _: state.keeper is phase)


def _lease(owner: Owner) -> Guard[State]:
    return Guard(f"lease {owner}", lambda state, _: state.lease is owner)


def _under_way(work: Work) -> Guard[State]:
    return Guard(
        f"{work} under way", lambda state, _: bool(state.queue) and state.queue[0].work is work
    )


@_guard
def room_for_a_record(state: State, _: int) -> bool:
    return len(state.log) < LENGTH_MAX


@_guard
def room_for_a_call(state: State, _: int) -> bool:
    return len(state.queue) < _CALLS_MAX


@_guard
def something_logged(state: State, _: int) -> bool:
    return bool(state.log)


@_guard
def something_stored(state: State, _: int) -> bool:
    return bool(state.disk)


@_guard
def nothing_stored(state: State, _: int) -> bool:
    return not state.disk


@_guard
def refused_by_the_store(state: State, _: int) -> bool:
    """Another one has the lease, or what is stored is another session."""
    first = state.queue[0]
    if first.work is Work.LOAD:
        return state.lease is Owner.RIVAL
    is_compared = first.start == COMPARE and bool(state.log)
    return is_compared and (state.lease is Owner.RIVAL or state.is_stored_another)


@_guard
def for_nobody(state: State, _: int) -> bool:
    return not state.queue[0].is_own


@_guard
def disk_at_rest(state: State, _: int) -> bool:
    return not state.queue


@_guard
def no_flush_waits(state: State, _: int) -> bool:
    return state.barrier is None


@_guard
def a_flush_waits(state: State, _: int) -> bool:
    return state.barrier is not None


@_guard
def stopping(state: State, _: int) -> bool:
    return state.is_stopping


@_guard
def not_stopping(state: State, _: int) -> bool:
    return not state.is_stopping


@_guard
def something_unknown_to_the_writer(state: State, _: int) -> bool:
    return state.is_behind


def _accepted(state: State, at: int) -> bool:
    return bool(state.queue) and not refused_by_the_store.holds(state, at)


accepted: Final[Guard[State]] = Guard("accepted_by_the_store", _accepted)


# -- The table -------------------------------------------------------------------------------------


def _row(
    on: Event, when: tuple[Guard[State], ...], does: tuple[Move[State], ...], clauses: str
) -> Row[State]:
    return Row(on, when, does, None, tuple(clauses.split()))


def _refused(on: Event, guard: Guard[State], why: str, clauses: str) -> Row[State]:
    return Row(on, (guard,), (), why, tuple(clauses.split()))


_WRITE, _FINISH, _LOAD = map(_under_way, Work)
_LOADED, _DRAINING, _UNLOADED = map(_keeper, Keeper)
_WRITE_FAILED: Final = (m.DOUBT, m.FAIL_FLUSH, m.NEXT)
_LAST_FAILED: Final = (m.FREE, m.FAIL_LAST, m.ANSWER_LAST, m.NEXT)
_LOAD_FAILED: Final = (m.REFUSE_LOAD, m.NEXT)

# fmt: off
TABLE: Final = (
    _row(APPEND, (_agent(Agent.LIVE), room_for_a_record), (m.APPEND, m.WAKE), "E-12"),
    _row(FLUSH, (_agent(Agent.LIVE), _LOADED, something_logged, no_flush_waits, room_for_a_call), (m.ASK_FLUSH,), "E-12 E-13 E-14"),
    _row(READ, (), (), "E-45"),

    _row(DISK_OK, (_WRITE, refused_by_the_store), _WRITE_FAILED, "E-09 E-31 E-47"),
    _row(DISK_OK, (_WRITE,), (m.STORE, m.TAKE, m.BELIEVE, m.ACKNOWLEDGE, m.NEXT, m.WAKE), "E-04 E-12"),
    _row(DISK_OK, (_FINISH, refused_by_the_store), _LAST_FAILED, "E-31 E-49"),
    _row(DISK_OK, (_FINISH,), (m.STORE, m.FREE, m.ACKNOWLEDGE, m.REMEMBER, m.ANSWER_LAST, m.NEXT), "E-33 E-36 E-49"),
    _row(DISK_OK, (_LOAD, refused_by_the_store), _LOAD_FAILED, "E-22 E-47"),
    _row(DISK_OK, (_LOAD, for_nobody), (m.REPAIR, m.NEXT), "E-23 F-07"),
    _row(DISK_OK, (_LOAD,), (m.REPAIR, m.TAKE, m.RESUME, m.NEXT), "D-42 D-43 D-47 E-17"),

    _row(DISK_ERROR, (_WRITE,),  _WRITE_FAILED, "E-13"),
    _row(DISK_ERROR, (_FINISH,), _LAST_FAILED,  "E-49 F-34"),
    _row(DISK_ERROR, (_LOAD,),   _LOAD_FAILED,  "F-09"),

    # That it was done nobody is told.
    _row(DISK_LATE, (_WRITE,  accepted), (m.STORE, m.TAKE, *_WRITE_FAILED), "E-13"),
    _row(DISK_LATE, (_FINISH, accepted), (m.STORE, *_LAST_FAILED),          "E-49 F-34"),
    _row(DISK_LATE, (_LOAD,   accepted), (m.REPAIR, *_LOAD_FAILED),         "E-23 F-09"),

    _row(DISPOSE, (_agent(Agent.LIVE),), (m.agent_becomes(Agent.ENDING),), "F-15"),
    _row(CLOSES, (_agent(Agent.ENDING),), (m.CLOSE_TURN, m.agent_becomes(Agent.CLOSED), m.WAKE), "E-38 F-15"),
    _row(LAST_FLUSH, (_agent(Agent.CLOSED), no_flush_waits, _LOADED, something_unknown_to_the_writer), (m.agent_becomes(Agent.FLUSHING), m.ASK_FLUSH), "D-51 F-15"),
    _row(LAST_FLUSH, (_agent(Agent.CLOSED), no_flush_waits), (m.agent_becomes(Agent.FLUSHED),), "D-51"),
    _row(RELEASE, (_agent(Agent.FLUSHED), _LOADED), (m.agent_becomes(Agent.RELEASING), m.ASK_FINISH), "E-33 E-49"),
    # Without a keeper a session ends as it has lived: in memory, which is told.
    _row(RELEASE, (_agent(Agent.FLUSHED), something_unknown_to_the_writer), (m.UNKEPT,), "E-41 E-101"),
    _row(RELEASE, (_agent(Agent.FLUSHED),), (m.AGENT_GONE,), "E-41 E-101"),

    _row(GRACE, (_agent(Agent.CLOSED, Agent.FLUSHING), a_flush_waits), (m.DROP_FLUSH, m.AGENT_FAILED), "B-119 F-34"),
    _row(GRACE, (_agent(Agent.RELEASING),), (m.AGENT_FAILED, m.AGENT_GONE), "E-49 F-34"),
    _row(GRACE, (_DRAINING,), (m.keeper_becomes(Keeper.UNLOADED),), "E-36"),

    _row(CREATE, (_agent(Agent.NONE), nothing_stored, disk_at_rest, not_stopping), (m.CREATE,), "E-02"),
    # One that is being released is not live any more; that a resume may then come is left out.
    _refused(RESUME, _agent(*(phase for phase in Agent if phase not in (Agent.NONE, Agent.RELEASING))), "the session is live", "E-22"),
    _refused(RESUME, nothing_stored, "nothing is stored of it", "E-16"),
    _row(RESUME, (_agent(Agent.NONE), _LOADED, not_stopping, room_for_a_call), (m.ASK_LOAD,), "E-17 F-07"),
    _row(GIVE_UP, (_agent(Agent.LOADING),), (m.GIVE_UP,), "E-23 F-07"),

    _row(UNLOAD_KEEPER, (_LOADED, not_stopping, room_for_a_call), (m.GIVE_UP, m.LET_GO, m.keeper_becomes(Keeper.DRAINING)), "E-36 E-41"),
    _row(DRAINED, (_DRAINING, disk_at_rest), (m.keeper_becomes(Keeper.UNLOADED),), "E-36"),
    _row(LOAD_KEEPER, (_UNLOADED, not_stopping, disk_at_rest), (m.LOAD_KEEPER,), "E-30 E-31"),

    _row(STOP, (_LOADED, not_stopping), (m.STOP,), "E-40"),
    _row(STOP_KEEPER, (stopping, _LOADED, _agent(Agent.NONE)), (m.keeper_becomes(Keeper.DRAINING),), "E-36 E-40"),

    _row(CRASH, (), (m.CRASH,), "E-61 E-79"),
    _row(CRASH_LATE, (_LOAD, accepted), (m.REPAIR, m.CRASH), "E-17 E-79"),
    _row(CRASH_LATE, (accepted,), (m.STORE, m.CRASH), "E-79"),

    _refused(RIVAL_RESUMES, _lease(Owner.MINE), "this process writes it", "E-22"),
    _row(RIVAL_RESUMES, (_lease(Owner.NOBODY), something_stored), (m.REPAIR, m.lease_becomes(Owner.RIVAL)), "E-17"),
    _row(RIVAL_GOES, (_lease(Owner.RIVAL),), (m.lease_becomes(Owner.NOBODY),), "E-33 E-61"),
)
# fmt: on
"""What can happen. Of the rows of one event the first that holds answers."""
