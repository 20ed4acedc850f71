"""Plugins that raise, wherever they can: the failure is theirs, and nobody else's."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Final

import pytest

from runtime.context import Context, FiberState, Plugin
from runtime.errors import CallerError
from statemachine.conformance.stage.stage import Stage

from .scene import DISK, FailedError, failures, gated, load, noting, plugin, state_of, wait

Apply = Callable[[Context, Any], object]
Scene = Callable[[Stage, list[str]], Apply]


def _fail(*_: object) -> None:
    raise FailedError("no")


async def _fail_awaited(*_: object) -> None:
    raise FailedError("no")


def _function(_: Stage, seen: list[str]) -> Apply:
    def apply(context: Context, _: object) -> None:
        context.effect(lambda: noting(seen, "undone"))
        raise FailedError("no")

    return apply


def _coroutine(stage: Stage, seen: list[str]) -> Apply:
    async def apply(context: Context, _: object) -> None:
        context.effect(lambda: noting(seen, "undone"))
        await stage.gate("load", ("ok",))
        raise FailedError("no")

    return apply


def _generator(_: Stage, seen: list[str]) -> Apply:
    def apply(_: Context, __: object) -> Iterator[Any]:
        yield noting(seen, "undone")
        raise FailedError("no")

    return apply


def _asynchronous_generator(stage: Stage, seen: list[str]) -> Apply:
    async def apply(_: Context, __: object) -> AsyncIterator[Any]:
        yield noting(seen, "undone")
        await stage.gate("load", ("ok",))
        raise FailedError("no")

    return apply


def _effect(_: Stage, seen: list[str]) -> Apply:
    def apply(context: Context, _: object) -> None:
        context.effect(lambda: noting(seen, "undone"))
        context.effect(_fail)

    return apply


def _asynchronous_effect(_: Stage, seen: list[str]) -> Apply:
    def apply(context: Context, _: object) -> None:
        context.effect(lambda: noting(seen, "undone"))
        context.effect(_fail_awaited)

    return apply


def _awaited_child(_: Stage, seen: list[str]) -> Apply:
    async def apply(context: Context, _: object) -> None:
        context.effect(lambda: noting(seen, "undone"))
        await context.plugin(plugin(_fail, name="child"))

    return apply


def _rollback_fails(_: Stage, seen: list[str]) -> Apply:
    def apply(context: Context, _: object) -> None:
        context.effect(lambda: noting(seen, "undone"))
        context.effect(lambda: _fail_awaited)
        raise FailedError("no")

    return apply


LOADS: Final[dict[str, Scene]] = {
    "a function": _function,
    "a coroutine": _coroutine,
    "a generator": _generator,
    "an asynchronous generator": _asynchronous_generator,
    "an effect": _effect,
    "an asynchronous effect": _asynchronous_effect,
    "a child that is awaited": _awaited_child,
    "a load whose undoing fails, too": _rollback_fails,
}


@pytest.mark.clause("G-19", "G-04", "G-45")
@pytest.mark.parametrize("scene", LOADS)
def test_a_plugin_that_raises_while_it_loads(
    stage: Stage, root: Context, caplog: pytest.LogCaptureFixture, scene: str
) -> None:
    """It is undone and failed, its error is whoever's awaits it, and the log names the plugin."""
    seen: list[str] = []
    other = load(stage, root, lambda context, _: context.provide(DISK, "d"), name="other")
    fiber = load(stage, root, LOADS[scene](stage, seen), name="bad")
    with pytest.raises(FailedError, match="no") as caught:
        wait(stage, fiber)
    assert (state_of(fiber), fiber.error) == (FiberState.FAILED, caught.value)
    assert (fiber.effects, seen) == ((), ["undone"])
    assert (state_of(other), root.get(DISK)) == (FiberState.ACTIVE, "d")
    assert caplog.text.count("load of plugin bad: FailedError: no") == 1
    assert [tree.state for tree in root.effects] == ["active", "failed"]
    wait(stage, fiber.dispose())
    assert [tree.name for tree in root.effects] == ["other"]


def _two_disposers(bad: object) -> Scene:
    def scene(stage: Stage, seen: list[str]) -> Apply:
        def apply(context: Context, _: object) -> Iterator[Any]:
            context.effect(lambda: noting(seen, "beside"))
            yield gated(stage, seen, "behind")
            yield bad

        return apply

    return scene


def _child_of(bad: object) -> Scene:
    def scene(stage: Stage, seen: list[str]) -> Apply:
        def apply(context: Context, _: object) -> object:
            context.plugin(plugin(lambda *_: bad, name="child"))
            context.effect(lambda: noting(seen, "beside"))
            return gated(stage, seen, "behind")

        return apply

    return scene


