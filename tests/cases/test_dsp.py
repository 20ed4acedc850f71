"""Disposing: teardowns that resolved too early, ran twice, or left work behind."""

from collections.abc import Callable
from functools import partial

import pytest

from runtime import (
    AGENT_DISPOSED,
    AGENT_SESSION_START,
    AGENTS,
    AgentNotice,
    AppContext,
    Effect,
    Status,
)
from runtime.agent import LiveAgent
from runtime.context import Context, Disposer
from statemachine.conformance.stage.schedules import Actor, Scenario

from . import plugin_world as plugins
from .cast import OWNER, Scenes, a_runs
from .conftest import Examine
from .plugin_world import PluginWorld
from .world import GRACE_S, HELD, World, actor, scene

PluginScenes = tuple[Scenario[PluginWorld], ...]


def case_063() -> Scenes:
    """Dispose twice while the flush is still to come."""

    def check(world: World) -> None:
        assert world.teardowns[0] is world.teardowns[1]
        assert len(world.reports) == 2
        (first, when), (second, _) = world.reports
        assert first is second
        assert first.failed == ()
        # A schedule may let the time of the flush run out instead.
        assert when.flushes_ended == 1 or when.at_s >= GRACE_S
        assert world.notes["gone"] == 1
        assert world.statuses() == ("running", "disposed")

    def count(world: World) -> None:
        world.notes["gone"] = world.notes.get("gone", 0) + 1

    def listened(world: World) -> None:
        world.on("disposed", count, once=False)
        world.send("A")

    return (
        scene(
            "two disposals",
            OWNER,
            actor("host", World.dispose),
            before=listened,
            answers={"A": HELD},
            check=check,
        ),
    )


@pytest.mark.case("CASE-063")
@pytest.mark.clause("F-17", "F-33", "F-34")
def test_a_second_dispose_waits_for_the_first(examine: Examine) -> None:
    """Both resolve behind the flush, to one report, and no link runs twice."""
    examine(*case_063())


def case_071() -> Scenes:
    """Dispose while the model answers and goes on answering."""

    def check(world: World) -> None:
        ((_, when),) = world.reports
        assert when.endings == ("disposed",)
        # The log is looked at again once the model has said everything it had to say.
        world.answer("A")
        world.stage.run_until_quiet()
        assert world.records()[-1].type == "turn/end"
        assert world.endings() == ("disposed",)
        disposed_at = world.notes["records at the dispose"]
        later = [record.type for record in world.records()[disposed_at:]]
        assert later == ["step/end", "turn/end"]

    def dispose(world: World) -> None:
        world.dispose()
        world.notes["records at the dispose"] = len(world.records())

    def run(name: str, *, cooperative: bool) -> Scenario[World]:
        return scene(
            name,
            actor("owner", dispose),
            before=a_runs,
            answers={"A": ("more", *HELD, "more")},
            cooperative=cooperative,
            stubborn=frozenset() if cooperative else frozenset("A"),
            flushes=(),
            check=check,
        )

    return (run("the model lets go", cooperative=True), run("the model goes on", cooperative=False))


@pytest.mark.case("CASE-071")
@pytest.mark.clause("B-18", "B-44", "F-15")
def test_nothing_is_recorded_after_the_teardown(examine: Examine) -> None:
    """The log ends with the turn's end, for which the teardown has waited."""
    examine(*case_071())


def case_077() -> Scenes:
    """Send to an agent that is gone, and from inside its discards."""

    def refused(world: World) -> None:
        assert world.refused == ["A"]
        assert world.ledger.accepted == []
        assert world.records() == ()

    def nothing_taken(world: World) -> None:
        dropped = [("B", "disposed", "disposed"), ("C", "disposed", "disposed")]
        assert world.discards() == dropped
        assert world.refused == ["X", "X"]
        assert world.turns() == [["A", "disposed"]]
        assert world.statuses() == ("running", "disposed")

    def resend(world: World) -> None:
        # Bounded, for a runtime that accepts it would discard, and so ask for more, for ever.
        if len(world.discards()) <= 3:
            world.send("X")
        world.cancel("nothing left")

    def queued(world: World) -> None:
        world.send("A")
        world.stage.run_until_quiet()
        world.send("B")
        world.send("C")
        world.on("discarded", resend, once=False)

    return (
        scene(
            "send behind the dispose",
            actor("owner", World.dispose, lambda w: w.send("A")),
            check=refused,
        ),
        scene(
            "send from the discards",
            OWNER,
            before=queued,
            answers={"A": HELD},
            check=nothing_taken,
        ),
    )


@pytest.mark.case("CASE-077")
@pytest.mark.clause("A-20", "A-57", "B-39", "C-14")
def test_sending_to_a_disposed_agent_is_refused(examine: Examine) -> None:
    """The error says so, nothing is accepted, and what was queued is discarded once."""
    examine(*case_077())


def _children(world: PluginWorld) -> None:
    """A parent with two children; the second comes back when it is gone, if it can."""

    def first(_: Context, __: object) -> Disposer:
        return lambda: world.stage.gate("first", ("ok",))

    def parent(context: Context, _: object) -> None:
        def second(_: Context, __: object) -> Disposer:
            give_back = world.hold("second")

            async def comes_back() -> None:
                try:
                    await world.stage.gate("second", ("ok",))
                finally:
                    give_back()
                world.attempt(lambda: context.plugin(plugins.plugin("second", second)))

            return comes_back

        context.plugin(plugins.plugin("first", first))
        context.plugin(plugins.plugin("second", second))

    world.load(plugins.plugin("parent", parent))


