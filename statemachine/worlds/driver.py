"""The machine as its surroundings see it: four places instead of some hundred shapes.

A world does not care what an agent's turn is doing, only whether there is one, and whether its
driver has exited. So it carries the shape's picture under `seen_as`. That this picture moves as the
machine does is not believed but checked, on every edge that the explorer found.
"""

from enum import StrEnum
from typing import Final

from statemachine.commands import OUTSIDE_INPUTS, Input
from statemachine.explorer import Exploration, Verdict
from statemachine.properties import Edge, Property
from statemachine.shape import Shape, Status
from statemachine.windows import Window

__all__ = ["MOVES", "OWN", "Driver", "check_driver", "seen_as"]


class Driver(StrEnum):
    """Where an agent's driver is, as far as its surroundings can tell."""

    NONE = "none"
    """There is no agent."""
    PARKED = "parked"
    BUSY = "busy"
    UNWINDING = "unwinding"
    """Disposed, and the driver has not exited."""
    EXITED = "exited"


OWN: Final = None
"""In `MOVES`: what the driver does by itself."""

MOVES: Final[dict[tuple[Input | None, Driver], Driver]] = {
    (Input.SEND, Driver.PARKED): Driver.BUSY,
    (Input.STEER, Driver.PARKED): Driver.BUSY,
    (OWN, Driver.BUSY): Driver.PARKED,
    (Input.DISPOSE, Driver.PARKED): Driver.EXITED,
    (Input.DISPOSE, Driver.BUSY): Driver.UNWINDING,
    (OWN, Driver.UNWINDING): Driver.EXITED,
}
"""Every change of the picture, by who makes it; anything else leaves it as it is."""


def seen_as(shape: Shape) -> Driver:
    """Return what the surroundings of an agent of this shape can tell of its driver."""
    if shape.window is Window.EXITED:
        return Driver.EXITED
    if shape.status is Status.DISPOSED:
        return Driver.UNWINDING
    return Driver.PARKED if shape.window is Window.PARKED else Driver.BUSY


def check_driver(exploration: Exploration) -> Verdict:
    """Return the verdict that the worlds drive an agent exactly as the machine does."""
    claim = Property(
        name="the_worlds_drive_as_the_machine",
        clauses=("B-38", "B-39"),
        invariant="INV-12",
        statement="Seen from outside, the machine makes the moves of the worlds and no others.",
    )
    made = {_seen(edge) for edge in exploration.edges} - {None}
    listed = {(by, before, after) for (by, before), after in MOVES.items()}
    wrong = sorted(str(each) for each in made ^ listed)
    why = f"only one of the two moves so: {'; '.join(wrong)}" if wrong else None
    return Verdict(claim=claim, holds=not wrong, explored=len(exploration.edges), why=why)


def _seen(edge: Edge) -> tuple[Input | None, Driver, Driver] | None:
    """Return what an edge looks like from outside, or None when nothing is to be seen."""
    before, after = seen_as(edge.before), seen_as(edge.after)
    if before is after:
        return None
    return (edge.input if edge.input in OUTSIDE_INPUTS else OWN, before, after)
