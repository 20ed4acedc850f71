"""The stage: a deterministic loop, its gates, and the one place where something is decided.

Theory. Between any two callbacks there is one decision, taken in `Stage.move`: what happens next.
Option 0 is what happens when nobody interferes: the next ready callback; if there is none, the next
action of whoever drives the stage; then the oldest gate with its first outcome; then the next
timer. Once the outside `is_silent`, no gate is opened any more and only time goes on. The other
options are the things that the outside is free to do instead. Code under test may ask for decisions
of its own with `choose`. A `source` answers all of them, in one sequence; without a source every
answer is 0.
"""

import asyncio
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Self, TypeVar

from attrs import define, field, frozen

from .gates import Gate, Gates
from .loop import StageLoop

__all__ = ["Move", "Stage", "StageError", "StageStuck", "TooLong"]

T = TypeVar("T")

STEP_LIMIT = 100_000


class StageError(Exception):
    """The outside failed because the test said so."""


class StageStuck(Exception):  # noqa: N818  # a verdict on the code under test
    """Nothing can happen any more, and somebody still waits."""


class TooLong(Exception):  # noqa: N818  # a verdict on the code under test
    """The budget of steps is used up and there is still something to do."""


@frozen(kw_only=True)
class Move:
    """One thing that can happen next, and the words for it."""

    label: str
    act: Callable[[], object]


def _echo(prompt: str) -> str:
    return f"echo: {prompt}"


def _fail(prompt: str) -> str:
    message = f"the model failed on {prompt!r}"
    raise StageError(message)


