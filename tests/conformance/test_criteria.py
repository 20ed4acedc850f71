"""The rows of the verdict are complete, and cite clauses that exist."""

import pytest

from statemachine.clauses import clauses
from statemachine.conformance.verdict.criteria import CRITERIA, Criterion, criterion
from statemachine.conformance.verdict.evidence import Kind, Side

LATER = {14, 15}
"""The rows of which a part cannot be looked at yet; the list may only become shorter."""


def test_there_are_twenty_one_rows_in_order() -> None:
    """No row is missing, none is given twice."""
    assert [row.id for row in CRITERIA] == [f"INV-{number:02}" for number in range(1, 22)]
    assert criterion("INV-07") is CRITERIA[6]


def test_rows_cite_clauses_that_exist() -> None:
    """A row stands on the specification and on nothing else."""
    known = {each.id for each in clauses()}
    assert {each for row in CRITERIA for each in row.clauses} <= known
    assert {need.clause for row in CRITERIA for need in row.needs if need.clause} <= known


@pytest.mark.parametrize("row", CRITERIA, ids=lambda row: row.id)
def test_a_row_needs_something_of_every_kind_that_it_claims(row: Criterion) -> None:
    """A row that claims a kind and needs none of it would hold without having looked."""
    assert {need.kind for need in row.needs} >= set(row.kinds)
    assert any(need.side is Side.RUNTIME for need in row.needs), "running code is looked at"


def test_what_must_come_is_said_under_its_premise() -> None:
    """An *eventually* without its premise would be a stronger claim than was checked."""
    assert all(row.assumed for row in CRITERIA if Kind.EVENTUALLY in row.kinds)


def test_rows_out_of_reach_say_what_they_come_with() -> None:
    """The rows that cannot hold yet are a closed list, each with a reason for its reader."""
    later = {int(row.id.removeprefix("INV-")) for row in CRITERIA if row.later}
    assert later == LATER
    assert all("come" in row.later for row in CRITERIA if row.later)
