"""What a failure says: what was done, what was expected by which clause, what was seen.

A run writes down every act as the line of code that does it again, and beside it what was seen.
Nothing is rendered before somebody reads it, because most runs are read by nobody.
"""

from collections.abc import Sequence
from typing import Final

from attrs import define, field, frozen

from statemachine.clauses import UnknownClauseError, clause

__all__ = ["Broken", "Line", "Story", "Violation"]

_RECENT: Final = 60


class Violation(AssertionError):  # noqa: N818  # a verdict on the code under test
    """An invariant does not hold.

    Attributes:
        invariant: Its id, or the id of the clause where no invariant covers it.
        clauses: What says so.
    """

    def __init__(self, invariant: str, clauses: str, expected: str, seen: str) -> None:
        super().__init__(invariant, clauses, expected, seen)
        self.invariant = invariant
        self.clauses = tuple(clauses.split())
        self.expected = expected
        self.seen = seen

    def __str__(self) -> str:
        """Return the invariant, what was expected by which clauses, and what was seen."""
        cited = " ".join(self.clauses)
        return f"{self.invariant}: expected by {cited}: {self.expected}; seen: {self.seen}"


@frozen
class Line:
    """One thing that was done or seen."""

    text: str
    """What was done, as code; or what was seen, as words."""
    is_act: bool
    depth: int = 0
    """How many listeners and calls were under way."""


@define
class Story:
    """What happened in one run, in order."""

    lines: list[Line] = field(factory=list)
    base: int = 0
    """Added to every depth: 1 when what is done follows from something that was told."""

    def did(self, code: str, depth: int = 0) -> None:
        """Write down an act."""
        self.lines.append(Line(code, is_act=True, depth=depth + self.base))

    def saw(self, words: str, depth: int = 0) -> None:
        """Write down what was seen because of it."""
        self.lines.append(Line(words, is_act=False, depth=depth + self.base))

    @property
    def acts(self) -> int:
        """How many acts from outside there were."""
        return sum(line.is_act and line.depth == 0 for line in self.lines)

    @property
    def script(self) -> tuple[str, ...]:
        """The acts from outside, as lines of code that do them again."""
        return tuple(line.text for line in self.lines if line.is_act and line.depth == 0)

    def numbered(self) -> str:
        """Return the story as numbered lines, the last ones if there are very many."""
        told, number = [], 0
        for line in self.lines:
            if line.is_act and line.depth == 0:
                number += 1
                told.append(f"{number:3}. {line.text}")
            else:
                told.append(f"     {'  ' * line.depth}{'' if line.is_act else '- '}{line.text}")
        left_out = len(told) - _RECENT
        if left_out > 0:
            told = [f"     ... {left_out} lines before this", *told[left_out:]]
        return "\n".join(told)


class Broken(AssertionError):  # noqa: N818  # a verdict on the code under test
    """A run that broke an invariant, told.

    Attributes:
        violation: What does not hold.
        script: The lines of code that show it.
    """

    def __init__(
        self, violation: Violation, story: str, script: Sequence[str], replay: str = ""
    ) -> None:
        super().__init__(str(violation))
        self.violation = violation
        self.story = story
        self.script = tuple(script)
        self.replay = replay

    def __str__(self) -> str:
        """Return the story, the clauses in full, and how to see it again."""
        violation = self.violation
        lines = [
            f"{violation.invariant} is broken",
            self.story,
            f"expected: {violation.expected}",
            *(f"  {each}: {_sentence(each)}" for each in violation.clauses),
            f"seen: {violation.seen}",
        ]
        if self.replay:
            lines.append(f"replay: {self.replay}")
        return "\n".join(lines)


def _sentence(clause_id: str) -> str:
    try:
        return clause(clause_id).sentence
    except (UnknownClauseError, OSError):
        return "(not among the clauses)"
