"""Every fault of who makes a session durable dies of its invariant."""

import pytest

from statemachine.conformance.suite.story import Violation

from .keepers import KEEPER_MUTANTS
from .owners import OwnerMutant

LAYER = "runtime"


@pytest.mark.parametrize("mutant", KEEPER_MUTANTS, ids=lambda mutant: mutant.id)
def test_a_program_kills_the_fault_of_a_keeper(mutant: OwnerMutant) -> None:
    """The program that is about the fault says which invariant it breaks."""
    with mutant.plant(), pytest.raises(Violation) as caught:
        mutant.program()
    assert caught.value.invariant == mutant.invariant


@pytest.mark.parametrize("mutant", KEEPER_MUTANTS, ids=lambda mutant: f"without {mutant.id}")
def test_without_its_fault_a_program_finds_nothing(mutant: OwnerMutant) -> None:
    """What kills a fault is the fault and not the program."""
    mutant.program()
