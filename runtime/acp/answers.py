"""Answers and refusals in the protocol's words."""

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import PurePath
from typing import Final

from acp import PROTOCOL_VERSION, RequestError

from runtime.containment import log_line
from runtime.errors import AgentDisposedError, CallerError, LifecycleError, UnknownIdError
from runtime.session.log import SessionHeader
from runtime.session.segments import shown

from .frames import Frame

__all__ = [
    "about_servers",
    "check_place",
    "closed",
    "in_use",
    "initialized",
    "not_found",
    "page",
    "refusal",
]

_NOT_FOUND: Final = -32002
_PAGE: Final = 100


def initialized(*, can_load: bool, can_delete: bool) -> Frame:
    """Return what this agent can do; nothing is named that does not work.

    Clauses: J-01
    """
    offered = {"close": True, "list": True, "resume": can_load, "delete": can_delete}
    return {
        "protocolVersion": PROTOCOL_VERSION,
        "agentCapabilities": {
            "loadSession": can_load,
            "promptCapabilities": {"image": False, "audio": False, "embeddedContext": True},
            "sessionCapabilities": {name: {} for name, is_so in offered.items() if is_so},
        },
        "agentInfo": {"name": "quiesce", "title": "quiesce", "version": _version()},
        "authMethods": [],
    }


def check_place(cwd: str, additional_directories: Sequence[str] | None) -> None:
    """Check where a session is to work.

    Raises:
        RequestError: that is no absolute path, or more than one place.

    Clauses: J-03
    """
    if not PurePath(cwd).is_absolute():
        raise RequestError.invalid_params({"details": f"cwd {shown(cwd)} is not an absolute path"})
    if additional_directories:
        why = "additionalDirectories are not supported; leave them out"
        raise RequestError.invalid_params({"details": why})


def page(headers: Sequence[SessionHeader], cwd: str | None, cursor: str | None) -> Frame:
    """Return one page of a list of sessions; a cursor names the last session of the page before.

    Raises:
        RequestError: there is no such cursor.

    Clauses: J-55
    """
    ids = [header.id for header in headers]
    if cursor is not None and cursor not in ids:
        raise RequestError.invalid_params({"details": "the cursor is none of this list"})
    rest = headers[ids.index(cursor) + 1 :] if cursor is not None else headers
    found = [each for each in rest if each.cwd is not None and cwd in {None, each.cwd}]
    first = found[:_PAGE]
    answer: Frame = {"sessions": [{"sessionId": each.id, "cwd": each.cwd} for each in first]}
    return answer | ({"nextCursor": first[-1].id} if len(found) > _PAGE else {})


def about_servers(servers: Sequence[object] | None, *, is_first: bool) -> Frame:
    """Return what a client is told of its servers of tools; nothing if it names none.

    Clauses: J-49
    """
    if not servers:
        return {}
    why = "MCP servers are not connected by this agent"
    if is_first:
        log_line(why)
    return {"_meta": {"quiesce": {"mcpServers": why}}}


def closed() -> RequestError:
    """Return the refusal of everything that comes after the end."""
    return RequestError.internal_error({"details": "the bridge is closed; connect again"})


def not_found(session_id: str) -> RequestError:
    """Return the refusal of a session that is not there."""
    why = f"session {shown(session_id)} is not open here; create or load it first"
    return RequestError(_NOT_FOUND, "Resource not found", {"details": why})


def in_use(session_id: str) -> RequestError:
    """Return the refusal of a session that somebody works on."""
    state = "is open, or is being opened, closed or deleted"
    why = f"session {shown(session_id)} {state}; close it first"
    return RequestError.invalid_params({"details": why})


def refusal(error: LifecycleError) -> RequestError:
    """Return what the client is told of an error of the runtime."""
    told = {"details": str(error)}
    match error:
        case UnknownIdError() | AgentDisposedError():
            return RequestError(_NOT_FOUND, "Resource not found", told)
        case CallerError():
            return RequestError.invalid_params(told)
        case _:
            return RequestError.internal_error(told)


def _version() -> str:
    try:
        return version("quiesce")
    except PackageNotFoundError:
        return "0"
