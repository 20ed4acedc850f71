"""The end of the executor: what it runs ends with it, in the foreground and behind."""

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runtime import (
    BASH,
    AbortSignal,
    BashExecRequest,
    ExecutorClosedError,
    Limits,
)
from runtime.abort import AbortAuthority
from runtime.bash.executor import LocalBash
from runtime.ports import SystemProcesses
from runtime.processes import ProcessSpec
from statemachine.conformance.stage.stage import Stage

from .scene import GRACE_S, Scene

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.clause("H-41", "H-42")
@pytest.mark.seed("SEED-66")
def test_owner_gone_after_executor_dispose(scene: Scene) -> None:
    """Running jobs are killed and awaited, nobody is told, and nothing of any job is left."""
    scene.processes.ignore_term()
    bash = scene.bash
    job, process = scene.start(owner="s")
    done, finished = scene.start(owner="s")
    finished.end()
    told = len(scene.told)
    scene.wait(scene.fiber.dispose())
    assert scene.stage.now == GRACE_S
    assert process.signals == [signal.SIGTERM, signal.SIGKILL]
    assert finished.signals == []
    assert len(scene.told) == told
    assert bash.list() == ()
    assert (bash.owner_of(job.id), bash.owner_of(done.id)) == (None, None)
    assert scene.root.get(BASH) is None


@pytest.mark.clause("H-43")
def test_a_foreground_command_ends_with_the_executor(scene: Scene) -> None:
    """Whoever awaits it gets its result, and the unload waits until its group is gone."""
    scene.processes.ignore_term()
    running = scene.run()
    scene.wait(scene.fiber.dispose())
    assert running.process.is_gone
    result = running.result()
    assert (result.signal, result.is_aborted, result.is_timed_out) == ("SIGKILL", True, False)


@pytest.mark.clause("H-44")
def test_nothing_can_be_asked_of_an_executor_that_is_gone(scene: Scene) -> None:
    """By whoever held on to it; and nothing is started."""
    bash = scene.bash
    spec = bash.resolve(BashExecRequest(command="c"))
    job, process = scene.start()
    scene.wait(scene.fiber.dispose())
    started = len(scene.processes.started)
    acts: list[Callable[[], Any]] = [
        lambda: bash.start(spec),
        lambda: scene.wait(bash.run(spec)),
        lambda: bash.read(job.id),
        lambda: bash.kill(job.id),
        lambda: scene.wait(bash.finished(job.id)),
    ]
    for act in acts:
        with pytest.raises(ExecutorClosedError, match="look the service up again"):
            act()
    assert len(scene.processes.started) == started
    assert process.is_gone


@pytest.mark.clause("H-44", "H-41")
def test_what_starts_while_the_executor_departs_goes_with_it(scene: Scene) -> None:
    """By whoever held on to it, before it was its turn: nobody is told, and nothing is left."""
    bash = scene.bash
    end = scene.fiber.dispose()
    late = bash.start(bash.resolve(BashExecRequest(command="late")))
    scene.wait(end)
    assert scene.processes.last().is_gone
    assert (bash.get(late.id), scene.told) == (None, [])


@pytest.mark.clause("H-57")
def test_a_cancelled_run_ends_its_command_and_leaves_it_to_the_executor(scene: Scene) -> None:
    """The caller is free at once; the group gets its grace and its kill all the same."""
    scene.processes.ignore_term()
    running = scene.run()
    running.task.cancel()
    scene.quiet()
    assert running.task.cancelled()
    assert running.process.signals == [signal.SIGTERM]
    assert not running.process.is_gone
    scene.fire()
    assert running.process.is_gone


@pytest.mark.clause("H-58", "H-23")
def test_files_go_with_the_executor(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Those of jobs, of foreground commands, and of a command whose caller was cancelled."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    scene = Scene(stage, limits=Limits(output_bytes_max=4))
    job, process = scene.start()
    process.write(b"0123456789")
    path = scene.bash.read(job.id).stdout.spill_path
    assert path is not None
    assert Path(path).read_bytes() == b"0123456789"
    running = scene.run()
    running.process.write(b"0123456789")
    running.process.end()
    result = running.result()
    assert (result.stdout.text, result.stdout.is_lossy) == ("6789", True)
    assert result.stdout.spill_path is not None
    given_up = scene.run()
    given_up.process.write(b"0123456789")
    given_up.task.cancel()
    scene.quiet()
    assert len(list(Path(path).parent.iterdir())) == 2
    scene.wait(scene.root.fiber.dispose())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.clause("H-54", "H-58")
def test_the_file_of_a_job_goes_when_the_job_is_forgotten(stage: Stage) -> None:
    """With its session, or with the bound on finished jobs."""
    scene = Scene(stage, limits=Limits(output_bytes_max=4, finished_jobs_max=1))
    paths = []
    for _ in range(2):
        job, process = scene.start(owner="s")
        process.write(b"0123456789")
        process.end()
        path = scene.bash.read(job.id).stdout.spill_path
        assert path is not None
        paths.append(Path(path))
    assert [each.exists() for each in paths] == [False, True]
    scene.wait(scene.bash.end_session("s"))
    assert not paths[1].exists()
    scene.wait(scene.root.fiber.dispose())


@pytest.mark.clause("H-58")
def test_listeners_are_taken_off_the_signal(scene: Scene) -> None:
    """A signal that lives on keeps nothing of a command that is over."""
    authority = AbortAuthority()
    seen: AbortSignal = authority.signal
    _, process = scene.start(signal=seen)
    process.end()
    running = scene.run(signal=seen)
    running.process.end()
    assert running.is_done
    scene.quiet()
    assert seen._callbacks == []  # noqa: SLF001  # what it keeps


@pytest.mark.clause("H-55")
def test_a_system_without_process_groups_says_so(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything can be imported and set up; a command is refused."""
    monkeypatch.setattr("runtime.ports.has_process_groups", lambda: False)
    spec = ProcessSpec(arguments=("a",), workdir="/", environment={})
    events: Any = None
    with pytest.raises(OSError, match="Linux and macOS") as caught:
        SystemProcesses().start(spec, events)
    scene.processes.refusal = lambda _: caught.value
    running = scene.run()
    assert running.is_done
    assert "Linux and macOS" in str(running.task.exception())


class _LeavesTheForegroundAlone(LocalBash):
    """What a runtime does that ends the jobs it can list."""

    async def close(self) -> Any:  # noqa: ANN401  # as the original
        for job in self.list():
            self.kill(job.id)
        self._is_closed = True


def test_an_executor_that_leaves_the_foreground_alone_is_seen(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test of the foreground fails it."""
    monkeypatch.setattr("runtime.bash.plugin.LocalBash", _LeavesTheForegroundAlone)
    scene = Scene(stage)
    with pytest.raises(AssertionError):
        test_a_foreground_command_ends_with_the_executor(scene)
