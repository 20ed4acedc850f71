"""The end of one command: who is signalled when, and when it is over."""

import signal
from collections.abc import Callable

import pytest

from runtime import AbortSignal, BashConfig, BashExecSpec, JobStatus, Limits
from runtime.abort import AbortAuthority
from runtime.bash.command import Command
from runtime.processes import Stream
from statemachine.conformance.stage.stage import Stage

from .fake import FakeProcess
from .scene import GRACE_S, Scene

TERM, KILL = signal.SIGTERM, signal.SIGKILL


@pytest.mark.clause("H-28", "H-60", "H-15")
def test_a_killed_job_is_asked_to_end_and_its_verdict_comes_from_the_system(scene: Scene) -> None:
    """It is running until its group is gone; then it is killed, by the signal that did it."""
    job, process = scene.start()
    assert scene.bash.kill(job.id)
    assert process.signals == [TERM]
    assert scene.task(job).status is JobStatus.RUNNING
    scene.quiet()
    ended = scene.task(job)
    assert (ended.status, ended.exit_code, ended.signal) == (JobStatus.KILLED, None, "SIGTERM")


@pytest.mark.clause("H-28", "H-29")
def test_a_group_that_ignores_the_request_is_killed_when_the_grace_is_over(scene: Scene) -> None:
    """And not a moment before, however often its end is asked for."""
    scene.processes.ignore_term()
    job, process = scene.start()
    scene.bash.kill(job.id)
    began = scene.stage.now
    scene.stage.loop.call_later(GRACE_S / 2, scene.bash.kill, job.id)
    scene.fire()
    assert process.signals == [TERM]
    scene.fire()
    assert scene.stage.now == began + GRACE_S
    assert process.signals == [TERM, KILL]
    assert scene.task(job).signal == "SIGKILL"


@pytest.mark.clause("H-28", "H-32")
def test_the_exit_of_the_shell_does_not_save_the_rest_of_the_group(scene: Scene) -> None:
    """The shell obeys, another one does not, holds no pipe, and gets no more time."""
    scene.processes.ignore_term()
    job, process = scene.start()
    scene.bash.kill(job.id)
    process.close_output()
    scene.stage.loop.call_later(GRACE_S / 2, process.exit, -TERM)
    scene.fire()
    assert scene.task(job).status is JobStatus.RUNNING
    scene.fire()
    assert scene.stage.now == GRACE_S
    assert process.signals == [TERM, KILL]
    assert (scene.task(job).status, scene.task(job).signal) == (JobStatus.KILLED, "SIGTERM")


@pytest.mark.clause("H-33")
def test_a_descendant_that_keeps_the_pipes_has_one_grace(scene: Scene) -> None:
    """What it writes until then counts; then it is killed, and the result is there."""
    scene.processes.ignore_term()
    running = scene.run()
    running.process.write(b"done\n")
    running.process.exit(0)
    assert not running.is_done
    running.process.write(b"late\n")
    assert running.process.signals == []
    scene.fire()
    assert scene.stage.now == GRACE_S
    assert running.process.signals == [KILL]
    result = running.result()
    assert (result.exit_code, result.stdout.text) == (0, "done\nlate\n")


@pytest.mark.clause("H-33", "H-49")
def test_what_left_the_group_and_keeps_the_pipes_keeps_nobody(scene: Scene) -> None:
    """The group is gone, so nobody is signalled; the pipes are given back after the grace."""
    running = scene.run()
    running.process.exit(0)
    running.process.vanish()
    running.process.unread.append((Stream.STDOUT, b"found"))
    assert not running.is_done
    scene.fire()
    assert running.process.signals == []
    assert running.process.is_given_up
    assert running.result().stdout.text == "found"


@pytest.mark.clause("H-49")
def test_what_a_shell_leaves_behind_is_ended_with_it(scene: Scene) -> None:
    """It is asked to end once nobody listens any more, and killed a grace after the exit."""
    scene.processes.ignore_term()
    running = scene.run()
    running.process.exit(0)
    scene.stage.loop.call_later(GRACE_S / 2, running.process.close_output)
    scene.fire()
    assert running.process.signals == [TERM]
    assert not running.is_done
    scene.fire()
    assert scene.stage.now == GRACE_S
    assert running.process.signals == [TERM, KILL]
    assert running.result().exit_code == 0


