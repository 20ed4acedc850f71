"""Whom many scenes have, and what is arranged before them."""

from typing import Final

from statemachine.conformance.stage.schedules import Scenario

from .world import World, actor

__all__ = ["CANCELLER", "OWNER", "REPLACER", "Scenes", "a_is_flushed", "a_runs"]

Scenes = tuple[Scenario[World], ...]

CANCELLER: Final = actor("canceller", lambda world: world.cancel("why"))
OWNER: Final = actor("owner", World.dispose)
REPLACER: Final = actor("user", lambda world: world.cancel("why"), lambda world: world.send("B"))
"""Cancels, and then sends B."""


def a_runs(world: World) -> None:
    """Send A; setting up ends with the model being asked."""
    world.send("A")


def a_is_flushed(world: World) -> None:
    """Send A and let the model answer; setting up ends in the flush."""
    world.send("A")
    world.answer("A")
