"""The world of a case about plugins: an application on the stage, and what its plugins noted."""

from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

from attrs import define, field

from runtime import Runtime, open_runtime
from runtime.announcements import Announcement
from runtime.context import Context, Fiber, InactiveError, Plugin, Token
from runtime.subject import StageClock, StageIdentifiers, StageModel
from runtime.teardown import Teardown, TeardownReport
from statemachine.conformance.stage.schedules import Action, Actor, Scenario
from statemachine.conformance.stage.stage import Stage

__all__ = ["DISK", "SAID", "Act", "PluginWorld", "act", "actor", "plugin", "scene"]

Act = Callable[["PluginWorld"], object]

SAID: Final[Announcement[str]] = Announcement("case/said")
DISK: Final[Token[str]] = Token("disk")


@define(eq=False)
class PluginWorld:
    """An application with plugins, and everything that they hold."""

    stage: Stage
    root: Context = field(init=False)
    fibers: dict[str, Fiber] = field(factory=dict)
    seen: list[str] = field(factory=list)
    """What plugins noted, in its order."""
    refused: list[InactiveError] = field(factory=list)
    ends: list[Teardown] = field(factory=list)
    reports: list[TeardownReport] = field(factory=list)
    notes: dict[str, Any] = field(factory=dict)
    _held: Counter[str] = field(factory=Counter)
    _opening: AbstractAsyncContextManager[Runtime] | None = None

    def __attrs_post_init__(self) -> None:
        self.root = Context.root()

    def open_runtime(self) -> Runtime:
        """Become an application that drives agents, whose model answers when the stage says so."""
        self._opening = open_runtime(
            models={"stage": StageModel(self.stage)},
            default_model="stage",
            clock=StageClock(self.stage),
            identifiers=StageIdentifiers(),
        )
        runtime = self.stage.complete(self._opening.__aenter__())
        self.root = runtime.context
        return runtime

    # -- What the case does ------------------------------------------------------------------------

    def load(self, made: Plugin[Any], config: object = None) -> None:
        """Load a plugin at the root, and let its load go as far as it can."""
        self.fibers[made.name] = self.root.plugin(made, config)
        self.stage.run_until_quiet()

    def dispose(self, name: str) -> None:
        """Unload a plugin, and wait for its end in a task of its own."""
        self.join(self.fibers[name].dispose())

    def restart(self, name: str, config: object) -> None:
        """Load a plugin anew, and wait for that in a task of its own."""
        self.join(self.fibers[name].restart(config))

    def join(self, end: Teardown) -> None:
        """Wait for an end in a task of its own."""
        self.ends.append(end)
        self.stage.spawn(self._keep(end), f"waiter {len(self.ends)}")

    async def _keep(self, end: Teardown) -> None:
        self.reports.append(await end)

    def say(self, text: str) -> None:
        """Announce something to every listener."""
        self.root.emit(SAID, text)

    # -- What plugins do ---------------------------------------------------------------------------

    def hold(self, name: str) -> Callable[[], None]:
        """Take something that has to be given back, and return how."""
        self.seen.append(f"{name} taken")
        self._held[name] += 1

        def give_back() -> None:
            self.seen.append(f"{name} given back")
            self._held[name] -= 1

        return give_back

    def attempt(self, call: Callable[[], object]) -> None:
        """Register something, or note that it was refused."""
        try:
            call()
        except InactiveError as error:
            self.refused.append(error)

    # -- What holds at the end of every case -------------------------------------------------------

    def audit(self) -> None:
        """Every end was reached, and once the application is over nothing of it is left."""
        assert all(end.is_done for end in self.ends)
        if self._opening is not None:
            self.stage.complete(self._opening.__aexit__(None, None, None))
        report = self.stage.complete(_result(self.root.fiber.dispose()))
        assert report.stragglers == ()
        assert self.root.effects == ()
        assert self._held.total() == 0, f"never given back: {+self._held}"
        assert min(self._held.values(), default=0) == 0, f"given back twice: {-self._held}"
        told = len(self.seen)
        self.say("over")
        assert len(self.seen) == told, f"told after the end: {self.seen[told:]}"
        assert self.stage.pending == ()
        assert self.stage.loop.next_timer() is None


async def _result(end: Awaitable[TeardownReport]) -> TeardownReport:
    return await end


def plugin(name: str, apply: Callable[[Context, Any], object], *inject: Token[Any]) -> Plugin[Any]:
    """Name a plugin."""
    return Plugin(name=name, apply=apply, inject=inject)


def actor(name: str, *acts: Act) -> Actor[PluginWorld]:
    """Name somebody outside and what they do."""
    return Actor(name=name, actions=acts)


def act(label: str, what: Act) -> Action[PluginWorld]:
    """Name one thing that somebody does."""
    return Action(label=label, act=what)


def scene(name: str, *actors: Actor[PluginWorld], before: Act, check: Act) -> Scenario[PluginWorld]:
    """Tell a scenario: what was arranged, who acts, what must hold in the end."""

    def setup(stage: Stage) -> PluginWorld:
        world = PluginWorld(stage)
        before(world)
        stage.run_until_quiet()
        return world

    def judge(world: PluginWorld) -> None:
        check(world)
        world.audit()

    return Scenario(name=name, actors=actors, setup=setup, check=judge, budget=2_000)
