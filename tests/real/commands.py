"""Real commands, and what is left of them: processes, zombies, descriptors."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest

from runtime.bash import (
    BASH,
    BashConfig,
    BashExecRequest,
    BashExecutor,
    BashResult,
    BashTask,
    bash_plugin,
)
from runtime.context import Context
from runtime.limits import Limits

from .talking import WITHIN_S

__all__ = [
    "MARK",
    "Bash",
    "descendants_of_mark",
    "descriptors",
    "needs_proc",
    "opened",
    "play",
    "run_program",
    "zombies",
]

T = TypeVar("T")

MARK: Final = "QUIESCE_MARK"
"""A variable that every process of a test inherits, also one that left its group."""

LIMITS: Final = Limits(kill_grace_s=0.05)

_LOOK_AGAIN_S: Final = 0.005

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="looks at processes through /proc"
)


class Bash:
    """An executor, and the marks of the test that uses it."""

    def __init__(self, executor: BashExecutor, mark: str) -> None:
        self.executor = executor
        self.mark = mark

    def _spec(self, command: str, fields: dict[str, Any]) -> Any:  # noqa: ANN401  # a spec
        environment = {MARK: self.mark, **fields.pop("environment", {})}
        request = BashExecRequest(command=command, environment=environment, **fields)
        return self.executor.resolve(request)

    async def run(self, command: str, **fields: Any) -> BashResult:  # noqa: ANN401  # of a request
        """Run in the foreground."""
        return await self.executor.run(self._spec(command, fields))

    def start(self, command: str, **fields: Any) -> BashTask:  # noqa: ANN401  # of a request
        """Start a job."""
        return self.executor.start(self._spec(command, fields))

    async def until(self, observe: Callable[[], bool]) -> None:
        """Observe again and again until it is so; the guard of the test ends a hang."""
        never = asyncio.get_running_loop().create_future()
        while not observe():
            await asyncio.wait((never,), timeout=_LOOK_AGAIN_S)

    async def hear(self, job: BashTask, text: str) -> str:
        """Read a job until it has written this; return all that was read on the way."""
        heard: list[str] = []

        def listen() -> bool:
            heard.append(self.executor.read(job.id).stdout.text)
            return text in "".join(heard)

        await self.until(listen)
        return "".join(heard)

    async def ended(self, job: BashTask) -> BashTask:
        """Wait until a job is over."""
        return await self.executor.finished(job.id)

    def left(self) -> list[int]:
        """Return the processes of this test that are alive."""
        return descendants_of_mark(self.mark)


@asynccontextmanager
async def opened(
    mark: str, limits: Limits = LIMITS, config: BashConfig | None = None
) -> AsyncIterator[Bash]:
    """Open an executor; when the block is left it is disposed of."""
    root = Context.root(limits=limits)
    await root.plugin(bash_plugin(limits=limits), config)
    executor = root.get(BASH)
    assert executor is not None
    try:
        yield Bash(executor, mark)
    finally:
        await root.fiber.dispose()


def run_program(body: Coroutine[Any, Any, T]) -> T:
    """Run on the stock loop, with a guard against a hang, and see that no task is left."""

    async def program() -> T:
        result = await asyncio.wait_for(body, WITHIN_S)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return result

    return asyncio.run(program())


def play(
    mark: str,
    body: Callable[[Bash], Coroutine[Any, Any, T]],
    limits: Limits = LIMITS,
    config: BashConfig | None = None,
) -> T:
    """Run a body with an executor; afterwards nothing of it is left anywhere."""
    before = descriptors()

    async def program() -> T:
        async with opened(mark, limits, config) as bash:
            return await body(bash)

    result = run_program(program())
    assert descendants_of_mark(mark) == []
    assert zombies() == []
    assert descriptors() == before
    return result


def descendants_of_mark(mark: str) -> list[int]:
    """Return every process that inherited this mark and is alive, wherever it went."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for entry in _processes():
        try:
            if (
                wanted in (entry / "environ").read_bytes().split(b"\0")
                and _state(entry) not in "ZX"
            ):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def zombies() -> list[int]:
    """Return the children of this process that ended and were not reaped."""
    found = []
    for entry in _processes():
        try:
            state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state == "Z" and int(parent) == os.getpid():
            found.append(int(entry.name))
    return found


def descriptors() -> int:
    """Count the open descriptors of this process."""
    return len(list(Path("/proc/self/fd").iterdir()))


def _processes() -> list[Path]:
    return [entry for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _state(entry: Path) -> str:
    return (entry / "stat").read_text().rpartition(")")[2].split()[0]
