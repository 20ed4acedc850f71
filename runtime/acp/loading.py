"""A stored session becomes an agent of the client."""

import os.path

from acp import RequestError

from runtime.application import AppContext
from runtime.handle import AgentHandle
from runtime.persistence import PERSISTENCE

from .answers import not_found

__all__ = ["open_stored"]


async def open_stored(context: AppContext, session_id: str, cwd: str) -> AgentHandle:
    """Look a session up, and resume it if it works where the client says.

    Raises:
        RequestError: it is not stored, or works elsewhere; no agent was made.
        LifecycleError: it cannot be resumed.

    Clauses: J-31 J-32
    """
    persistence = context.get(PERSISTENCE)
    stored = () if persistence is None else await persistence.headers()
    header = next((each.header for each in stored if each.header.id == session_id), None)
    if header is None:
        raise not_found(session_id)
    if header.cwd is None or not _is_same(header.cwd, cwd):
        why = f"session {session_id!r} works in {header.cwd!r}, not in {cwd!r}"
        raise RequestError.invalid_params({"details": why})
    return await context.agents.resume(session_id=session_id)


def _is_same(one: str, other: str) -> bool:
    # Compared as they are written: the directory may be gone, and need not be looked at.
    return os.path.normpath(one) == os.path.normpath(other)
