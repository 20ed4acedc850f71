"""What a runtime announces, and the bus that carries it.

An announcement is synchronous: its listeners are told, one after the other, and have no say.
Whatever one of them raises is contained. `SESSION_FLUSH` alone is awaited and may fail, because
whoever makes a session durable has to be able to say that it did not work.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Generic, TypeVar

from attrs import define, frozen

from statemachine import Status

from .containment import contain
from .errors import CallerError, LimitError, PluginError
from .limits import Limits
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
    "SESSION_EVENT",
    "SESSION_FLUSH",
    "AgentFailed",
    "AgentNotice",
    "Announcement",
    "Bus",
    "Discarded",
    "Queued",
    "RecordAppended",
    "SessionNotice",
    "SessionStarted",
    "StatusChanged",
    "Subscription",
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
SESSION_EVENT: Announcement[RecordAppended] = Announcement("session/event")
SESSION_FLUSH: Announcement[SessionNotice] = Announcement("session/flush")
"""Awaited, all listeners at once, after every turn; the only one that may fail."""


@define(eq=False)
class Subscription:
    """One listener on one announcement; `close` takes it off, any number of times."""

    _listeners: "list[Subscription]"
    listener: Callable[[Any], object]
    plugin: str

    def close(self) -> None:
        """Stop telling the listener; a dispatch under way may still reach it."""
        if self in self._listeners:
            self._listeners.remove(self)


class Bus:
    """Tells listeners.

    Clauses: G-24 G-25 G-29
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._listeners: dict[str, list[Subscription]] = {}
        self._depth = 0

    def on(
        self,
        announcement: Announcement[P],
        listener: Callable[[P], object],
        *,
        plugin: str = "application",
    ) -> Subscription:
        """Tell `listener` of every such announcement from now on.

        Args:
            announcement: one of the constants of this module.
            listener: a plain function; for `SESSION_FLUSH`, a coroutine function.
            plugin: whose listener it is, for the log.

        Raises:
            CallerError: the listener is of the wrong kind for this announcement.

        Clauses: G-33
        """
        is_awaited = announcement is SESSION_FLUSH
        if is_awaited != _is_awaited(listener):
            wanted = "a coroutine function" if is_awaited else "a plain function"
            advice = "" if is_awaited else "; start a task in it if it has to wait"
            raise CallerError(
                f"{announcement.name} refused the listener {listener!r}: it needs {wanted}{advice}"
            )
        listeners = self._listeners.setdefault(announcement.name, [])
        subscription = Subscription(listeners, listener, plugin)
        listeners.append(subscription)
        return subscription

    def listens(self, announcement: Announcement[Any]) -> bool:
        """Return whether anybody would be told."""
        return bool(self._listeners.get(announcement.name))

    def emit(self, announcement: Announcement[P], notice: P) -> None:
        """Tell every listener that is registered now; contain what they raise.

        Raises:
            LimitError: announcements are nested deeper than the limit.

        Clauses: B-126 G-34
        """
        listeners = self._listeners.get(announcement.name)
        if not listeners:
            return
        if self._depth >= self._limits.nested_announcements_max:
            raise LimitError(
                f"{announcement.name} refused: announcements are nested more than "
                f"nested_announcements_max={self._limits.nested_announcements_max} deep; "
                "break the circle of listeners that call each other"
            )
        self._depth += 1
        try:
            for subscription in tuple(listeners):
                contain(
                    subscription.listener,
                    notice,
                    what=f"listener of {announcement.name}",
                    who=subscription.plugin,
                )
        finally:
            self._depth -= 1

    async def parallel(
        self,
        announcement: Announcement[P],
        notice: P,
        spawn: "Callable[[Coroutine[Any, Any, object]], asyncio.Task[object]]",
    ) -> None:
        """Run every listener at once and wait for all of them.

        Raises:
            ExceptionGroup: some listeners failed; all of them were run.
        """
        listeners = tuple(self._listeners.get(announcement.name, ()))
        waits: list[Awaitable[object]] = [
            spawn(subscription.listener(notice))  # type: ignore[arg-type]  # checked by on()
            for subscription in listeners
        ]
        results = await asyncio.gather(*waits, return_exceptions=True)
        failures = [_as_failure(result) for result in results if isinstance(result, BaseException)]
        if failures:
            raise ExceptionGroup(f"{announcement.name}: {len(failures)} listeners failed", failures)


def _is_awaited(listener: Callable[..., object]) -> bool:
    return inspect.iscoroutinefunction(listener) or inspect.iscoroutinefunction(
        getattr(listener, "__call__", None)  # noqa: B004  # the method itself is looked at
    )


def _as_failure(result: BaseException) -> Exception:
    if isinstance(result, Exception):
        return result
    # It was cancelled by itself or by a stranger, and did not do what it was awaited for.
    failure = PluginError("a listener was cancelled before it was done")
    failure.__cause__ = result
    return failure
