"""What the rows of the store world do.

The disk does one thing at a time, in the order in which it was asked. What a write covers is looked
up when its turn comes, so whatever is appended meanwhile is the next batch.
"""

from typing import Final

from statemachine.worlds.rows import Move

from .state import (
    COMPARE,
    WRITTEN,
    Agent,
    Barrier,
    Call,
    Keeper,
    Kind,
    Owner,
    Record,
    Report,
    State,
    Work,
    is_open,
)

__all__ = [
    "ACKNOWLEDGE", "AGENT_FAILED", "AGENT_GONE", "ANSWER_LAST", "APPEND", "ASK_FINISH",
    "ASK_FLUSH", "ASK_LOAD", "ASK_WRITE", "BELIEVE", "CLOSE_TURN", "CRASH", "CREATE", "DOUBT",
    "DROP_FLUSH", "FAIL_FLUSH", "FAIL_LAST", "FREE", "GIVE_UP", "LET_GO", "LOAD_KEEPER",
    "LOOK_UP", "NEXT", "REFUSE_LOAD", "REMEMBER", "REPAIR", "RESUME", "STOP", "STORE", "TAKE",
    "UNKEPT", "WAKE", "agent_becomes", "keeper_becomes", "lease_becomes",
]  # fmt: skip


def _appended(records: tuple[Record, ...], kind: Kind) -> tuple[Record, ...]:
    return (*records, Record(len(records), kind))


def _asked(state: State, call: Call) -> State:
    """Put a call behind the others."""
    asked = state._replace(queue=(*state.queue, call))
    return asked if state.queue else _begun(asked)


def _begun(state: State) -> State:
    """Look up what the first call covers, now that it is its turn."""
    first, *rest = state.queue
    start = state.cursor if first.work is Work.WRITE else first.start
    end = 0 if first.work is Work.LOAD else len(state.log)
    return state._replace(queue=(first._replace(start=start, end=end), *rest))


def _look_up(state: State, _: int) -> State:
    return _begun(state)


# -- The live session ------------------------------------------------------------------------------


def _append(state: State, _: int) -> State:
    kind = Kind.END if is_open(state.log) else Kind.START
    return state._replace(log=_appended(state.log, kind))


def _close_turn(state: State, at: int) -> State:
    return _append(state, at) if is_open(state.log) else state


def _create(state: State, _: int) -> State:
    cursor = 0 if state.keeper is Keeper.LOADED else COMPARE
    return state._replace(agent=Agent.LIVE, log=(), cursor=cursor, report=Report.CLEAN)


def _resume(state: State, _: int) -> State:
    length = len(state.disk)
    return state._replace(
        agent=Agent.LIVE, log=state.disk, cursor=length, acknowledged=length, report=Report.CLEAN
    )


def _refuse_load(state: State, _: int) -> State:
    return state._replace(agent=Agent.NONE) if state.queue[0].is_own else state


def _unkept(state: State, _: int) -> State:
    return _gone(state._replace(report=Report.UNKEPT), 0)


def _failed(state: State, _: int) -> State:
    return state._replace(report=Report.FAILED)


def _gone(state: State, _: int) -> State:
    queue = tuple(call._replace(is_own=False) for call in state.queue)
    return _tidy(state._replace(agent=Agent.NONE, queue=queue))


def _tidy(state: State) -> State:
    """Forget what nobody can look at any more."""
    if state.agent is not Agent.NONE or state.queue:
        return state
    return state._replace(log=(), cursor=COMPARE, has_failed=False)


# -- The writer ------------------------------------------------------------------------------------


def _wake(state: State, at: int) -> State:
    """Write what is missing, unless a write is under way or the last one failed."""
    is_free = state.is_written and not state.is_writing and not state.has_failed
    return _ask_write(state, at) if is_free and state.is_behind else state


def _ask_write(state: State, _: int) -> State:
    return _asked(state, Call(Work.WRITE))


def _believe(state: State, _: int) -> State:
    """Know how far it got."""
    return _known(state, state.queue[0].end, has_failed=False)


