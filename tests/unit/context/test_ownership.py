"""An agent belongs to whoever made it and to whoever drives it, and ends alike from everywhere."""

from typing import Final

import pytest

from runtime import (
    AGENTS,
    AgentHandle,
    AppContext,
    CallerError,
    ConfiguredAgent,
    Plugin,
    Status,
    Teardown,
    WouldDeadlockError,
)
from runtime.context import Context, InactiveError, NotInjectedError
from runtime.core import Core
from tests.unit.windows.scene import Scene

from .scene import wait

MID_STREAM: Final = (
    "running TS UM(A) SS abort disposed -B{disposed:disposed} SE TE{disposed} FLUSH W gone"
)
WAYS: Final = ("handle", "caller", "driver", "application")


class Owners:
    """An agent `a` made by a plugin: owned by its fiber and by the one that drives agents."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.handle: AgentHandle
        made = Plugin(name="caller", apply=self._apply, inject=(AGENTS,))
        self.caller = scene.rt.context.plugin(made)
        scene.quiet()
        scene.adopt(self.handle)

    def _apply(self, context: AppContext, _: object) -> None:
        self.handle = context.agents.create(agent_id="a")

    def make_another(self, context: AppContext, _: object) -> None:
        """Make an agent `b`, as a plugin."""
        context.agents.create(agent_id="b")

    @property
    def core(self) -> Core:
        """The cell of the agent."""
        assert self.scene.rt.roster is not None
        return self.scene.rt.roster.cores["a"]

    def end(self, way: str) -> Teardown:
        """End the agent in one of the four ways."""
        ways = {
            "handle": self.handle.dispose,
            "caller": self.caller.dispose,
            "driver": self.scene.rt.driver.dispose,
            "application": self.scene.rt.aclose,
        }
        return ways[way]()


@pytest.mark.clause("G-38", "F-15", "F-16", "F-17", "F-23", "F-24")
@pytest.mark.seed("SEED-32", "SEED-40")
@pytest.mark.parametrize("way", WAYS)
def test_an_agent_ends_alike_from_its_handle_its_owners_and_the_application(way: str) -> None:
    """One trace, and one order of leaving registry and store, whoever ends it mid-stream."""
    seen: list[tuple[str, bool, bool]] = []

    def look() -> None:
        registered = scene.rt.agents.get("a") is not None
        seen.append((scene.trace()[-1], registered, scene.rt.sessions.get("a") is not None))

    with Scene(agents=()) as scene:
        owners = Owners(scene)
        for head in ("abort", "disposed", "-", "TE", "FLUSH", "gone"):
            scene.at(head, look)
        scene.ask("A")
        scene.quiet()
        scene.a.send("B")
        end = owners.end(way)
        wait(scene.stage, end)
        assert " ".join(scene.trace()) == MID_STREAM
        assert scene.rt.agents.list() == ()
        assert scene.rt.sessions.list() == ()
        assert seen == [
            ("abort", True, True),
            ("disposed", True, True),
            ("-B{disposed:disposed}", True, True),
            ("TE{disposed}", True, True),
            ("FLUSH", True, True),
            ("gone", False, True),
        ]


@pytest.mark.clause("G-38", "F-17")
@pytest.mark.seed("SEED-33")
def test_all_owners_wait_for_the_one_end() -> None:
    """An owner that comes late, and one that comes last, resolve with the agent's own end."""
    with Scene(agents=()) as scene:
        owners = Owners(scene)
        scene.hold()
        scene.ask("A")
        scene.quiet()
        ends = [owners.end(each) for each in ("caller", "handle", "driver", "application")]
        scene.quiet()
        assert [end.is_done for end in ends] == [False] * 4
        for end in ends:
            wait(scene.stage, end)
        assert scene.trace().count("gone") == 1


@pytest.mark.clause("F-21", "F-23", "G-38")
def test_a_fiber_takes_only_its_own_agents_along() -> None:
    """Agents of the application and of other plugins go on."""
    with Scene(agents=("b",)) as scene:
        owners = Owners(scene)
        scene.ask("A", agent="b")
        scene.quiet()
        wait(scene.stage, owners.caller.dispose())
        assert [agent.id for agent in scene.rt.agents.list()] == ["b"]
        scene.settle()
        scene.expect("running TS UM(A) SS CH CH AM SE TE{completed} FLUSH idle W", "b")
        assert scene.agent("b").status is Status.IDLE


