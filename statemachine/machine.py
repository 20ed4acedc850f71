"""The one function that moves an agent: `decide(shape, input) -> Decision`.

Four `transitions` machines execute the declaration. `driver`, whose states are the windows, picks
and fires the row; the row names the moves of the three small machines, each of which raises on a
move that its state does not allow. Every pair of shape and input is fired once; the answer is
remembered on the shape, refusals too, because guards read nothing but the shape.

The library is held at arm's length for reasons that each cost somebody a bug. No automatic
transitions: they would let anyone leave `disposed`. No callbacks: one that raises leaves the new
state behind. No queued mode, no registered models: both are shared by all agents. A `Transition`
subclass carries its row and hands it to the cell when it fires, which is the only hook and cannot
raise; without it nobody could say which row it was.
"""

from collections.abc import Iterable
from enum import Enum
from typing import Any, Final

from attrs import define, evolve, frozen
from transitions import EventData, MachineError, Transition
from transitions import Machine as LibraryMachine

from .commands import Command, Input
from .lifecycle import REGIONS, Move, Row
from .shape import Inbox, Marker, Shape, Status
from .table import TABLE
from .windows import Window

__all__ = [
    "MACHINE",
    "Answer",
    "Decision",
    "IllegalMoveError",
    "Machine",
    "Refusal",
    "RefusedInputError",
]


class RefusedInputError(AssertionError):
    """A driver posted an outcome that its window does not list: a bug of the driver.

    Clauses: B-132
    """


class IllegalMoveError(AssertionError):
    """A row asked a small machine for a move that its state does not allow: a bug of the table.

    Clauses: C-16 A-41
    """


@frozen(kw_only=True)
class Decision:
    """What one input did: the shape after it, what the runtime is asked to do, and by which row."""

    shape: Shape
    commands: tuple[Command, ...]
    row: Row


@frozen(kw_only=True)
class Refusal:
    """A remembered refusal."""

    shape: Shape
    input: Input
    why: str


Answer = Decision | Refusal


@define
class _Cell:
    """What a library machine moves: one state, and for the driver the row that fired."""

    state: Enum
    row: Row | None = None


class _RowTransition(Transition):
    """A transition that tells the cell which row it is."""

    def __init__(self, *arguments: Any, row: Row | None = None, **options: Any) -> None:  # noqa: ANN401  # passed on
        super().__init__(*arguments, **options)
        self.row = row

    def execute(self, event_data: EventData) -> bool:
        fired = bool(super().execute(event_data))
        if fired:
            cell: Any = event_data.model
            cell.row = self.row
        return fired


class _Library(LibraryMachine):
    """The library's machine with our transitions."""

    transition_cls = _RowTransition


_STATES: Final[dict[str, type[Enum]]] = {"status": Status, "inbox": Inbox, "marker": Marker}
_INITIAL: Final[dict[str, Enum]] = {
    "status": Status.IDLE, "inbox": Inbox.EMPTY, "marker": Marker.ABSENT,
}  # fmt: skip


def _library(states: type[Enum], initial: Enum) -> _Library:
    return _Library(
        model=None, states=states, initial=initial, auto_transitions=False, send_event=False
    )


class Machine:
    """The lifecycle, executed.

    Args:
        table: the rows, most special first. Tests plant faults by giving another table.

    One instance may serve any number of agents: it holds no agent's state, only answers.
    """

    def __init__(self, table: Iterable[Row] = TABLE) -> None:
        """Build the four library machines from the rows."""
        self.table = tuple(table)
        self._driver = self._build_driver()
        self._regions = {name: self._build_region(name, moves) for name, moves in REGIONS.items()}
        self._interned: dict[Shape, Shape] = {}
        self.initial = self.intern(Shape())

    def intern(self, shape: Shape) -> Shape:
        """Return this machine's one instance of an equal shape, which carries its answers."""
        known = self._interned.get(shape)
        if known is None:
            # A shape of another machine carries that machine's answers, so it is never taken over.
            known = self._interned[shape] = evolve(shape)
        return known

    def decide(self, shape: Shape, input: Input) -> Decision:
        """Return what `input` does to an agent of this shape.

        `shape` comes from this machine (`initial`, a decision, or `intern`).

        Raises:
            RefusedInputError: the input is an outcome that the window does not list.

        Clauses: B-132 B-133
        """
        answer = shape.answers.get(input)
        if answer is None:
            answer = shape.answers[input] = self.fire(shape, input)
        if type(answer) is Refusal:
            raise RefusedInputError(answer.why)
        return answer  # type: ignore[return-value]  # the other member of the union

    def fire(self, shape: Shape, input: Input) -> Answer:
        """Fire the library machines once and remember nothing.

        Raises:
            IllegalMoveError: the row that holds makes an illegal move.
        """
        cell = _Cell(shape.window)
        try:
            fired = self._driver.events[input.value].trigger(cell, shape)
        except (MachineError, KeyError):
            fired = False
        if not fired or cell.row is None:
            why = f"{input.value!r} is not an outcome of a visit in this shape: {shape}"
            return Refusal(shape=shape, input=input, why=why)
        changes: dict[str, Any] = {"window": cell.state, **dict(cell.row.sets)}
        for move in cell.row.moves:
            before = changes.get(move.region, getattr(shape, move.region))
            changes[move.region] = self._make(move, before, shape)
        after = self.intern(evolve(shape, **changes))
        return Decision(shape=after, commands=cell.row.commands, row=cell.row)

    def _make(self, move: Move, before: Enum, shape: Shape) -> Enum:
        cell = _Cell(before)
        try:
            self._regions[move.region].events[move.name].trigger(cell)
        except MachineError as error:
            raise IllegalMoveError(
                f"{move.region}.{move.name} is no move from {before.value!r}, in: {shape}"
            ) from error
        return cell.state

    def _build_driver(self) -> _Library:
        driver = _library(Window, Window.PARKED)
        for row in self.table:
            for window in row.where:
                driver.add_transition(row.on.value, window, row.to, conditions=[row.when], row=row)
        return driver

    def _build_region(self, name: str, moves: tuple[Move, ...]) -> _Library:
        region = _library(_STATES[name], _INITIAL[name])
        for move in moves:
            for before, after in move.changes:
                region.add_transition(move.name, before, after)
        return region


MACHINE = Machine()
"""The machine that the runtime runs and the explorer walks."""
