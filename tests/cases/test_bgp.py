"""Background jobs: whose they are, what ends them, and what is known of them afterwards.

The world is that of the suite of jobs, with its oracles: who may do what, who is told, what may be
signalled. What needs a real shell stands in tests/real.
"""

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from runtime import BashExecRequest, BashExecSpec, BashTask, JobStatus, ToolUse
from runtime.bash import tools as tools_module
from runtime.bash.command import Command, Stop
from runtime.bash.executor import LocalBash
from runtime.bash.tools import _Bodies
from statemachine.conformance.stage.schedules import Actor, Scenario, search
from statemachine.conformance.stage.stage import Stage
from tests.conformance.job_ledger import Count
from tests.conformance.job_world import JobWorld

from .conftest import Examine

Act = Callable[[JobWorld], object]
Scenes = tuple[Scenario[JobWorld], ...]


def actor(name: str, *acts: Act) -> Actor[JobWorld]:
    """Name somebody outside and what they do."""
    return Actor(name=name, actions=acts)


def scene(
    name: str, *actors: Actor[JobWorld], check: Act, before: Act | None = None
) -> Scenario[JobWorld]:
    """Tell a scenario: session s is open by a and t by b, and a has a job that wrote a word."""

    def setup(stage: Stage) -> JobWorld:
        world = JobWorld(Count(), stage)
        world.open("a", "s")
        world.open("b", "t")
        world.start(world.agents[0], is_deaf=False)
        world.write(world.jobs[0])
        if before is not None:
            before(world)
            stage.run_until_quiet()
        return world

    def judge(world: JobWorld) -> None:
        try:
            check(world)
            world.finish()
        finally:
            world.close()

    return Scenario(name=name, actors=actors, setup=setup, check=judge)


def nothing(_: JobWorld) -> None:
    """Leave it to the oracles."""


def task(world: JobWorld, number: int = 0) -> BashTask | None:
    """Return what is known of a job."""
    return world.bash.get(world.jobs[number].id)


def owner_reads(world: JobWorld) -> None:
    """Read the job from the session that it belongs to."""
    world.read(world.agents[0], world.jobs[0])


def owner_kills(world: JobWorld) -> None:
    """Kill the job from the session that it belongs to."""
    world.kill(world.agents[0], world.jobs[0])


def stranger_reads(world: JobWorld) -> None:
    """Read the job from another session."""
    world.read(world.agents[1], world.jobs[0])


def stranger_kills(world: JobWorld) -> None:
    """Kill the job from another session."""
    world.kill(world.agents[1], world.jobs[0])


def nobody_reads(world: JobWorld) -> None:
    """Read the job from outside of any session."""
    world.read(None, world.jobs[0])


def it_writes(world: JobWorld) -> None:
    """Let the job write another word."""
    world.write(world.jobs[0])


def it_exits(code: int) -> Act:
    """Let the job exit."""
    return lambda world: world.happen(world.jobs[0].process, "end", code)


def case_103() -> Scenes:
    """The owner may whenever there are tools, the stranger never may."""

    def check(world: JobWorld) -> None:
        assert not world.jobs[0].process.signals

    return (
        scene(
            "a reload",
            actor("host", JobWorld.reload_tools),
            actor("owner", owner_reads, it_writes, owner_reads),
            actor("stranger", stranger_reads, stranger_kills),
            check=check,
        ),
        scene(
            "a reload while the owner kills",
            actor("host", JobWorld.reload_tools),
            actor("owner", owner_kills, owner_reads),
            actor("stranger", stranger_kills),
            check=nothing,
        ),
    )


@pytest.mark.case("CASE-103")
@pytest.mark.clause("I-08", "I-13")
def test_a_reload_of_the_tools_forgets_nothing(examine: Examine) -> None:
    """The owner may whenever there are tools, the stranger never may."""
    examine(*case_103())


