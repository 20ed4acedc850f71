"""How an RFC has to be written: every defect is refused at its line, and its repair passes."""

from pathlib import Path

import pytest
from rfc_corpus.format import GRANDFATHER

from .corpora import GOOD, IMPLEMENTED, PROPOSED, REJECTED, ask, corpus, place_of, refused

FORMAT = "verify-format"
LIFECYCLES = tuple(GOOD)
ALTERNATIVES = "## Alternatives considered\n"
# Spelt so that no file but the gate contains the marker.
DEBT = "XXX legacy ADR/RFC" + " body format"


class Gate:
    """Asks the gate about one text, and says what it refuses as `line (clause)`."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._folder = folder
        self._capsys = capsys
        self._asked = 0

    def refuses(self, text: str, lifecycle: str, day: str = "2026-11-30") -> list[str]:
        """Put a text where its lifecycle and day belong, and ask."""
        self._asked += 1
        place = place_of(lifecycle, day)
        root = corpus(self._folder / str(self._asked), {place: text})
        answer = ask(self._capsys, FORMAT, root)
        return [each.removeprefix(f"{place}:") for each in refused(answer)]


@pytest.fixture
def gate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Gate:
    """Give the gate an empty folder."""
    return Gate(tmp_path, capsys)


def edited(text: str, old: str, new: str) -> str:
    """Replace a part that has to be there, once."""
    assert old in text
    return text.replace(old, new, 1)


def without_section(text: str, name: str) -> str:
    """Drop a section with its text."""
    before, found, rest = text.partition(f"## {name}\n")
    assert found
    following = rest.find("\n## ")
    return before + (rest[following + 1 :] if following >= 0 else "")


@pytest.mark.clause("L-05", "L-06", "L-08", "L-09", "L-11")
@pytest.mark.seed("SEED-69")
@pytest.mark.parametrize("lifecycle", LIFECYCLES)
def test_a_text_in_the_format_is_accepted(gate: Gate, lifecycle: str) -> None:
    """The texts of which the others are damaged copies have no defect themselves."""
    assert gate.refuses(GOOD[lifecycle], lifecycle) == []


# ------------------------------------------------------------------------------------- the header


@pytest.mark.clause("L-05")
@pytest.mark.seed("SEED-69")
@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("# RFC: Water", "# Water", [1]),
        ("# RFC: Water the plants on Mondays", "# RFC: ", [1]),
        ("# RFC: Water", "Motto\n# RFC: Water", [1, 2, 3, 4]),
        ("Mondays\n\nStatus", "Mondays\nStatus", [2, 3, 4]),
        ("Mondays\n\n", "Mondays\n \n", [2]),
        ("Mondays\n\n", "Mondays\n\n\n", [3, 4]),
        ("Status: implemented\n\n", "", [3]),
        ("Status: implemented\n\n", "Status: implemented\n", [4]),
        ("Status: implemented", "Status:implemented", [3]),
        ("Status: implemented", "**Status:** implemented", [3]),
    ],
)
def test_rfc_format_header_lines(gate: Gate, old: str, new: str, lines: list[int]) -> None:
    """A title, a blank line, a status and a blank line; each has its own message."""
    found = gate.refuses(edited(IMPLEMENTED, old, new), "implemented")
    assert found == [f"{line} (L-05)" for line in lines]


@pytest.mark.clause("L-05", "L-08", "L-11")
@pytest.mark.parametrize("text", ["", "# RFC: Only a title", "# RFC: Only a title\n"])
def test_a_text_that_ends_early_is_refused(gate: Gate, text: str) -> None:
    """What is missing at the end of the file is missing."""
    found = gate.refuses(text, "implemented")
    assert {"3 (L-05)", "1 (L-08)", "1 (L-11)"} <= set(found)


@pytest.mark.clause("L-06")
@pytest.mark.seed("SEED-70")
@pytest.mark.parametrize("folder", LIFECYCLES)
@pytest.mark.parametrize("written", LIFECYCLES)
def test_rfc_format_status_folder(gate: Gate, folder: str, written: str) -> None:
    """A status is right in its own folder, and refused at its line in the two others."""
    status = GOOD[written].split("\n")[2]
    text = edited(GOOD[folder], GOOD[folder].split("\n")[2], status)
    assert gate.refuses(text, folder) == ([] if folder == written else ["3 (L-06)"])


@pytest.mark.clause("L-06")
@pytest.mark.seed("SEED-69", "SEED-70")
@pytest.mark.parametrize(
    ("status", "lifecycle"),
    [
        ("implemented 2026-11-30", "implemented"),
        ("implemented (proposed 2026-06-20; narrowed)", "implemented"),
        ("implemented.", "implemented"),
        ("implemented ", "implemented"),
        (" implemented", "implemented"),
        ("Implemented", "implemented"),
        ("accepted", "implemented"),
        ("proposed — soon", "proposed"),
        ("rejected", "rejected"),
        ("rejected — ", "rejected"),
        ("rejected - nobody ties it on", "rejected"),
        ("rejected -- nobody ties it on", "rejected"),
        ("rejected: nobody ties it on", "rejected"),
        ("rejected —nobody ties it on", "rejected"),
    ],
)
def test_rfc_format_status_is_one_of_three(gate: Gate, status: str, lifecycle: str) -> None:
    """No day, no remark, no other spelling; only a rejection gives a reason, and it has to."""
    old = GOOD[lifecycle].split("\n")[2]
    assert gate.refuses(edited(GOOD[lifecycle], old, f"Status: {status}"), lifecycle) == [
        "3 (L-06)"
    ]


@pytest.mark.clause("L-07")
@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("Ferns live.", "Status: implemented", 19),
        ("Ferns live.", "```\nStatus: proposed\n```", 20),
    ],
)
def test_rfc_format_second_status_line(gate: Gate, old: str, new: str, line: int) -> None:
    """A second claim is refused also in an example; one inside a sentence is none."""
    assert gate.refuses(edited(IMPLEMENTED, old, new), "implemented") == [f"{line} (L-07)"]
    assert gate.refuses(edited(IMPLEMENTED, old, "The Status: it lives."), "implemented") == []


@pytest.mark.clause("L-24")
def test_rfc_format_carriage_returns(gate: Gate) -> None:
    """A file with the line endings of another system is refused once, not at every line."""
    assert gate.refuses(IMPLEMENTED.replace("\n", "\r\n"), "implemented") == ["1 (L-24)"]
    assert gate.refuses(edited(IMPLEMENTED, "thirsty.", "dry.\r"), "implemented") == ["19 (L-24)"]


# --------------------------------------------------------------------------------------- the body


@pytest.mark.clause("L-08")
@pytest.mark.seed("SEED-71")
@pytest.mark.parametrize("lifecycle", LIFECYCLES)
def test_rfc_format_problem_first(gate: Gate, lifecycle: str) -> None:
    """Every RFC opens with its problem, not with a context and not after something else."""
    text = GOOD[lifecycle]
    assert gate.refuses(edited(text, "## Problem", "## Context"), lifecycle) == ["5 (L-08)"]
    before = edited(text, "## Problem", "## Summary\n\nShort.\n\n## Problem")
    assert gate.refuses(before, lifecycle) == ["5 (L-08)"]
    assert gate.refuses(edited(text, "## Problem", "### Problem"), lifecycle) == ["9 (L-08)"]


@pytest.mark.clause("L-08")
def test_the_section_that_stands_first_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever wrote another opener is told which."""
    text = edited(PROPOSED, "## Problem", "## Context")
    (error,) = ask(capsys, FORMAT, corpus(tmp_path, {place_of("proposed"): text})).errors
    assert "`## Problem`, not `## Context`" in error


