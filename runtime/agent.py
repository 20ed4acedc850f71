"""The agent as everybody sees it: nine names, and no way to end it.

The surface is closed on purpose. Whoever may stop an agent's work calls `cancel`; whoever may end
the agent holds its handle. What is behind the surface lives in `core`.
"""

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from statemachine import Input, Status

from .core import AgentOptions, Core
from .errors import CallerError, LimitError
from .session.content import (
    Block,
    FrozenObject,
    accept_content,
    accept_source,
    freeze_json,
)
from .session.log import Session
from .session.records import check_fits
from .turn import Context, Fate, Offer, Stop
from .waiting import check_outside

if TYPE_CHECKING:
    import asyncio

__all__ = ["Agent", "LiveAgent", "offer"]


@runtime_checkable
class Agent(Protocol):
    """An agent.

    Not thread-safe: every call has to come from the thread of the runtime's loop.

    Clauses: A-01 A-49 A-60
    """

    @property
    def id(self) -> str:
        """The id in the registry; the session's own id is `session.header.id` (A-47)."""
        ...

    @property
    def status(self) -> Status:
        """What the agent is doing right now."""
        ...

    @property
    def options(self) -> AgentOptions:
        """What it was made with, the default model filled in."""
        ...

    @property
    def session(self) -> Session:
        """Its log, read-only and live."""
        ...

    def send(self, content: object, *, source: object = None) -> None:
        """Queue a message; it runs in the next turn, and nothing has run when this returns.

        Args:
            content: a string, or a list of blocks such as `{"type": "text", "text": ...}`.
            source: where it comes from, an object with a `kind`; the user if omitted.

        Raises:
            AgentDisposedError: the agent is disposed.
            InvalidContentError: the content is empty, or would not survive the log.
            LimitError: the content is too large, or the inbox is full.

        Clauses: A-02 A-03 A-04 A-05 A-20
        """
        ...

    def steer(self, content: object, *, source: object = None) -> None:
        """Give a message to the running turn, for its next step; exactly `send` when none runs.

        After a cancel the turn is not to be joined any more, and the message is queued.

        Raises:
            AgentDisposedError: the agent is disposed.
            InvalidContentError: the content is empty, or would not survive the log.
            LimitError: the content is too large, or the inbox is full.

        Clauses: A-10 A-11 A-12 A-13
        """
        ...

    def inject(self, content: object, *, source: object = None) -> None:
        """Record context without running the model: in the open turn, or as a turn of its own.

        Raises:
            AgentDisposedError: the agent is disposed.
            InvalidContentError: the content is empty, or would not survive the log.
            LimitError: the content is too large.

        Clauses: A-14 A-15 A-16 A-17
        """
        ...

    def cancel(self, reason: str | None = None) -> None:
        """Stop the running turn and drop everything that waits; nothing at all if there is nothing.

        The call is a request, done when it returns; `when_idle` tells when the turn has unwound.

        Args:
            reason: kept in the turn's ending and in what is discarded; `cancelled` if omitted.

        Raises:
            CallerError: the reason is not a string, or could not be logged.

        Clauses: A-21 A-22 A-23 A-24 A-25 A-26 A-28
        """
        ...

    async def when_idle(self) -> None:
        """Wait until no turn runs, nothing is queued and the last turn's flush has ended.

        Cancelling a turn does not release waiters; its end does. After a dispose, waits for the
        driver to exit, not for the status to change. Nothing is promised about the instant at
        which the awaiting task goes on: by then somebody may have sent again.

        Raises:
            WouldDeadlockError: awaited inside the agent's own turn.

        Clauses: A-29 A-30 A-31 A-32 A-64 A-66 A-68
        """
        ...


class LiveAgent:
    """The `Agent` of this runtime."""

    __slots__ = ("_core",)

    def __init__(self, core: Core) -> None:
        self._core = core
        core.face = self

    @property
    def id(self) -> str:
        """See `Agent`."""
        return self._core.id

    @property
    def status(self) -> Status:
        """See `Agent`."""
        return self._core.shape.status

    @property
    def options(self) -> AgentOptions:
        """See `Agent`."""
        return self._core.options

    @property
    def session(self) -> Session:
        """See `Agent`."""
        return self._core.log.session

    def send(self, content: object, *, source: object = None) -> None:
        """See `Agent`."""
        offer(self._core, Input.SEND, content, source)

    def steer(self, content: object, *, source: object = None) -> None:
        """See `Agent`."""
        offer(self._core, Input.STEER, content, source)

    def inject(self, content: object, *, source: object = None) -> None:
        """See `Agent`."""
        core = self._core
        _check_usable(core, "inject")
        core.call(Input.INJECT, Context(*_accept("inject", core, content, source)))

    def cancel(self, reason: str | None = None) -> None:
        """See `Agent`."""
        core = self._core
        _check_usable(core, "cancel")
        if reason is None:
            reason = "cancelled"
        if type(reason) is not str:
            kind = type(reason).__name__
            raise CallerError(
                f"cancel of agent {core.id!r} refused: the reason is a {kind}, not a string"
            )
        what = f"the reason of a cancel of agent {core.id!r}"
        freeze_json(reason, what=what, limits=core.limits)
        check_fits(what, core.limits, reason)
        core.call(Input.CANCEL, Stop("cancelled", reason))
        # A turn that has ended and only waits for its flush has an outcome, and nobody who cancels
        # wants to wait for a disk.
        core.turn.settle()

    async def when_idle(self) -> None:
        """See `Agent`."""
        core = self._core
        _check_usable(core, "when_idle")
        if core.shape.is_quiescent:
            return
        whose = f"when_idle of the {core.shape.status} agent {core.id!r}"
        check_outside(core.own_tasks, whose, "start a task that waits")
        waiter: asyncio.Future[None] = core.loop.create_future()
        core.waiters[waiter] = None
        try:
            await waiter
        finally:
            core.waiters.pop(waiter, None)

    def __repr__(self) -> str:
        return f"<agent {self.id} {self.status}>"


def _check_usable(core: Core, verb: str) -> None:
    """Refuse a call from another thread than the loop's, or to an agent whose driver is dead.

    Raises:
        CallerError: the call comes from another thread.
        BaseException: the defect of this runtime that the driver died of.

    Clauses: A-60 B-131
    """
    core.around.check_thread(f"{verb} of agent {core.id!r}")
    if core.defect is not None:
        raise core.defect


def _accept(
    verb: str, core: Core, content: object, source: object
) -> tuple[tuple[Block, ...], FrozenObject]:
    limits = core.limits
    accepted = accept_content(content, limits=limits)
    origin = accept_source(source, limits=limits)
    check_fits(f"{verb}: content and source together", limits, accepted, origin)
    return accepted, origin


def offer(
    core: Core,
    input: Input,
    content: object,
    source: object,
    watcher: "asyncio.Future[Fate] | None" = None,
) -> None:
    """Check, copy and freeze a message and offer it to the machine.

    Clauses: A-07 A-08 A-63 A-81
    """
    verb, limits = input.value, core.limits
    _check_usable(core, verb)
    accepted, origin = _accept(verb, core, content, source)
    if len(core.queues) >= limits.inbox_messages_max:
        raise LimitError(
            f"{verb} refused: agent {core.id!r} is {core.shape.status} and "
            f"inbox_messages_max={limits.inbox_messages_max} messages wait; "
            "wait until some have run, or cancel"
        )
    core.call(input, Offer(accepted, origin, verb, watcher))
