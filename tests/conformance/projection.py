"""What the reference runtime's cell holds, for the refinement of the suites."""

from typing import Any

from runtime.core import Core
from statemachine.conformance.refinement import Projection

__all__ = ["project"]


def project(cell: Any) -> Projection:
    """Return the data of a cell that its shape speaks about."""
    assert isinstance(cell, Core)
    return Projection(
        agent=cell.id,
        shape=cell.shape,
        holding=cell.queues.holding,
        has_open_turn=cell.log.open_turn is not None,
        has_open_step=cell.log.open_step is not None,
        is_unopened=cell.turn.is_unopened,
        is_aborted=cell.turn.authority.signal.is_aborted,
        announced=cell.announced,
        waiters=sum(not waiter.done() for waiter in cell.waiters),
        has_driver=cell.driver is not None,
    )