@pytest.mark.clause("L-09")
@pytest.mark.parametrize(
    ("lifecycle", "section"),
    [
        pytest.param("proposed", "Proposal", marks=pytest.mark.seed("SEED-72")),
        pytest.param("proposed", "Acceptance criteria", marks=pytest.mark.seed("SEED-72")),
        pytest.param("proposed", "Risks", marks=pytest.mark.seed("SEED-72")),
        pytest.param("implemented", "Decision", marks=pytest.mark.seed("SEED-73")),
        pytest.param("implemented", "Consequences", marks=pytest.mark.seed("SEED-73")),
        pytest.param("rejected", "Proposal", marks=pytest.mark.seed("SEED-74")),
    ],
)
def test_rfc_format_required_section(gate: Gate, lifecycle: str, section: str) -> None:
    """Each lifecycle has its skeleton, and each missing part is one error."""
    text = without_section(GOOD[lifecycle], section)
    assert gate.refuses(text, lifecycle) == ["1 (L-09)"]
    emptied = without_section(without_section(GOOD["proposed"], "Proposal"), "Risks")
    assert gate.refuses(emptied, "proposed") == ["1 (L-09)", "1 (L-09)"]


@pytest.mark.clause("L-10")
@pytest.mark.seed("SEED-73")
@pytest.mark.parametrize(
    ("name", "is_banned"),
    [
        ("Proposal", True),
        ("Plan", True),
        ("Migration plan", True),
        ("Acceptance criteria", True),
        ("ACCEPTANCE CRITERIA (met)", True),
        ("plan B", True),
        ("Plan: the short one", True),
        ("  Plan", True),
        ("Proposals", False),
        ("Planning", False),
        ("The plan", False),
        ("Migration", False),
        ("Verification", False),
    ],
)
def test_rfc_format_implemented_bans(gate: Gate, name: str, *, is_banned: bool) -> None:
    """What was decided and is so does not read like something that is yet to come."""
    text = edited(IMPLEMENTED, ALTERNATIVES, f"## {name}\n\nWords.\n\n{ALTERNATIVES}")
    assert gate.refuses(text, "implemented") == (["13 (L-10)"] if is_banned else [])


