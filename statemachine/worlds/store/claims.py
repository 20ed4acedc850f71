"""What must hold of a session that is kept: what never happens, what can, and what comes."""

from typing import Final

from statemachine.worlds.claims import Assumption, Claim, Eventually, sometimes
from statemachine.worlds.rows import Actor
from statemachine.worlds.world import Step

from . import table as t
from .safety import STORE_SAFETY, is_disposed, is_resumed
from .state import COMPARE, Agent, Keeper, Owner, Report, State, Work, is_open

__all__ = ["false_store_variants", "store_claims"]


# -- Sometimes -------------------------------------------------------------------------------------


@sometimes("E-79", on=(t.CRASH,), invariant="INV-13")
def a_crash_loses_a_batch(step: Step[State]) -> bool:
    """A process dies before the batch under way is stored."""
    return step.before.agent is Agent.LIVE and bool(step.before.batch)


@sometimes("E-79", on=(t.CRASH_LATE,))
def a_crash_comes_before_the_answer(step: Step[State]) -> bool:
    """A batch is stored, and the process dies before anybody is told."""
    return step.before.barrier is not None and step.before.disk != step.after.disk


@sometimes("E-13", on=(t.DISK_OK,))
def a_late_write_is_not_repeated(step: Step[State]) -> bool:
    """What a failed write has stored all the same is found, and the next flush succeeds."""
    first = step.before.queue[0]
    is_compared = first.work is Work.WRITE and first.start == COMPARE
    is_told = step.after.acknowledged > step.before.acknowledged
    return is_compared and is_told and step.after.disk == step.before.disk


@sometimes("E-17", on=(t.DISK_OK,))
def a_resume_repairs(step: Step[State]) -> bool:
    """A resume closes what a crash had left open."""
    return is_resumed(step) and is_open(step.before.disk)


@sometimes("E-23", on=(t.DISK_OK, t.DISK_LATE))
def a_repair_is_done_for_nobody(step: Step[State]) -> bool:
    """A resume that was given up has repaired the session all the same."""
    return step.before.agent is Agent.NONE and step.after.disk != step.before.disk


@sometimes("E-30", on=(t.DISK_OK,))
def a_turn_is_taken_on_in_its_middle(step: Step[State]) -> bool:
    """A keeper that was reloaded writes the rest of a turn whose beginning was stored before."""
    first = step.before.queue[0]
    is_compared = first.work is Work.WRITE and first.start == COMPARE
    return is_compared and step.before.disk != step.after.disk and is_open(step.before.disk)


@sometimes("E-31", on=(t.DISK_OK,))
def a_repaired_session_is_not_taken_on(step: Step[State]) -> bool:
    """While there was no keeper another process has repaired the session, which lives on."""
    first = step.before.queue[0]
    return first.work is Work.WRITE and step.before.is_stored_another and is_open(step.before.log)


@sometimes("E-49 F-34", on=(t.GRACE,), invariant="INV-13")
def a_dispose_says_what_it_did_not_store(step: Step[State]) -> bool:
    """A dispose resolves without its closing records on the disk, and says so."""
    return is_disposed(step) and step.after.disk != step.before.log


@sometimes("E-49 E-33", on=(t.DISK_OK,))
def a_last_write_comes_late_and_before_the_resume(step: Step[State]) -> bool:
    """What a dispose had left behind is stored, and the resume that waits finds it."""
    works = [call.work for call in step.before.queue]
    return works == [Work.FINISH, Work.LOAD] and step.after.disk != step.before.disk


@sometimes("E-40", on=(t.DISK_OK,), invariant="INV-13")
def an_application_stops_in_the_middle_of_a_turn(step: Step[State]) -> bool:
    """The closing records of an application that stops reach the disk."""
    return step.before.is_stopping and step.before.disk != step.after.disk


@sometimes("E-41 E-101", on=(t.RELEASE,), invariant="INV-13")
def a_session_ends_without_its_keeper(step: Step[State]) -> bool:
    """When the keeper alone has unloaded, what came afterwards is not stored."""
    return step.after.report is Report.UNKEPT and step.before.disk != step.before.log