def _doubt(state: State, _: int) -> State:
    """Trust the cursor no more: the write may have got through."""
    return _known(state, COMPARE, has_failed=True)


def _known(state: State, cursor: int, *, has_failed: bool) -> State:
    first, *rest = state.queue
    if first.is_own:
        return state._replace(cursor=cursor, has_failed=has_failed)
    # The writer has its last write behind this one.
    return state._replace(queue=(first, rest[0]._replace(start=cursor), *rest[1:]))


def _remember(state: State, _: int) -> State:
    """Know how much is stored of a session that lives on without its keeper."""
    call = state.queue[0]
    is_left = not call.is_own and state.keeper is not Keeper.LOADED and state.agent in WRITTEN
    return state._replace(cursor=call.end) if is_left else state


def _let_go(state: State, _: int) -> State:
    """Ask for the last write of the writer in charge, for which nobody waits."""
    return _finished(state, is_own=False) if state.is_written else state


def _ask_finish(state: State, _: int) -> State:
    return _finished(state, is_own=True)


def _finished(state: State, *, is_own: bool) -> State:
    queue = tuple(call._replace(is_own=False) for call in state.queue)
    left = state._replace(queue=queue, cursor=COMPARE, has_failed=False)
    return _asked(left, Call(Work.FINISH, is_own=is_own, start=state.cursor))


# -- The flush -------------------------------------------------------------------------------------


def _ask_flush(state: State, at: int) -> State:
    """Wait until everything is stored: join a write that is under way, or ask for one."""
    wanted = len(state.log)
    if state.cursor >= wanted:
        return _acknowledged(state, wanted)
    if state.is_writing:
        return state._replace(barrier=Barrier(wanted, is_own=False))
    return _ask_write(state._replace(barrier=Barrier(wanted, is_own=True)), at)


def _acknowledge(state: State, _: int) -> State:
    """Answer the flush if the work that is done covers it."""
    barrier, call = state.barrier, state.queue[0]
    is_covered = barrier is not None and call.end >= barrier.wanted
    return _acknowledged(state, barrier.wanted) if barrier and is_covered else state


def _acknowledged(state: State, wanted: int) -> State:
    told = state._replace(acknowledged=max(state.acknowledged, wanted), barrier=None)
    return told._replace(agent=Agent.FLUSHED) if told.agent is Agent.FLUSHING else told


def _fail_flush(state: State, at: int) -> State:
    """Tell the flush that its write failed; one that had only joined it tries once more."""
    barrier, is_own = state.barrier, state.queue[0].is_own
    if barrier is None or not (barrier.is_own or is_own):
        return state
    if barrier.is_own:
        return _drop_flush(state, at)
    return state._replace(
        barrier=barrier._replace(is_own=True), queue=(*state.queue, Call(Work.WRITE))
    )


def _fail_last(state: State, at: int) -> State:
    """Tell whoever waits for the last write that it failed."""
    told = _drop_flush(state, at) if state.barrier is not None else state
    return _failed(told, at) if state.queue[0].is_own else told


def _drop_flush(state: State, at: int) -> State:
    left = state._replace(barrier=None)
    is_last = left.agent is Agent.FLUSHING
    return _failed(left._replace(agent=Agent.FLUSHED), at) if is_last else left


# -- The disk --------------------------------------------------------------------------------------


def _next(state: State, _: int) -> State:
    """Have done with the call under way."""
    rest = state._replace(queue=state.queue[1:])
    return _begun(rest) if rest.queue else _tidy(rest)


def _store(state: State, _: int) -> State:
    return state._replace(disk=state.disk + state.batch)


def _repair(state: State, _: int) -> State:
    """Close what a crash left open."""
    is_needed = is_open(state.disk)
    return state._replace(disk=_appended(state.disk, Kind.REPAIR)) if is_needed else state


def _take(state: State, _: int) -> State:
    """Have the lease, if there was anything to write."""
    return state._replace(lease=Owner.MINE) if state.disk else state


def _free(state: State, _: int) -> State:
    return state._replace(lease=Owner.NOBODY) if state.lease is Owner.MINE else state


