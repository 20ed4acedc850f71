"""What the tests of the context put into it: plugins that note what happens to them."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from runtime.context import Context, Fiber, FiberState, Plugin, Token
from runtime.teardown import TeardownReport
from statemachine.conformance.stage.stage import Stage

__all__ = [
    "DISK",
    "NET",
    "FailedError",
    "failures",
    "gated",
    "load",
    "noting",
    "plugin",
    "raising",
    "state_of",
    "wait",
]

T = TypeVar("T")

DISK: Token[str] = Token("disk")
NET: Token[str] = Token("net")


class FailedError(Exception):
    """What goes wrong on purpose."""


async def _await(awaitable: Awaitable[T]) -> T:
    return await awaitable


def wait(stage: Stage, awaitable: Awaitable[T]) -> T:
    """Await something in a task of its own, open every gate, and return the result."""
    return stage.complete(_await(awaitable))


def plugin(
    apply: Callable[[Context, Any], object], *inject: Token[Any], name: str = "plugin"
) -> Plugin[Any]:
    """Make a plugin of a function."""
    return Plugin(name=name, apply=apply, inject=inject)


def load(
    stage: Stage,
    parent: Context,
    apply: Callable[[Context, Any], object],
    *inject: Token[Any],
    name: str = "plugin",
) -> Fiber:
    """Load a function as a plugin, and let its load go as far as it can without a gate."""
    fiber = parent.plugin(plugin(apply, *inject, name=name))
    stage.run_until_quiet()
    return fiber


def noting(seen: list[str], what: str) -> Callable[[], None]:
    """Return a disposer that notes that it ran."""

    def note() -> None:
        seen.append(what)

    return note


def gated(stage: Stage, seen: list[str], what: str) -> Callable[[], Coroutine[Any, Any, None]]:
    """Return a disposer that notes its begin and its end, with a gate between the two."""

    async def note() -> None:
        seen.append(f"{what} begins")
        await stage.gate(what, ("ok",))
        seen.append(f"{what} ends")

    return note


def raising(seen: list[str], what: str) -> Callable[[], None]:
    """Return a disposer that notes that it ran, and raises."""

    def note() -> None:
        seen.append(what)
        raise FailedError(what)

    return note


def failures(report: TeardownReport) -> list[str]:
    """Return what failed, as text."""
    return [str(failure.error) for failure in report.failed]


def state_of(fiber: Fiber) -> FiberState:
    """Return the state, which a type checker would otherwise take for what it was before."""
    return fiber.state
