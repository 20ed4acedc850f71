"""The random suite of background jobs, and that every fault planted in their path dies of it."""
# ruff: noqa: SLF001  # faults are planted inside

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import asdict

import runtime.bash.tools as tools_module
from runtime import AGENT_DISPOSED, AGENTS, BASH, AgentRegistry, BashExecRequest, BashTask
from runtime.bash.command import Command, Stop
from runtime.bash.executor import LocalBash, _Job
from runtime.bash.output import Output
from runtime.bash.rendering import render_read
from runtime.bash.tools import ForeignJobError, _Bodies
from statemachine.conformance.verdict.evidence import Kind
from statemachine.conformance.verdict.parts import merge_parts
from tests.conformance.bash_suite import bash_suite
from tests.conformance.job_ledger import BrokenError, Count

Plant = Callable[[pytest.MonkeyPatch], None]


@pytest.mark.clause("H-16", "H-28", "H-34", "H-36", "H-38", "H-40", "H-41", "H-54", "I-08", "I-09")
@pytest.mark.clause("I-11", "I-13", "I-15", "I-16", "I-17", "I-19", "I-31", "I-32")
def test_jobs_hold_in_every_interleaving(parts_directory: Path | None) -> None:
    """Whoever starts, reads, kills, leaves, comes back and is reloaded, in any order."""
    why, count = None, Count()
    try:
        bash_suite(count=count)
    except BrokenError as error:
        why = str(error)
        raise
    finally:
        if parts_directory is not None:
            (parts_directory / "bash.json").write_text(part(count, why), encoding="utf-8")
    # The shortest profile draws too little for that.
    missing = [name for name, number in asdict(count).items() if not number]
    assert not missing or count.programs < 100, count


def part(count: Count, why: str | None) -> str:
    """Tell the verdict what was looked at: whose jobs answered to whom, and who was told."""
    return json.dumps(
        {
            "criteria": [
                {
                    "id": "INV-17",
                    "checks": [
                        check("a job answers to its owner's token only", count.judged, "I-08", why),
                        seen("a stranger was refused", count.refused, "I-08"),
                        seen("an owner was not", count.allowed, "I-08"),
                        seen("refused behind a reload", count.refused_after_reload, "I-13"),
                        seen("asked while the tools were away", count.without_tools, "I-13"),
                    ],
                },
                {
                    "id": "INV-18",
                    "checks": [
                        check(
                            "each owner is told once, and nobody else", count.judged, "I-15", why
                        ),
                        seen("a live owner was told", count.told, "I-15"),
                        seen("it was another agent", count.told_to_another_agent, "I-16"),
                        seen("the gap lost a notice", count.lost_in_the_gap, "I-19"),
                    ],
                },
            ],
            "suites": [{"name": "bash", "examples": count.programs, "judged": count.judged}],
        },
        indent=2,
    )


def check(name: str, explored: int, clause: str, why: str | None) -> dict[str, object]:
    """Make a claim that was judged at every moment; it is broken by what broke the suite."""
    return {
        "name": f"jobs: {name}",
        "kind": "always",
        "explored": explored,
        "clauses": [clause],
        "why": why,
    }


def seen(name: str, explored: int, clause: str) -> dict[str, object]:
    """Make a claim that something came up."""
    return {**check(name, explored, clause, None), "kind": "sometimes"}


def test_the_part_of_the_verdict_can_be_read(tmp_path: Path) -> None:
    """What is written has the form that the verdict reads, and both kinds are there."""
    (tmp_path / "bash.json").write_text(part(Count(judged=3, told=1), "no"), encoding="utf-8")
    checks = merge_parts(tmp_path).checks
    assert {each.criterion for each in checks} == {"INV-17", "INV-18"}
    assert {each.kind for each in checks} == {Kind.ALWAYS, Kind.SOMETIMES}
    assert {each.why for each in checks if each.kind is Kind.ALWAYS} == {"no"}


# -- Planted faults --------------------------------------------------------------------------------


def _policy(patch: pytest.MonkeyPatch, is_foreign: Callable[[str | None, Any], bool]) -> None:
    def check_access(self: _Bodies, job_id: str, use: Any) -> None:  # noqa: ANN401  # a use
        if is_foreign(self.bash.owner_of(job_id), use):
            raise ForeignJobError(job_id)

    patch.setattr(_Bodies, "_check_access", check_access)


def _nobody_is_refused(patch: pytest.MonkeyPatch) -> None:
    _policy(patch, lambda _owner, _use: False)


def _an_empty_token_is_none(patch: pytest.MonkeyPatch) -> None:
    _policy(patch, lambda owner, use: bool(owner) and owner != tools_module._token(use))


