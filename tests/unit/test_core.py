"""One agent's cell: chains that end, flushes that are owed, deaths that are told."""

import asyncio

import pytest

from runtime import (
    AGENT_ERROR,
    AGENT_QUEUED,
    AGENT_STATUS,
    SESSION_EVENT,
    SESSION_FLUSH,
    AgentFailed,
    InvalidRecordError,
    LimitError,
    Limits,
    Queued,
    RecordAppended,
    SessionNotice,
    Status,
    StatusChanged,
    exchange,
    open_runtime,
)
from statemachine.conformance.stage.stage import Stage
from tests.unit.test_refused_records import refuse
from tests.unit.windows.scene import Scene


@pytest.mark.clause("G-34", "A-57")
def test_a_dispose_at_the_end_of_a_chain_is_not_refused() -> None:
    """Whoever finds that a circle has no end may end the agent from inside it."""
    refused: list[LimitError] = []

    def again(_: Queued) -> None:
        try:
            scene.a.send("again")
        except LimitError as error:
            refused.append(error)
            scene.handle().dispose()

    with Scene(limits=Limits(nested_announcements_max=3)) as scene:
        scene.rt.on(AGENT_QUEUED, again)
        scene.a.send("A")
        assert scene.a.status is Status.DISPOSED
        assert len(scene.queued) == 4
        assert len(refused) == 1
        scene.settle()


@pytest.mark.clause("B-131", "A-79")
def test_an_exchange_whose_turn_never_ends_is_failed_with_the_driver() -> None:
    """Its message was recorded, and nobody will ever say what came of it."""
    scene = Scene()
    with scene.stage:
        scene.__enter__()
        refuse(scene, "turn/end", times=1_000)
        task = scene.stage.spawn(exchange(scene.a, "A"), "exchanges")
        scene.settle()
        assert task.done()
        assert isinstance(task.exception(), InvalidRecordError)


@pytest.mark.clause("D-51")
def test_only_what_came_while_somebody_listened_is_owed() -> None:
    """Neither a seed nor what was there before the first flusher makes a flush."""
    flushed: list[int] = []

    async def flush(notice: SessionNotice) -> None:
        flushed.append(len(notice.session.events))

    async def scenario() -> None:
        async with open_runtime() as rt:
            async with rt.agents.create(agent_id="early") as agent:
                await exchange(agent, "A")
                seed = tuple(agent.session.events)
                rt.on(SESSION_FLUSH, flush)
            async with rt.agents.create(agent_id="seeded", seed=seed):
                pass
            assert flushed == []

    with Stage() as stage:
        stage.complete(scenario())


@pytest.mark.clause("B-85", "G-25")
def test_a_flusher_that_was_cancelled_has_not_flushed() -> None:
    """It did not do what it was awaited for, and that is told."""
    errors: list[AgentFailed] = []

    async def flush(_: SessionNotice) -> None:
        raise asyncio.CancelledError

    with Scene() as scene:
        scene.rt.on(AGENT_ERROR, errors.append)
        scene.rt.on(SESSION_FLUSH, flush)
        scene.ask("A")
        scene.settle()
        assert [each.step for each in errors] == [0]
        assert scene.trace()[-2:] == ["idle", "W"]


@pytest.mark.clause("A-43", "G-29")
def test_a_contained_failure_names_the_plugin(caplog: pytest.LogCaptureFixture) -> None:
    """Whoever reads the log learns whose listener it was."""

    def fail(_: StatusChanged) -> None:
        raise RuntimeError("listener")

    with Scene() as scene:
        scene.rt.on(AGENT_STATUS, fail, plugin="bad")
        scene.dispose()
        scene.settle()
    assert any("listener of agent/status of plugin bad failed" in each for each in caplog.messages)


@pytest.mark.clause("A-41", "A-42")
def test_the_previous_status_is_the_one_before_whoever_heard_of_it() -> None:
    """A listener that comes late is not told that the agent was idle when it was running."""
    seen: list[tuple[Status, Status]] = []

    async def scenario() -> None:
        async with open_runtime() as rt, rt.agents.create() as agent:

            def listen(notice: RecordAppended) -> None:
                if notice.record.type == "step/start":
                    rt.on(AGENT_STATUS, lambda it: seen.append((it.previous, it.status)))

            rt.on(SESSION_EVENT, listen)
            await exchange(agent, "A")
            await agent.when_idle()

    with Stage() as stage:
        stage.complete(scenario())
    assert seen[0] == (Status.RUNNING, Status.IDLE)
