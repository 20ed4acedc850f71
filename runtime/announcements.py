"""What a runtime announces, and the bus that carries it.

An announcement is synchronous: its listeners are told, one after the other, and have no say.
Whatever one of them raises is contained. `SESSION_FLUSH` alone is awaited and may fail, because
whoever makes a session durable has to be able to say that it did not work.
"""

from typing import Any, Generic, TypeVar

from attrs import frozen

from statemachine import Status

from .session.content import Block, FrozenObject
from .session.log import Session
from .session.records import Record

__all__ = [
    "AGENT_CREATED",
    "AGENT_DISCARDED",
    "AGENT_DISPOSED",
    "AGENT_ERROR",
    "AGENT_QUEUED",
    "AGENT_SESSION_START",
    "AGENT_STATUS",
    "SESSION_CREATED",
    "SESSION_ENDED",
    "SESSION_EVENT",
    "SESSION_FLUSH",
    "AgentFailed",
    "AgentNotice",
    "Announcement",
    "Discarded",
    "Queued",
    "RecordAppended",
    "SessionEnded",
    "SessionNotice",
    "SessionStarted",
    "StatusChanged",
]

P = TypeVar("P")


@frozen
class Announcement(Generic[P]):
    """One kind of announcement; `name` is its string, the type says what listeners are given."""

    name: str


@frozen(kw_only=True)
class AgentNotice:
    """Something about one agent."""

    agent: Any
    """The bare `Agent`."""


@frozen(kw_only=True)
class StatusChanged(AgentNotice):
    """The agent's status changed."""

    status: Status
    previous: Status


@frozen(kw_only=True)
class Queued(AgentNotice):
    """A message was accepted.

    Clauses: A-03 A-53
    """

    message_id: str
    content: tuple[Block, ...]
    source: FrozenObject
    steering: bool
    """Whether it joins the running turn."""


@frozen(kw_only=True)
class Discarded(AgentNotice):
    """An accepted message was dropped and will never be recorded.

    Clauses: A-54 A-55
    """

    message_id: str
    content: tuple[Block, ...]
    source: FrozenObject
    steering: bool
    cause: str
    """`cancelled`, `disposed` or `error`."""
    reason: str
    """The reason of the call that dropped it, or the text of the error."""


@frozen(kw_only=True)
class AgentFailed(AgentNotice):
    """A turn of the agent failed, or its flush did (then `step` is 0)."""

    turn: int
    step: int
    error: BaseException


@frozen(kw_only=True)
class SessionStarted(AgentNotice):
    """An agent is about to work on its session."""

    source: str
    """`startup` or `resume`."""


@frozen(kw_only=True)
class SessionNotice:
    """Something about one session."""

    session: Session


@frozen(kw_only=True)
class SessionEnded:
    """A session is over, with everything that belonged to it; its log stays where it is kept."""

    session_id: str


@frozen(kw_only=True)
class RecordAppended(SessionNotice):
    """A record was committed."""

    record: Record


AGENT_CREATED: Announcement[AgentNotice] = Announcement("agent/created")
AGENT_SESSION_START: Announcement[SessionStarted] = Announcement("agent/session-start")
AGENT_STATUS: Announcement[StatusChanged] = Announcement("agent/status")
AGENT_QUEUED: Announcement[Queued] = Announcement("agent/queued")
AGENT_DISCARDED: Announcement[Discarded] = Announcement("agent/discarded")
AGENT_ERROR: Announcement[AgentFailed] = Announcement("agent/error")
AGENT_DISPOSED: Announcement[AgentNotice] = Announcement("agent/disposed")
SESSION_CREATED: Announcement[SessionNotice] = Announcement("session/created")
SESSION_ENDED: Announcement[SessionEnded] = Announcement("session/ended")
SESSION_EVENT: Announcement[RecordAppended] = Announcement("session/event")
SESSION_FLUSH: Announcement[SessionNotice] = Announcement("session/flush")
"""Awaited, all listeners at once, after every turn; the only one that may fail."""
