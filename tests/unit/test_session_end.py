"""The end of a session: with its jobs, once, and only when no agent works on it."""

from collections.abc import AsyncIterator
from typing import cast

import pytest

from runtime import (
    BASH,
    SESSION_ENDED,
    BashExecutor,
    CallerError,
    Context,
    DuplicateIdError,
    Plugin,
    SessionEnded,
)
from tests.unit.stored import StoredScene


class Jobs:
    """An executor of which only the end of a session's jobs is asked."""

    def __init__(self, scene: StoredScene) -> None:
        self.scene = scene
        self.ended: list[str] = []

    async def end_session(self, owner: str) -> None:
        """Wait at a gate."""
        await self.scene.stage.gate("jobs")
        self.ended.append(owner)


def with_jobs(scene: StoredScene) -> tuple[Jobs, list[str]]:
    """Load an executor, and note which sessions are announced to have ended."""
    jobs, told = Jobs(scene), list[str]()

    async def apply(context: Context, _: None) -> AsyncIterator[object]:
        yield context.provide(BASH, cast("BashExecutor", jobs))

    def note(notice: SessionEnded) -> None:
        told.append(notice.session_id)
        assert jobs.ended == told, "its jobs have ended"

    scene.rt.context.plugin(Plugin(name="jobs", apply=apply))
    scene.settle()
    scene.rt.on(SESSION_ENDED, note)
    return jobs, told


def left(scene: StoredScene) -> None:
    """Let the agent of the session go."""
    scene.ask("A")
    scene.settle()
    scene.wait_for(scene.handle().dispose())


@pytest.mark.clause("D-63")
def test_a_session_ends_with_its_jobs_and_that_is_announced_behind_them() -> None:
    """The header's id is the token of its jobs."""
    with StoredScene() as scene:
        jobs, told = with_jobs(scene)
        left(scene)
        assert told == []
        scene.wait_for(scene.rt.sessions.end("a"))
        assert (jobs.ended, told) == (["a"], ["a"])
        assert scene.stored()


@pytest.mark.clause("D-63")
def test_a_session_that_an_agent_works_on_does_not_end() -> None:
    """Whoever holds the handle disposes first."""
    with StoredScene() as scene:
        jobs, _ = with_jobs(scene)
        ending = scene.start(scene.rt.sessions.end("a"))
        scene.settle()
        with pytest.raises(CallerError, match="dispose that agent first"):
            ending.result()
        assert jobs.ended == []


@pytest.mark.clause("D-63")
def test_nobody_opens_a_session_while_it_ends() -> None:
    """Neither anew nor again; afterwards it may be resumed, and ended once more."""
    with StoredScene() as scene:
        _, told = with_jobs(scene)
        left(scene)
        ending = scene.start(scene.rt.sessions.end("a"))
        scene.quiet()
        assert not ending.done()
        with pytest.raises(DuplicateIdError, match="or ends"):
            scene.rt.agents.create(agent_id="b", session_id="a")
        scene.settle()
        again = scene.start(scene.rt.agents.resume(session_id="a"))
        scene.settle()
        scene.wait_for(again.result().dispose())
        scene.wait_for(scene.rt.sessions.end("a"))
        assert told == ["a", "a"]


@pytest.mark.clause("D-64")
def test_everybody_who_ends_a_session_waits_for_one_end() -> None:
    """And whoever comes later, or means none, has nothing to wait for."""
    with StoredScene() as scene:
        jobs, told = with_jobs(scene)
        left(scene)
        both = [scene.start(scene.rt.sessions.end("a")) for _ in range(2)]
        scene.quiet()
        assert [each.done() for each in both] == [False, False]
        both[0].cancel()
        scene.settle()
        assert both[1].result() is None
        for session in ("a", "nobody"):
            scene.wait_for(scene.rt.sessions.end(session))
        assert (jobs.ended, told) == (["a"], ["a"])


@pytest.mark.clause("D-63")
def test_a_session_without_an_executor_ends_at_once() -> None:
    """There is nothing that could belong to it."""
    with StoredScene() as scene:
        told: list[str] = []
        scene.rt.on(SESSION_ENDED, lambda notice: told.append(notice.session_id))
        left(scene)
        scene.wait_for(scene.rt.sessions.end("a"))
        assert told == ["a"]
