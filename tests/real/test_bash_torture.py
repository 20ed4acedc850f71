"""A short run of the torture, and that what it would leave behind is counted."""

import os
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial

import pytest

from . import bash_torture
from .commands import MARK, descendants_of_mark, needs_proc
from .talking import until

pytestmark = [pytest.mark.real, needs_proc]


@pytest.mark.clause("H-28", "H-30", "H-32", "H-41", "H-43", "H-54", "H-58")
def test_nothing_is_left_of_every_kind_ended_in_every_way(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each kind of trouble meets each way to end it once."""
    jobs = len(bash_torture.KINDS) * len(bash_torture.WAYS)
    assert bash_torture.main(["--jobs", str(jobs), "--at-once", "30"]) == 0
    assert "0 survivors, 0 zombies, 0 descriptors, 0 files" in capsys.readouterr().out


def forget_a_process(self: bash_torture.Torture) -> Callable[[], object]:
    """Leave a process that nobody ends."""
    process = subprocess.Popen(["sleep", "600"], env={**os.environ, MARK: self.mark})
    # For a moment the system does not show the environment of a new process.
    until(lambda _: bool(descendants_of_mark(self.mark)))

    def end() -> None:
        process.kill()
        process.wait()

    return end


def forget_a_zombie(_: bash_torture.Torture) -> Callable[[], object]:
    """Leave a process that ended and that nobody waits for."""
    process = subprocess.Popen(["true"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    return process.wait


def forget_a_descriptor(_: bash_torture.Torture) -> Callable[[], object]:
    """Leave a descriptor that nobody closes."""
    return partial(os.close, os.open(os.devnull, os.O_RDONLY))


def forget_a_file(_: bash_torture.Torture) -> Callable[[], object]:
    """Leave a folder that nobody removes."""
    tempfile.mkdtemp()
    return lambda: None


@pytest.mark.parametrize(
    ("forget", "name"),
    [
        (forget_a_process, "survivors"),
        (forget_a_zombie, "zombies"),
        (forget_a_descriptor, "descriptors"),
        (forget_a_file, "files"),
    ],
)
def test_what_is_left_is_counted(
    forget: Callable[[bash_torture.Torture], Callable[[], object]],
    name: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A process, a zombie, a descriptor and a file that somebody forgot each fail the run."""
    clean: list[Callable[[], object]] = []
    run = bash_torture.Torture.run

    async def run_and_forget(self: bash_torture.Torture) -> None:
        await run(self)
        clean.append(forget(self))

    monkeypatch.setattr(bash_torture.Torture, "run", run_and_forget)
    try:
        assert bash_torture.main(["--jobs", "2"]) == 1
        assert f"1 {name}" in capsys.readouterr().out
    finally:
        for each in clean:
            each()


def test_a_run_that_takes_too_long_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """It ends what it started all the same."""
    assert bash_torture.main(["--jobs", "1000", "--seconds", "0.2"]) == 2
    assert "of 1000 within 0.2 s" in capsys.readouterr().out