def _no_token_is_an_owner(patch: pytest.MonkeyPatch) -> None:
    _policy(patch, lambda owner, use: owner != tools_module._token(use))


def _whoever_is_no_agent_may(patch: pytest.MonkeyPatch) -> None:
    def is_foreign(owner: str | None, use: Any) -> bool:  # noqa: ANN401  # a use
        token = tools_module._token(use)
        return owner is not None and token is not None and owner != token

    _policy(patch, is_foreign)


def _owners_are_kept_in_the_tools(patch: pytest.MonkeyPatch) -> None:
    start = LocalBash.start
    apply = tools_module._apply
    owners: dict[str, str | None] = {}

    def noting(self: LocalBash, spec: Any) -> BashTask:  # noqa: ANN401  # a spec
        task = start(self, spec)
        owners[task.id] = spec.owner
        return task

    def forgetful(context: Any, config: None) -> None:  # noqa: ANN401  # a context
        owners.clear()
        apply(context, config)

    patch.setattr(LocalBash, "start", noting)
    patch.setattr(LocalBash, "owner_of", lambda _, job_id: owners.get(job_id))
    patch.setattr(tools_module, "_apply", forgetful)


def _owners_end_with_their_jobs(patch: pytest.MonkeyPatch) -> None:
    over = LocalBash._job_over

    def forgetful(self: LocalBash, job: _Job) -> None:
        over(self, job)
        job.owner = None

    patch.setattr(LocalBash, "_job_over", forgetful)


def _told(
    patch: pytest.MonkeyPatch, is_told: Callable[[Any, str | None], bool], times: int
) -> None:
    def tell(context: Any, bash: Any, notice: Any) -> None:  # noqa: ANN401  # as the original
        owner, roster = bash.owner_of(notice.task.id), context.get(AGENTS)
        for agent in AgentRegistry(roster, context).list() if roster is not None else ():
            if is_told(agent, owner) and agent.status != "disposed":
                for _ in range(times):
                    agent.inject(f"Background job {notice.task.id} has finished")

    patch.setattr(tools_module, "_tell_owner", tell)


def _everybody_is_told(patch: pytest.MonkeyPatch) -> None:
    _told(patch, lambda _agent, owner: owner is not None, 1)


def _the_owner_is_told_twice(patch: pytest.MonkeyPatch) -> None:
    _told(patch, lambda agent, owner: agent.session.header.id == owner, 2)


def _the_owner_is_not_told(patch: pytest.MonkeyPatch) -> None:
    _told(patch, lambda _agent, _owner: False, 1)


def _the_owner_is_found_by_its_own_id(patch: pytest.MonkeyPatch) -> None:
    _told(patch, lambda agent, owner: agent.id == owner, 1)


def _the_first_agent_of_a_session_is_remembered(patch: pytest.MonkeyPatch) -> None:
    owners: dict[str, str] = {}

    def is_told(agent: Any, owner: str | None) -> bool:  # noqa: ANN401  # an agent
        if owner is None or agent.session.header.id != owner:
            return False
        return owners.setdefault(owner, agent.id) == str(agent.id)

    _told(patch, is_told, 1)


def _ends_are_announced_twice(patch: pytest.MonkeyPatch) -> None:
    over = LocalBash._job_over

    def twice(self: LocalBash, job: _Job) -> None:
        over(self, job)
        over(self, job)

    patch.setattr(LocalBash, "_job_over", twice)


def _a_cancel_takes_jobs_along(patch: pytest.MonkeyPatch) -> None:
    run = _Bodies.run

    async def with_the_signal(self: _Bodies, arguments: Any, use: Any) -> Any:  # noqa: ANN401  # as the original
        def request(**fields: Any) -> Any:  # noqa: ANN401  # as the original
            return BashExecRequest(**{**fields, "signal": use.signal})

        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(tools_module, "BashExecRequest", request)
            return await run(self, arguments, use)

    patch.setattr(_Bodies, "run", with_the_signal)


def _jobs_end_with_their_agent(patch: pytest.MonkeyPatch) -> None:
    apply = tools_module._apply

    def ending(context: Any, config: None) -> None:  # noqa: ANN401  # a context
        apply(context, config)
        bash = context.get(BASH)

        def end(notice: Any) -> None:  # noqa: ANN401  # a notice
            for job in bash.jobs_of(notice.agent.session.header.id):
                bash.kill(job.id)

        context.on(AGENT_DISPOSED, end)

    patch.setattr(tools_module, "_apply", ending)


