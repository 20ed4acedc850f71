"""Ends: what they wait for, who shares them, and who may not wait."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from runtime.announcements import Announcement
from runtime.context import (
    Context,
    Effect,
    Fiber,
    FiberState,
    InactiveError,
)
from runtime.errors import CallerError, WouldDeadlockError
from statemachine.conformance.stage.stage import Stage

from .scene import DISK, gated, load, noting, plugin, state_of, wait

SAID: Announcement[str] = Announcement("test/said")


def nothing(_context: Context, _config: object) -> None:
    """Set nothing up."""


@pytest.mark.clause("G-36")
def test_a_restart_that_is_overtaken_by_a_dispose_says_so(stage: Stage, root: Context) -> None:
    """Its end resolves, with the reason why the plugin is not loaded."""
    seen: list[str] = []
    fiber = load(stage, root, lambda _context, _config: gated(stage, seen, "slow"))
    restart = fiber.restart()
    stage.run_until_quiet()
    fiber.dispose()
    report = wait(stage, restart)
    assert [failure.link for failure in report.failed] == ["restart"]
    assert state_of(fiber) is FiberState.DISPOSED
    with pytest.raises(InactiveError):
        fiber.restart()


@pytest.mark.clause("G-36")
def test_a_restart_without_its_service_ends_pending(stage: Stage, root: Context) -> None:
    """Nobody waits for a service through a restart."""
    fiber = load(stage, root, nothing, DISK)
    assert wait(stage, fiber.restart()).failed == ()
    assert state_of(fiber) is FiberState.PENDING


@pytest.mark.clause("G-21")
def test_the_end_of_a_fiber_waits_for_all_that_it_had_set_up(stage: Stage, root: Context) -> None:
    """Its effects, its child fibers and theirs."""
    seen: list[str] = []

    def child(_: Context, __: object) -> object:
        return gated(stage, seen, "child")

    def apply(context: Context, _: object) -> object:
        context.plugin(plugin(child, name="child"))
        return gated(stage, seen, "own")

    fiber = load(stage, root, apply)
    end = fiber.dispose()
    wait(stage, end)
    assert sorted(seen) == ["child begins", "child ends", "own begins", "own ends"]
    assert root.effects == ()


@pytest.mark.clause("G-22")
def test_a_fiber_disposed_while_it_loads_finishes_the_load_first(
    stage: Stage, root: Context
) -> None:
    """The load is not cut, what it sets up late is undone too, and it is never active."""
    seen: list[str] = []

    async def apply(context: Context, _: object) -> None:
        context.provide(DISK, "early")
        await stage.gate("load", ("ok",))
        context.effect(lambda: noting(seen, "undone"))
        seen.append("loaded")

    dependent = load(stage, root, lambda _context, _config: seen.append("wrong"), DISK)
    fiber = load(stage, root, apply)
    end = fiber.dispose()
    stage.run_until_quiet()
    assert (state_of(fiber), end.is_done) == (FiberState.LOADING, False)
    wait(stage, end)
    assert seen == ["loaded", "undone"]
    assert state_of(dependent) is FiberState.PENDING


@pytest.mark.clause("G-35")
def test_dispose_acts_at_the_call_and_disposes_in_a_task(stage: Stage, root: Context) -> None:
    """When it returns the fiber accepts nothing, and no disposer has run."""
    seen: list[str] = []
    contexts: list[Context] = []

    def apply(context: Context, _: object) -> object:
        contexts.append(context)
        context.provide(DISK, "d")
        return noting(seen, "undone")

    fiber = load(stage, root, apply)
    assert root.get(DISK) == "d"
    end = fiber.dispose()
    assert fiber.dispose() is end
    assert (state_of(fiber), root.get(DISK), seen) == (FiberState.UNLOADING, None, [])
    with pytest.raises(InactiveError):
        contexts[0].effect(lambda: None)
    wait(stage, end)
    assert seen == ["undone"]


@pytest.mark.clause("G-35")
def test_a_pending_fiber_is_disposed_at_the_call(stage: Stage, root: Context) -> None:
    """There is nothing to unload, and its service will not wake it any more."""
    fiber = load(stage, root, nothing, DISK)
    wait(stage, fiber.dispose())
    root.provide(DISK, "d")
    stage.run_until_quiet()
    assert (state_of(fiber), root.fiber.effects[0].name) == (FiberState.DISPOSED, "provide disk")


@pytest.mark.clause("G-38")
def test_what_two_fibers_own_ends_once_with_the_first_of_them(stage: Stage, root: Context) -> None:
    """Both fibers wait for the one end, whichever of them began it."""
    seen: list[str] = []
    shared = root.effect(lambda: gated(stage, seen, "agent"), name="agent")

    def owner(context: Context, _: object) -> None:
        context.own(shared, name="agent")

    caller = load(stage, root, owner, name="caller")
    provider = load(stage, root, owner, name="provider")
    first = provider.dispose()
    stage.run_until_quiet()
    second = caller.dispose()
    stage.run_until_quiet()
    assert (first.is_done, second.is_done) == (False, False)
    wait(stage, second)
    wait(stage, first)
    assert seen == ["agent begins", "agent ends"]


@pytest.mark.clause("G-38")
def test_what_was_forgotten_is_not_ended(stage: Stage, root: Context) -> None:
    """A fiber does not keep what has ended by itself, and does not end it again."""
    seen: list[str] = []
    owned: list[Effect] = []
    shared = root.effect(lambda: noting(seen, "agent"), name="agent")
    fiber = load(stage, root, lambda context, _: owned.append(context.own(shared, name="agent")))
    owned[0].forget()
    assert [tree.name for tree in fiber.effects] == ["apply"]
    wait(stage, fiber.dispose())
    assert seen == []


@pytest.mark.clause("G-43")
def test_the_tree_of_effects_shows_fibers_and_their_states(stage: Stage, root: Context) -> None:
    """It is what a person would want to see when something does not end."""

    def apply(context: Context, _: object) -> None:
        context.plugin(plugin(nothing, DISK, name="child"))
        context.effect(lambda: None, name="watch")

    load(stage, root, apply, name="parent")
    (parent,) = root.effects
    assert (parent.name, parent.state) == ("parent", "active")
    assert [(part.name, part.state) for part in parent.parts] == [
        ("apply", None),
        ("child", "pending"),
        ("watch", None),
    ]


@pytest.mark.clause("G-41")
def test_awaiting_the_own_end_inside_the_load_is_refused(stage: Stage, root: Context) -> None:
    """The end goes on: the load fails on the refusal, or catches it, and is unloaded."""
    refusals: list[str] = []

    async def apply(context: Context, _: object) -> None:
        for wait_for in (context.fiber.dispose(), context.fiber):
            with pytest.raises(WouldDeadlockError) as caught:
                await wait_for
            refusals.append(str(caught.value))

    fiber = load(stage, root, apply)
    assert state_of(fiber) is FiberState.DISPOSED
    assert len(refusals) == 2


@pytest.mark.clause("G-41")
@pytest.mark.parametrize("is_child", [False, True])
def test_awaiting_the_own_end_inside_a_disposer_is_refused(
    stage: Stage,
    root: Context,
    is_child: bool,  # noqa: FBT001  # a parametrised flag
) -> None:
    """Also from the disposer of a child fiber, for which the parent waits."""
    ends: list[Awaitable[object]] = []
    refused: list[bool] = []

    async def awaits() -> None:
        with pytest.raises(WouldDeadlockError):
            await ends[0]
        refused.append(True)

    def leaf(_: Context, __: object) -> object:
        return awaits

    def apply(context: Context, _: object) -> None:
        context.plugin(plugin(leaf))

    fiber = load(stage, root, apply if is_child else leaf)
    ends.append(fiber.dispose())
    wait(stage, ends[0])
    assert refused == [True]


@pytest.mark.clause("G-41")
def test_two_ends_that_await_each_other_are_not_waited_for(stage: Stage, root: Context) -> None:
    """The second of them is refused, because it would close the circle."""
    fibers: list[Fiber] = []
    seen: list[str] = []

    def awaiting(other: int) -> Callable[[Context, object], object]:
        async def awaits() -> None:
            try:
                await fibers[other].dispose()
            except WouldDeadlockError:
                seen.append("refused")
            else:
                seen.append("waited")

        return lambda _context, _config: awaits

    fibers += [load(stage, root, awaiting(1)), load(stage, root, awaiting(0))]
    wait(stage, fibers[0].dispose())
    wait(stage, fibers[1].dispose())
    assert seen == ["refused", "waited"]


@pytest.mark.clause("G-41")
def test_a_child_may_await_the_load_of_its_parent(stage: Stage, root: Context) -> None:
    """Nothing waits for the child there, so nothing is refused."""
    seen: list[FiberState] = []

    def apply(context: Context, _: object) -> None:
        async def child(_context: Context, _config: object) -> None:
            seen.append(await context.fiber)

        context.plugin(plugin(child))

    load(stage, root, apply)
    assert seen == [FiberState.ACTIVE]


@pytest.mark.clause("G-41")
def test_a_parent_that_awaits_a_child_that_awaits_it_is_no_circle_unseen(
    stage: Stage, root: Context
) -> None:
    """The child is refused: its parent's load waits for it."""
    seen: list[str] = []

    async def apply(context: Context, _: object) -> None:
        async def child(_context: Context, _config: object) -> None:
            await stage.gate("child", ("ok",))
            with pytest.raises(WouldDeadlockError):
                await context.fiber
            seen.append("refused")

        await context.plugin(plugin(child))

    wait(stage, load(stage, root, apply))
    assert seen == ["refused"]


