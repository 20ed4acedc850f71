"""What each command of a decision does to the data of an agent.

The machine has decided and the new shape is in force before any of these runs. Each function does
one thing to the cell, none looks at the status, and only `ABORT` calls out; everything else that
others are to learn is placed in the outbox, and delivered when the whole decision is done.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from statemachine import WINDOWS, Command, Ending, Window

from .announcements import (
    AGENT_DISCARDED,
    AGENT_ERROR,
    AGENT_QUEUED,
    AGENT_STATUS,
    AgentFailed,
    Discarded,
    Queued,
    StatusChanged,
)
from .containment import attempt, log_failure, render_error
from .errors import AgentDisposedError
from .recording import (
    record_context,
    record_deferred,
    record_interruptions,
    record_message,
    record_reason_to_go_on,
)
from .session.content import USER_SOURCE, freeze_json
from .session.log import Draft
from .turn import AcceptedMessage, Context, Fate, Offer, Stop, Turn

if TYPE_CHECKING:
    from .core import Core

__all__ = [
    "OBEY",
    "place_discarded",
    "place_error",
]

CODE_CHARACTERS_MAX = 200


# -- Messages --------------------------------------------------------------------------------------


def _refuse(core: "Core", argument: object) -> None:
    verb = argument.verb if isinstance(argument, Offer) else "inject"
    raise AgentDisposedError(
        f"{verb} refused: agent {core.id!r} is disposed; create an agent, or resume its session"
    )


def _accept(core: "Core", offer: Offer) -> AcceptedMessage:
    core.accepted += 1
    return AcceptedMessage(core.accepted, offer.content, offer.source, offer.watcher)


def _queue(core: "Core", offer: Offer) -> None:
    message = _accept(core, offer)
    core.queues.queue(message)
    _place_queued(core, message, steering=False)


def _steer(core: "Core", offer: Offer) -> None:
    message = _accept(core, offer)
    core.queues.steer(message)
    _place_queued(core, message, steering=True)


def _place_queued(core: "Core", message: AcceptedMessage, *, steering: bool) -> None:
    if core.bus.listens(AGENT_QUEUED):
        notice = Queued(
            agent=core.face,
            message_id=message.message_id,
            content=message.content,
            source=message.source,
            steering=steering,
        )
        core.outbox.place(AGENT_QUEUED, notice)


def _drain(core: "Core", _: object) -> None:
    core.turn.unread = core.queues.drain()


def _take(core: "Core", _: object) -> None:
    record_reason_to_go_on(core)
    for message in core.queues.take():
        record_message(core, "steering/message", message)


def _merge(core: "Core", _: object) -> None:
    core.queues.merge()


def _requeue(core: "Core", _: object) -> None:
    core.queues.requeue(core.turn.unread)
    core.turn.unread = []


def _discard(core: "Core", stop: Stop) -> None:
    for message, steering in core.queues.clear():
        place_discarded(core, message, stop.cause, stop.reason, steering=steering)


def _discard_batch(core: "Core", _: object) -> None:
    reason = render_error(core.turn.failure) if core.turn.failure else "turn/start was refused"
    for message in core.turn.unread:
        place_discarded(core, message, "error", reason)
    core.turn.unread = []


def place_discarded(
    core: "Core", message: AcceptedMessage, cause: str, reason: str, *, steering: bool = False
) -> None:
    """Put `agent/discarded` in the outbox; from here on that is the message's fate."""
    notice = Discarded(
        agent=core.face,
        message_id=message.message_id,
        content=message.content,
        source=message.source,
        steering=steering,
        cause=cause,
        reason=reason,
    )
    core.outbox.place(AGENT_DISCARDED, notice)
    message.complete(Fate("discarded", None, reason, ""))


# -- Context ---------------------------------------------------------------------------------------


def _join(core: "Core", context: Context) -> None:
    # Nothing may stand between a call and its result: providers refuse such a history.
    if core.log.unanswered:
        core.turn.deferred.append(context)
    else:
        record_context(core, context)


def _one_shot(core: "Core", context: Context) -> None:
    number = core.log.next_turn
    trigger = {"kind": "injection", "source": context.source}
    data = {"turn": number, "content": context.content, "source": context.source}
    end = {"turn": number, "ending": Ending.COMPLETED.value}
    core.log.append_many(
        (
            Draft(type="turn/start", data={"turn": number, "trigger": trigger}),
            Draft(type="context/message", data=data, placement="append"),
            Draft(type="turn/end", data=end),
        )
    )
    core.owe_flush(number)


# -- Boundary records ------------------------------------------------------------------------------


def _record(core: "Core", _: object) -> None:
    window = core.shape.window
    if window is Window.TURN_START:
        _open_turn(core)
    elif window is Window.TURN_END:
        _close_turn(core)
    else:
        if window is Window.STEP_START:
            core.turn.step += 1
        record_type = WINDOWS[window].record
        assert record_type is not None, window
        core.log.append(record_type, {"turn": core.turn.number, "step": core.turn.step})


# Nearly every turn starts with it, so it is checked and frozen once.
_USER_TRIGGER: Final = freeze_json({"kind": "message", "source": USER_SOURCE}, what="trigger")


