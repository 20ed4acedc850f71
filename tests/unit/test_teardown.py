"""A teardown by itself: who may await it, and what ends it early."""

import asyncio
from collections.abc import Iterable

import pytest

from runtime.announcements import AGENT_STATUS, StatusChanged
from runtime.teardown import Link, Teardown, TeardownReport, wait_bounded
from statemachine.conformance.stage.stage import Stage
from tests.unit.windows.scene import Scene


async def _run(link: Link) -> Iterable[str] | TeardownReport:
    return await link.run()


async def nothing() -> Iterable[str]:
    """Leave nothing behind."""
    return ()


@pytest.mark.clause("A-68", "F-17")
def test_an_end_that_has_come_can_be_awaited_by_anybody() -> None:
    """There is nothing left to wait for, so nobody can wait for himself."""

    async def scenario() -> bool:
        loop = asyncio.get_running_loop()
        teardown = Teardown("it", loop, lambda: {asyncio.current_task()})
        teardown.start([Link("part", nothing)])
        for _ in range(3):
            await asyncio.sleep(0)
        assert teardown.is_done
        return (await teardown).failed == ()

    with Stage() as stage:
        assert stage.complete(scenario())


@pytest.mark.clause("A-67", "B-119")
def test_a_bounded_wait_waits_for_the_last_one() -> None:
    """Until all have ended or the time is over."""

    async def scenario() -> list[bool]:
        loop = asyncio.get_running_loop()
        early, late = (loop.create_task(_until(loop, at)) for at in (1.0, 2.0))
        hung = loop.create_task(_until(loop, 100.0))
        await wait_bounded((early, late), 5.0)
        seen = [early.done(), late.done()]
        await wait_bounded((hung,), 5.0)
        seen.append(hung.done())
        hung.cancel()
        return seen

    with Stage() as stage:
        assert stage.complete(scenario()) == [True, True, False]


@pytest.mark.clause("F-17", "F-34", "B-167")
def test_a_dispose_that_the_program_interrupts_still_comes_to_its_end() -> None:
    """The agent is disposed, and the loop ends when that is under way."""

    def interrupt(notice: StatusChanged) -> None:
        subscription.close()
        raise KeyboardInterrupt(notice.status)

    with Scene() as scene:
        subscription = scene.rt.on(AGENT_STATUS, interrupt)
        scene.dispose()
        with pytest.raises(KeyboardInterrupt):
            scene.quiet()
        scene.settle()
        assert scene.trace()[-2:] == ["gone", "END"]


async def _await(teardown: Teardown) -> None:
    await teardown


async def _until(loop: asyncio.AbstractEventLoop, at: float) -> None:
    done = loop.create_future()
    loop.call_at(at, done.set_result, None)
    await done


@pytest.mark.clause("F-38", "A-48")
def test_an_end_that_is_gone_through_again_leaves_whoever_has_the_names_now() -> None:
    """Each part of it knows the agent and the session themselves, and not what they are called."""
    with Scene() as scene:
        scene.dispose()
        scene.settle()
        # A link may be run again from its beginning, and here the whole end is.
        again = scene.handle()._links()  # noqa: SLF001  # the inside
        heir = scene.create("a")
        for link in again:
            scene.stage.complete(_run(link))
        assert scene.rt.agents.get("a") is heir
        assert scene.rt.sessions.get("a") is heir.session
        heir.send("B")
        scene.settle()
        assert scene.trace()[-2:] == ["FLUSH", "idle"]
