"""Where an RFC has to lie: everything else below the root of a corpus is an error."""

import shutil
from pathlib import Path

import pytest

from .corpora import GOOD, IMPLEMENTED, PROPOSED, ask, corpus, place_of, refused

PLACES = "verify-classification"
FORMAT = "verify-format"
CLASSES = ("feature", "bug-fix", "simplification", "architecture", "process", "testing")


@pytest.mark.clause("L-01")
@pytest.mark.parametrize("rfc_class", CLASSES)
@pytest.mark.parametrize("lifecycle", GOOD)
def test_every_class_of_every_lifecycle_may_hold_an_rfc(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lifecycle: str, rfc_class: str
) -> None:
    """Three lifecycles times six classes, and both gates accept what lies there."""
    place = f"{lifecycle}/{rfc_class}/2024-02-29-a-topic-of-2-days.md"
    root = corpus(tmp_path, {place: GOOD[lifecycle]})
    for command in (PLACES, FORMAT):
        answer = ask(capsys, command, root)
        assert (refused(answer), answer.code) == ((), 0)
        assert "1 RFC " in answer.out


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        pytest.param("draft/", "draft:1 (L-02)", marks=pytest.mark.clause("L-02")),
        pytest.param(
            "draft/process/2026-11-30-x.md", "draft:1 (L-02)", marks=pytest.mark.clause("L-02")
        ),
        pytest.param("Proposed/", "Proposed:1 (L-02)", marks=pytest.mark.clause("L-02")),
        pytest.param(".hidden/", ".hidden:1 (L-02)", marks=pytest.mark.clause("L-02")),
        ("2026-11-30-x.md", "2026-11-30-x.md:1 (L-03)"),
        ("FORMAT.md", "FORMAT.md:1 (L-03)"),
        ("proposed/2026-11-30-x.md", "proposed/2026-11-30-x.md:1 (L-03)"),
        ("proposed/README.md", "proposed/README.md:1 (L-03)"),
        ("proposed/idea/2026-11-30-x.md", "proposed/idea:1 (L-03)"),
        ("proposed/bugfix/", "proposed/bugfix:1 (L-03)"),
        ("proposed/process/old/2026-11-30-x.md", "proposed/process/old:1 (L-03)"),
        ("proposed/process/old/", "proposed/process/old:1 (L-03)"),
        ("proposed/process/AGENTS.md", "proposed/process/AGENTS.md:1 (L-03)"),
    ],
)
@pytest.mark.clause("L-01", "L-03")
def test_what_lies_elsewhere_is_one_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], place: str, expected: str
) -> None:
    """A wrong place is told once, not again for everything below it."""
    root = corpus(tmp_path, {place_of("implemented"): IMPLEMENTED, place: PROPOSED})
    assert refused(ask(capsys, PLACES, root)) == (expected,)
    (count,) = ask(capsys, FORMAT, root).errors
    assert count.startswith(f"{tmp_path}:1: 1 not checked")


