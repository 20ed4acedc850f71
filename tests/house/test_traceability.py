"""Every row of the seeds has a test or says what it waits for; and marks name what exists."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import pytest

from statemachine.clauses import clauses

from .traceability import Marked, Seed, by_id, marked_tests, read_seeds, traceability_page
from .tree import ROOT

_BUILT: Final = Seed(id="SEED-" + "98", sentence="It is built.", clauses=(), waits_for="")
_WAITS: Final = Seed(id="SEED-" + "99", sentence="It is not.", clauses=(), waits_for="its part")


@pytest.fixture(scope="module")
def marked() -> dict[str, list[Marked]]:
    """Give the tests of the project by the ids of their marks."""
    return by_id(marked_tests(ROOT / "tests"))


def untested(seeds: Iterable[Seed], marked: Mapping[str, object]) -> list[str]:
    """Name the rows that have neither a test nor anything to wait for."""
    return [each.id for each in seeds if not each.waits_for and each.id not in marked]


def stale_excuses(seeds: Iterable[Seed], marked: Mapping[str, object]) -> list[str]:
    """Name the rows that still wait although a test settles them."""
    return [each.id for each in seeds if each.waits_for and each.id in marked]


def unknown(seeds: Iterable[Seed], marked: Mapping[str, object]) -> list[str]:
    """Name the rows that tests are marked with and that do not exist."""
    return sorted(
        {each for each in marked if each.startswith("SEED-")} - {each.id for each in seeds}
    )


def test_every_row_that_does_not_wait_has_a_test(marked: dict[str, list[Marked]]) -> None:
    """What the founding texts name is checked by name."""
    assert untested(read_seeds(), marked) == []


def test_no_row_waits_although_it_has_a_test(marked: dict[str, list[Marked]]) -> None:
    """An excuse goes away with the first test."""
    assert stale_excuses(read_seeds(), marked) == []


def test_every_marked_row_exists(marked: dict[str, list[Marked]]) -> None:
    """A misspelt row settles nothing."""
    assert unknown(read_seeds(), marked) == []


def test_the_rows_are_numbered_without_a_gap_and_cite_clauses_that_exist() -> None:
    """Eighty-six of them, each read from its line of the table."""
    rows = read_seeds()
    assert [each.id for each in rows] == [f"SEED-{number:02}" for number in range(1, 87)]
    cited = {clause for each in rows for clause in each.clauses}
    assert cited - {each.id for each in clauses()} == set()


def test_an_untested_a_stale_and_an_unknown_row_are_seen() -> None:
    """Each of the three checks finds what it is there for."""
    rows, marked = (_BUILT, _WAITS), dict.fromkeys((_WAITS.id, "SEED-" + "00", "A-" + "01"))
    assert untested(rows, marked) == [_BUILT.id]
    assert stale_excuses(rows, marked) == [_WAITS.id]
    assert unknown(rows, marked) == ["SEED-" + "00"]


def test_rows_are_read_from_a_table(tmp_path: Path) -> None:
    """Anything else on the page is for the reader."""
    row = f"| {_BUILT.id} | It is built. | A-02 A-01 | |\n| {_WAITS.id} | It is not. | | its part |"
    (tmp_path / "seeds.md").write_text(f"# Title\n\n| row | sentence |\n| --- | --- |\n{row}\n")
    built, waits = read_seeds(tmp_path / "seeds.md")
    assert (built.clauses, waits) == (("A-02", "A-01"), _WAITS)


def test_marks_are_found_wherever_they_stand(tmp_path: Path) -> None:
    """On a function, on a whole module, on one parameter; in a string they are no marks."""
    (tmp_path / "test_a.py").write_text(
        'pytestmark = [pytest.mark.real, pytest.mark.clause("A")]\n'
        '@pytest.mark.seed("B", "C")\n'
        '@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.case("D"))])\n'
        "def test_first(x): ...\n"
        "def test_second(): '@pytest.mark.seed(\"E\")'\n"
        '@pytest.mark.seed("F")\n'
        "def helper(): ...\n"
    )
    assert list(marked_tests(tmp_path)) == [
        Marked(file="test_a.py", name="test_first", ids=("A", "B", "C", "D")),
        Marked(file="test_a.py", name="test_second", ids=("A",)),
    ]


def test_the_page_names_the_tests_of_every_clause_and_row() -> None:
    """And says of the others why they have none."""
    page = traceability_page()
    name = test_the_page_names_the_tests_of_every_clause_and_row.__name__
    assert name not in page
    for each in clauses():
        assert f"| [{each.id}](../clauses/{each.file}#{each.id.lower()}) |" in page
    for row in read_seeds():
        assert f"| {row.id} |" in page
        assert not row.waits_for or f"waits for {row.waits_for} |" in page
