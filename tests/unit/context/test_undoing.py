"""Effects that fail, are disposed early or are cancelled."""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any

import pytest

from runtime.context import (
    Context,
    FiberState,
    InactiveError,
)
from statemachine.conformance.stage.stage import Stage

from .scene import FailedError, failures, gated, load, noting, plugin, raising, state_of, wait


@pytest.mark.clause("G-04")
def test_a_set_up_that_raises_is_undone_before_the_caller_hears_of_it(root: Context) -> None:
    """What was collected is undone last in, first out, and the error is the caller's."""
    seen: list[str] = []

    def generator() -> Iterator[Any]:
        yield noting(seen, "one")
        yield noting(seen, "two")
        raise FailedError

    with pytest.raises(FailedError):
        root.effect(generator)
    assert seen == ["two", "one"]
    assert root.effects == ()


@pytest.mark.clause("G-04", "G-06")
def test_the_end_of_a_fiber_joins_an_asynchronous_rollback(stage: Stage, root: Context) -> None:
    """A synchronous set-up cannot wait for its rollback, so the fiber does."""
    seen: list[str] = []

    def generator() -> Iterator[Any]:
        yield gated(stage, seen, "one")
        yield noting(seen, "two")
        raise FailedError

    def apply(context: Context, _: object) -> None:
        with pytest.raises(FailedError):
            context.effect(generator)

    fiber = load(stage, root, apply)
    assert seen == ["two", "one begins"]
    end = fiber.dispose()
    stage.run_until_quiet()
    assert not end.is_done
    wait(stage, end)
    assert seen[-1] == "one ends"


@pytest.mark.clause("G-04")
def test_an_asynchronous_set_up_awaits_its_rollback(stage: Stage, root: Context) -> None:
    """Whoever awaits the effect hears of the error when everything is undone."""
    seen: list[str] = []

    async def generator() -> AsyncIterator[Any]:
        yield gated(stage, seen, "one")
        yield noting(seen, "two")
        raise FailedError

    async def use() -> None:
        with pytest.raises(FailedError):
            await root.effect(generator)
        seen.append("heard")

    stage.complete(use())
    assert seen == ["two", "one begins", "one ends", "heard"]


@pytest.mark.clause("G-08", "G-49")
def test_a_disposer_that_raises_harms_no_sibling(
    stage: Stage, root: Context, caplog: pytest.LogCaptureFixture
) -> None:
    """The siblings complete, the end resolves, and the failure is logged and reported once."""
    seen: list[str] = []

    def apply(context: Context, _: object) -> None:
        context.effect(lambda: noting(seen, "one"))
        context.effect(lambda: raising(seen, "two"))
        context.effect(lambda: gated(stage, seen, "three"))

    report = wait(stage, load(stage, root, apply).dispose())
    assert sorted(seen) == ["one", "three begins", "three ends", "two"]
    assert failures(report) == ["two"]
    assert len(caplog.records) == 1


@pytest.mark.clause("G-09", "G-49")
def test_a_disposer_that_raises_does_not_break_the_chain(stage: Stage, root: Context) -> None:
    """The disposers behind it run, and the report names both failures."""
    seen: list[str] = []

    async def fails() -> None:
        seen.append("two")
        raise FailedError("two")

    def generator() -> Iterator[Any]:
        yield noting(seen, "one")
        yield fails
        yield raising(seen, "three")

    report = wait(stage, root.effect(generator).dispose())
    assert seen == ["three", "two", "one"]
    assert failures(report) == ["three", "two"]


@pytest.mark.clause("G-40")
def test_an_effect_disposed_while_it_is_set_up_is_undone_afterwards(
    stage: Stage, root: Context
) -> None:
    """The set-up is not cut: it ends, and then it is undone."""
    seen: list[str] = []

    async def generator() -> AsyncIterator[Any]:
        yield noting(seen, "one")
        await stage.gate("set-up", ("ok",))
        yield noting(seen, "two")

    effect = root.effect(generator)
    stage.run_until_quiet()
    end = effect.dispose()
    stage.run_until_quiet()
    assert not end.is_done
    assert seen == []
    wait(stage, end)
    assert seen == ["two", "one"]


@pytest.mark.clause("G-45")
def test_a_set_up_that_fails_unawaited_fails_the_load(stage: Stage, root: Context) -> None:
    """A plugin is not active with half of what it wanted to set up."""

    async def fails() -> None:
        await stage.gate("set-up", ("ok",))
        raise FailedError

    def apply(context: Context, _: object) -> None:
        context.effect(fails)

    fiber = load(stage, root, apply)
    assert state_of(fiber) is FiberState.LOADING
    with pytest.raises(FailedError):
        wait(stage, fiber)
    assert state_of(fiber) is FiberState.FAILED


