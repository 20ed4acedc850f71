"""Every window of the declaration has a visit in the driver."""

from runtime.visits import VISITS
from statemachine import REST_WINDOWS, WINDOWS, Window

RESTS = set(REST_WINDOWS)
"""No driver is there to visit these."""


def missing(visited: set[Window]) -> set[Window]:
    """Name the windows that a driver could be in and has no visit for."""
    return set(WINDOWS) - RESTS - visited


def test_every_window_has_a_visit() -> None:
    """A window that is added to the declaration needs its visit."""
    assert missing(set(VISITS)) == set()


def test_no_visit_is_left_over() -> None:
    """A rest has no visit."""
    assert set(VISITS) & RESTS == set()


def test_a_missing_visit_is_seen() -> None:
    """The comparison finds the window that was left out."""
    assert missing(set(VISITS) - {Window.FLUSH}) == {Window.FLUSH}
