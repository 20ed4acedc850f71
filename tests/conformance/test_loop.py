"""The deterministic loop keeps asyncio's order, and asyncio's own tools work on it."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any, TypeVar

import pytest

from statemachine.conformance.stage.loop import StageLoop
from statemachine.conformance.stage.stage import Stage, StageStuck, TooLong

T = TypeVar("T")


@pytest.fixture
def loop() -> Iterator[StageLoop]:
    """A loop that is running and is closed afterwards."""
    made = StageLoop()
    with made.running():
        yield made
    made.close_clean()


@pytest.fixture
def stage() -> Iterator[Stage]:
    """A stage that is closed afterwards."""
    with Stage() as made:
        yield made


def run(loop: StageLoop, coroutine: Coroutine[Any, Any, T]) -> T:
    """Run one coroutine to its end, timers and all."""
    result: T = loop.run_until_complete(coroutine)
    return result


def test_callbacks_run_first_in_first_out_one_at_a_time(loop: StageLoop) -> None:
    """A step runs the oldest callback that was not cancelled, and no other."""
    seen: list[str] = []
    handles = [loop.call_soon(seen.append, letter) for letter in "abcd"]
    handles[1].cancel()
    assert loop.ready_count == 3
    assert [loop.step(), list(seen)] == [True, ["a"]]
    assert [loop.step(), list(seen)] == [True, ["a", "c"]]
    assert [loop.step(), loop.step(), seen] == [True, False, ["a", "c", "d"]]


def test_a_cancelled_callback_leaves_nothing_ready(loop: StageLoop) -> None:
    """What is cancelled does not count as something that could happen."""
    loop.call_soon(print).cancel()
    assert not loop.has_ready
    assert loop.ready_count == 0
    assert not loop.step()


def test_time_moves_only_when_told(loop: StageLoop) -> None:
    """Timers fire in the order of their times, then of their calls; time is where they were due."""
    seen: list[tuple[str, float]] = []

    def note(name: str) -> None:
        seen.append((name, loop.time()))

    for delay, name in ((5.0, "late"), (2.0, "first"), (2.0, "second")):
        loop.call_later(delay, note, name)
    loop.call_later(1.0, note, "never").cancel()
    assert not loop.step()
    assert loop.next_timer() == 2.0
    assert loop.fire_next_timer()
    assert loop.fire_next_timer()
    while loop.step():
        pass
    assert loop.advance(2.5) == 0
    assert loop.advance(2.5) == 1
    loop.step()
    assert seen == [("first", 2.0), ("second", 2.0), ("late", 7.0)]
    assert not loop.fire_next_timer()


def test_timeouts_fire_in_virtual_time(loop: StageLoop) -> None:
    """`asyncio.timeout` cuts a wait at its virtual deadline, and leaves a short one alone."""

    async def cut() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(30):
                await asyncio.Event().wait()
        return loop.time()

    async def kept() -> str:
        async with asyncio.timeout(30):
            return await asyncio.sleep(29, "kept")

    assert run(loop, cut()) == 30.0
    assert run(loop, kept()) == "kept"
    assert loop.time() == 59.0
    assert loop.next_timer() is None


def test_gather_groups_shields_and_queues_work(loop: StageLoop) -> None:
    """The usual tools of asyncio run unchanged."""
    queue: asyncio.Queue[int] = asyncio.Queue(maxsize=1)

    async def put() -> None:
        for number in range(3):
            await queue.put(number)

    async def everything() -> list[int]:
        async with asyncio.TaskGroup() as group:
            group.create_task(put())
            got = [await asyncio.shield(queue.get()) for _ in range(3)]
        first, second = await asyncio.gather(asyncio.sleep(2, 3), asyncio.sleep(1, 4))
        return [*got, first, second, await asyncio.wait_for(asyncio.sleep(1, 5), 2)]

    assert run(loop, everything()) == [0, 1, 2, 3, 4, 5]
    assert loop.time() == 3.0


def test_group_cancels_siblings_of_a_failed_task(loop: StageLoop) -> None:
    """A task group's failure is one exception group, and no task is left."""

    async def fail() -> None:
        message = "planted"
        raise ValueError(message)

    async def everything() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.Event().wait())
            group.create_task(fail())

    with pytest.raises(ExceptionGroup) as caught:
        run(loop, everything())
    assert caught.group_contains(ValueError, match="planted")
    assert loop.pending_tasks() == ()
    assert loop.failures == []


def test_monitor_is_called_after_every_callback(loop: StageLoop) -> None:
    """An invariant that breaks stops the loop at the callback that broke it."""
    seen: list[int] = []

    def monitor() -> None:
        assert len(seen) < 2, "two is too many"

    loop.monitor = monitor
    for number in range(4):
        loop.call_soon(seen.append, number)
    assert loop.step()
    with pytest.raises(AssertionError, match="too many"):
        loop.step()
    assert seen == [0, 1]


def test_errors_that_reach_nobody_are_recorded(loop: StageLoop) -> None:
    """A callback that raises, and a task whose error nobody looks at, are failures."""

    async def fail() -> None:
        message = "in a task"
        raise ValueError(message)

    def also_fail() -> None:
        message = "in a callback"
        raise KeyError(message)

    loop.call_soon(also_fail)
    held = loop.create_task(fail(), name="careless")
    while loop.step():
        pass
    loop.report_unretrieved()
    loop.report_unretrieved()
    assert [(type(one.exception), one.source) for one in loop.failures] == [
        (KeyError, "Handle"),
        (ValueError, "careless"),
    ]
    assert held.done()