@pytest.mark.clause("G-45")
def test_a_set_up_whose_failure_was_awaited_fails_nothing_else(stage: Stage, root: Context) -> None:
    """Whoever awaited it and goes on without it has loaded."""

    async def fails() -> None:
        await stage.gate("set-up", ("ok",))
        raise FailedError

    async def apply(context: Context, _: object) -> None:
        with pytest.raises(FailedError):
            await context.effect(fails)

    fiber = load(stage, root, apply)
    assert wait(stage, fiber) is FiberState.ACTIVE


@pytest.mark.clause("G-45")
def test_no_failure_of_a_set_up_is_lost(
    stage: Stage, root: Context, caplog: pytest.LogCaptureFixture
) -> None:
    """The load has one error; the others are in the log, each once."""

    def fails(name: str) -> Callable[[], Coroutine[Any, Any, None]]:
        async def setup() -> None:
            raise FailedError(name)

        return setup

    def apply(context: Context, _: object) -> None:
        context.effect(fails("one"))
        context.effect(fails("two"))

    fiber = load(stage, root, apply)
    with pytest.raises(FailedError, match="one"):
        wait(stage, fiber)
    assert [caplog.text.count(name) for name in ("one", "two")] == [1, 1]


@pytest.mark.clause("G-45")
def test_a_set_up_that_fails_after_the_load_is_logged(
    stage: Stage, root: Context, caplog: pytest.LogCaptureFixture
) -> None:
    """The plugin goes on; somebody reads the log."""

    async def fails() -> None:
        raise FailedError("late")

    root.effect(fails)
    stage.run_until_quiet()
    assert caplog.text.count("late") == 1
    assert root.is_open


@pytest.mark.clause("G-47")
def test_a_cancelled_disposer_does_not_end_the_chain(stage: Stage, root: Context) -> None:
    """A disposer that raises CancelledError, awaited or not, is one failure among others."""
    seen: list[str] = []

    async def awaits_something_cancelled() -> None:
        seen.append("two")
        gone = stage.loop.create_future()
        gone.cancel()
        await gone

    def generator() -> Iterator[Any]:
        yield noting(seen, "one")
        yield awaits_something_cancelled
        yield noting(seen, "three")

    report = wait(stage, root.effect(generator).dispose())
    assert seen == ["three", "two", "one"]
    assert len(report.failed) == 1


@pytest.mark.clause("G-47")
@pytest.mark.parametrize("callbacks", range(8))
def test_a_stranger_cannot_cut_an_end_short(stage: Stage, root: Context, callbacks: int) -> None:
    """Whenever the task of an end is cancelled, everything is disposed and the end resolves.

    A disposer that was cut short is in the report, and no other one.
    """
    seen: list[str] = []

    def apply(context: Context, _: object) -> object:
        context.effect(lambda: gated(stage, seen, "sibling"))

        def generator() -> Iterator[Any]:
            yield noting(seen, "one")
            yield gated(stage, seen, "two")

        return generator()

    end = load(stage, root, apply).dispose()
    stage.tick(callbacks)
    for task in stage.loop.pending_tasks():
        task.cancel()
    report = wait(stage, end)
    assert {"two begins", "one", "sibling begins"} <= set(seen)
    cut = [each for each in ("two", "sibling") if f"{each} ends" not in seen]
    assert len(report.failed) == len(cut)
    assert root.effects == ()


@pytest.mark.clause("G-10")
def test_a_fiber_that_is_gone_registers_nothing(stage: Stage, root: Context) -> None:
    """The refusal says of which plugin, in which state, and can be told by its code."""
    contexts: list[Context] = []
    fiber = load(stage, root, lambda context, _: contexts.append(context))
    wait(stage, fiber.dispose())
    (context,) = contexts
    with pytest.raises(InactiveError, match="plugin plugin is") as caught:
        context.effect(lambda: None)
    assert caught.value.code == "inactive-effect"
    with pytest.raises(InactiveError):
        context.plugin(plugin(lambda _context, _config: None))
    assert not context.is_open


@pytest.mark.clause("G-10")
def test_nothing_is_registered_while_a_fiber_unloads(stage: Stage, root: Context) -> None:
    """A disposer that registers is refused, so one pass over the effects is all of them."""
    refused: list[InactiveError] = []

    def apply(context: Context, _: object) -> object:
        async def late() -> None:
            await stage.gate("late", ("ok",))
            with pytest.raises(InactiveError) as caught:
                context.effect(lambda: None)
            refused.append(caught.value)

        return late

    wait(stage, load(stage, root, apply).dispose())
    assert len(refused) == 1