@pytest.mark.clause("H-60")
@pytest.mark.case("CASE-109")
@pytest.mark.parametrize(
    ("exit_code", "is_killed", "expected"),
    [
        (0, False, (JobStatus.COMPLETED, 0, None)),
        (3, False, (JobStatus.COMPLETED, 3, None)),
        (-signal.SIGSEGV, False, (JobStatus.KILLED, None, "SIGSEGV")),
        (-KILL, True, (JobStatus.KILLED, None, "SIGKILL")),
        (0, True, (JobStatus.COMPLETED, 0, None)),
        (None, False, (JobStatus.KILLED, None, None)),
        (-40, False, (JobStatus.KILLED, None, "signal 40")),
    ],
)
def test_the_verdict_is_the_systems(
    scene: Scene,
    exit_code: int | None,
    is_killed: bool,  # noqa: FBT001  # a parameter of the test
    expected: object,
) -> None:
    """Whoever asked for the end: what the shell says when it exits is how the job ended."""
    scene.processes.ignore_term()
    job, process = scene.start()
    if is_killed:
        scene.bash.kill(job.id)
    process.end(exit_code)
    ended = scene.task(job)
    assert (ended.status, ended.exit_code, ended.signal) == expected


@pytest.mark.clause("H-08", "H-29")
def test_facts_of_a_result_are_independent(scene: Scene) -> None:
    """It timed out, was aborted during the grace, and exited 0 all the same."""
    authority = AbortAuthority()
    scene.processes.ignore_term()
    running = scene.run(timeout_s=5.0, signal=authority.signal)
    scene.fire()
    assert scene.stage.now == 5.0
    assert running.process.signals == [TERM]
    authority.fire("enough")
    assert running.process.signals == [TERM]
    running.process.end(0)
    result = running.result()
    assert (result.exit_code, result.signal) == (0, None)
    assert (result.is_timed_out, result.is_aborted, result.timeout_s) == (True, True, 5.0)


@pytest.mark.clause("H-09", "H-08")
def test_a_command_that_dies_of_a_signal_has_its_name_and_no_code(scene: Scene) -> None:
    """Nobody here asked for it, so it is neither timed out nor aborted."""
    running = scene.run()
    running.process.end(-KILL)
    result = running.result()
    assert (result.exit_code, result.signal) == (None, "SIGKILL")
    assert (result.is_timed_out, result.is_aborted) == (False, False)


@pytest.mark.clause("H-14")
@pytest.mark.parametrize("start", [Scene.start, Scene.run])
def test_a_signal_that_fires_ends_the_group(scene: Scene, start: Callable[..., object]) -> None:
    """In the background as in the foreground."""
    authority = AbortAuthority()
    start(scene, signal=authority.signal)
    authority.fire("enough")
    assert scene.processes.last().signals == [TERM]


@pytest.mark.clause("H-59")
def test_a_group_that_survives_its_kill_is_named(stage: Stage) -> None:
    """Nobody waits for it for ever: the teardown says that it is left."""
    scene = Scene(stage, limits=Limits(kill_grace_s=GRACE_S, kill_verify_s=2.0))
    scene.processes.ignore_everything()
    job, process = scene.start()
    report = scene.wait(scene.fiber.dispose())
    assert stage.now == GRACE_S + 2.0
    assert process.signals == [TERM, KILL]
    assert process.is_given_up
    assert report.stragglers == (f"process group of {job.id}",)


@pytest.mark.clause("H-59", "H-60")
def test_a_verdict_that_was_given_up_is_not_changed_by_a_late_exit(stage: Stage) -> None:
    """What was told of a job stays true of it."""
    scene = Scene(stage, limits=Limits(kill_grace_s=GRACE_S, kill_verify_s=2.0))
    scene.processes.ignore_everything()
    running = scene.run(timeout_s=1.0)
    assert scene.wait(running.task).is_group_gone is False
    job, process = scene.start()
    scene.bash.kill(job.id)
    told = scene.wait(scene.bash.finished(job.id))
    assert (told.status, told.signal) == (JobStatus.KILLED, None)
    process.end(0)
    assert scene.task(job) == told
    assert scene.told == [told]


