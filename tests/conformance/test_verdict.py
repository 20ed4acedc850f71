"""What a run amounts to: every way in which a row does not hold, and the exit status."""

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from statemachine.conformance.verdict.criteria import CRITERIA, criterion
from statemachine.conformance.verdict.evidence import (
    Canary,
    Check,
    Engine,
    Evidence,
    Kind,
    PlantedFault,
)
from statemachine.conformance.verdict.parts import PartError, merge_parts
from statemachine.conformance.verdict.report import as_report, write_report
from statemachine.conformance.verdict.table import criteria_table, verdict_table
from statemachine.conformance.verdict.verdict import Judgement, RowVerdict, Ruling, judge

FOUND = Canary(engine="explorer", fault="a fault", is_found=True)


def check(engine: Engine, kind: Kind, explored: int = 10, **changes: object) -> Check:
    """Make a check of INV-01 that found nothing."""
    made = Check(criterion="INV-01", name="a check", kind=kind, engine=engine, explored=explored)
    return evolve(made, **changes)  # type: ignore[arg-type]


GOOD = (
    check(Engine.EXPLORER, Kind.ALWAYS),
    check(Engine.SUITES, Kind.ALWAYS),
    check(Engine.SCHEDULES, Kind.SOMETIMES),
)
"""Everything that INV-01 needs."""


def fault(**changes: object) -> PlantedFault:
    """Make a planted fault of INV-01 that was found."""
    made = PlantedFault(
        id="keeps", fault="a cancel keeps the queue", layer="runtime", must_die_of="INV-01",
        died_of="INV-01", is_killed=True,
    )  # fmt: skip
    return evolve(made, **changes)  # type: ignore[arg-type]


def judged(*checks: Check, is_ours: bool = True, **more: object) -> Judgement:
    """Judge a run that found its canary."""
    parts: dict[str, Any] = {"checks": checks, "canaries": (FOUND,)} | more
    evidence = Evidence(**parts)
    return judge(evidence, owns_specification=is_ours)


def first(judgement: Judgement) -> Ruling:
    """Return the verdict on INV-01."""
    return judgement.rulings[0]


def test_a_row_with_everything_it_needs_holds() -> None:
    """Checks of every kind, on both sides, each of which came up."""
    ruling = first(judged(*GOOD))
    assert (ruling.verdict, ruling.why) == (RowVerdict.HOLDS, "")


def test_a_broken_check_breaks_its_row_and_no_other() -> None:
    """One counterexample outweighs everything that held."""
    judgement = judged(*GOOD, check(Engine.HUNT, Kind.ALWAYS, why="m1 was recorded\nand more"))
    assert first(judgement).verdict is RowVerdict.BROKEN
    assert first(judgement).why == "hunt, a check: m1 was recorded"
    assert judgement.count(RowVerdict.BROKEN) == 1
    assert judgement.exit_status(is_strict=False) == 1


def test_a_break_outside_the_rows_is_not_passed_over() -> None:
    """What breaks a clause that no row cites breaks the run all the same."""
    loose = check(
        Engine.SUITES, Kind.ALWAYS, criterion="", name="cancel (A-41)", why="seen: running"
    )
    judgement = judged(*GOOD, loose)
    assert judgement.exit_status(is_strict=False) == 1
    assert "broken outside the rows: cancel (A-41)" in verdict_table(judgement)


@pytest.mark.parametrize("missing", range(len(GOOD)))
def test_a_row_without_one_of_its_needs_is_unchecked(missing: int) -> None:
    """Neither a witness nor the running code nor the specification may be missing."""
    ruling = first(judged(*(each for each in GOOD if each is not GOOD[missing])))
    assert ruling.verdict is RowVerdict.UNCHECKED
    assert f"no `{GOOD[missing].kind}` check" in ruling.why


@pytest.mark.parametrize("silent", range(len(GOOD)))
def test_a_check_that_never_came_up_is_no_evidence(silent: int) -> None:
    """A search that ran and met nothing to judge leaves the row unchecked, and says so."""
    checks = [evolve(each, explored=0) if each is GOOD[silent] else each for each in GOOD]
    ruling = first(judged(*checks))
    assert ruling.verdict is RowVerdict.UNCHECKED
    assert "a check never came up" in ruling.why


def test_a_silent_check_beside_good_ones_is_not_passed_over() -> None:
    """Whatever claims a row has to have come up."""
    ruling = first(judged(*GOOD, check(Engine.HUNT, Kind.ALWAYS, explored=0, name="the hunt")))
    assert (ruling.verdict, ruling.why) == (RowVerdict.UNCHECKED, "the hunt never came up")


