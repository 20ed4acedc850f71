"""Listeners: how those are called that are told, and when they are not called any more."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from runtime.announcements import SESSION_FLUSH, Announcement
from runtime.context import (
    AwaitedAnnouncement,
    Bail,
    Context,
    InactiveError,
    Subscription,
)
from runtime.errors import CallerError, LimitError, PluginError
from runtime.limits import Limits
from statemachine.conformance.stage.stage import Stage

from .scene import FailedError, load, wait

SAID: Announcement[str] = Announcement("test/said")
SAVED: AwaitedAnnouncement[str] = AwaitedAnnouncement("test/saved")
CHOSEN: Bail[str, str] = Bail("test/chosen")


@pytest.mark.clause("G-23", "G-28")
def test_an_announcement_reaches_its_listeners_in_order(root: Context) -> None:
    """In the order of registration, those that were prepended first."""
    seen: list[str] = []
    root.on(SAID, lambda notice: seen.append(f"one {notice}"))
    root.on(SAID, lambda notice: seen.append(f"two {notice}"))
    root.on(SAID, lambda notice: seen.append(f"first {notice}"), prepend=True)
    root.emit(SAID, "hi")
    assert seen == ["first hi", "one hi", "two hi"]


@pytest.mark.clause("G-24")
def test_a_raising_listener_is_contained(
    stage: Stage, root: Context, caplog: pytest.LogCaptureFixture
) -> None:
    """The others are told, and the log names the plugin, or the label of its context."""
    seen: list[str] = []

    def fails(_: str) -> None:
        raise FailedError

    load(stage, root, lambda context, _: context.on(SAID, fails), name="bad")
    root.extend("bridge 3").on(SAID, fails)
    root.on(SAID, seen.append)
    root.emit(SAID, "hi")
    assert seen == ["hi"]
    assert [f"plugin {name} failed" in caplog.text for name in ("bad", "bridge 3")] == [True, True]


@pytest.mark.clause("G-27", "G-10")
def test_a_listener_dies_with_its_fiber(stage: Stage, root: Context) -> None:
    """From the call of dispose on, also for a dispatch that is under way."""
    seen: list[str] = []
    contexts: list[Context] = []

    def apply(context: Context, _: object) -> None:
        contexts.append(context)
        context.on(SAID, seen.append)

    fiber = load(stage, root, apply)
    root.on(SAID, lambda _: fiber.dispose(), prepend=True)
    root.emit(SAID, "hi")
    assert seen == []
    with pytest.raises(InactiveError):
        contexts[0].on(SAID, seen.append)
    wait(stage, fiber.dispose())
    root.emit(SAID, "hi")
    assert seen == []


@pytest.mark.clause("G-29")
def test_a_listener_registered_during_a_dispatch_waits_for_the_next(root: Context) -> None:
    """Also one that is prepended."""
    seen: list[str] = []

    def once(_: str) -> None:
        first.close()
        root.on(SAID, seen.append)
        root.on(SAID, seen.append, prepend=True)

    first = root.on(SAID, once)
    root.emit(SAID, "one")
    assert seen == []
    root.emit(SAID, "two")
    assert seen == ["two", "two"]


@pytest.mark.clause("G-27")
def test_a_closed_subscription_is_over_at_once(stage: Stage, root: Context) -> None:
    """Closing it again does nothing, and it is gone from the tree."""
    seen: list[str] = []
    later: list[Subscription] = []
    root.on(SAID, lambda _: later[0].close())
    later.append(root.on(SAID, seen.append))
    assert root.listens(SAID)
    root.emit(SAID, "hi")
    later[0].close()
    assert seen == []
    assert [tree.name for tree in root.effects] == ["on test/said"]
    assert wait(stage, later[0].dispose()).failed == ()


@pytest.mark.clause("G-30")
def test_an_extended_context_is_no_scope(stage: Stage, root: Context) -> None:
    """What is registered through it lives exactly as long as the fiber."""
    seen: list[str] = []

    def apply(context: Context, _: object) -> None:
        extended = context.extend("part")
        extended.on(SAID, seen.append)
        assert (extended.fiber, extended.label) == (context.fiber, "part")

    fiber = load(stage, root, apply)
    root.emit(SAID, "alive")
    wait(stage, fiber.dispose())
    root.emit(SAID, "dead")
    assert seen == ["alive"]


@pytest.mark.clause("G-33")
@pytest.mark.parametrize("kind", [SAID, CHOSEN])
def test_a_coroutine_function_is_refused_where_nobody_awaits(
    root: Context, kind: Announcement[str]
) -> None:
    """Also an object whose call is one; nothing is registered."""

    async def listener(_: str) -> None:
        """Never called."""

    class Listener:
        async def __call__(self, _: str) -> None:
            """Never called."""

    for one in (listener, Listener()):
        with pytest.raises(CallerError, match="plain function"):
            root.on(kind, one)
    assert (root.effects, root.listens(kind)) == ((), False)


@pytest.mark.clause("G-33")
@pytest.mark.parametrize("kind", [SAVED, SESSION_FLUSH])
def test_a_plain_function_is_refused_where_everybody_is_awaited(
    root: Context, kind: Announcement[str]
) -> None:
    """Its caller would believe that it had waited."""
    with pytest.raises(CallerError, match="coroutine function"):
        root.on(kind, lambda _: None)


@pytest.mark.clause("G-34", "B-126")
def test_nested_announcements_have_a_limit(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    """A circle of listeners ends in an error that names the limit, and does no further harm."""
    assert stage.idle
    root = Context.root(limits=Limits(nested_announcements_max=5))
    seen: list[str] = []

    def again(notice: str) -> None:
        seen.append(notice)
        root.emit(SAID, notice)

    root.on(SAID, again)
    root.emit(SAID, "hi")
    assert len(seen) == 5
    assert LimitError.__name__ in caplog.text
    root.emit(SAID, "again")
    assert len(seen) == 10


@pytest.mark.clause("G-25")
def test_parallel_runs_all_and_gathers_what_failed(stage: Stage, root: Context) -> None:
    """All run at once; one group holds every failure, a cancelled listener's too."""
    seen: list[str] = []

    async def waits(notice: str) -> None:
        await stage.gate("saved", ("ok",))
        seen.append(notice)

    async def fails(_: str) -> None:
        raise FailedError

    async def is_cancelled(_: str) -> None:
        raise asyncio.CancelledError

    for listener in (fails, waits, is_cancelled, waits):
        root.on(SAVED, listener)
    with pytest.raises(ExceptionGroup, match="test/saved: 2") as caught:
        wait(stage, root.parallel(SAVED, "s"))
    assert [type(error) for error in caught.value.exceptions] == [FailedError, PluginError]
    assert seen == ["s", "s"]


@pytest.mark.clause("G-25")
def test_parallel_lets_its_caller_make_the_tasks(stage: Stage, root: Context) -> None:
    """An agent counts the tasks of its flush as its own; with nobody to run there are none."""
    made: list[str] = []

    async def saves(_: str) -> None:
        """Save nothing."""

    def spawn(body: Coroutine[Any, Any, object]) -> asyncio.Task[object]:
        made.append("task")
        return stage.loop.create_task(body)

    wait(stage, root.parallel(SAVED, "s", spawn))
    assert made == []
    root.on(SAVED, saves)
    wait(stage, root.parallel(SAVED, "s", spawn))
    assert len(made) == 1
