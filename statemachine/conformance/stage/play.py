"""One run of one schedule of a scenario, and the story of it.

Theory. A scenario is a world and a few actors, each with a short list of acts in a fixed order;
when they act is decided by the schedule. A run asks the stage for one move after another until
nothing is left to do, then judges the world. Telling costs more than running, so only runs that
somebody will read are told; told or not, a schedule does the same things.
"""

import contextlib
import contextvars
import gc
import traceback
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Generic, TypeVar

from attrs import define, field, frozen

from .stage import Move, Stage, StageStuck, TooLong

__all__ = [
    "Action",
    "Actor",
    "Deviation",
    "Failure",
    "FailureKind",
    "Path",
    "Play",
    "Run",
    "Scenario",
    "ScheduleDiverged",
    "collecting_between_runs",
    "path_text",
    "run_schedule",
]

World = TypeVar("World")
Path = tuple[tuple[int, int], ...]


class ScheduleDiverged(Exception):  # noqa: N818  # a verdict: stale schedule, or chance in the code
    """A schedule asked for an option that the run did not have."""


class FailureKind(StrEnum):
    """What went wrong in a run."""

    VIOLATED = "violated"
    STUCK = "stuck"
    UNHANDLED = "unhandled"
    CRASHED = "crashed"
    TOO_LONG = "too long"


@frozen(kw_only=True)
class Action(Generic[World]):
    """An act of an actor with words of its own; any plain function of the world serves as well."""

    label: str
    act: Callable[[World], object]

    def __call__(self, world: World) -> None:
        """Act on the world of the current run."""
        self.act(world)


@frozen(kw_only=True)
class Actor(Generic[World]):
    """Somebody outside who does a few things in a fixed order, each at any time."""

    name: str
    actions: tuple[Callable[[World], object], ...]


@frozen(kw_only=True)
class Scenario(Generic[World]):
    """A short script whose schedules are searched.

    Attributes:
        setup: Makes the world on a new stage; nothing is decided meanwhile.
        check: Raises AssertionError if the world is wrong once nothing is left to do. A spawned
            task that never ends and an error that reached nobody are found after it.
        after_each: The same after every callback and every action.
        budget: How many moves one run may take.
        unhandled_allowed: Whether errors that reached nobody are left to `check`.
    """

    name: str
    actors: tuple[Actor[World], ...]
    setup: Callable[[Stage], World]
    check: Callable[[World], object]
    after_each: Callable[[World], object] | None = None
    budget: int = 5_000
    unhandled_allowed: bool = False


@frozen(kw_only=True)
class Deviation:
    """One decision that was answered differently from first in, first out."""

    index: int
    option: int
    did: str
    instead: str

    def __str__(self) -> str:
        return f"decision {self.index}: {self.did}, instead of: {self.instead}"


@frozen(kw_only=True)
class Failure:
    """A schedule under which a scenario goes wrong, told.

    Attributes:
        text: The error and its message.
        traceback: Where it was raised.
        story: Numbered lines, one for each thing that was done.
        replay: What `replay` takes to do it again.
    """

    scenario: str
    kind: FailureKind
    text: str
    traceback: str = field(eq=False)
    deviations: tuple[Deviation, ...]
    story: tuple[str, ...]
    replay: str

    def __str__(self) -> str:
        lines = [f"{self.scenario}: {self.kind}: {self.text}", *self.story]
        lines += [f"  deviates at {deviation}" for deviation in self.deviations]
        lines.append(f"replay: {self.replay or 'first in, first out'}")
        return "\n".join(lines)


@frozen(kw_only=True)
class Run:
    """One schedule, run and told.

    Attributes:
        options: How many options each decision had.
        log: One line for each decision; equal schedules have equal logs, byte for byte.
    """

    options: tuple[int, ...]
    log: str
    story: tuple[str, ...]
    failure: Failure | None


def run_schedule(scenario: Scenario[World], path: Path = ()) -> Run:
    """Run one schedule, pairs of decision and option, and tell everything about it.

    Raises:
        ScheduleDiverged: a decision does not exist or does not have that option.
    """
    with collecting_between_runs():
        play = Play(scenario=scenario, deviations=dict(path), teller=_Teller())
        play.run()
    assert play.teller is not None
    return Run(
        options=tuple(play.options),
        log="\n".join(play.teller.log),
        story=play.teller.numbered(),
        failure=play.failure(path),
    )


@define(kw_only=True, eq=False)
class _Teller:
    """Writes down what is done; only for runs that are told."""

    log: list[str] = field(factory=list)
    lines: list[str] = field(factory=list)
    deviations: list[Deviation] = field(factory=list)
    _index: int = -1
    _callbacks: list[str] = field(factory=list)

    def decided(self, index: int, label: str, options: int, choice: int) -> None:
        self.log.append(f"{index} {label} {choice} of {options}")
        self._index = index
        if label != "next":
            did = f"{label}: option {choice}"
            if choice:
                self._deviates(choice, did, f"{label}: option 0")
            self._tell(did + self._mark(choice))

    def moved(self, did: str, default: str, choice: int) -> None:
        self.log.append(did)
        if choice:
            self._deviates(choice, did, default)
        if did.startswith("run ") and not choice:
            self._callbacks.append(did.removeprefix("run "))
        else:
            self._tell(did + self._mark(choice))

    def numbered(self) -> tuple[str, ...]:
        self._flush()
        return tuple(f"{number:3}. {line}" for number, line in enumerate(self.lines, 1))

    def _deviates(self, choice: int, did: str, instead: str) -> None:
        self.deviations.append(
            Deviation(index=self._index, option=choice, did=did, instead=instead)
        )

    def _mark(self, choice: int) -> str:
        return f"   <- decision {self._index}, option {choice}" if choice else ""

    def _tell(self, line: str) -> None:
        self._flush()
        self.lines.append(line)

    def _flush(self) -> None:
        if self._callbacks:
            self.lines.append(f"callbacks: {', '.join(self._callbacks)}")
            self._callbacks.clear()


