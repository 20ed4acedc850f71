"""Blocking work in a real thread: beside the loop, in order, and never half-heard."""

import asyncio
import threading

import pytest

import runtime
from runtime import MemoryBackend
from runtime.ports import SystemBlocking

pytestmark = pytest.mark.real


@pytest.mark.clause("E-10", "E-51")
def test_blocking_work_is_done_beside_the_loop_and_in_order() -> None:
    """While a call blocks, the loop goes on; the next call waits for it."""
    done: list[int] = []
    gate = threading.Event()

    def first() -> int:
        gate.wait()
        done.append(1)
        return threading.get_ident()

    def second() -> int:
        done.append(2)
        return threading.get_ident()

    async def run() -> list[int]:
        blocking = SystemBlocking()
        both = [asyncio.ensure_future(blocking.run(each)) for each in (first, second)]
        await asyncio.wait(both, timeout=0)
        assert done == []
        # Only the loop can open the gate, so it was not held up.
        gate.set()
        threads = [await each for each in both]
        blocking.close()
        return threads

    threads = asyncio.run(run())
    assert done == [1, 2]
    assert len(set(threads)) == 1
    assert threads[0] != threading.get_ident()


@pytest.mark.clause("E-51")
def test_a_call_that_nobody_awaits_any_more_is_done_all_the_same() -> None:
    """Cancelling the wait says nothing about the work, and what fails is told."""
    done: list[str] = []
    gate = threading.Event()

    def first() -> None:
        gate.wait()
        done.append("first")

    def fail() -> None:
        raise OSError("no")

    async def run() -> None:
        blocking = SystemBlocking()
        both = [
            asyncio.ensure_future(blocking.run(each)) for each in (first, lambda: done.append("2"))
        ]
        await asyncio.wait(both, timeout=0)
        for waiting in both:
            waiting.cancel()
        await asyncio.wait(both)
        gate.set()
        with pytest.raises(OSError, match="no"):
            await blocking.run(fail)
        assert done == ["first", "2"]
        blocking.close()

    asyncio.run(run())


@pytest.mark.clause("E-33", "E-40", "F-12")
def test_sessions_are_kept_and_resumed_on_a_real_loop() -> None:
    """One runtime after the other on one store, with the thread of the system."""
    backend = MemoryBackend()

    async def run() -> list[str]:
        async with runtime.open_runtime(store=backend) as rt:
            handle = rt.agents.create(session_id="s")
            await runtime.exchange(handle.agent, "one")
            await handle.dispose()
            handle = await rt.agents.resume(session_id="s")
            await runtime.exchange(handle.agent, "two")
        async with runtime.open_runtime(store=backend) as rt:
            agent = (await rt.agents.resume(session_id="s")).agent
            return [each.text for each in agent.session.messages()]

    assert asyncio.run(run()) == ["one", "one", "two", "two"]
    assert backend.disk.writers == {}


@pytest.mark.clause("E-51")
def test_a_call_behind_the_end_is_refused_and_not_forgotten() -> None:
    """Nobody would ever do it, so whoever waited for it would wait for ever."""

    async def run() -> None:
        blocking = SystemBlocking()
        assert await blocking.run(lambda: "done") == "done"
        blocking.close()
        with pytest.raises(RuntimeError, match="was closed"):
            await asyncio.wait_for(blocking.run(lambda: "late"), 5)

    asyncio.run(run())
