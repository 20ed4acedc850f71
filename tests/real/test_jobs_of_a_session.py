"""A background job belongs to its session: it outlives its agent and ends with the session."""

import asyncio
from pathlib import Path

import pytest

from runtime import BashExecRequest, JobStatus, Runtime, exchange, open_runtime
from runtime.bash import BashTask, bash_plugin, bash_tools_plugin

from .commands import needs_proc
from .talking import WITHIN_S

pytestmark = [pytest.mark.real, needs_proc]


def started(rt: Runtime, owner: str) -> BashTask:
    """Start a job that would take for ever."""
    assert rt.bash is not None
    return rt.bash.start(rt.bash.resolve(BashExecRequest(command="sleep 600", owner=owner)))


async def told(rt: Runtime, session_id: str, job: BashTask) -> None:
    """Wait until the log of a live session tells of a job."""
    session = rt.sessions.get(session_id)
    assert session is not None
    async for record in session.follow():
        if record.type == "context/message" and job.id in str(record.data["content"]):
            return


@pytest.mark.clause("D-63", "I-15", "I-16", "H-34")
def test_a_resumed_session_regains_its_job_and_the_end_of_the_session_ends_it(
    tmp_path: Path,
) -> None:
    """Its agent goes and comes back; the job runs, answers to it, and its notice reaches it."""

    async def story() -> None:
        async with asyncio.timeout(WITHIN_S), open_runtime(store=tmp_path / "s.db") as rt:
            await rt.context.plugin(bash_plugin())
            await rt.context.plugin(bash_tools_plugin())
            assert rt.bash is not None
            async with rt.agents.create(session_id="s") as agent:
                await exchange(agent, "hello")
                first, second = started(rt, "s"), started(rt, "s")
            assert [job.status for job in rt.bash.jobs_of("s")] == [JobStatus.RUNNING] * 2
            async with await rt.agents.resume(session_id="s"):
                assert rt.bash.kill(first.id)
                await told(rt, "s", first)
            assert rt.bash.jobs_of("s")[1].status is JobStatus.RUNNING
            await rt.sessions.end("s")
            assert rt.bash.jobs_of("s") == ()
            assert rt.bash.get(second.id) is None

    asyncio.run(story())
