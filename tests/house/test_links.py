"""Pages hang together: what they point at is there, and every page can be reached."""

import re
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Final

import pytest

from .tree import ROOT, project_files, text_of

FRONT: Final = "README.md"
PAGES: Final = tuple(
    name
    for name in project_files()
    if name.endswith(".md") and (name.startswith("specs/") or "/" not in name)
)
READ_APART: Final = {"CHANGELOG.md"}
"""Pages that people look for by name."""

FENCED: Final = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
LINK: Final = re.compile(r"\]\(<?([^)\s>]+)>?\)")
HEADING: Final = re.compile(r"^#+ (.+)$", re.MULTILINE)
NAMED_PATH: Final = re.compile(r"`((?:runtime|specs|statemachine|tests)/[\w./-]+)`")


def targets(page: str, text: str) -> list[str]:
    """List what a page links to: paths from the root, with the anchor if there is one."""
    found = []
    for link in LINK.findall(FENCED.sub("", text)):
        if ":" not in link:
            path, mark, anchor = link.partition("#")
            place = normpath(f"{PurePosixPath(page).parent}/{path}") if path else page
            found.append(f"{place}{mark}{anchor}")
    return found


def anchors(text: str) -> set[str]:
    """List the anchors of a page, as viewers make them of its headings."""
    titles = HEADING.findall(FENCED.sub("", text))
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def is_dead(target: str) -> bool:
    """Whether a link leads nowhere: no such file or folder, or no such heading in it."""
    path, _, anchor = target.partition("#")
    return not (ROOT / path).exists() or bool(anchor and anchor not in anchors(text_of(path)))


def reached(pages: dict[str, list[str]], front: str) -> set[str]:
    """Follow links from the front page; a link to a folder leads to the pages in it."""
    seen, ahead = set[str](), [front]
    while ahead:
        page = ahead.pop()
        if page not in seen:
            seen.add(page)
            places = {target.partition("#")[0] for target in pages[page]}
            ahead += [each for each in pages if places & {each, str(PurePosixPath(each).parent)}]
    return seen


@pytest.mark.parametrize("page", PAGES)
def test_no_link_is_dead(page: str) -> None:
    """What a page links to is a file, a folder or a heading of this project."""
    assert [each for each in targets(page, text_of(page)) if is_dead(each)] == []


@pytest.mark.parametrize("page", PAGES)
def test_a_path_that_a_page_names_is_there(page: str) -> None:
    """A reader who looks for the file that a sentence names finds it."""
    named = NAMED_PATH.findall(FENCED.sub("", text_of(page)))
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_page_can_be_reached_from_the_front_page() -> None:
    """Nobody has to know that a page exists in order to find it."""
    pages = {page: targets(page, text_of(page)) for page in PAGES}
    assert set(pages) - READ_APART - reached(pages, FRONT) == set()


def test_a_dead_link_is_seen() -> None:
    """A missing file and a missing heading are dead; links in code and to the web are no matter."""
    text = "[a](nowhere.md) [b](README.md#nothing) [c](README.md#install) [d](https://a.example/x)"
    found = targets(FRONT, f"{text}\n\n```\n[e](not-a-link.md)\n```\n")
    assert found == ["nowhere.md", "README.md#nothing", "README.md#install"]
    assert [is_dead(each) for each in found] == [True, True, False]


def test_an_orphan_is_seen() -> None:
    """A page that only links, or is linked only by an orphan, is reached by nobody."""
    pages = {
        "a.md": ["b", "c.md#x"],
        "b/d.md": [],
        "c.md": ["a.md"],
        "e.md": ["a.md"],
        "f.md": ["e.md"],
    }
    assert reached(pages, "a.md") == {"a.md", "b/d.md", "c.md"}
