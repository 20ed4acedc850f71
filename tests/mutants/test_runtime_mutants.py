"""Every planted fault of the runtime dies of its invariant, directed and at random."""

from collections.abc import Callable

import pytest
from attrs import evolve

from runtime.subject import RuntimeSubject
from statemachine.conformance.suite.examination import Examination
from statemachine.conformance.suite.profiles import PROFILES, ProfileName
from statemachine.conformance.suite.story import Violation
from statemachine.conformance.suite.suite import lifecycle_suite

from .runtime import RUNTIME_MUTANTS, RuntimeMutant

EXAMPLES_MAX = 1_000
PROFILE = evolve(PROFILES[ProfileName.CI], examples=EXAMPLES_MAX, shrinks=False)
PROGRAMS = {mutant.program.__name__: mutant.program for mutant in RUNTIME_MUTANTS}
NAMED = {mutant.id: mutant for mutant in RUNTIME_MUTANTS}


@pytest.mark.parametrize("mutant", NAMED.values(), ids=NAMED)
def test_a_directed_program_kills_the_fault(mutant: RuntimeMutant) -> None:
    """The shortest program that can show the fault dies of the invariant that it breaks."""
    with (
        mutant.plant() as make_subject,
        Examination(make_subject) as play,
        pytest.raises(Violation) as caught,
    ):
        mutant.program(play)
    assert caught.value.invariant == mutant.invariant, play.story.numbered()


@pytest.mark.parametrize("cooperative", [True, False], ids=["cooperative", "patient"])
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_the_same_program_finds_nothing_without_the_fault(
    program: Callable[[Examination], None], *, cooperative: bool
) -> None:
    """What kills a fault is the fault and not the program."""
    with Examination(lambda: RuntimeSubject(cooperative=cooperative), inside=True) as play:
        program(play)


@pytest.mark.slow
@pytest.mark.parametrize("mutant", NAMED.values(), ids=NAMED)
def test_the_random_suite_kills_the_fault(mutant: RuntimeMutant) -> None:
    """A thousand random programs find the fault, and name the invariant that it breaks."""
    with mutant.plant() as make_subject:
        result = lifecycle_suite(make_subject, profile=PROFILE, machines=(mutant.machine,)).run()
    (failure,) = result.failures
    assert failure.invariant in {mutant.invariant} | mutant.also, failure.story


def test_the_invariants_of_the_lifecycle_each_have_a_fault() -> None:
    """Each row of the verdict table that the suite answers for is endangered by some fault."""
    endangered = {mutant.invariant for mutant in RUNTIME_MUTANTS}
    assert endangered >= {f"INV-{number:02}" for number in (*range(1, 13), 16, 21)}
    assert len(NAMED) == len(RUNTIME_MUTANTS)
