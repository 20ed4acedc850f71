"""The commands: two that only look, and one that writes the index.

What is wrong goes to standard error, one line each, and makes the exit code 1; what was found in
order goes to standard output, with the count. A command that cannot begin exits with 2.
"""

import argparse
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final, assert_never

from .format import format_violations
from .index import front_violations, index_text
from .places import INDEX, Corpus, read_corpus
from .violations import Violation

__all__ = ["OURS", "Command", "main"]

OURS: Final = Path(__file__).resolve().parents[2] / "rfc"
"""The corpus beside the gate."""


class Command(StrEnum):
    """What can be asked for."""

    VERIFY_FORMAT = "verify-format"
    VERIFY_CLASSIFICATION = "verify-classification"
    GEN_INDEX = "gen-index"


def main(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code: 0 in order, 1 violations, 2 could not begin."""
    parser = argparse.ArgumentParser(prog="python specs/gate", description=__doc__)
    parser.add_argument("command", type=Command, help=", ".join(Command))
    parser.add_argument("root", nargs="?", type=Path, default=OURS, help="a corpus; else our own")
    chosen = parser.parse_args(arguments)
    root: Path = chosen.root
    if not root.is_dir():
        print(f"{root} is no folder", file=sys.stderr)
        return 2
    try:
        return _run(chosen.command, root)
    except OSError as error:
        print(error, file=sys.stderr)
        return 2


def _run(command: Command, root: Path) -> int:
    corpus = read_corpus(root)
    match command:
        case Command.VERIFY_FORMAT:
            return _say(command, _of_format(corpus), f"{_count(corpus)} in the format")
        case Command.VERIFY_CLASSIFICATION:
            return _say(command, _of_place(corpus), f"{_count(corpus)} in place")
        case Command.GEN_INDEX:
            return _write_index(corpus)
        case _:
            assert_never(command)


def _of_format(corpus: Corpus) -> list[Violation]:
    found = [violation for rfc in corpus.rfcs for violation in format_violations(rfc)]
    if corpus.misplaced:
        # Told in full by the other gate, and here only so that their absence is no success.
        what = f"{len(corpus.misplaced)} not checked; {Command.VERIFY_CLASSIFICATION} says what"
        found.append(Violation(path=corpus.root, message=what, clause="L-03"))
    return found


def _of_place(corpus: Corpus) -> list[Violation]:
    is_ours = corpus.root.resolve() == OURS
    return [*corpus.violations, *front_violations(corpus, is_ours=is_ours)]


def _write_index(corpus: Corpus) -> int:
    if corpus.violations:
        return _say(Command.GEN_INDEX, corpus.violations, "")
    index = corpus.root / INDEX
    text = index_text(corpus).encode()
    if index.exists() and index.read_bytes() == text:
        print(f"{index} is up to date: {_count(corpus)}")
    else:
        index.write_bytes(text)
        print(f"wrote {index}: {_count(corpus)}")
    return 0


def _say(command: Command, violations: Sequence[Violation], success: str) -> int:
    """Report every violation, or the success, and return the exit code."""
    for violation in violations:
        print(violation, file=sys.stderr)
    if not violations:
        print(f"{command}: {success}")
    return 1 if violations else 0


def _count(corpus: Corpus) -> str:
    return f"{len(corpus.rfcs)} RFC{'' if len(corpus.rfcs) == 1 else 's'}"
