"""What must hold of jobs: who may ask for them, what ends them, and who is told."""

from typing import Final

from statemachine.worlds.claims import (
    Assumption,
    Claim,
    Eventually,
    Everywhere,
    OnEveryStep,
    everywhere,
    on_every_step,
    sometimes,
)
from statemachine.worlds.rows import Actor
from statemachine.worlds.world import Step

from . import table as t
from .state import NOWHERE, Access, Agent, Executor, Notice, State, Status, Token

__all__ = ["JOB_SAFETY", "false_job_variants", "job_claims"]


def _asked(step: Step[State]) -> Access:
    access = step.label.place
    assert isinstance(access, Access)
    return access


def _owner(step: Step[State]) -> Token:
    return step.before.at(_asked(step).at).owner


def _is_answered(step: Step[State]) -> bool:
    return not step.is_refused


@on_every_step("H-34 I-08 I-10 I-13", on=(t.READ, t.KILL), invariant="INV-17", about=_is_answered)
def a_job_answers_its_owner_alone(step: Step[State]) -> bool:
    """A job that has an owner is read and killed by that owner's token alone, also when empty."""
    return _owner(step) in (Token.NONE, _asked(step).caller)


@on_every_step("H-34 H-36 I-13", invariant="INV-17")
def an_owner_never_changes(step: Step[State]) -> bool:
    """A job keeps its owner until it is forgotten, whatever is reloaded, disposed or resumed."""
    return all(
        (after := step.after.jobs[at]) is None or after.owner is job.owner
        for at, job in step.before.taken
    )


@on_every_step("I-15 I-19", invariant="INV-18")
def an_end_is_told_once(step: Step[State]) -> bool:
    """A job has a notice when it has ended and not before, and keeps the one that it has."""
    return all(
        (job.notice is not Notice.NONE) is (job.status is Status.ENDED)
        and ((old := step.before.jobs[at]) is None or old.notice in (Notice.NONE, job.notice))
        for at, job in step.after.taken
    )


def _has_ended(step: Step[State]) -> bool:
    return step.place != NOWHERE and step.label.event in (t.FINISH, t.KILLED)


@on_every_step("I-15 I-16 I-17 I-19", invariant="INV-18", about=_has_ended)
def a_live_owner_is_told_unless_the_tools_are_reloaded(step: Step[State]) -> bool:
    """A live owner is told of the end, except in the gap of a reload or from a closed executor."""
    before, owner = step.before, step.before.at(step.place).owner
    is_live = owner is Token.MINE and before.agent is Agent.LIVE
    is_told = is_live and before.is_loaded and before.executor is Executor.OPEN
    return (step.after.at(step.place).notice is Notice.TOLD) is is_told


@on_every_step("I-19", invariant="INV-18", about=_has_ended)
def the_gap_loses_nothing_but_the_notice(step: Step[State]) -> bool:
    """A job that ends while the tools are reloaded is there afterwards, ended, with its owner."""
    after, before = step.after.at(step.place), step.before.at(step.place)
    return after.status is Status.ENDED and after.owner is before.owner


def _kills(step: Step[State]) -> bool:
    return any(
        job.status is Status.RUNNING
        and (after := step.after.jobs[at]) is not None
        and after.status is Status.KILLING
        for at, job in step.before.taken
    )


@on_every_step("I-31 H-41 H-54", invariant="INV-17", about=_kills)
def only_a_kill_or_an_end_kills(step: Step[State]) -> bool:
    """A job is killed by a kill, with its session or with the executor, and by nothing else."""
    return step.label.event in (t.KILL, t.END_SESSION, t.DISPOSE_EXECUTOR)


def _is_session_over(state: State) -> bool:
    return state.agent is Agent.ENDED


@everywhere("H-54", invariant="INV-17", about=_is_session_over)
def no_job_outlives_its_session(state: State) -> bool:
    """When a session has ended, no job of it is left."""
    return not any(job.owner is Token.MINE for _, job in state.taken)


def _is_executor_gone(state: State) -> bool:
    return state.executor is Executor.DISPOSED


@everywhere("H-41 H-42 H-44", invariant="INV-17", about=_is_executor_gone)
def no_job_outlives_the_executor(state: State) -> bool:
    """When the executor is disposed, no job is left, then and later."""
    return not state.taken


JOB_SAFETY: Final[tuple[Everywhere[State] | OnEveryStep[State], ...]] = (
    a_job_answers_its_owner_alone,
    an_owner_never_changes,
    an_end_is_told_once,
    a_live_owner_is_told_unless_the_tools_are_reloaded,
    the_gap_loses_nothing_but_the_notice,
    only_a_kill_or_an_end_kills,
    no_job_outlives_its_session,
    no_job_outlives_the_executor,
)