class _Owned:
    name = "owned"

    def dispose(self) -> Any:  # noqa: ANN401  # not even awaitable
        raise FailedError("no")


UNLOADS: Final[dict[str, Scene]] = {
    "a disposer": _two_disposers(_fail),
    "an asynchronous disposer": _two_disposers(_fail_awaited),
    "something owned": _two_disposers(_Owned()),
    "a disposer of a child": _child_of(_fail),
    "an asynchronous disposer of a child": _child_of(_fail_awaited),
}


@pytest.mark.clause("G-08", "G-09", "G-49")
@pytest.mark.parametrize("scene", UNLOADS)
def test_a_plugin_that_raises_while_it_unloads(
    stage: Stage, root: Context, caplog: pytest.LogCaptureFixture, scene: str
) -> None:
    """Everything else of it is undone, the end resolves, and report and log have it once."""
    seen: list[str] = []
    fiber = load(stage, root, UNLOADS[scene](stage, seen), name="bad")
    report = wait(stage, fiber.dispose())
    assert sorted(seen) == ["behind begins", "behind ends", "beside"]
    assert (failures(report), report.stragglers) == (["no"], ())
    assert report.failed[0].link.partition(",")[0] == ("child" if "child" in scene else "bad")
    assert len(caplog.records) == 1
    assert (state_of(fiber), root.effects) == (FiberState.DISPOSED, ())


@pytest.mark.clause("G-36", "G-44", "G-08")
@pytest.mark.parametrize("raises_in", ["unload", "load", "unload and load"])
def test_a_plugin_that_raises_while_it_reloads(stage: Stage, root: Context, raises_in: str) -> None:
    """The report says what failed; an unload that failed does not keep the load from happening."""
    broken = raises_in.split(" and ")

    def apply(_: Context, config: object) -> object:
        if config == 2 and "load" in broken:
            raise FailedError("load")

        def undo() -> None:
            if config == 1 and "unload" in broken:
                raise FailedError("unload")

        return undo

    fiber = root.plugin(plugin(apply, name="bad"), 1)
    stage.run_until_quiet()
    assert failures(wait(stage, fiber.restart(2))) == broken
    assert state_of(fiber) is (FiberState.FAILED if "load" in broken else FiberState.ACTIVE)
    # A failed reload stands in the way of nothing.
    assert failures(wait(stage, fiber.restart(3))) == []
    assert state_of(fiber) is FiberState.ACTIVE


@pytest.mark.clause("G-11")
def test_a_plugin_that_depends_on_itself_says_what_it_misses(stage: Stage, root: Context) -> None:
    """It stays pending, hangs nobody, and loads when somebody else provides the service."""
    fiber = load(stage, root, lambda _, __: None, DISK, DISK, name="bad")
    own = load(stage, root, lambda context, _: context.provide(DISK, "own"), DISK, name="own")
    for each in (fiber, own):
        assert (wait(stage, each), each.missing[0]) == (FiberState.PENDING, "disk")
    service = root.provide(DISK, "d")
    stage.run_until_quiet()
    assert state_of(fiber) is FiberState.ACTIVE
    # What it provides itself is taken, now that it is loaded at all.
    assert state_of(own) is FiberState.FAILED
    assert str(own.error).startswith("service 'disk' refused: plugin application provides it")
    wait(stage, service.dispose())
    assert (state_of(fiber), state_of(own)) == (FiberState.PENDING, FiberState.PENDING)
    wait(stage, root.fiber.dispose())


MADE_OF: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "no name": ({"name": ""}, "its name is ''"),
    "a name that is no string": ({"name": 3}, "its name is 3"),
    "nothing to apply": ({"apply": None}, "plugin bad refused: apply is None"),
    "a bare token": ({"inject": DISK}, "plugin bad refused: inject is Token"),
    "a list": ({"inject": [DISK]}, "plugin bad refused: inject is"),
    "names": ({"inject": ("disk",)}, "plugin bad refused: inject is"),
    "a schema": ({"validate": {"port": int}}, "plugin bad refused: validate is"),
    "a coroutine function": ({"validate": _fail_awaited}, "validate is a coroutine function"),
}


@pytest.mark.clause("G-52")
@pytest.mark.parametrize("parts", MADE_OF)
def test_a_plugin_made_of_something_else_is_refused(parts: str) -> None:
    """When it is made, and not when it is loaded; the message names the part."""
    wrong, said = MADE_OF[parts]
    with pytest.raises(CallerError, match=said):
        Plugin(**{"name": "bad", "apply": _fail, **wrong})
