"""What must never happen to a session that is kept, to its stored copy and to its lease."""

from typing import Final

from statemachine.worlds.claims import Everywhere, OnEveryStep, everywhere, on_every_step
from statemachine.worlds.world import Step

from . import table as t
from .state import COMPARE, Agent, Keeper, Kind, Owner, Report, State, Work, is_open

__all__ = ["STORE_SAFETY", "is_disposed", "is_resumed"]

_DISK: Final = (t.DISK_OK, t.DISK_ERROR, t.DISK_LATE)
_WRITES: Final = (*_DISK, t.CRASH_LATE)
_ENDINGS: Final = (*_DISK, t.RELEASE, t.GRACE)


# -- What is stored --------------------------------------------------------------------------------


def _is_anything_acknowledged(state: State) -> bool:
    return state.acknowledged > 0


def _is_anything_stored(state: State) -> bool:
    return bool(state.disk)


def _is_written_and_at_rest(state: State) -> bool:
    return state.is_written and not state.is_writing and not state.has_failed


@everywhere("E-04 E-12 E-79", invariant="INV-13", about=_is_anything_acknowledged)
def what_was_acknowledged_is_stored(state: State) -> bool:
    """Whatever happens and whoever dies, as much is stored as somebody was told to be."""
    return len(state.disk) >= state.acknowledged


@on_every_step("E-46 D-47", invariant="INV-13")
def what_is_stored_stays(step: Step[State]) -> bool:
    """What is stored is never taken away and never changed."""
    stored = step.before.disk
    return step.after.disk is stored or step.after.disk[: len(stored)] == stored


@everywhere("E-05 E-13 E-14", about=_is_anything_stored)
def records_are_stored_in_their_order_and_once(state: State) -> bool:
    """What is stored has no gap, and nothing of it is there twice."""
    return all(record.seq == place for place, record in enumerate(state.disk))


@everywhere("D-42 D-43 E-17", about=_is_anything_stored)
def a_turn_ends_once(state: State) -> bool:
    """On the disk every end is that of a turn that was open, so a repair happens once."""
    return all(
        (record.kind is Kind.START) is (place % 2 == 0) for place, record in enumerate(state.disk)
    )


def _has_written(step: Step[State]) -> bool:
    return step.before.disk != step.after.disk


def _has_written_a_batch(step: Step[State]) -> bool:
    return _has_written(step) and step.before.queue[0].work is not Work.LOAD


@on_every_step("E-31 E-46", on=_WRITES, about=_has_written_a_batch)
def what_is_written_is_the_live_log(step: Step[State]) -> bool:
    """After a write, what is stored is a beginning of the log that was written."""
    stored = step.after.disk
    return step.before.log[: len(stored)] == stored


@on_every_step("E-30 E-41", on=_WRITES, about=_has_written_a_batch)
def whoever_writes_a_live_session_closes_nothing(step: Step[State]) -> bool:
    """A keeper that takes a live session on adds what the session holds, and no repair."""
    added = step.after.disk[len(step.before.disk) :]
    return all(record in step.before.log for record in added)


@everywhere("E-12 E-13", about=_is_written_and_at_rest)
def a_crash_takes_away_no_more_than_a_batch(state: State) -> bool:
    """While no write is under way and the last one has not failed, everything is stored."""
    return state.disk == state.log


# -- Who writes ------------------------------------------------------------------------------------


@on_every_step("E-22 E-49", on=_WRITES, about=_has_written)
def only_the_owner_of_the_lease_writes(step: Step[State]) -> bool:
    """A write that continues has the lease, and one that begins finds it free."""
    first, lease = step.before.queue[0], step.before.lease
    is_first = first.work is Work.LOAD or first.start in (COMPARE, 0)
    return lease is Owner.MINE or (is_first and lease is Owner.NOBODY)


@on_every_step("E-17 E-22", on=(t.RIVAL_RESUMES,), about=lambda step: not step.is_refused)
def nobody_resumes_what_another_one_writes(step: Step[State]) -> bool:
    """Another process repairs a session only when this one has no lease of it."""
    return step.before.lease is Owner.NOBODY


@on_every_step("E-47 E-61")
def nobody_takes_a_lease_from_another(step: Step[State]) -> bool:
    """A lease is taken when nobody has it."""
    before, after = step.before.lease, step.after.lease
    return before is after or Owner.NOBODY in (before, after)


@on_every_step("E-45", on=(t.READ,))
def reading_changes_nothing(step: Step[State]) -> bool:
    """Reading and listing change nothing, whatever is open or damaged."""
    return step.after == step.before


def is_resumed(step: Step[State]) -> bool:
    """Return whether a step ends a resume that succeeds."""
    return step.before.agent is Agent.LOADING and step.after.agent is Agent.LIVE


@on_every_step("D-42 D-43 E-17 E-35", on=_DISK, about=is_resumed)
def a_resume_finds_what_is_stored(step: Step[State]) -> bool:
    """A resumed session is what is stored, with no turn open, and its owner has the lease."""
    after, stored = step.after, step.before.disk
    added = after.disk[len(stored) :]
    is_repaired = [record.kind for record in added] == [Kind.REPAIR] * is_open(stored)
    return is_repaired and after.log == after.disk and after.lease is Owner.MINE


def _is_made(step: Step[State]) -> bool:
    return step.before.agent is not Agent.LIVE and step.after.agent is Agent.LIVE


@on_every_step("E-23 F-07", about=_is_made)
def a_resume_that_was_given_up_makes_nobody(step: Step[State]) -> bool:
    """An agent comes of a call to create it, or of a resume for which somebody still waits."""
    return step.label.event is t.CREATE or step.before.agent is Agent.LOADING


def _is_left(state: State) -> bool:
    return not state.queue and (state.agent is Agent.NONE or state.keeper is Keeper.UNLOADED)


@everywhere("E-33 E-36 E-49 E-61", about=_is_left)
def a_lease_ends_with_its_writer(state: State) -> bool:
    """Where no agent is on the session or nobody keeps it, this process has no lease of it."""
    return state.lease is not Owner.MINE


# -- The end ---------------------------------------------------------------------------------------


def is_disposed(step: Step[State]) -> bool:
    """Return whether a step resolves a dispose, or is the crash before that."""
    is_ending = step.before.agent in (Agent.FLUSHED, Agent.RELEASING)
    return is_ending and step.after.agent is Agent.NONE


@on_every_step("E-38 E-39 E-49 F-34", on=_ENDINGS, invariant="INV-13", about=is_disposed)
def a_dispose_that_reports_nothing_has_stored_everything(step: Step[State]) -> bool:
    """When a dispose resolves, everything is stored, or the report says why it may not be."""
    return step.after.report is not Report.CLEAN or step.after.disk == step.before.log


@on_every_step("E-38 F-15", on=_ENDINGS, about=is_disposed)
def a_session_that_ends_is_balanced(step: Step[State]) -> bool:
    """Before an agent is gone its open turn was closed."""
    return not is_open(step.before.log)


def _is_stopping(state: State) -> bool:
    return state.is_stopping


@everywhere("E-40", invariant="INV-13", about=_is_stopping)
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
    only_the_owner_of_the_lease_writes,
    nobody_resumes_what_another_one_writes,
    nobody_takes_a_lease_from_another,
    reading_changes_nothing,
    a_resume_finds_what_is_stored,
    a_resume_that_was_given_up_makes_nobody,
    a_lease_ends_with_its_writer,
    a_dispose_that_reports_nothing_has_stored_everything,
    a_session_that_ends_is_balanced,
    an_application_that_stops_keeps_its_sessions_to_the_end,
)
