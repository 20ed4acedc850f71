"""The declaration as pages for readers: tables and diagrams of `specs/generated`.

Everything here is computed from the declaration and from what the explorer found, so a page cannot
say anything else than the machine does. `stale` compares; only `python -m statemachine render`
writes.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from .commands import OUTSIDE_INPUTS, Input
from .explorer import Exploration
from .labelled import LABELLED_CLAIMS, Labelled
from .lifecycle import REGIONS, Row
from .properties import EVENTUALITIES, PROPERTIES, Always, Edge, Eventually, Property, Sometimes
from .shape import Inbox, Status
from .windows import WINDOWS, Window
from .worlds import Row as WorldRow
from .worlds.connection import TABLE as CONNECTION_TABLE
from .worlds.connection import connection_claims
from .worlds.jobs import TABLE as JOB_TABLE
from .worlds.jobs import job_claims
from .worlds.store import TABLE as STORE_TABLE
from .worlds.store import store_claims

__all__ = ["GENERATED", "NotACheckoutError", "generated_folder", "pages", "stale", "write"]

GENERATED: Final = "specs/generated"
_NOTE: Final = "*Written by `python -m statemachine render`. Do not edit.*"


class NotACheckoutError(RuntimeError):
    """The package does not stand in a checkout, so there is nowhere to write to."""


def generated_folder() -> Path:
    """Return the folder of generated pages of the checkout that this package stands in.

    Raises:
        NotACheckoutError: this is an installed package.
    """
    root = Path(__file__).resolve().parent.parent
    if not (root / "pyproject.toml").is_file() or not (root / "specs").is_dir():
        raise NotACheckoutError(
            f"{root} is no checkout of the project: there is no pyproject.toml beside a folder "
            "specs. Run this from a clone."
        )
    return root / GENERATED


def pages(exploration: Exploration, labelled: Labelled) -> dict[str, str]:
    """Return every generated page by its file name."""
    return {
        "lifecycle.md": _lifecycle_page(exploration, labelled),
        "diagrams.md": _diagrams_page(exploration),
        "what-a-cancel-does.md": _cancel_page(exploration),
        "properties.md": _properties_page(),
        "worlds.md": _worlds_page(),
    }


def stale(folder: Path, rendered: dict[str, str]) -> tuple[str, ...]:
    """Return the names of the pages that are missing or say something else."""
    return tuple(name for name, text in rendered.items() if _read(folder / name) != text)


def write(folder: Path, rendered: dict[str, str]) -> tuple[str, ...]:
    """Write the pages that are stale and return their names."""
    changed = stale(folder, rendered)
    folder.mkdir(parents=True, exist_ok=True)
    for name in changed:
        (folder / name).write_text(rendered[name], encoding="utf-8")
    return changed


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


# -- The table -------------------------------------------------------------------------------------


def _lifecycle_page(exploration: Exploration, labelled: Labelled) -> str:
    counts = {
        "windows": len(WINDOWS),
        "rows": len(exploration.machine.table),
        "reachable shapes": len(exploration.shapes),
        "accepted pairs of shape and input": len(exploration.edges),
        "refused pairs": len(exploration.refused),
        f"states with up to {labelled.bound} labelled messages": labelled.states,
    }
    windows = [
        (
            window.name.name,
            window.story,
            _words(f"{on.value} > {to.name}" for on, to in window.leads.items()),
            window.falls_to.name if window.falls_to else "",
            window.patience.value if window.patience else "",
            f"`{window.record}`" if window.record else "",
            _words(window.points, "; "),
            _words(window.clauses),
        )
        for window in WINDOWS.values()
    ]
    columns = ("window", "story", "leads", "falls to", "patience", "record", "points", "clauses")
    return _page(
        "The lifecycle, row by row",
        "For an input in a window, the first row of the table whose guard holds fires. A pair of "
        "window and outcome that no row lists is refused.",
        *_section("Counts", _table(("what", "how many"), ((k, str(v)) for k, v in counts.items()))),
        *_section("Windows, in time order", _table(columns, windows)),
        *_section("Rows", _table(_ROW_COLUMNS, map(_row_cells, exploration.machine.table))),
    )


_ROW_COLUMNS: Final = ("input", "where", "when", "to", "moves", "sets", "commands", "clauses")


def _row_cells(row: Row) -> tuple[str, ...]:
    return (
        row.on.name,
        _places(row.where),
        "" if row.when.name == "always" else row.when.name.replace("_", " "),
        row.to.name if row.to else "",
        _words(f"{move.region}.{move.name}" for move in row.moves),
        _words((f"{name} = {_value(value)}" for name, value in row.sets), ", "),
        _words(command.name for command in row.commands),
        _words(row.clauses),
    )


def _places(where: tuple[Window, ...]) -> str:
    order = tuple(Window)
    if where == order:
        return "everywhere"
    first = order.index(where[0])
    if len(where) > 2 and order[first : first + len(where)] == where:
        return f"{where[0].name} to {where[-1].name}"
    return _words(window.name for window in where)


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# -- The diagrams ----------------------------------------------------------------------------------


def _diagrams_page(exploration: Exploration) -> str:
    sections: list[str] = []
    for region, moves in REGIONS.items():
        arrows: dict[tuple[str, str], list[str]] = {}
        for move in moves:
            for before, after in move.changes:
                arrows.setdefault((before.name, after.name), []).append(move.name)
        sections += _section(f"The {region} machine", _mermaid(arrows))
    walk = _walk(exploration, is_stopped=False)
    unwinding = _walk(exploration, is_stopped=True)
    return _page(
        "Diagrams",
        "The three small machines, and the walk of the driver from window to window: what its "
        "visits lead to while nothing is wrong, and once a stop is in effect.",
        *sections,
        *_section("The walk of a running turn", _mermaid(walk)),
        *_section("The walk of a stopped turn", _mermaid(unwinding)),
    )


def _walk(exploration: Exploration, *, is_stopped: bool) -> dict[tuple[str, str], list[str]]:
    """Return the driver's arrows between windows, in time order, with their outcomes."""
    found: dict[tuple[Window, Window], set[Input]] = {}
    for edge in exploration.edges:
        if _is_drivers(edge) and edge.is_moved and edge.before.is_stopped is is_stopped:
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


