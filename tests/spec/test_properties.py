"""What must hold does, nothing holds for want of an example, and every premise is needed."""

import pytest

from statemachine.clauses import clause
from statemachine.explorer import Counterexample, Exploration, check, check_premises, explore
from statemachine.properties import (
    EVENTUALITIES,
    FALSE_VARIANTS,
    POSSIBILITIES,
    PROPERTIES,
    SAFETY,
    Always,
    Eventually,
    Kind,
    Property,
)
from statemachine.shape import Ending, Shape, Status
from statemachine.windows import TURN_WINDOWS, Window

# The rows of the verdict table that are about one agent, and so about the declaration.
INVARIANTS_OF_AN_AGENT = {f"INV-{number:02}" for number in (*range(1, 10), 11, 12, 21)}


@pytest.fixture(scope="module")
def exploration() -> Exploration:
    """Give the graph of the machine; it is a value."""
    return explore()


@pytest.mark.parametrize("claim", PROPERTIES, ids=lambda claim: claim.name)
def test_a_property_holds(claim: Property, exploration: Exploration) -> None:
    """The declaration keeps what the clauses promise, and the property had something to look at."""
    verdict = check(exploration, [claim])[-1]
    assert verdict.holds, str(verdict.why)
    assert verdict.explored > 0


@pytest.mark.clause("B-132", "A-41", "C-16")
@pytest.mark.seed("SEED-28")
def test_the_machine_is_total_and_legal(exploration: Exploration) -> None:
    """Every call has an answer, and no row asks for an impossible move."""
    assert [verdict.holds for verdict in check(exploration, [])] == [True, True]


@pytest.mark.clause("A-80")
@pytest.mark.parametrize("variant", FALSE_VARIANTS, ids=lambda claim: claim.name)
def test_a_claim_without_a_part_of_its_premise_is_false(
    variant: Eventually, exploration: Exploration
) -> None:
    """No premise is bigger than it must be: without any part there is a run that never comes."""
    verdict = check(exploration, [variant])[-1]
    assert not verdict.holds
    assert isinstance(verdict.why, Counterexample)


def test_every_part_of_every_premise_is_left_out_once(exploration: Exploration) -> None:
    """The list of false variants is made from the premises, so none can be forgotten."""
    assert len(FALSE_VARIANTS) == sum(len(claim.premise) for claim in EVENTUALITIES)
    assert check_premises(exploration).holds
    assert not check_premises(exploration, EVENTUALITIES[:1]).holds


def test_properties_tell_who_they_are() -> None:
    """A property has a name of its own, one sentence, and clauses that exist."""
    names = [claim.name for claim in PROPERTIES]
    assert sorted(names) == sorted(set(names))
    for claim in PROPERTIES:
        assert claim.statement.endswith(".")
        assert "\n" not in claim.statement
        assert claim.clauses
        assert [clause(each).id for each in claim.clauses] == list(claim.clauses)


def test_the_number_of_properties_is_pinned() -> None:
    """A property is not lost by accident."""
    assert (len(SAFETY), len(POSSIBILITIES), len(EVENTUALITIES)) == (72, 30, 7)


def test_every_invariant_of_an_agent_is_supported() -> None:
    """Each row of the verdict table that is about one agent rests on some property."""
    supported = {claim.invariant for claim in PROPERTIES if claim.invariant}
    assert supported == INVARIANTS_OF_AN_AGENT


@pytest.mark.clause("B-36", "B-134")
@pytest.mark.seed("SEED-04")
def test_there_is_a_cancel_for_every_window_of_a_turn() -> None:
    """That a cancelled turn ends aborted is shown in each window where a cancel can land."""
    names = {claim.name for claim in POSSIBILITIES if claim.invariant == "INV-05"}
    assert names == {f"a_cancel_in_{window.name.lower()}_ends_the_turn" for window in TURN_WINDOWS}


def test_every_kind_of_property_is_there() -> None:
    """The three kinds are told apart by their values."""
    kinds = {claim.kind for claim in (*SAFETY, *POSSIBILITIES, *EVENTUALITIES)}
    assert kinds == set(Kind)


@pytest.mark.clause("B-96")
@pytest.mark.parametrize(
    ("tentative", "status", "ending"),
    [
        (Ending.ERROR, Status.DISPOSED, Ending.ERROR),
        (Ending.ERROR, Status.CANCELLED, Ending.ERROR),
        (Ending.REJECTED, Status.DISPOSED, Ending.DISPOSED),
        (Ending.REJECTED, Status.CANCELLED, Ending.REJECTED),
        (Ending.MAX_STEPS, Status.DISPOSED, Ending.DISPOSED),
        (Ending.MAX_TOKENS, Status.CANCELLED, Ending.ABORTED),
        (Ending.COMPLETED, Status.CANCELLED, Ending.ABORTED),
        (Ending.MAX_STEPS, Status.RUNNING, Ending.MAX_STEPS),
        (Ending.MAX_TOKENS, Status.RUNNING, Ending.MAX_TOKENS),
        (Ending.COMPLETED, Status.RUNNING, Ending.COMPLETED),
    ],
)
def test_the_ending_is_the_first_of_the_list_that_applies(
    tentative: Ending, status: Status, ending: Ending, exploration: Exploration
) -> None:
    """Every circumstance in which a turn can be closed gives the ending that the list says."""
    written = {
        edge.after.ending
        for edge in exploration.edges
        if edge.enters(Window.TURN_END)
        and edge.before.ending is tentative
        and edge.before.status is status
    }
    assert written == {ending}


def test_a_claim_can_be_looked_up_on_one_edge(exploration: Exploration) -> None:
    """A property is a value: its claim can be asked about any edge."""
    claim = next(each for each in SAFETY if each.name == "disposed_is_final")
    assert isinstance(claim, Always)
    assert claim.about is not None
    edges = [edge for edge in exploration.edges if claim.about(edge)]
    assert edges
    assert all(map(claim.holds, edges))
    assert exploration.leaving[exploration.machine.intern(Shape())]
