"""The generated pages say what the declaration says, and are up to date."""

from pathlib import Path

import pytest

from statemachine.__main__ import main
from statemachine.explorer import Exploration, explore
from statemachine.labelled import explore_labelled
from statemachine.machine import MACHINE, Machine
from statemachine.render import NotACheckoutError, files, generated_folder, pages, stale, write
from statemachine.windows import WINDOWS, Window


@pytest.fixture(scope="module")
def exploration() -> Exploration:
    """Give the graph of the machine; it is a value."""
    return explore()


@pytest.fixture(scope="module")
def rendered(exploration: Exploration) -> dict[str, str]:
    """Give the pages of the declaration."""
    return pages(exploration, explore_labelled(exploration))


def test_the_generated_pages_are_fresh(rendered: dict[str, str]) -> None:
    """Whoever changes the declaration renders it again."""
    assert stale(generated_folder(), rendered) == ()


def test_rendering_twice_gives_the_same_pages(rendered: dict[str, str]) -> None:
    """A page depends on the declaration and on nothing else."""
    again = explore(Machine())
    assert pages(again, explore_labelled(again)) == rendered


def test_a_changed_declaration_makes_pages_stale(rendered: dict[str, str], tmp_path: Path) -> None:
    """A row that is gone is gone from the page, and the check names the page."""
    assert write(tmp_path, rendered) == tuple(rendered)
    assert stale(tmp_path, rendered) == ()
    shorter = explore(Machine(table=MACHINE.table[:-1]))
    assert "lifecycle.md" in stale(tmp_path, pages(shorter, explore_labelled(shorter)))


def test_only_pages_that_changed_are_written(rendered: dict[str, str], tmp_path: Path) -> None:
    """An unchanged page keeps its place and its time."""
    write(tmp_path, rendered)
    (tmp_path / "diagrams.md").write_text("old")
    (tmp_path / "other.json").write_text("{}")
    assert write(tmp_path, rendered) == ("diagrams.md",)
    assert (tmp_path / "other.json").read_text() == "{}"


def test_every_row_and_every_window_is_on_the_page(rendered: dict[str, str]) -> None:
    """The page is the whole table."""
    page = rendered["lifecycle.md"]
    table = page.split("## Rows")[1]
    assert sum(line.startswith("| ") for line in table.splitlines()) == len(MACHINE.table) + 2
    assert all(f"| {window.name} | {WINDOWS[window].story} |" in page for window in Window)


@pytest.mark.clause("B-36", "A-22")
def test_the_page_says_what_a_cancel_does_in_each_window(rendered: dict[str, str]) -> None:
    """A reader finds every window, and both what changes and what does not."""
    page = rendered["what-a-cancel-does.md"]
    assert [line for line in page.splitlines() if line.startswith("## ")] == [
        f"## {window.name}" for window in Window
    ]
    parked = page.split("## PARKED")[1].split("## WOKEN")[0]
    assert "| cancel | idle | nothing | unchanged | nothing | nowhere |" in parked
    stream = page.split("## STREAM")[1].split("## RESULT")[0]
    asked = "cancelled | ANNOUNCE DISCARD ABORT | STEP_END |"
    assert f"| cancel | running | nothing or something | {asked}" in stream


def test_the_check_of_a_stale_page_fails_and_names_it(
    rendered: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A pipeline is told which page to render again."""
    monkeypatch.setattr("statemachine.__main__.generated_folder", lambda: tmp_path)
    assert main(["render"]) == 0
    assert main(["render", "--check"]) == 0
    (tmp_path / "lifecycle.md").write_text("old")
    capsys.readouterr()
    assert main(["render", "--check"]) == 1
    assert "lifecycle.md" in capsys.readouterr().err
    assert set(rendered) == {path.name for path in tmp_path.iterdir()}


def test_an_installed_package_says_that_it_has_nowhere_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Outside a checkout there is a clear error and status 2."""
    place = tmp_path / "statemachine" / "render" / "files.py"
    monkeypatch.setattr(files, "__file__", str(place))
    with pytest.raises(NotACheckoutError, match="is no checkout"):
        generated_folder()
    assert main(["render"]) == 2
    assert "is no checkout" in capsys.readouterr().err


def test_the_page_says_what_every_call_does_in_every_window(rendered: dict[str, str]) -> None:
    """Windows that answer alike share a line, and each window is in exactly one."""
    page = rendered["windows.md"].split("What the words mean")[0]
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| ")][2:]
    order = [window.name for window in Window]
    found: list[str] = []
    for first, _, last in (row[0].removeprefix("| ").partition(" to ") for row in rows):
        span = slice(order.index(first), order.index(last) + 1) if last else None
        found += order[span] if span else first.split(", ")
    assert sorted(found) == sorted(order)
    parked = next(row for row in rows if row[0] == "| PARKED")
    assert parked[1:4] == ["queue, wake", "queue, wake", "one-shot"]
    assert all(point in rendered["windows.md"] for point in WINDOWS[Window.TOOL_CALL].points)
