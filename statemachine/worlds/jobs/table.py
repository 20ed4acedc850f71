"""The job world as a table: what can happen, in which circumstance, and what it does.

Theory. A job belongs to a session by a token that the executor keeps. So neither the end of a turn
nor a dispose nor a reload of the tools touches it: the tools compare tokens and remember nothing.
It ends by itself, by a kill of somebody who may, with its session, or with the executor. Its end is
told once, to a live owner, by the tools if they are loaded at that moment.
"""

from collections.abc import Callable
from typing import Final

from statemachine.worlds.rows import Actor, Event, Guard, Move, Row

from .state import Agent, Executor, Job, Notice, State, Status, Token

__all__ = [
    "DISPOSE_AGENT", "DISPOSE_EXECUTOR", "ENDED", "END_SESSION", "EXECUTORS", "EXECUTOR_GONE",
    "FINISH", "FORGET", "KILL", "KILLED", "LOAD", "READ", "RESUME", "SESSION_ENDED", "SLOTTED", "START",
    "TABLE", "UNLOAD", "WHOLE",
]  # fmt: skip

_A = Actor
START: Final = Event("start", _A.OUTSIDE)
READ: Final = Event("read", _A.OUTSIDE)
KILL: Final = Event("kill", _A.OUTSIDE)
FINISH: Final = Event("the job ends by itself", _A.OUTSIDE)
KILLED: Final = Event("the job is verified gone", _A.DRIVER)
FORGET: Final = Event("nobody asks for the job any more", _A.OUTSIDE)
UNLOAD: Final = Event("unload the tools", _A.OUTSIDE)
LOAD: Final = Event("load the tools", _A.OUTSIDE)
DISPOSE_AGENT: Final = Event("dispose the agent", _A.OUTSIDE)
ENDED: Final = Event("the agent is gone", _A.TEARDOWN)
RESUME: Final = Event("resume the session", _A.OUTSIDE)
END_SESSION: Final = Event("end the session", _A.OUTSIDE)
SESSION_ENDED: Final = Event("the session has ended", _A.TEARDOWN)
DISPOSE_EXECUTOR: Final = Event("dispose the executor", _A.OUTSIDE)
EXECUTOR_GONE: Final = Event("the executor is gone", _A.TEARDOWN)

SLOTTED: Final = (FINISH, KILLED, FORGET)
WHOLE: Final = (UNLOAD, LOAD, DISPOSE_AGENT, ENDED, RESUME, END_SESSION, SESSION_ENDED)
EXECUTORS: Final = (DISPOSE_EXECUTOR, EXECUTOR_GONE)


# -- Guards ----------------------------------------------------------------------------------------


def _guard(claim: Callable[[State, int], bool]) -> Guard[State]:
    return Guard(claim.__name__.strip("_"), claim)


def _job(status: Status) -> Guard[State]:
    return Guard(f"job {status}", lambda state, at: state.at(at).status is status)


def _agent(*phases: Agent) -> Guard[State]:
    return Guard(f"agent {' or '.join(phases)}", lambda state, _: state.agent in phases)


def _executor(phase: Executor) -> Guard[State]:
    return Guard(f"executor {phase}", lambda state, _: state.executor is phase)


@_guard
def tools_loaded(state: State, _: int) -> bool:
    return state.is_loaded


@_guard
def tools_unloaded(state: State, _: int) -> bool:
    return not state.is_loaded


@_guard
def executor_closed(state: State, _: int) -> bool:
    return state.executor is not Executor.OPEN


@_guard
def of_a_session_without_an_agent(state: State, at: int) -> bool:
    return state.at(at).owner is Token.MINE and state.agent is not Agent.LIVE


@_guard
def asked_by_nobody_there(state: State, _: int) -> bool:
    return state.caller is Token.MINE and state.agent is not Agent.LIVE


@_guard
def of_somebody_else(state: State, at: int) -> bool:
    owner = state.at(at).owner
    return owner is not Token.NONE and owner is not state.caller


@_guard
def running(state: State, at: int) -> bool:
    return state.at(at).is_running


@_guard
def owner_live(state: State, at: int) -> bool:
    # No agent is ever on a session whose name is empty.
    owner = state.at(at).owner
    is_mine = owner is Token.MINE and state.agent is Agent.LIVE
    return is_mine or owner is Token.OTHER


@_guard
def no_job_of_mine_runs(state: State, _: int) -> bool:
    return not any(job.is_running and job.owner is Token.MINE for _, job in state.taken)


@_guard
def no_job_runs(state: State, _: int) -> bool:
    return not any(job.is_running for _, job in state.taken)


# -- Moves -----------------------------------------------------------------------------------------


def _move(make: Callable[[State, int], State]) -> Move[State]:
    return Move(make.__name__.strip("_"), make)


def _becomes(status: Status) -> Move[State]:
    return Move(
        f"job {status}", lambda state, at: state.put(at, state.at(at)._replace(status=status))
    )


def _notice(notice: Notice) -> Move[State]:
    return Move(
        f"notice {notice}", lambda state, at: state.put(at, state.at(at)._replace(notice=notice))
    )


def _agent_becomes(phase: Agent) -> Move[State]:
    return Move(f"agent {phase}", lambda state, _: state._replace(agent=phase))


