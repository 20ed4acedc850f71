"""The page of claims: what each row of the verdict rests on, and what that does not show.

Which properties, judgements, cases and tests speak for a row is read from where they are declared.
The gaps are prose, one for each row, and belong to nobody else.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from attrs import frozen

from statemachine.clauses import clauses
from statemachine.conformance.verdict.criteria import CRITERIA, PREMISE, Criterion
from statemachine.conformance.verdict.fuzzed import JUDGED
from statemachine.conformance.verdict.scenarios import JUDGEMENTS
from statemachine.labelled import LABELLED_CLAIMS
from statemachine.properties import PROPERTIES, Property
from statemachine.render.markdown import section, table, words
from statemachine.render.pages import declared_worlds

from .evidence import drawn_checks, planted_faults
from .traceability import Marked, by_id, marked_tests
from .tree import ROOT

__all__ = ["GAPS", "Basis", "basis", "claims_page"]

GAPS: Final = {
    "INV-01": "More than three messages at once are only drawn at random.",
    "INV-02": "More than three messages, and more than two reasons, are only drawn at random.",
    "INV-03": "Foreign code in another thread is not looked at; its calls are refused.",
    "INV-04": "Nothing beyond what holds for every row.",
    "INV-05": "A body that ignores its signal is left behind, not ended: what it still does in the "
    "world outside cannot be taken back, only named.",
    "INV-06": "Time is virtual; that a real clock keeps the grace is tested in a few places.",
    "INV-07": "It speaks of the instant of the release. When the waiting task runs there may be "
    "new work.",
    "INV-08": "That a released task is run is the event loop's promise.",
    "INV-09": "The list of methods is compared by name; Python hides nothing from code that "
    "reaches for private attributes.",
    "INV-10": "Whoever reaches into private attributes can end anything. A stranger who cancels "
    "the driver's task is seen, and ends that agent alone.",
    "INV-11": "Owners and the application are explored in worlds and compared in tests, not in "
    "every window.",
    "INV-12": "A disposer that never returns is left behind after a grace, and the report says so.",
    "INV-13": "A disk that says that it has written and has not; file systems of a network. Real "
    "stores are tested under planted faults and killed processes, not explored.",
    "INV-14": "The worlds of connections and of the bridge are models, with two requests, or two "
    "sessions and two prompts, at a time. The bridge itself is followed in drawn programs and in "
    "chosen races, and tested with few real clients.",
    "INV-15": "The world of the bridge is a model, with two sessions and two prompts at a time. "
    "The bridge itself is followed in drawn programs and in chosen races, and tested with few real "
    "clients; what a client makes of its answers is its own.",
    "INV-16": "Of two processes it is the lease of the session that keeps them apart, which is "
    "tested with real processes and not explored.",
    "INV-17": "The system lets every process of the same user kill the job, and a process that "
    "leaves its group is out of reach.",
    "INV-18": "A notice that is told is in the log; that a model heeds it nobody promises.",
    "INV-19": "Looked at in chosen configurations, not in all.",
    "INV-20": "Format, place and index; whether a text is true, its readers have to say.",
    "INV-21": "While the process lives. A crash forgets what was queued.",
}
"""What is not shown, row by row."""

_CASE: Final = re.compile(r"^## (CASE-\d{3}) .*?^Clauses: (.*?)$", re.MULTILINE | re.DOTALL)
_APART: Final = ("cases/", "mutants/")
"""Tests that are told apart: cases, and planted faults."""


@frozen(kw_only=True)
class Basis:
    """What one row rests on, by how it was looked at."""

    row: Criterion
    proved: tuple[str, ...]
    """Properties that hold on every reachable shape of the model."""
    searched: tuple[str, ...]
    """Judged on running code, under every schedule with few deviations."""
    drawn: tuple[str, ...]
    """Judged on running code, in programs drawn at random."""
    faults: tuple[str, ...]
    """Planted on purpose, and the row has to break."""
    cases: tuple[str, ...]
    tests: int
    """Tests that are marked with a clause of the row."""

    @property
    def heading(self) -> str:
        """The heading of the row on this page."""
        return f"{self.row.id}: {self.row.short}"

    @property
    def anchor(self) -> str:
        """The anchor of that heading, as viewers make it."""
        return re.sub(r"[^\w -]", "", self.heading.lower()).replace(" ", "-")


def basis() -> tuple[Basis, ...]:
    """Return what each row rests on."""
    tests = by_id(marked_tests(ROOT / "tests"))
    cases = _cases()
    return tuple(_basis(row, tests, cases) for row in CRITERIA)


def claims_page() -> str:
    """Return the page."""
    found = basis()
    columns = (
        "row",
        "promise",
        "proved for the model",
        "searched and drawn on running code",
        "tested",
        "",
    )
    lines = [_HEAD, *table(columns, map(_summary, found)), *_EVERYWHERE]
    for each in found:
        lines += section(
            each.heading, [each.row.statement, "", *table(("how", "what"), _told(each))]
        )
    return "\n".join(lines) + "\n"


def _basis(row: Criterion, tests: Mapping[str, list[Marked]], cases: dict[str, set[str]]) -> Basis:
    marked = {
        (test.file, test.name)
        for clause in row.clauses
        for test in tests.get(clause, ())
        if not test.file.startswith(_APART)
    }
    return Basis(
        row=row,
        proved=tuple(each.name for each in _properties() if each.invariant == row.id),
        searched=tuple(each.what for each in JUDGEMENTS if each.row == row.id),
        drawn=(
            *(each.what for each in JUDGED if each.row == row.id),
            *drawn_checks().get(row.id, ()),
        ),
        faults=planted_faults().get(row.id, ()),
        cases=tuple(
            case
            for case, cited in cases.items()
            if cited & set(row.clauses) and _is_searched(tests.get(case, ()))
        ),
        tests=len(marked),
    )


def _is_searched(tests: Iterable[Marked]) -> bool:
    return any(test.file.startswith("cases/") for test in tests)


def _properties() -> Iterator[Property]:
    yield from (*PROPERTIES, *LABELLED_CLAIMS)
    for _, _, claims in declared_worlds():
        yield from claims


def _cases() -> dict[str, set[str]]:
    """Map each case to the clauses that it is about."""
    return {
        case: set(cited.replace(",", " ").split())
        for path in sorted((ROOT / "specs" / "cases").glob("*.md"))
        for case, cited in _CASE.findall(path.read_text(encoding="utf-8"))
    }


# -- Text ------------------------------------------------------------------------------------------


def _summary(each: Basis) -> tuple[str, ...]:
    running = [
        _count(len(each.searched) + len(each.drawn), "judgement"),
        _count(len(each.cases), "case"),
    ]
    return (
        f"[{each.row.id}](#{each.anchor})",
        each.row.short,
        _count(len(each.proved), "property", "properties"),
        ", ".join(filter(None, running)),
        _count(each.tests, "test"),
        f"unchecked: {each.row.later}" if each.row.later else "",
    )


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}" if number else ""


def _told(each: Basis) -> Iterator[tuple[str, str]]:
    row = each.row
    if row.later:
        yield "**unchecked**", f"{row.later}, whatever stands below"
    yield "proved for the model", _names(f"`{name}`" for name in each.proved)
    yield "explored to two deviations on running code", _names((*each.searched, *each.cases))
    yield "drawn at random on running code", _names(each.drawn)
    yield "planted faults", _names(f"`{name}`" for name in each.faults)
    yield "tested", f"{each.tests} tests of {_links(row.clauses)}"
    if row.assumed:
        yield "assumed", "the premise above" if row.assumed == PREMISE else row.assumed
    yield "gap", GAPS[row.id]


def _names(names: Iterable[str]) -> str:
    return words(names, ", ") or "nothing"


def _links(cited: Iterable[str]) -> str:
    files = {each.id: each.file for each in clauses()}
    return words(f"[{each}](../clauses/{files[each]}#{each.lower()})" for each in cited)


_HEAD: Final = """\
# What is claimed, and what is not