def test_nothing_at_all_is_unchecked_and_unreliable() -> None:
    """Silence is never a pass."""
    judgement = judge(Evidence(), owns_specification=True)
    assert judgement.count(RowVerdict.UNCHECKED) == len(CRITERIA)
    assert judgement.exit_status(is_strict=False) == 2
    assert judgement.unreliable == ("no canary was planted",)


def test_a_stranger_gets_no_credit_from_the_specification() -> None:
    """Their rows rest on their running code; the rest is shown as somebody else's."""
    theory = check(Engine.EXPLORER, Kind.SOMETIMES)
    without = judged(GOOD[0], GOOD[1], theory, is_ours=False)
    assert first(without).verdict is RowVerdict.UNCHECKED
    own = judged(*GOOD, is_ours=False)
    assert first(own).verdict is RowVerdict.HOLDS
    assert any("not of this runtime: explorer 1 (10)" in line for line in verdict_table(own))


@pytest.mark.parametrize(
    ("suites", "speaks"),
    [
        ([], False),
        ([{"refined": None}], False),
        ([{"refined": True}, {"refined": None}], True),
        ([{"refined": True}, {"refined": False}], False),
    ],
)
def test_the_specification_speaks_only_for_whoever_was_seen_to_follow_it(
    suites: list[dict[str, object]], *, speaks: bool
) -> None:
    """A probe is no proof: decisions have to be compared, and one that differs is enough."""
    assert Evidence(suites=tuple(suites)).is_refined is speaks


def test_a_directed_test_answers_only_for_its_clause() -> None:
    """One run of one test is no search."""
    test = check(Engine.TESTS, Kind.ALWAYS, explored=1, clauses=("A-24",))
    assert first(judged(GOOD[0], test, GOOD[2])).verdict is RowVerdict.UNCHECKED


def test_a_row_out_of_reach_stays_unchecked_however_well_the_rest_looks() -> None:
    """What is not there cannot be vouched for."""
    row = evolve(criterion("INV-14"), later="it comes later")
    evidence = Evidence(
        checks=(check(Engine.SUITES, Kind.ALWAYS, criterion=row.id),), canaries=(FOUND,)
    )
    (ruling,) = judge(evidence, owns_specification=True, criteria=(row,)).rulings
    assert (ruling.verdict, ruling.why) == (RowVerdict.UNCHECKED, row.later)


def test_a_planted_fault_that_survives_fails_the_run_and_its_row() -> None:
    """Checks that do not see a fault are not believed when they see none."""
    judgement = judged(*GOOD, faults=(fault(is_killed=False, died_of=None),))
    assert first(judgement).verdict is RowVerdict.UNCHECKED
    assert "the planted fault keeps was not noticed" in first(judgement).why
    assert judgement.exit_status(is_strict=False) == 2


def test_a_killed_fault_is_shown_with_its_row() -> None:
    """The table says who would have died."""
    judgement = judged(*GOOD, faults=(fault(),))
    assert first(judgement).verdict is RowVerdict.HOLDS
    assert any("kills: keeps" in line for line in verdict_table(judgement))


def test_a_canary_that_is_not_found_makes_the_run_unreliable() -> None:
    """An engine that went deaf says `holds` too."""
    missed = evolve(FOUND, is_found=False, story="nothing was reported")
    judgement = judged(*GOOD, canaries=(FOUND, missed))
    assert judgement.exit_status(is_strict=False) == 2
    lines = "\n".join(verdict_table(judgement))
    assert "canaries: 1 of 2 found" in lines
    assert "UNRELIABLE" in lines


def test_a_break_counts_more_than_doubt() -> None:
    """A counterexample is one, whatever the other engines did."""
    broken = check(Engine.HUNT, Kind.ALWAYS, why="seen")
    judgement = judged(broken, canaries=(), failures=("the suite crashed",))
    assert judgement.exit_status(is_strict=True) == 1


def test_unchecked_rows_fail_only_a_strict_run() -> None:
    """Whoever wants all of it says so."""
    judgement = judged(*GOOD)
    assert judgement.exit_status(is_strict=False) == 0
    assert judgement.exit_status(is_strict=True) == 3


