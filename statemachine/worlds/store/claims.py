"""What must hold of a session that is kept: of its stored copy, of who writes it, of its end."""

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
from .state import COMPARE, Agent, Keeper, Kind, Owner, Report, State, Work, is_open

__all__ = ["STORE_SAFETY", "false_store_variants", "store_claims"]

_DISK: Final = (t.DISK_OK, t.DISK_ERROR, t.DISK_LATE)


# -- What is stored --------------------------------------------------------------------------------


@everywhere("E-04 E-12 E-79", invariant="INV-13", about=lambda state: state.acknowledged > 0)
def what_was_acknowledged_is_stored(state: State) -> bool:
    """Whatever happens and whoever dies, as much is stored as somebody was told to be."""
    return len(state.disk) >= state.acknowledged


@on_every_step("E-46 D-47", invariant="INV-13")
def what_is_stored_stays(step: Step[State]) -> bool:
    """What is stored is never taken away and never changed."""
    stored = step.before.disk
    return step.after.disk is stored or step.after.disk[: len(stored)] == stored


@everywhere("E-05 E-13 E-14", about=lambda state: bool(state.disk))
def records_are_stored_in_their_order_and_once(state: State) -> bool:
    """What is stored has no gap, and nothing of it is there twice."""
    return all(record.seq == place for place, record in enumerate(state.disk))


@everywhere("D-42 D-43 E-17", about=lambda state: bool(state.disk))
def a_turn_ends_once(state: State) -> bool:
    """On the disk every end is that of a turn that was open, so a repair happens once."""
    return all(
        (record.kind is Kind.START) is (place % 2 == 0) for place, record in enumerate(state.disk)
    )


def _has_written(step: Step[State]) -> bool:
    is_by_the_disk = step.label.event in (*_DISK, t.CRASH_LATE)
    return is_by_the_disk and step.before.disk != step.after.disk


def _has_written_a_batch(step: Step[State]) -> bool:
    return _has_written(step) and step.before.queue[0].work is not Work.LOAD


@on_every_step("E-31 E-46", about=_has_written_a_batch)
def what_is_written_is_the_live_log(step: Step[State]) -> bool:
    """After a write, what is stored is a beginning of the log that was written."""
    stored = step.after.disk
    return step.before.log[: len(stored)] == stored


@on_every_step("E-30 E-41", about=_has_written_a_batch)
def whoever_writes_a_live_session_closes_nothing(step: Step[State]) -> bool:
    """A keeper that takes a live session on adds what the session holds, and no repair."""
    added = step.after.disk[len(step.before.disk) :]
    return all(record in step.before.log for record in added)


@everywhere("E-12 E-13", about=lambda s: s.is_written and not s.is_writing and not s.has_failed)
def a_crash_takes_away_no_more_than_a_batch(state: State) -> bool:
    """While no write is under way and the last one has not failed, everything is stored."""
    return state.disk == state.log


@on_every_step("E-79", on=(t.CRASH, t.CRASH_LATE), invariant="INV-13")
def a_crash_leaves_what_was_stored(step: Step[State]) -> bool:
    """After a crash as much is stored as before, and the batch under way is there or is not."""
    stored = step.before.disk
    return step.after.disk in (stored, stored + step.before.batch) or is_open(stored)


# -- Who writes ------------------------------------------------------------------------------------


@on_every_step("E-22 E-49", about=_has_written)
def only_the_owner_of_the_lease_writes(step: Step[State]) -> bool:
    """A write that continues has the lease, and one that begins finds it free."""
    first, lease = step.before.queue[0], step.before.lease
    is_first = first.work is Work.LOAD or first.start in (COMPARE, 0)
    return lease is Owner.MINE or (is_first and lease is Owner.NOBODY)


@on_every_step("E-17 E-22", on=(t.RIVAL_RESUMES,), about=lambda step: not step.is_refused)
def nobody_resumes_what_another_one_writes(step: Step[State]) -> bool:
    """Another process repairs a session only when this one has no lease of it."""
    return step.before.lease is Owner.NOBODY


@on_every_step("E-45", on=(t.READ,))
def reading_changes_nothing(step: Step[State]) -> bool:
    """Reading and listing change nothing, whatever is open or damaged."""
    return step.after == step.before


