"""Every fault planted in the store world is found, by a short story."""

from collections.abc import Callable
from typing import Final

import pytest
from attrs import evolve, frozen

from statemachine.explorer import Counterexample
from statemachine.worlds import Event, Eventually, Move, Row, examine_world, refute
from statemachine.worlds.store import (
    TABLE,
    Agent,
    Barrier,
    Kind,
    Owner,
    Record,
    State,
    store_claims,
    store_world,
)
from statemachine.worlds.store import moves as m
from statemachine.worlds.store import table as t

LAYER = "world"
CLAIMS: Final = {claim.name: claim for claim in store_claims()}

Table = tuple[Row[State], ...]
Plant = Callable[[Table], Table]


@frozen(kw_only=True)
class StoreMutant:
    """One planted fault."""

    id: str
    fault: str
    invariant: str
    plant: Plant
    dies_of: str
    length: int
    """How many steps its shortest story has."""


# -- Planting --------------------------------------------------------------------------------------


def _is_chosen(row: Row[State], on: Event, guard: str | None) -> bool:
    return row.on is on and (guard is None or guard in [each.name for each in row.when])


def _remove(on: Event, *guards: str) -> Plant:
    def plant(table: Table) -> Table:
        left = tuple(
            row for row in table if not all(_is_chosen(row, on, guard) for guard in guards)
        )
        assert len(left) < len(table), "the fault finds no row to plant itself in"
        return left

    return plant


def _change(on: Event, change: Callable[[Row[State]], Row[State]], guard: str | None) -> Plant:
    def plant(table: Table) -> Table:
        changed = tuple(
            change(row) if row.refuses is None and _is_chosen(row, on, guard) else row
            for row in table
        )
        assert changed != table, "the fault finds no row to plant itself in"
        return changed

    return plant


def _skip(on: Event, *moves: Move[State], guard: str | None = None) -> Plant:
    return _change(
        on,
        lambda row: evolve(row, does=tuple(each for each in row.does if each not in moves)),
        guard,
    )


def _first(on: Event, move: Move[State], guard: str | None = None) -> Plant:
    return _change(on, lambda row: evolve(row, does=(move, *row.does)), guard)


def _also(on: Event, move: Move[State], guard: str | None = None) -> Plant:
    return _change(on, lambda row: evolve(row, does=(*row.does, move)), guard)


def _instead(on: Event, old: Move[State], new: Move[State], guard: str | None = None) -> Plant:
    return _change(
        on,
        lambda row: evolve(row, does=tuple(new if each is old else each for each in row.does)),
        guard,
    )


def _unguarded(on: Event, name: str) -> Plant:
    return _change(
        on,
        lambda row: evolve(row, when=tuple(each for each in row.when if each.name != name)),
        name,
    )


def _both(*plants: Plant) -> Plant:
    def plant(table: Table) -> Table:
        for each in plants:
            table = each(table)
        return table

    return plant


# -- Moves that are wrong --------------------------------------------------------------------------


def _move(make: Callable[[State, int], State]) -> Move[State]:
    return Move(make.__name__.strip("_").replace("_", " "), make)


@_move
def _answer_at_once(state: State, _: int) -> State:
    return state._replace(acknowledged=len(state.log))


@_move
def _answer_whatever_was_written(state: State, at: int) -> State:
    barrier = state.barrier
    small = None if barrier is None else Barrier(state.queue[0].end, barrier.is_own)
    answered = m.ACKNOWLEDGE.make(state._replace(barrier=small), at)
    return state if barrier is None else answered._replace(acknowledged=barrier.wanted)


@_move
def _trust_the_cursor(state: State, _: int) -> State:
    return state._replace(has_failed=True) if state.queue[0].is_own else state


@_move
def _cut_the_open_turn(state: State, _: int) -> State:
    is_open = state.disk[-1:] and state.disk[-1].kind is Kind.START
    return state._replace(disk=state.disk[:-1]) if is_open else state


@_move
def _repair_whatever_is_there(state: State, _: int) -> State:
    return state._replace(disk=(*state.disk, Record(len(state.disk), Kind.REPAIR)))


@_move
def _write_from_the_beginning(state: State, _: int) -> State:
    return state._replace(disk=state.disk + state.log[: state.queue[0].end])


@_move
def _store_what_is_missing(state: State, _: int) -> State:
    end = state.queue[0].end
    return state._replace(disk=state.disk + state.log[len(state.disk) : end])


