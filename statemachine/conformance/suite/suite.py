"""The random suite of the lifecycle, for any subject.

Hypothesis draws programs of acts, ticks and openings; the oracles judge every callback of every
run; what fails is shrunk and told. At level `inside` every decision of the subject is compared with
the machine as well.
"""

import contextlib
import gc
import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, Literal

from attrs import define, evolve, field, frozen
from hypothesis import HealthCheck, Phase, settings
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.errors import HypothesisException
from hypothesis.reporting import with_reporter
from hypothesis.stateful import run_state_machine_as_test

from statemachine.conformance.stage.play import collecting_between_runs
from statemachine.conformance.subject import MakeSubject

from .examination import Examination
from .profiles import PROFILES, Profile, ProfileName
from .refinement import Project
from .regression import write_candidate
from .rules import MACHINES, Program
from .story import Broken

__all__ = ["Level", "Suite", "SuiteFailure", "SuiteResult", "lifecycle_suite"]

Level = Literal["outside", "inside"]
Points = dict[tuple[str, str], int]

_COLLECT_EVERY: Final = 64


@frozen(kw_only=True)
class SuiteFailure:
    """One way in which the subject broke an invariant.

    Attributes:
        machine: The name of the machine that found it.
        invariant: The id of what is broken; `crash` for an error that is no verdict.
        story: What was done, expected and seen.
        script: The lines of code that do it again.
        candidate: The test file that was written, if one was.
        replay: The command that runs it.
    """

    machine: str
    invariant: str
    story: str
    script: tuple[str, ...] = ()
    candidate: str = ""
    replay: str = ""


