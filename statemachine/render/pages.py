"""Every page that is drawn from the declaration, by its file name."""

from collections.abc import Iterable
from typing import Any, Final

from statemachine.explorer import Exploration
from statemachine.labelled import LABELLED_CLAIMS, Labelled
from statemachine.lifecycle import Row
from statemachine.properties import (
    EVENTUALITIES,
    PROPERTIES,
    Always,
    Eventually,
    Property,
    Sometimes,
)
from statemachine.windows import WINDOWS, Window
from statemachine.worlds import Row as WorldRow
from statemachine.worlds.bridge import TABLE as BRIDGE_TABLE
from statemachine.worlds.bridge import bridge_claims
from statemachine.worlds.connection import TABLE as CONNECTION_TABLE
from statemachine.worlds.connection import connection_claims
from statemachine.worlds.jobs import TABLE as JOB_TABLE
from statemachine.worlds.jobs import job_claims
from statemachine.worlds.store import TABLE as STORE_TABLE
from statemachine.worlds.store import store_claims

from .diagrams import diagrams_page, status_drawing, turn_drawing
from .effects import cancel_page, windows_page
from .markdown import page, section, table, words
from .promela import promela

__all__ = ["declared_worlds", "pages"]


def pages(exploration: Exploration, labelled: Labelled) -> dict[str, str]:
    """Return every generated page by its file name."""
    return {
        "lifecycle.md": _lifecycle_page(exploration, labelled),
        "diagrams.md": diagrams_page(exploration),
        "status.svg": status_drawing(),
        "turn.svg": turn_drawing(exploration),
        "windows.md": windows_page(exploration),
        "what-a-cancel-does.md": cancel_page(exploration),
        "properties.md": _properties_page(),
        "worlds.md": _worlds_page(),
        "lifecycle.pml": promela(exploration.machine.table),
    }


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
            words(f"{on.value} > {to.name}" for on, to in window.leads.items()),
            window.falls_to.name if window.falls_to else "",
            window.patience.value if window.patience else "",
            f"`{window.record}`" if window.record else "",
            words(window.points, "; "),
            words(window.clauses),
        )
        for window in WINDOWS.values()
    ]
    columns = ("window", "story", "leads", "falls to", "patience", "record", "points", "clauses")
    return page(
        "The lifecycle, row by row",
        "For an input in a window, the first row of the table whose guard holds fires. A pair of "
        "window and outcome that no row lists is refused.",
        *section("Counts", table(("what", "how many"), ((k, str(v)) for k, v in counts.items()))),
        *section("Windows, in time order", table(columns, windows)),
        *section("Rows", table(_ROW_COLUMNS, map(_row_cells, exploration.machine.table))),
    )


_ROW_COLUMNS: Final = ("input", "where", "when", "to", "moves", "sets", "commands", "clauses")


def _row_cells(row: Row) -> tuple[str, ...]:
    return (
        row.on.name,
        _places(row.where),
        "" if row.when.name == "always" else row.when.name.replace("_", " "),
        row.to.name if row.to else "",
        words(f"{move.region}.{move.name}" for move in row.moves),
        words((f"{name} = {_value(value)}" for name, value in row.sets), ", "),
        words(command.name for command in row.commands),
        words(row.clauses),
    )


def _places(where: tuple[Window, ...]) -> str:
    order = tuple(Window)
    if where == order:
        return "everywhere"
    first = order.index(where[0])
    if len(where) > 2 and order[first : first + len(where)] == where:
        return f"{where[0].name} to {where[-1].name}"
    return words(window.name for window in where)


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# -- The properties --------------------------------------------------------------------------------


def _properties_page() -> str:
    columns = ("name", "claim", "clauses", "invariant")
    premises = [
        (claim.name, words((part.text for part in claim.premise), "; ")) for claim in EVENTUALITIES
    ]
    kinds = (("Always", Always), ("Sometimes", Sometimes), ("Eventually", Eventually))
    sections = [
        line
        for title, kind in kinds
        for line in section(
            title,
            table(columns, (_cells(claim) for claim in PROPERTIES if isinstance(claim, kind))),
        )
    ]
    return page(
        "What is checked on every reachable shape",
        "*Always* holds on every edge, *sometimes* can happen, *eventually* must happen under its "
        "premise. Without any one part of its premise it is false, which is checked as well.",
        *sections,
        *section("Premises", table(("name", "premise"), premises)),
        *section("Of messages, with labels", table(columns, map(_cells, LABELLED_CLAIMS))),
    )


def _cells(claim: Property) -> tuple[str, ...]:
    name = f"`{claim.name}`"
    return (name, claim.statement, words(claim.clauses), claim.invariant or "")


# -- The worlds ------------------------------------------------------------------------------------


def declared_worlds() -> tuple[tuple[str, tuple[WorldRow[Any], ...], tuple[Property, ...]], ...]:
    """Return every world: its name, what can happen in it, and what is claimed."""
    return (
        ("connection", CONNECTION_TABLE, connection_claims(slots=1)),
        ("job", JOB_TABLE, job_claims(slots=1)),
        ("store", STORE_TABLE, store_claims()),
        ("bridge", BRIDGE_TABLE, bridge_claims(sessions=1, prompts=1)),
    )


def _worlds_page() -> str:
    sections: list[str] = []
    for name, rows, claims in declared_worlds():
        sections += section(
            f"The {name} world: what can happen", table(_STEPS, map(_step_cells, rows))
        )
        columns = ("kind", "name", "claim", "clauses", "invariant")
        cells = ((claim.kind.value, *_cells(claim)) for claim in claims)
        sections += section(f"The {name} world: what is claimed", table(columns, cells))
    return page(
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
        words(row.clauses),
    )


def _plain(names: Iterable[str], separator: str) -> str:
    return separator.join(name.strip("_").replace("_", " ") for name in names)
