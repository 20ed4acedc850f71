"""Plugins: what outlived its unload, what a reload forgot, and listeners in each other's way."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pytest

from runtime.announcements import Announcement
from runtime.context import Context, Disposer, FiberState, InvalidConfigError, Plugin
from runtime.teardown import TeardownReport
from statemachine.conformance.stage.schedules import Scenario

from .conftest import Examine
from .plugin_world import DISK, SAID, PluginWorld, act, actor, plugin, scene

Scenes: TypeAlias = tuple[Scenario[PluginWorld], ...]


def dispose(world: PluginWorld) -> None:
    """Unload the plugin."""
    world.dispose("p")


def _register(world: PluginWorld, context: Context) -> None:
    """Register a child, an effect and a listener."""

    def told(_: str) -> None:
        world.seen.append("told")

    late = plugin("late", lambda _, __: world.hold("child"))
    world.attempt(lambda: context.plugin(late))
    world.attempt(lambda: context.effect(lambda: world.hold("effect")))
    world.attempt(lambda: context.on(SAID, told))


def _registering_from_a_task(world: PluginWorld) -> None:
    def apply(context: Context, _: object) -> Disposer:
        async def wakes() -> None:
            await world.stage.gate("wake", ("ok",))
            world.notes["was open"] = context.is_open
            _register(world, context)

        world.stage.spawn(wakes(), "wakes")
        return lambda: world.stage.gate("unload", ("ok",))

    world.load(plugin("p", apply))


def _registering_from_a_disposer(world: PluginWorld) -> None:
    def apply(context: Context, _: object) -> Iterator[Disposer]:
        yield world.hold("first")

        async def registers() -> None:
            await world.stage.gate("unload", ("ok",))
            _register(world, context)

        yield registers

    world.load(plugin("p", apply))


def case_120() -> Scenes:
    """Register a child, a listener and an effect from a task, and from a disposer, late."""

    def all_or_nothing(world: PluginWorld) -> None:
        assert len(world.refused) == (0 if world.notes["was open"] else 3)
        assert [report.failed for report in world.reports] == [()]
        assert "told" not in world.seen

    def refused(world: PluginWorld) -> None:
        # A schedule may let the time of the disposer run out before it comes to that.
        assert len(world.refused) == 3 or (world.stage.now and not world.refused)
        assert world.seen == ["first taken", "first given back"]

    say = act("announce", lambda w: w.say("late"))
    return (
        scene(
            "a task that wakes late",
            actor("owner", dispose),
            before=_registering_from_a_task,
            check=all_or_nothing,
        ),
        scene(
            "a disposer that registers",
            actor("owner", dispose, say),
            before=_registering_from_a_disposer,
            check=refused,
        ),
    )


@pytest.mark.case("CASE-120")
@pytest.mark.clause("G-10", "G-21", "G-27")
def test_nothing_that_comes_during_an_unload_outlives_it(examine: Examine) -> None:
    """It is refused, or was early enough to be undone; there is one pass and no second."""
    examine(*case_120())


def case_121() -> Scenes:
    """Set an effect up from inside a listener."""

    def before(world: PluginWorld) -> None:
        def apply(context: Context, _: object) -> None:
            context.on(SAID, lambda text: context.effect(lambda: world.hold(text)))

        world.load(plugin("p", apply))

    def check(world: PluginWorld) -> None:
        taken = [text for text in world.seen if text.endswith("taken")]
        given_back = [text for text in world.seen if text.endswith("given back")]
        assert len(taken) == len(given_back)
        assert world.fibers["p"].effects == ()

    return (
        scene(
            "an effect of a listener",
            actor("host", lambda w: w.say("one"), lambda w: w.say("two")),
            actor("owner", dispose),
            before=before,
            check=check,
        ),
    )


@pytest.mark.case("CASE-121")
@pytest.mark.clause("G-05", "G-21", "G-27")
def test_an_effect_of_a_listener_is_undone_with_its_plugin(examine: Examine) -> None:
    """It belongs to the context, whenever it was set up."""
    examine(*case_121())


def case_123() -> Scenes:
    """Restart with another configuration, and once more without one."""

    def before(world: PluginWorld) -> None:
        def apply(context: Context, config: object) -> None:
            world.seen.append(f"applied {config}")
            context.on(SAID, lambda text: world.seen.append(f"{text} {config}"))

        world.load(plugin("p", apply), 1)

    def check(world: PluginWorld) -> None:
        applied = [text for text in world.seen if "applied" in text]
        # Two restarts that meet are one load.
        assert applied in (["applied 1", "applied 2"], ["applied 1", "applied 2", "applied 2"])
        world.say("late")
        assert world.seen[-1] == "late 2"
        told = [text for text in world.seen if text.startswith("early")]
        assert told in ([], ["early 1"], ["early 2"])

    def again(world: PluginWorld) -> None:
        world.join(world.fibers["p"].restart())

    return (
        scene(
            "a new configuration",
            actor("owner", act("restart with 2", lambda w: w.restart("p", 2)), again),
            actor("host", lambda w: w.say("early")),
            before=before,
            check=check,
        ),
    )


@pytest.mark.case("CASE-123")
@pytest.mark.clause("G-27", "G-36")
def test_a_reloaded_plugin_sees_the_new_configuration(examine: Examine) -> None:
    """When it is applied and in its listeners, after this restart and after the next."""
    examine(*case_123())


def _broken_at_2(world: PluginWorld) -> Callable[[Context, Any], Disposer]:
    def apply(context: Context, config: object) -> Disposer:
        if config == 2:
            raise OSError("the source is broken")
        context.provide(DISK, f"disk of {config}")
        return world.hold(f"instance {config}")

    return apply


def case_125() -> Scenes:
    """Restart into a failure, and out of it again."""

    def broken(world: PluginWorld) -> None:
        world.load(plugin("p", _broken_at_2(world)), 1)
        world.load(plugin("user", lambda _, __: world.hold("user"), DISK))

    def repaired(world: PluginWorld) -> None:
        assert world.fibers["p"].state is FiberState.ACTIVE
        assert world.fibers["user"].state is FiberState.ACTIVE
        assert world.root.get(DISK) == "disk of 3"
        # Two restarts that meet end together, and then the broken load may never have been tried.
        failed = [len(report.failed) for report in world.reports]
        assert failed in ([1, 0], [1, 1], [0, 0])

    def validated(world: PluginWorld) -> None:
        def validate(config: object) -> object:
            if config == 2:
                raise ValueError("no such port")
            return config

        world.load(Plugin(name="p", apply=_broken_at_2(world), validate=validate), 1)

    def refuse(world: PluginWorld) -> None:
        with pytest.raises(InvalidConfigError, match="no such port"):
            world.restart("p", 2)
        world.notes["disk"] = world.root.get(DISK)

    def kept(world: PluginWorld) -> None:
        assert world.notes["disk"] == "disk of 1"
        assert world.notes["seen"] in ("disk of 1", None, "disk of 3")
        assert world.root.get(DISK) == "disk of 3"
        assert "instance 2 taken" not in world.seen

    repair = act("restart with 3", lambda w: w.restart("p", 3))
    return (
        scene(
            "a load that fails",
            actor("owner", act("restart with 2", lambda w: w.restart("p", 2)), repair),
            before=broken,
            check=repaired,
        ),
        scene(
            "a configuration that is refused",
            actor("owner", act("refused", refuse), repair),
            actor("host", lambda w: w.notes.update(seen=w.root.get(DISK))),
            before=validated,
            check=kept,
        ),
    )


@pytest.mark.case("CASE-125")
@pytest.mark.clause("G-36", "G-37", "G-44")
def test_a_failed_reload_stands_in_the_way_of_none(examine: Examine) -> None:
    """A refused configuration leaves the good instance, a failed load leaves none; both pass."""
    examine(*case_125())


FINISHED: Announcement[str] = Announcement("case/finished")


def case_130() -> Scenes:
    """Let a job end before, during and after the reload of the plugin that watches it."""

    def before(world: PluginWorld) -> None:
        def executor(context: Context, _: object) -> Disposer:
            async def job() -> None:
                await world.stage.gate("job", ("ok",))
                listening = context.channels.listens(FINISHED)
                world.notes["somebody listened"] = listening
                context.emit(FINISHED, "job 1")

            world.stage.spawn(job(), "job")
            return None

        def watcher(context: Context, _: object) -> Disposer:
            life = world.notes["life"] = world.notes.get("life", 0) + 1

            def finished(name: str) -> None:
                world.seen.append(f"{name} told to {life}")
                # What it reads and sets up there has to work, or somebody else has to be told.
                context.effect(lambda: world.hold(name))
                assert context.get(DISK) is None

            context.on(FINISHED, finished)
            return lambda: world.stage.gate("unload", ("ok",))

        world.load(plugin("executor", executor))
        world.load(plugin("p", watcher))

    def check(world: PluginWorld) -> None:
        told = [text for text in world.seen if "told to" in text]
        assert len(told) == (1 if world.notes["somebody listened"] else 0), told
        assert world.seen.count("job 1 taken") == len(told), "told to somebody who cannot act on it"
        assert world.fibers["executor"].state is FiberState.ACTIVE
        assert world.notes["life"] == 2

    return (
        scene(
            "a job that ends around a reload",
            actor("owner", act("restart", lambda w: w.restart("p", None))),
            before=before,
            check=check,
        ),
    )


@pytest.mark.case("CASE-130")
@pytest.mark.clause("G-27", "G-31", "G-32", "G-39")
def test_what_ends_around_a_reload_is_told_once_or_to_nobody(examine: Examine) -> None:
    """To the instance that listens at that moment; the one before is never called again."""
    examine(*case_130())


def _three_effects(world: PluginWorld) -> None:
    def apply(_: Context, __: object) -> Iterator[Disposer]:
        yield world.hold("e1")
        give_back_2 = world.hold("e2")

        async def slow() -> None:
            try:
                await world.stage.gate("e2", ("ok",))
            finally:
                give_back_2()

        yield slow
        give_back_3 = world.hold("e3")

        async def raises_again() -> None:
            give_back_3()
            raise asyncio.CancelledError

        yield raises_again

    world.load(plugin("p", apply))


def case_132() -> Scenes:
    """Cancel the tasks of an end, whose disposers do not like it either."""

    def cancel_all(world: PluginWorld) -> None:
        for task in world.stage.loop.pending_tasks():
            if not task.get_name().startswith("waiter"):
                task.cancel()

    def check(world: PluginWorld) -> None:
        given_back = [text for text in world.seen if text.endswith("given back")]
        # A schedule may let the time of the second run out, and then the third does not wait.
        expected = ["e3 given back", "e2 given back", "e1 given back"]
        assert given_back == expected or (world.stage.now and {*given_back} == {*expected})
        (report,) = world.reports
        assert isinstance(report, TeardownReport)
        assert 1 <= len(report.failed) <= 2
        assert world.fibers["p"].state is FiberState.DISPOSED

    return (
        scene(
            "a cancelled unwinding",
            actor("owner", dispose),
            actor("stranger", act("cancel every task", cancel_all)),
            before=_three_effects,
            check=check,
        ),
    )


@pytest.mark.case("CASE-132")
@pytest.mark.clause("G-02", "G-47")
def test_a_cancelled_unwinding_still_unwinds_everything(examine: Examine) -> None:
    """Last in, first out, whichever disposer was cancelled or raises a cancellation itself."""
    examine(*case_132())
