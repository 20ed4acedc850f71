"""A stage, and the root context of an application on it."""

from collections.abc import Iterator

import pytest

from runtime.context import Context
from statemachine.conformance.stage.stage import Stage


@pytest.fixture
def stage() -> Iterator[Stage]:
    """A stage that is closed afterwards; nothing may have reached the loop's last resort."""
    with Stage() as made:
        yield made
        made.loop.report_unretrieved()
        assert made.loop.failures == []


@pytest.fixture
def root(stage: Stage) -> Context:
    """The root of an application on the stage."""
    assert stage.loop.is_running()
    return Context.root()
