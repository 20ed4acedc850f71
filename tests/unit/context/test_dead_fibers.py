"""A fiber that is not active any more: whatever is registered on it is refused, whoever asks."""

from collections.abc import Callable
from typing import Any, Final

import pytest

from runtime.announcements import Announcement
from runtime.context import Bail, Context, Fiber, FiberState, InactiveError, Serial, Waterfall
from runtime.errors import CallerError
from statemachine.conformance.stage.stage import Stage

from .scene import DISK, NET, FailedError, load, plugin, state_of, wait

SAID: Final[Announcement[str]] = Announcement("test/said")

ACTS: Final[dict[str, Callable[[Context], object]]] = {
    "effect": lambda context: context.effect(lambda: None, name="late"),
    "effect of own": lambda context: context.own(context.fiber, name="late"),
    "plugin late": lambda context: context.plugin(plugin(lambda _, __: None, name="late")),
    "provide late": lambda context: context.provide(NET, "n"),
    "listener of test/said": lambda context: context.on(SAID, lambda _: None),
    "listener of test/serial": lambda context: context.on(Serial("test/serial"), lambda _: None),
    "listener of test/bail": lambda context: context.on(Bail("test/bail"), lambda _: None),
    "listener of test/fall": lambda context: context.on(
        Waterfall("test/fall"), lambda _, proceed: proceed()
    ),
    "listener of an extended context": lambda context: context.extend("part").on(
        SAID, lambda _: None
    ),
}


class Dead:
    """A plugin `p` in a state in which nothing may be registered, and the contexts it was given."""

    def __init__(self, stage: Stage, root: Context) -> None:
        self.stage = stage
        self.root = root
        self.contexts: list[Context] = []
        self.is_broken = False
        self.service = root.provide(DISK, "d")
        self.fiber: Fiber = load(stage, root, self._apply, DISK, name="p")

    def _apply(self, context: Context, _: object) -> object:
        self.contexts.append(context)
        if self.is_broken:
            raise FailedError("broken")
        return lambda: self.stage.gate("unload", ("ok",))

    def come_to(self, state: str) -> str:
        """Bring the plugin into a state, and return what a refusal calls it."""
        ways: dict[str, Callable[[], object]] = {
            "unloading": self.fiber.dispose,
            "disposed": lambda: wait(self.stage, self.fiber.dispose()),
            "failed": self._break,
            "pending": lambda: wait(self.stage, self.service.dispose()),
            "loaded anew": lambda: wait(self.stage, self.fiber.restart()),
        }
        ways[state]()
        self.stage.run_until_quiet()
        return state

    def _break(self) -> None:
        self.is_broken = True
        wait(self.stage, self.fiber.restart())


@pytest.mark.clause("G-10", "G-39")
@pytest.mark.parametrize("state", ["unloading", "disposed", "failed", "pending", "loaded anew"])
@pytest.mark.parametrize("act", ACTS)
def test_nothing_is_registered_on_a_dead_fiber(
    stage: Stage, root: Context, act: str, state: str
) -> None:
    """The error is the caller's, has a code, says what and why, and nothing has changed."""
    dead = Dead(stage, root)
    called = dead.come_to(state)
    before = (root.effects, dead.fiber.effects, root.get(NET), root.listens(SAID), stage.pending)
    with pytest.raises(InactiveError) as caught:
        ACTS[act](dead.contexts[0])
    after = (root.effects, dead.fiber.effects, root.get(NET), root.listens(SAID), stage.pending)
    assert after == before
    assert isinstance(caught.value, CallerError)
    assert caught.value.code == "inactive-effect"
    said = str(caught.value)
    assert "refused: plugin p is" in said
    assert "register it from the context of an active plugin" in said
    assert said.partition(" ")[0] in act
    assert called in said
    stage.settle()


@pytest.mark.clause("G-10")
@pytest.mark.parametrize("act", ACTS)
def test_nothing_is_registered_on_an_application_that_is_over(
    stage: Stage, root: Context, act: str
) -> None:
    """Its root refuses like a plugin, from the call of dispose on."""
    end = root.fiber.dispose()
    with pytest.raises(InactiveError, match="application is unloading"):
        ACTS[act](root)
    wait(stage, end)
    with pytest.raises(InactiveError, match="application is disposed"):
        ACTS[act](root)


@pytest.mark.clause("G-36")
def test_a_plugin_that_is_gone_is_not_restarted(stage: Stage, root: Context) -> None:
    """The refusal says what to do instead, while it unloads and afterwards."""
    dead = Dead(stage, root)
    for state in ("unloading", "disposed"):
        dead.come_to(state)
        with pytest.raises(InactiveError, match=f"plugin p is {state} for good; load it anew"):
            dead.fiber.restart()
    assert state_of(dead.fiber) is FiberState.DISPOSED


@pytest.mark.clause("G-05", "G-27")
def test_what_is_gone_may_be_disposed_again(stage: Stage, root: Context) -> None:
    """Ends are joined, and nothing is refused: clean-up code need not know who was first."""
    ends: list[Any] = []

    def apply(context: Context, _: object) -> None:
        ends.append(context.effect(lambda: None))
        ends.append(context.on(SAID, lambda _: None))
        ends.append(context.provide(NET, "n"))

    fiber = load(stage, root, apply)
    ends.append(fiber)
    wait(stage, fiber.dispose())
    for each in ends:
        assert wait(stage, each.dispose()).failed == ()
