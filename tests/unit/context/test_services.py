"""Services: who provides, who may read, and what is between coming and going."""

from typing import Any

import pytest

from runtime.context import (
    Context,
    DuplicateServiceError,
    FiberState,
    InactiveError,
    NotInjectedError,
    Plugin,
    Provided,
    Token,
)
from statemachine.conformance.stage.stage import Stage

from .scene import DISK, NET, gated, load, noting, plugin, state_of, wait


def nothing(_context: Context, _config: object) -> None:
    """Set nothing up."""


class Application(Context):
    """A context with names for services."""

    __slots__ = ()

    disk = Provided(DISK)


@pytest.mark.clause("G-13", "G-48")
def test_a_departing_service_can_be_read_until_its_dependents_have_unloaded(
    stage: Stage, root: Context
) -> None:
    """`need` returns it, `get` does not, and its name is not free yet."""
    seen: list[Any] = []

    def apply(context: Context, _: object) -> object:
        async def good_bye() -> None:
            await stage.gate("good-bye", ("ok",))
            seen.append((context.need(DISK), context.get(DISK)))
            with pytest.raises(DuplicateServiceError, match="still provides"):
                root.provide(DISK, "successor")

        return good_bye

    fiber = load(stage, root, apply, DISK)
    service = root.provide(DISK, "d")
    stage.run_until_quiet()
    end = service.dispose()
    assert (root.get(DISK), state_of(fiber), end.is_done) == (None, FiberState.UNLOADING, False)
    assert wait(stage, end).failed == ()
    assert seen == [("d", None)]
    root.provide(DISK, "successor")


@pytest.mark.clause("G-13")
def test_dependents_unload_before_what_lies_below_the_service(stage: Stage, root: Context) -> None:
    """In an effect that yields its provision last, the service works until nobody uses it."""
    seen: list[str] = []

    def provider(context: Context, _: object) -> object:
        yield noting(seen, "closed")
        yield context.provide(DISK, "d")

    def dependent(_context: Context, _config: object) -> object:
        return gated(stage, seen, "flush")

    fiber = load(stage, root, provider)
    load(stage, root, dependent, DISK)
    wait(stage, fiber.dispose())
    assert seen == ["flush begins", "flush ends", "closed"]


@pytest.mark.clause("G-14")
def test_after_the_unload_the_service_is_refused(stage: Stage, root: Context) -> None:
    """The message says that the context is inactive, and what to use instead."""
    contexts: list[Context] = []
    fiber = load(stage, root, lambda context, _: contexts.append(context), DISK)
    service = root.provide(DISK, "d")
    stage.run_until_quiet()
    wait(stage, service.dispose())
    assert state_of(fiber) is FiberState.PENDING
    with pytest.raises(InactiveError, match="required service in an inactive context"):
        contexts[0].need(DISK)


@pytest.mark.clause("G-15")
def test_a_service_that_is_not_injected_is_refused(stage: Stage, root: Context) -> None:
    """Only what is injected is sure to be there; the rest is looked up."""
    root.provide(DISK, "d")
    contexts: list[Context] = []
    load(stage, root, lambda context, _: contexts.append(context))
    with pytest.raises(NotInjectedError, match="without inject"):
        contexts[0].need(DISK)
    assert contexts[0].get(DISK) == "d"


@pytest.mark.clause("G-15")
def test_a_child_reads_what_is_injected_above_it(stage: Stage, root: Context) -> None:
    """It lives inside what injects it, so the service is sure to be there."""
    seen: list[str] = []
    root.provide(DISK, "d")

    def child(context: Context, _: object) -> None:
        seen.append(context.need(DISK))

    def apply(context: Context, _: object) -> None:
        context.plugin(plugin(child))

    load(stage, root, apply, DISK)
    assert seen == ["d"]


@pytest.mark.clause("G-16")
def test_a_service_is_there_when_its_provider_is_active(stage: Stage, root: Context) -> None:
    """Not while the provider loads, and not when it has failed."""

    async def apply(context: Context, _: object) -> None:
        context.provide(DISK, "d")
        await stage.gate("load", ("ok",))

    async def failing(context: Context, _: object) -> None:
        context.provide(NET, "n")
        raise ValueError

    fiber = load(stage, root, apply)
    assert root.get(DISK) is None
    wait(stage, fiber)
    assert root.get(DISK) == "d"
    load(stage, root, failing)
    assert root.get(NET) is None
    root.provide(NET, "free again")


@pytest.mark.clause("G-16", "G-32")
def test_looking_up_never_raises(stage: Stage, root: Context) -> None:
    """From a callback on any fiber, in any state."""
    contexts: list[Context] = []
    fiber = load(stage, root, lambda context, _: contexts.append(context))
    wait(stage, fiber.dispose())
    assert contexts[0].get(DISK) is None
    root.provide(DISK, "d")
    assert contexts[0].get(DISK) == "d"


@pytest.mark.clause("G-17")
def test_the_root_needs_no_injection(root: Context) -> None:
    """It reads what is there, and None for what is not."""
    assert root.need(DISK) is None
    root.provide(DISK, "d")
    assert root.need(DISK) == "d"


@pytest.mark.clause("G-17", "G-15")
def test_a_property_of_the_application_reads_a_service(stage: Stage) -> None:
    """Plugins are given contexts of the application's class."""
    root = Application.root()
    seen: list[object] = [root.disk]

    def reads(context: Application, _: object) -> None:
        seen.append(context.disk)

    root.provide(DISK, "d")
    wait(stage, root.plugin(Plugin(name="reads", apply=reads, inject=(DISK,))))
    fiber = root.plugin(Plugin(name="reads", apply=reads))
    assert seen == [None, "d"]
    with pytest.raises(NotInjectedError):
        wait(stage, fiber)


