"""The page of seams knows every seam there is, and cites clauses that exist."""

from runtime import announcements, seams
from runtime.context import Serial, Waterfall
from statemachine.clauses import clauses
from statemachine.windows import WINDOWS

from .seam_page import ASKED, every_seam, seams_page


def test_every_seam_is_told_and_none_that_is_gone() -> None:
    """Whoever adds a seam says when it is asked and what its failure means."""
    declared = {
        getattr(seams, name).name
        for name in seams.__all__
        if isinstance(getattr(seams, name), (Waterfall, Serial))
    }
    assert [each.name for each in every_seam()] == list(ASKED)
    assert set(ASKED) == declared


def test_seams_stand_in_the_order_of_a_turn() -> None:
    """The page reads as a turn does."""
    order = list(WINDOWS)
    places = [order.index(each.window) for name, each in ASKED.items() if name != "turn/continue"]
    assert places == sorted(places)
    assert ASKED["turn/continue"].window is max(
        (each.window for each in ASKED.values()), key=order.index
    )


def test_every_seam_cites_clauses_that_exist() -> None:
    """What is said of a seam is checked somewhere."""
    known = {each.id for each in clauses()}
    assert {clause for each in ASKED.values() for clause in each.clauses.split()} <= known


def test_answers_and_announcements_come_from_the_declaration() -> None:
    """A class that an interceptor may answer with is on the page with what it does."""
    page = seams_page()
    assert "`Block`: Keep the prompt out; it is recorded as blocked, and no model sees it." in page
    told = {
        getattr(announcements, name).name
        for name in announcements.__all__
        if isinstance(getattr(announcements, name), announcements.Announcement)
    }
    assert [each for each in told if f"`{each}`" not in page] == []
