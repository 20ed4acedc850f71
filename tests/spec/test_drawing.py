"""Diagrams are drawn from what they show, and every arrow of it is there."""

from xml.etree import ElementTree

import pytest

from statemachine.explorer import Exploration, explore
from statemachine.render.diagrams import status_drawing, turn_drawing
from statemachine.render.drawing import Arrow, ladder
from statemachine.windows import Window

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def exploration() -> Exploration:
    """Give the graph of the machine."""
    return explore()


def words_of(drawing: str) -> list[str]:
    """List the texts of a drawing, and see that it is XML."""
    found = ElementTree.fromstring(drawing).iter(f"{SVG}text")  # noqa: S314  # our own text
    return [each.text for each in found if each.text]


def lines_of(drawing: str, *, is_dashed: bool = False) -> int:
    """Count the lines that end in a tip."""
    style = "dashed" if is_dashed else None
    found = ElementTree.fromstring(drawing).iter(f"{SVG}path")  # noqa: S314  # our own text
    return sum(each.get("class") == style and each.get("marker-end") is not None for each in found)


def test_a_ladder_has_every_state_and_the_words_of_every_arrow() -> None:
    """Down to the next one, down past others, and up again."""
    arrows = (
        Arrow(before="a", after="b", words="next"),
        Arrow(before="a", after="c", words="skip"),
        Arrow(before="c", after="a", words="back"),
        Arrow(before="b", after="b", words="nothing"),
    )
    drawing = ladder("abc", arrows, notes={"b": "noted"})
    assert set(words_of(drawing)) == {"a", "b", "c", "next", "skip", "back", "noted"}
    assert lines_of(drawing) == 3


def test_arrows_to_one_state_share_a_line_unless_they_differ_in_style() -> None:
    """Many ways to one place are one line, which keeps a large diagram readable."""
    arrows = [Arrow(before=each, after="d") for each in "ab"]
    assert lines_of(ladder("abcd", arrows)) == 1
    dashed = Arrow(before="a", after="d", is_dashed=True)
    both = ladder("abcd", [*arrows, dashed])
    assert (lines_of(both), lines_of(both, is_dashed=True)) == (1, 1)


def test_lines_that_run_past_each_other_do_not_lie_on_each_other() -> None:
    """Two lanes of one side that overlap have places of their own."""
    arrows = [Arrow(before="a", after="c"), Arrow(before="b", after="d")]
    starts = {line.split('d="M')[1].split()[0] for line in ladder("abcd", arrows).splitlines()
              if 'marker-end="url(#tip)"' in line}  # fmt: skip
    assert len(starts) == 2


def test_words_are_escaped() -> None:
    """A name with a bracket stays a name."""
    assert "<a>" in words_of(ladder(["<a>", "b"], [Arrow(before="<a>", after="b")]))


def test_the_walk_shows_every_window_and_is_the_same_twice(exploration: Exploration) -> None:
    """The picture of the README is drawn from the declaration."""
    drawing = turn_drawing(exploration)
    assert {window.name for window in Window} <= set(words_of(drawing))
    assert drawing == turn_drawing(explore())


def test_the_status_machine_shows_its_moves() -> None:
    """Eight moves, four of them named alike."""
    words = words_of(status_drawing())
    assert {"IDLE", "RUNNING", "CANCELLED", "DISPOSED"} <= set(words)
    assert sorted(set(words) & {"begin", "cancel", "settle", "end"}) == [
        "begin", "cancel", "end", "settle",
    ]  # fmt: skip