def _jobs_end_with_the_tools(patch: pytest.MonkeyPatch) -> None:
    apply = tools_module._apply

    def ending(context: Any, config: None) -> None:  # noqa: ANN401  # a context
        apply(context, config)
        bash = context.get(BASH)

        def end() -> None:
            for job in bash.list():
                bash.kill(job.id)

        context.effect(lambda: end)

    patch.setattr(tools_module, "_apply", ending)


def _reads_begin_anew(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Output, "read", Output.tail)


def _reads_of_strangers_count(patch: pytest.MonkeyPatch) -> None:
    def read(self: _Bodies, arguments: Any, use: Any) -> str:  # noqa: ANN401  # as the original
        answer = self.bash.read(arguments["job_id"]) if self.bash.get(arguments["job_id"]) else None
        self._check_access(arguments["job_id"], use)
        return render_read(answer or self.bash.read(arguments["job_id"]))

    patch.setattr(_Bodies, "read", read)


def _a_kill_does_not_wait(patch: pytest.MonkeyPatch) -> None:
    async def kill(self: _Bodies, arguments: Any, use: Any) -> str:  # noqa: ANN401  # as the original
        self._check_access(arguments["job_id"], use)
        self.bash.kill(arguments["job_id"])
        return "killed"

    patch.setattr(_Bodies, "kill", kill)


def _a_session_ends_all_jobs(patch: pytest.MonkeyPatch) -> None:
    def all_of_them(self: LocalBash, _: str | None) -> tuple[_Job, ...]:
        return tuple(self._jobs.values())

    patch.setattr(LocalBash, "_jobs_with", all_of_them)


def _a_session_ends_without_its_jobs(patch: pytest.MonkeyPatch) -> None:
    async def end_session(self: LocalBash, owner: str) -> tuple[BashTask, ...]:  # as the original
        for job in self._jobs_with(owner):
            job.command.stop(Stop.KILL)
            self._forget(job)
        return ()

    patch.setattr(LocalBash, "end_session", end_session)


def _the_shell_is_the_group(patch: pytest.MonkeyPatch) -> None:
    exited = Command.exited

    def over(self: Command, exit_code: int | None) -> None:
        exited(self, exit_code)
        if not self.is_over:
            self._settle()

    patch.setattr(Command, "exited", over)


def _the_executor_leaves_its_commands(patch: pytest.MonkeyPatch) -> None:
    async def close(self: LocalBash) -> None:  # as the original
        self._is_closed = True
        self._jobs.clear()

    patch.setattr(LocalBash, "close", close)


def _a_cancelled_caller_leaves_its_command(patch: pytest.MonkeyPatch) -> None:
    stop = Command.stop

    def deaf(self: Command, why: Stop) -> bool:
        return why is not Stop.ABORT and stop(self, why)

    patch.setattr(Command, "stop", deaf)
    patch.setattr(LocalBash, "close", _close_without_the_foreground)


async def _close_without_the_foreground(self: LocalBash) -> None:
    self._is_closed = True
    for job in self._jobs.values():
        job.command.stop(Stop.KILL)
        await job.command.over


FAULTS: Final[dict[Plant, str]] = {
    _nobody_is_refused: "I-08",
    _an_empty_token_is_none: "I-08",
    _no_token_is_an_owner: "I-08",
    _whoever_is_no_agent_may: "I-08",
    _owners_are_kept_in_the_tools: "I-(08|15)",
    _owners_end_with_their_jobs: "I-08",
    _everybody_is_told: "I-15",
    _the_owner_is_told_twice: "I-15",
    _the_owner_is_not_told: "I-15",
    _the_owner_is_found_by_its_own_id: "I-15",
    _the_first_agent_of_a_session_is_remembered: "I-15",
    _ends_are_announced_twice: "H-38",
    _a_cancel_takes_jobs_along: "I-08",
    _jobs_end_with_their_agent: "I-08",
    _jobs_end_with_the_tools: "I-08",
    _reads_begin_anew: "H-16",
    _reads_of_strangers_count: "H-16",
    _a_kill_does_not_wait: "I-27",
    _a_session_ends_all_jobs: "(I-08|H-54)",
    _a_session_ends_without_its_jobs: "H-54",
    _the_shell_is_the_group: "H-28",
    _the_executor_leaves_its_commands: "H-4",
    _a_cancelled_caller_leaves_its_command: "H-4",
}


# What a broken executor leaves behind is not what is being tested.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.__name__.strip("_"))
def test_a_planted_fault_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each fault breaks the clause that it is about, within a few hundred programs."""
    plant(monkeypatch)
    with pytest.raises(BrokenError, match=f"^{FAULTS[plant]}"):
        bash_suite(examples=300, is_canary=True)
