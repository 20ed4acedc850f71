"""A stage with an executor on it."""

from collections.abc import Iterator

import pytest

from statemachine.conformance.stage.stage import Stage

from .scene import Scene
from .shop import Shop


@pytest.fixture
def stage() -> Iterator[Stage]:
    """A stage that is closed afterwards; nothing may have reached the loop's last resort."""
    with Stage() as made:
        yield made
        made.loop.report_unretrieved()
        assert made.loop.failures == []


@pytest.fixture
def scene(stage: Stage) -> Iterator[Scene]:
    """An executor with a short grace, which is disposed of afterwards."""
    made = Scene(stage)
    yield made
    made.wait(made.root.fiber.dispose())
    assert stage.loop.next_timer() is None


@pytest.fixture
def shop(stage: Stage) -> Iterator[Shop]:
    """A runtime with the executor and its tools."""
    with Shop(stage) as made:
        yield made
