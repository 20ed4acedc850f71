"""A stored session becomes an agent of the client, or is removed."""

import asyncio
import os.path

from acp import RequestError

from runtime.application import AppContext
from runtime.errors import LifecycleError
from runtime.handle import AgentHandle
from runtime.persistence import PERSISTENCE
from runtime.session.log import SessionHeader
from runtime.session.segments import shown

from .answers import closed, not_found, refusal

__all__ = ["delete_stored", "loaded", "open_stored"]


async def open_stored(context: AppContext, session_id: str, cwd: str) -> AgentHandle:
    """Look a session up, and resume it if it works where the client says.

    Raises:
        RequestError: it is not stored, or works elsewhere; no agent was made.
        LifecycleError: it cannot be resumed.

    Clauses: J-31 J-32
    """
    header = await _stored(context, session_id)
    if header is None:
        raise not_found(session_id)
    if header.cwd is None or not _is_same(header.cwd, cwd):
        why = f"session {shown(session_id)} works in {shown(header.cwd)}, not in {shown(cwd)}"
        raise RequestError.invalid_params({"details": why})
    return await context.agents.resume(session_id=session_id)


def loaded(load: "asyncio.Task[AgentHandle]", context: AppContext, *, is_over: bool) -> AgentHandle:
    """Return the agent of a load that has ended, if it is still there for the client.

    Args:
        load: runs `open_stored`.
        context: the context that the agent belongs to.
        is_over: whether the end of the bridge has begun.

    Raises:
        RequestError: why there is none.

    Clauses: J-34 J-76
    """
    if load.cancelled():
        raise closed()
    error = load.exception()
    if isinstance(error, LifecycleError):
        raise refusal(error) from error
    handle = load.result()
    if is_over:
        handle.dispose()
        raise closed()
    if context.agents.get(handle.agent.id) is not handle.agent:
        # Somebody has ended it meanwhile, and whoever ends is not told of again.
        raise not_found(handle.agent.session.id)
    return handle


async def delete_stored(
    context: AppContext, session_id: str, ending: "asyncio.Task[None] | None"
) -> None:
    """Remove a session from the store when it has ended; nothing if it is not there.

    Raises:
        LifecycleError: it cannot be removed.

    Clauses: J-71
    """
    if ending is not None:
        await asyncio.wait((ending,))
    persistence = context.get(PERSISTENCE)
    # Looked for, so that an id of any kind that is not stored touches nothing.
    if persistence is not None and await _stored(context, session_id) is not None:
        await persistence.remove(session_id)


async def _stored(context: AppContext, session_id: str) -> SessionHeader | None:
    persistence = context.get(PERSISTENCE)
    stored = () if persistence is None else await persistence.headers()
    return next((each.header for each in stored if each.header.id == session_id), None)


def _is_same(one: str, other: str) -> bool:
    # Compared as they are written: the directory may be gone, and need not be looked at.
    return os.path.normpath(one) == os.path.normpath(other)
