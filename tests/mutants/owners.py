"""Faults of who owns an agent, each with the program that must find it.

They concern what is no matter of one agent's lifecycle: ids while a session is loaded and after an
end, and the fibers with which agents end. So they are not planted under the suite, but in a runtime
with plugins and a store, and a program says itself what is broken.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from unittest.mock import patch

from attrs import frozen

from runtime import (
    AGENTS,
    Agent,
    AppContext,
    ConfiguredAgent,
    DuplicateIdError,
    Plugin,
    Status,
    roster,
)
from runtime.context import Context, Effect
from runtime.core import Core
from runtime.handle import AgentHandle
from runtime.roster import Roster
from runtime.teardown import Link
from statemachine.conformance.suite.story import Violation
from tests.unit.stored import StoredScene, store_of

__all__ = ["OWNER_MUTANTS", "OwnerMutant"]

Planted = Callable[[], AbstractContextManager[object]]


@frozen(kw_only=True)
class OwnerMutant:
    """One planted fault."""

    id: str
    fault: str
    """The fault in one line."""
    invariant: str
    """What the program must die of."""
    plant: Planted
    program: Callable[[], None]


# -- Programs --------------------------------------------------------------------------------------


def name_taken_during_a_load() -> None:
    """Make an agent under the name of one whose session is being loaded."""
    made: list[Agent] = []
    with StoredScene(store_of("A"), agents=()) as scene:
        scene.hold("disk")
        resuming = scene.start(scene.rt.agents.resume(session_id="a", agent_id="x"))
        with suppress(DuplicateIdError):
            made.append(scene.rt.agents.create(agent_id="x", session_id="s").agent)
        scene.release()
        scene.settle()
        if resuming.exception() is None:
            made.append(resuming.result().agent)
        living = [agent for agent in made if agent.status is not Status.DISPOSED]
        if len(living) > 1:
            raise Violation("INV-16", "A-48 F-07", "one agent is called x", f"{len(living)} are")


def name_used_again() -> None:
    """Use an id again while the end of the one who had it waits for its session's release."""
    with StoredScene() as scene:
        scene.hold("disk")
        scene.a.inject("unwritten")
        scene.handle().dispose()
        while scene.rt.sessions.get("a") is not None:
            assert scene.stage.move()
        agent = scene.rt.agents.create(agent_id="a", session_id="s").agent
        scene.release()
        scene.settle()
        if scene.rt.agents.get("a") is not agent:
            seen = "the end of the old one has removed it"
            raise Violation("INV-16", "F-38", "the new agent is registered", seen)


def caller_unloaded() -> None:
    """Unload the plugin that made an agent."""
    made: list[Agent] = []

    def apply(context: AppContext, _: None) -> None:
        made.append(context.agents.create(agent_id="mine").agent)

    with StoredScene(agents=()) as scene:
        fiber = scene.rt.context.plugin(Plugin(name="caller", apply=apply, inject=(AGENTS,)))
        scene.settle()
        scene.wait_for(fiber.dispose())
        scene.settle()
        if made[0].status is not Status.DISPOSED:
            raise Violation("INV-10", "F-23", "it ends with who made it", made[0].status)


def driver_unloaded() -> None:
    """Unload the plugin that drives agents, with one of the configuration."""
    with StoredScene(agents=(), configured=(ConfiguredAgent(id="c"),)) as scene:
        agent = scene.rt.agents.get("c")
        assert agent is not None
        scene.wait_for(scene.rt.driver.dispose())
        scene.settle()
        if agent.status is not Status.DISPOSED:
            expected = "an agent of the configuration ends with its plugin"
            raise Violation("INV-19", "F-25 F-26", expected, agent.status)


def program_without_handles() -> None:
    """Let a plugin chat with an agent that it made, reload it, and end it."""
    seen: list[Agent] = []

    def apply(context: AppContext, _: None) -> None:
        agent = context.agents.create().agent
        agent.send("A")
        seen.append(agent)

    with StoredScene(agents=()) as scene:
        chat = scene.rt.context.plugin(Plugin(name="chat", apply=apply, inject=(AGENTS,)))
        scene.settle()
        for end in (chat.restart, chat.dispose):
            scene.wait_for(end())
            scene.settle()
        left = scene.rt.agents.list()
        if left or len(seen) != 2:
            expected = "a program that never touched a handle leaves nothing behind"
            raise Violation("INV-19", "F-42 F-43", expected, f"{len(left)} agents")


# -- Faults ----------------------------------------------------------------------------------------


def _replacing(owner: object, name: str, value: object) -> Planted:
    return partial(patch.object, owner, name, value)


def _reserve_nothing(_: Roster, __: str) -> Callable[[], None]:
    return lambda: None


@contextmanager
def _cleaning_up_by_id() -> Iterator[None]:
    original = roster._links  # noqa: SLF001  # the seam

    def links(core: Core, unregister: Callable[[Core], None], *rest: object) -> list[Link]:
        agents: Roster = unregister.__self__  # type: ignore[attr-defined]  # a bound method

        async def again() -> tuple[str, ...]:
            agents.handles.pop(core.id, None)
            return ()

        return [*original(core, unregister, *rest), Link("once more", again)]  # type: ignore[arg-type]  # passed on

    with patch.object(roster, "_links", links):
        yield


def _only_the_provider(self: Roster, _: Context) -> tuple[Context, ...]:
    return (self.provider,)


def _only_another_caller(self: Roster, caller: Context) -> tuple[Context, ...]:
    return () if caller.fiber is self.provider.fiber else (caller, self.provider)


def _own_without_an_end(_: Roster, context: Context, __: AgentHandle, core: Core) -> Effect:
    return context.effect(lambda: lambda: None, name=f"agent {core.id}")


OWNER_MUTANTS = (
    OwnerMutant(
        id="no-look-after-the-load",
        fault="a resume neither reserves its name nor looks again after its load",
        invariant="INV-16",
        plant=_replacing(Roster, "_reserve", _reserve_nothing),
        program=name_taken_during_a_load,
    ),
    OwnerMutant(
        id="cleaned-up-by-id",
        fault="the end of an agent removes whoever has its id",
        invariant="INV-16",
        plant=_cleaning_up_by_id,
        program=name_used_again,
    ),
    OwnerMutant(
        id="survives-its-caller",
        fault="an agent outlives the plugin that made it",
        invariant="INV-10",
        plant=_replacing(Roster, "_owners", _only_the_provider),
        program=caller_unloaded,
    ),
    OwnerMutant(
        id="survives-its-driver",
        fault="an agent of the configuration outlives its plugin",
        invariant="INV-19",
        plant=_replacing(Roster, "_owners", _only_another_caller),
        program=driver_unloaded,
    ),
    OwnerMutant(
        id="left-behind",
        fault="the fibers that own an agent do not end it",
        invariant="INV-19",
        plant=_replacing(Roster, "_own", _own_without_an_end),
        program=program_without_handles,
    ),
)
"""Every fault, by what it breaks."""
