"""What the engines found, as values: checks, planted faults, canaries.

Theory. An engine claims nothing about an invariant as a whole. It hands over checks: a name, a
kind, how often the checked thing really came up, and what broke it. What a row of the table says is
decided elsewhere, from all checks of a run together, so that no engine can speak for another.
"""

from enum import StrEnum

from attrs import field, frozen

from statemachine.properties import Kind

__all__ = ["Canary", "Check", "Engine", "Evidence", "Kind", "PlantedFault", "Side"]


class Engine(StrEnum):
    """Who looked."""

    EXPLORER = "explorer"
    LABELLED = "labelled"
    WORLDS = "worlds"
    SUITES = "suites"
    HUNT = "hunt"
    SCHEDULES = "schedules"
    CASES = "cases"
    TESTS = "tests"
    """Directed tests: one run each, good for what is no matter of interleavings."""


class Side(StrEnum):
    """What was looked at."""

    SPECIFICATION = "specification"
    """The declaration. It speaks for a runtime only if that runtime is driven by it."""
    RUNTIME = "runtime"
    """The running code of the subject."""


@frozen(kw_only=True)
class Check:
    """One thing that was looked at, for one row of the table.

    Attributes:
        explored: How often it came up; a check that never came up says nothing.
        why: What broke it, told; None if nothing did.
    """

    criterion: str
    name: str
    kind: Kind
    engine: Engine
    explored: int
    clauses: tuple[str, ...] = ()
    why: str | None = None

    @property
    def side(self) -> Side:
        """What it looked at."""
        is_model = self.engine in (Engine.EXPLORER, Engine.LABELLED, Engine.WORLDS)
        return Side.SPECIFICATION if is_model else Side.RUNTIME


@frozen(kw_only=True)
class PlantedFault:
    """A defect planted on purpose, and whether the checks that claim to see it did."""

    id: str
    fault: str
    layer: str
    must_die_of: str
    died_of: str | None
    is_killed: bool
    seconds: float = 0.0

    @property
    def is_survivor(self) -> bool:
        """Whether nobody noticed, or it died of something else."""
        return not self.is_killed


@frozen(kw_only=True)
class Canary:
    """A fault planted for one engine in this very run."""

    engine: str
    fault: str
    is_found: bool
    story: str = ""
    """What the engine said when it found it, or why it did not."""


@frozen(kw_only=True)
class Evidence:
    """Everything that one run of the verdict gathered.

    Attributes:
        skipped: What did not run, by the engine's name, each with the reason.
        failures: What went wrong without being a verdict on an invariant.
        stories: What broke, told in full, with the command that replays it.
    """

    checks: tuple[Check, ...] = ()
    faults: tuple[PlantedFault, ...] = ()
    canaries: tuple[Canary, ...] = ()
    skipped: dict[str, str] = field(factory=dict)
    failures: tuple[str, ...] = ()
    stories: tuple[str, ...] = ()
    explorer: dict[str, object] = field(factory=dict)
    suites: tuple[dict[str, object], ...] = ()
    cases: tuple[dict[str, object], ...] = ()

    @property
    def is_refined(self) -> bool:
        """Whether the subject's decisions were compared with the explored machine, and agreed.

        Only then does what was found about the specification speak for the subject.
        """
        compared = [suite["refined"] for suite in self.suites if suite.get("refined") is not None]
        return bool(compared) and all(compared)

    def __add__(self, other: "Evidence") -> "Evidence":
        """Put two parts of one run together."""
        return Evidence(
            checks=self.checks + other.checks,
            faults=self.faults + other.faults,
            canaries=self.canaries + other.canaries,
            skipped=self.skipped | other.skipped,
            failures=self.failures + other.failures,
            stories=self.stories + other.stories,
            explorer=self.explorer | other.explorer,
            suites=self.suites + other.suites,
            cases=self.cases + other.cases,
        )