@pytest.mark.clause("L-10")
def test_a_heading_in_fenced_code_is_none(gate: Gate) -> None:
    """An example of a section is neither banned nor enough."""
    fenced = f"{IMPLEMENTED}\n````\n## Plan\n```\n## Plan\n````\n"
    assert gate.refuses(fenced, "implemented") == []
    for mark in ("```", "~~~"):
        hidden = edited(IMPLEMENTED, "## Decision\n", f"{mark}text\n## Decision\n{mark}\n")
        assert gate.refuses(hidden, "implemented") == ["1 (L-09)"]
    assert gate.refuses(f"{IMPLEMENTED}\n```\n``` text\n## Plan\n", "implemented") == []
    assert gate.refuses(f"{IMPLEMENTED}\n```\n```\n## Plan\n", "implemented") == ["23 (L-10)"]


@pytest.mark.clause("L-14")
@pytest.mark.parametrize(
    ("name", "fits"),
    [
        ("Decision", True),
        ("Decision  ", True),
        ("Decision\t", True),
        ("Decision notes", False),
        ("The decision", False),
        ("decision", False),
        ("Decision:", False),
        (" Decision", False),
        ("Decision ##", False),
    ],
)
def test_rfc_format_names_are_exact(gate: Gate, name: str, *, fits: bool) -> None:
    """A section that only resembles the required one does not stand for it."""
    text = edited(IMPLEMENTED, "## Decision", f"## {name}")
    assert gate.refuses(text, "implemented") == ([] if fits else ["1 (L-09)"])


@pytest.mark.clause("L-14")
@pytest.mark.parametrize("lifecycle", LIFECYCLES)
def test_rfc_format_sections_of_ones_own_may_stand_between(gate: Gate, lifecycle: str) -> None:
    """The skeleton has to be there; it does not have to be everything."""
    own = f"## How it smells\n\nOf rain.\n\n{ALTERNATIVES}"
    text = edited(GOOD[lifecycle], ALTERNATIVES, own) + "\n## Related\n\nNothing.\n"
    assert gate.refuses(text, lifecycle) == []


@pytest.mark.clause("L-15")
@pytest.mark.seed("SEED-74")
def test_rfc_format_rejected_keeps_the_shape_of_a_proposal(gate: Gate) -> None:
    """What was turned down stays as it was proposed; only the status says so."""
    asked = PROPOSED.partition("## Problem")[2]
    kept = f"# RFC: Lend umbrellas\n\nStatus: rejected — it stopped raining\n\n## Problem{asked}"
    assert gate.refuses(kept, "rejected") == []
    assert gate.refuses(f"{REJECTED}\n## Migration plan\n\nNone.\n", "rejected") == []


# --------------------------------------------------------------------------------- alternatives


@pytest.mark.clause("L-11")
@pytest.mark.seed("SEED-75")
@pytest.mark.parametrize("lifecycle", LIFECYCLES)
def test_rfc_format_alternatives(gate: Gate, lifecycle: str) -> None:
    """Nothing is decided without having been chosen from something."""
    text = without_section(GOOD[lifecycle], "Alternatives considered")
    assert gate.refuses(text, lifecycle) == ["1 (L-11)"]
    renamed = edited(GOOD[lifecycle], ALTERNATIVES, "## Alternatives\n")
    assert gate.refuses(renamed, lifecycle) == ["1 (L-11)"]


