"""Waiting for an agent from inside what it waits for itself."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from runtime import SESSION_FLUSH, ModelRequest, TextDelta, WouldDeadlockError, exchange
from runtime.model import AbortSignalLike, Chunk
from tests.unit.windows.scene import EITHER_TASK, Scene

WAITS: dict[str, Callable[[Scene], Awaitable[Any]]] = {
    "when_idle": lambda scene: scene.a.when_idle(),
    "dispose": lambda scene: scene.handle().dispose(),
    "exchange": lambda scene: exchange(scene.a, "B"),
    "aclose": lambda scene: scene.rt.aclose(),
}


class Waiting:
    """A model that waits for its own agent."""

    def __init__(self, wait: Callable[[Scene], Awaitable[Any]], *, cooperative: bool) -> None:
        self.cooperative = cooperative
        self.wait = wait
        self.scene: Scene
        self.raised: list[str] = []

    async def stream(self, _: ModelRequest, __: AbortSignalLike) -> AsyncIterator[Chunk]:
        """Try to wait, and answer anyway."""
        try:
            await self.wait(self.scene)
        except WouldDeadlockError as error:
            self.raised.append(str(error))
        yield TextDelta("1")


@pytest.mark.clause("A-68", "A-69", "A-78", "B-44")
@EITHER_TASK
@pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS)
def test_a_model_that_waits_for_its_own_agent_is_refused(
    wait: Callable[[Scene], Awaitable[Any]], *, cooperative: bool
) -> None:
    """The error says that it would wait for itself; a teardown that was started goes on."""
    model = Waiting(wait, cooperative=cooperative)
    with Scene(model=model) as scene:
        model.scene = scene
        scene.ask("A")
        scene.settle()
        (said,) = model.raised
        assert "own turn" in said
        assert "a" in said
        ended = wait in (WAITS["dispose"], WAITS["aclose"])
        scene.expect(
            "running TS UM(A) SS disposed SE TE{disposed} FLUSH W gone"
            if ended
            else "running TS UM(A) SS CH AM SE TE{completed} FLUSH idle W"
        )
        assert (scene.rt.agents.get("a") is None) is ended


class Starting(Waiting):
    """A model that starts a task, which waits, and answers without it."""

    async def stream(self, _: ModelRequest, __: AbortSignalLike) -> AsyncIterator[Chunk]:
        """Start the task and answer."""

        async def waits() -> None:
            await self.wait(self.scene)
            self.raised.append("waited")

        self.scene.stage.spawn(waits(), "outlives")
        yield TextDelta("1")


@pytest.mark.clause("A-68", "A-69", "F-33")
@EITHER_TASK
@pytest.mark.parametrize("wait", [WAITS["when_idle"], WAITS["dispose"]], ids=["idle", "dispose"])
def test_a_task_that_outlives_the_turn_may_wait(
    wait: Callable[[Scene], Awaitable[Any]], *, cooperative: bool
) -> None:
    """Nobody waits for it, so there is no circle."""
    model = Starting(wait, cooperative=cooperative)
    with Scene(model=model) as scene:
        model.scene = scene
        scene.a.send("A")
        scene.settle()
        assert model.raised == ["waited"]


@pytest.mark.clause("A-68", "D-53")
@pytest.mark.parametrize("wait", [WAITS["when_idle"], WAITS["dispose"]], ids=["idle", "dispose"])
def test_a_flush_that_waits_for_its_own_agent_fails(
    wait: Callable[[Scene], Awaitable[Any]],
) -> None:
    """The refusal is the failure of that flush, and the agent goes on, or ends."""
    raised: list[Exception] = []

    async def flush(_: object) -> None:
        try:
            await wait(scene)
        except WouldDeadlockError as error:
            raised.append(error)
            raise

    with Scene() as scene:
        subscription = scene.rt.on(SESSION_FLUSH, flush, plugin="bad")
        scene.ask("A")
        scene.stage.run_until_quiet()
        scene.open("model")
        assert raised
        subscription.close()
        scene.settle()
        assert "W" in scene.trace()
        assert "ERR(0)" in scene.trace()


@pytest.mark.clause("A-69", "F-33")
def test_disposing_inside_the_turn_without_waiting_is_allowed() -> None:
    """It takes effect at the call, from the model as from a listener."""
    with Scene() as scene:
        scene.at("model", lambda: scene.handle().dispose())
        scene.ask("A")
        scene.settle()
        scene.expect("running TS UM(A) SS model abort disposed SE TE{disposed} FLUSH W gone")


@pytest.mark.clause("A-68", "A-20")
def test_waiting_for_an_agent_that_is_gone_is_no_deadlock() -> None:
    """Another agent's turn may wait for it, before and after its end."""
    with Scene(agents=("a", "b")) as scene:

        async def waits() -> None:
            await scene.handle("b").dispose()
            await scene.agent("b").when_idle()

        task = scene.stage.spawn(waits(), "waits")
        scene.settle()
        assert task.done()
        assert isinstance(task, asyncio.Task)


class LeftBehind:
    """A model whose first answer outlives its grace and then waits for its own agent."""

    cooperative = False

    def __init__(self) -> None:
        self.scene: Scene
        self.calls = 0
        self.waited = False

    async def stream(self, _: ModelRequest, signal: AbortSignalLike) -> AsyncIterator[Chunk]:
        """Survive the first cancellation, then wait until the agent is idle."""
        self.calls += 1
        is_first = self.calls == 1
        try:
            await self.scene.stage.gate("model")
        finally:
            if is_first and signal.is_aborted:
                await self.scene.stage.gate("stubborn")
                await self.scene.a.when_idle()
                self.waited = True
        yield TextDelta("1")


@pytest.mark.clause("A-68", "B-119")
def test_a_body_that_was_left_behind_may_wait_for_the_agent() -> None:
    """The driver no longer waits for it, so there is no circle."""
    model = LeftBehind()
    with Scene(model=model) as scene:
        model.scene = scene
        scene.ask("A")
        scene.quiet()
        scene.a.cancel("r")
        scene.a.send("B")
        scene.stage.loop.advance(2)
        scene.quiet()
        scene.open("stubborn")
        assert not model.waited
        scene.settle()
        assert model.waited