@pytest.mark.clause("H-02")
def test_what_a_spec_says_is_what_is_run(stage: Stage) -> None:
    """No default and no bound is applied a second time, however the executor is configured."""
    config = BashConfig(program="sh", workdir="/w", environment={})
    scene = Scene(stage, Limits(command_timeout_max_s=5), config)
    spec = BashExecSpec(
        command="c", workdir="/elsewhere", timeout_s=7, owner=None, stdin=b"", environment={"A": ""}
    )
    scene.bash.start(spec)
    running = stage.loop.create_task(scene.bash.run(spec))
    scene.quiet()
    for process in scene.processes.started:
        said = (process.text, process.spec.workdir, process.spec.stdin)
        assert said == ("c", "/elsewhere", b"")
        assert process.spec.environment["A"] == ""
    assert len(scene.processes.started) == 2
    result = scene.wait(running)
    assert (stage.now, result.is_timed_out) == (7, True)
    scene.wait(scene.root.fiber.dispose())


@pytest.mark.clause("H-29")
def test_a_request_while_the_pipes_are_awaited_ends_the_group_at_once(scene: Scene) -> None:
    """The grace of the exit goes on; it does not begin anew."""
    job, process = scene.start()
    process.exit(0)
    assert process.signals == []
    scene.bash.kill(job.id)
    assert process.signals == [TERM]
    scene.quiet()
    assert scene.task(job).exit_code == 0


@pytest.mark.clause("H-12", "H-07")
def test_a_signal_that_has_fired_starts_nothing(scene: Scene) -> None:
    """Neither in the background nor in the foreground, and the reason is said."""
    authority = AbortAuthority()
    authority.fire("too late")
    with pytest.raises(Exception, match="aborted before it began: too late"):
        scene.start(signal=authority.signal)
    running = scene.run(signal=authority.signal)
    assert running.is_done
    assert "too late" in str(running.task.exception())
    assert scene.processes.started == []
    assert scene.bash.list() == ()


class _ForgetsTheGroup(Command):
    """What a runtime does that looks at the shell only."""

    def exited(self, exit_code: int | None) -> None:
        super().exited(exit_code)
        self.gone()


class _WaitsForThePipes(Command):
    """What a runtime does that takes the end of the output for the end of the command."""

    def exited(self, exit_code: int | None) -> None:
        if not self._is_closed:
            return
        super().exited(exit_code)


class _BeginsAnew(Command):
    """What a runtime does that counts the grace from the last request."""

    def stop(self, why: object) -> bool:
        self._arm(self.limits.kill_grace_s, self._kill)
        return super().stop(why)  # type: ignore[arg-type]  # whatever it was given


@pytest.mark.parametrize(
    ("broken", "test"),
    [
        (_ForgetsTheGroup, test_the_exit_of_the_shell_does_not_save_the_rest_of_the_group),
        (_ForgetsTheGroup, test_what_a_shell_leaves_behind_is_ended_with_it),
        (_WaitsForThePipes, test_a_descendant_that_keeps_the_pipes_has_one_grace),
        (_BeginsAnew, test_a_group_that_ignores_the_request_is_killed_when_the_grace_is_over),
    ],
)
def test_a_broken_command_is_seen(
    broken: type[Command],
    test: Callable[[Scene], None],
    stage: Stage,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each defect that was seen in the wild fails the test that is about it."""
    monkeypatch.setattr("runtime.bash.executor.Command", broken)
    with pytest.raises(AssertionError):
        test(Scene(stage))


def test_the_signal_of_a_turn_is_a_signal(scene: Scene) -> None:
    """The type says so; this keeps a type checker looking at it."""
    signal_of_a_turn: AbortSignal = AbortAuthority().signal
    scene.start(signal=signal_of_a_turn)
    assert isinstance(scene.processes.last(), FakeProcess)
