"""Refinement: what the runtime did is what the machine decided, and its data say so too.

Theory. A runtime that is driven by our machine tells every decision through a probe: its cell, the
shape before, the input, the decision. Here each decision is asked again of the machine as declared,
the shapes of a cell have to form one chain, and what the cell holds - its FIFOs, its log, its
signal, what it announced - has to be what the shape says. At rest the shape has to be at rest, so
that a step that was forgotten is a failure and not a pause.

Each decision is told before its commands are obeyed: the data are compared with the shape that the
decision found, and once more whenever control is outside of the runtime.

This module knows nothing of the runtime. Whoever brings a subject also brings
`project(cell) -> Projection`; a subject may carry it as its method `project`.

It judges the runtime and not the declaration, which both share.
"""

from collections.abc import Callable
from typing import Any, Final, Protocol, runtime_checkable

from attrs import define, field, frozen

from statemachine.commands import OUTSIDE_INPUTS, Input
from statemachine.machine import MACHINE, Decision, Machine, Refusal
from statemachine.shape import Inbox, Marker, Shape, Status
from statemachine.windows import REST_WINDOWS, TURN_WINDOWS, Window

from .story import Violation

__all__ = ["Projection", "Projects", "Refinement"]

_STEP_WINDOWS: Final = frozenset(
    {
        Window.STEP_START,
        Window.REQUEST,
        Window.STREAM,
        Window.RESULT,
        Window.CHECKPOINT,
        Window.TOOL_CALL,
        Window.TOOL_BODY,
    }
)
_TURN_WINDOWS: Final = frozenset(TURN_WINDOWS)


@frozen(kw_only=True)
class Projection:
    """The data of a cell that its shape speaks about."""

    agent: str
    shape: Shape
    holding: Inbox
    """What the FIFOs hold."""
    has_open_turn: bool
    has_open_step: bool
    is_unopened: bool
    """Whether `turn/start` was refused by the log."""
    is_aborted: bool
    """Whether the abort signal of the present turn has fired."""
    announced: Status
    """The last status that was put in the outbox, `idle` if none was."""
    waiters: int
    """How many waiters have not been released."""
    has_driver: bool


Project = Callable[[Any], Projection]


@runtime_checkable
class Projects(Protocol):
    """A subject that brings its own projection."""

    def project(self, cell: Any) -> Projection:  # noqa: ANN401  # the runtime's own cell
        """Return what the cell holds."""
        ...


@define(eq=False)
class _Chain:
    """The decisions of one cell."""

    cell: Any
    last: Shape
    is_new: bool = False
    """Whether anything was decided since the data were last compared."""