def case_104() -> Scenes:
    """The owner reads every word, whoever tried before."""

    def check(world: JobWorld) -> None:
        assert not world.jobs[0].process.signals
        owner_reads(world)
        assert world.jobs[0].read == world.jobs[0].written != []

    return (
        scene(
            "strangers",
            actor("job", it_writes, it_writes),
            actor("stranger", stranger_reads, stranger_kills),
            actor("nobody", nobody_reads, lambda world: world.kill(None, world.jobs[0])),
            check=check,
        ),
    )


@pytest.mark.case("CASE-104")
@pytest.mark.clause("I-08", "I-10")
def test_whoever_guesses_an_id_learns_and_changes_nothing(examine: Examine) -> None:
    """The owner reads every word, whoever tried before."""
    examine(*case_104())


def case_107() -> Scenes:
    """Those that ignore TERM, those that just exit, and none of another session."""

    def before(world: JobWorld) -> None:
        world.start(world.agents[0], is_deaf=True)
        world.start(world.agents[1], is_deaf=False)
        world.leave(world.agents[0])

    def check(world: JobWorld) -> None:
        assert world.bash.jobs_of("s") == ()
        assert [job.process.is_gone for job in world.jobs[:2]] == [True, True]
        other = task(world, 2)
        assert other is not None
        assert other.status is JobStatus.RUNNING
        assert world.jobs[2].process.signals == []

    return (
        scene(
            "the end of a session",
            actor("host", lambda world: world.end_session("s")),
            actor("job", it_writes, it_exits(0)),
            actor("stranger", stranger_reads),
            before=before,
            check=check,
        ),
    )


@pytest.mark.case("CASE-107")
@pytest.mark.clause("H-54")
def test_the_end_of_a_session_ends_its_jobs(examine: Examine) -> None:
    """Those that ignore TERM, those that just exit, and none of another session."""
    examine(*case_107())


def case_108() -> Scenes:
    """Nobody signals it, and whoever opens the session again reads all of it."""

    def check(world: JobWorld) -> None:
        world.stage.run_until_quiet()
        world.open("c", "s")
        world.read(world.agents[-1], world.jobs[0])
        assert world.jobs[0].read == world.jobs[0].written != []
        assert world.jobs[0].process.signals == []

    return (
        scene(
            "a cancel and a dispose",
            actor("user", lambda world: world.cancel(world.agents[0])),
            actor("host", lambda world: world.leave(world.agents[0])),
            actor("job", it_writes, it_writes),
            actor("reader", owner_reads),
            check=check,
        ),
    )


@pytest.mark.case("CASE-108")
@pytest.mark.clause("I-31", "I-32", "I-11")
def test_a_job_outlives_its_turn_and_its_agent(examine: Examine) -> None:
    """Nobody signals it, and whoever opens the session again reads all of it."""
    examine(*case_108())


def case_109(code: int) -> Scenes:
    """Whether the kill came first or the exit: the shell's own end is the verdict."""

    def check(world: JobWorld) -> None:
        ended = task(world)
        assert ended is not None
        is_killed = bool(world.jobs[0].process.signals)
        by_itself = {0: (0, None), 3: (3, None), -11: (None, "SIGSEGV")}[code]
        verdict = (ended.exit_code, ended.signal)
        assert verdict == by_itself or (is_killed and verdict == (None, "SIGTERM"))
        assert (ended.status is JobStatus.COMPLETED) is (ended.exit_code is not None)

    return (
        scene(
            "a kill and an exit",
            actor("owner", owner_kills),
            actor("job", it_exits(code)),
            check=check,
        ),
    )


@pytest.mark.case("CASE-109")
@pytest.mark.clause("H-15", "H-60")
@pytest.mark.parametrize("code", [0, 3, -11])
def test_how_a_job_ended_is_what_the_system_says(examine: Examine, code: int) -> None:
    """Whether the kill came first or the exit: the shell's own end is the verdict."""
    examine(*case_109(code))


def case_111() -> Scenes:
    """Its output once, and how it ended as often as somebody asks."""

    def check(world: JobWorld) -> None:
        owner_reads(world)
        assert world.jobs[0].read == world.jobs[0].written
        owner_reads(world)
        assert world.count.allowed == 4

    return (
        scene(
            "reads around the end",
            actor("job", it_writes, it_exits(0)),
            actor("owner", owner_reads, owner_reads),
            check=check,
        ),
    )