@define(kw_only=True, eq=False)
class Play(Generic[World]):
    """One run of one schedule."""

    scenario: Scenario[World]
    deviations: dict[int, int]
    teller: _Teller | None = None
    options: list[int] = field(factory=list)
    error: Exception | None = None
    too_long: bool = False
    diverged: str = ""

    def run(self) -> None:
        """Run the schedule; what goes wrong is in `error` afterwards."""
        contextvars.copy_context().run(self._run)
        # Judged here and not where it shows, for the code under test might contain the error.
        unused = [index for index in self.deviations if index >= len(self.options)]
        if unused and self.error is None:
            self.diverged = f"there is no decision {unused[0]}"
        if self.diverged:
            message = f"{self.scenario.name}: {self.diverged}"
            raise ScheduleDiverged(message)

    def failure(self, path: Path) -> Failure | None:
        """Tell how the run failed, if it did and was told."""
        if self.error is None or self.teller is None:
            return None
        return Failure(
            scenario=self.scenario.name,
            kind=_kind(self.error),
            text=f"{type(self.error).__name__}: {self.error}",
            traceback="".join(traceback.format_exception(self.error)),
            deviations=tuple(self.teller.deviations),
            story=self.teller.numbered(),
            replay=path_text(path),
        )

    def _run(self) -> None:
        stage = Stage()
        with stage:
            try:
                self._script(stage)
            except TooLong as error:
                self.error, self.too_long = error, True
            except Exception as error:
                self.error = error

    def _script(self, stage: Stage) -> None:
        scenario = self.scenario
        world = scenario.setup(stage)
        if scenario.after_each is not None:
            stage.loop.monitor = _Watch(scenario.after_each, world)
        stage.source = self._decide
        if self.teller is not None:
            stage.witness = self.teller.moved
        self._act(stage, _Script.of(scenario, stage, world))
        stage.source = stage.witness = stage.loop.monitor = None
        scenario.check(world)
        stage.check_nobody_stuck()
        stage.loop.report_unretrieved()
        if stage.loop.failures and not scenario.unhandled_allowed:
            raise _Unhandled("; ".join(str(failure) for failure in stage.loop.failures))

    def _act(self, stage: Stage, script: "_Script[World]") -> None:
        for _ in range(self.scenario.budget):
            if not stage.move(script.moves):
                return
        # Asked before the next callback is taken from the queue, so that none is lost.
        if stage.can_move(script.moves):
            message = f"there is more to do after {self.scenario.budget} moves"
            raise TooLong(stage.listing(message))

    def _decide(self, label: str, options: int) -> int:
        index = len(self.options)
        self.options.append(options)
        choice = self.deviations.get(index, 0)
        if choice >= options:
            self.diverged = f"decision {index} has no option {choice}"
            choice = 0
        if self.teller is not None:
            self.teller.decided(index, label, options, choice)
        return choice


class _Unhandled(Exception):  # noqa: N818  # a verdict on the code under test
    """An error reached nobody."""


@define(kw_only=True, eq=False)
class _Script(Generic[World]):
    """What each actor would do next, in the order of the actors."""

    stage: Stage
    world: World
    left: list[list[Move]]
    moves: list[Move] = field(factory=list)

    @classmethod
    def of(cls, scenario: Scenario[World], stage: Stage, world: World) -> "_Script[World]":
        """Turn the actors' actions into moves on this stage."""
        script = cls(stage=stage, world=world, left=[])
        for row, actor in enumerate(scenario.actors):
            script.left.append(
                [
                    Move(label=f"{actor.name}: {_name(action)}", act=_Turn(script, row, action))
                    for action in reversed(actor.actions)
                ]
            )
        script.refresh()
        return script

    def refresh(self) -> None:
        """Look again at what comes next for each actor."""
        self.moves = [moves[-1] for moves in self.left if moves]


@frozen
class _Turn(Generic[World]):
    """One action of one actor, in one run."""

    script: _Script[World]
    row: int
    action: Callable[[World], object]

    def __call__(self) -> None:
        self.script.left[self.row].pop()
        self.script.refresh()
        self.action(self.script.world)
        monitor = self.script.stage.loop.monitor
        if monitor is not None:
            monitor()


@frozen
class _Watch(Generic[World]):
    """The invariants of a scenario, as the loop's monitor."""

    after_each: Callable[[World], object]
    world: World

    def __call__(self) -> None:
        self.after_each(self.world)


def _name(action: Callable[[World], object]) -> str:
    label = getattr(action, "label", None) or getattr(action, "__name__", None)
    return str(label or type(action).__name__)


def _kind(error: Exception) -> FailureKind:
    for verdict, kind in (
        (AssertionError, FailureKind.VIOLATED),
        (StageStuck, FailureKind.STUCK),
        (_Unhandled, FailureKind.UNHANDLED),
        (TooLong, FailureKind.TOO_LONG),
    ):
        if isinstance(error, verdict):
            return kind
    return FailureKind.CRASHED


def path_text(path: Path) -> str:
    """Write a schedule the way `replay` reads it."""
    return ",".join(f"{index}:{option}" for index, option in path)


@contextlib.contextmanager
def collecting_between_runs() -> Iterator[None]:
    """Keep the cycle collector out of the runs: when it strikes depends on what ran before."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
