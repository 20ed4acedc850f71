"""Every planted fault of the declaration is found, by the claims that are there to find it."""

import pytest

from statemachine.explorer import check, explore
from statemachine.labelled import explore_labelled
from statemachine.machine import MACHINE, Machine

from .declaration import MUTANTS, Mutant

# Two messages are enough for every fault listed here, and four times faster than three.
BOUND = 2


def broken_by(mutant: Mutant) -> frozenset[str]:
    """Return the names of the claims that break when the fault is planted."""
    exploration = explore(Machine(table=mutant.plant(MACHINE.table)))
    verdicts = (*check(exploration), *explore_labelled(exploration, BOUND).verdicts)
    return frozenset(verdict.name for verdict in verdicts if not verdict.holds)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
def test_a_planted_fault_breaks_exactly_the_claims_that_are_listed_with_it(mutant: Mutant) -> None:
    """A fault dies of the claims that are there to find it, and drags the listed ones along."""
    broken = broken_by(mutant)
    assert mutant.dies_of <= broken
    assert broken == mutant.dies_of | mutant.drags


def test_the_table_without_a_fault_breaks_nothing() -> None:
    """The claims complain about faults, and not about the declaration."""
    exploration = explore()
    verdicts = (*check(exploration), *explore_labelled(exploration, BOUND).verdicts)
    assert [verdict.name for verdict in verdicts if not verdict.holds] == []


def test_faults_have_names_of_their_own_and_every_one_is_found_by_something() -> None:
    """The list can be read as a table with one line for each fault."""
    assert len({mutant.id for mutant in MUTANTS}) == len(MUTANTS)
    assert all(mutant.dies_of for mutant in MUTANTS)


def test_the_invariants_of_the_lifecycle_each_have_a_fault() -> None:
    """Each row of the verdict table that the explorer answers for is endangered by some fault."""
    endangered = {mutant.invariant for mutant in MUTANTS}
    assert endangered >= {f"INV-{number:02}" for number in (*range(1, 10), 11, 12, 21)}
