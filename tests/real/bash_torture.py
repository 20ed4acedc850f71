"""A thousand commands of mixed nastiness, started and ended in every way, and nothing left.

    python -m tests.real.bash_torture --jobs 1000

Every command is one of a few kinds of trouble, and is ended in one of the ways that there are; so
many run at once, and whatever is left at the end goes with the executor. Then it is counted: live
processes that inherited the mark of this run, zombies, descriptors, files. The exit status is 0 if
there is nothing, 1 if there is, and 2 if it took too long.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attrs import define, field

from runtime.abort import AbortAuthority
from runtime.bash import SpawnError
from runtime.limits import Limits

from .commands import Bash, descendants_of_mark, descriptors, opened, zombies

if TYPE_CHECKING:
    from collections.abc import Coroutine

__all__ = ["KINDS", "WAYS", "Torture", "main"]

LIMITS: Final = Limits(
    kill_grace_s=0.1,
    output_bytes_max=4096,
    spill_file_bytes_max=1_000_000,
    spill_bytes_max=10_000_000,
    commands_running_max=1000,
)

KINDS: Final = {
    "obedient": "sleep 600",
    "deaf": "trap '' TERM; sleep 600; sleep 600",
    "a deaf child, redirected": "(trap '' TERM; exec >/dev/null 2>&1; sleep 600; sleep 600) & wait",
    "a shell that leaves a deaf child": (
        "(trap '' TERM; exec >/dev/null 2>&1; sleep 600; sleep 600) & exit 0"
    ),
    "noisy": "yes",
    "noisy and deaf": "trap '' TERM; while :; do echo noise; done",
    "a burst": "head -c 2000000 /dev/zero",
    "binary": "head -c 100000 /dev/urandom; exit 3",
    "over at once": "true",
    "its own killer": "kill -9 $$",
    "pipes held": "sleep 600 & echo done",
    "forks twice": "( ( sleep 600 & ) & ); sleep 600",
    "a pipeline": "sleep 600 | cat | cat",
    "many children": "for i in 1 2 3 4 5 6 7 8; do sleep 600 & done; wait",
    "stopped": "kill -STOP $$; sleep 600",
    "closed output": "exec >&- 2>&-; sleep 600",
    "a crowd at the exit": (
        "trap 'for i in 1 2 3; do sleep 600 & done; exit 0' TERM; sleep 600 & wait"
    ),
}
WAYS: Final = ("kill", "session", "timeout", "abort", "cancel", "end", "read and kill")
"""How a command is ended; `end` leaves it to the end of the executor."""


@define
class Torture:
    """One run."""

    jobs: int
    at_once: int
    mark: str
    outcomes: Counter[str] = field(factory=Counter)
    done: int = 0
    began_s: float = field(factory=time.monotonic)

    async def run(self) -> None:
        """Start and end all of them, and then the executor."""
        async with opened(self.mark, LIMITS) as bash:
            waiting: set[asyncio.Task[None]] = set()
            for number in range(self.jobs):
                if len(waiting) >= self.at_once:
                    ended, waiting = await asyncio.wait(
                        waiting, return_when=asyncio.FIRST_COMPLETED
                    )
                    self._note(ended)
                waiting.add(asyncio.ensure_future(self._one(bash, number)))
            self._note((await asyncio.wait(waiting))[0])
            say(f"{len(bash.left())} processes are left to the end of the executor")

    async def _one(self, bash: Bash, number: int) -> None:
        names = tuple(KINDS)
        command = KINDS[names[number % len(names)]]
        way = WAYS[number // len(names) % len(WAYS)]
        authority = AbortAuthority()
        body: Coroutine[Any, Any, str]
        if way in {"timeout", "abort", "cancel"}:
            body = self._foreground(bash, command, way, authority)
        else:
            body = self._background(bash, command, way, f"session {number}")
        self.outcomes[f"{way}: {await body}"] += 1

    async def _background(self, bash: Bash, command: str, way: str, owner: str) -> str:
        job = bash.start(command, owner=owner)
        await asyncio.wait((bash_ended(bash, job.id),), timeout=0.02)
        if way == "session":
            (ended,) = await bash.executor.end_session(owner)
            return ended.status.value
        if way == "end":
            return "left"
        if way == "read and kill":
            bash.executor.read(job.id)
        bash.executor.kill(job.id)
        return (await bash.ended(job)).status.value

    async def _foreground(
        self, bash: Bash, command: str, way: str, authority: AbortAuthority
    ) -> str:
        timeout_s = 0.02 if way == "timeout" else 60.0
        run = asyncio.ensure_future(
            bash.run(command, timeout_s=timeout_s, signal=authority.signal, stdin=b"x" * 100_000)
        )
        if way != "timeout":
            await asyncio.wait((run,), timeout=0.02)
        if way == "abort":
            authority.fire("enough")
        elif way == "cancel":
            run.cancel()
        await asyncio.wait((run,))
        if run.cancelled():
            return "cancelled"
        try:
            result = run.result()
        except SpawnError as error:
            return str(error)
        return "by a signal" if result.signal else "by itself"

    def _note(self, ended: set[asyncio.Task[None]]) -> None:
        for task in ended:
            task.result()
        self.done += len(ended)
        if self.done % 100 < len(ended):
            say(f"{self.done} of {self.jobs}, {time.monotonic() - self.began_s:.0f} s")


def bash_ended(bash: Bash, job_id: str) -> "asyncio.Task[Any]":
    """Wait for a job in a task of its own."""
    return asyncio.ensure_future(bash.executor.finished(job_id))


def say(line: str) -> None:
    """Tell whoever watches."""
    sys.stdout.write(f"torture: {line}\n")
    sys.stdout.flush()


def main(arguments: list[str] | None = None) -> int:
    """Run the torture and count what is left; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.real.bash_torture")
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--at-once", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=600.0, help="give up after so long")
    chosen = parser.parse_args(arguments)
    mark = f"torture-{os.getpid()}"
    before = descriptors()
    torture = Torture(chosen.jobs, chosen.at_once, mark)
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder
        try:
            asyncio.run(asyncio.wait_for(torture.run(), chosen.seconds))
        except TimeoutError:
            say(f"only {torture.done} of {chosen.jobs} within {chosen.seconds:g} s")
            return 2
        finally:
            tempfile.tempdir = None
        left = {
            "survivors": len(descendants_of_mark(mark)),
            "zombies": len(zombies()),
            "descriptors": descriptors() - before,
            "files": len(list(Path(folder).iterdir())),
        }
    for outcome, number in sorted(torture.outcomes.items()):
        say(f"  {number:5} {outcome}")
    say(", ".join(f"{number} {name}" for name, number in left.items()))
    return int(any(left.values()))


if __name__ == "__main__":
    sys.exit(main())