def test_the_report_has_the_agreed_form(tmp_path: Path) -> None:
    """Whoever reads it without eyes finds the same keys in every run."""
    path = tmp_path / "new" / "report.json"
    write_report(path, as_report(judged(*GOOD, faults=(fault(),)), subject="x:y"))
    report = json.loads(path.read_text(encoding="utf-8"))
    assert {"criteria", "explorer", "suites", "cases", "mutants"} <= report.keys()
    row = report["criteria"][0]
    assert {"id", "statement", "clauses", "checks", "verdict", "why"} <= row.keys()
    assert {"name", "kind", "explored"} <= row["checks"][0].keys()
    assert (row["id"], row["verdict"], report["subject"]) == ("INV-01", "holds", "x:y")
    assert report["totals"] == {"holds": 1, "broken": 0, "unchecked": 20}


def test_rows_can_be_printed_without_a_run() -> None:
    """What is promised can be read before anything is installed or run."""
    text = "\n".join(criteria_table())
    assert all(row.id in text and row.short in text for row in CRITERIA)


# -- Parts -----------------------------------------------------------------------------------------

CASE = {
    "case": "CASE-007", "title": "The second prompt is not eaten", "clauses": ["A-52", "B-03"],
    "schedules": 12, "deviations": 2, "verdict": "holds", "why": "",
}  # fmt: skip


def merged(folder: Path, **part: object) -> Evidence:
    """Write one part and merge the folder."""
    (folder / "part.json").write_text(json.dumps(part), encoding="utf-8")
    return merge_parts(folder)


def test_a_case_speaks_for_the_rows_whose_clauses_it_cites(tmp_path: Path) -> None:
    """B-03 is about what is cancelled while queued, A-52 about what replaces it."""
    evidence = merged(tmp_path, cases=[CASE])
    assert {each.criterion: each.clauses for each in evidence.checks} == {
        "INV-01": ("B-03",),
        "INV-06": ("A-52",),
    }


def test_a_broken_case_breaks_its_rows_even_if_it_has_none(tmp_path: Path) -> None:
    """A case that went wrong is never without consequence."""
    broken = CASE | {"verdict": "broken", "why": "it was eaten"}
    assert all(each.why == "it was eaten" for each in merged(tmp_path, cases=[broken]).checks)
    evidence = merged(tmp_path, cases=[broken | {"clauses": ["K-16"]}])
    assert judge(evidence, owns_specification=True).exit_status(is_strict=False) == 1
    assert evidence.stories


def test_mutants_and_criteria_are_read_back_as_they_are_reported(tmp_path: Path) -> None:
    """A part has the form of the report, so a report can be merged."""
    report = as_report(judged(*GOOD, faults=(fault(seconds=0.5),)))
    evidence = merged(tmp_path, criteria=report["criteria"], mutants=report["mutants"])
    assert evidence.faults == (fault(seconds=0.5),)
    assert evidence.checks == GOOD


@pytest.mark.parametrize(
    "part",
    [
        {"cases": [{"case": "CASE-007"}]},
        {"mutants": [{"id": "x"}]},
        {"criteria": [{"id": "INV-01", "checks": [{"name": "x", "kind": "never", "explored": 1}]}]},
        {"criteria": [7]},
    ],
)
def test_a_damaged_part_is_refused_with_its_place(part: dict[str, object], tmp_path: Path) -> None:
    """A verdict on half of the evidence would be a wrong one."""
    with pytest.raises(PartError, match=r"part\.json: \w+\[0\]"):
        merged(tmp_path, **part)


def test_a_file_that_is_no_part_is_refused(tmp_path: Path) -> None:
    """Neither broken JSON nor a missing folder is an empty part."""
    with pytest.raises(PartError, match="is no folder"):
        merge_parts(tmp_path / "missing")
    (tmp_path / "part.json").write_text("{", encoding="utf-8")
    with pytest.raises(PartError, match=r"part\.json"):
        merge_parts(tmp_path)


def test_the_table_counts_the_scenarios_that_were_searched_to_the_end() -> None:
    """By their bound; one actor alone is no scenario, and a search that was cut off is none."""

    def searched(**changes: object) -> dict[str, object]:
        whole = {"engine": "schedules", "actors": 2, "deviations": 2, "runs": 600, "complete": True}
        return whole | changes

    suites = (
        searched(),
        searched(actors=3),
        searched(actors=1),
        searched(complete=False),
        searched(deviations=1, runs=5),
        {"name": "random", "engine": "suites"},
    )
    lines = [line for line in verdict_table(judged(suites=suites)) if line.startswith("schedules")]
    assert lines == [
        "schedules: 1 scenarios of several actors complete at 1 deviations, 5 schedules",
        "schedules: 2 scenarios of several actors complete at 2 deviations, 1,200 schedules",
    ]
