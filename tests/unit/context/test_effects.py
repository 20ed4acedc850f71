"""Effects in all their forms, and how they are undone."""

from collections.abc import AsyncIterator, Generator, Iterator
from typing import Any

import pytest

from runtime.context import (
    Context,
    Disposer,
    Effect,
    FiberState,
    InvalidEffectError,
    Plugin,
)
from statemachine.conformance.stage.stage import Stage

from .scene import gated, load, noting, plugin, state_of, wait


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
@pytest.mark.seed("SEED-39")
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
@pytest.mark.seed("SEED-38")
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
