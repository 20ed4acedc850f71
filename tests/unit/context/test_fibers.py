"""Plugins in their places: loading, unloading, failing, being loaded again."""

from collections.abc import Iterator
from typing import Any

import pytest

from runtime.context import (
    ConfigIssue,
    Context,
    Fiber,
    FiberState,
    InactiveError,
    InvalidConfigError,
    Plugin,
)
from runtime.errors import CallerError
from statemachine.conformance.stage.stage import Stage

from .scene import DISK, NET, FailedError, failures, load, noting, plugin, state_of, wait


def nothing(_context: Context, _config: object) -> None:
    """Set nothing up."""


@pytest.mark.clause("G-11")
def test_a_plugin_waits_for_every_service_that_it_injects(stage: Stage, root: Context) -> None:
    """It is pending until the last of them is there, and says what it waits for."""
    fiber = load(stage, root, nothing, DISK, NET)
    assert (state_of(fiber), fiber.missing) == (FiberState.PENDING, ("disk", "net"))
    root.provide(DISK, "d")
    stage.run_until_quiet()
    assert (state_of(fiber), fiber.missing) == (FiberState.PENDING, ("net",))
    root.provide(NET, "n")
    assert state_of(fiber) is FiberState.LOADING
    assert wait(stage, fiber) is FiberState.ACTIVE


@pytest.mark.clause("G-11")
def test_a_plugin_that_needs_what_only_itself_provides_stays_pending(
    stage: Stage, root: Context
) -> None:
    """It hangs nobody: awaiting it returns, because it is at rest."""
    fiber = load(stage, root, lambda context, _: context.provide(DISK, "own"), DISK)
    assert wait(stage, fiber) is FiberState.PENDING
    wait(stage, fiber.dispose())


@pytest.mark.clause("G-12")
def test_a_dependent_unloads_and_loads_again_with_its_service(stage: Stage, root: Context) -> None:
    """Its effects are undone and set up anew, with the new value."""
    seen: list[str] = []

    def apply(context: Context, _: object) -> object:
        seen.append(f"load {context.need(DISK)}")
        return noting(seen, "unload")

    fiber = load(stage, root, apply, DISK)
    first = root.provide(DISK, "one")
    stage.run_until_quiet()
    first.dispose()
    assert state_of(fiber) is FiberState.UNLOADING
    stage.run_until_quiet()
    assert state_of(fiber) is FiberState.PENDING
    root.provide(DISK, "two")
    stage.run_until_quiet()
    assert seen == ["load one", "unload", "load two"]


@pytest.mark.clause("G-19")
def test_a_plugin_that_raises_is_undone_and_harms_nobody(
    stage: Stage, root: Context, caplog: pytest.LogCaptureFixture
) -> None:
    """Awaiting its fiber raises the error, which is logged once; the others are active."""
    seen: list[str] = []

    def apply(context: Context, _: object) -> Iterator[Any]:
        context.effect(lambda: noting(seen, "sibling"))
        yield noting(seen, "own")
        raise FailedError("no")

    other = load(stage, root, nothing, name="other")
    fiber = load(stage, root, apply)
    assert state_of(fiber) is FiberState.FAILED
    with pytest.raises(FailedError):
        wait(stage, fiber)
    assert fiber.effects == ()
    assert sorted(seen) == ["own", "sibling"]
    assert state_of(other) is FiberState.ACTIVE
    assert len(caplog.records) == 1
    wait(stage, fiber.dispose())


@pytest.mark.clause("G-44")
def test_a_failed_plugin_loads_again_when_restarted(stage: Stage, root: Context) -> None:
    """One failed load does not stop the next; each is reported to whoever asked for it."""
    is_broken = True

    def apply(_context: Context, _config: object) -> None:
        if is_broken:
            raise FailedError("broken")

    fiber = load(stage, root, apply)
    assert failures(wait(stage, fiber.restart())) == ["broken"]
    assert state_of(fiber) is FiberState.FAILED
    is_broken = False
    assert failures(wait(stage, fiber.restart())) == []
    assert state_of(fiber) is FiberState.ACTIVE


@pytest.mark.clause("G-44")
def test_a_failed_plugin_loads_again_with_a_new_service(stage: Stage, root: Context) -> None:
    """What failed on one service is worth a try with its successor."""

    def apply(context: Context, _: object) -> None:
        if context.need(DISK) == "bad":
            raise FailedError

    bad = root.provide(DISK, "bad")
    fiber = load(stage, root, apply, DISK)
    assert state_of(fiber) is FiberState.FAILED
    wait(stage, bad.dispose())
    assert state_of(fiber) is FiberState.PENDING
    root.provide(DISK, "good")
    assert wait(stage, fiber) is FiberState.ACTIVE


def port(config: object) -> int:
    """Take a port number."""
    if type(config) is not int:
        raise InvalidConfigError("plugin", (ConfigIssue("servers[0].port", "is no number"),))
    return config


@pytest.mark.clause("G-20")
def test_an_invalid_configuration_fails_the_fiber_before_it_is_applied(
    stage: Stage, root: Context
) -> None:
    """The error lists what is wrong, each with its path, and nothing was applied."""
    applied: list[int] = []

    def apply(_: Context, config: int) -> None:
        applied.append(config)

    fiber = root.plugin(Plugin(name="server", apply=apply, validate=port), "eighty")
    assert state_of(fiber) is FiberState.FAILED
    with pytest.raises(InvalidConfigError, match=r"servers\[0\]\.port: is no number") as caught:
        wait(stage, fiber)
    assert caught.value.issues == (ConfigIssue("servers[0].port", "is no number"),)
    assert applied == []
    wait(stage, fiber.restart(80))
    assert applied == [80]


