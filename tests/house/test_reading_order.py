"""What the reading order says of statuses, windows and records is what is declared."""

import re
from typing import Final

import pytest

from runtime import announcements
from runtime.announcements import Announcement
from runtime.session.record_types import RECORD_TYPES
from statemachine.lifecycle import REGIONS
from statemachine.windows import WINDOWS, Window

from .tree import text_of

PAGE: Final = text_of("specs/README.md")
DIAGRAMS: Final = re.findall(r"^```mermaid\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
QUESTION: Final = re.compile(
    r"^\*\*(\d+)\. .*?\n<details><summary>Answer</summary>\n(.*?)</details>$",
    re.MULTILINE | re.DOTALL,
)
CLAUSE: Final = re.compile(r"\b[A-L]-\d{2,3}\b")


def test_there_are_ten_questions_and_every_answer_cites_clauses() -> None:
    """A reader can go from each answer to the sentence that says so."""
    found = QUESTION.findall(PAGE)
    assert [int(number) for number, _ in found] == list(range(1, 11))
    assert all(CLAUSE.search(answer) for _, answer in found)


def test_the_status_diagram_is_the_status_machine() -> None:
    """The eight arrows that a reader sees are the moves that there are."""
    drawn = set(re.findall(r"^ +(\w+) --> (\w+):", DIAGRAMS[0], re.MULTILINE))
    declared = {
        (before.value, after.value) for move in REGIONS["status"] for before, after in move.changes
    }
    assert drawn == declared
    assert len(declared) == 8, "the page counts them"


def test_the_number_of_windows_is_right() -> None:
    """A window that is added is counted."""
    assert f"exactly one of {len(WINDOWS)} windows" in PAGE.replace("\n", " ")


@pytest.mark.parametrize("diagram", DIAGRAMS, ids=lambda diagram: diagram.split("\n")[1].strip())
def test_a_diagram_speaks_of_records_and_announcements_that_there_are(diagram: str) -> None:
    """A type of record that was renamed is renamed here."""
    told = {value.name for value in vars(announcements).values() if isinstance(value, Announcement)}
    named = set(re.findall(r"\b[a-z]+/[a-z-]+", diagram))
    assert named <= {*RECORD_TYPES, *told}


def test_every_window_that_is_named_is_there() -> None:
    """Words in capitals are windows."""
    named = set(re.findall(r"window ([A-Z_]+)\b", PAGE))
    assert named
    assert named <= {window.name for window in Window}