# -- Sometimes -------------------------------------------------------------------------------------


@sometimes("I-13", on=(t.READ,), invariant="INV-17")
def another_session_is_refused(step: Step[State]) -> bool:
    """Another session asks for an owned job, and is refused."""
    return step.is_refused and step.before.is_loaded and _asked(step).caller is Token.OTHER


@sometimes("I-08", on=(t.KILL,), invariant="INV-17")
def the_empty_token_is_an_owner(step: Step[State]) -> bool:
    """Somebody else asks for the job of the empty token, and is refused."""
    return step.is_refused and step.before.is_loaded and _owner(step) is Token.EMPTY


@sometimes("I-09", on=(t.READ,), invariant="INV-17")
def an_ownerless_job_is_open(step: Step[State]) -> bool:
    """Another session reads a job that nobody owns."""
    return not step.is_refused and _owner(step) is Token.NONE and _asked(step).caller is Token.OTHER


@sometimes("I-19", on=(t.FINISH,), invariant="INV-18")
def the_gap_loses_a_notice(step: Step[State]) -> bool:
    """A job of a live owner ends while the tools are reloaded."""
    is_mine = step.before.at(step.place).owner is Token.MINE
    return is_mine and step.after.at(step.place).notice is Notice.LOST


@sometimes("I-17", on=(t.FINISH, t.KILLED), invariant="INV-18")
def an_owner_has_gone_before_the_end(step: Step[State]) -> bool:
    """A job ends when its owner's agent is disposed."""
    is_mine = step.before.at(step.place).owner is Token.MINE
    return is_mine and step.after.at(step.place).notice is Notice.DROPPED


@sometimes("I-11 I-32", on=(t.RESUME,), invariant="INV-17")
def a_resume_regains_a_job(step: Step[State]) -> bool:
    """A session is resumed while a job of it runs."""
    return any(job.is_running and job.owner is Token.MINE for _, job in step.before.taken)


_RACES: Final[tuple[Claim, ...]] = (
    another_session_is_refused,
    the_empty_token_is_an_owner,
    an_ownerless_job_is_open,
    the_gap_loses_a_notice,
    an_owner_has_gone_before_the_end,
    a_resume_regains_a_job,
)


# -- Eventually ------------------------------------------------------------------------------------

KILLS: Final = Assumption(
    name="kills work",
    text="The processes of a job that is killed are gone within the grace.",
    fair=frozenset({Actor.DRIVER}),
)
TEARDOWNS: Final = Assumption(
    name="teardowns go on",
    text="A teardown, while it has something to do, at some time does it.",
    fair=frozenset({Actor.TEARDOWN}),
)


def _promises(slots: int) -> tuple[Eventually[State], ...]:
    return (
        Eventually(
            name="every_killed_job_ends", clauses=("H-28",), invariant="INV-17",
            statement="A job that is being killed ends.", places=tuple(range(slots)),
            from_=lambda s, at: (job := s.jobs[at]) is not None and job.status is Status.KILLING,
            to=lambda s, at: (job := s.jobs[at]) is None or job.status is Status.ENDED,
            premise=(KILLS,),
        ),
        Eventually(
            name="every_session_that_is_ended_ends", clauses=("H-54",), invariant="INV-17",
            statement="The end of a session completes.", places=(NOWHERE,),
            from_=lambda s, _: s.agent is Agent.CLOSING, to=lambda s, _: s.agent is Agent.ENDED,
            premise=(KILLS, TEARDOWNS),
        ),
        Eventually(
            name="every_executor_that_is_disposed_is_gone", clauses=("H-41",), invariant="INV-17",
            statement="The dispose of the executor completes.", places=(NOWHERE,),
            from_=lambda s, _: s.executor is Executor.DISPOSING,
            to=lambda s, _: s.executor is Executor.DISPOSED,
            premise=(KILLS, TEARDOWNS),
        ),
    )  # fmt: skip


def job_claims(slots: int) -> tuple[Claim, ...]:
    """Return every claim about a job world with so many jobs."""
    return (*JOB_SAFETY, *_RACES, *_promises(slots))


def false_job_variants(slots: int) -> tuple[Eventually[State], ...]:
    """Return the claims that lack one part of their premise, which must all be refuted."""
    return tuple(claim.without(part) for claim in _promises(slots) for part in claim.premise)
