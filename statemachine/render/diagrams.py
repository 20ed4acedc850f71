"""The diagrams: the three small machines, and the walk of the driver from window to window."""

from collections.abc import Iterable

from statemachine.commands import OUTSIDE_INPUTS, Input
from statemachine.explorer import Exploration
from statemachine.lifecycle import REGIONS
from statemachine.properties import Edge
from statemachine.shape import Status
from statemachine.windows import OPEN_WINDOWS, WINDOWS, Window

from .drawing import Arrow, ladder
from .markdown import page, section

__all__ = ["diagrams_page", "is_drivers", "status_drawing", "turn_drawing"]


# -- SVG -------------------------------------------------------------------------------------------


def turn_drawing(exploration: Exploration) -> str:
    """Return the walk through all windows as an SVG, what a stop leads to included."""
    found: dict[tuple[Window, Window, bool], set[Input]] = {}
    for edge in exploration.edges:
        if edge.is_moved:
            is_stop = edge.before.is_stopped or edge.input is Input.DISPOSE
            ends = edge.before.window, edge.after.window, is_stop
            found.setdefault(ends, set()).add(edge.input)
    arrows = (
        Arrow(
            before=before.name,
            after=after.name,
            words="" if is_stop else _told(inputs),
            is_dashed=is_stop,
        )
        for (before, after, is_stop), inputs in found.items()
    )
    return ladder(
        (window.name for window in Window),
        arrows,
        notes={window.name.name: window.record or "" for window in WINDOWS.values()},
        band=(OPEN_WINDOWS[0].name, OPEN_WINDOWS[-1].name, "turn open"),
        captions=("as long as nothing stops the turn", "once a cancel or a dispose is in effect"),
    )


def status_drawing() -> str:
    """Return the status machine as an SVG."""
    arrows = (
        Arrow(before=before.name, after=after.name, words=move.name)
        for move in REGIONS["status"]
        for before, after in move.changes
    )
    return ladder((status.name for status in Status), arrows)


def _told(inputs: Iterable[Input]) -> str:
    known = set(inputs)
    return ", ".join(each.value for each in Input if each in known)


# -- Mermaid ---------------------------------------------------------------------------------------
def diagrams_page(exploration: Exploration) -> str:
    """Return the page with every diagram."""
    sections: list[str] = []
    for region, moves in REGIONS.items():
        arrows: dict[tuple[str, str], list[str]] = {}
        for move in moves:
            for before, after in move.changes:
                arrows.setdefault((before.name, after.name), []).append(move.name)
        sections += section(f"The {region} machine", _mermaid(arrows))
    walk = _walk(exploration, is_stopped=False)
    unwinding = _walk(exploration, is_stopped=True)
    return page(
        "Diagrams",
        "The three small machines, and the walk of the driver from window to window: what its "
        "visits lead to while nothing is wrong, and once a stop is in effect.",
        "",
        "![The walk through the windows](turn.svg)",
        "",
        "![The four statuses](status.svg)",
        *sections,
        *section("The walk of a running turn", _mermaid(walk)),
        *section("The walk of a stopped turn", _mermaid(unwinding)),
    )


def _walk(exploration: Exploration, *, is_stopped: bool) -> dict[tuple[str, str], list[str]]:
    """Return the driver's arrows between windows, in time order, with their outcomes."""
    found: dict[tuple[Window, Window], set[Input]] = {}
    for edge in exploration.edges:
        if is_drivers(edge) and edge.is_moved and edge.before.is_stopped is is_stopped:
            found.setdefault((edge.before.window, edge.after.window), set()).add(edge.input)
    order = tuple(Window)
    return {
        (before.name, after.name): [each.value for each in Input if each in inputs]
        for (before, after), inputs in sorted(
            found.items(), key=lambda item: [order.index(window) for window in item[0]]
        )
    }


def _mermaid(arrows: dict[tuple[str, str], list[str]]) -> list[str]:
    lines = [
        f"    {before} --> {after}: {', '.join(names)}" for (before, after), names in arrows.items()
    ]
    return ["```mermaid", "stateDiagram-v2", *lines, "```"]


def is_drivers(edge: Edge) -> bool:
    """Whether the driver made this step, and nobody from outside."""
    return edge.input not in OUTSIDE_INPUTS
