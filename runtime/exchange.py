"""Send one message and await the fate of exactly that message."""

import asyncio

from statemachine import Input

from .agent import Agent, LiveAgent, offer
from .errors import CallerError
from .turn import Fate
from .waiting import check_outside

__all__ = ["begin_exchange", "exchange"]


async def exchange(agent: Agent, content: object, *, source: object = None) -> Fate:
    """Send a message and wait until the turn that recorded it has ended and is flushed.

    Returns at once when the message is discarded, or when a cancel comes while only the flush is
    still waited for. A flush that failed is announced as `agent/error`, and not told here. What
    other prompts of the same turn had answered is part of `text`: a turn has one answer.

    Raises:
        AgentDisposedError: the agent is disposed.
        InvalidContentError: the content is empty, or would not survive the log.
        LimitError: the content is too large, or the inbox is full.
        WouldDeadlockError: awaited inside the agent's own turn.
        CallerError: the agent is not one of this runtime.

    Clauses: A-79
    """
    watcher: asyncio.Future[Fate] = asyncio.get_running_loop().create_future()
    begin_exchange(agent, content, source=source, watcher=watcher)
    return await watcher


def begin_exchange(
    agent: Agent, content: object, *, source: object = None, watcher: "asyncio.Future[Fate]"
) -> None:
    """Send a message before this returns, and have its fate put into a future.

    Raises:
        LifecycleError: as `exchange` does; then the future stays as it is.

    Clauses: A-79
    """
    if not isinstance(agent, LiveAgent):
        raise CallerError(f"exchange refused: {agent!r} is not an agent of this runtime")
    core = agent._core  # noqa: SLF001  # the same package
    check_outside(core.own_tasks, f"exchange with agent {core.id!r}", "send the message and return")
    offer(core, Input.SEND, content, source, watcher)
