"""Gates: the only way in which code on the stage waits for the outside.

Theory. A model's chunk, a tool's end, a flush, a read of a pipe: each is one await whose moment and
outcome belong to somebody else. A gate makes both a decision of the test. It stands open to be
decided from the moment somebody waits at it until an outcome is chosen or its waiter is cancelled.
The wake-up after the choice goes through the loop like any other, so a gate adds no freedom that a
real completion would not have. A thing that hangs is a gate nobody opens; one declared without
outcomes can never be opened.
"""

import asyncio
from collections.abc import Callable

from attrs import define, field

__all__ = ["Gate", "Gates"]


@define(eq=False, kw_only=True)
class Gate:
    """One awaited thing of the outside.

    Attributes:
        name: What is awaited, for whoever decides and for the story.
        outcomes: What may come of it; the first is what happens when nobody interferes.
        value: What the waiter brought along, such as the prompt.
        number: Counts the gates of the same name, from 1, in the order in which they were made.
    """

    name: str
    outcomes: tuple[str, ...] = ("ok", "error")
    value: object = None
    number: int = 1
    _gates: "Gates"
    _chosen: asyncio.Future[str] | None = field(default=None, init=False)

    async def wait(self) -> str:
        """Wait until somebody chooses an outcome, and return it.

        Where the registry passes gates of this name by itself, returns the first outcome at once.
        """
        if self.outcomes and self._gates.passes(self.name):
            return self.outcomes[0]
        self._chosen = asyncio.get_running_loop().create_future()
        self._gates.arrive(self)
        try:
            return await self._chosen
        finally:
            self._gates.leave(self)

    @property
    def is_open(self) -> bool:
        """Whether somebody waits here and no outcome has been chosen.

        False as soon as the waiter is cancelled, also before it has run to notice.
        """
        return self._chosen is not None and not self._chosen.done()

    def choose(self, outcome: str) -> None:
        """Let the waiter go on with `outcome`.

        Raises:
            ValueError: the gate does not have this outcome, or nobody waits at it.
        """
        if outcome not in self.outcomes:
            message = f"gate {self} has no outcome {outcome!r}, only {', '.join(self.outcomes)}"
            raise ValueError(message)
        if self._chosen is None or self._chosen.done():
            message = f"nobody waits at gate {self}"
            raise ValueError(message)
        self._chosen.set_result(outcome)

    def __str__(self) -> str:
        return f"{self.name} #{self.number}"


@define(eq=False)
class Gates:
    """The gates at which somebody waits, in the order of arrival.

    Attributes:
        auto: Names for which this holds are passed at once with their first outcome.
    """

    auto: Callable[[str], bool] | None = None
    _waiting: dict[int, Gate] = field(factory=dict, init=False)
    _numbers: dict[str, int] = field(factory=dict, init=False)

    def create(
        self, name: str, *, outcomes: tuple[str, ...] = ("ok", "error"), value: object = None
    ) -> Gate:
        """Return a new gate; it is listed from the moment somebody waits at it."""
        number = self._numbers[name] = self._numbers.get(name, 0) + 1
        return Gate(name=name, outcomes=outcomes, value=value, number=number, gates=self)

    @property
    def open_gates(self) -> tuple[Gate, ...]:
        """The gates at which somebody waits, the one that has waited longest first."""
        return tuple(gate for gate in self._waiting.values() if gate.is_open)

    def open(self, gate: Gate, outcome: str) -> None:
        """Choose the outcome of one gate; its waiter becomes ready.

        Raises:
            ValueError: the gate does not have this outcome, or nobody waits at it.
        """
        gate.choose(outcome)
        self.leave(gate)

    def openings(self) -> int:
        """Count the pairs of an open gate and one of its outcomes."""
        if not self._waiting:
            return 0
        return sum(len(gate.outcomes) for gate in self._waiting.values() if gate.is_open)

    def passes(self, name: str) -> bool:
        """Whether gates of this name are passed without waiting."""
        return self.auto is not None and self.auto(name)

    def arrive(self, gate: Gate) -> None:
        """List a gate; called by the gate itself."""
        self._waiting[id(gate)] = gate

    def leave(self, gate: Gate) -> None:
        """Drop a gate from the list; called by the gate itself."""
        self._waiting.pop(id(gate), None)
