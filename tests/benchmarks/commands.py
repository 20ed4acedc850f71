"""The same commands through the executor and through the means of the standard library."""

import asyncio
import os
import signal
import time
import tracemalloc
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from attrs import define

from runtime.bash import BASH, BashExecRequest, BashExecSpec, BashExecutor, BashTask, bash_plugin
from runtime.context import Context
from runtime.limits import Limits
from runtime.ports import SystemProcesses
from runtime.processes import Process as ProcessGroup
from runtime.processes import ProcessEvents, ProcessSpec, Stream

from .measure import Contender

__all__ = ["BYTES", "PROCESSES", "contenders", "memory_of_an_endless_writer"]

BYTES: Final = 50_000_000
PROCESSES: Final = 50

_HELLO: Final = "echo hello"
_FIRST: Final = "echo hello; exec sleep 600"
_MUCH: Final = f"head -c {BYTES} /dev/zero"
_TREE: Final = f"for i in $(seq {PROCESSES - 1}); do sleep 600 & done; echo ready; wait"


@define(eq=False)
class _Ear:
    """Passes on what becomes of a group, and says when there is output."""

    events: ProcessEvents
    news: asyncio.Event

    def received(self, stream: Stream, data: bytes) -> None:
        self.events.received(stream, data)
        self.news.set()

    def closed(self) -> None:
        self.events.closed()

    def exited(self, exit_code: int | None) -> None:
        self.events.exited(exit_code)

    def gone(self) -> None:
        self.events.gone()


@define(eq=False)
class _Heard:
    """Real processes, and a way to wait for the next output of any of them."""

    news: asyncio.Event

    def start(self, spec: ProcessSpec, events: ProcessEvents) -> ProcessGroup:
        """Start one and listen, too."""
        return SystemProcesses().start(spec, _Ear(events, self.news))


@define(eq=False)
class Bench:
    """An executor, and what is heard of its processes."""

    bash: BashExecutor
    news: asyncio.Event

    async def hear(self, job: BashTask) -> None:
        """Wait until a job has written something."""
        while not self.bash.read(job.id).stdout.text:
            self.news.clear()
            await self.news.wait()


@asynccontextmanager
async def executor(limits: Limits) -> AsyncIterator[Bench]:
    """Open an executor."""
    root = Context.root(limits=limits)
    news = asyncio.Event()
    await root.plugin(bash_plugin(limits=limits, processes=_Heard(news)))
    bash = root.get(BASH)
    assert bash is not None
    try:
        yield Bench(bash, news)
    finally:
        await root.fiber.dispose()


def contenders(ours: Bench, spilling: Bench) -> dict[str, Contender]:
    """Return everything that is compared; time is the clock's, because others do the work."""
    acts: dict[str, Callable[[], Awaitable[int]]] = {
        "round trip, bare": _bare_round_trip,
        "round trip, ours": partial(_round_trip, ours.bash),
        "first byte, bare": _bare_first_byte,
        "first byte, ours": partial(_first_byte, ours),
        "output, bare": _bare_output,
        "output, ours": partial(_output, ours.bash),
        "output, ours, kept in a file": partial(_output, spilling.bash),
        "end of a tree, bare": _bare_end_of_a_tree,
        "end of a tree, ours": partial(_end_of_a_tree, ours),
    }
    return {name: partial(_repeated, act) for name, act in acts.items()}


async def _repeated(act: Callable[[], Awaitable[int]], items: int) -> int:
    return sum([await act() for _ in range(items)])


async def _bare(command: str) -> Process:
    return await asyncio.create_subprocess_exec(
        "bash", "-c", command, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, start_new_session=True
    )


def _spec(bash: BashExecutor, command: str) -> BashExecSpec:
    return bash.resolve(BashExecRequest(command=command))


async def _bare_round_trip() -> int:
    began = time.perf_counter_ns()
    process = await _bare(_HELLO)
    output, _ = await process.communicate()
    took = time.perf_counter_ns() - began
    assert output == b"hello\n"
    return took


async def _round_trip(bash: BashExecutor) -> int:
    began = time.perf_counter_ns()
    result = await bash.run(_spec(bash, _HELLO))
    took = time.perf_counter_ns() - began
    assert result.stdout.text == "hello\n"
    return took


async def _bare_first_byte() -> int:
    began = time.perf_counter_ns()
    process = await _bare(_FIRST)
    assert process.stdout is not None
    await process.stdout.read(1)
    took = time.perf_counter_ns() - began
    process.kill()
    await process.communicate()
    return took


async def _first_byte(ours: Bench) -> int:
    bash = ours.bash
    began = time.perf_counter_ns()
    job = bash.start(_spec(bash, _FIRST))
    await ours.hear(job)
    took = time.perf_counter_ns() - began
    bash.kill(job.id)
    await bash.finished(job.id)
    return took


async def _bare_output() -> int:
    process = await _bare(_MUCH)
    assert process.stdout is not None
    began, total = time.perf_counter_ns(), 0
    while data := await process.stdout.read(65536):
        total += len(data)
    took = time.perf_counter_ns() - began
    await process.communicate()
    assert total == BYTES
    return took


async def _output(bash: BashExecutor) -> int:
    began = time.perf_counter_ns()
    result = await bash.run(_spec(bash, _MUCH))
    took = time.perf_counter_ns() - began
    assert result.stdout.total_bytes == BYTES
    return took


async def _bare_end_of_a_tree() -> int:
    process = await _bare(_TREE)
    assert process.stdout is not None
    await process.stdout.readline()
    began = time.perf_counter_ns()
    os.killpg(process.pid, signal.SIGTERM)
    await process.communicate()
    return time.perf_counter_ns() - began


async def _end_of_a_tree(ours: Bench) -> int:
    bash = ours.bash
    job = bash.start(_spec(bash, _TREE))
    await ours.hear(job)
    began = time.perf_counter_ns()
    bash.kill(job.id)
    await bash.finished(job.id)
    return time.perf_counter_ns() - began


async def memory_of_an_endless_writer(bash: BashExecutor) -> tuple[int, int]:
    """Return how much an endless writer wrote, and the largest heap meanwhile, in bytes."""
    job = bash.start(_spec(bash, "yes"))
    tracemalloc.start()
    written = 0
    while written < BYTES:
        await asyncio.sleep(0)
        written = bash.read(job.id).stdout.total_bytes
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    bash.kill(job.id)
    await bash.finished(job.id)
    return written, peak
