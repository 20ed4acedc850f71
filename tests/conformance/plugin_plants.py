"""Plugins that do what they were told, and what they hold."""

import logging
from typing import Final

from attrs import define, field, frozen

from runtime.context import Context, Effect, Fiber, FiberState

__all__ = ["AT_REST", "BoomError", "BrokenError", "Failures", "Plant", "Resource", "Script", "Step"]

AT_REST: Final = (FiberState.PENDING, FiberState.FAILED, FiberState.DISPOSED)


class BrokenError(AssertionError):
    """A clause does not hold; the message tells what was done."""


class BoomError(Exception):
    """What a plugin raises on purpose."""


@frozen
class Step:
    """One thing that a plugin does; what the number means depends on the act."""

    act: str
    number: int = 0


@frozen(kw_only=True)
class Script:
    """All that a plugin does."""

    inject: tuple[int, ...] = ()
    load: tuple[Step, ...] = ()
    unload: Step = Step("nothing")
    """What each of its disposers does."""
    child: "Script | None" = None


@define(eq=False)
class Resource:
    """Something that has been set up and has to be let go exactly once."""

    plant: "Plant"
    number: int
    after: "Resource | None"
    """The one that was set up before it in the same effect, and that is let go after it."""
    is_going: bool = False
    is_gone: bool = False


@define(eq=False)
class Plant:
    """One plugin in its place, as this side knows it."""

    number: int
    script: Script
    parent: "Plant | None"
    parent_life: int
    config: int = 0
    applied: int = 0
    fiber: Fiber = field(init=False)
    lives: int = 0
    loading: int = 0
    held: dict[Resource, None] = field(factory=dict)
    effects: list[Effect] = field(factory=list)
    given: dict[int, object] = field(factory=dict)
    was_disposed: bool = False
    context: Context | None = None
    """Of the last life."""

    def uses(self, index: int, value: object) -> bool:
        """Whether its present life was loaded with this service."""
        is_alive = self.has_open_life() or self.fiber.state is FiberState.UNLOADING
        return is_alive and self.given.get(index) is value

    def has_open_life(self) -> bool:
        """Whether its last life has not begun to unload."""
        return self.context is not None and self.context.is_open

    def is_orphaned(self) -> bool:
        """Whether the life of the parent that loaded it is over."""
        parent = self.parent
        if parent is None:
            return False
        return parent.lives != self.parent_life or parent.fiber.state in AT_REST


class Failures(logging.Handler):
    """Counts what is logged about each failure."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.defects: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line."""
        self.texts.append(record.getMessage())
        if record.levelno >= logging.CRITICAL:
            self.defects.append(f"{record.getMessage()}: {record.exc_info}")