def test_leftovers_are_cancelled_and_named(loop: StageLoop) -> None:
    """Closing ends what is left, also a task that swallows its first cancellation."""
    ended: list[str] = []

    async def stubborn() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("stubborn")

    async def ticking() -> AsyncIterator[int]:
        try:
            yield 1
        finally:
            ended.append("generator")

    async def listen() -> None:
        await anext(generator)
        await asyncio.Event().wait()

    generator = ticking()
    tasks = [loop.create_task(stubborn(), name="stubborn"), loop.create_task(listen())]
    while loop.step():
        pass
    assert loop.close_clean() == ("stubborn", "task-1")
    assert ended == ["stubborn", "generator"]
    assert all(task.cancelled() for task in tasks)
    assert loop.close_clean() == ()
    with pytest.raises(RuntimeError, match="closed"):
        loop.call_soon(print)


def test_dropped_generator_is_closed_on_the_loop(loop: StageLoop) -> None:
    """A generator that nobody holds any more is closed by the next callbacks."""
    ended: list[str] = []

    async def ticking() -> AsyncIterator[int]:
        try:
            yield 1
        finally:
            await asyncio.sleep(0)
            ended.append("generator")

    async def peek() -> int:
        return await anext(ticking())

    assert run(loop, peek()) == 1
    while loop.step():
        pass
    assert ended == ["generator"]


@pytest.mark.parametrize("name", ["run_in_executor", "create_server", "subprocess_exec"])
def test_ways_out_are_refused_by_name(loop: StageLoop, name: str) -> None:
    """Whatever leaves the thread has to be a gate."""
    with pytest.raises(NotImplementedError, match=f"{name} .* make it a gate"):
        getattr(loop, name)(None, print)


def test_a_wait_that_nothing_can_end_is_an_error(loop: StageLoop) -> None:
    """The loop never hangs: it says that nothing is left to run."""
    with pytest.raises(RuntimeError, match="nothing is left to run"):
        run(loop, asyncio.Event().wait())


def test_code_called_directly_sees_the_running_loop() -> None:
    """Inside `running`, nested or not, and inside a step, the loop is the running one."""
    loop = StageLoop()
    seen: list[bool] = []
    loop.call_soon(lambda: seen.append(asyncio.get_running_loop() is loop))
    loop.step()
    with loop.running():
        with loop.running():
            assert asyncio.get_running_loop() is loop
        assert asyncio.get_running_loop() is loop
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()
    assert seen == [True]


def test_stage_settles_callbacks_then_gates_then_timers(stage: Stage) -> None:
    """Left alone, the stage runs what is ready, opens the oldest gate, then fires a timer."""
    seen: list[str] = []

    async def wait_at_gate() -> None:
        seen.append(await stage.model("hello"))

    async def wait_for_time() -> None:
        await stage.sleep(3)
        seen.append(f"at {stage.now}")

    stage.spawn(wait_for_time(), "clock")
    stage.spawn(wait_at_gate(), "model")
    stage.settle()
    assert seen == ["echo: hello", "at 3.0"]
    assert stage.idle
    assert stage.close() == ()


def test_stage_runs_a_number_of_callbacks_or_all_that_are_ready(stage: Stage) -> None:
    """`tick` counts callbacks; `run_until_quiet` opens no gate."""

    async def wait() -> None:
        await stage.sleep(0)
        await stage.sleep(0)
        await stage.gate("outside")

    stage.spawn(wait(), "waiter")
    assert stage.tick(2) == 2
    assert not stage.idle
    assert stage.run_until_quiet() == 1
    assert stage.tick(5) == 0
    assert stage.pending == ("waiter",)
    assert stage.close() == ("waiter",)


def test_hang_is_a_stuck_stage_that_says_who_waits(stage: Stage) -> None:
    """A spawned task that nothing can end is named with the place where it waits."""

    async def wait_for_nobody() -> None:
        await asyncio.Event().wait()

    stage.spawn(wait_for_nobody(), "stranded")
    stage.spawn(asyncio.Event().wait(), "server", may_linger=True)
    with pytest.raises(StageStuck, match=r"stranded waits\n.*stranded in Event\.wait"):
        stage.settle()


def test_spinning_is_too_long_and_loses_no_callback(stage: Stage) -> None:
    """The budget is checked before a callback is taken, so a spinning task can still end."""
    going = [True]

    async def spin() -> None:
        while going:
            await stage.sleep(0)

    task = stage.spawn(spin(), "spinner")
    with pytest.raises(TooLong, match="spinner"):
        stage.settle(limit=50)
    with pytest.raises(TooLong, match="still ready after 50"):
        stage.run_until_quiet(limit=50)
    going.clear()
    stage.settle()
    assert task.done()


def test_completing_a_coroutine_asks_no_source(stage: Stage) -> None:
    """Preparation is not part of a schedule."""

    def refuse(label: str, options: int) -> int:
        raise AssertionError(label, options)

    stage.source = refuse
    assert stage.complete(stage.model("x")) == "echo: x"
    with pytest.raises(AssertionError, match="which"):
        stage.choose("which", 2)
    assert stage.choose("only", 1) == 0