def _agent_gone_if_waiting(state: State, at: int) -> State:
    """Resolve the dispose that waits for the last write."""
    return _gone(state, at) if state.queue[0].is_own else state


# -- The process -----------------------------------------------------------------------------------


def _ask_load(state: State, _: int) -> State:
    return _asked(state._replace(agent=Agent.LOADING), Call(Work.LOAD))


def _give_up(state: State, at: int) -> State:
    """Wait no longer for a load; it goes on, and its lease is given back behind it."""
    return _gone(state, at) if state.agent is Agent.LOADING else state


def _load_keeper(state: State, at: int) -> State:
    """Take on the session that lives, whatever is stored of it."""
    return _wake(state._replace(keeper=Keeper.LOADED, cursor=COMPARE), at)


def _stop(state: State, at: int) -> State:
    stopping = _give_up(state._replace(is_stopping=True, report=Report.CLEAN), at)
    is_live = stopping.agent is Agent.LIVE
    return stopping._replace(agent=Agent.ENDING) if is_live else stopping


def _crash(state: State, _: int) -> State:
    """Go on with a new process: nothing is left but the disk, and the leases of others."""
    return State(
        disk=state.disk,
        acknowledged=state.acknowledged,
        agent=Agent.NONE,
        cursor=COMPARE,
        lease=Owner.NOBODY if state.lease is Owner.MINE else state.lease,
    )


def agent_becomes(phase: Agent) -> Move[State]:
    """Return the move to a phase of the agent."""
    return Move(f"agent {phase}", lambda state, _: state._replace(agent=phase))


def keeper_becomes(phase: Keeper) -> Move[State]:
    """Return the move to a phase of the keeper."""
    return Move(f"keeper {phase}", lambda state, _: state._replace(keeper=phase))


def lease_becomes(owner: Owner) -> Move[State]:
    """Return the move of the lease."""
    return Move(f"lease {owner}", lambda state, _: state._replace(lease=owner))


APPEND: Final = Move("append", _append)
CLOSE_TURN: Final = Move("close the turn", _close_turn)
CREATE: Final = Move("create", _create)
RESUME: Final = Move("resume what is stored", _resume)
REFUSE_LOAD: Final = Move("refuse the resume", _refuse_load)
UNKEPT: Final = Move("report unkept", _unkept)
AGENT_FAILED: Final = Move("report failed", _failed)
AGENT_GONE: Final = Move("agent none", _gone)
WAKE: Final = Move("write what is missing", _wake)
ASK_WRITE: Final = Move("ask for a write", _ask_write)
BELIEVE: Final = Move("cursor behind the batch", _believe)
DOUBT: Final = Move("cursor not trusted", _doubt)
REMEMBER: Final = Move("remember how much is stored", _remember)
LET_GO: Final = Move("ask for a last write for nobody", _let_go)
ASK_FINISH: Final = Move("ask for the last write", _ask_finish)
ASK_FLUSH: Final = Move("wait for what is missing", _ask_flush)
ACKNOWLEDGE: Final = Move("acknowledge the flush if it is covered", _acknowledge)
FAIL_FLUSH: Final = Move("fail the flush, or try once more", _fail_flush)
FAIL_LAST: Final = Move("tell who waits that it failed", _fail_last)
DROP_FLUSH: Final = Move("leave the flush behind", _drop_flush)
NEXT: Final = Move("next call", _next)
STORE: Final = Move("store the batch", _store)
REPAIR: Final = Move("close what is open on the disk", _repair)
LOOK_UP: Final = Move("look up what is to be written", _look_up)
TAKE: Final = Move("take the lease", _take)
FREE: Final = Move("give the lease back", _free)
ANSWER_LAST: Final = Move("resolve the dispose that waits", _agent_gone_if_waiting)
ASK_LOAD: Final = Move("ask for the load", _ask_load)
GIVE_UP: Final = Move("give the resume up", _give_up)
LOAD_KEEPER: Final = Move("keep the live session", _load_keeper)
STOP: Final = Move("stop the application", _stop)
CRASH: Final = Move("lose all but the disk", _crash)
