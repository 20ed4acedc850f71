"""Background jobs: their ids, their owners, who is told of their end, when they are forgotten."""

import errno
import logging
import re
import threading
from typing import Any

import pytest

from runtime import (
    BASH_FINISHED,
    BashExecRequest,
    BashFinished,
    BashTask,
    CallerError,
    JobStatus,
    LimitError,
    Limits,
    UnknownIdError,
)
from runtime.bash.executor import LocalBash
from runtime.context import Context, Plugin
from runtime.processes import ProcessSpec, Stream
from statemachine.conformance.stage.stage import Stage

from .scene import GRACE_S, Scene


@pytest.mark.clause("H-10")
@pytest.mark.case("CASE-119")
def test_ids_name_the_incarnation_and_count(scene: Scene) -> None:
    """A later executor gives none of the ids that this one gave."""
    first, second = scene.start()[0], scene.start()[0]
    assert (first.status, first.exit_code, first.signal) == (JobStatus.RUNNING, None, None)
    pattern = re.compile(r"bash-([0-9a-f]{4})-(\d+)")
    (ours, one), (same, two) = (pattern.fullmatch(each.id).groups() for each in (first, second))  # type: ignore[union-attr]  # both match
    assert (one, two) == ("1", "2")
    assert ours == same
    scene.wait(scene.fiber.restart())
    later = pattern.fullmatch(scene.start()[0].id)
    assert later is not None
    assert later[1] != ours
    with pytest.raises(UnknownIdError, match="belongs to an earlier process"):
        scene.bash.read(first.id)


@pytest.mark.clause("H-10")
def test_the_number_of_a_job_that_was_forgotten_is_not_given_again(scene: Scene) -> None:
    """Whoever kept an id never reads somebody else's job with it."""
    first, process = scene.start(owner="s")
    process.end()
    scene.wait(scene.bash.end_session("s"))
    assert scene.bash.list() == ()
    assert scene.start()[0].id.rpartition("-")[2] > first.id.rpartition("-")[2]


@pytest.mark.clause("H-11")
def test_a_job_has_no_timeout(scene: Scene) -> None:
    """Although its spec says one: no timer runs."""
    job, _ = scene.start(timeout_s=0.001)
    assert scene.stage.loop.next_timer() is None
    assert scene.task(job).status is JobStatus.RUNNING


@pytest.mark.clause("H-34", "H-36")
@pytest.mark.seed("SEED-55")
@pytest.mark.parametrize("owner", ["s", "", None, " ", "a" * 1000])
def test_owner_of_returns_the_token_as_it_was_given(scene: Scene, owner: str | None) -> None:
    """While the job runs and after its end; an empty token is one."""
    job, process = scene.start(owner=owner)
    assert scene.bash.owner_of(job.id) == owner
    process.end()
    assert scene.bash.owner_of(job.id) == owner
    assert scene.bash.owner_of("bash-0000-1") is None


@pytest.mark.clause("H-35")
@pytest.mark.seed("SEED-56")
def test_the_owner_is_not_on_the_public_job(scene: Scene) -> None:
    """There is one way to read it, and it is not this one."""
    job, _ = scene.start(owner="secret")
    assert "owner" not in BashTask.__annotations__
    assert "secret" not in repr(job)


@pytest.mark.clause("H-37")
def test_the_owner_of_a_foreground_command_has_no_effect(scene: Scene) -> None:
    """It is no job: nobody finds it, and the end of a session does not touch it."""
    running = scene.run(owner="s")
    assert scene.bash.list() == ()
    scene.wait(scene.bash.end_session("s"))
    assert running.process.signals == []
    running.process.end()
    assert running.result().is_aborted is False


@pytest.mark.clause("H-38", "H-13")
def test_every_job_is_announced_once_when_all_is_known(scene: Scene) -> None:
    """Completed, killed and never started alike."""
    done, process = scene.start("done")
    process.end(3)
    killed, _ = scene.start("killed")
    scene.bash.kill(killed.id)
    scene.processes.refusal = _no_directory
    failed = scene.bash.start(scene.bash.resolve(BashExecRequest(command="failed")))
    assert failed.status is JobStatus.RUNNING
    scene.quiet()
    assert scene.told == [scene.task(each) for each in (done, killed, failed)]
    assert [each.status for each in scene.told] == ["completed", "killed", "killed"]
    assert scene.bash.kill(done.id) is False
    scene.quiet()
    assert len(scene.told) == 3


