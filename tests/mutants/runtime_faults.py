"""Faults of the runtime, each planted by replacing one thing for as long as it is needed."""

from asyncio import Task
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

from attrs import evolve

from runtime import roster
from runtime.agent import LiveAgent
from runtime.context import Effect
from runtime.core import Core
from runtime.handle import AgentHandle
from runtime.obey import OBEY, place_discarded
from runtime.recording import record_message
from runtime.registry import AgentRegistry
from runtime.roster import Roster
from runtime.subject import RuntimeSubject
from runtime.teardown import Link, Teardown
from runtime.turn import AcceptedMessage, Context, Offer, Stop, Turn
from runtime.visits import VISITS, Outcome
from statemachine import MACHINE, Command, Decision, Input, Machine, Marker, Queues, Status, Window
from statemachine.conformance.subject import MakeSubject

from .planting import Plant

__all__ = ["Planted"]

Planted = Callable[[], AbstractContextManager[MakeSubject]]
"""Plants a fault for the length of a `with` block and gives the maker of the faulty subject."""


def in_table(plant: Plant) -> Planted:
    """Plant a fault in the table that the runtime's machine executes."""
    faulty = Machine(table=plant(MACHINE.table))

    @contextmanager
    def planted() -> Iterator[MakeSubject]:
        yield partial(RuntimeSubject, machine=faulty)

    return planted


def patched(*patches: Callable[[], Any]) -> Planted:
    @contextmanager
    def planted() -> Iterator[MakeSubject]:
        begun = [each() for each in patches]
        for each in begun:
            each.start()
        try:
            yield RuntimeSubject
        finally:
            for each in begun:
                each.stop()

    return planted


def obeying(command: Command, act: Callable[[Core, Any], None]) -> Planted:
    """Obey one command in another way."""
    return patched(lambda: patch.dict(OBEY, {command: act}))


def visiting(window: Window, visit: Callable[[Core], Any]) -> Planted:
    """Visit one window in another way."""
    return patched(lambda: patch.dict(VISITS, {window: visit}))


def replacing(owner: object, name: str, value: object) -> Planted:
    """Replace one attribute."""
    return patched(lambda: patch.object(owner, name, value))


def patient(plant: Planted) -> Planted:
    """Plant a fault in a runtime whose models may ignore that they are cancelled."""

    @contextmanager
    def planted() -> Iterator[MakeSubject]:
        with plant():
            yield partial(RuntimeSubject, cooperative=False)

    return planted


def nothing(*_: object) -> None:
    """Do nothing."""


# -- Messages --------------------------------------------------------------------------------------

_OBEY, _VISITS = dict(OBEY), dict(VISITS)


def discard_silently(core: Core, _: Stop) -> None:
    """Empty the queues and tell nobody."""
    core.queues.clear()


def discard_twice(core: Core, stop: Stop) -> None:
    """Tell everybody twice."""
    for message, steering in core.queues.clear():
        for _ in range(2):
            place_discarded(core, message, stop.cause, stop.reason, steering=steering)


def discard_with_default_reason(core: Core, stop: Stop) -> None:
    """Forget what the caller gave as the reason."""
    _OBEY[Command.DISCARD](core, Stop(stop.cause, "cancelled"))


def queue_into_the_cancelled_turn(core: Core, offer: Offer) -> None:
    """Let what comes after a cancel join the turn that unwinds."""
    _OBEY[Command.QUEUE](core, offer)
    if core.shape.status is Status.CANCELLED and core.log.open_turn is not None:
        record_message(core, "steering/message", core.queues.queued.pop())


def queue_at_the_head(self: Queues[AcceptedMessage], message: AcceptedMessage) -> None:
    """Turn first in, first out around."""
    self.queued.insert(0, message)


def drain_once_more(core: Core) -> Outcome:
    """Let prompts that came after the cancel of a turn share it with those from before."""
    if core.shape.status is Status.CANCELLED:
        core.turn.unread += core.queues.drain()
    return _VISITS[Window.PROMPTS](core)


def report_and_drop(core: Core, argument: object) -> None:
    """Let a failed turn take what waits with it."""
    _OBEY[Command.REPORT](core, argument)
    core.queues.clear()


def join_unless_stopped(core: Core, context: Context) -> None:
    """Drop context that comes while the turn unwinds."""
    if not core.turn.authority.signal.is_aborted:
        _OBEY[Command.JOIN](core, context)


# -- Stops -----------------------------------------------------------------------------------------


def remembering_idle_cancels() -> Planted:
    """Let a cancel that had nothing to cancel strike the next turn."""
    struck: set[int] = set()
    cancel = LiveAgent.cancel

    def cancel_and_remember(self: LiveAgent, reason: str | None = None) -> None:
        if self.status is Status.IDLE:
            struck.add(id(self))
        cancel(self, reason)

    def strike(core: Core) -> Outcome:
        if id(core.face) in struck:
            struck.discard(id(core.face))
            core.call(Input.CANCEL, Stop("cancelled", "cancelled"))
        return _VISITS[Window.TURN_START](core)

    return patched(
        lambda: patch.object(LiveAgent, "cancel", cancel_and_remember),
        lambda: patch.dict(VISITS, {Window.TURN_START: strike}),
    )