@define(eq=False)
class Refinement:
    """Watches every decision of one subject.

    Attributes:
        points: How often each outside input was met in each window.
        decisions: How many decisions were watched.
    """

    project: Project
    machine: Machine = MACHINE
    points: dict[tuple[str, str], int] = field(factory=dict)
    decisions: int = 0
    on_violation: Callable[[Violation], None] | None = None
    verified: dict[int, tuple[Decision, Shape]] = field(factory=dict)
    """Decisions that fresh machines were asked about, by identity; may be shared between runs."""
    _chains: dict[int, _Chain] = field(factory=dict)
    _by_agent: dict[str, _Chain] = field(factory=dict)

    def observe(self, cell: object, before: Shape, input: Input, decision: Decision) -> None:
        """Judge one decision; called by the runtime, which must not see what is raised."""
        try:
            self._judge(cell, before, input, decision)
        except Violation as violation:
            if self.on_violation is None:
                raise
            self.on_violation(violation)

    def _judge(self, cell: object, before: Shape, input: Input, decision: Decision) -> None:
        self.decisions += 1
        if input in OUTSIDE_INPUTS:
            key = (before.window.value, input.value)
            self.points[key] = self.points.get(key, 0) + 1
        known = self.verified.get(id(decision))
        if known is None or known[1] is not before:
            self._verify(before, input, decision)
            self.verified[id(decision)] = (decision, before)
        projection = self.project(cell)
        chain = self._chains.get(id(cell))
        if chain is None:
            chain = self._chains[id(cell)] = _Chain(cell, Shape())
            self._by_agent[projection.agent] = chain
        last, chain.last, chain.is_new = chain.last, decision.shape, True
        if before is not last and before != last:
            raise Violation(
                "refinement",
                "A-56 B-133",
                f"{input} is decided on the shape that the last decision left: {last}",
                str(before),
            )
        judge_projection(projection, before)

    def _verify(self, before: Shape, input: Input, decision: Decision) -> None:
        """Ask fresh machines for this decision."""
        answer = self.machine.fire(self.machine.intern(before), input)
        if isinstance(answer, Refusal):
            raise Violation("refinement", "B-132", "an input that the window lists", answer.why)
        if (answer.shape, answer.commands) != (decision.shape, decision.commands):
            raise Violation(
                "refinement",
                "B-133",
                f"{input} in {before} leads to {answer.shape}: {_listed(answer)}",
                f"{decision.shape}: {_listed(decision)}",
            )

    def look(self) -> None:
        """Compare what the cells hold with their shapes, at a moment when control is outside.

        Raises:
            Violation: they differ.
        """
        for chain in self._by_agent.values():
            if chain.is_new:
                chain.is_new = False
                projection = self.project(chain.cell)
                judge_projection(projection, projection.shape)

    def at_rest(self, *, is_silent: bool = False) -> None:
        """Judge the instant at which nothing is left to do: every cell is at rest.

        In silence a cell that runs, stopped by nobody, may wait for an answer for ever.

        Raises:
            Violation: one still owes a step.
        """
        for chain in self._chains.values():
            projection = self.project(chain.cell)
            shape = projection.shape
            if is_silent and shape.status is Status.RUNNING:
                continue
            if shape.window not in REST_WINDOWS or projection.has_driver:
                raise Violation(
                    "refinement",
                    "A-77 B-135 C-04",
                    "at rest every agent is parked or has exited, and has no task",
                    f"{projection.agent} is {shape}, driver: {projection.has_driver}",
                )
            if projection.waiters:
                seen = f"{projection.agent} is {shape} with {projection.waiters} waiters"
                raise Violation("INV-08", "A-80", "nobody waits for an agent at rest", seen)

    def is_quiescent(self, agent: str) -> bool:
        """Whether the machine says that a new waiter of that agent has nothing to wait for."""
        chain = self._by_agent.get(agent)
        return chain is None or chain.last.is_quiescent


def _listed(decision: Decision) -> str:
    return " ".join(command.value for command in decision.commands) or "no command"


def judge_projection(cell: Projection, shape: Shape) -> None:
    """Compare what a cell holds with what a shape says.

    Raises:
        Violation: they differ.
    """
    if cell.holding is not shape.inbox:
        _differs(
            "INV-03",
            "C-01 C-16",
            cell.agent,
            shape,
            f"the inbox is {shape.inbox}",
            cell.holding.value,
        )
    if cell.has_open_turn != shape.is_turn_open and not cell.is_unopened:
        _differs(
            "INV-06",
            "B-130",
            cell.agent,
            shape,
            f"open turn: {shape.is_turn_open}",
            cell.has_open_turn,
        )
    if cell.has_open_step != (shape.window in _STEP_WINDOWS):
        expected = f"open step: {shape.window in _STEP_WINDOWS}"
        _differs("INV-06", "B-130", cell.agent, shape, expected, cell.has_open_step)
    if shape.window in _TURN_WINDOWS and cell.is_aborted != shape.is_stopped:
        _differs(
            "INV-05",
            "B-114 B-115",
            cell.agent,
            shape,
            f"aborted: {shape.is_stopped}",
            cell.is_aborted,
        )
    if cell.announced is not shape.status:
        _differs(
            "A-41", "A-40 A-42", cell.agent, shape, f"announced {shape.status}", cell.announced
        )
    if shape.marker is Marker.ARMED and shape.status not in (Status.CANCELLED, Status.DISPOSED):
        _differs(
            "INV-04",
            "B-104",
            cell.agent,
            shape,
            "armed only while cancelled or disposed",
            shape.status,
        )
    if shape.window in REST_WINDOWS and cell.waiters:
        _differs("INV-08", "A-65 A-80", cell.agent, shape, "no waiters", cell.waiters)


def _differs(  # noqa: PLR0913, PLR0917  # a sentence has that many parts
    invariant: str, clauses: str, agent: str, shape: Shape, expected: str, seen: object
) -> None:
    raise Violation(invariant, clauses, f"{agent}, {shape}: {expected}", str(seen))