@pytest.mark.clause("L-01", "L-03")
@pytest.mark.parametrize(
    "name",
    [
        "a-topic.md",
        "2026-11-30.md",
        "2026-11-30-.md",
        "2026-11-30-A-Topic.md",
        "2026-11-30-a_topic.md",
        "2026-11-30-a--topic.md",
        "2026-11-30-a topic.md",
        "2026-13-01-a-topic.md",
        "2026-02-30-a-topic.md",
        "20261130-a-topic.md",
        "26-11-30-a-topic.md",
        "2026-11-30-a-topic.txt",
        "2026-11-30-a-topic.MD",
        "2026-11-30-a-topic.md.bak",
        "2026-11-30-a-topic.de.md",
        "INDEX.md",
    ],
)
def test_a_name_is_a_day_and_a_topic(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """A file whose name says no day, or nothing, is refused and not overlooked."""
    place = f"proposed/process/{name}"
    root = corpus(tmp_path, {place: PROPOSED})
    assert refused(ask(capsys, PLACES, root)) == (f"{place}:1 (L-03)",)


@pytest.mark.clause("L-01")
def test_there_are_three_lifecycles_and_six_classes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever invents a fourth or a seventh is told all that there are."""
    texts = {place_of("implemented"): IMPLEMENTED, "draft/": "", "proposed/docs/": ""}
    errors = ask(capsys, PLACES, corpus(tmp_path, texts)).errors
    assert errors == (
        f"draft:1: `draft` is no lifecycle; there are {', '.join(GOOD)} (L-02)",
        f"proposed/docs:1: `docs` is no class; there are {', '.join(CLASSES)} (L-03)",
    )


@pytest.mark.clause("L-03")
def test_a_text_without_a_title_is_refused_by_both_gates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The index has nothing to call it; its text is judged all the same."""
    place = place_of("proposed")
    untitled = PROPOSED.removeprefix("# RFC: Lend umbrellas\n")
    root = corpus(tmp_path, {place: f"Umbrellas\n{untitled}\n```\n# RFC: An example\n```\n"})
    assert refused(ask(capsys, PLACES, root)) == (f"{place}:1 (L-03)",)
    assert refused(ask(capsys, FORMAT, root)) == (f"{place}:1 (L-05)",)


@pytest.mark.clause("L-04")
@pytest.mark.seed("SEED-84")
def test_rfc_format_counterpart_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Notes for agents and counterparts in another language are not RFCs of this corpus."""
    others = ("2026-11-30-a-topic.zh.md", "process/2026-11-30-a-topic.zh.md")
    aside = [f"{lifecycle}/{name}" for lifecycle in GOOD for name in (*others, "AGENTS.md")]
    aside += ["README.zh.md", "AGENTS.md", "implemented/CLAUDE.md", "proposed/process/.gitkeep"]
    texts = dict.fromkeys(aside, "No RFC.\n") | {place_of("implemented"): IMPLEMENTED}
    root = corpus(tmp_path, texts)
    for command in (PLACES, FORMAT):
        answer = ask(capsys, command, root)
        assert refused(answer) == ()
        assert "1 RFC " in answer.out


@pytest.mark.clause("L-26")
def test_a_text_that_is_no_utf_8_is_refused_at_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A text in another encoding is an error with a place, and not a traceback."""
    root = corpus(tmp_path, {place_of("implemented"): IMPLEMENTED})
    path = tmp_path / place_of("proposed")
    path.parent.mkdir(parents=True)
    path.write_bytes(PROPOSED.replace("get wet", "get naß").encode("latin-1"))
    assert refused(ask(capsys, PLACES, root)) == (f"{place_of('proposed')}:7 (L-26)",)


@pytest.mark.clause("L-27")
@pytest.mark.parametrize("texts", [{}, {"README.md": "# RFCs\n"}, {"proposed/process/": ""}])
def test_a_corpus_without_an_rfc_is_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], texts: dict[str, str]
) -> None:
    """Whoever mistypes the root is told, instead of that all is well."""
    root = corpus(tmp_path, texts)
    assert refused(ask(capsys, PLACES, root)) == (f"{tmp_path}:1 (L-27)",)
    assert ask(capsys, FORMAT, root).code == 1
    assert refused(ask(capsys, "gen-index", root)) == (f"{tmp_path}:1 (L-27)",)
    assert not (root / "INDEX.md").exists()


@pytest.mark.clause("L-21")
def test_an_rfc_that_only_changed_its_folder_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Accepting an RFC means rewriting it: a moved file fails for its status and its sections."""
    root = corpus(tmp_path, {place_of("proposed"): PROPOSED})
    assert refused(ask(capsys, FORMAT, root)) == ()
    target = root / place_of("implemented")
    target.parent.mkdir(parents=True)
    shutil.move(root / place_of("proposed"), target)
    clauses = [each.rpartition(" ")[2] for each in refused(ask(capsys, FORMAT, root))]
    assert sorted(clauses) == ["(L-06)", "(L-09)", "(L-09)", "(L-10)", "(L-10)"]
