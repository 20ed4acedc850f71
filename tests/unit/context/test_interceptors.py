"""Interceptors: who is asked, in which order, and what one of them can do to the rest."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from runtime.context import Bail, Context, Proceed, Serial, Subscription, Waterfall
from runtime.errors import PluginError
from statemachine.conformance.stage.stage import Stage

from .scene import FailedError, wait

ASKED: Serial[str, str] = Serial("test/asked")
CHOSEN: Bail[str, str] = Bail("test/chosen")
MADE: Waterfall[str, str] = Waterfall("test/made")


@pytest.mark.clause("G-23")
def test_serial_awaits_in_order_until_one_answers(stage: Stage, root: Context) -> None:
    """An empty answer is one; None is none; later listeners are not asked."""
    seen: list[str] = []

    async def waits(_: str) -> None:
        await stage.gate("asked", ("ok",))
        seen.append("waits")

    def answers(argument: str) -> str:
        seen.append(f"answers {argument}")
        return ""

    def never(_: str) -> str:
        seen.append("never")
        return "never"

    root.on(ASKED, waits)
    root.on(ASKED, answers)
    root.on(ASKED, never)
    answer = root.serial(ASKED, "x")
    assert wait(stage, answer) == ""
    assert seen == ["waits", "answers x"]


@pytest.mark.clause("G-23")
def test_bail_asks_at_once_until_one_answers(root: Context) -> None:
    """Without an answer it returns None."""
    assert root.bail(CHOSEN, "x") is None
    root.on(CHOSEN, lambda _: None)
    assert root.bail(CHOSEN, "x") is None
    asked: list[str] = []
    root.on(CHOSEN, lambda argument: argument * 2)
    root.on(CHOSEN, asked.append)
    assert root.bail(CHOSEN, "x") == "xx"
    assert asked == []


@pytest.mark.clause("G-26", "G-23")
def test_a_waterfall_is_an_onion(stage: Stage, root: Context) -> None:
    """Each listener is given the same argument and decides about the result of the rest."""

    async def outer(argument: str, proceed: Proceed[str]) -> str:
        return f"outer {argument} ({await proceed()})"

    def inner(argument: str, proceed: Proceed[str]) -> Awaitable[str]:
        assert argument == "x"
        return proceed()

    root.on(MADE, inner)
    root.on(MADE, outer, prepend=True)
    assert wait(stage, root.waterfall(MADE, "x", lambda argument: f"body {argument}")) == (
        "outer x (body x)"
    )


@pytest.mark.clause("G-26")
def test_a_waterfall_is_cut_short_by_a_listener_that_does_not_proceed(
    stage: Stage, root: Context
) -> None:
    """Neither the listeners further in nor the body run."""
    seen: list[str] = []

    def never(argument: str, _proceed: object = None) -> str:
        seen.append(argument)
        return "never"

    root.on(MADE, lambda _argument, _proceed: "short")
    root.on(MADE, never)
    assert wait(stage, root.waterfall(MADE, "x", never)) == "short"
    assert seen == []


@pytest.mark.clause("G-46")
def test_a_listener_proceeds_once_and_while_it_runs(stage: Stage, root: Context) -> None:
    """Twice would run the rest twice, late would run it after the answer was given."""
    kept: list[Callable[[], Any]] = []
    ran: list[str] = []

    async def twice(_: str, proceed: Proceed[str]) -> str:
        await proceed()
        return await proceed()

    def keeps(_: str, proceed: Proceed[str]) -> str:
        kept.append(proceed)
        return "kept"

    def body(argument: str) -> str:
        ran.append(argument)
        return argument

    subscription = root.on(MADE, twice)
    with pytest.raises(PluginError, match="proceeded twice"):
        wait(stage, root.waterfall(MADE, "x", body))
    subscription.close()
    root.on(MADE, keeps)
    assert wait(stage, root.waterfall(MADE, "y", body)) == "kept"
    with pytest.raises(PluginError, match="too late"):
        wait(stage, kept[0]())
    assert ran == ["x"]


def ask(stage: Stage, root: Context, way: str) -> str | None:
    """Dispatch to interceptors in one of the three ways."""
    if way == "serial":
        answer = root.serial(ASKED, "x")
        return wait(stage, answer)
    if way == "bail":
        return root.bail(CHOSEN, "x")
    return wait(stage, root.waterfall(MADE, "x", lambda argument: argument))


KINDS: dict[str, Any] = {"serial": ASKED, "bail": CHOSEN, "waterfall": MADE}


@pytest.mark.clause("G-23")
@pytest.mark.parametrize("way", KINDS)
def test_the_error_of_an_interceptor_is_its_callers(stage: Stage, root: Context, way: str) -> None:
    """An interceptor is part of what its caller does; the later ones are not asked."""
    seen: list[str] = []

    def fails(*_: object) -> str:
        raise FailedError

    root.on(KINDS[way], fails)
    root.on(KINDS[way], lambda *_: seen.append("asked"))
    with pytest.raises(FailedError):
        ask(stage, root, way)
    assert seen == []


@pytest.mark.clause("G-27")
@pytest.mark.parametrize("way", KINDS)
def test_an_interceptor_that_was_closed_is_not_asked(stage: Stage, root: Context, way: str) -> None:
    """Not even by a dispatch that began before."""
    seen: list[str] = []
    later: list[Subscription] = []

    def closes(*arguments: Callable[[], object]) -> object:
        later[0].close()
        return arguments[1]() if len(arguments) > 1 else None

    root.on(KINDS[way], closes)
    later.append(root.on(KINDS[way], lambda *_: seen.append("asked")))
    ask(stage, root, way)
    assert seen == []


@pytest.mark.clause("G-29")
@pytest.mark.parametrize("way", KINDS)
def test_an_interceptor_registered_during_a_dispatch_is_asked_in_the_next(
    stage: Stage, root: Context, way: str
) -> None:
    """In each of the ways in which interceptors are asked."""
    seen: list[str] = []

    def registers(*arguments: Callable[[], object]) -> object:
        if not registered:
            registered.append(root.on(KINDS[way], notes))
        return arguments[1]() if len(arguments) > 1 else None

    def notes(*arguments: Callable[[], object]) -> object:
        seen.append("asked")
        return arguments[1]() if len(arguments) > 1 else None

    registered: list[Subscription] = []
    root.on(KINDS[way], registers)
    ask(stage, root, way)
    assert seen == []
    ask(stage, root, way)
    assert seen == ["asked"]


@pytest.mark.clause("G-28")
@pytest.mark.parametrize("way", KINDS)
def test_an_interceptor_that_was_prepended_is_asked_first(
    stage: Stage, root: Context, way: str
) -> None:
    """In each of the ways in which interceptors are asked."""
    seen: list[str] = []

    def noting_as(name: str) -> Callable[..., object]:
        def note(*arguments: Callable[[], object]) -> object:
            seen.append(name)
            return arguments[1]() if len(arguments) > 1 else None

        return note

    root.on(KINDS[way], noting_as("one"))
    root.on(KINDS[way], noting_as("two"))
    root.on(KINDS[way], noting_as("first"), prepend=True)
    ask(stage, root, way)
    assert seen == ["first", "one", "two"]