def _no_directory(spec: ProcessSpec) -> OSError:
    return FileNotFoundError(errno.ENOENT, "No such file or directory", spec.workdir)


@pytest.mark.clause("H-13")
@pytest.mark.case("CASE-112")
def test_a_job_that_never_started_says_why(scene: Scene) -> None:
    """It is over, whoever asked for its end meanwhile, and its slot is free."""
    scene.processes.refusal = _no_directory
    job = scene.bash.start(scene.bash.resolve(BashExecRequest(command="c", workdir="/none")))
    assert scene.bash.kill(job.id) is True
    # Not one callback stands before the end of it.
    assert scene.stage.tick() == 1
    ended = scene.task(job)
    assert scene.wait(scene.bash.finished(job.id)) == ended
    assert (ended.status, ended.exit_code, ended.signal) == (JobStatus.KILLED, None, None)
    read = scene.bash.read(job.id)
    assert "working directory '/none': No such file" in read.stderr.text
    assert scene.bash.kill(job.id) is False


@pytest.mark.clause("H-39")
def test_a_listener_that_raises_keeps_nothing_from_the_others(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged, and the job is over for everybody."""

    def fail(_: BashFinished) -> None:
        raise KeyError("listener")

    scene.root.on(BASH_FINISHED, fail, prepend=True)
    job, process = scene.start()
    with caplog.at_level(logging.ERROR):
        process.end()
    assert [each.id for each in scene.told] == [job.id]
    assert "KeyError: 'listener'" in caplog.text


@pytest.mark.clause("H-39")
def test_an_announcement_that_is_refused_keeps_nobody_waiting(scene: Scene) -> None:
    """Too many announcements inside one another are refused; the job is over all the same."""

    def refuse(_: BashFinished) -> None:
        raise LimitError("nested too deep")

    bash: Any = scene.bash
    bash.announce = refuse
    job, process = scene.start()
    with pytest.raises(LimitError, match="nested too deep"):
        process.end()
    assert scene.wait(scene.bash.finished(job.id)).exit_code == 0


@pytest.mark.clause("H-40")
def test_a_listener_goes_with_its_fiber(scene: Scene) -> None:
    """Whoever was unloaded is told nothing any more."""
    told: list[BashFinished] = []

    def listen(context: Context, _: None) -> None:
        context.on(BASH_FINISHED, told.append)

    fiber = scene.root.plugin(Plugin(name="listener", apply=listen))
    scene.quiet()
    scene.start()[1].end()
    assert len(told) == 1
    fiber.dispose()
    scene.start()[1].end()
    assert len(told) == 1
    assert len(scene.told) == 2


@pytest.mark.clause("H-27")
def test_kill_is_true_once(scene: Scene) -> None:
    """For a running job; false while it ends and ever after; an unknown id is refused."""
    job, _ = scene.start()
    assert [scene.bash.kill(job.id) for _ in range(3)] == [True, False, False]
    assert scene.task(job).status is JobStatus.RUNNING
    scene.quiet()
    assert scene.task(job).status is JobStatus.KILLED
    assert scene.bash.kill(job.id) is False
    over, process = scene.start()
    process.end()
    assert scene.bash.kill(over.id) is False
    for verb in (scene.bash.kill, scene.bash.read):
        with pytest.raises(UnknownIdError, match="'bash-none' is unknown"):
            verb("bash-none")
    with pytest.raises(UnknownIdError):
        scene.wait(scene.bash.finished("bash-none"))
    assert scene.bash.get("bash-none") is None


@pytest.mark.clause("H-17", "H-16")
def test_there_is_one_place_to_read_from(scene: Scene) -> None:
    """Whoever reads, each byte is handed out once, and each stream has its own place."""
    job, process = scene.start()
    process.write(b"out")
    process.write(b"err", Stream.STDERR)
    first, second = scene.bash.read(job.id), scene.bash.read(job.id)
    assert (first.stdout.text, first.stderr.text) == ("out", "err")
    assert (second.stdout.text, second.stderr.text) == ("", "")


@pytest.mark.clause("H-53")
@pytest.mark.case("CASE-111")
def test_finished_jobs_can_be_read_until_too_many_have_finished_after_them(stage: Stage) -> None:
    """Those of another owner do not count; what finished first goes first, not what began first."""
    scene = Scene(stage, limits=Limits(finished_jobs_max=2))
    slow, slow_process = scene.start("slow", owner="a")
    quick = [scene.start(f"quick {n}", owner="a") for n in range(2)]
    other, other_process = scene.start("other", owner="b")
    for _, process in quick:
        process.write(b"text")
        process.end()
    other_process.end()
    assert [scene.text(job) for job, _ in quick] == ["text", "text"]
    assert [scene.text(job) for job, _ in quick] == ["", ""]
    slow_process.end()
    assert [each.command for each in scene.bash.list()] == ["slow", "quick 1", "other"]
    assert scene.bash.owner_of(quick[0][0].id) is None
    assert scene.text(slow) == scene.text(other) == ""
    scene.wait(scene.root.fiber.dispose())


@pytest.mark.clause("H-52")
def test_one_command_too_many_is_refused(stage: Stage) -> None:
    """In front and behind alike, and the end of one makes room."""
    scene = Scene(stage, limits=Limits(commands_running_max=2))
    _, process = scene.start()
    running = scene.run()
    with pytest.raises(LimitError, match="commands_running_max=2"):
        scene.start()
    refused = scene.run()
    assert refused.is_done
    assert isinstance(refused.task.exception(), LimitError)
    process.end()
    job, process = scene.start()
    running.process.end()
    assert scene.task(job).status is JobStatus.RUNNING
    scene.wait(scene.root.fiber.dispose())


@pytest.mark.clause("H-56")
@pytest.mark.parametrize("verb", ["start", "read", "kill"])
def test_a_call_from_another_thread_is_refused(scene: Scene, verb: str) -> None:
    """It says how to come back to the loop; nothing is started or changed."""
    job, process = scene.start()
    said: list[str] = []

    def elsewhere() -> None:
        try:
            scene.start() if verb == "start" else getattr(scene.bash, verb)(job.id)
        except CallerError as error:
            said.append(str(error))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert len(said) == 1
    assert "call_soon_threadsafe" in said[0]
    assert (len(scene.processes.started), process.signals) == (1, [])


@pytest.mark.clause("H-54")
@pytest.mark.case("CASE-107")
def test_the_end_of_a_session_ends_its_jobs_and_no_other(scene: Scene) -> None:
    """It waits until the groups are gone, and then nobody knows the jobs any more."""
    scene.processes.ignore_term()
    mine, stubborn = scene.start("mine", owner="s")
    done, process = scene.start("done", owner="s")
    process.end()
    others = [scene.start("other", owner=owner)[0] for owner in ("t", "", None)]
    ended = scene.wait(scene.bash.end_session("s"))
    assert scene.stage.now == GRACE_S
    assert stubborn.is_gone
    assert [(each.id, each.status) for each in ended] == [
        (mine.id, JobStatus.KILLED),
        (done.id, JobStatus.COMPLETED),
    ]
    assert scene.bash.list() == tuple(map(scene.task, others))
    assert scene.bash.owner_of(mine.id) is None
    assert scene.bash.jobs_of("s") == ()
    assert scene.wait(scene.bash.end_session("s")) == ()


@pytest.mark.clause("H-54")
def test_a_job_that_begins_while_its_session_ends_goes_with_it(scene: Scene) -> None:
    """Whoever was late does not outlive the session."""
    scene.processes.ignore_term()
    scene.start("first", owner="s")
    scene.stage.loop.call_later(GRACE_S / 2, lambda: scene.start("late", owner="s"))
    ended = scene.wait(scene.bash.end_session("s"))
    assert [each.command for each in ended] == ["first", "late"]
    assert scene.bash.list() == ()


@pytest.mark.clause("H-34")
def test_the_jobs_of_an_owner_can_be_listed(scene: Scene) -> None:
    """An empty token is one, and nobody's jobs are not its."""
    empty, _ = scene.start(owner="")
    scene.start(owner=None)
    mine, _ = scene.start(owner="s")
    assert scene.bash.jobs_of("") == (scene.task(empty),)
    assert scene.bash.jobs_of("s") == (scene.task(mine),)


class _ReadsTruth(LocalBash):
    """What a runtime does that takes an empty token for none."""

    def owner_of(self, job_id: str) -> str | None:
        return super().owner_of(job_id) or None


def test_an_executor_that_loses_empty_tokens_is_seen(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test of the tokens fails it."""
    monkeypatch.setattr("runtime.bash.plugin.LocalBash", _ReadsTruth)
    with pytest.raises(AssertionError):
        test_owner_of_returns_the_token_as_it_was_given(Scene(stage), "")
