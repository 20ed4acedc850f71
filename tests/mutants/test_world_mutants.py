"""Every fault planted in the connection world is found, by a short story."""

import pytest

from statemachine.explorer import Counterexample
from statemachine.worlds import Eventually, Everywhere, OnEveryStep, examine_world, refute
from statemachine.worlds.connection import TABLE, connection_claims, connection_world

from .worlds import MUTANTS, WorldMutant

LAYER = "world"
CLAIMS = {claim.name: claim for claim in connection_claims(slots=2)}


def story_of(mutant: WorldMutant) -> Counterexample | None:
    """Return how the claim that must find the fault is broken."""
    claim = CLAIMS[mutant.dies_of]
    rows = mutant.plant(TABLE)
    if isinstance(claim, Everywhere | OnEveryStep):
        return refute(connection_world(rows), claim)
    assert isinstance(claim, Eventually)
    # A world of one request is enough for what must come, and thirty times smaller.
    alone = next(each for each in connection_claims(slots=1) if each.name == claim.name)
    verdict = examine_world(connection_world(rows, slots=1), [alone]).verdicts[-1]
    assert not isinstance(verdict.why, str)
    return verdict.why


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
def test_a_fault_of_the_world_is_found_by_a_shortest_story(mutant: WorldMutant) -> None:
    """A fault dies of the claim that is there to find it, in as few steps as it takes."""
    story = story_of(mutant)
    assert story is not None
    assert story.length == mutant.length, str(story)


def test_faults_of_the_world_have_names_of_their_own() -> None:
    """The list can be read as a table with one line for each fault."""
    assert len({mutant.id for mutant in MUTANTS}) == len(MUTANTS)