def _is_resumed(step: Step[State]) -> bool:
    return step.before.agent is Agent.LOADING and step.after.agent is Agent.LIVE


@on_every_step("D-42 D-43 E-17 E-35", about=_is_resumed)
def a_resume_finds_what_is_stored(step: Step[State]) -> bool:
    """A resumed session is what is stored, with no turn open, and its owner has the lease."""
    after, stored = step.after, step.before.disk
    added = after.disk[len(stored) :]
    is_repaired = [record.kind for record in added] == [Kind.REPAIR] * is_open(stored)
    return is_repaired and after.log == after.disk and after.lease is Owner.MINE


def _is_left(state: State) -> bool:
    return not state.queue and (state.agent is Agent.NONE or state.keeper is Keeper.UNLOADED)


@everywhere("E-33 E-36 E-49 E-61", about=_is_left)
def a_lease_ends_with_its_writer(state: State) -> bool:
    """Where no agent is on the session or nobody keeps it, this process has no lease of it."""
    return state.lease is not Owner.MINE


# -- The end ---------------------------------------------------------------------------------------


def _is_disposed(step: Step[State]) -> bool:
    is_ending = step.before.agent in (Agent.FLUSHED, Agent.RELEASING)
    is_dead = step.label.event in (t.CRASH, t.CRASH_LATE)
    return is_ending and step.after.agent is Agent.NONE and not is_dead


@on_every_step("E-38 E-39 E-49 F-34", invariant="INV-13", about=_is_disposed)
def a_dispose_that_reports_nothing_has_stored_everything(step: Step[State]) -> bool:
    """When a dispose resolves, everything is stored, or the report says why it may not be."""
    return step.after.report is not Report.CLEAN or step.after.disk == step.before.log


@on_every_step("E-38 F-15", about=_is_disposed)
def a_session_that_ends_is_balanced(step: Step[State]) -> bool:
    """Before an agent is gone its open turn was closed."""
    return not is_open(step.before.log)


@everywhere("E-40", invariant="INV-13", about=lambda state: state.is_stopping)
def an_application_that_stops_keeps_its_sessions_to_the_end(state: State) -> bool:
    """When the application stops, the keeper is there until the last agent has gone."""
    return state.report is not Report.UNKEPT


STORE_SAFETY: Final[tuple[Everywhere[State] | OnEveryStep[State], ...]] = (
    what_was_acknowledged_is_stored,
    what_is_stored_stays,
    records_are_stored_in_their_order_and_once,
    a_turn_ends_once,
    what_is_written_is_the_live_log,
    whoever_writes_a_live_session_closes_nothing,
    a_crash_takes_away_no_more_than_a_batch,
    a_crash_leaves_what_was_stored,
    only_the_owner_of_the_lease_writes,
    nobody_resumes_what_another_one_writes,
    reading_changes_nothing,
    a_resume_finds_what_is_stored,
    a_lease_ends_with_its_writer,
    a_dispose_that_reports_nothing_has_stored_everything,
    a_session_that_ends_is_balanced,
    an_application_that_stops_keeps_its_sessions_to_the_end,
)


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
    return _is_resumed(step) and is_open(step.before.disk)


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
    return _is_disposed(step) and step.after.disk != step.before.log


@sometimes("E-49 E-33", on=(t.DISK_OK,))
def a_last_write_comes_late_and_before_the_resume(step: Step[State]) -> bool:
    """What a dispose had left behind is stored, and the resume that waits finds it."""
    works = [call.work for call in step.before.queue]
    return works == [Work.FINISH, Work.LOAD] and step.after.disk != step.before.disk


@sometimes("E-40", on=(t.DISK_OK,), invariant="INV-13")
def an_application_stops_in_the_middle_of_a_turn(step: Step[State]) -> bool:
    """The closing records of an application that stops reach the disk."""
    return step.before.is_stopping and step.before.disk != step.after.disk


@sometimes("E-41", on=(t.RELEASE,), invariant="INV-13")
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
            statement="What is appended is stored although nobody waits for it, unless another one has the session.",
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
