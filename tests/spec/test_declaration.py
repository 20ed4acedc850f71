"""The declaration says what it should and no more: total, without dead rows, every row cited."""

import pytest

from statemachine.clauses import clause
from statemachine.commands import OUTSIDE_INPUTS, Command, Input
from statemachine.explorer import explore
from statemachine.lifecycle import REGIONS, Row
from statemachine.machine import MACHINE
from statemachine.windows import OPEN_WINDOWS, TURN_WINDOWS, WINDOWS, Patience, Window

# A changed number is a changed declaration, and the commit that changes it says why.
ROWS = 131
OUTSIDE_ROWS = 18


def test_the_number_of_rows_and_windows_is_pinned() -> None:
    """The table does not grow by accident."""
    assert len(MACHINE.table) == ROWS
    assert sum(row.on in OUTSIDE_INPUTS for row in MACHINE.table) == OUTSIDE_ROWS
    assert tuple(WINDOWS) == tuple(Window)
    assert len(WINDOWS) == 21


def test_no_row_is_dead() -> None:
    """Every row fires on some reachable edge; one that never does would only seem to decide."""
    fired = {id(edge.decision.row) for edge in explore().edges}
    assert [row.label for row in MACHINE.table if id(row) not in fired] == []


def test_every_command_and_every_move_is_used() -> None:
    """What can be asked of the runtime, and what a small machine can do, happens somewhere."""
    edges = explore().edges
    assert {command for edge in edges for command in edge.commands} == set(Command)
    moves = {move for edge in edges for move in edge.decision.row.moves}
    assert moves == {move for region in REGIONS.values() for move in region}


@pytest.mark.clause("B-132")
@pytest.mark.parametrize("outside", OUTSIDE_INPUTS)
def test_the_last_row_of_an_input_from_outside_is_unguarded(outside: Input) -> None:
    """An input from outside cannot be undeclared, because its last row holds everywhere."""
    last = [row for row in MACHINE.table if row.on is outside][-1]
    assert last.where == tuple(Window)
    assert last.when.name == "always"


def test_labels_tell_rows_apart() -> None:
    """A story that names a row names one row."""
    labels = [row.label for row in MACHINE.table]
    assert sorted(labels) == sorted(set(labels))


@pytest.mark.parametrize("row", MACHINE.table, ids=lambda row: row.label)
def test_every_row_cites_clauses_that_exist(row: Row) -> None:
    """Nothing is declared without a sentence that asks for it."""
    assert row.clauses
    assert [clause(each).id for each in row.clauses] == list(row.clauses)


@pytest.mark.parametrize("window", Window)
def test_every_window_has_a_story_and_cites_clauses_that_exist(window: Window) -> None:
    """A window is there because a clause needs a place for an input to land."""
    record = WINDOWS[window]
    assert record.story.endswith(".")
    assert record.clauses
    assert [clause(each).id for each in record.clauses] == list(record.clauses)


@pytest.mark.clause("B-118", "B-117")
def test_a_stop_closes_the_stream_at_once_and_leaves_everybody_else_the_grace() -> None:
    """A window in which foreign code is awaited says how it is cut, and no other does."""
    awaited = {
        Window.PROMPTS, Window.ASSEMBLY, Window.PRE_STEP, Window.REQUEST, Window.STREAM,
        Window.RESULT, Window.CHECKPOINT, Window.TOOL_CALL, Window.TOOL_BODY, Window.CONTINUATION,
        Window.FLUSH,
    }  # fmt: skip
    assert {window for window in Window if WINDOWS[window].patience is not None} == awaited
    hasty = {window for window in Window if WINDOWS[window].patience is Patience.NONE}
    assert hasty == {Window.STREAM}


@pytest.mark.clause("B-11", "B-22", "B-23")
@pytest.mark.parametrize("window", [Window.PROMPTS, Window.RESULT])
def test_a_visit_that_records_what_it_has_is_never_cut(window: Window) -> None:
    """Prompts and a finished reply are recorded, stop or no stop."""
    assert [row for row in MACHINE.table if row.on is Input.CUT and window in row.where] == []


@pytest.mark.parametrize("window", Window)
def test_the_turn_goes_down_the_list_of_windows(window: Window) -> None:
    """The declared leads of a window go on in time; only another call goes back."""
    order = tuple(Window)
    record = WINDOWS[window]
    later = [*record.leads.values(), *([record.falls_to] if record.falls_to else [])]
    back = {Window.TOOL_CALL} if window in (Window.TOOL_CALL, Window.TOOL_BODY) else set[Window]()
    assert all(order.index(each) > order.index(window) or each in back for each in later)


@pytest.mark.clause("B-103")
def test_a_cancel_has_a_turn_from_its_announcement_until_it_is_closed() -> None:
    """A turn can be cancelled before it is open, and no more once its end is in the log."""
    assert set(TURN_WINDOWS) - set(OPEN_WINDOWS) == {Window.ANNOUNCE_RUNNING}
    assert Window.TURN_END not in TURN_WINDOWS
    assert OPEN_WINDOWS[0] is Window.TURN_START
    assert OPEN_WINDOWS[-1] is Window.CLOSING
