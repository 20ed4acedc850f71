"""Everybody who may end an agent does it at once, under every schedule."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from itertools import groupby

import pytest
from attrs import define, field

from runtime import (
    AGENT_DISPOSED,
    AGENT_STATUS,
    AGENTS,
    SESSION_EVENT,
    SESSION_FLUSH,
    AgentHandle,
    AppContext,
    Fiber,
    Plugin,
    Runtime,
    SessionNotice,
    Status,
    Teardown,
    TeardownReport,
    open_runtime,
)
from runtime.subject import StageClock, StageIdentifiers, StageModel
from statemachine.conformance import Stage
from statemachine.conformance.stage.schedules import Action, Actor, Scenario, search

from .conftest import Holds

AGENT = "owned"
ORDER = ("status disposed", "turn/end disposed", "flush", "gone")
"""What everybody sees of the end of an agent in the middle of a turn, whoever ends it."""


@define
class World:
    """One agent that a plugin made, and all the ends that were asked for."""

    stage: Stage
    opening: AbstractAsyncContextManager[Runtime]
    rt: Runtime = field(init=False)
    handle: AgentHandle = field(init=False)
    caller: Fiber = field(init=False)
    seen: list[str] = field(factory=list)
    ends: list[Teardown] = field(factory=list)
    left: list[str] = field(factory=list)
    """What was still there for somebody whose end had resolved."""

    def apply(self, context: AppContext, _: object) -> None:
        """Make the agent, as the plugin that owns it."""
        self.handle = context.agents.create(agent_id=AGENT)

    async def flush(self, _: SessionNotice) -> None:
        """Become durable when the stage says so."""
        await self.stage.gate("flush", ("ok",))
        self.seen.append("flush")


def opened(stage: Stage) -> World:
    """Return a world in which the agent waits for its model, with one more prompt queued."""
    # The model never answers, so that every schedule ends the agent in the middle of its turn.
    stage.model_answers.clear()
    world = World(
        stage,
        open_runtime(
            models={"stage": StageModel(stage)},
            default_model="stage",
            clock=StageClock(stage),
            identifiers=StageIdentifiers(),
        ),
    )
    world.rt = rt = stage.complete(world.opening.__aenter__())
    rt.on(AGENT_STATUS, lambda it: world.seen.append(f"status {it.status}"))
    rt.on(
        SESSION_EVENT,
        lambda it: (
            world.seen.append(f"turn/end {it.record.data['ending']}")
            if it.record.type == "turn/end"
            else None
        ),
    )
    rt.on(AGENT_DISPOSED, lambda _: world.seen.append("gone"))
    rt.on(SESSION_FLUSH, world.flush)
    world.caller = rt.context.plugin(Plugin(name="caller", apply=world.apply, inject=(AGENTS,)))
    stage.run_until_quiet()
    world.handle.agent.send("first")
    stage.run_until_quiet()
    world.handle.agent.send("second")
    world.seen.clear()
    return world


WAYS: dict[str, Callable[[World], Teardown]] = {
    "handle": lambda world: world.handle.dispose(),
    "caller": lambda world: world.caller.dispose(),
    "driver": lambda world: world.rt.driver.dispose(),
    "application": lambda world: world.rt.aclose(),
}


def ends_by(way: str) -> Actor[World]:
    """Return somebody who ends the agent, and waits for it, whenever they like."""

    def act(world: World) -> None:
        end = WAYS[way](world)
        world.ends.append(end)
        world.stage.spawn(_joined(world, end), f"waits for {way}")

    return Actor(name=way, actions=(Action(label=f"end it from the {way}", act=act),))


async def _joined(world: World, end: Teardown) -> TeardownReport:
    report = await end
    world.left += [agent.id for agent in world.rt.agents.list()]
    world.left += [session.id for session in world.rt.sessions.list()]
    return report


def check(world: World) -> None:
    """One end, in its order, for everybody; nothing is left."""
    lines = [line for line in world.seen if line in ORDER]
    # A flush that its grace cut short is made once more; cut short again, the report names it.
    report = world.stage.complete(_joined(world, world.handle.dispose()))
    expected = ORDER if "flush" in lines else tuple(line for line in ORDER if line != "flush")
    assert tuple(line for line, _ in groupby(lines)) == expected, world.seen
    assert "flush" in lines or report.stragglers
    assert all(end.is_done for end in world.ends)
    assert world.left == []
    assert world.handle.agent.status is Status.DISPOSED
    assert world.rt.agents.list() == ()
    assert world.rt.sessions.list() == ()
    world.stage.complete(world.opening.__aexit__(None, None, None))


@pytest.mark.clause("F-15", "F-16", "F-17", "F-18", "F-23", "F-24", "F-43", "G-38")
@pytest.mark.parametrize(
    "ways",
    [("handle", "caller"), ("handle", "driver"), ("caller", "driver"), ("caller", "application")],
    ids="+".join,
)
def test_two_owners_end_one_agent_at_once(ways: tuple[str, str], holds: Holds) -> None:
    """Whoever comes first and whoever comes late, it is the same end, in the same order."""
    scenario = Scenario(
        name=" and ".join(ways),
        actors=tuple(ends_by(way) for way in ways),
        setup=opened,
        check=check,
    )
    holds(scenario)


@pytest.mark.clause("F-15", "F-18")
def test_an_end_that_nobody_joins_is_seen() -> None:
    """The check fails for a runtime in which the owner's fiber does not dispose the agent."""

    def forgetful(stage: Stage) -> World:
        world = opened(stage)
        world.handle._links = list  # noqa: SLF001  # the fault is planted here
        return world

    scenario = Scenario(name="no links", actors=(ends_by("handle"),), setup=forgetful, check=check)
    assert search(scenario, deviations=0).failure is not None