def _open_turn(core: "Core") -> None:
    turn = core.turn
    turn.number = core.log.next_turn
    source = turn.unread[0].source
    trigger = _USER_TRIGGER if source is USER_SOURCE else {"kind": "message", "source": source}
    data = {"turn": turn.number, "trigger": trigger}
    turn.failure = attempt(core.log.append, "turn/start", data)
    turn.is_unopened = turn.failure is not None


def _close_turn(core: "Core") -> None:
    turn = core.turn
    ending = core.shape.ending
    data: dict[str, Any] = {"turn": turn.number, "ending": ending.value}
    reason = _reason_of(turn, ending)
    if reason is not None:
        data["reason"] = reason
    if ending is Ending.ERROR and turn.error is not None:
        data["error"] = turn.error
    if reason is None and turn.error is not None:
        reason = turn.error["message"]
    turn.outcome = (ending.value, reason)
    core.log.append("turn/end", data)


def _reason_of(turn: Turn, ending: Ending) -> str | None:
    if ending is Ending.ABORTED:
        return turn.authority.signal.reason
    return turn.blocked_reason if ending is Ending.REJECTED else None


def _drop_attached(core: "Core", _: object) -> None:
    core.turn.deferred = [each for each in core.turn.deferred if not each.is_attached]


def _close_calls(core: "Core", _: object) -> None:
    record_interruptions(core)
    core.turn.calls = []
    record_deferred(core)


# -- Notices ---------------------------------------------------------------------------------------


def _announce(core: "Core", _: object) -> None:
    status, previous = core.shape.status, core.announced
    core.announced = status
    if core.bus.listens(AGENT_STATUS):
        notice = StatusChanged(agent=core.face, status=status, previous=previous)
        core.outbox.place(AGENT_STATUS, notice)


def _report(core: "Core", _: object) -> None:
    turn, error = core.turn, core.turn.failure
    assert error is not None
    # A flush, or a turn that never opened, fails outside of every step.
    step = 0 if turn.outcome is not None or turn.is_unopened else turn.step
    place_error(core, turn.number, step, error)
    if turn.outcome is None:
        told: dict[str, object] = {"step": step, "message": render_error(error)}
        code = _code_of(error)
        if code is not None:
            told["code"] = code
        # Bounded by itself and frozen here, so that closing the turn cannot fail on it.
        turn.error = freeze_json(told, what="error")


def _code_of(error: Exception) -> str | None:
    """Return a foreign error's own name for itself, if that is something a log can keep."""
    code = getattr(error, "code", None)
    if type(code) is not str or len(code) > CODE_CHARACTERS_MAX:
        return None
    return None if attempt(code.encode) else code


def place_error(core: "Core", turn: int, step: int, error: Exception) -> None:
    """Put `agent/error` in the outbox and a line in the process log."""
    log_failure(error, f"agent {core.id}, turn {turn}, step {step}")
    core.outbox.place(AGENT_ERROR, AgentFailed(agent=core.face, turn=turn, step=step, error=error))


def _log(core: "Core", _: object) -> None:
    error = core.turn.failure
    assert error is not None
    place = f"agent {core.id}, turn {core.turn.number}, stopped before it failed (not reported)"
    log_failure(error, place)


def _release(core: "Core", _: object) -> None:
    for waiter in core.waiters:
        if not waiter.done():
            waiter.set_result(None)
    core.waiters.clear()
    if core.shape.window is Window.EXITED and not core.exited.done():
        core.exited.set_result(None)


# -- Authority and the driver ----------------------------------------------------------------------


def _begin(core: "Core", _: object) -> None:
    core.turn.close()
    core.turn = Turn()


def _abort(core: "Core", stop: Stop) -> None:
    core.turn.grace.start(core.loop, core.limits.abort_grace_s)
    core.turn.authority.fire(stop.reason)


def _retire(core: "Core", _: object) -> None:
    core.turn.grace.close()


def _bound(core: "Core", _: object) -> None:
    core.turn.flush_grace.start(core.loop, core.limits.abort_grace_s)


def _wake(core: "Core", _: object) -> None:
    core.start_driver()


def _yield(core: "Core", _: object) -> None:
    core.turn.owes_yield = True


OBEY: dict[Command, Callable[["Core", Any], None]] = {
    Command.REFUSE: _refuse,
    Command.QUEUE: _queue,
    Command.STEER: _steer,
    Command.DRAIN: _drain,
    Command.TAKE: _take,
    Command.MERGE: _merge,
    Command.REQUEUE: _requeue,
    Command.DISCARD: _discard,
    Command.DISCARD_BATCH: _discard_batch,
    Command.JOIN: _join,
    Command.ONE_SHOT: _one_shot,
    Command.RECORD: _record,
    Command.DROP_ATTACHED: _drop_attached,
    Command.CLOSE_CALLS: _close_calls,
    Command.ANNOUNCE: _announce,
    Command.REPORT: _report,
    Command.LOG: _log,
    Command.RELEASE: _release,
    Command.BEGIN: _begin,
    Command.ABORT: _abort,
    Command.RETIRE: _retire,
    Command.BOUND: _bound,
    Command.WAKE: _wake,
    Command.YIELD: _yield,
}
"""Every command and what obeys it; the second argument is what the caller or the visit said."""
