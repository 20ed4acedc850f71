"""Where an RFC lies: `lifecycle/class/yyyy-mm-dd-topic.md`, and nothing else lies there.

Theory. Whoever reads a corpus has to see every file of it, or a file that nobody checks looks like
one that passed. So every folder and every file is either an RFC, or known not to be one, or an
error. An error says what is wrong with the place and leaves the file out of all later checks.
"""

import re
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Final

from attrs import field, frozen

from .markdown import headings, prose
from .violations import Violation

__all__ = ["INDEX", "README", "Corpus", "Lifecycle", "Rfc", "RfcClass", "read_corpus"]

INDEX: Final = "INDEX.md"
README: Final = "README.md"

_AGENT_NOTES: Final = frozenset({"AGENTS.md", "CLAUDE.md"})
_FRONT: Final = _AGENT_NOTES | {INDEX, README}
_COUNTERPART: Final = ".zh.md"
_NAME: Final = re.compile(r"(\d{4}-\d{2}-\d{2})-[a-z0-9]+(?:-[a-z0-9]+)*\.md")
_TITLE_PREFIX: Final = "RFC: "
_FORM: Final = "lifecycle/class/yyyy-mm-dd-topic.md"


class Lifecycle(StrEnum):
    """What has become of an RFC; the first folder, in the order of the index."""

    PROPOSED = "proposed"
    IMPLEMENTED = "implemented"
    REJECTED = "rejected"


class RfcClass(StrEnum):
    """What an RFC is about; the second folder, in the order of the index."""

    FEATURE = "feature"
    BUG_FIX = "bug-fix"
    SIMPLIFICATION = "simplification"
    ARCHITECTURE = "architecture"
    PROCESS = "process"
    TESTING = "testing"


@frozen(kw_only=True)
class Rfc:
    """An RFC that lies where one may lie.

    Attributes:
        title: The first heading, without its prefix; empty if there is none.
        lines: The text as it is, cut at newlines only.
    """

    path: Path
    lifecycle: Lifecycle
    rfc_class: RfcClass
    date: date
    title: str
    lines: tuple[str, ...] = field(repr=False)


@frozen(kw_only=True)
class Corpus:
    """What lies below a root: the RFCs by path, and what is in the way of a right index."""

    root: Path
    rfcs: tuple[Rfc, ...]
    misplaced: tuple[Violation, ...]

    @property
    def violations(self) -> tuple[Violation, ...]:
        """What is not where it should be, and what lies there without a title."""
        message = "there is no title, a first line `# RFC: <title>`"
        untitled = (
            Violation(path=rfc.path, message=message, clause="L-03")
            for rfc in self.rfcs
            if not rfc.title
        )
        return tuple(sorted((*self.misplaced, *untitled), key=lambda each: each.path))


def read_corpus(root: Path) -> Corpus:
    """Read every RFC below a folder, and find what does not belong there.

    Raises:
        OSError: something below the folder cannot be read.
    """
    found = [_entry(root, path) for path in sorted(root.rglob("*"))]
    rfcs = tuple(each for each in found if isinstance(each, Rfc))
    misplaced = tuple(each for each in found if isinstance(each, Violation))
    if not rfcs and not misplaced:
        # A mistyped folder would pass otherwise.
        misplaced = (Violation(path=root, message="there is no RFC here", clause="L-27"),)
    return Corpus(root=root, rfcs=rfcs, misplaced=misplaced)


def _entry(root: Path, path: Path) -> Rfc | Violation | None:
    """Say what one path is: an RFC, out of place, or nothing that needs a word."""
    parts = path.relative_to(root).parts
    if not _is_reachable(parts) or _is_no_rfc(path, parts):
        return None
    if path.is_dir():
        return _misplaced_folder(path, parts)
    if len(parts) < 3:
        return Violation(path=path, message=f"an RFC lies at {_FORM} and not above", clause="L-03")
    return _rfc(path, Lifecycle(parts[0]), RfcClass(parts[1]))


def _is_reachable(parts: tuple[str, ...]) -> bool:
    """Whether all folders above are in order; what lies below a wrong one is not told again."""
    above = parts[:-1]
    return (
        len(above) <= 2
        and (len(above) < 1 or above[0] in set(Lifecycle))
        and (len(above) < 2 or above[1] in set(RfcClass))
    )


def _is_no_rfc(path: Path, parts: tuple[str, ...]) -> bool:
    """Whether a file may lie where it does without being an RFC."""
    if path.is_dir():
        return False
    front = (_FRONT, _AGENT_NOTES, frozenset[str]())[len(parts) - 1]
    return path.name in front or path.name.startswith(".") or path.name.endswith(_COUNTERPART)


def _misplaced_folder(path: Path, parts: tuple[str, ...]) -> Violation | None:
    """Refuse a folder that is no lifecycle, no class, or deeper than a class."""
    if len(parts) == 1:
        allowed, what, clause = [each.value for each in Lifecycle], "lifecycle", "L-02"
    elif len(parts) == 2:
        allowed, what, clause = [each.value for each in RfcClass], "class", "L-03"
    else:
        return Violation(
            path=path, message="the folder of a class has no folders in it", clause="L-03"
        )
    if parts[-1] in allowed:
        return None
    message = f"`{parts[-1]}` is no {what}; there are {', '.join(allowed)}"
    return Violation(path=path, message=message, clause=clause)


def _rfc(path: Path, lifecycle: Lifecycle, rfc_class: RfcClass) -> Rfc | Violation:
    """Read an RFC by its name and its first heading."""
    day = _day(path.name)
    if day is None:
        message = "the name of an RFC is yyyy-mm-dd-topic.md: a day, then words in small letters"
        return Violation(path=path, message=message, clause="L-03")
    content = path.read_bytes()
    try:
        # Other line separators may stand inside a sentence, so only newlines cut.
        lines = tuple(content.decode("utf-8").split("\n"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return Violation(path=path, line=line, message="this is not UTF-8", clause="L-26")
    titles = headings(prose(lines), level=1)
    return Rfc(
        path=path,
        lifecycle=lifecycle,
        rfc_class=rfc_class,
        date=day,
        title=titles[0].text.removeprefix(_TITLE_PREFIX).strip() if titles else "",
        lines=lines,
    )


def _day(name: str) -> date | None:
    """Return the day that a file is named for, if there is such a day."""
    named = _NAME.fullmatch(name)
    try:
        return date.fromisoformat(named[1]) if named else None
    except ValueError:
        return None
