"""The bounded search: every schedule of a scenario that is nearly first in, first out.

Theory. A schedule is the list of answers to the decisions that the stage asks for; the answer 0
everywhere is first in, first out. Races that people write are shown by very few other answers. So
the search runs all schedules with no deviating answer, then all with one, then with two, up to a
bound. Each schedule is run once, because its deviations are added in the order of time: a run with
deviations D tells how many options each later decision had, and each of those options extends D.
The first failure found therefore has the fewest deviations that any failure has.

A run that uses up its budget of moves is no failure, for first in, first out starves a gate when
code spins, but it is counted, its extensions are not tried, and the search is not complete.
"""

import gc
import time
from collections.abc import Iterator
from typing import TypeVar

from attrs import define, field, frozen

from .play import (
    Action,
    Actor,
    Deviation,
    Failure,
    FailureKind,
    Path,
    Play,
    Run,
    Scenario,
    ScheduleDiverged,
    collecting_between_runs,
    path_text,
    run_schedule,
)

__all__ = [
    "Action",
    "Actor",
    "Deviation",
    "Failure",
    "FailureKind",
    "Run",
    "Scenario",
    "ScheduleDiverged",
    "SearchResult",
    "replay",
    "run_schedule",
    "search",
]

World = TypeVar("World")

_COLLECT_EVERY = 256


@frozen(kw_only=True)
class SearchResult:
    """What a search did and found.

    Attributes:
        runs_by_deviations: Runs with 0, 1, 2... deviations.
        complete: Whether every schedule within the bound was run to its end.
        too_long: Runs cut off because their budget was used up.
        first_too_long: The schedule of the first of them.
    """

    scenario: str
    runs: int
    runs_by_deviations: tuple[int, ...]
    deviations: int
    complete: bool
    too_long: int
    first_too_long: str | None
    failure: Failure | None
    seconds: float = field(eq=False)

    @property
    def holds(self) -> bool:
        """Whether every schedule within the bound was run and none failed."""
        return self.complete and self.failure is None


def search(scenario: Scenario[World], *, deviations: int, limit: int | None = None) -> SearchResult:
    """Run every schedule with at most `deviations` deviations, until one fails.

    At most `limit` schedules are run; a search that stops there is not complete.

    Raises:
        ScheduleDiverged: the code under test is not deterministic.
    """
    started = time.perf_counter()
    ledger = _Ledger(limit=limit)
    with collecting_between_runs():
        path = _search(scenario, deviations, ledger)
        failure = None if path is None else run_schedule(scenario, path).failure
    if path is not None and failure is None:
        message = (
            f"{scenario.name}: the failure at {path_text(path) or 'no deviation'} does not repeat"
        )
        raise ScheduleDiverged(message)
    return SearchResult(
        scenario=scenario.name,
        runs=sum(ledger.runs),
        runs_by_deviations=tuple(ledger.runs),
        deviations=deviations,
        complete=failure is None and not ledger.exhausted and not ledger.too_long,
        too_long=ledger.too_long,
        first_too_long=ledger.first_too_long,
        failure=failure,
        seconds=time.perf_counter() - started,
    )


def replay(scenario: Scenario[World], text: str) -> Failure | None:
    """Run the one schedule that a `Failure.replay` names, and return how it fails.

    Raises:
        ValueError: the text is not a schedule.
        ScheduleDiverged: the scenario has changed, the schedule does not fit it any more.
    """
    return run_schedule(scenario, _parse(text)).failure


@define(kw_only=True)
class _Ledger:
    """What a search has done so far."""

    limit: int | None
    runs: list[int] = field(factory=list)
    too_long: int = 0
    first_too_long: str | None = None
    exhausted: bool = False

    def may_run(self) -> bool:
        self.exhausted = self.limit is not None and sum(self.runs) >= self.limit
        return not self.exhausted

    def cut_off(self, path: Path) -> None:
        self.too_long += 1
        if self.first_too_long is None:
            self.first_too_long = path_text(path)


def _search(scenario: Scenario[World], deviations: int, ledger: _Ledger) -> Path | None:
    """Return the first schedule that fails, None if there is none."""
    parents: list[tuple[Path, tuple[int, ...]]] = []
    for level in range(deviations + 1):
        ledger.runs.append(0)
        extended: list[tuple[Path, tuple[int, ...]]] = []
        for path in _extensions(parents) if level else iter(((),)):
            if not ledger.may_run():
                return None
            ledger.runs[level] += 1
            play = Play(scenario=scenario, deviations=dict(path))
            play.run()
            if sum(ledger.runs) % _COLLECT_EVERY == 0:
                gc.collect(1)
            if play.too_long:
                ledger.cut_off(path)
            elif play.error is not None:
                return path
            elif level < deviations:
                extended.append((path, tuple(play.options)))
        parents = extended
    return None


def _extensions(parents: list[tuple[Path, tuple[int, ...]]]) -> Iterator[Path]:
    for path, options in parents:
        first = path[-1][0] + 1 if path else 0
        for index in range(first, len(options)):
            for option in range(1, options[index]):
                yield (*path, (index, option))


def _parse(text: str) -> Path:
    pairs = [pair.split(":") for pair in text.split(",") if pair.strip()]
    try:
        path = tuple((int(index), int(option)) for index, option in pairs)
    except ValueError as error:
        message = f"not a schedule: {text!r}; one looks like 3:1,17:2"
        raise ValueError(message) from error
    return path