@pytest.mark.clause("G-20")
def test_any_error_of_a_validation_is_an_invalid_configuration(stage: Stage, root: Context) -> None:
    """A validation that just raises is told like one that lists its issues."""
    fiber = root.plugin(Plugin(name="server", apply=nothing, validate=int), "eighty")
    with pytest.raises(InvalidConfigError, match=r"server.*invalid literal"):
        wait(stage, fiber)


@pytest.mark.clause("G-37")
def test_a_restart_with_an_invalid_configuration_changes_nothing(
    stage: Stage, root: Context
) -> None:
    """The refusal comes at the call, and the good instance goes on."""
    seen: list[Any] = []

    def apply(_: Context, config: int) -> object:
        seen.append(config)
        return noting(seen, "unload")

    fiber = root.plugin(Plugin(name="server", apply=apply, validate=port), 80)
    stage.run_until_quiet()
    with pytest.raises(InvalidConfigError):
        fiber.restart("eighty")
    stage.run_until_quiet()
    assert (state_of(fiber), seen) == (FiberState.ACTIVE, [80])
    wait(stage, fiber.restart())
    assert seen == [80, "unload", 80]


@pytest.mark.clause("G-36")
def test_a_restart_applies_the_new_configuration_from_then_on(stage: Stage, root: Context) -> None:
    """A restart resolves its inputs anew, and so does the next."""
    seen: list[Any] = []
    fiber = root.plugin(plugin(lambda _context, config: seen.append(config)), 1)
    stage.run_until_quiet()
    end = fiber.restart(2)
    assert state_of(fiber) is FiberState.UNLOADING
    assert wait(stage, end).failed == ()
    wait(stage, fiber.restart())
    assert seen == [1, 2, 2]


@pytest.mark.clause("G-36")
def test_the_root_cannot_be_restarted(root: Context) -> None:
    """There is nothing that could be applied anew."""
    with pytest.raises(CallerError, match="root"):
        root.fiber.restart()


@pytest.mark.clause("G-31")
def test_a_reload_leaves_the_services_of_others_alone(stage: Stage, root: Context) -> None:
    """What the executor keeps survives the reload of the plugin that uses it."""
    jobs: list[str] = []
    root.provide(DISK, "executor")

    def apply(context: Context, _: object) -> None:
        jobs.append(context.need(DISK))

    fiber = load(stage, root, apply, DISK)
    others: list[Context] = []
    load(stage, root, lambda context, _: others.append(context), DISK)
    wait(stage, fiber.restart())
    assert jobs == ["executor", "executor"]
    (other,) = others
    assert other.need(DISK) == "executor"


@pytest.mark.clause("G-39")
def test_an_old_context_stays_dead_after_a_reload(stage: Stage, root: Context) -> None:
    """A callback that outlived its reload registers nothing and reads nothing."""
    contexts: list[Context] = []
    root.provide(DISK, "d")
    fiber = load(stage, root, lambda context, _: contexts.append(context), DISK)
    wait(stage, fiber.restart())
    old, new = contexts
    with pytest.raises(InactiveError, match="loaded anew"):
        old.effect(lambda: None)
    with pytest.raises(InactiveError):
        old.need(DISK)
    assert (old.get(DISK), new.need(DISK)) == ("d", "d")


@pytest.mark.clause("G-10")
def test_an_effect_of_a_listener_belongs_to_the_context_that_registers_it(
    stage: Stage, root: Context
) -> None:
    """Whenever and from wherever it is registered, it is undone with that plugin."""
    seen: list[str] = []
    contexts: list[Context] = []
    fiber = load(stage, root, lambda context, _: contexts.append(context))
    stage.loop.call_soon(lambda: contexts[0].effect(lambda: noting(seen, "undone")))
    stage.run_until_quiet()
    wait(stage, fiber.dispose())
    assert seen == ["undone"]


@pytest.mark.clause("G-22", "G-36")
def test_a_restart_while_loading_finishes_the_load_first(stage: Stage, root: Context) -> None:
    """Then it unloads, without having been active, and loads with the newest configuration."""
    seen: list[str] = []

    async def apply(_: Context, config: object) -> object:
        await stage.gate("load", ("ok",))
        seen.append(f"loaded {config}")
        return noting(seen, f"unloaded {config}")

    fiber = root.plugin(plugin(apply), 1)
    stage.run_until_quiet()
    restarts = [fiber.restart(2), fiber.restart(3)]
    assert state_of(fiber) is FiberState.LOADING
    for restart in restarts:
        assert wait(stage, restart).failed == ()
    assert seen == ["loaded 1", "unloaded 1", "loaded 3"]


@pytest.mark.clause("G-11")
def test_nothing_is_loaded_under_a_parent_that_unloads(stage: Stage, root: Context) -> None:
    """A service that comes too late wakes nobody who is about to be disposed."""
    seen: list[str] = []

    def child(_: Context, __: object) -> None:
        seen.append("loaded")

    def apply(context: Context, _: object) -> None:
        context.plugin(plugin(child, DISK))

    parent = load(stage, root, apply)
    parent.dispose()
    root.provide(DISK, "d")
    stage.settle()
    assert seen == []


@pytest.mark.clause("G-36")
def test_a_validation_that_disposes_its_fiber_hangs_nobody(stage: Stage, root: Context) -> None:
    """It is foreign code like any other; the restart is refused."""
    fibers: list[Fiber] = []

    def validate(config: object) -> object:
        for fiber in fibers:
            fiber.dispose()
        return config

    watching = Plugin(name="watching", apply=nothing, inject=(DISK,), validate=validate)
    fibers.append(root.plugin(watching))
    with pytest.raises(InactiveError):
        fibers[0].restart()
    wait(stage, fibers[0].dispose())