def forget_the_cancel(core: Core) -> Outcome:
    """Take the marker back before the turn is closed."""
    shape = core.shape
    if shape.status is Status.CANCELLED:
        core.shape = core.machine.intern(evolve(shape, status=Status.RUNNING, marker=Marker.ABSENT))
    return _VISITS[Window.CLOSING](core)


def last_reason_wins() -> Planted:
    """Let a further cancel overwrite the reason of the first."""
    post = Core.post

    def post_and_overwrite(self: Core, input: Input, argument: object = None) -> Decision:
        signal = self.turn.authority.signal
        if input is Input.CANCEL and signal.is_aborted:
            assert isinstance(argument, Stop)
            signal._reason = argument.reason  # noqa: SLF001  # the fault
        return post(self, input, argument)

    return replacing(Core, "post", post_and_overwrite)


def abort_and_release(core: Core, stop: Stop) -> None:
    """Release the waiters when the turn is cancelled."""
    _OBEY[Command.ABORT](core, stop)
    for waiter in core.waiters:
        if not waiter.done():
            waiter.set_result(None)


def aborting_late() -> Planted:
    """Fire the signal when everything has been announced."""
    late: list[tuple[Core, Stop]] = []
    call = Core.call

    def call_and_abort(self: Core, input: Input, argument: object = None) -> None:
        call(self, input, argument)
        while late:
            core, stop = late.pop()
            _OBEY[Command.ABORT](core, stop)

    return patched(
        lambda: patch.dict(OBEY, {Command.ABORT: lambda core, stop: late.append((core, stop))}),
        lambda: patch.object(Core, "call", call_and_abort),
    )


def close_with_a_chunk(core: Core, argument: object) -> None:
    """Record what a stopped stream still had to say."""
    if core.turn.authority.signal.is_aborted:
        chunk = {"type": "text", "text": "late"}
        data = {"turn": core.turn.number, "step": core.turn.step, "chunk": chunk}
        core.log.append("assistant/chunk", data)
    _OBEY[Command.CLOSE_CALLS](core, argument)


_SETTLE = Turn.settle


def settle_and_unbind(self: Turn) -> None:
    """Give the bound of the flush back where only the fate of messages is told."""
    _SETTLE(self)
    self.flush_grace.close()


def abort_without_grace(core: Core, stop: Stop) -> None:
    """Fire the signal and leave the turn as much time as it likes."""
    core.turn.authority.fire(stop.reason)


# -- Ends ------------------------------------------------------------------------------------------


def skip_the_flush(core: Core) -> Input:
    """Do not wait for the closed turn to be durable."""
    core.turn.settle()
    return Input.DONE


def leave_the_turn_open(core: Core, argument: object) -> None:
    """Record every boundary but the end of a turn."""
    if core.shape.window is not Window.TURN_END:
        _OBEY[Command.RECORD](core, argument)
    else:
        core.turn.outcome = (core.shape.ending.value, None)


def links(*names: str) -> Planted:
    """Run the links of a teardown in another order, or fewer of them."""
    original = roster._links  # noqa: SLF001  # the seam

    def reordered(
        core: Core,
        unregister: Callable[[Core], None],
        detach: Callable[[], None],
        release: Callable[[], Task[int] | None],
        owners: list[Effect],
    ) -> list[Link]:
        made = original(core, unregister, detach, release, owners)
        by_name = {link.name: link for link in made}
        return [by_name[name] for name in names]

    return replacing(roster, "_links", reordered)


_DISPOSE = AgentHandle.dispose


def dispose_anew(self: AgentHandle) -> Teardown:
    """Make a new end for every caller."""
    self._teardown = None
    return _DISPOSE(self)


def taking_siblings_along() -> Planted:
    """Dispose every agent with the first."""
    made: list[AgentHandle] = []
    create = AgentRegistry.create

    def create_and_keep(
        self: AgentRegistry, *, agent_id: str | None = None, session_id: str | None = None
    ) -> AgentHandle:
        if not self.list():
            made.clear()
        handle = create(self, agent_id=agent_id, session_id=session_id)
        made.append(handle)
        return handle

    def dispose(self: AgentHandle) -> Teardown:
        for handle in made:
            if handle is not self and self in made:
                _DISPOSE(handle)
        return _DISPOSE(self)

    return patched(
        lambda: patch.object(AgentRegistry, "create", create_and_keep),
        lambda: patch.object(AgentHandle, "dispose", dispose),
    )


def taking_any_id() -> Planted:
    """Do not look whether an agent with that id lives."""

    def name(self: Roster, _: str, agent_id: str | None, session_id: str | None) -> tuple[str, str]:
        agent_id = agent_id or session_id or self.identifiers.new_id()
        return agent_id, session_id or agent_id

    return replacing(Roster, "_name", name)
