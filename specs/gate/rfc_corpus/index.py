"""The index, which is generated as a whole, and the front door, which is written by hand."""

import re
from collections.abc import Iterator
from typing import Final

from .places import INDEX, README, Corpus, Lifecycle, Rfc, RfcClass
from .violations import Violation

__all__ = ["CONTRACT", "front_violations", "index_text"]

CONTRACT: Final = "## The file format"
"""The heading of the front door under which the format stands."""

_BANNER: Final = "<!-- Written by `make rfc-index` from the RFCs; an edit by hand is refused. -->"
_REWRITE: Final = "write it with `make rfc-index`"
_ROW: Final = re.compile(
    # Cells, and in one of them an RFC's path, its name, or, in front, its day.
    rf"(?=.*\|)(?:.*\b(?:{'|'.join(Lifecycle)})/\S+\.md"
    r"|.*\b\d{4}-\d{2}-\d{2}-\S+\.md|\s*\|?\s*\d{4}-\d{2}-\d{2}\s*\|)"
)


def index_text(corpus: Corpus) -> str:
    """Return what the index has to say, byte by byte."""
    blocks = [_BANNER, "# Index of the RFCs"]
    for lifecycle in Lifecycle:
        blocks.append(f"## {lifecycle.capitalize()}")
        tables = [table for rfc_class in RfcClass for table in _table(corpus, lifecycle, rfc_class)]
        blocks += tables or ["None."]
    return "\n\n".join(blocks) + "\n"


def _table(corpus: Corpus, lifecycle: Lifecycle, rfc_class: RfcClass) -> Iterator[str]:
    """Yield the heading of a class and its rows, or nothing."""
    rfcs = [
        each for each in corpus.rfcs if each.lifecycle is lifecycle and each.rfc_class is rfc_class
    ]
    if rfcs:
        rows = [_row(each) for each in sorted(rfcs, key=lambda each: (each.date, each.path.name))]
        yield f"### {rfc_class.capitalize()}"
        yield "\n".join(["| day | RFC |", "| --- | --- |", *rows])


def _row(rfc: Rfc) -> str:
    title = re.sub(r"([\\|\[\]])", r"\\\1", rfc.title)
    target = f"{rfc.lifecycle}/{rfc.rfc_class}/{rfc.path.name}"
    return f"| {rfc.date} | [{title}]({target}) |"


def front_violations(corpus: Corpus, *, is_ours: bool) -> Iterator[Violation]:
    """Yield what is wrong with the index and with the front door.

    Another corpus needs neither; the one beside the gate needs both. An index is compared only if
    every RFC lies where it should, because a wrong tree has no right index.
    """
    index, readme = corpus.root / INDEX, corpus.root / README
    if not corpus.violations and (is_ours or index.exists()):
        yield from _stale(corpus)
    if readme.exists():
        yield from _rows_by_hand(corpus)
    if is_ours and CONTRACT not in (_lines(corpus) if readme.exists() else ()):
        yield Violation(path=readme, message=f"there is no `{CONTRACT}` here", clause="L-22")


def _stale(corpus: Corpus) -> Iterator[Violation]:
    index = corpus.root / INDEX
    if not index.exists():
        yield Violation(path=index, message=f"there is no index; {_REWRITE}", clause="L-19")
        return
    written, expected = index.read_bytes(), index_text(corpus).encode()
    if written != expected:
        pairs = zip(written.split(b"\n"), expected.split(b"\n"), strict=False)
        same = next((n for n, (one, other) in enumerate(pairs) if one != other), None)
        line = 1 + (written.count(b"\n") if same is None else same)
        message = f"the index is not what the RFCs say; {_REWRITE}"
        yield Violation(path=index, line=line, message=message, clause="L-19")


def _rows_by_hand(corpus: Corpus) -> Iterator[Violation]:
    for number, line in enumerate(_lines(corpus), start=1):
        if _ROW.match(line):
            message = f"a row that lists an RFC belongs into {INDEX}, which is generated"
            yield Violation(path=corpus.root / README, line=number, message=message, clause="L-20")


def _lines(corpus: Corpus) -> list[str]:
    text = (corpus.root / README).read_text(encoding="utf-8", errors="replace")
    return [line.rstrip() for line in text.split("\n")]