@pytest.mark.clause("G-41")
def test_tasks_named_as_own_may_not_wait(stage: Stage, root: Context) -> None:
    """The driver of an agent, for which its owner's end waits, is refused that end."""
    seen: list[str] = []
    drivers: list[Any] = []

    def apply(context: Context, _: object) -> None:
        async def drive() -> None:
            await stage.gate("turn", ("ok",))
            with pytest.raises(WouldDeadlockError):
                await context.fiber.dispose()
            seen.append("refused")

        drivers.append(stage.spawn(drive(), "driver"))

        async def stop() -> None:
            await drivers[0]

        context.effect(lambda: stop, name="agent", own_tasks=lambda: drivers)

    fiber = load(stage, root, apply)
    wait(stage, fiber.dispose())
    assert seen == ["refused"]


def test_a_defect_of_the_context_fails_everybody_who_waits(
    stage: Stage,
    root: Context,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nobody hangs because of our own bug, and the log says so."""

    async def unwind(_: object) -> None:
        raise AssertionError("defect")

    fiber = load(stage, root, nothing)
    monkeypatch.setattr("runtime.context.lives.Life.unwind", unwind)
    restart, end = fiber.restart(), fiber.dispose()
    for waits in (restart, end, fiber):
        with pytest.raises(AssertionError, match="defect"):
            wait(stage, waits)
    assert "defect of the runtime" in caplog.text


@pytest.mark.clause("G-42")
def test_a_call_from_another_thread_is_refused(
    stage: Stage, root: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says what to do instead, and nothing has happened."""
    fiber = load(stage, root, nothing)
    effect = root.effect(lambda: None)
    subscription = root.on(SAID, lambda _: None)
    before = root.effects
    monkeypatch.setattr("runtime.context.lives.thread_id", lambda: -1)
    for call in (
        fiber.dispose,
        fiber.restart,
        effect.dispose,
        subscription.close,
        lambda: root.effect(lambda: None),
        lambda: root.own(fiber, name="late"),
        lambda: root.plugin(plugin(nothing)),
        lambda: root.provide(DISK, "d"),
        lambda: root.on(SAID, lambda _: None),
    ):
        with pytest.raises(CallerError, match="call_soon_threadsafe"):
            call()
    monkeypatch.undo()
    assert (state_of(fiber), root.effects) == (FiberState.ACTIVE, before)
    assert (effect.is_open, subscription.is_live) == (True, True)


@pytest.mark.clause("G-47", "G-19")
def test_a_load_that_awaits_something_cancelled_has_failed(stage: Stage, root: Context) -> None:
    """A cancellation that nobody asked for is the plugin's failure, not the end of the fiber."""

    async def apply(_: Context, __: object) -> None:
        gone = stage.loop.create_future()
        gone.cancel()
        await gone

    fiber = load(stage, root, apply)
    assert state_of(fiber) is FiberState.FAILED
    wait(stage, fiber.dispose())