*Written by `make docs`. Do not edit.*

The verdict says of each row whether it holds. This page says what that word rests on, from the
strongest to the weakest, and what it leaves open:

- **proved for the model**: true on every reachable shape of the declared machine, beside up to
  three labelled messages, or in the [worlds](worlds.md) around it: up to two requests, up to two
  jobs, one stored session and two processes, one client with two sessions and two prompts. A
  *sometimes* among them shows that the others are not empty.
- **explored to a bound on running code**: true in scripted scenarios of a few actors, and in cases,
  under *every* schedule that differs from first in, first out in at most two decisions.
- **drawn at random on running code**: true in every program and schedule that was drawn; a sample.
- **tested**: true where a test looks.
- **assumed**: not looked at.

*Planted faults* show that somebody looks: each is a defect made on purpose, of which the row has to
break.

A row whose part is missing is `unchecked`, however much stands beside it.
"""
_EVERYWHERE: Final = (
    "",
    "## What holds for every row",
    "",
    f"- *Premise* of everything that must come in the end: {PREMISE}. Without any one part of it "
    "the claims are false, which is checked as well.",
    "- The model is the table that the runtime executes, so nobody has to believe that two tables "
    "agree. But that the runtime *obeys* its answers is not proved: it is compared, decision by "
    "decision, in all that is explored and drawn.",
    "- The properties were written by those who wrote the table. A second model by others, made "
    "from the clauses alone, does not exist yet.",
    "- Running code is explored on a loop with virtual time, which keeps asyncio's order. Real "
    "processes, disks and clocks are tested, not explored.",
    "- Python, asyncio, SQLite, the file system and the kernel are believed.",
)
