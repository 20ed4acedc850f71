"""Every fault of who owns an agent dies of its invariant."""

import pytest

from statemachine.conformance.suite.story import Violation

from .owners import OWNER_MUTANTS, OwnerMutant

LAYER = "runtime"


@pytest.mark.parametrize("mutant", OWNER_MUTANTS, ids=lambda mutant: mutant.id)
def test_a_program_kills_the_fault_of_an_owner(mutant: OwnerMutant) -> None:
    """The program that is about the fault says which invariant it breaks."""
    with mutant.plant(), pytest.raises(Violation) as caught:
        mutant.program()
    assert caught.value.invariant == mutant.invariant


@pytest.mark.parametrize("mutant", OWNER_MUTANTS, ids=lambda mutant: f"without {mutant.id}")
def test_without_its_fault_a_program_finds_nothing(mutant: OwnerMutant) -> None:
    """What kills a fault is the fault and not the program."""
    mutant.program()


def test_faults_of_owners_have_names_of_their_own() -> None:
    """The list can be read as a table with one line for each fault."""
    assert len({mutant.id for mutant in OWNER_MUTANTS}) == len(OWNER_MUTANTS)
    assert {mutant.invariant for mutant in OWNER_MUTANTS} == {"INV-10", "INV-16", "INV-19"}