@pytest.mark.clause("G-18")
def test_a_service_is_provided_once(stage: Stage, root: Context) -> None:
    """The refusal names the provider, and changes nothing."""
    load(stage, root, lambda context, _: context.provide(DISK, "d"), name="sqlite")
    with pytest.raises(DuplicateServiceError, match="sqlite provides it"):
        root.provide(DISK, "other")
    assert root.get(DISK) == "d"
    assert [tree.name for tree in root.effects] == ["sqlite"]


@pytest.mark.clause("G-12")
def test_a_chain_of_dependents_unloads_from_its_end(stage: Stage, root: Context) -> None:
    """Who depends on a dependent has gone before that one's service goes."""
    seen: list[str] = []

    def middle(context: Context, _: object) -> object:
        yield noting(seen, "middle")
        yield context.provide(NET, "n")

    def last(_context: Context, _config: object) -> object:
        return gated(stage, seen, "last")

    fiber = load(stage, root, last, NET)
    load(stage, root, middle, DISK)
    service = root.provide(DISK, "d")
    stage.run_until_quiet()
    assert state_of(fiber) is FiberState.ACTIVE
    wait(stage, service.dispose())
    assert seen == ["last begins", "last ends", "middle"]
    assert state_of(fiber) is FiberState.PENDING
    root.provide(DISK, "d")
    stage.run_until_quiet()
    assert state_of(fiber) is FiberState.ACTIVE


@pytest.mark.clause("G-11")
def test_plugins_that_need_each_other_stay_pending(stage: Stage, root: Context) -> None:
    """Nothing hangs, each says what it misses, and the application still ends."""
    one = load(stage, root, lambda context, _: context.provide(NET, "n"), DISK)
    two = load(stage, root, lambda context, _: context.provide(DISK, "d"), NET)
    assert (one.missing, two.missing) == (("disk",), ("net",))
    wait(stage, root.fiber.dispose())
    assert (state_of(one), state_of(two)) == (FiberState.DISPOSED, FiberState.DISPOSED)


def test_a_token_needs_a_name() -> None:
    """A token without a name could not be told from another."""
    with pytest.raises(ValueError, match="needs a name"):
        Token("")
    assert str(Token("disk")) == "disk"


@pytest.mark.clause("G-12")
def test_a_service_that_goes_while_a_dependent_loads_waits_for_the_load(
    stage: Stage, root: Context
) -> None:
    """The load is finished with the service it began with, and then undone."""
    seen: list[str] = []

    async def apply(context: Context, _: object) -> object:
        await stage.gate("load", ("ok",))
        seen.append(context.need(DISK))
        return noting(seen, "undone")

    service = root.provide(DISK, "d")
    fiber = load(stage, root, apply, DISK)
    end = service.dispose()
    stage.run_until_quiet()
    assert (state_of(fiber), end.is_done) == (FiberState.LOADING, False)
    wait(stage, end)
    assert (state_of(fiber), seen) == (FiberState.PENDING, ["d", "undone"])


def _by_a_plugin(stage: Stage, root: Context) -> None:
    load(stage, root, lambda context, _: context.provide(DISK, "d"), name="sqlite")


def _by_one_that_loads(stage: Stage, root: Context) -> None:
    async def apply(context: Context, _: object) -> None:
        context.provide(DISK, "d")
        await stage.gate("load", ("ok",))

    load(stage, root, apply, name="sqlite")


def _by_one_that_is_still_used(stage: Stage, root: Context) -> None:
    fiber = load(stage, root, lambda context, _: context.provide(DISK, "d"), name="sqlite")
    load(stage, root, lambda *_: gated(stage, [], "unload"), DISK)
    fiber.dispose()
    stage.run_until_quiet()


def _by_the_child_of_one(stage: Stage, root: Context) -> None:
    def child(context: Context, _: object) -> None:
        context.provide(DISK, "d")

    load(stage, root, lambda context, _: context.plugin(plugin(child, name="sqlite")))


TAKEN: dict[str, Any] = {
    "a plugin": _by_a_plugin,
    "one that loads": _by_one_that_loads,
    "one that is still used": _by_one_that_is_still_used,
    "a child": _by_the_child_of_one,
}


@pytest.mark.clause("G-18", "G-48")
@pytest.mark.parametrize("taken", TAKEN)
@pytest.mark.parametrize("who", ["a plugin", "the application", "a child of a plugin"])
def test_a_name_that_is_taken_is_refused_to_everybody(
    stage: Stage, root: Context, taken: str, who: str
) -> None:
    """The message says by whom, and what to do; the service is what it was."""
    TAKEN[taken](stage, root)
    before = root.get(DISK)

    def second(context: Context, _: object) -> None:
        with pytest.raises(DuplicateServiceError) as caught:
            context.provide(DISK, "second")
        said = str(caught.value)
        assert "service 'disk' refused: plugin sqlite" in said
        assert "dispose that fiber first" in said
        assert caught.value.code == "duplicate-service"

    def parent(context: Context, _: object) -> None:
        context.plugin(plugin(second))

    if who == "the application":
        second(root, None)
    else:
        fiber = load(stage, root, second if who == "a plugin" else parent)
        assert state_of(fiber) is FiberState.ACTIVE
    assert root.get(DISK) == before
    stage.settle()
