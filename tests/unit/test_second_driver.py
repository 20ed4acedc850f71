"""The plugin that drives agents, missing, or there twice."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

import pytest

from runtime import AGENTS, AppContext, CallerError, Plugin, Status
from runtime.context import DuplicateServiceError, FiberState, NotInjectedError
from tests.unit.context.scene import state_of, wait
from tests.unit.windows.scene import Scene


@pytest.mark.clause("F-04", "G-18")
def test_a_second_driver_is_refused_and_harms_nobody() -> None:
    """Its load fails and names the first; agents are made and found as before, and run."""
    with Scene() as scene:
        second = scene.rt.context.plugin(scene.rt.driver.plugin)
        with pytest.raises(DuplicateServiceError, match="'agents' refused: plugin driver provides"):
            wait(scene.stage, second)
        assert state_of(second) is FiberState.FAILED
        assert [agent.id for agent in scene.rt.agents.list()] == ["a"]
        scene.create("b")
        scene.ask("A")
        scene.settle()
        scene.expect("running [A] idle W")
        assert [each.id for each in scene.rt.inspect().agents] == ["a", "b"]


@pytest.mark.clause("F-04")
def test_another_provider_of_agents_is_refused() -> None:
    """Whatever it would provide."""
    with Scene() as scene:
        roster: Any = object()

        def apply(context: AppContext, _: object) -> None:
            context.provide(AGENTS, roster)

        fiber = scene.rt.context.plugin(Plugin(name="other", apply=apply))
        with pytest.raises(DuplicateServiceError, match="driver"):
            wait(scene.stage, fiber)
        assert scene.rt.agents.get("a") is scene.a


@pytest.mark.clause("F-04", "F-24")
def test_the_end_of_the_first_driver_makes_room_for_another() -> None:
    """It drives agents as the first one did, and ends with the application."""
    with Scene() as scene:
        wait(scene.stage, scene.rt.driver.dispose())
        second = scene.rt.context.plugin(scene.rt.driver.plugin)
        assert wait(scene.stage, second) is FiberState.ACTIVE
        scene.create("b")
        scene.ask("B", agent="b")
        scene.settle()
        scene.expect("running [B] idle W", "b")
        assert wait(scene.stage, scene.rt.aclose()).failed == ()
        assert state_of(second) is FiberState.DISPOSED
        assert scene.agent("b").status is Status.DISPOSED


@pytest.mark.clause("F-04", "F-25")
def test_a_driver_that_is_restarted_takes_its_own_place() -> None:
    """Its old agents have ended before; new ones can be made under their ids."""
    with Scene() as scene:
        old = scene.a
        assert wait(scene.stage, scene.rt.driver.restart()).failed == ()
        assert old.status is Status.DISPOSED
        assert scene.rt.agents.list() == ()
        scene.create("a")
        assert scene.rt.agents.get("a") is scene.a
        assert scene.a is not old


CALLS: Final[dict[str, Callable[[Scene], object]]] = {
    "the runtime": lambda scene: scene.rt.agents.create(agent_id="b"),
    "the runtime, by a taken id": lambda scene: scene.rt.agents.create(agent_id="a"),
    "the root": lambda scene: scene.rt.context.agents.create(agent_id="b"),
}
_REFUSED: Final = "create refused: (plugin driver is|no plugin drives agents here)"


@pytest.mark.clause("F-03")
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("when", ["while it unloads", "afterwards"])
def test_without_a_driver_nothing_is_created(call: str, when: str) -> None:
    """The refusal is the caller's and says what happened to the driver; no session is left."""
    with Scene() as scene:
        scene.hold()
        scene.ask("A")
        scene.quiet()
        end = scene.rt.driver.dispose()
        if when == "afterwards":
            wait(scene.stage, end)
        with pytest.raises(CallerError, match=_REFUSED):
            CALLS[call](scene)
        wait(scene.stage, end)
        for agents in (scene.rt.agents, scene.rt.context.agents):
            assert (agents.list(), agents.get("a")) == ((), None)
        assert scene.rt.sessions.list() == ()


@pytest.mark.clause("F-03", "G-11", "G-15")
def test_a_plugin_that_needs_agents_waits_for_a_driver() -> None:
    """With the injection it is pending; without, reading `agents` says what is missing."""
    loaded: list[str] = []

    def apply(context: AppContext, _: object) -> None:
        loaded.append(context.agents.create(agent_id=f"x{len(loaded)}").agent.id)

    async def reads(context: AppContext, _: object) -> None:
        await asyncio.sleep(0)
        assert context.agents.list() == ()

    with Scene(agents=()) as scene:
        fiber = scene.rt.context.plugin(Plugin(name="user", apply=apply, inject=(AGENTS,)))
        scene.quiet()
        wait(scene.stage, scene.rt.driver.dispose())
        assert (state_of(fiber), fiber.missing) == (FiberState.PENDING, ("agents",))
        rude = scene.rt.context.plugin(Plugin(name="rude", apply=reads))
        with pytest.raises(NotInjectedError, match="plugin rude reads it without inject"):
            wait(scene.stage, rude)
        assert wait(scene.stage, scene.rt.driver.dispose()).failed == ()
        wait(scene.stage, scene.rt.context.plugin(scene.rt.driver.plugin))
        scene.quiet()
        assert (state_of(fiber), loaded) == (FiberState.ACTIVE, ["x0", "x1"])