@pytest.mark.clause("L-12")
@pytest.mark.seed("SEED-76")
@pytest.mark.parametrize(
    ("day", "is_excused"),
    [("2026-07-04", True), ("2026-07-05", False), ("2026-07-06", False), ("2025-12-31", True)],
)
def test_rfc_format_grandfather(gate: Gate, day: str, *, is_excused: bool) -> None:
    """The comment excuses what is older than the format, by the day in the name."""
    excused = edited(IMPLEMENTED, ALTERNATIVES, f"{GRANDFATHER}\n")
    assert gate.refuses(excused, "implemented", day) == ([] if is_excused else ["13 (L-12)"])


@pytest.mark.clause("L-11")
@pytest.mark.seed("SEED-76")
@pytest.mark.parametrize(
    "almost",
    [
        GRANDFATHER.lower(),
        f" {GRANDFATHER}",
        f"{GRANDFATHER} Sorry.",
        GRANDFATHER[:-4],
        f"```\n{GRANDFATHER}\n```",
    ],
)
def test_rfc_format_grandfather_is_exact(gate: Gate, almost: str) -> None:
    """What resembles the comment, shares its line or stands in a code fence excuses nothing."""
    text = edited(IMPLEMENTED, ALTERNATIVES, f"{almost}\n")
    assert gate.refuses(text, "implemented", "2026-07-04") == ["1 (L-11)"]


@pytest.mark.clause("L-11")
def test_rfc_format_grandfather_beside_alternatives(gate: Gate) -> None:
    """An excuse for having no alternatives contradicts the section that has them."""
    text = f"{IMPLEMENTED}\n{GRANDFATHER}\n"
    assert gate.refuses(text, "implemented", "2026-07-04") == ["21 (L-11)"]


@pytest.mark.clause("L-13")
@pytest.mark.seed("SEED-77")
@pytest.mark.parametrize("lifecycle", LIFECYCLES)
def test_rfc_format_retired_marker(gate: Gate, lifecycle: str) -> None:
    """The marker of a text that was to be converted later may not come back, in code neither."""
    text = f"{GOOD[lifecycle]}\n```\n{DEBT}\n```\n<!-- {DEBT.upper()} -->\n"
    end = GOOD[lifecycle].count("\n")
    assert gate.refuses(text, lifecycle) == [f"{end + 3} (L-13)", f"{end + 5} (L-13)"]


# ------------------------------------------------------------------------------- several defects


@pytest.mark.clause("L-21")
@pytest.mark.parametrize("folder", LIFECYCLES)
@pytest.mark.parametrize("written", LIFECYCLES)
def test_a_text_that_was_only_moved_is_refused(gate: Gate, folder: str, written: str) -> None:
    """Becoming implemented or rejected takes a new text, not only a new folder."""
    found = gate.refuses(GOOD[written], folder)
    is_rewritten = folder == written
    assert ("3 (L-06)" in found) is not is_rewritten
    assert (found == []) is is_rewritten


@pytest.mark.clause("L-25")
@pytest.mark.seed("SEED-85")
def test_a_text_with_every_section_in_use_is_accepted(gate: Gate) -> None:
    """A note before the problem, a verification and related texts are welcome."""
    note = "> **How it went.** Only half of it was built.\n\n## Problem"
    text = edited(IMPLEMENTED, "## Problem", note)
    text = edited(text, "## Consequences", "## Verification\n\nThe fern.\n\n## Consequences")
    assert gate.refuses(f"{text}\n## Related\n\nThe cactus.\n", "implemented") == []


@pytest.mark.clause("L-25")
@pytest.mark.seed("SEED-86")
@pytest.mark.parametrize(
    ("name", "lifecycle", "expected"),
    [
        (
            "flattened.md",
            "implemented",
            ["1 (L-08)", "1 (L-09)", "1 (L-09)", "1 (L-11)", "3 (L-05)"],
        ),
        (
            "unmarked.md",
            "proposed",
            ["1 (L-05)", "1 (L-08)", "1 (L-09)", "1 (L-09)", "1 (L-09)", "1 (L-11)", "3 (L-05)"],
        ),
        (
            "remarked.md",
            "implemented",
            ["1 (L-09)", "1 (L-09)", "1 (L-11)", "3 (L-06)", "13 (L-10)", "17 (L-10)"],
        ),
    ],
)
def test_older_texts_are_refused_as_they_are(
    gate: Gate, name: str, lifecycle: str, expected: list[str]
) -> None:
    """A text flattened into a line, one that lost its marks and one of a time before the format."""
    text = (Path(__file__).parent / "texts" / name).read_text(encoding="utf-8")
    assert gate.refuses(text, lifecycle) == expected
