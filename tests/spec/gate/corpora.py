"""Small corpora to try the gates on: good texts, and a way to see what is said of a bad one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from attrs import frozen
from rfc_corpus.commands import main

__all__ = [
    "GOOD",
    "IMPLEMENTED",
    "PROPOSED",
    "REJECTED",
    "Answer",
    "ask",
    "corpus",
    "place_of",
    "refused",
]

PROPOSED: Final = """\
# RFC: Lend umbrellas

Status: proposed

## Problem

It rains, and guests get wet.

## Proposal

A stand at the door.

## Alternatives considered

**Raincoats.** They do not fit everybody.

## Acceptance criteria

A guest leaves dry.

## Risks

Umbrellas wander off.
"""

IMPLEMENTED: Final = """\
# RFC: Water the plants on Mondays

Status: implemented

## Problem

Two people watered the same fern, and it drowned.

## Decision

One person waters, on Mondays.

## Alternatives considered

**A list beside the fern.** Nobody reads it.

## Consequences

Ferns live. On other days they are thirsty.
"""

REJECTED: Final = """\
# RFC: A bell for the cat

Status: rejected — nobody ties it on

## Problem

The mice never hear the cat.

## Proposal

A bell.

## Alternatives considered

**Another house.** The cat comes along.

## Plan

Wait until it sleeps.
"""

GOOD: Final = {"proposed": PROPOSED, "implemented": IMPLEMENTED, "rejected": REJECTED}
"""A text without a defect for each lifecycle."""


@frozen(kw_only=True)
class Answer:
    """What a command said, and its exit code."""

    code: int
    out: str
    errors: tuple[str, ...]


def place_of(lifecycle: str, day: str = "2026-11-30") -> str:
    """Return a path at which an RFC may lie."""
    return f"{lifecycle}/process/{day}-a-topic.md"


def corpus(folder: Path, texts: Mapping[str, str]) -> Path:
    """Write a corpus: texts by path, as they are; a path that ends in a slash is a folder."""
    for name, text in texts.items():
        path = folder / name
        if name.endswith("/"):
            path.mkdir(parents=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
    return folder


def ask(capsys: pytest.CaptureFixture[str], command: str, root: Path) -> Answer:
    """Run a gate, and return what it says with paths relative to the corpus."""
    capsys.readouterr()
    code = main([command, str(root)])
    printed = capsys.readouterr()
    errors = printed.err.replace(f"{root}/", "").splitlines()
    return Answer(code=code, out=printed.out, errors=tuple(errors))


def refused(answer: Answer) -> tuple[str, ...]:
    """Return `file:line (clause)` for everything that was refused, in the order of the report.

    A gate that refuses something exits with 1 and says nothing of success, so this is asserted
    here, once for all tests; and the same the other way round.
    """
    assert answer.code == (1 if answer.errors else 0), answer
    assert bool(answer.out) is not bool(answer.errors), answer
    places = (error.partition(": ")[0] for error in answer.errors)
    clauses = (error.rpartition(" ")[2] for error in answer.errors)
    return tuple(f"{place} {clause}" for place, clause in zip(places, clauses, strict=True))