def _executor_becomes(phase: Executor) -> Move[State]:
    return Move(f"executor {phase}", lambda state, _: state._replace(executor=phase))


@_move
def answer(state: State, _: int) -> State:
    return state._replace(caller=Token.NONE)


@_move
def forget(state: State, at: int) -> State:
    return state.put(at, None)


@_move
def load(state: State, _: int) -> State:
    return state._replace(is_loaded=True)


@_move
def unload(state: State, _: int) -> State:
    return state._replace(is_loaded=False)


def _killed(job: Job | None, *, is_all: bool) -> Job | None:
    is_meant = job is not None and job.status is Status.RUNNING
    if job is None or not is_meant or not (is_all or job.owner is Token.MINE):
        return job
    return job._replace(status=Status.KILLING)


@_move
def kill_mine(state: State, _: int) -> State:
    return state._replace(jobs=tuple(_killed(job, is_all=False) for job in state.jobs))


@_move
def kill_all(state: State, _: int) -> State:
    return state._replace(jobs=tuple(_killed(job, is_all=True) for job in state.jobs))


@_move
def forget_mine(state: State, _: int) -> State:
    jobs = (None if job is not None and job.owner is Token.MINE else job for job in state.jobs)
    return state._replace(jobs=tuple(jobs))


@_move
def forget_all(state: State, _: int) -> State:
    return state._replace(jobs=(None,) * len(state.jobs))


# -- The table -------------------------------------------------------------------------------------


def _row(
    on: Event, when: tuple[Guard[State], ...], does: tuple[Move[State], ...], clauses: str
) -> Row[State]:
    return Row(on, when, does, None, tuple(clauses.split()))


def _refused(on: Event, guard: Guard[State], why: str, clauses: str) -> Row[State]:
    return Row(on, (guard,), (), why, tuple(clauses.split()))


def _access(on: Event) -> tuple[Row[State], ...]:
    return (
        _refused(on, tools_unloaded, "no such tool is registered", "I-01"),
        _refused(on, asked_by_nobody_there, "the caller has no agent", "I-06"),
        _refused(on, of_somebody_else, "the job belongs to another session", "I-08 I-10 I-13"),
    )


def _ends(on: Event, status: Status) -> tuple[Row[State], ...]:
    """Return the rows of an end: the status first, then the notice, in one stretch."""
    ended, at = _becomes(Status.ENDED), _job(status)
    return (
        _row(on, (at, tools_unloaded), (ended, _notice(Notice.LOST)), "I-19"),
        _row(on, (at, owner_live), (ended, _notice(Notice.TOLD)), "I-15 I-16"),
        _row(on, (at,), (ended, _notice(Notice.DROPPED)), "I-17 I-18"),
    )


# fmt: off
TABLE: Final = (
    _refused(START, tools_unloaded, "no such tool is registered", "I-01"),
    _refused(START, executor_closed, "the executor is disposed", "H-44"),
    _refused(START, of_a_session_without_an_agent, "the caller has no agent", "I-06"),
    _row(START, (), (_becomes(Status.RUNNING),), "H-34 I-06 I-07"),

    *_access(READ),
    _row(READ, (), (answer,), "H-36 I-08 I-09 I-11 I-13"),
    *_access(KILL),
    _row(KILL, (running,), (_becomes(Status.KILLING), answer), "H-28 H-29 I-08 I-09"),
    _row(KILL, (),         (answer,),                          "H-27"),

    *_ends(FINISH, Status.RUNNING),
    # Listeners are closed before the executor kills, so nobody is told.
    _row(KILLED, (_job(Status.KILLING), executor_closed), (_becomes(Status.ENDED), _notice(Notice.DROPPED)), "H-41"),
    *_ends(KILLED, Status.KILLING),
    _row(FORGET, (_job(Status.ENDED),), (forget,), "H-53"),

    _row(UNLOAD, (tools_loaded,),   (unload,), "I-13 I-14"),
    _row(LOAD,   (tools_unloaded,), (load,),   "I-13"),

    # A dispose only detaches: the jobs of the session go on, and a resume regains them.
    _row(DISPOSE_AGENT, (_agent(Agent.LIVE),),   (_agent_becomes(Agent.ENDING),), "I-31"),
    _row(ENDED,         (_agent(Agent.ENDING),), (_agent_becomes(Agent.GONE),),   "F-15"),
    _row(RESUME,        (_agent(Agent.GONE, Agent.ENDED),), (_agent_becomes(Agent.LIVE),), "I-32"),
    _refused(END_SESSION, _agent(Agent.LIVE, Agent.ENDING), "an agent is live on it", "H-54"),
    _row(END_SESSION,   (_agent(Agent.GONE),),   (_agent_becomes(Agent.CLOSING), kill_mine), "H-54"),
    _row(SESSION_ENDED, (_agent(Agent.CLOSING), no_job_of_mine_runs), (_agent_becomes(Agent.ENDED), forget_mine), "H-54"),

    _row(DISPOSE_EXECUTOR, (_executor(Executor.OPEN),), (_executor_becomes(Executor.DISPOSING), kill_all), "H-41"),
    _row(EXECUTOR_GONE, (_executor(Executor.DISPOSING), no_job_runs), (_executor_becomes(Executor.DISPOSED), forget_all), "H-41 H-42"),
)
# fmt: on
"""What can happen. Of the rows of one event the first that holds answers."""