@define(eq=False)
class Stage:
    """Everything around a runtime under test, decided by the test.

    Attributes:
        loop: The deterministic loop.
        gates: The gates at which code under test waits.
        source: Answers `decide(label, options)`; None answers 0.
        is_silent: Whether the outside has stopped answering: whoever waits at a gate waits in vain,
            and only callbacks, actions and timers are left to happen.
        witness: Is told of every move: what was done, what option 0 was, which option it was.
        model_answers: What each outcome of the gate `model` makes of the prompt.
    """

    loop: StageLoop = field(factory=StageLoop)
    gates: Gates = field(factory=Gates)
    source: Callable[[str, int], int] | None = None
    is_silent: bool = False
    witness: Callable[[str, str, int], None] | None = None
    model_answers: dict[str, Callable[[str], str]] = field(
        factory=lambda: {"ok": _echo, "error": _fail}
    )
    _spawned: list[asyncio.Task[Any]] = field(factory=list, init=False)
    _lingering: set[str] = field(factory=set, init=False)
    _scope: AbstractContextManager[None] | None = field(default=None, init=False)

    # For the code under test.

    @property
    def now(self) -> float:
        """The virtual time in seconds."""
        return self.loop.time()

    async def sleep(self, delay_s: float) -> None:
        """Wait for virtual time to pass; zero waits for one pass through the ready queue."""
        if delay_s <= 0:
            await _Pass()
            return
        woken = self.loop.create_future()
        timer = self.loop.call_later(delay_s, _wake, woken)
        try:
            await woken
        finally:
            timer.cancel()

    async def gate(
        self, name: str, outcomes: tuple[str, ...] = ("ok", "error"), *, value: object = None
    ) -> str:
        """Wait for the outside, and return the outcome that the test chose."""
        return await self.gates.create(name, outcomes=outcomes, value=value).wait()

    async def model(self, prompt: str) -> str:
        """Answer like a model, once the test has opened the gate `model`.

        Raises:
            StageError: the test chose the outcome `error`.
        """
        outcome = await self.gate("model", tuple(self.model_answers), value=prompt)
        return self.model_answers[outcome](prompt)

    def choose(self, label: str, options: int) -> int:
        """Return which of `options` things to do; 0 unless a search decides otherwise."""
        return self.decide(label, options)

    # For the test.

    def decide(self, label: str, options: int) -> int:
        """Ask the source, if there is one and anything to choose."""
        if self.source is None or options <= 1:
            return 0
        return self.source(label, options)

    def spawn(
        self, coroutine: Coroutine[Any, Any, T], name: str, *, may_linger: bool = False
    ) -> asyncio.Task[T]:
        """Start a task that the stage holds on to.

        Unless it `may_linger`, the stage counts as stuck if it never ends.
        """
        task = self.loop.create_task(coroutine, name=name)
        self._spawned.append(task)
        if may_linger:
            self._lingering.add(name)
        return task

    @property
    def spawned(self) -> tuple[asyncio.Task[Any], ...]:
        """The tasks started by `spawn`, in that order, ended ones too."""
        return tuple(self._spawned)

    @property
    def pending(self) -> tuple[str, ...]:
        """The names of all tasks on the loop that have not ended, oldest first."""
        return tuple(task.get_name() for task in self.loop.pending_tasks())

    @property
    def idle(self) -> bool:
        """Whether no callback is ready."""
        return not self.loop.has_ready

    def tick(self, n: int = 1) -> int:
        """Run up to `n` callbacks and return how many there were."""
        done = 0
        while done < n and self.loop.step():
            done += 1
        return done

    def run_until_quiet(self, limit: int = STEP_LIMIT) -> int:
        """Run callbacks until none is ready; open no gate, fire no timer; return how many ran.

        Raises:
            TooLong: more than `limit` callbacks.
        """
        with self.loop.running():
            done = self.tick(limit)
        if self.loop.has_ready:
            raise TooLong(self.listing(f"callbacks are still ready after {limit}"))
        return done

    def complete(self, coroutine: Coroutine[Any, Any, T], name: str = "complete") -> T:
        """Run one coroutine to its end, first in, first out, and return its result.

        Nothing is decided on the way: no source is asked. Gates are opened, timers fired.

        Raises:
            StageStuck: it can never end.
            TooLong: it does not end within the usual limit.
        """
        source, self.source = self.source, None
        task = self.loop.create_task(coroutine, name=name)
        try:
            with self.loop.running():
                for _ in range(STEP_LIMIT):
                    if task.done() or not self.move():
                        break
        finally:
            self.source = source
        if task.done():
            return task.result()
        verdict = TooLong if self.can_move() else StageStuck
        raise verdict(self.listing(f"{name} has not ended"))

    def move(self, actions: Sequence[Move] = ()) -> bool:
        """Take the decision that stands between two callbacks; return False if nothing is left.

        `actions` are what the driver of the stage could do, the one it would do first in front.
        """
        ready = self.loop.has_ready
        options = self._options(ready, len(actions))
        if options == 0:
            return False
        choice = self.decide("next", options)
        if self.witness is None and ready and choice == 0:
            return self.loop.step()
        moves = self.moves(actions)
        if self.witness is not None:
            self.witness(moves[choice].label, moves[0].label, choice)
        moves[choice].act()
        return True

    def can_move(self, actions: Sequence[Move] = ()) -> bool:
        """Whether anything is left that can happen."""
        return self._options(self.loop.has_ready, len(actions)) > 0

    def _options(self, ready: bool, actions: int) -> int:  # noqa: FBT001  # counted, not a switch
        timer = self.loop.next_timer() is not None
        openings = 0 if self.is_silent else self.gates.openings()
        return ready + actions + openings + timer

    def moves(self, actions: Sequence[Move] = ()) -> list[Move]:
        """Return everything that can happen next, the default first."""
        moves = []
        if self.loop.has_ready:
            moves.append(Move(label=f"run {self.loop.next_ready()}", act=self.loop.step))
        moves.extend(actions)
        moves.extend(
            Move(label=f"open {gate} with {outcome}", act=_Opening(self.gates, gate, outcome))
            for gate in self.gates.open_gates
            if not self.is_silent
            for outcome in gate.outcomes
        )
        due_s = self.loop.next_timer()
        if due_s is not None:
            label = f"fire the timer of {due_s:g} s"
            moves.append(Move(label=label, act=self.loop.fire_next_timer))
        return moves

    def settle(self, limit: int = STEP_LIMIT) -> int:
        """Let everything happen, by default first in, first out; return the number of moves.

        Raises:
            TooLong: there is something left to do after `limit` moves.
            StageStuck: nothing is left to do and a spawned task has not ended.
        """
        done = 0
        with self.loop.running():
            while done < limit and self.move():
                done += 1
            if self.can_move():
                raise TooLong(self.listing(f"there is more to do after {limit} moves"))
        self.check_nobody_stuck()
        return done

    def check_nobody_stuck(self) -> None:
        """Complain about spawned tasks that have not ended; for when nothing is left to do.

        Raises:
            StageStuck: there is one.
        """
        stuck = [
            task.get_name()
            for task in self._spawned
            if not task.done() and task.get_name() not in self._lingering
        ]
        if stuck:
            raise StageStuck(self.listing(f"nothing is left to do and {', '.join(stuck)} waits"))

    def listing(self, headline: str) -> str:
        """Return a text of what is going on: tasks, where they wait, gates and the next timer."""
        lines = [headline]
        lines += [
            f"  task {task.get_name()} in {_place(task)}" for task in self.loop.pending_tasks()
        ]
        lines += [
            f"  gate {gate} ({', '.join(gate.outcomes) or 'no outcome'})"
            for gate in self.gates.open_gates
        ]
        due_s = self.loop.next_timer()
        if due_s is not None:
            lines.append(f"  timer at {due_s:g} s, now {self.now:g} s")
        return "\n".join(lines)

    def close(self) -> tuple[str, ...]:
        """Cancel what has not ended, and return its names; safe to call again."""
        self.source = None
        self.witness = None
        return self.loop.close_clean()

    def __enter__(self) -> Self:
        self._scope = self.loop.running()
        self._scope.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
        if self._scope is not None:
            self._scope.__exit__(None, None, None)


class _Pass:
    """Awaited, it lets every callback that is ready by now run first."""

    def __await__(self) -> Generator[None, None, None]:
        yield


@frozen
class _Opening:
    gates: Gates
    gate: Gate
    outcome: str

    def __call__(self) -> None:
        self.gates.open(self.gate, self.outcome)


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _place(task: asyncio.Task[Any]) -> str:
    """Say where a task waits: the innermost coroutine of its own and the line."""
    awaited: Any = task.get_coro()
    place = "code without a name"
    while awaited is not None and hasattr(awaited, "cr_await"):
        line = awaited.cr_frame.f_lineno if awaited.cr_frame is not None else 0
        place = f"{awaited.__qualname__}:{line}"
        awaited = awaited.cr_await
    return place
