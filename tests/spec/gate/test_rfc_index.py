"""The index is what the generator writes, and the front door lists nothing."""

from pathlib import Path

import pytest

from .corpora import GOOD, IMPLEMENTED, PROPOSED, REJECTED, ask, corpus, place_of, refused

PLACES = "verify-classification"
INDEX = "gen-index"

EXPECTED = """\
<!-- Written by `make rfc-index` from the RFCs; an edit by hand is refused. -->

# Index of the RFCs

## Proposed

### Feature

| day | RFC |
| --- | --- |
| 2026-01-02 | [Lend \\[two\\] umbrellas \\| or more](proposed/feature/2026-01-02-umbrellas.md) |

## Implemented

### Bug-fix

| day | RFC |
| --- | --- |
| 2025-12-31 | [Water the plants on Mondays](implemented/bug-fix/2025-12-31-z.md) |
| 2026-01-01 | [Water the plants on Mondays](implemented/bug-fix/2026-01-01-a.md) |
| 2026-01-01 | [Water the plants on Mondays](implemented/bug-fix/2026-01-01-b.md) |

### Architecture

| day | RFC |
| --- | --- |
| 2025-01-01 | [Water the plants on Mondays](implemented/architecture/2025-01-01-a.md) |

### Testing

| day | RFC |
| --- | --- |
| 2024-01-01 | [Water the plants on Mondays](implemented/testing/2024-01-01-a.md) |

## Rejected

None.
"""
TEXTS = {
    "implemented/testing/2024-01-01-a.md": IMPLEMENTED,
    "implemented/bug-fix/2026-01-01-b.md": IMPLEMENTED,
    "implemented/bug-fix/2026-01-01-a.md": IMPLEMENTED,
    "implemented/bug-fix/2025-12-31-z.md": IMPLEMENTED,
    "implemented/architecture/2025-01-01-a.md": IMPLEMENTED,
    "proposed/feature/2026-01-02-umbrellas.md": PROPOSED.replace(
        "Lend umbrellas", "Lend [two] umbrellas | or more"
    ),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Give a corpus of six RFCs without an index."""
    return corpus(tmp_path, TEXTS)


@pytest.mark.clause("L-17")
@pytest.mark.seed("SEED-79")
def test_the_index_is_generated_byte_by_byte(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lifecycles and classes have their order, rows go by day and then by name."""
    answer = ask(capsys, INDEX, root)
    assert answer.out.startswith("wrote ")
    assert answer.out.endswith("INDEX.md: 6 RFCs\n")
    assert (root / "INDEX.md").read_bytes() == EXPECTED.encode()


@pytest.mark.clause("L-18")
@pytest.mark.seed("SEED-79")
def test_a_second_run_writes_nothing(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is right already is left alone, down to the time of its file."""
    ask(capsys, INDEX, root)
    (root / "INDEX.md").chmod(0o444)
    before = (root / "INDEX.md").stat()
    assert "up to date: 6 RFCs" in ask(capsys, INDEX, root).out
    assert (root / "INDEX.md").stat() == before


@pytest.mark.clause("L-18")
@pytest.mark.parametrize("place", ["draft/", "proposed/2026-11-30-x.md", place_of("proposed")])
def test_the_generator_refuses_a_tree_with_an_error(
    root: Path, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    """An index of what lies wrong, or has no title, would make it look right."""
    corpus(root, {place: "No title.\n"})
    assert len(refused(ask(capsys, INDEX, root))) == 1
    assert not (root / "INDEX.md").exists()


@pytest.mark.clause("L-19")
@pytest.mark.seed("SEED-80")
@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("", "\n", 39),
        ("Rejected\n\nNone.\n", "Rejected\n\nNone.", 37),
        ("\n", "\r\n", 1),
        ("on Mondays", "on Tuesdays", 19),
        ("| 2024-01-01 |", "| 2024-01-02 |", 33),
    ],
)
def test_an_index_that_was_edited_by_hand_is_refused(
    root: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, line: int
) -> None:
    """One byte is enough, and the first line that differs is named with the command."""
    edited = EXPECTED.replace(old, new, 1) if old else EXPECTED + new
    corpus(root, {"INDEX.md": EXPECTED})
    assert refused(ask(capsys, PLACES, root)) == ()
    corpus(root, {"INDEX.md": edited})
    answer = ask(capsys, PLACES, root)
    assert refused(answer) == (f"INDEX.md:{line} (L-19)",)
    assert "make rfc-index" in answer.errors[0]


@pytest.mark.clause("L-19")
@pytest.mark.parametrize("change", ["added", "removed", "renamed"])
def test_an_index_of_other_rfcs_is_stale(
    root: Path, capsys: pytest.CaptureFixture[str], change: str
) -> None:
    """Whoever adds, removes or renames an RFC writes the index anew."""
    corpus(root, {"INDEX.md": EXPECTED})
    path = root / "implemented/testing/2024-01-01-a.md"
    if change == "added":
        corpus(root, {place_of("rejected"): REJECTED})
    elif change == "removed":
        path.unlink()
    else:
        path.rename(path.with_name("2024-01-01-b.md"))
    assert len(refused(ask(capsys, PLACES, root))) == 1
    ask(capsys, INDEX, root)
    assert refused(ask(capsys, PLACES, root)) == ()


@pytest.mark.clause("L-19")
def test_the_index_of_a_wrong_tree_is_not_compared(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One error is told as one: what has no right index has no stale one either."""
    corpus(root, {"INDEX.md": "stale\n", "draft/": ""})
    assert refused(ask(capsys, PLACES, root)) == ("draft:1 (L-02)",)


@pytest.mark.clause("L-20")
@pytest.mark.seed("SEED-81")
@pytest.mark.parametrize(
    "row",
    [
        "| 2026-01-02 | [Lend umbrellas](proposed/feature/2026-01-02-umbrellas.md) |",
        "2026-01-02 | [Lend umbrellas](./proposed/feature/2026-01-02-umbrellas.md)",
        "  | [Lend umbrellas](proposed/feature/2026-01-02-umbrellas.md) | proposed |",
        "| proposed/feature/2026-01-02-umbrellas.md |",
        "| [Mondays](implemented/bug-fix/2026-01-01-a.md) |",
        "| [A bell](rejected/process/2026-01-01-a.md) |",
        "| 2026-01-02 | Lend umbrellas | proposed |",
        "| Lend umbrellas | 2026-01-02-umbrellas.md |",
    ],
)
def test_a_row_of_an_index_in_the_readme_is_refused(
    root: Path, capsys: pytest.CaptureFixture[str], row: str
) -> None:
    """There is one list of the RFCs, and it is generated."""
    corpus(root, {"README.md": f"# RFCs\n\nWords.\n\n{row}\n"})
    assert refused(ask(capsys, PLACES, root)) == ("README.md:5 (L-20)",)


@pytest.mark.clause("L-20", "L-28")
def test_a_readme_may_speak_of_an_rfc_and_show_a_table(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sentence that links to an RFC is no list of them, nor is a table of the folders."""
    told = "Begin with [umbrellas](proposed/feature/2026-01-02-umbrellas.md).\n"
    table = "| folder | says |\n| --- | --- |\n| `proposed/` | not yet, since 2026-01-02 |\n"
    corpus(root, {"README.md": f"# RFCs\n\n{told}\n{table}"})
    assert refused(ask(capsys, PLACES, root)) == ()


@pytest.mark.clause("L-28")
def test_another_corpus_needs_neither_index_nor_readme(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only what is there is looked at; `test_rfc_commands` shows that ours needs both."""
    texts = {place_of(lifecycle): text for lifecycle, text in GOOD.items()}
    answer = ask(capsys, PLACES, corpus(tmp_path, texts))
    assert refused(answer) == ()
    assert "3 RFCs" in answer.out
