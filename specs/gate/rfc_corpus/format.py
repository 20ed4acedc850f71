"""How an RFC is written: a header of four lines, and the sections that its lifecycle asks for."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from attrs import frozen

from .markdown import Line, headings, prose
from .places import Lifecycle, Rfc
from .violations import Violation

__all__ = ["FORMAT_DAY", "GRANDFATHER", "format_violations"]

FORMAT_DAY: Final = date(2026, 7, 5)
"""From this day on an RFC names the alternatives that it beat."""

GRANDFATHER: Final = "<!-- Alternatives considered: not on record, older than the format. -->"
"""What an RFC from before that day may say instead, on a line of its own."""

_STATUS: Final = "Status:"
_TITLE: Final = re.compile(r"# RFC: \S.*")
_REJECTED: Final = re.compile(r"rejected — \S.*")
_DEBT: Final = "legacy ADR/RFC body format"
_ALTERNATIVES: Final = "Alternatives considered"
_REQUIRED: Final = {
    Lifecycle.PROPOSED: ("Proposal", "Acceptance criteria", "Risks"),
    Lifecycle.IMPLEMENTED: ("Decision", "Consequences"),
    Lifecycle.REJECTED: ("Proposal",),
}
_OF_A_PROPOSAL: Final = re.compile(
    r"(?:proposal|plan|migration plan|acceptance criteria)\b", re.IGNORECASE
)


@frozen(kw_only=True)
class _Text:
    """An RFC as its checks see it: without carriage returns, cut into prose and sections."""

    rfc: Rfc
    lines: tuple[str, ...]
    prose: tuple[Line, ...]
    sections: tuple[Line, ...]

    def violation(self, clause: str, message: str, line: int = 1) -> Violation:
        """Make the violation that says what is wrong at a line."""
        return Violation(path=self.rfc.path, line=line, message=message, clause=clause)


def format_violations(rfc: Rfc) -> tuple[Violation, ...]:
    """Return everything that is wrong with the text of one RFC, from top to bottom."""
    lines = tuple(line.removesuffix("\r") for line in rfc.lines)
    outside = tuple(prose(lines))
    text = _Text(rfc=rfc, lines=lines, prose=outside, sections=headings(outside, level=2))
    checks = (_endings, _header, _more_statuses, _debts, _opener, _skeleton, _alternatives)
    found = [violation for check in checks for violation in check(text)]
    return tuple(sorted(found, key=lambda violation: violation.line))


def _endings(text: _Text) -> Iterator[Violation]:
    for number, line in enumerate(text.rfc.lines, start=1):
        if line.endswith("\r"):
            message = "the line ends in a carriage return; the file has to be saved with LF only"
            yield text.violation("L-24", message, number)
            return


def _header(text: _Text) -> Iterator[Violation]:
    title, first_blank, status, second_blank = (*text.lines, "", "", "", "")[:4]
    if not _TITLE.fullmatch(title):
        yield text.violation("L-05", "the first line has to be `# RFC: <title>`", 1)
    if first_blank:
        yield text.violation("L-05", "the second line has to be blank", 2)
    if status.startswith(f"{_STATUS} "):
        yield from _status(text, status.removeprefix(f"{_STATUS} "))
    else:
        yield text.violation("L-05", f"the third line has to be `{_STATUS} <status>`", 3)
    if second_blank:
        yield text.violation("L-05", "the fourth line has to be blank", 4)


def _status(text: _Text, status: str) -> Iterator[Violation]:
    word = status.partition(" ")[0]
    folder = text.rfc.lifecycle
    if word not in set(Lifecycle):
        known = "`proposed`, `implemented` and `rejected — <reason>`"
        yield text.violation("L-06", f"`{status}` is no status; there are {known}", 3)
        return
    if word != folder:
        yield text.violation("L-06", f"the status is `{word}`, the folder `{folder}`", 3)
    if word == Lifecycle.REJECTED:
        if not _REJECTED.fullmatch(status):
            message = "a rejection says why, behind an em dash: `Status: rejected — <reason>`"
            yield text.violation("L-06", message, 3)
    elif status != word:
        extra = status.removeprefix(word)
        message = f"the status is the word `{word}` alone, no day and no remark:{extra}"
        yield text.violation("L-06", message, 3)


def _more_statuses(text: _Text) -> Iterator[Violation]:
    # Code fences included: whoever looks for the status with a plain search finds one.
    claims = [n for n, line in enumerate(text.lines, start=1) if line.startswith(_STATUS)]
    for number in claims[1:]:
        yield text.violation("L-07", f"a second line begins with `{_STATUS}`", number)


def _debts(text: _Text) -> Iterator[Violation]:
    for number, line in enumerate(text.lines, start=1):
        if _DEBT.casefold() in line.casefold():
            message = "the marker of an unconverted RFC is retired: convert the RFC"
            yield text.violation("L-13", message, number)


def _opener(text: _Text) -> Iterator[Violation]:
    if not text.sections:
        yield text.violation("L-08", "there is no section, and the first has to be `## Problem`")
    elif text.sections[0].text != "Problem":
        found = text.sections[0]
        message = f"the first section has to be `## Problem`, not `## {found.text}`"
        yield text.violation("L-08", message, found.number)


def _skeleton(text: _Text) -> Iterator[Violation]:
    folder = text.rfc.lifecycle
    names = {section.text for section in text.sections}
    for required in _REQUIRED[folder]:
        if required not in names:
            yield text.violation("L-09", f"what is {folder} has a section `## {required}`")
    if folder is Lifecycle.IMPLEMENTED:
        for section in text.sections:
            if _OF_A_PROPOSAL.match(section.text.strip()):
                message = f"`## {section.text}` is of a proposal; say what was decided and is so"
                yield text.violation("L-10", message, section.number)


def _alternatives(text: _Text) -> Iterator[Violation]:
    is_named = any(section.text == _ALTERNATIVES for section in text.sections)
    excuses = [line.number for line in text.prose if line.text == GRANDFATHER]
    if not is_named and not excuses:
        yield text.violation("L-11", f"there is no section `## {_ALTERNATIVES}`")
    for number in excuses:
        if is_named:
            message = f"there is a section `## {_ALTERNATIVES}` and an excuse for having none"
            yield text.violation("L-11", message, number)
        if text.rfc.date >= FORMAT_DAY:
            message = f"an RFC from {FORMAT_DAY} on names its alternatives and has no excuse"
            yield text.violation("L-12", message, number)
