"""Every input is tested in every window and at every point inside one."""

from .places import EXCUSED, marked_places, places, uncovered, unknown


def test_every_input_is_tested_at_every_place() -> None:
    """A window or a point that is added needs its table, or says why it has none."""
    assert uncovered(marked_places()) == []


def test_every_marked_place_exists() -> None:
    """A misspelt place is covered by nobody."""
    assert unknown(marked_places()) == []


def test_no_excuse_is_left_over() -> None:
    """A place that has its test needs no excuse, and none is made for what does not exist."""
    assert [each for each in EXCUSED if each in marked_places() or each not in places()] == []


def test_a_place_that_nobody_tests_is_seen() -> None:
    """Also a point inside a window that is tested itself."""
    rest: dict[str, object] = {each: None for each in places() if each != "stream: chunk"}
    assert uncovered(rest) == ["stream: chunk"]
    assert unknown([*rest, "strem"]) == ["strem"]
