"""The page of claims names what each row rests on, and what it does not show."""

import pytest

from statemachine.clauses import clauses
from statemachine.conformance.verdict.criteria import CRITERIA

from .claims_page import GAPS, Basis, basis, claims_page
from .evidence import planted_faults


@pytest.fixture(scope="module")
def found() -> dict[str, Basis]:
    """Give what each row rests on."""
    return {each.row.id: each for each in basis()}


def test_every_row_names_its_gap() -> None:
    """A claim without a gap is an advertisement."""
    assert list(GAPS) == [row.id for row in CRITERIA]
    assert all(gap.endswith(".") for gap in GAPS.values())


def test_what_a_row_rests_on_is_read_from_where_it_is_declared(found: dict[str, Basis]) -> None:
    """Properties of the machine, of labelled messages and of worlds; judgements; cases; tests."""
    first = found["INV-01"]
    assert {"a_stop_discards_what_waited", "a_cancelled_message_is_discarded_by_that_call"} <= set(
        first.proved
    )
    assert "stopped messages never reach the model" in first.searched
    assert "what waits at a cancel is dropped by it" in first.drawn
    assert "CASE-007" in first.cases
    assert first.tests > 0
    assert {"cancel-ignores-idle-work", "discard-untold"} <= set(first.faults)
    assert "clients: each prompt is answered" in found["INV-15"].drawn
    assert "a-prompt-waits-before-it-is-registered" in found["INV-15"].faults
    assert "nothing_of_a_connection_outlives_it" in found["INV-14"].proved


def test_every_row_is_endangered_by_faults_with_names_of_their_own(
    found: dict[str, Basis],
) -> None:
    """Two faults of one name would be one line of the kill matrix."""
    assert [row for row, each in found.items() if not each.faults] == []
    names = [name for faults in planted_faults().values() for name in faults]
    assert sorted(set(names)) == sorted(names)


def test_a_row_that_nothing_looked_at_does_not_look_like_one_that_holds() -> None:
    """What is missing is said in the table, in front of everything else."""
    page = claims_page()
    rows = {line.split("]")[0][3:]: line for line in page.splitlines() if line.startswith("| [INV")}
    for row in CRITERIA:
        assert (f"unchecked: {row.later}" in rows[row.id]) is bool(row.later)
        text = page.split(f"\n## {row.id}: ")[1].split("\n## ")[0]
        assert ("**unchecked**" in text) is bool(row.later)
        assert "| gap | " in text


def test_every_row_links_to_its_clauses() -> None:
    """A reader comes from a promise to the sentences that it is made of."""
    page, files = claims_page(), {each.id: each.file for each in clauses()}
    for row in CRITERIA:
        for each in row.clauses:
            assert f"[{each}](../clauses/{files[each]}#{each.lower()})" in page
