"""Where the time of a turn goes: its operations, each measured by itself.

One real turn is watched first: the decisions it takes, the records it appends. Then each kind of
operation is repeated alone, on the same values, while everything else is replaced by a stand-in
that does nothing. The sum is held against the whole turn; the rest is printed, not hidden.

An operation that is repeated alone finds its code and its data in the caches of the processor; in a
turn every operation finds there what the others left. So all are also measured in rotation, one
turn's share of each after the other, and that is the sum to compare.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from types import CodeType, FrameType
from typing import Any, Final

from attrs import evolve, frozen

from runtime.abort import Cancellations
from runtime.agent import LiveAgent, offer
from runtime.core import AgentOptions, Core, Surroundings
from runtime.driver import drive
from runtime.outbox import Outbox
from runtime.session.content import USER_SOURCE, accept_content
from runtime.session.log import SessionHeader, SessionLog
from runtime.turn import AcceptedMessage, Offer
from runtime.visits import VISITS
from statemachine import Decision, Input, Shape, Window

from .measure import Contender, Sample, now_ns
from .ours import MODEL, opened
from .standins import BlankLog, CannedMachine, StillLoop, WatchedLog

__all__ = ["Line", "Watched", "parts_of", "settle", "watch"]


@frozen(kw_only=True)
class Watched:
    """One real turn, as it was seen."""

    around: Surroundings
    path: tuple[tuple[Shape, Input, Decision], ...]
    """Every decision, in order."""
    appends: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...]
    """How the log was called, in order."""
    entered: int
    """How many Python frames were entered between `send` and the end of `when_idle`."""
    deliveries: int
    """How often the outbox was asked to deliver."""


@frozen(kw_only=True)
class Line:
    """One line of the budget."""

    name: str
    us: float
    note: str


async def watch() -> Watched:
    """Run a few turns and write down what the last of them consists of."""
    path: list[tuple[Shape, Input, Decision]] = []
    frames: Counter[CodeType] = Counter()

    def see(_core: Core, before: Shape, input: Input, decision: Decision) -> None:
        path.append((before, input, decision))

    def count(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            frames[frame.f_code] += 1

    async with opened() as opening:
        opening.agents.create()
        assert opening.roster is not None
        around = next(iter(opening.roster.cores.values())).around
        log = WatchedLog(SessionHeader(id="s", created_ms=0), clock=around.clock)
        core = _core(around, log)
        await _turn(core)
        core.probe = see
        log.appends.clear()
        await _turn(core)
        appends = tuple(log.appends)
        core.probe = None
        sys.setprofile(count)
        await _turn(core)
        sys.setprofile(None)
    return Watched(
        around=around,
        path=tuple(path),
        appends=appends,
        entered=frames.total(),
        deliveries=frames[Outbox.deliver.__code__],
    )


def _overlook(*_: object) -> None:
    """Observe nothing."""


async def _turn(core: Core) -> None:
    core.face.send("hi")
    await core.face.when_idle()


def _core(around: Any, log: Any) -> Core:  # noqa: ANN401  # the real ones or their stand-ins
    core = Core("watched", log, AgentOptions(model=MODEL), around)
    LiveAgent(core)
    return core


def parts_of(seen: Watched) -> dict[str, Contender]:
    """Return each kind of operation of a turn, and all of them in rotation, to be measured."""
    parts = _Parts(seen)
    steps: dict[str, _Steps] = {
        "send": parts.send,
        "records": parts.records,
        "decide": parts.decide,
        "posts": parts.posts,
        "posting": parts.posting,
        "driver": parts.driver,
        "stream": parts.stream,
        "deliver": parts.deliver,
    }
    return {
        **{name: partial(_alone, each) for name, each in steps.items()},
        "task": parts.task,
        "waiter": parts.waiter,
        "rotation": parts.rotation,
    }


_Steps = Callable[[int], Iterator[None]]
"""Prepares itself for so many turns, and then does one turn's share at each step."""


async def _alone(steps: _Steps, items: int) -> int:
    running = steps(items)
    next(running)
    began = now_ns()
    for _ in range(items):
        next(running)
    return now_ns() - began


_MESSAGE: Final = AcceptedMessage(1, accept_content("hi"), USER_SOURCE)
_OFFER: Final = Offer(_MESSAGE.content, _MESSAGE.source, "send")


class _DeafCore(Core):
    """A cell to which nothing that is offered gets through."""

    def call(self, input: Input, argument: object = None) -> None:
        """Do nothing."""


