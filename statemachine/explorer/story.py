"""A counterexample, told as a story: numbered steps that say only what changed."""

from attrs import frozen

from statemachine.properties import Edge

__all__ = ["Counterexample", "told"]

_COLUMNS = ("window", "status", "inbox", "marker", "ending", "failed", "wants_step")


@frozen(kw_only=True)
class Counterexample:
    """A run of the machine that breaks a claim, from its first shape on."""

    claim: str
    """What is broken, in a word or a sentence."""
    steps: tuple[str, ...]
    """What happened, one input each."""
    ends: str
    """What is wrong at its end."""
    loop_from: int | None = None
    """The number of the step from which on the run repeats itself."""

    @property
    def length(self) -> int:
        """Return how many inputs the run has."""
        return len(self.steps)

    def __str__(self) -> str:
        """Return the run as numbered lines that say only what changed."""
        lines = [f"{self.claim}:"]
        for number, step in enumerate(self.steps, start=1):
            if number == self.loop_from:
                lines.append("  and from here on, again and again:")
            lines.append(f"  {number}. {step}")
        return "\n".join([*lines, f"  {self.ends}"])


def told(edge: Edge) -> str:
    """Say what one step did, naming only what changed."""
    changes = [
        f"{name} {_word(before)} > {_word(after)}"
        for name in _COLUMNS
        if (before := getattr(edge.before, name)) != (after := getattr(edge.after, name))
    ]
    asked = " ".join(command.name for command in edge.commands)
    place = f"{edge.input.value} in {edge.before.window.value}"
    return f"{place}: {', '.join(changes) or 'no change'}" + (f"; {asked}" if asked else "")


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
