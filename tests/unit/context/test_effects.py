"""Effects in all their forms, and how they are undone."""

from collections.abc import AsyncIterator, Generator, Iterator
from typing import Any

import pytest

from runtime.context import (
    Context,
    Disposer,
    Effect,
    FiberState,
    InactiveError,
    InvalidEffectError,
    Plugin,
)
from statemachine.conformance.stage import Stage

from .scene import FailedError, failures, gated, load, noting, plugin, raising, state_of, wait


def _forms(seen: list[str]) -> dict[str, Any]:
    def function() -> Disposer:
        return noting(seen, "undone")

    def generator() -> Iterator[Any]:
        yield noting(seen, "undone")

    async def coroutine() -> Disposer:
        return noting(seen, "undone")

    async def asynchronous_generator() -> AsyncIterator[Any]:
        yield noting(seen, "undone")

    forms = (function, generator, coroutine, asynchronous_generator)
    return {form.__name__: form for form in forms}


@pytest.mark.clause("G-01")
@pytest.mark.parametrize("form", sorted(_forms([])))
def test_an_effect_in_any_form_is_undone(stage: Stage, root: Context, form: str) -> None:
    """A function, a generator and the asynchronous two are set up and undone alike."""
    seen: list[str] = []
    effect = root.effect(_forms(seen)[form])
    assert wait(stage, effect) is effect
    assert [tree.name for tree in root.effects] == [form]
    assert seen == []
    assert wait(stage, effect.dispose()).failed == ()
    assert seen == ["undone"]
    assert root.effects == ()


@pytest.mark.clause("G-01")
def test_an_effect_may_have_no_disposer(stage: Stage, root: Context) -> None:
    """None is none, alone and among the disposers of a generator."""
    seen: list[str] = []

    def generator() -> Iterator[Any]:
        yield None
        yield noting(seen, "undone")

    nothing, some = root.effect(lambda: None), root.effect(generator)
    wait(stage, nothing.dispose())
    wait(stage, some.dispose())
    assert seen == ["undone"]


@pytest.mark.clause("G-01")
def test_a_generator_may_return_its_last_disposer(stage: Stage, root: Context) -> None:
    """What a generator returns is a disposer like those that it yields, and the last of them."""
    seen: list[str] = []

    def generator() -> Generator[Disposer, None, Disposer]:
        yield noting(seen, "yielded")
        return noting(seen, "returned")

    wait(stage, root.effect(generator).dispose())
    assert seen == ["returned", "yielded"]


@pytest.mark.clause("G-01", "G-04")
@pytest.mark.parametrize("gift", [3, "close", ()])
def test_what_is_no_disposer_is_refused(root: Context, gift: object) -> None:
    """An effect that gives back anything else is undone and refused, naming its plugin."""
    seen: list[str] = []

    def generator() -> Iterator[Any]:
        yield noting(seen, "undone")
        try:
            yield gift
        finally:
            seen.append("generator closed")

    with pytest.raises(InvalidEffectError, match="application") as caught:
        root.effect(generator)
    assert caught.value.code == "invalid-effect"
    assert seen == ["generator closed", "undone"]
    assert root.effects == ()


@pytest.mark.clause("G-01")
def test_what_is_no_disposer_is_refused_asynchronously(stage: Stage, root: Context) -> None:
    """Whoever awaits the effect gets the refusal."""

    async def coroutine() -> object:
        return 3

    effect = root.effect(coroutine)  # type: ignore[arg-type]
    with pytest.raises(InvalidEffectError):
        wait(stage, effect)
    assert root.effects == ()


@pytest.mark.clause("G-02")
def test_disposers_of_one_effect_run_last_in_first_out(stage: Stage, root: Context) -> None:
    """Each is awaited before the next begins, whether it is asynchronous or not."""
    seen: list[str] = []

    def generator() -> Iterator[Any]:
        yield gated(stage, seen, "one")
        yield noting(seen, "two")
        yield gated(stage, seen, "three")

    end = root.effect(generator).dispose()
    stage.run_until_quiet()
    assert seen == ["three begins"]
    stage.gates.open(stage.gates.open_gates[0], "ok")
    stage.run_until_quiet()
    assert seen == ["three begins", "three ends", "two", "one begins"]
    assert not end.is_done
    wait(stage, end)
    assert seen[-1] == "one ends"


