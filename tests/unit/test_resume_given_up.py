"""A resume whose caller, or whose owners, have changed their minds."""

from asyncio import Task
from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest

import runtime
from runtime import (
    AGENTS,
    SESSION_CREATED,
    AgentHandle,
    AppContext,
    CallerError,
    Fiber,
    Plugin,
    Status,
)
from tests.unit.stored import (
    StoredScene,
    keeper,
    nothing_is_left,
    store_of,
)


class Caller:
    """A plugin that resumes the session `a` when it is told to."""

    def __init__(self, scene: StoredScene) -> None:
        self.contexts: list[AppContext] = []
        plugin = Plugin(name="caller", apply=self._apply, inject=(AGENTS,))
        self.fiber: Fiber = scene.rt.context.plugin(plugin)
        scene.quiet()

    def _apply(self, context: AppContext, _: None) -> None:
        self.contexts.append(context)

    def resume(self) -> Awaitable[AgentHandle]:
        """Begin to resume, through the context of the present life."""
        return self.contexts[-1].agents.resume(session_id="a")


CHANGES: Final[dict[str, Callable[[StoredScene, Caller, Task[Any]], object]]] = {
    "the caller is cancelled": lambda _s, _c, resuming: resuming.cancel(),
    "the caller's fiber unloads": lambda _s, caller, _r: caller.fiber.dispose(),
    "the caller's fiber reloads": lambda _s, caller, _r: caller.fiber.restart(),
    "the driver unloads": lambda scene, _c, _r: scene.rt.driver.dispose(),
    "the driver reloads": lambda scene, _c, _r: scene.rt.driver.restart(),
    "the keeper unloads": lambda scene, _c, _r: keeper(scene).dispose(),
    "the keeper reloads": lambda scene, _c, _r: keeper(scene).restart(),
    "the runtime closes": lambda scene, _c, _r: scene.rt.aclose(),
    "the root unloads": lambda scene, _c, _r: scene.rt.context.fiber.dispose(),
}


@pytest.mark.clause("F-30", "F-52", "F-23", "F-24")
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("callbacks", range(12))
def test_a_resume_that_nobody_wants_any_more_registers_nothing(change: str, callbacks: int) -> None:
    """At whichever callback of the load: no agent, no session, and the lease is given back."""
    created: list[object] = []
    with StoredScene(store_of("A"), agents=()) as scene:
        caller = Caller(scene)
        scene.rt.on(SESSION_CREATED, created.append)
        scene.hold("disk")
        resuming = scene.stage.spawn(_resumed(caller), "resuming")
        scene.stage.tick(callbacks)
        for gate in scene.stage.gates.open_gates:
            scene.stage.gates.open(gate, "ok")
        scene.stage.tick(callbacks)
        if resuming.done():
            return
        CHANGES[change](scene, caller, resuming)
        scene.release()
        scene.settle()
        if change != "the root unloads":  # its children are asked to go one callback later
            assert resuming.cancelled() or isinstance(resuming.exception(), CallerError)
            assert created == []
        assert scene.rt.agents.list() == ()
        assert scene.rt.sessions.list() == ()
        assert scene.backend.disk.writers == {}


async def _resumed(caller: Caller) -> AgentHandle:
    return await caller.resume()


@pytest.mark.clause("F-52")
@pytest.mark.parametrize("change", CHANGES)
def test_an_unload_does_not_wait_for_the_disk_of_a_load_nobody_wants(change: str) -> None:
    """It is over while the load still waits, but for that of whoever keeps the disk."""
    with StoredScene(store_of("A"), agents=()) as scene:
        caller = Caller(scene)
        scene.hold("disk")
        resuming = scene.start(caller.resume())
        ending = CHANGES[change](scene, caller, resuming)
        scene.quiet()
        assert resuming.done()
        if isinstance(ending, runtime.Teardown):
            keeps_the_disk = change.split()[1] in ("keeper", "runtime", "root")
            assert ending.is_done is not keeps_the_disk
        scene.release()
        scene.settle()
        assert scene.backend.disk.writers == {}


@pytest.mark.clause("F-52", "F-38")
def test_what_a_late_load_gives_back_is_its_own() -> None:
    """A second resume of the session waits behind it and keeps its own lease."""
    with StoredScene(store_of("A"), agents=()) as scene:
        scene.hold("disk")
        first = scene.start(scene.rt.agents.resume(session_id="a"))
        first.cancel()
        scene.quiet()
        second = scene.start(scene.rt.agents.resume(session_id="a"))
        scene.release()
        scene.settle()
        agent = second.result().agent
        assert scene.rt.agents.list() == (agent,)
        assert list(scene.backend.disk.writers) == ["a"]
        agent.send("B")
        scene.settle()
        assert len(scene.stored()) == 16


@pytest.mark.clause("F-23", "F-24")
@pytest.mark.parametrize("owner", ["caller", "driver"])
def test_a_resumed_agent_has_the_owners_of_a_created_one(owner: str) -> None:
    """The unload of either disposes it."""
    with StoredScene(store_of("A"), agents=()) as scene:
        caller = Caller(scene)
        agent = scene.wait_for(caller.resume()).agent
        fiber = caller.fiber if owner == "caller" else scene.rt.driver
        scene.wait_for(fiber.dispose())
        assert agent.status is Status.DISPOSED
        assert scene.backend.disk.writers == {}


@pytest.mark.clause("F-23", "G-10")
def test_a_fiber_that_is_gone_resumes_nothing() -> None:
    """Nobody would ever end the agent."""
    with StoredScene(store_of("A"), agents=()) as scene:
        caller = Caller(scene)
        agents = caller.contexts[-1].agents
        scene.wait_for(caller.fiber.dispose())
        with pytest.raises(CallerError, match="plugin caller is"):
            scene.wait_for(agents.resume(session_id="a"))
        nothing_is_left(scene)


@pytest.mark.clause("F-53", "D-38")
def test_a_listener_that_unloads_the_owner_of_a_resumed_agent_takes_the_session_along() -> None:
    """The resume is refused, and the session can be resumed by others."""
    with StoredScene(store_of("A"), agents=()) as scene:
        caller = Caller(scene)
        subscription = scene.rt.on(SESSION_CREATED, lambda _: caller.fiber.dispose())
        with pytest.raises(CallerError, match="resume of agent 'a' refused"):
            scene.wait_for(caller.resume())
        subscription.close()
        scene.settle()
        assert scene.backend.disk.writers == {}
        scene.resume()