class _Parts:
    """Each method repeats what one turn does of one kind."""

    def __init__(self, seen: Watched) -> None:
        self.seen = seen
        loop: Any = StillLoop(seen.around.loop)
        still: Any = _overlook
        self.blank = evolve(seen.around, loop=loop, run_driver=still)

    def send(self, _items: int) -> Iterator[None]:
        core = _DeafCore("watched", self._blank_core().log, AgentOptions(), self.blank)
        while True:
            yield
            offer(core, Input.SEND, "hi", None)

    def records(self, items: int) -> Iterator[None]:
        log = SessionLog(SessionHeader(id="s", created_ms=0), clock=self.seen.around.clock)
        _core(self.blank, log)
        turns = [
            [(name, {**data, "turn": turn}, _here(options)) for name, data, options in appends]
            for turn, appends in enumerate([self.seen.appends] * items, 1)
        ]
        for turn in turns:
            yield
            for type_name, data, options in turn:
                log.append(type_name, data, **options)
                if type_name == "step/start":
                    log.history  # noqa: B018  # it is kept up to date when it is read
        yield

    def decide(self, _items: int) -> Iterator[None]:
        decide = self.seen.around.machine.decide
        pairs = [(before, input) for before, input, _ in self.seen.path]
        while True:
            yield
            for before, input in pairs:
                decide(before, input)

    def posts(self, _items: int) -> Iterator[None]:
        core = self._blank_core()
        (_, first, _), *others = self.seen.path
        outcomes = [input for _, input, _ in others]
        while True:
            yield
            core.post(first, _OFFER)
            for outcome in outcomes:
                core.post(outcome)

    def posting(self, _items: int) -> Iterator[None]:
        core = self._canned_core(self.seen.path)
        machine: Any = core.machine
        outcomes = [input for _, input, _ in self.seen.path]
        while True:
            yield
            machine.rewind()
            for outcome in outcomes:
                core.post(outcome)

    def driver(self, _items: int) -> Iterator[None]:
        core = self._canned_core(self.seen.path[1:])
        machine: Any = core.machine
        while True:
            yield
            machine.rewind()
            core.turns_in_task = 0
            core.turn.unread.append(_MESSAGE)
            _finish(drive(core))

    def stream(self, _items: int) -> Iterator[None]:
        core = self._canned_core(self.seen.path[:1])
        core.turn.model = core.find_model()
        VISITS[Window.REQUEST](core)
        cancellations = Cancellations(on_stranger=_overlook)
        visit = VISITS[Window.STREAM]
        while True:
            yield
            waited: Any = visit(core)
            _finish(cancellations.settle(waited))

    def deliver(self, _items: int) -> Iterator[None]:
        deliver = self._blank_core().outbox.deliver
        times = range(self.seen.deliveries)
        while True:
            yield
            for _ in times:
                deliver()

    async def task(self, items: int) -> int:
        began = now_ns()
        for _ in range(items):
            await self._one_task()
        return now_ns() - began

    async def waiter(self, items: int) -> int:
        loop = asyncio.get_running_loop()
        began = now_ns()
        for _ in range(items):
            waiter: asyncio.Future[None] = loop.create_future()
            loop.call_soon(waiter.set_result, None)
            await waiter
        return now_ns() - began

    async def rotation(self, items: int) -> int:
        """Do one share of each kind after the other, as a turn does, and not all of one first."""
        running = [each(items) for each in (self.send, self.records, self.posts, self.driver)]
        for each in running:
            next(each)
        began = now_ns()
        for _ in range(items):
            for each in running:
                next(each)
            await self._one_task()
        return now_ns() - began

    async def _one_task(self) -> None:
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        task = loop.create_task(_complete(waiter), name="driver of watched")
        task.add_done_callback(_overlook)
        await waiter

    def _blank_core(self) -> Core:
        return _core(self.blank, BlankLog())

    def _canned_core(self, path: tuple[tuple[Shape, Input, Decision], ...]) -> Core:
        answers = tuple(evolve(decision, commands=()) for _, _, decision in path)
        machine: Any = CannedMachine(path[0][0], answers)
        core = _core(evolve(self.blank, machine=machine), BlankLog())
        core.shape = path[0][0]
        return core


def _here(options: dict[str, Any]) -> dict[str, Any]:
    # The sources are those of the log that was watched; any earlier record costs the same.
    return {**options, "sources": [0]} if options.get("sources") else options


async def _complete(waiter: "asyncio.Future[None]") -> None:
    waiter.set_result(None)


def _finish(body: Any) -> None:  # noqa: ANN401  # a coroutine
    """Run a coroutine that waits for nobody to its end."""
    try:
        body.send(None)
    except StopIteration:
        return
    raise AssertionError("it waited")


def settle(samples: dict[str, Sample], seen: Watched) -> tuple[Line, ...]:
    """Turn what was measured into lines that add up to the whole turn."""
    best = {name: sample.best_us for name, sample in samples.items()}
    lines = [
        Line(name="send", us=best["send"], note="check, freeze, offer the message"),
        Line(
            name="records",
            us=best["records"],
            note=f"{len(seen.appends)} checked, copied, stamped; the history read once",
        ),
        Line(name="decide", us=best["decide"], note=f"{len(seen.path)} remembered answers"),
        Line(
            name="commands",
            us=best["posts"] - best["posting"] - best["decide"],
            note="obeyed, without the records",
        ),
        Line(
            name="visits, cycle",
            us=best["driver"] - best["stream"] - best["deliver"],
            note="the driver's loop and what each window does",
        ),
        Line(name="model stream", us=best["stream"], note="cut scope, chunks, assembled reply"),
        Line(name="notices", us=best["deliver"], note=f"{seen.deliveries} looks at the outbox"),
        Line(name="task", us=best["task"] - best["waiter"], note="started, run, ended"),
        Line(name="waiter", us=best["waiter"], note="one future and one pass of the loop"),
    ]
    alone = sum(line.us for line in lines)
    # What `post` itself costs is in the rotation twice: around the commands and in the cycle.
    rotation = best["rotation"] - best["posting"]
    whole = best["turn"]
    return (
        *lines,
        Line(name="sum, each alone", us=alone, note=f"{alone / whole:.0%} of the whole"),
        Line(
            name="sum, in rotation",
            us=rotation,
            note="the same parts, but out of each other's caches",
        ),
        Line(
            name="rest", us=whole - rotation, note=f"{(whole - rotation) / whole:.0%} of the whole"
        ),
        Line(name="whole turn", us=whole, note=f"{seen.entered} Python frames entered"),
    )
