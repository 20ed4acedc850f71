"""The graph of a machine: every shape that it reaches and every edge between them."""

from collections.abc import Callable, Iterator

from attrs import field, frozen

from statemachine.commands import Input
from statemachine.machine import MACHINE, IllegalMoveError, Machine, RefusedInputError
from statemachine.properties import Attempt, Edge
from statemachine.shape import Shape

__all__ = ["Exploration", "Progress", "explore"]

Progress = Callable[[int, int], None]
"""Told how many shapes were visited of how many that were found."""


@frozen(kw_only=True)
class Exploration:
    """The graph of a machine."""

    machine: Machine
    shapes: tuple[Shape, ...]
    """In the order in which they were found, so nearest first."""
    edges: tuple[Edge, ...]
    refused: tuple[Attempt, ...]
    """Outcomes that the driver cannot have there."""
    illegal: tuple[Attempt, ...]
    """Rows that asked a small machine for a move which it does not have."""
    parents: dict[Shape, Edge | None] = field(repr=False)
    leaving: dict[Shape, tuple[Edge, ...]] = field(repr=False)

    def path_to(self, shape: Shape) -> tuple[Edge, ...]:
        """Return a shortest run from the initial shape to `shape`."""
        steps: list[Edge] = []
        edge = self.parents[shape]
        while edge is not None:
            steps.append(edge)
            edge = self.parents[edge.before]
        return tuple(reversed(steps))


def explore(machine: Machine = MACHINE, *, progress: Progress | None = None) -> Exploration:
    """Visit every shape that the machine can reach, by every input.

    Clauses: B-132
    """
    found: list[Shape] = [machine.initial]
    parents: dict[Shape, Edge | None] = {machine.initial: None}
    leaving: dict[Shape, tuple[Edge, ...]] = {}
    refused: list[Attempt] = []
    illegal: list[Attempt] = []
    for visited, shape in enumerate(found):
        leaving[shape] = tuple(_accepted(machine, shape, refused, illegal))
        for edge in leaving[shape]:
            if edge.after not in parents:
                parents[edge.after] = edge
                found.append(edge.after)
        if progress is not None:
            progress(visited + 1, len(found))
    return Exploration(
        machine=machine,
        shapes=tuple(found),
        edges=tuple(edge for shape in found for edge in leaving[shape]),
        refused=tuple(refused),
        illegal=tuple(illegal),
        parents=parents,
        leaving=leaving,
    )


def _accepted(
    machine: Machine, shape: Shape, refused: list[Attempt], illegal: list[Attempt]
) -> Iterator[Edge]:
    """Post every input to one shape."""
    for posted in Input:
        try:
            decision = machine.decide(shape, posted)
        except RefusedInputError as error:
            refused.append(Attempt(before=shape, input=posted, why=str(error)))
        except IllegalMoveError as error:
            illegal.append(Attempt(before=shape, input=posted, why=str(error)))
        else:
            yield Edge(before=shape, input=posted, decision=decision)
