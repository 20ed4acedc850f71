"""Every way to damage the corpus of RFCs is seen by the gate on it.

A fault is planted in a copy of the corpus that this project has, and the gates have to name the
clauses that it breaks. They may name nothing else: a damage that upsets everything shows less.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from attrs import frozen
from rfc_corpus.commands import OURS
from rfc_corpus.format import format_violations
from rfc_corpus.index import front_violations
from rfc_corpus.places import Corpus, read_corpus

LAYER: Final = "corpus"


@frozen(kw_only=True)
class CorpusMutant:
    """A damage to a corpus of RFCs, and the clauses that it breaks."""

    id: str
    fault: str
    damage: Callable[[Path], object]
    clauses: frozenset[str]
    invariant: str = "INV-20"


def _mutant(name: str, fault: str, clauses: str, damage: Callable[[Path], object]) -> CorpusMutant:
    return CorpusMutant(id=name, fault=fault, clauses=frozenset(clauses.split()), damage=damage)


def _one(root: Path, lifecycle: str) -> Path:
    return min((root / lifecycle).rglob("*.md"))


def _editing(lifecycle: str, old: str, new: str) -> Callable[[Path], object]:
    """Replace a part of one RFC that has to be there."""

    def damage(root: Path) -> None:
        path = _one(root, lifecycle)
        text = path.read_text(encoding="utf-8")
        assert old in text, path
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    return damage


def _moved(root: Path) -> None:
    path = _one(root, "proposed")
    target = root / "implemented" / path.parent.name
    target.mkdir(parents=True, exist_ok=True)
    path.rename(target / path.name)


def _index_gone(root: Path) -> None:
    (root / "INDEX.md").unlink()


def _appended(name: str, line: str) -> Callable[[Path], object]:
    def damage(root: Path) -> None:
        with (root / name).open("a", encoding="utf-8") as file:
            file.write(f"\n{line}\n")

    return damage


def _renamed(root: Path) -> None:
    path = _one(root, "implemented")
    path.rename(path.with_name("undated.md"))


def _drafted(root: Path) -> None:
    (root / "draft").mkdir()


_MUTANTS: Final = (
    _mutant(
        "rfc-status-with-a-remark", "a status carries a remark", "L-06",
        _editing("implemented", "Status: implemented", "Status: implemented (amended)"),
    ),
    _mutant(
        "rfc-status-of-another-folder", "a status contradicts its folder", "L-06",
        _editing("implemented", "Status: implemented", "Status: proposed"),
    ),
    _mutant(
        "rfc-without-a-blank-line", "the header lacks a blank line", "L-05",
        _editing("implemented", "\n\nStatus", "\nStatus"),
    ),
    _mutant(
        "rfc-with-another-opener", "an RFC opens with its context", "L-08",
        _editing("implemented", "## Problem", "## Context"),
    ),
    _mutant(
        "rfc-with-criteria", "an implemented RFC still has criteria", "L-10",
        _editing("implemented", "## Consequences", "## Acceptance criteria\n\n## Consequences"),
    ),
    _mutant(
        "rfc-without-consequences", "an RFC does not say what it costs", "L-09",
        _editing("implemented", "## Consequences", "## What it costs"),
    ),
    _mutant(
        "rfc-without-alternatives", "an RFC does not say what it beat", "L-11",
        _editing("implemented", "## Alternatives considered", "## Alternatives"),
    ),
    _mutant(
        "rfc-only-moved", "a proposal is moved and not rewritten", "L-06 L-09 L-10 L-19", _moved
    ),
    _mutant("rfc-without-a-day", "an RFC lies under a name without a day", "L-03", _renamed),
    _mutant("rfc-folder-beside", "a folder lies beside the lifecycles", "L-02", _drafted),
    _mutant("rfc-index-gone", "the index is missing", "L-19", _index_gone),
    _mutant(
        "rfc-index-edited", "the index has a line of its own", "L-19",
        _appended("INDEX.md", "By hand."),
    ),
    _mutant(
        "rfc-listed-by-hand", "the front door lists an RFC", "L-20",
        _appended("README.md", "| [One](proposed/process/2026-11-30-one.md) |"),
    ),
)  # fmt: skip
MUTANTS: Final = {mutant.id: mutant for mutant in _MUTANTS}


def _broken(corpus: Corpus) -> set[str]:
    """Return the clauses that the gates find broken."""
    found = [violation for rfc in corpus.rfcs for violation in format_violations(rfc)]
    found += [*corpus.violations, *front_violations(corpus, is_ours=True)]
    return {violation.clause for violation in found}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Give a copy of our corpus, in which nothing is wrong yet."""
    root = Path(shutil.copytree(OURS, tmp_path / "rfc"))
    assert _broken(read_corpus(root)) == set()
    return root


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=MUTANTS)
def test_a_damaged_corpus_is_refused_for_its_damage(mutant: CorpusMutant, copy: Path) -> None:
    """The gates name what was broken, and nothing that was not."""
    mutant.damage(copy)
    assert _broken(read_corpus(copy)) == mutant.clauses


def test_every_fault_of_the_corpus_has_a_name_of_its_own() -> None:
    """None of them is lost because another one is called the same."""
    assert len(MUTANTS) == len(_MUTANTS)
