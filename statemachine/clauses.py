"""The clauses of the specification, by id: one function for a checkout and for an installed wheel.

A clause is a heading `## A-01` in a file of `specs/clauses`, one sentence that a test can check,
where the sentence comes from, and how it is checked or why it is not:

    ## A-40

    A status equal to the last one is never announced.

    Source: observed in a reference harness
    Checked by: explorer property

Clauses are what everything else cites, so reading them is strict: whatever does not have this form
is refused with its file and line. A line `# Title` and the text below it, up to the next clause,
are for the reader and are skipped.
"""

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Final

from attrs import field, frozen

__all__ = [
    "Clause",
    "ClauseFormatError",
    "UnknownClauseError",
    "clause",
    "clauses",
    "read_clauses",
]

_HEADING: Final = re.compile(r"## ([A-L]-\d{2,3})")
_SOURCE: Final = "Source:"
_CHECK: Final = "Checked by:"
_UNCHECKED: Final = "Unchecked:"
_LABELS: Final = (_SOURCE, _CHECK, _UNCHECKED)
_SENTENCE: Final = "sentence"


class ClauseFormatError(ValueError):
    """A clause file does not have the form; the message says where and what is missing."""


class UnknownClauseError(LookupError):
    """No clause has this id; the message names the ids that come near."""


@frozen(kw_only=True)
class Clause:
    """One numbered sentence of the specification."""

    id: str
    sentence: str
    source: str
    check: str | None
    """How the sentence is checked; None when `unchecked` says why it is not."""
    unchecked: str | None
    file: str
    """The name of the file that holds the clause, such as `a-agent.md`."""


@frozen(kw_only=True)
class _Line:
    """A line of a clause file, with the place that an error about it names."""

    path: Path
    number: int
    text: str

    def error(self, what: str) -> ClauseFormatError:
        """Make the error that says what is wrong at this line."""
        return ClauseFormatError(f"{self.path}:{self.number}: {what}")


@frozen(kw_only=True)
class _Block:
    """A heading and the lines below it."""

    heading: _Line
    body: list[_Line] = field(factory=list)


def clause(clause_id: str) -> Clause:
    """Return the clause with this id.

    Raises:
        UnknownClauseError: no clause has the id.
        ClauseFormatError: a clause file does not have the form.
    """
    try:
        return _by_id()[clause_id]
    except KeyError:
        raise UnknownClauseError(_unknown(clause_id)) from None


@cache
def clauses() -> tuple[Clause, ...]:
    """Return every clause, in the order of the files and of their place in them.

    Raises:
        ClauseFormatError: a clause file does not have the form, or there is none.
    """
    return read_clauses(_folder())


def read_clauses(folder: Path) -> tuple[Clause, ...]:
    """Read every clause of a folder of Markdown files.

    Raises:
        ClauseFormatError: a file does not have the form, an id is there twice, or there is no
            clause at all.
    """
    found: dict[str, Clause] = {}
    for path in sorted(folder.glob("*.md")):
        for block in _blocks(path):
            parsed = _parsed(block)
            if parsed.id in found:
                first = found[parsed.id].file
                raise block.heading.error(f"{parsed.id} is already a clause of {first}")
            found[parsed.id] = parsed
    if not found:
        raise ClauseFormatError(f"{folder}: no clause was found")
    return tuple(found.values())


@cache
def _by_id() -> dict[str, Clause]:
    """Index the clauses once; every test with a clause mark asks."""
    return {each.id: each for each in clauses()}


def _unknown(clause_id: str) -> str:
    """Say that an id is unknown, with the ids that a typing error may have meant."""
    near = get_close_matches(clause_id.upper(), _by_id(), n=3, cutoff=0.5)
    hint = f"; near it are {', '.join(sorted(near))}" if near else ""
    return f"no clause has the id {clause_id!r}{hint}"


def _folder() -> Path:
    """Find the texts: beside the modules in a wheel, in `specs` in a checkout."""
    package = Path(__file__).resolve().parent
    packaged = package / "_clauses"
    return packaged if packaged.is_dir() else package.parent / "specs" / "clauses"


def _blocks(path: Path) -> Iterator[_Block]:
    """Cut a file at its headings, leaving out titles and what stands below them."""
    block: _Block | None = None
    # Split at newlines only: other line separators may stand inside a sentence.
    for number, text in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        line = _Line(path=path, number=number, text=text.rstrip())
        if line.text.startswith("#"):
            if block is not None:
                yield block
            block = None if line.text.startswith("# ") else _Block(heading=line)
        elif block is not None:
            block.body.append(line)
    if block is not None:
        yield block


def _parsed(block: _Block) -> Clause:
    """Turn a heading and its lines into a clause.

    Raises:
        ClauseFormatError: the heading or a part is malformed or missing.
    """
    heading = block.heading
    matched = _HEADING.fullmatch(heading.text)
    if matched is None:
        raise heading.error(f"{heading.text!r} is not a heading of the form `## A-01`")
    parts = _parts(block.body)
    name = matched.group(1)
    _refuse_missing(heading, name, parts)
    return Clause(
        id=name,
        sentence=parts[_SENTENCE],
        source=parts[_SOURCE],
        check=parts.get(_CHECK),
        unchecked=parts.get(_UNCHECKED),
        file=heading.path.name,
    )


def _refuse_missing(heading: _Line, name: str, parts: dict[str, str]) -> None:
    """Raise when a clause lacks a part or says two things about its check."""
    if not parts.get(_SENTENCE, "").endswith("."):
        raise heading.error(f"{name} has no sentence that ends in a full stop")
    if _SOURCE not in parts:
        raise heading.error(f"{name} has no line `{_SOURCE}`")
    if (_CHECK in parts) == (_UNCHECKED in parts):
        raise heading.error(f"{name} needs one line `{_CHECK}` or one line `{_UNCHECKED}`")


def _parts(body: Iterable[_Line]) -> dict[str, str]:
    """Collect the sentence and the labelled lines; a part may go on over several lines."""
    parts: dict[str, str] = {}
    open_part: str | None = None
    for line in body:
        if not line.text:
            open_part = None
            continue
        label = next((each for each in _LABELS if line.text.startswith(each)), None)
        if label is None and open_part is not None:
            parts[open_part] += f" {line.text.strip()}"
            continue
        open_part = label or _SENTENCE
        if open_part in parts:
            raise line.error(f"a clause has one {open_part.rstrip(':')}, and this is a second one")
        parts[open_part] = line.text.removeprefix(label or "").strip()
        if not parts[open_part]:
            raise line.error(f"`{line.text}` says nothing")
    return parts
