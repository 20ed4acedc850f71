"""The pages that say what a call does, window by window."""

from collections.abc import Iterable
from typing import Final

from statemachine.commands import OUTSIDE_INPUTS, Command, Input
from statemachine.explorer import Exploration
from statemachine.lifecycle import Row
from statemachine.shape import Inbox, Status
from statemachine.windows import POINTS_ANYWHERE, WINDOWS, Window

from .diagrams import is_drivers
from .markdown import page, section, table, words

__all__ = ["cancel_page", "windows_page"]


# -- Every call ------------------------------------------------------------------------------------


def windows_page(exploration: Exploration) -> str:
    """Return the page with every window, its points, and what each call does there."""
    columns = ("windows", *(call.value for call in OUTSIDE_INPUTS))
    answers = [(_range(windows), *cells) for cells, windows in _alike(exploration)]
    meanings = [(f"`{command.value}`", meaning) for command, meaning in _MEANS.items()]
    windows = [
        (window.name.name, window.story, words(window.points, "<br>"), words(window.clauses))
        for window in WINDOWS.values()
    ]
    anywhere = [(point,) for point in POINTS_ANYWHERE]
    return page(
        "Every window, and what each call does there",
        "A window is a place where the driver hands control to somebody else, so that a call can "
        "land there. *Points* are the places inside a window where a listener or a plugin gets "
        "control; what a call does at a point is the answer of its window.",
        *section(
            "What each call does",
            [
                "Of several answers in a cell the first whose condition holds is given. Windows in "
                "which every call is answered alike share a line.",
                "",
                *table(columns, answers),
                "",
                "What the words mean; they are done in their order, and announcements are "
                "delivered last:",
                "",
                *table(("word", "meaning"), meanings),
            ],
        ),
        *section(
            "Windows and their points, in time order",
            table(("window", "story", "points", "clauses"), windows),
        ),
        *section(
            "Points that are the answer of whichever window the driver is in",
            table(("point",), anywhere),
        ),
    )


_MEANS: Final = {
    Command.REFUSE: "the call raises, and nothing has changed",
    Command.QUEUE: "the message waits for the next turn",
    Command.STEER: "the message waits for the next step of this turn",
    Command.WAKE: "a driver is started",
    Command.JOIN: "the context is recorded in the open turn",
    Command.ONE_SHOT: "the context is recorded as a turn of its own, without a model",
    Command.ANNOUNCE: "the new status is announced",
    Command.DISCARD: "whatever waits in the inbox is dropped, and announced as discarded",
    Command.ABORT: "the turn's abort signal fires",
    Command.BOUND: "the flush that is awaited gets a grace",
    Command.RELEASE: "everybody who waits in `when_idle` is released",
}


def _alike(exploration: Exploration) -> list[tuple[tuple[str, ...], list[Window]]]:
    """Group the windows by what every call does there."""
    fired: dict[tuple[Window, Input], set[Row]] = {}
    for edge in exploration.edges:
        fired.setdefault((edge.before.window, edge.input), set()).add(edge.decision.row)
    order = exploration.machine.table
    groups: dict[tuple[str, ...], list[Window]] = {}
    for window in Window:
        cells = tuple(
            _answers([row for row in order if row in fired.get((window, call), ())])
            for call in OUTSIDE_INPUTS
        )
        groups.setdefault(cells, []).append(window)
    return list(groups.items())


def _answers(rows: list[Row]) -> str:
    """Tell what rows do, first to last."""
    return words(map(_answer, rows), "<br>")


def _answer(row: Row) -> str:
    when = "" if row.when.name == "always" else f"{row.when.name.replace('_', ' ')}: "
    status = {"cancel": "`cancelled`, ", "end": "`disposed`, "}
    moves = words((status.get(move.name, "") for move in row.moves), "")
    commands = words((command.value for command in row.commands), ", ") or "nothing"
    return f"{when}{moves}{commands}"


def _range(windows: list[Window]) -> str:
    order = tuple(Window)
    first = order.index(windows[0])
    if len(windows) > 1 and order[first : first + len(windows)] == tuple(windows):
        return f"{windows[0].name} to {windows[-1].name}"
    return words((window.name for window in windows), ", ")


# -- A cancel and a dispose, in detail -------------------------------------------------------------
def cancel_page(exploration: Exploration) -> str:
    """Return the page about a cancel and a dispose, window by window and status by status."""
    sections: list[str] = []
    columns = ("call", "while", "inbox", "status after", "asks for", "then the driver goes to")
    for window in Window:
        rows = [
            (call.value, *cells)
            for call in (Input.CANCEL, Input.DISPOSE)
            for cells in _effects(exploration, window, call)
        ]
        sections += section(window.name, [WINDOWS[window].story, "", *table(columns, rows)])
    return page(
        "What a cancel does, and what a dispose does",
        "Window by window, over every reachable shape. Shapes in which the call does the same are "
        "one line. The last column says where the visit that is under way, or the next one, leads.",
        *sections,
    )


def _effects(
    exploration: Exploration, window: Window, call: Input
) -> Iterable[tuple[str, str, str, str, str]]:
    """Return what `call` does in `window`, one line for all shapes in which it does the same."""
    groups: dict[tuple[str, str, str, str], set[Window]] = {}
    waiting: dict[tuple[str, str, str, str], set[str]] = {}
    for edge in exploration.edges:
        if edge.before.window is not window or edge.input is not call:
            continue
        is_unchanged = edge.before.status is edge.after.status
        key = (
            edge.before.status.value,
            "something" if edge.before.inbox is not Inbox.EMPTY else "nothing",
            "unchanged" if is_unchanged else edge.after.status.value,
            words(command.name for command in edge.commands) or "nothing",
        )
        goes = groups.setdefault(key, set())
        goes.update(
            step.after.window
            for step in exploration.leaving[edge.after]
            if is_drivers(step) and step.is_moved
        )
    for status, asked in dict.fromkeys((key[0], key[2:]) for key in groups):
        keys = [key for key in groups if (key[0], key[2:]) == (status, asked)]
        inbox = " or ".join(sorted({key[1] for key in keys}))
        windows = set[Window]().union(*(groups[key] for key in keys))
        goes_to = words((each.name for each in Window if each in windows), ", ")
        waiting.setdefault((status, inbox, *asked), set()).add(goes_to)
    order = [status.value for status in Status]
    for key in sorted(waiting, key=lambda each: (order.index(each[0]), *each[1:])):
        yield (*key, words(sorted(waiting[key]), "; ") or "nowhere")
