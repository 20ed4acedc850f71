"""What effects and fibers consist of, and what may be a disposer."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeGuard

from attrs import frozen

from runtime.teardown import Teardown

if TYPE_CHECKING:
    import asyncio

__all__ = [
    "Call",
    "Disposer",
    "EffectTree",
    "Holder",
    "Owned",
    "Part",
    "Setup",
    "is_owned",
    "name_of",
    "tasks_of",
]


class Owned(Protocol):
    """Something with an end of its own: an effect, a fiber, the handle of an agent."""

    def dispose(self) -> Awaitable[object]:
        """End it now; the result may be awaited, by anybody, any number of times."""
        ...


Disposer: TypeAlias = Callable[[], object] | Owned | None
"""A function, whose result is awaited if it can be, or something owned; None is none."""

Setup: TypeAlias = Callable[
    [],
    Disposer | Awaitable[Disposer] | Iterator[Disposer] | AsyncIterator[Disposer],
]


@frozen
class EffectTree:
    """What is set up, by name; for people and for tests."""

    name: str
    parts: "tuple[EffectTree, ...]" = ()
    state: str | None = None
    """Of a fiber, its state."""


class Holder(Protocol):
    """What has parts: an effect, or one life of a fiber."""

    def drop(self, part: "Part") -> None:
        """Forget a part that has ended."""
        ...


class Part:
    """What an effect or a life consists of."""

    __slots__ = ("__weakref__", "holder", "name")

    def __init__(self, name: str, holder: Holder | None) -> None:
        self.name = name
        self.holder = holder

    def dispose(self) -> Teardown:
        """End it now; the same end for everybody."""
        raise NotImplementedError

    def tree(self) -> EffectTree:
        """Return it and what is inside it, by name."""
        return EffectTree(self.name)

    def gather_tasks(self, tasks: "set[asyncio.Task[Any] | None]", seen: set[int]) -> None:
        """Add the tasks that its end waits for."""

    def set_up_tasks(self) -> "set[asyncio.Task[Any] | None]":
        """Return the tasks that set it up, for which a load waits."""
        return set()

    def hurry(self) -> None:
        """Let the grace of its set-up begin, if it is still set up."""


class Call(Part):
    """A plain disposer, or the end of something that is owned elsewhere."""

    __slots__ = ("call",)

    def __init__(self, name: str, call: Callable[[], object]) -> None:
        super().__init__(name, None)
        self.call = call

    def gather_tasks(self, tasks: "set[asyncio.Task[Any] | None]", seen: set[int]) -> None:
        """Add the tasks of what it ends, if it ends something whose tasks are known."""
        owned = getattr(self.call, "__self__", None)
        if isinstance(owned, Part):
            owned.gather_tasks(tasks, seen)


def is_owned(value: object) -> TypeGuard[Owned]:
    """Return whether something has an end of its own; checking the protocol takes far longer."""
    return callable(getattr(value, "dispose", None))


def tasks_of(part: Part) -> "set[asyncio.Task[Any] | None]":
    """Return the tasks that the end of a part waits for."""
    tasks: set[asyncio.Task[Any] | None] = set()
    part.gather_tasks(tasks, set())
    return tasks


def name_of(disposer: object) -> str:
    """Return what a disposer is called, for people."""
    name = getattr(disposer, "name", None) or getattr(disposer, "__name__", None)
    return name if type(name) is str else type(disposer).__name__
