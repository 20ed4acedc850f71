"""The driver: the async code that runs turns.

A cycle looks up the visit of the window it is in, lets it do its work, posts the outcome and
delivers what that caused. The visits stand in `visits`, in time order. Only the cycle knows what
comes next, and it knows it from the machine.

Cancellation and failure are met once, here, and never in a visit.
"""

import asyncio

from statemachine import REST_WINDOWS, Input

from .abort import Cancellations, CutError, StrangersCancellationError, reraise
from .containment import as_failure, leave_by_the_loop
from .core import Core
from .visits import VISITS

__all__ = ["drive"]


async def drive(core: Core) -> None:
    """Run turns until nothing is queued (the agent parks) or the agent is disposed (it exits).

    A cancellation of this task by anyone but the agent is a dispose by its owner: the turn closes,
    the flush is bounded, the teardown starts, and the cancellation goes on at the end.

    Clauses: A-77 B-93 B-95 F-40
    """
    cancellations = core.cancellations = Cancellations(on_stranger=core.dispose)
    task = asyncio.current_task()
    # Whatever runs on this task must not wait for the agent.
    core.own_tasks.add(task)
    try:
        await _run_turns(core, cancellations)
    finally:
        core.own_tasks.discard(task)
    if cancellations.answered:
        reraise()


async def _run_turns(core: Core, cancellations: Cancellations) -> None:
    """Visit, post, deliver; the step boundary of every failure."""
    while True:
        try:
            outcome = VISITS[core.shape.window](core)
            if not isinstance(outcome, Input):
                core.waits_since_ms = core.around.clock.now_ms()
                outcome = await cancellations.settle(outcome)
        except CutError:
            outcome = Input.CUT
        except StrangersCancellationError:
            # The visit was unwound. With the dispose in effect, visiting again only closes up.
            core.dispose()
            continue
        except (KeyboardInterrupt, SystemExit) as error:
            leave_by_the_loop(error)
            core.turn.failure = as_failure(error)
            outcome = Input.FAILED
        except Exception as error:  # the step boundary
            core.turn.failure = error
            outcome = Input.FAILED
        decision = core.post(outcome)
        core.outbox.deliver()
        # Not the shape of now: whoever was told of the rest may have started another driver.
        if decision.shape.window in REST_WINDOWS:
            return