@frozen(kw_only=True)
class SuiteResult:
    """What a suite did and found.

    Attributes:
        examples: Runs, shrinking included.
        steps: What was done from outside in all of them.
        decisions: Decisions compared with the machine; 0 at level `outside`.
        points: How often each input was given from inside each listener; `outside` for none.
        windows: How often each input was met in each window; only at level `inside`.
    """

    name: str
    examples: int
    steps: int
    decisions: int
    seconds: float = field(eq=False)
    points: Points
    windows: Points
    failures: tuple[SuiteFailure, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing failed."""
        return not self.failures

    @property
    def examples_per_second(self) -> float:
        """How fast it went."""
        return self.examples / self.seconds if self.seconds else 0.0


@frozen(kw_only=True)
class Suite:
    """Programs of one subject, ready to run.

    Attributes:
        progress: Told how many runs there have been, now and then.
        candidates: Where a failure is written as a test file; None for nowhere.
        subject_name: `package.module:make_subject`, for such files and for `replay`.
    """

    name: str
    make_subject: MakeSubject
    level: Level
    profile: Profile
    machines: tuple[str, ...] = tuple(MACHINES)
    project: Project | None = None
    progress: Callable[[int], None] | None = None
    candidates: Path | None = None
    subject_name: str = ""

    def run(self) -> SuiteResult:
        """Run every machine, each to its first failure or to the end of its budget."""
        started = time.perf_counter()
        ledger = _Tally(self)
        failures = []
        with collecting_between_runs(), _unlogged():
            for name in self.machines:
                failure = self._run_machine(name, ledger)
                if failure is not None:
                    failures.append(failure)
        return SuiteResult(
            name=self.name,
            examples=ledger.examples,
            steps=ledger.steps,
            decisions=ledger.decisions,
            seconds=time.perf_counter() - started,
            points=ledger.points,
            windows=ledger.windows,
            failures=tuple(failures),
        )

    def _run_machine(self, name: str, tally: "_Tally") -> SuiteFailure | None:
        machine = _bind(MACHINES[name], self, tally)
        until = None
        if self.profile.within_s is not None:
            until = time.perf_counter() + self.profile.within_s / len(self.machines)
        while True:
            error = _run_once(machine, self.profile)
            if error is not None:
                return self._tell(name, error)
            if until is None or time.perf_counter() >= until:
                return None

    def _tell(self, machine: str, error: Exception) -> SuiteFailure:
        if not isinstance(error, Broken):
            text = f"{type(error).__name__}: {error}"
            return SuiteFailure(machine=machine, invariant="crash", story=text)
        failure = SuiteFailure(
            machine=machine,
            invariant=error.violation.invariant,
            story=str(error),
            script=error.script,
        )
        if self.candidates is None:
            return failure
        path = write_candidate(
            self.candidates, error, self.subject_name, inside=self.level == "inside"
        )
        command = f"python -m pytest {path}"
        return evolve(failure, candidate=str(path), replay=command)


def lifecycle_suite(  # noqa: PLR0913  # each is named at the call
    make_subject: MakeSubject,
    *,
    level: Level = "outside",
    profile: Profile | ProfileName | str = ProfileName.CI,
    project: Project | None = None,
    machines: tuple[str, ...] = tuple(MACHINES),
    progress: Callable[[int], None] | None = None,
    candidates: Path | None = None,
    name: str = "lifecycle",
    subject_name: str = "",
) -> Suite:
    """Return the lifecycle suite of a subject.

    Args:
        make_subject: makes a fresh subject for each run.
        level: `outside`, or `inside` for a subject with a probe.
        profile: how hard to try.
        project: what a cell of the subject holds, unless the subject has a method `project`.
        machines: the names of the machines to run.
        progress: is told how many runs there have been.
        candidates: where a failure is written as a test file.
        name: what the result is called.
        subject_name: `package.module:make_subject`, for those files.
    """
    chosen = profile if isinstance(profile, Profile) else PROFILES[ProfileName(profile)]
    return Suite(
        name=name,
        make_subject=make_subject,
        level=level,
        profile=chosen,
        project=project,
        machines=machines,
        progress=progress,
        candidates=candidates,
        subject_name=subject_name,
    )


@define(eq=False)
class _Tally:
    """Counts what the runs of one suite did."""

    suite: Suite
    examples: int = 0
    steps: int = 0
    decisions: int = 0
    points: Points = field(factory=dict)
    windows: Points = field(factory=dict)
    verified: dict[int, Any] = field(factory=dict)

    def count(self, play: Examination, _: Exception | None) -> None:
        """Add one run that has ended."""
        self.examples += 1
        self.steps += play.story.acts
        _add(self.points, play.points)
        if play.refinement is not None:
            self.decisions += play.refinement.decisions
            _add(self.windows, play.refinement.points)
        if self.examples % _COLLECT_EVERY == 0:
            gc.collect(1)
            if self.suite.progress is not None:
                self.suite.progress(self.examples)


def _add(total: Points, more: Points) -> None:
    for key, count in more.items():
        total[key] = total.get(key, 0) + count


def _bind(base: type[Program], suite: Suite, tally: _Tally) -> type[Program]:
    """Return a machine for this suite's subject."""

    def examine() -> Examination:
        return Examination(
            suite.make_subject,
            inside=suite.level == "inside",
            project=suite.project,
            verified=tally.verified,
        )

    attributes = {
        "examine": staticmethod(examine),
        "ended": staticmethod(tally.count),
        "offers": suite.make_subject().offers,
    }
    return type(base.__name__, (base,), attributes)


def _run_once(machine: type[Program], profile: Profile) -> Exception | None:
    """Run one round of one machine and return what it raised."""
    with with_reporter(_say_nothing):
        try:
            run_state_machine_as_test(machine, settings=_settings(profile))
        except HypothesisException:
            raise
        except Exception as error:
            return error
    return None


def _settings(profile: Profile) -> settings:
    phases = [Phase.explicit, Phase.reuse, Phase.generate]
    if profile.shrinks:
        phases.append(Phase.shrink)
    database = DirectoryBasedExampleDatabase(".hypothesis/examples") if profile.remembers else None
    return settings(
        max_examples=profile.examples,
        stateful_step_count=profile.steps,
        derandomize=profile.derandomize,
        database=database,
        phases=phases,
        deadline=None,
        report_multiple_bugs=False,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
    )


@contextlib.contextmanager
def _unlogged() -> Iterator[None]:
    """Keep the subject from logging what thousands of runs make it log."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def _say_nothing(_: object) -> None:
    """Print nothing: the story is told once, by the suite."""