def _no_comparison(table: Table) -> Table:
    """Look at the lease alone, and not at what is stored."""

    def is_busy(state: State, _: int) -> bool:
        return state.lease is Owner.RIVAL

    guard = evolve(t.refused_by_the_store, holds=is_busy)
    return tuple(
        evolve(row, when=tuple(guard if g is t.refused_by_the_store else g for g in row.when))
        for row in table
    )


def _no_lock(table: Table) -> Table:
    """Let another process resume whatever is stored."""
    return tuple(
        evolve(row, when=(t.something_stored,)) if row.on is t.RIVAL_RESUMES else row
        for row in table
        if row.on is not t.RIVAL_RESUMES or row.refuses is None
    )


# -- The faults ------------------------------------------------------------------------------------


def _mutant(  # noqa: PLR0913, PLR0917  # the columns of a list
    name: str, fault: str, invariant: str, plant: Plant, dies_of: str, length: int
) -> StoreMutant:
    return StoreMutant(
        id=f"store-world-{name}", fault=fault, invariant=invariant, plant=plant, dies_of=dies_of,
        length=length,
    )  # fmt: skip


_WRITE, _FINISH, _LOAD = "write under way", "finish under way", "load under way"

MUTANTS: Final = (
    _mutant("flush-does-not-wait", "a flush is answered before the write", "INV-13",
            _instead(t.FLUSH, m.ASK_FLUSH, _answer_at_once),
            "what_was_acknowledged_is_stored", 2),
    _mutant("flush-takes-any-write", "a flush takes an earlier write for its own", "INV-13",
            _instead(t.DISK_OK, m.ACKNOWLEDGE, _answer_whatever_was_written, _WRITE),
            "what_was_acknowledged_is_stored", 4),
    _mutant("emptied-before-the-write", "a write that failed counts as done", "INV-13",
            _both(_instead(t.DISK_ERROR, m.DOUBT, m.BELIEVE, _WRITE),
                  _instead(t.DISK_ERROR, m.FAIL_FLUSH, m.ACKNOWLEDGE, _WRITE)),
            "what_was_acknowledged_is_stored", 3),
    _mutant("cuts-the-open-turn", "a resume cuts the turn that a crash left open", "INV-13",
            _instead(t.DISK_OK, m.REPAIR, _cut_the_open_turn, _LOAD),
            "what_is_stored_stays", 4),
    _mutant("crash-takes-the-turn", "a crash takes away what was stored of an open turn", "INV-13",
            _first(t.CRASH, _cut_the_open_turn), "what_is_stored_stays", 3),
    _mutant("cursor-trusted", "a write that failed is believed not to have happened", "INV-13",
            _instead(t.DISK_LATE, m.DOUBT, _trust_the_cursor, _WRITE),
            "records_are_stored_in_their_order_and_once", 4),
    _mutant("written-anew", "a keeper that is reloaded writes the session once more", "INV-13",
            _instead(t.DISK_OK, m.STORE, _write_from_the_beginning, _WRITE),
            "records_are_stored_in_their_order_and_once", 4),
    _mutant("repairs-always", "a resume closes also what is closed", "INV-13",
            _instead(t.DISK_OK, m.REPAIR, _repair_whatever_is_there, _LOAD),
            "a_turn_ends_once", 6),
    _mutant("adoption-repairs", "whoever takes a live session on closes its turn", "INV-13",
            _first(t.DISK_OK, m.REPAIR, _WRITE),
            "whoever_writes_a_live_session_closes_nothing", 4),
    _mutant("adoption-does-not-compare", "what is stored is taken for the live session", "INV-13",
            _both(_no_comparison, _instead(t.DISK_OK, m.STORE, _store_what_is_missing, _WRITE)),
            "what_is_written_is_the_live_log", 11),
    _mutant("writer-sleeps", "what came during a write is left lying", "INV-13",
            _skip(t.DISK_OK, m.WAKE, guard=_WRITE),
            "a_crash_takes_away_no_more_than_a_batch", 3),
    _mutant("lease-not-taken", "a resume takes no lease", "INV-16",
            _skip(t.DISK_OK, m.TAKE, guard=_LOAD), "a_resume_finds_what_is_stored", 4),
    _mutant("no-repair", "a resume leaves open what a crash left open", "INV-13",
            _skip(t.DISK_OK, m.REPAIR, guard=_LOAD), "a_resume_finds_what_is_stored", 4),
    _mutant("lease-not-looked-at", "a resume does not look who has the lease", "INV-16",
            _remove(t.DISK_OK, _LOAD, "refused_by_the_store"),
            "nobody_takes_a_lease_from_another", 5),
    _mutant("lease-given-back-early", "the lease is given back before the last write", "INV-13",
            _first(t.RELEASE, m.FREE, "keeper loaded"),
            "only_the_owner_of_the_lease_writes", 8),
    _mutant("no-lock", "another process resumes a session that is written", "INV-16",
            _no_lock, "nobody_resumes_what_another_one_writes", 3),
    _mutant("reading-repairs", "whoever reads a session repairs it", "INV-13",
            _first(t.READ, m.REPAIR), "reading_changes_nothing", 3),
    _mutant("late-result-published", "a resume that was given up is published", "INV-16",
            _remove(t.DISK_OK, _LOAD, "for_nobody"),
            "a_resume_that_was_given_up_makes_nobody", 5),
    _mutant("late-load-leaks", "a resume that fails late keeps the lease", "INV-16",
            _first(t.DISK_LATE, m.TAKE, _LOAD), "a_lease_ends_with_its_writer", 4),
    _mutant("failed-write-leaks", "a last write that fails keeps the lease", "INV-16",
            _skip(t.DISK_ERROR, m.FREE, guard=_FINISH), "a_lease_ends_with_its_writer", 5),
    _mutant("keeper-forgets", "a keeper that unloads lets go of its sessions at once", "INV-16",
            _skip(t.UNLOAD_KEEPER, m.LET_GO), "a_lease_ends_with_its_writer", 4),
    _mutant("no-last-write", "the end of an agent skips the flush and the last write", "INV-13",
            _both(_instead(t.LAST_FLUSH, m.ASK_FLUSH, m.agent_becomes(Agent.FLUSHED)),
                  _skip(t.DISK_OK, m.STORE, guard=_FINISH)),
            "a_dispose_that_reports_nothing_has_stored_everything", 7),
    _mutant("failure-not-told", "a last write that fails is not in the report", "INV-13",
            _skip(t.DISK_ERROR, m.FAIL_LAST, guard=_FINISH),
            "a_dispose_that_reports_nothing_has_stored_everything", 9),
    _mutant("grace-not-told", "a last write that is late is not in the report", "INV-13",
            _skip(t.GRACE, m.AGENT_FAILED, guard="agent releasing"),
            "a_dispose_that_reports_nothing_has_stored_everything", 8),
    _mutant("turn-stays-open", "the turn of a disposed agent is not closed", "INV-13",
            _skip(t.CLOSES, m.CLOSE_TURN), "a_session_that_ends_is_balanced", 6),
    _mutant("keeper-first", "the application unloads the keeper before the agents", "INV-13",
            _both(_unguarded(t.STOP_KEEPER, "agent none"), _first(t.STOP_KEEPER, m.LET_GO)),
            "an_application_that_stops_keeps_its_sessions_to_the_end", 6),
    _mutant("flush-forgotten", "a flush that joined a write that failed is forgotten", "INV-13",
            _skip(t.DISK_ERROR, m.FAIL_FLUSH, guard=_WRITE), "every_flush_is_answered", 3),
    _mutant("dispose-forgotten", "a last write that fails resolves no dispose", "INV-12",
            _skip(t.DISK_ERROR, m.ANSWER_LAST, guard=_FINISH), "every_dispose_resolves", 5),
)  # fmt: skip


def _story(mutant: StoreMutant) -> object:
    claim, world = CLAIMS[mutant.dies_of], store_world(mutant.plant(TABLE))
    if isinstance(claim, Eventually):
        return examine_world(world, [claim]).verdicts[-1].why
    return refute(world, claim)  # type: ignore[arg-type]  # no *sometimes* is in the list


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
def test_a_fault_of_the_store_world_is_found_by_a_shortest_story(mutant: StoreMutant) -> None:
    """A fault dies of the claim that is there to find it, in as few steps as it takes."""
    story = _story(mutant)
    assert isinstance(story, Counterexample)
    assert story.length == mutant.length, str(story)


def test_faults_of_the_store_world_have_names_of_their_own() -> None:
    """The list can be read as a table with one line for each fault."""
    assert len({mutant.id for mutant in MUTANTS}) == len(MUTANTS)
