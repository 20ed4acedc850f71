"""An agent that is owned by fibers ends like one that is disposed by its handle."""

from typing import Final

import pytest

from runtime.context import Context, Fiber, InactiveError
from runtime.errors import WouldDeadlockError
from runtime.teardown import Teardown
from tests.unit.windows.scene import Scene

from .scene import plugin, wait

MID_STREAM: Final = "running TS UM(A) SS abort disposed SE TE{disposed} FLUSH W gone"


class Owners:
    """The agent of a scene, owned by the fiber that made it and by the one that drives it."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.root = Context.root()
        self.caller = self._load("caller")
        self.driver = self._load("driver")
        scene.quiet()

    def _load(self, name: str) -> Fiber:
        (core,) = self.scene.rt.agents.cores()

        def apply(context: Context, _: object) -> None:
            handle = self.scene.handle()
            context.own(handle, name=f"agent {core.id}", own_tasks=lambda: core.own_tasks)

        return self.root.plugin(plugin(apply, name=name))

    def end(self, way: str) -> Teardown:
        """End the agent in one of the four ways."""
        ways = {
            "handle": self.scene.handle().dispose,
            "caller": self.caller.dispose,
            "driver": self.driver.dispose,
            "application": self.root.fiber.dispose,
        }
        return ways[way]()


@pytest.mark.clause("G-38", "F-15", "F-17")
@pytest.mark.parametrize("way", ["handle", "caller", "driver", "application"])
def test_an_agent_ends_alike_from_its_handle_its_owners_and_the_application(way: str) -> None:
    """One trace, whoever ends it in the middle of a stream."""
    with Scene() as scene:
        owners = Owners(scene)
        scene.ask("A")
        scene.quiet()
        end = owners.end(way)
        wait(scene.stage, end)
        assert " ".join(scene.trace()) == MID_STREAM
        assert scene.rt.agents.list() == ()
        wait(scene.stage, owners.root.fiber.dispose())
        assert scene.trace().count("gone") == 1


@pytest.mark.clause("G-38", "F-17")
def test_all_owners_wait_for_the_one_end() -> None:
    """An owner that comes late, and one that comes last, resolve with the agent's own end."""
    with Scene() as scene:
        owners = Owners(scene)
        scene.hold()
        scene.ask("A")
        scene.quiet()
        ends = [owners.end(each) for each in ("caller", "handle", "driver", "application")]
        scene.quiet()
        assert [end.is_done for end in ends] == [False] * 4
        for end in ends:
            wait(scene.stage, end)


@pytest.mark.clause("G-41", "A-68")
def test_a_turn_may_not_await_the_unload_of_a_fiber_that_owns_its_agent() -> None:
    """It is refused from inside a notification of the agent's driver, and the unload goes on."""
    with Scene() as scene:
        owners = Owners(scene)
        refused: list[bool] = []

        async def awaits() -> None:
            with pytest.raises(WouldDeadlockError):
                await owners.caller.dispose()
            refused.append(True)

        (core,) = scene.rt.agents.cores()
        task = core.child(awaits())
        scene.settle()
        assert (task.done(), refused) == (True, [True])
        assert scene.rt.agents.list() == ()


@pytest.mark.clause("G-10", "G-38")
def test_a_fiber_that_unloads_can_own_nothing_more() -> None:
    """The factory asks before it prepares anything."""
    with Scene() as scene:
        root = Context.root()
        contexts: list[Context] = []
        fiber = root.plugin(plugin(lambda context, _: contexts.append(context)))
        scene.quiet()
        fiber.dispose()
        with pytest.raises(InactiveError, match="create"):
            contexts[0].check_open("create")
        scene.settle()
