"""An interpreter that goes without having said good-bye takes its commands along."""

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from .commands import descendants_of_mark, needs_proc
from .talking import ROOT, WITHIN_S, until

pytestmark = [pytest.mark.real, needs_proc]

PROGRAM = """
import asyncio, sys
from runtime import BASH, BashExecRequest, Limits, bash_plugin
from runtime.context import Context

async def main():
    root = Context.root()
    await root.plugin(bash_plugin(limits=Limits(output_bytes_max=10)))
    bash = root.get(BASH)
    deaf = "trap '' TERM; echo 0123456789; echo ready; sleep 600 & sleep 600; sleep 600"
    job = bash.start(bash.resolve(BashExecRequest(command=deaf)))
    while "ready" not in bash.read(job.id).stdout.text:
        await asyncio.sleep(0)
    run = asyncio.ensure_future(bash.run(bash.resolve(BashExecRequest(command="sleep 600"))))
    await asyncio.sleep(0)
    print(bash.read(job.id).stdout.spill_path)
    if "kill" in sys.argv:
        bash.kill(job.id)
    if "raise" in sys.argv:
        raise KeyError("program")
    sys.exit(3)

asyncio.run(main())
"""


def is_gone(mark: str, within_s: float) -> bool:
    """Look whether anything is left; if so, look away for a moment first."""
    select.select((), (), (), min(within_s, 0.01))
    return not descendants_of_mark(mark)


@pytest.mark.clause("H-51", "H-58")
@pytest.mark.parametrize("how", ["exit", "raise", "kill"])
def test_nothing_outlives_the_interpreter(how: str, tmp_path: Path) -> None:
    """Neither a job that ignores the request, nor a foreground command, nor a file; at once."""
    mark = f"{os.getpid()}-exit-{how}"
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, how],
        cwd=ROOT,
        env={**os.environ, "QUIESCE_MARK": mark, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    assert ended.returncode == (1 if how == "raise" else 3), ended.stderr
    assert ended.stdout.startswith(str(tmp_path))
    # The kill was sent before the interpreter was gone; the system may take a moment.
    until(lambda within_s: is_gone(mark, within_s))
    assert list(tmp_path.iterdir()) == []


ELSEWHERE = """
import asyncio, os, signal
del os.killpg, os.pidfd_open, os.setsid, signal.SIGKILL
import runtime

async def main():
    async with runtime.open_runtime() as rt:
        await rt.context.plugin(runtime.bash_plugin())
        await rt.context.plugin(runtime.bash_tools_plugin())
        bash = rt.context.get(runtime.BASH)
        try:
            await bash.run(bash.resolve(runtime.BashExecRequest(command="true")))
        except runtime.SpawnError as error:
            print(error)

asyncio.run(main())
"""


@pytest.mark.clause("H-55")
def test_where_there_are_no_process_groups_everything_else_works() -> None:
    """The package is imported, the plugins are loaded, and a command is refused with the reason."""
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", ELSEWHERE],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "only run on Linux and macOS" in ended.stdout
