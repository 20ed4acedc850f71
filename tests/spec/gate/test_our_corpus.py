"""Every RFC of this project has the format and lies where its status says."""

from pathlib import Path
from typing import Final

import pytest
from rfc_corpus.commands import OURS
from rfc_corpus.format import format_violations
from rfc_corpus.index import front_violations, index_text
from rfc_corpus.places import INDEX, read_corpus

from .corpora import ask, refused

CORPUS: Final = read_corpus(OURS)
NAMES: Final = {path.relative_to(OURS).as_posix(): path for path in OURS.rglob("????-??-??-*.md")}


@pytest.mark.clause("L-05", "L-06", "L-08", "L-09", "L-11")
@pytest.mark.seed("SEED-83")
@pytest.mark.parametrize("path", NAMES.values(), ids=NAMES)
def test_an_rfc_of_ours_has_the_format(path: Path) -> None:
    """Each file that is named like an RFC is one, and nothing is wrong with it."""
    (rfc,) = (each for each in CORPUS.rfcs if each.path == path)
    assert [str(each) for each in format_violations(rfc)] == []


@pytest.mark.clause("L-01")
@pytest.mark.seed("SEED-83")
def test_nothing_of_ours_lies_elsewhere() -> None:
    """Every file of the corpus is an RFC in its place, the index or the front door."""
    assert [str(each) for each in CORPUS.violations] == []
    assert len(CORPUS.rfcs) == len(NAMES)


@pytest.mark.clause("L-17", "L-19", "L-20", "L-22")
@pytest.mark.seed("SEED-79", "SEED-82")
def test_our_index_is_what_the_generator_writes() -> None:
    """The list of our RFCs is generated, and the front door holds the contract and no list."""
    assert [str(each) for each in front_violations(CORPUS, is_ours=True)] == []
    assert (OURS / INDEX).read_text(encoding="utf-8") == index_text(CORPUS)


@pytest.mark.clause("L-23")
@pytest.mark.seed("SEED-69", "SEED-83")
def test_the_gates_report_how_many_rfcs_we_have(capsys: pytest.CaptureFixture[str]) -> None:
    """The number in the line of success is the number of files."""
    for command in ("verify-classification", "verify-format"):
        answer = ask(capsys, command, OURS)
        assert refused(answer) == ()
        assert answer.out.startswith(f"{command}: {len(NAMES)} RFCs ")


@pytest.mark.clause("L-13")
@pytest.mark.seed("SEED-77")
def test_the_retired_marker_is_nowhere_in_our_corpus() -> None:
    """Not in an RFC, which the gate sees, and not in the index or the front door either."""
    marker = "legacy ADR/RFC" + " body format"
    texts = [path.read_text(encoding="utf-8") for path in OURS.rglob("*.md")]
    assert len(texts) > len(NAMES)
    assert [text for text in texts if marker in text] == []


@pytest.mark.seed("SEED-68")
def test_one_id_for_agent_and_session_is_proposed() -> None:
    """The two names of what is one thing are to become one, and the record says so."""
    (rfc,) = (each for each in CORPUS.rfcs if "unify-agent-and-session-id" in each.path.name)
    assert rfc.lifecycle == "proposed"
    assert "one identity" in " ".join(rfc.lines)