def _agents_that_come_back(world: PluginWorld) -> None:
    """A plugin with two agents, which makes a new one for each that is gone."""
    runtime = world.open_runtime()

    def parent(context: Context, _: object) -> None:
        assert isinstance(context, AppContext)
        agents = context.agents

        def again(_: AgentNotice) -> None:
            world.notes["tried"] = world.notes.get("tried", 0) + 1
            world.attempt(partial(agents.create))

        runtime.on(AGENT_DISPOSED, again)
        for name in ("one", "two"):
            agents.create(agent_id=name).agent.send("A")

    world.load(plugins.plugin("parent", parent, AGENTS))


def case_072() -> PluginScenes:
    """Register once more what has just ended, while what owns it is being drained."""

    def check(world: PluginWorld) -> None:
        assert len(world.refused) == 1 or (world.stage.now and not world.refused)
        assert world.fibers["parent"].effects == ()

    def none_left(world: PluginWorld) -> None:
        assert world.notes["tried"] == len(world.refused) == 2
        assert all("create refused" in str(error) for error in world.refused)
        assert world.root.need(AGENTS).handles == {}

    def run(name: str, before: plugins.Act, check: plugins.Act) -> Scenario[PluginWorld]:
        owner = plugins.actor("owner", lambda w: w.dispose("parent"))
        return plugins.scene(name, owner, before=before, check=check)

    return (
        run("a child that comes back", _children, check),
        run("agents that come back", _agents_that_come_back, none_left),
    )


@pytest.mark.case("CASE-072")
@pytest.mark.clause("F-23", "G-10", "G-21")
def test_what_ends_in_a_shutdown_does_not_come_back(examine: Examine) -> None:
    """Admission is closed before the first part is drained, so one pass is enough."""
    examine(*case_072())


def _extension(world: PluginWorld) -> Callable[[Context, object], None]:
    """Open a resource for every session that starts, and close it when its agent is gone."""

    def apply(context: Context, _: object) -> None:
        opened: dict[str, Effect] = {}

        def start(notice: AgentNotice) -> None:
            name = notice.agent.id
            opened[name] = context.effect(lambda: world.hold(name), name=f"resource of {name}")

        def end(notice: AgentNotice) -> None:
            header = notice.agent.session.header
            world.notes[notice.agent.id] = world.notes["sessions"].get(header.id) is not None
            opened.pop(notice.agent.id).dispose()

        context.on(AGENT_SESSION_START, start)
        context.on(AGENT_DISPOSED, end)

    return apply


def _an_extension_and_agents(world: PluginWorld) -> None:
    runtime = world.open_runtime()
    world.notes["sessions"] = runtime.sessions
    world.load(plugins.plugin("extension", _extension(world)))
    for name in ("ended", "cut"):
        world.notes[f"handle of {name}"] = runtime.agents.create(agent_id=name)
        world.notes[f"handle of {name}"].agent.send("A")


def case_073() -> PluginScenes:
    """End sessions by their handle and by a stranger, with an extension that holds something."""

    def dispose(world: PluginWorld) -> None:
        world.join(world.notes["handle of ended"].dispose())

    def is_gone(world: PluginWorld, name: str) -> bool:
        return bool(world.notes[f"handle of {name}"].agent.status is Status.DISPOSED)

    def cut(world: PluginWorld) -> None:
        agent = world.notes["handle of cut"].agent
        assert isinstance(agent, LiveAgent)
        driver = agent._core.driver  # noqa: SLF001  # a stranger reaches it somehow
        if driver is None:
            world.join(world.notes["handle of cut"].dispose())
        else:
            driver.cancel()

    def check(world: PluginWorld) -> None:
        told = {name for name in ("ended", "cut") if world.notes.get(name)}
        # The stranger may come too late, when the driver has no stretch left to be cancelled in.
        gone = {name for name in ("ended", "cut") if is_gone(world, name)}
        given_back = [text for text in world.seen if text.endswith("given back")]
        assert "ended" in gone
        if world.fibers["extension"].is_active:
            assert told == gone
            assert sorted(given_back) == sorted(f"{name} given back" for name in gone)
        else:
            assert told <= gone
            assert sorted(given_back) == ["cut given back", "ended given back"]

    def run(name: str, *others: Actor[PluginWorld]) -> Scenario[PluginWorld]:
        owner = plugins.actor("owner", dispose)
        stranger = plugins.actor("stranger", cut)
        before = _an_extension_and_agents
        return plugins.scene(name, owner, stranger, *others, before=before, check=check)

    unload = plugins.actor("host", lambda w: w.dispose("extension"))
    return (run("sessions that end"), run("an extension that goes first or last", unload))


@pytest.mark.case("CASE-073")
@pytest.mark.clause("D-37", "F-15", "F-40", "G-21")
def test_whoever_is_told_of_a_start_is_told_of_the_end(examine: Examine) -> None:
    """Once for each session, however it ended, while its session is still attached."""
    examine(*case_073())