@pytest.mark.clause("G-03")
def test_sibling_effects_are_disposed_concurrently(stage: Stage, root: Context) -> None:
    """All are begun, the last registered first, before any of them has ended."""
    seen: list[str] = []

    def apply(context: Context, _: object) -> None:
        for name in ("one", "two", "three"):
            context.effect(lambda name=name: gated(stage, seen, name))  # type: ignore[misc]

    fiber = load(stage, root, apply)
    fiber.dispose()
    stage.run_until_quiet()
    assert sorted(seen) == ["one begins", "three begins", "two begins"]
    stage.settle()
    assert state_of(fiber) is FiberState.DISPOSED


@pytest.mark.clause("G-03")
def test_the_last_sibling_begins_first(stage: Stage, root: Context) -> None:
    """The order in which the ends begin is the reverse of the registration."""
    seen: list[str] = []

    def apply(context: Context, _: object) -> None:
        for name in ("one", "two", "three"):
            context.effect(lambda name=name: noting(seen, name))  # type: ignore[misc]

    wait(stage, load(stage, root, apply).dispose())
    assert seen == ["three", "two", "one"]


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


@pytest.mark.clause("G-05")
def test_a_disposer_runs_once_and_everybody_gets_the_same_end(stage: Stage, root: Context) -> None:
    """Early, late and concurrent callers join one end, and nothing runs twice."""
    seen: list[str] = []
    effect = root.effect(lambda: gated(stage, seen, "it"))
    first, second = effect.dispose(), effect.dispose()
    assert first is second
    stage.run_until_quiet()
    assert not first.is_done
    wait(stage, second)
    assert effect.dispose() is first
    assert seen == ["it begins", "it ends"]


@pytest.mark.clause("G-06")
def test_an_unloading_fiber_joins_an_end_that_is_under_way(stage: Stage, root: Context) -> None:
    """The fiber does not end before the effect that somebody else began to dispose."""
    seen: list[str] = []
    effects: list[Effect] = []

    def apply(context: Context, _: object) -> None:
        effects.append(context.effect(lambda: gated(stage, seen, "it")))

    fiber = load(stage, root, apply)
    effects[0].dispose()
    stage.run_until_quiet()
    end = fiber.dispose()
    stage.run_until_quiet()
    assert not end.is_done
    wait(stage, end)
    assert seen == ["it begins", "it ends"]


@pytest.mark.clause("G-07", "G-43")
def test_a_yielded_effect_is_a_part_and_a_wrapped_one_a_sibling(
    stage: Stage, root: Context
) -> None:
    """Only the very object that is yielded takes its place in the order."""
    seen: list[str] = []

    def whole() -> Iterator[Any]:
        yield root.effect(lambda: gated(stage, seen, "part"), name="part")
        wrapped = root.effect(lambda: noting(seen, "wrapped"), name="wrapped")
        yield lambda: wrapped.dispose()  # noqa: PLW0108  # a wrapper is the point
        yield noting(seen, "last")

    effect = root.effect(whole)
    trees = {tree.name: [part.name for part in tree.parts] for tree in root.effects}
    assert trees == {"whole": ["part"], "wrapped": []}
    wait(stage, effect.dispose())
    assert seen == ["last", "wrapped", "part begins", "part ends"]
    assert root.effects == ()


@pytest.mark.clause("G-07")
def test_a_yielded_fiber_ends_in_the_order_of_the_effect(stage: Stage, root: Context) -> None:
    """The application as one effect: what was loaded last has ended before the first begins to."""
    seen: list[str] = []

    def part(name: str) -> Plugin[object]:
        return plugin(lambda _context, _config: gated(stage, seen, name), name=name)

    def application() -> Iterator[Any]:
        yield root.plugin(part("store"))
        yield root.plugin(part("driver"))

    effect = root.effect(application)
    stage.run_until_quiet()
    wait(stage, effect.dispose())
    assert seen == ["driver begins", "driver ends", "store begins", "store ends"]


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
@pytest.mark.parametrize("callbacks", range(4))
def test_a_stranger_cannot_cut_an_end_short(stage: Stage, root: Context, callbacks: int) -> None:
    """Whenever the task of an end is cancelled, everything is disposed and the end resolves."""
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
    wait(stage, end)
    assert "one" in seen
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