_RACES: Final[tuple[Claim, ...]] = (
    a_crash_loses_a_batch,
    a_crash_comes_before_the_answer,
    a_late_write_is_not_repeated,
    a_resume_repairs,
    a_repair_is_done_for_nobody,
    a_turn_is_taken_on_in_its_middle,
    a_repaired_session_is_not_taken_on,
    a_dispose_says_what_it_did_not_store,
    a_last_write_comes_late_and_before_the_resume,
    an_application_stops_in_the_middle_of_a_turn,
    a_session_ends_without_its_keeper,
)


# -- Eventually ------------------------------------------------------------------------------------

ANSWERS: Final = Assumption(
    name="the disk answers",
    text="What the disk is asked for is at some time done, or fails.",
    fair=frozenset({Actor.STORE}),
)
WORKS: Final = Assumption(
    name="the disk works",
    text="Nothing fails on the disk any more.",
    stops=frozenset({t.DISK_ERROR, t.DISK_LATE}),
)
EXITS: Final = Assumption(
    name="the driver exits",
    text="The driver of a disposed agent closes its turn and exits.",
    fair=frozenset({Actor.DRIVER}),
)
TEARDOWNS: Final = Assumption(
    name="teardowns go on",
    text="A teardown, while it has something to do, at some time does it.",
    fair=frozenset({Actor.TEARDOWN}),
)

_ENDS: Final = (Agent.ENDING, Agent.CLOSED, Agent.FLUSHING, Agent.FLUSHED, Agent.RELEASING)


def _is_behind(state: State) -> bool:
    """Whether something is not stored yet although nothing has failed."""
    return state.is_written and not state.has_failed and len(state.disk) < len(state.log)


def _is_kept_by_another(state: State) -> bool:
    return state.lease is Owner.RIVAL or state.is_stored_another


def _promises() -> tuple[Eventually[State], ...]:
    return (
        Eventually(
            name="every_flush_is_answered", clauses=("E-12", "E-13"),
            statement="A flush that waits is answered.", places=(0,),
            from_=lambda s, _: s.barrier is not None, to=lambda s, _: s.barrier is None,
            premise=(ANSWERS,),
        ),
        Eventually(
            name="every_record_is_written_without_a_flush", clauses=("E-12",),
            statement="What is appended to a session that nobody else has is stored unasked.",
            places=(0,), from_=lambda s, _: _is_behind(s),
            to=lambda s, _: s.disk == s.log or not s.is_written or _is_kept_by_another(s),
            premise=(ANSWERS, WORKS),
        ),
        Eventually(
            name="every_dispose_resolves", clauses=("F-15", "E-49"), invariant="INV-12",
            statement="The dispose of an agent completes.", places=(0,),
            from_=lambda s, _: s.agent in _ENDS, to=lambda s, _: s.agent not in _ENDS,
            premise=(EXITS, ANSWERS, TEARDOWNS),
        ),
        Eventually(
            name="every_load_is_over", clauses=("E-23",),
            statement="A resume is answered, and the disk has done what was given up.",
            places=(0,), from_=lambda s, _: s.agent is Agent.LOADING,
            to=lambda s, _: s.agent is not Agent.LOADING, premise=(ANSWERS,),
        ),
        Eventually(
            name="every_keeper_that_unloads_is_gone", clauses=("E-36",),
            statement="The unload of the keeper completes.", places=(0,),
            from_=lambda s, _: s.keeper is Keeper.DRAINING,
            to=lambda s, _: s.keeper is not Keeper.DRAINING, premise=(ANSWERS, TEARDOWNS),
        ),
        Eventually(
            name="every_application_that_stops_stops", clauses=("E-40",), invariant="INV-12",
            statement="When the application stops, its agents and then its keeper are gone.",
            places=(0,), from_=lambda s, _: s.is_stopping,
            to=lambda s, _: not s.is_stopping or s.keeper is Keeper.UNLOADED,
            premise=(EXITS, ANSWERS, TEARDOWNS),
        ),
    )  # fmt: skip


def store_claims() -> tuple[Claim, ...]:
    """Return every claim about the store world."""
    return (*STORE_SAFETY, *_RACES, *_promises())


def false_store_variants() -> tuple[Eventually[State], ...]:
    """Return the claims that lack one part of their premise, which must all be refuted."""
    return tuple(claim.without(part) for claim in _promises() for part in claim.premise)