@pytest.mark.case("CASE-111")
@pytest.mark.clause("H-16", "H-53")
def test_a_finished_job_can_be_read(examine: Examine) -> None:
    """Its output once, and how it ended as often as somebody asks."""
    examine(*case_111())


def case_112() -> Scenes:
    """Whatever is done with it meanwhile; its owner is told once."""

    def start(world: JobWorld) -> None:
        world.shop.processes.refusal = lambda spec: FileNotFoundError(2, "none", spec.workdir)
        world.start(world.agents[0], is_deaf=False)
        world.shop.processes.refusal = None

    def kill(world: JobWorld) -> None:
        if len(world.jobs) > 1:
            world.kill(world.agents[0], world.jobs[1])

    def check(world: JobWorld) -> None:
        for job in world.jobs[1:]:
            refused = world.bash.get(job.id)
            assert refused is not None
            assert (refused.status, refused.exit_code) == (JobStatus.KILLED, None)
            assert job.announced == 1
            assert "working directory" in world.bash.read(job.id).stderr.text

    return (
        scene(
            "a start that is refused",
            actor("owner", start, kill),
            actor("host", JobWorld.reload_tools),
            check=check,
        ),
    )


@pytest.mark.case("CASE-112")
@pytest.mark.clause("H-07", "H-13")
def test_a_job_that_cannot_start_is_over(examine: Examine) -> None:
    """Whatever is done with it meanwhile; its owner is told once."""
    examine(*case_112())


def _nobody_is_refused(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_Bodies, "_check_access", lambda *_: None)


def _jobs_obey_the_turn(patch: pytest.MonkeyPatch) -> None:
    resolve = LocalBash.resolve

    def with_the_signal(self: LocalBash, request: BashExecRequest) -> BashExecSpec:
        return evolve(resolve(self, request), signal=seen[-1].signal if seen else None)

    seen: list[ToolUse] = []
    token = tools_module._token  # noqa: SLF001  # where the use passes by

    def noting(use: ToolUse) -> str | None:
        seen.append(use)
        return token(use)

    patch.setattr(tools_module, "_token", noting)
    patch.setattr(LocalBash, "resolve", with_the_signal)


def _a_session_ends_at_once(patch: pytest.MonkeyPatch) -> None:
    async def end_session(self: LocalBash, owner: str) -> tuple[BashTask, ...]:  # as the original
        return tuple(self.get(job.id) or job for job in self.jobs_of(owner) if self.kill(job.id))

    patch.setattr(LocalBash, "end_session", end_session)


def _killed_is_what_was_asked(patch: pytest.MonkeyPatch) -> None:
    stop = Command.stop

    def verdict(self: Command, why: Stop) -> bool:
        self.exit_code, self.killed_by = None, 9
        return stop(self, why)

    patch.setattr(Command, "stop", verdict)


def _finished_jobs_are_forgotten(patch: pytest.MonkeyPatch) -> None:
    over = LocalBash._job_over  # noqa: SLF001  # the fault is planted inside

    def forget(self: LocalBash, job: Any) -> None:  # noqa: ANN401  # a job
        over(self, job)
        self._forget(job)  # the fault is planted inside

    patch.setattr(LocalBash, "_job_over", forget)


def _failed_starts_run_for_ever(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Command, "fail", lambda *_: None)


@pytest.mark.parametrize(
    ("scenes", "plant"),
    [
        (case_103(), _nobody_is_refused),
        (case_104(), _nobody_is_refused),
        (case_107(), _a_session_ends_at_once),
        (case_108(), _jobs_obey_the_turn),
        (case_109(0), _killed_is_what_was_asked),
        (case_111(), _finished_jobs_are_forgotten),
        (case_112(), _failed_starts_run_for_ever),
    ],
)
def test_a_planted_fault_is_found(
    scenes: Scenes, plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each case is broken by the fault that it tells of."""
    plant(monkeypatch)
    assert any(search(each, deviations=1).failure is not None for each in scenes)
