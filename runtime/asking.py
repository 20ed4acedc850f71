"""How a visit waits for foreign code: beside the driver, within the grace of the turn.

A body that may ignore its cancellation runs in a child task of the driver. While nothing stops the
turn the driver waits for it; once the turn is to stop, it waits until the grace is over and then
leaves the body behind, by name.
"""

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from statemachine import WINDOWS, Patience

from .abort import CutError, Grace, run_beside
from .containment import attempt_awaited
from .context import Waterfall
from .core import Core
from .errors import PluginError
from .recording import record_of_plugin
from .seams import Moment
from .turn import Turn

__all__ = ["ask", "ask_or", "beside", "go_on", "is_stopped", "moment", "where"]

P = TypeVar("P")
R = TypeVar("R")
Body = Callable[[], Coroutine[Any, Any, object]]


def is_stopped(core: Core) -> bool:
    """Return whether the turn is to stop, so that nobody is asked any more."""
    return core.turn.authority.signal.is_aborted


def where(core: Core) -> dict[str, Any]:
    """Return the fields of a `Moment`, for the values that have more of them."""
    turn = core.turn
    return {
        "agent": core.face,
        "session": core.log.session,
        "turn": turn.number,
        "step": turn.step,
        "signal": turn.authority.signal,
        "record": partial(record_of_plugin, core, turn),
    }


def moment(core: Core) -> Moment:
    """Return where in which turn an interceptor is asked."""
    return Moment(**where(core))


async def beside(core: Core, body: Body, what: str, grace: Grace | None = None) -> None:
    """Run a body that may ignore its cancellation, and leave it behind when its grace is over.

    Args:
        core: whose turn it is.
        body: what is run; nothing of it, if the turn is stopped before its task takes a step.
        what: its name, if it is left behind.
        grace: of a body that is owed to a stopped turn as well; None for the grace of the turn.

    Raises:
        CutError: it was left behind, gave up because it was asked to, or never began.

    Clauses: B-117 B-118 B-119 B-125 B-134
    """
    patience = WINDOWS[core.shape.window].patience or Patience.GRACE
    child = core.child(_unless_stopped(core, body) if grace is None else body())
    try:
        await run_beside(child, grace or core.turn.grace, patience, core.cancellations)
    finally:
        if not child.done():
            core.leave_behind(child, what)


async def _unless_stopped(core: Core, body: Body) -> None:
    # A stop may come when the task has been made and has not run.
    go_on(core.turn)
    await body()


def go_on(turn: Turn) -> None:
    """Let somebody be asked, unless that turn is to stop.

    Of the turn and not of the agent: whoever outlived a turn must not go on in the next one.

    Raises:
        CutError: it is.

    Clauses: B-165
    """
    if turn.authority.signal.is_aborted:
        raise CutError


async def ask(
    core: Core,
    seam: Waterfall[P, R],
    argument: P,
    body: Callable[[P], Awaitable[R] | R],
    *expected: type,
) -> R:
    """Ask the interceptors of a seam, beside the driver.

    Args:
        core: whose turn it is.
        seam: which interceptors.
        argument: what they are told.
        body: answers when none of them does.
        *expected: the classes that an answer may have.

    Raises:
        CutError: the turn was stopped, and they did not answer within the grace or could not do so
            without one that had not been asked.
        PluginError: the answer is of another class.
        Exception: what one of them raised.

    Clauses: B-72 B-92 B-117 B-165
    """
    answers: list[R] = []

    async def collect() -> None:
        check = partial(go_on, core.turn)
        answers.append(await core.bus.waterfall(seam, argument, body, check))

    await beside(core, collect, f"the interceptors of {seam.name}")
    answer = answers[0]
    if not isinstance(answer, expected):
        kinds = ", ".join(each.__name__ for each in expected)
        found = type(answer).__name__
        raise PluginError(f"an interceptor of {seam.name} answered with a {found}, not {kinds}")
    return answer


async def ask_or(
    core: Core, seam: Waterfall[P, R], argument: P, otherwise: R, *expected: type
) -> tuple[R, Exception | None]:
    """Ask as `ask` does; return `otherwise` where nobody answers, and the failure if that is why.

    Clauses: B-92 B-137
    """
    answers: list[R] = []

    async def collect() -> None:
        answers.append(await ask(core, seam, argument, lambda _: otherwise, *expected))

    error = await attempt_awaited(collect())
    if answers:
        return answers[0], None
    return otherwise, None if isinstance(error, CutError) else error
