"""Every fault planted in the job world is found, by a short story."""

from collections.abc import Callable
from typing import Final

import pytest
from attrs import evolve, frozen

from statemachine.worlds import Event, Move, Row, refute
from statemachine.worlds.jobs import JOB_SAFETY, TABLE, Notice, State, Token, job_world
from statemachine.worlds.jobs import table as t

LAYER = "world"
CLAIMS: Final = {claim.name: claim for claim in JOB_SAFETY}

Table = tuple[Row[State], ...]


@frozen(kw_only=True)
class JobMutant:
    """One planted fault."""

    id: str
    fault: str
    invariant: str
    plant: Callable[[Table], Table]
    dies_of: str
    length: int
    """How many steps its shortest story has."""


def _remove(on: Event, guard: str) -> Callable[[Table], Table]:
    def plant(table: Table) -> Table:
        left = tuple(
            row for row in table if row.on is not on or guard not in [g.name for g in row.when]
        )
        assert len(left) < len(table), "the fault finds no row to plant itself in"
        return left

    return plant


def _also(on: Event, move: Move[State]) -> Callable[[Table], Table]:
    def plant(table: Table) -> Table:
        return tuple(
            evolve(row, does=(*row.does, move)) if row.on is on and row.refuses is None else row
            for row in table
        )

    return plant


def _truthy(table: Table) -> Table:
    """Take a token without a letter in it for no owner."""

    def is_foreign(state: State, at: int) -> bool:
        return state.at(at).owner is not Token.EMPTY and t.of_somebody_else.holds(state, at)

    guard = evolve(t.of_somebody_else, holds=is_foreign)
    return tuple(
        evolve(row, when=tuple(guard if g is t.of_somebody_else else g for g in row.when))
        for row in table
    )


def _owners_forgotten(state: State, _: int) -> State:
    jobs = (None if job is None else job._replace(owner=Token.NONE) for job in state.jobs)
    return state._replace(jobs=tuple(jobs))


def _told_again(state: State, _: int) -> State:
    jobs = (
        job._replace(notice=Notice.TOLD) if job is not None and job.notice is Notice.LOST else job
        for job in state.jobs
    )
    return state._replace(jobs=tuple(jobs))


def _mutant(  # noqa: PLR0913, PLR0917  # the columns of a list
    name: str,
    fault: str,
    invariant: str,
    plant: Callable[[Table], Table],
    dies_of: str,
    length: int,
) -> JobMutant:
    return JobMutant(
        id=f"job-world-{name}", fault=fault, invariant=invariant, plant=plant, dies_of=dies_of,
        length=length,
    )  # fmt: skip


MUTANTS: Final = (
    _mutant("no-fence", "anybody reads a job", "INV-17",
            _remove(t.READ, "of_somebody_else"), "a_job_answers_its_owner_alone", 2),
    _mutant("truthy-owner", "an empty token counts as no owner", "INV-17",
            _truthy, "a_job_answers_its_owner_alone", 2),
    _mutant("map-in-the-plugin", "owners are forgotten with the plugin", "INV-17",
            _also(t.UNLOAD, Move("owners forgotten", _owners_forgotten)),
            "an_owner_never_changes", 2),
    _mutant("dispose-kills", "the dispose of an agent kills its jobs", "INV-17",
            _also(t.DISPOSE_AGENT, t.kill_mine), "only_a_kill_or_an_end_kills", 2),
    _mutant("jobs-not-awaited", "the end of a session does not wait for its jobs", "INV-17",
            lambda table: tuple(
                evolve(row, when=row.when[:1], does=row.does[:1])
                if row.on is t.SESSION_ENDED else row for row in table
            ),
            "no_job_outlives_its_session", 5),
    _mutant("start-after-dispose", "a closed executor starts jobs", "INV-17",
            _remove(t.START, "executor_closed"), "no_job_outlives_the_executor", 3),
    _mutant("told-after-the-gap", "a reload tells what its gap has lost", "INV-18",
            _also(t.LOAD, Move("told again", _told_again)), "an_end_is_told_once", 4),
    _mutant("owner-not-found", "no owner is ever found", "INV-18",
            _remove(t.FINISH, "owner_live"),
            "a_live_owner_is_told_unless_the_tools_are_reloaded", 2),
    _mutant("gap-loses-the-job", "a job that ends in the gap is forgotten", "INV-18",
            lambda table: tuple(
                evolve(row, does=(*row.does, Move("owner lost", _owners_forgotten)))
                if row.on is t.FINISH and "tools_unloaded" in [g.name for g in row.when] else row
                for row in table
            ),
            "the_gap_loses_nothing_but_the_notice", 3),
)  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
def test_a_fault_of_the_job_world_is_found_by_a_shortest_story(mutant: JobMutant) -> None:
    """A fault dies of the claim that is there to find it, in as few steps as it takes."""
    claim = CLAIMS[mutant.dies_of]
    story = refute(job_world(mutant.plant(TABLE)), claim)
    assert story is not None
    assert story.length == mutant.length, str(story)
