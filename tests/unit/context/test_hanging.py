"""Plugins that hang, while they load, set up or are undone: every end is reached all the same."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Final

import pytest

from runtime.context import Context, Disposer, Effect, Fiber, FiberState
from runtime.errors import PluginError, WouldDeadlockError
from runtime.limits import Limits
from runtime.teardown import Teardown, TeardownReport
from statemachine.conformance.stage.stage import Stage

from .scene import DISK, FailedError, failures, load, noting, plugin, state_of, wait

GRACE_S: Final = Limits().unload_grace_s


class Hanging:
    """Something that hangs, and perhaps survives being asked to end."""

    def __init__(self, stage: Stage, *, is_stubborn: bool = False) -> None:
        self.stage = stage
        self.is_stubborn = is_stubborn
        self.asked = 0
        self.over: asyncio.Future[None] = stage.loop.create_future()

    async def __call__(self) -> None:
        """Hang until `over` says something, however often somebody cancels a stubborn one."""
        while not self.over.done():
            try:
                await asyncio.shield(self.over)
            except asyncio.CancelledError:
                self.asked += 1
                if not self.is_stubborn:
                    raise


STUBBORN: Final = pytest.mark.parametrize("is_stubborn", [False, True], ids=["", "stubborn"])


@pytest.mark.clause("G-50", "G-09")
@STUBBORN
def test_a_disposer_that_hangs_is_left_behind(
    stage: Stage,
    root: Context,
    is_stubborn: bool,  # noqa: FBT001  # a parametrised flag
) -> None:
    """The disposers behind it run when its grace is over, and the report names it."""
    seen: list[str] = []
    hanging = Hanging(stage, is_stubborn=is_stubborn)

    def connection() -> Iterator[Disposer]:
        yield noting(seen, "one")
        yield hanging
        yield noting(seen, "three")

    fiber = load(stage, root, lambda context, _: context.effect(connection), name="net")
    end = fiber.dispose()
    stage.run_until_quiet()
    stage.loop.advance(GRACE_S / 2)
    stage.run_until_quiet()
    assert (seen, end.is_done) == (["three"], False)
    report = wait(stage, end)
    assert (seen, stage.now) == (["three", "one"], GRACE_S)
    assert report == TeardownReport(stragglers=("net, connection, Hanging",))
    assert state_of(fiber) is FiberState.DISPOSED
    assert hanging.asked == 1
    assert bool(stage.pending) is is_stubborn
    hanging.over.set_result(None)
    stage.settle()
    assert stage.pending == ()


@pytest.mark.clause("G-50", "G-03", "G-49")
def test_each_disposer_has_its_own_grace(stage: Stage, root: Context) -> None:
    """Siblings hang at the same time, links one after the other; all of them are named."""

    def apply(context: Context, _: object) -> Iterator[Disposer]:
        context.effect(lambda: Hanging(stage), name="beside")
        yield Hanging(stage)
        yield Hanging(stage)

    report = wait(stage, load(stage, root, apply).dispose())
    assert stage.now == 2 * GRACE_S
    assert sorted(report.stragglers) == [
        "plugin, apply, Hanging",
        "plugin, apply, Hanging",
        "plugin, beside, Hanging",
    ]


@pytest.mark.clause("G-50")
def test_a_disposer_within_its_grace_is_waited_for(stage: Stage, root: Context) -> None:
    """No timer is left of a grace that was not needed."""
    seen: list[str] = []

    async def slow() -> None:
        await stage.sleep(GRACE_S - 1)
        seen.append("done")

    report = wait(stage, load(stage, root, lambda *_: slow).dispose())
    assert (report, seen) == (TeardownReport(), ["done"])
    assert stage.loop.next_timer() is None


@pytest.mark.clause("G-50")
def test_what_was_left_behind_is_heard_of_when_it_fails(
    stage: Stage, root: Context, caplog: pytest.LogCaptureFixture
) -> None:
    """The log names it when it is left, and once more when it ends in a failure."""
    hanging = Hanging(stage, is_stubborn=True)
    wait(stage, load(stage, root, lambda *_: hanging, name="net").dispose())
    assert [record.message for record in caplog.records] == [
        "the application goes on without net, apply, Hanging, which did not end in time"
    ]
    hanging.over.set_exception(FailedError("late"))
    stage.settle()
    assert caplog.text.count("left behind: net, apply, Hanging: FailedError: late") == 1


@pytest.mark.clause("G-50", "G-41")
def test_a_disposer_may_not_wait_for_what_waits_for_it_even_so(stage: Stage, root: Context) -> None:
    """A circle is refused at once, instead of being cut by the grace."""
    fibers: list[Fiber] = []

    async def waits() -> None:
        await fibers[0].dispose()

    fibers.append(load(stage, root, lambda *_: waits))
    report = wait(stage, fibers[0].dispose())
    assert [type(failure.error) for failure in report.failed] == [WouldDeadlockError]
    assert stage.now == 0


def _dispose(_: Context, fiber: Fiber, __: Effect) -> Teardown:
    return fiber.dispose()


def _restart(_: Context, fiber: Fiber, __: Effect) -> Teardown:
    return fiber.restart()


def _withdraw(_: Context, __: Fiber, service: Effect) -> Teardown:
    return service.dispose()


def _close(root: Context, _: Fiber, __: Effect) -> Teardown:
    return root.fiber.dispose()


WAYS: Final[dict[str, Callable[[Context, Fiber, Effect], Teardown]]] = {
    "dispose": _dispose,
    "restart": _restart,
    "withdraw": _withdraw,
    "close": _close,
}


@pytest.mark.clause("G-51", "G-22")
@pytest.mark.parametrize("way", WAYS)
@STUBBORN
def test_a_load_that_hangs_ends_once_it_is_not_wanted(
    stage: Stage,
    root: Context,
    way: str,
    is_stubborn: bool,  # noqa: FBT001  # a parametrised flag
) -> None:
    """From then on it has its grace; it fails, what it had set up is undone, and it is named."""
    seen: list[str] = []
    hangings = [Hanging(stage, is_stubborn=is_stubborn)]

    async def apply(context: Context, _: object) -> None:
        context.effect(lambda: noting(seen, "undone"))
        if hangings:
            await hangings.pop()()

    service = root.provide(DISK, "d")
    fiber = load(stage, root, apply, DISK, name="net")
    stage.loop.advance(100.0)
    assert state_of(fiber) is FiberState.LOADING
    end = WAYS[way](root, fiber, service)
    report = wait(stage, end)
    assert (seen, stage.now) == (["undone"], 100.0 + GRACE_S)
    if way != "withdraw":
        assert report.stragglers == ("load of plugin net",)
        assert ["unload_grace_s" in text for text in failures(report)] == [True]
    expected = {"restart": FiberState.ACTIVE, "withdraw": FiberState.PENDING}
    stage.run_until_quiet()
    assert state_of(fiber) is expected.get(way, FiberState.DISPOSED)


@pytest.mark.clause("G-51")
def test_a_load_that_is_wanted_may_take_its_time(stage: Stage, root: Context) -> None:
    """Nobody asked it to go, so nobody hurries it."""

    async def slow(_: Context, __: object) -> None:
        await stage.sleep(100 * GRACE_S)

    assert wait(stage, load(stage, root, slow)) is FiberState.ACTIVE


@pytest.mark.clause("G-51")
def test_a_set_up_that_begins_in_an_unwanted_load_has_a_grace_as_well(
    stage: Stage, root: Context
) -> None:
    """The load waits for it, and its end is held up no longer than by the load itself."""

    async def apply(context: Context, _: object) -> None:
        await stage.gate("load", ("ok",))
        context.effect(Hanging(stage), name="late")

    fiber = load(stage, root, apply)
    report = wait(stage, fiber.dispose())
    assert report.stragglers == ("load of plugin plugin", "set-up of plugin, late")
    assert stage.now == GRACE_S


@pytest.mark.clause("G-51", "G-40")
def test_what_comes_too_late_is_undone_at_once(
    stage: Stage, root: Context, caplog: pytest.LogCaptureFixture
) -> None:
    """A set-up that was left behind cannot leave anything behind itself."""
    seen: list[str] = []
    hanging = Hanging(stage, is_stubborn=True)

    async def connect() -> AsyncIterator[Disposer]:
        yield noting(seen, "early")
        await hanging()
        yield noting(seen, "late")

    effect = root.effect(connect)
    stage.run_until_quiet()
    report = wait(stage, effect.dispose())
    assert (report.stragglers, seen) == (("set-up of application, connect",), ["early"])
    with pytest.raises(PluginError, match="unload_grace_s=10"):
        wait(stage, effect)
    hanging.over.set_result(None)
    stage.settle()
    assert seen == ["early", "late"]
    assert root.effects == ()
    assert "connect" in caplog.text


@pytest.mark.clause("G-41")
def test_a_set_up_may_not_wait_for_the_load_that_waits_for_it(stage: Stage, root: Context) -> None:
    """It is refused, and fails the load, instead of holding it for ever."""

    def apply(context: Context, _: object) -> None:
        async def waits() -> None:
            await context.fiber

        context.effect(waits)

    fiber = load(stage, root, apply)
    assert state_of(fiber) is FiberState.FAILED
    with pytest.raises(WouldDeadlockError):
        wait(stage, fiber)


def test_a_plugin_that_hangs_holds_no_other_one(stage: Stage, root: Context) -> None:
    """The others unload and load while it hangs."""
    seen: list[Any] = []
    load(stage, root, lambda *_: Hanging(stage), name="hangs").dispose()
    other = root.plugin(plugin(lambda _, config: seen.append(config)), 1)
    stage.run_until_quiet()
    other.restart(2)
    stage.run_until_quiet()
    assert (seen, stage.now) == ([1, 2], 0)


@pytest.mark.clause("G-50")
def test_a_set_up_whose_loop_is_gone_waits_for_nothing_more(stage: Stage, root: Context) -> None:
    """Python closes what nobody runs any more, wherever it stood; a wait would be an error."""
    awaited = root.effect(lambda: None).finish(Hanging(stage)())
    with stage:
        awaited.send(None)
    awaited.close()