@pytest.mark.clause("G-38", "G-02")
@pytest.mark.seed("SEED-36")
def test_the_whole_life_of_an_agent_is_one_effect_of_each_owner() -> None:
    """Neither its session nor its registration nor its driver is an effect beside it."""
    with Scene(agents=()) as scene:
        owners = Owners(scene)
        fibers = (owners.caller, scene.rt.driver)
        before = [each.effects for each in fibers]
        scene.rt.context.plugin(Plugin(name="other", apply=owners.make_another, inject=(AGENTS,)))
        scene.ask("A")
        scene.quiet()
        assert [effect.name for effect in owners.caller.effects] == ["apply", "agent a"]
        assert owners.caller.effects == before[0]
        assert [effect.name for effect in scene.rt.driver.effects[len(before[1]) :]] == ["agent b"]
        scene.settle()


@pytest.mark.clause("G-38", "F-22")
def test_an_owner_forgets_an_agent_that_has_ended_by_itself() -> None:
    """A fiber that made a thousand agents holds none of those that are gone."""
    with Scene(agents=()) as scene:
        owners = Owners(scene)
        before = len(owners.caller.effects)
        wait(scene.stage, owners.handle.dispose())
        assert len(owners.caller.effects) == before - 1
        assert all("agent a" not in effect.name for effect in scene.rt.driver.effects)


@pytest.mark.clause("G-41", "A-68")
def test_a_turn_may_not_await_the_unload_of_a_fiber_that_owns_its_agent() -> None:
    """It is refused on a task that the driver waits for, and the unload goes on."""
    with Scene(agents=()) as scene:
        owners = Owners(scene)
        refused: list[bool] = []

        async def awaits() -> None:
            with pytest.raises(WouldDeadlockError):
                await owners.caller.dispose()
            refused.append(True)

        task = owners.core.child(awaits())
        scene.settle()
        assert (task.done(), refused) == (True, [True])
        assert scene.rt.agents.list() == ()


@pytest.mark.clause("F-03", "F-24", "F-04")
@pytest.mark.seed("SEED-30")
def test_nothing_is_created_without_a_driver() -> None:
    """After the driver's plugin is gone creation is refused, and the look-ups find nothing."""
    with Scene() as scene:
        wait(scene.stage, scene.rt.driver.dispose())
        with pytest.raises(CallerError, match="create refused"):
            scene.rt.agents.create()
        assert scene.rt.agents.get("a") is None
        scene.expect("disposed gone")


@pytest.mark.clause("G-10", "G-38")
def test_a_fiber_that_unloads_can_own_nothing_more() -> None:
    """The roster asks before it prepares anything."""
    contexts: list[AppContext] = []

    def keep(context: AppContext, _: object) -> None:
        contexts.append(context)

    with Scene(agents=()) as scene:
        fiber = scene.rt.context.plugin(Plugin(name="p", apply=keep, inject=(AGENTS,)))
        scene.quiet()
        agents = contexts[0].agents
        fiber.dispose()
        with pytest.raises(InactiveError, match="create"):
            agents.create()
        scene.settle()
        assert scene.rt.sessions.list() == ()


@pytest.mark.clause("G-15")
def test_agents_are_read_only_by_who_injects_them() -> None:
    """The property of a plugin that did not name them says so."""
    contexts: list[AppContext] = []

    def keep(context: AppContext, _: object) -> None:
        contexts.append(context)

    with Scene() as scene:
        scene.rt.context.plugin(Plugin(name="p", apply=keep))
        scene.quiet()
        with pytest.raises(NotInjectedError, match="inject"):
            _ = contexts[0].agents
        assert isinstance(contexts[0], Context)


@pytest.mark.clause("F-25", "F-26", "F-31")
@pytest.mark.seed("SEED-35", "SEED-44")
def test_a_configured_agent_belongs_to_the_driver() -> None:
    """It is there from the beginning, on a fresh session, and ends with the driver's plugin."""
    with Scene(agents=(), configured=(ConfiguredAgent(id="a"),)) as scene:
        agent = scene.rt.agents.get("a")
        assert agent is not None
        assert agent.session.header.id.startswith("a-session-")
        assert any(effect.name == "agent a" for effect in scene.rt.driver.effects)
        agent.send("A")
        scene.settle()
        assert agent.session.messages()[-1].role == "assistant"
        first = agent.session.header.id
        wait(scene.stage, scene.rt.driver.restart())
        scene.quiet()
        assert agent.status is Status.DISPOSED
        again = scene.rt.agents.get("a")
        assert again is not None
        assert again is not agent
        assert again.session.header.id != first