def _is_drivers(edge: Edge) -> bool:
    return edge.input not in OUTSIDE_INPUTS


# -- What a stop does ------------------------------------------------------------------------------


def _cancel_page(exploration: Exploration) -> str:
    sections: list[str] = []
    columns = ("call", "while", "inbox", "status after", "asks for", "then the driver goes to")
    for window in Window:
        rows = [
            (call.value, *cells)
            for call in (Input.CANCEL, Input.DISPOSE)
            for cells in _effects(exploration, window, call)
        ]
        sections += _section(window.name, [WINDOWS[window].story, "", *_table(columns, rows)])
    return _page(
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
            _words(command.name for command in edge.commands) or "nothing",
        )
        goes = groups.setdefault(key, set())
        goes.update(
            step.after.window
            for step in exploration.leaving[edge.after]
            if _is_drivers(step) and step.is_moved
        )
    for status, asked in dict.fromkeys((key[0], key[2:]) for key in groups):
        keys = [key for key in groups if (key[0], key[2:]) == (status, asked)]
        inbox = " or ".join(sorted({key[1] for key in keys}))
        windows = set[Window]().union(*(groups[key] for key in keys))
        goes_to = _words((each.name for each in Window if each in windows), ", ")
        waiting.setdefault((status, inbox, *asked), set()).add(goes_to)
    order = [status.value for status in Status]
    for key in sorted(waiting, key=lambda each: (order.index(each[0]), *each[1:])):
        yield (*key, _words(sorted(waiting[key]), "; ") or "nowhere")


# -- The properties --------------------------------------------------------------------------------


def _properties_page() -> str:
    columns = ("name", "claim", "clauses", "invariant")
    premises = [
        (claim.name, _words((part.text for part in claim.premise), "; ")) for claim in EVENTUALITIES
    ]
    kinds = (("Always", Always), ("Sometimes", Sometimes), ("Eventually", Eventually))
    sections = [
        line
        for title, kind in kinds
        for line in _section(
            title,
            _table(columns, (_cells(claim) for claim in PROPERTIES if isinstance(claim, kind))),
        )
    ]
    return _page(
        "What is checked on every reachable shape",
        "*Always* holds on every edge, *sometimes* can happen, *eventually* must happen under its "
        "premise. Without any one part of its premise it is false, which is checked as well.",
        *sections,
        *_section("Premises", _table(("name", "premise"), premises)),
        *_section("Of messages, with labels", _table(columns, map(_cells, LABELLED_CLAIMS))),
    )


def _cells(claim: Property) -> tuple[str, ...]:
    name = f"`{claim.name}`"
    return (name, claim.statement, _words(claim.clauses), claim.invariant or "")


# -- The worlds ------------------------------------------------------------------------------------


def _worlds_page() -> str:
    worlds: tuple[tuple[str, Iterable[WorldRow[Any]], Iterable[Property]], ...] = (
        ("connection", CONNECTION_TABLE, connection_claims(slots=1)),
        ("job", JOB_TABLE, job_claims(slots=1)),
        ("store", STORE_TABLE, store_claims()),
    )
    sections: list[str] = []
    for name, rows, claims in worlds:
        sections += _section(
            f"The {name} world: what can happen", _table(_STEPS, map(_step_cells, rows))
        )
        columns = ("kind", "name", "claim", "clauses", "invariant")
        cells = ((claim.kind.value, *_cells(claim)) for claim in claims)
        sections += _section(f"The {name} world: what is claimed", _table(columns, cells))
    return _page(
        "What surrounds an agent, row by row",
        "Of the rows of one event the first whose guards all hold answers: it makes its moves, or "
        "refuses the call. What the outside does nobody promises; everything else happens in the "
        "end, and no task runs while a stretch stands.",
        *sections,
    )


_STEPS: Final = ("event", "by", "when", "moves", "refused because", "clauses")


def _step_cells(row: WorldRow[Any]) -> tuple[str, ...]:
    return (
        row.on.name,
        row.on.actor.value,
        _plain((guard.name for guard in row.when), ", "),
        _plain((move.name for move in row.does), ", "),
        row.refuses or "",
        _words(row.clauses),
    )


def _plain(names: Iterable[str], separator: str) -> str:
    return separator.join(name.strip("_").replace("_", " ") for name in names)


# -- Markdown --------------------------------------------------------------------------------------


def _page(title: str, lead: str, *lines: str) -> str:
    return "\n".join([f"# {title}", "", _NOTE, "", lead, *lines]) + "\n"


def _section(title: str, lines: Iterable[str]) -> list[str]:
    return ["", f"## {title}", "", *lines]


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    head = list(columns)
    body = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return [_line(head), _line(["---"] * len(head)), *map(_line, body)]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _words(words: Iterable[str], separator: str = " ") -> str:
    return separator.join(words)
