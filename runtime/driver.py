"""The driver: the async code that runs turns.

A cycle looks up the visit of the window it is in, lets it do its work, posts the outcome and
delivers what that caused. The visits stand in time order, so this file reads as the story of a
turn. A visit is given the agent's cell and returns an outcome, or a coroutine that does when
somebody has to be waited for; windows in which nobody waits are passed without a coroutine. Only
the cycle knows what comes next, and it knows it from the machine.

Cancellation and failure are met once, in the cycle, and never in a visit.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from statemachine import REST_WINDOWS, WINDOWS, Input, Patience, Window

from .abort import (
    Cancellations,
    CutError,
    Grace,
    StrangersCancellationError,
    reraise,
    run_beside,
    run_cooperative,
)
from .containment import attempt, render_error
from .core import Core
from .errors import ModelError
from .model import Finish, FinishKind, ModelRequest, assemble, chunk_to_json, is_cooperative
from .obey import place_discarded, record_deferred, record_message, record_result
from .ports import yield_once

__all__ = ["VISITS", "drive"]

Outcome = Input | Coroutine[Any, Any, Input]


async def drive(core: Core) -> None:
    """Run turns until nothing is queued (the agent parks) or the agent is disposed (it exits).

    A cancellation of this task by anyone but the agent is a dispose by its owner: the turn closes,
    the flush is bounded, the teardown starts, and the cancellation goes on at the end.

    Clauses: A-77 B-93 B-95 F-40
    """
    cancellations = core.cancellations = Cancellations(on_stranger=core.dispose)
    task = asyncio.current_task()
    # Whatever runs on this task must not wait for the agent.
    core.own_tasks.add(task)
    try:
        await _run_turns(core, cancellations)
    finally:
        core.own_tasks.discard(task)
    if cancellations.answered:
        reraise()


async def _run_turns(core: Core, cancellations: Cancellations) -> None:
    """Visit, post, deliver; the step boundary of every failure."""
    while True:
        try:
            outcome = VISITS[core.shape.window](core)
            if not isinstance(outcome, Input):
                core.waits_since_ms = core.around.clock.now_ms()
                outcome = await cancellations.settle(outcome)
        except CutError:
            outcome = Input.CUT
        except StrangersCancellationError:
            # The visit was unwound. With the dispose in effect, visiting again only closes up.
            core.dispose()
            continue
        except Exception as error:  # the step boundary
            core.turn.failure = error
            outcome = Input.FAILED
        decision = core.post(outcome)
        core.outbox.deliver()
        # Not the shape of now: whoever was told of the rest may have started another driver.
        if decision.shape.window in REST_WINDOWS:
            return


# -- Before the turn -------------------------------------------------------------------------------


def _pass(_: Core) -> Outcome:
    """Leave a window in which only notices were delivered, or in which no plugin listens."""
    return Input.DONE


def announce_running(core: Core) -> Outcome:
    """Go on once `running` has been delivered, or after the one pass that was ordered."""
    if core.turn.owes_yield:
        return _yield_once(core)
    return Input.DONE


async def _yield_once(core: Core) -> Input:
    await yield_once()
    core.turn.owes_yield = False
    return Input.YIELDED


def turn_start(core: Core) -> Outcome:
    """Go on with the open turn, or say that it could not be opened."""
    return Input.UNOPENED if core.turn.is_unopened else Input.DONE


def prompts(core: Core) -> Outcome:
    """Record each prompt of the batch.

    Clauses: B-08 B-11 B-53
    """
    turn, has_failed = core.turn, False
    while turn.unread:
        message = turn.unread.pop(0)
        error = attempt(record_message, core, "user/message", message)
        if error is not None:
            turn.failure, has_failed = error, True
            place_discarded(core, message, "error", render_error(error))
            if turn.unread and not _is_stopped(core):
                return Input.BROKE_OFF
        core.outbox.deliver()
    return Input.FAILED if has_failed else Input.DONE


# -- One step --------------------------------------------------------------------------------------


def request(core: Core) -> Outcome:
    """Find the model and put the question together.

    Raises:
        ModelError: the agent has no model.

    Clauses: A-44 A-45
    """
    turn = core.turn
    turn.model = core.find_model()
    turn.request = ModelRequest(
        agent_id=core.id,
        session_id=core.log.session.id,
        turn=turn.number,
        step=turn.step,
        system=core.options.system_prompt or "",
        messages=core.log.history,
    )
    return Input.DONE


def stream(core: Core) -> Outcome:
    """Let the model answer, and record each chunk as it comes.

    Clauses: B-17 B-18 B-19 B-59
    """
    turn = core.turn
    turn.chunks, turn.chunk_seqs, turn.reply = [], [], None
    return _stream(core)


async def _stream(core: Core) -> Input:
    turn = core.turn
    body = _consume(core)
    if is_cooperative(turn.model):
        await run_cooperative(body, turn.authority)
    else:
        await _beside(core, body, "the model's stream")
    # A stop that the stream did not notice is noticed by the machine: the reply is not recorded.
    turn.reply = reply = assemble(turn.chunks)
    finish = reply.finish
    if finish.kind is FinishKind.ERROR:
        raise ModelError(finish.message or "the model failed without a word", code=finish.code)
    if finish.kind is FinishKind.ABORTED and not _is_stopped(core):
        text = finish.message or "the model aborted although nobody had cancelled the turn"
        raise ModelError(text, code=finish.code or "aborted")
    return Input.TRUNCATED if finish.kind is FinishKind.MAX_TOKENS else Input.DONE


async def _consume(core: Core) -> None:
    turn = core.turn
    if _is_stopped(core):
        # A child task may have been stopped before its first step; then nobody is asked (B-134).
        return
    answer = turn.model.stream(turn.request, turn.authority.signal)
    try:
        async for chunk in answer:
            # Read before every append: what a stopped stream still says is nobody's (B-18).
            if _is_stopped(core):
                return
            turn.chunks.append(chunk)
            if isinstance(chunk, Finish):
                return
            data = {"turn": turn.number, "step": turn.step, "chunk": chunk_to_json(chunk)}
            turn.chunk_seqs.append(core.log.append("assistant/chunk", data).seq)
            core.outbox.deliver()
    finally:
        # An iterator need not be a generator; one that is has clean-up to do.
        close = getattr(answer, "aclose", None)
        if close is not None:
            await close()


def _is_stopped(core: Core) -> bool:
    return core.turn.authority.signal.is_aborted


def result(core: Core) -> Outcome:
    """Record the finished reply, stop or no stop.

    Clauses: B-22 B-23 B-59 B-60 B-73
    """
    turn = core.turn
    reply = turn.reply
    if not reply.is_empty:
        data = {"turn": turn.number, "step": turn.step, "content": reply.content}
        if reply.usage is not None:
            data["usage"] = reply.usage
        core.log.append(
            "assistant/message", data, placement="append", sources=turn.chunk_seqs or None
        )
        turn.text.append(reply.text)
        core.outbox.deliver()
    turn.calls = list(reply.calls)
    return Input.CALLED if turn.calls else Input.DONE


def checkpoint(core: Core) -> Outcome:
    """Flush before the first tool body of a step, so that no side effect outruns the log.

    Clauses: B-138
    """
    return _flush(core, core.turn.grace) if core.owes_flush() else Input.DONE


def tool_call(core: Core) -> Outcome:
    """Record the next call and answer it: no tool is known here, so each is unknown.

    Clauses: K-03 K-04 B-63
    """
    turn = core.turn
    call = turn.calls.pop(0)
    data = {
        "turn": turn.number,
        "step": turn.step,
        "call_id": call.call_id,
        "name": call.name,
        "arguments": call.arguments,
    }
    core.log.append("tool/call", data)
    core.outbox.deliver()
    if _is_stopped(core):
        return Input.CUT
    error = {"name": "UnknownTool", "code": "unknown-tool"}
    record_result(core, call.call_id, f"Error: no tool is named {call.name!r}.", error)
    core.outbox.deliver()
    if turn.calls:
        return Input.ANSWERED
    record_deferred(core)
    core.outbox.deliver()
    return Input.DONE


def continuation(core: Core) -> Outcome:
    """Ask whether there is another step; after the last one that is allowed, nobody.

    Clauses: B-68 B-129
    """
    exhausted = core.turn.step >= core.limits.steps_per_turn_max
    return Input.EXHAUSTED if exhausted else Input.DONE


# -- After the turn --------------------------------------------------------------------------------


def flush(core: Core) -> Outcome:
    """Wait until the closed turn is durable, or has failed to become so.

    Clauses: B-85 B-86 B-121 B-122
    """
    core.turns_in_task += 1
    if core.owes_flush():
        return _flush_and_settle(core)
    if core.turns_in_task > 1:
        return _let_others_run(core)
    _settle(core)
    return Input.DONE


async def _flush_and_settle(core: Core) -> Input:
    try:
        return await _flush(core, core.turn.flush_grace)
    except CutError:
        # Given up and left behind: what follows a turn is decided as if its flush had ended.
        return Input.DONE
    finally:
        _settle(core)


def _settle(core: Core) -> None:
    # Not where the fate is told: a cancel tells it while the flush still needs its bound.
    core.turn.close()
    core.turn.settle()


async def _let_others_run(core: Core) -> Input:
    # A model that answers at once and a listener that always sends again would otherwise keep the
    # loop to themselves for ever.
    try:
        await yield_once()
        return Input.DONE
    finally:
        _settle(core)


async def _flush(core: Core, grace: Grace) -> Input:
    await _beside(core, core.flush(), "the session's flush", grace=grace)
    return Input.DONE


async def _beside(
    core: Core, body: Coroutine[Any, Any, object], what: str, grace: Grace | None = None
) -> None:
    """Run a body that may ignore its cancellation, and leave it behind when its grace is over."""
    patience = WINDOWS[core.shape.window].patience or Patience.GRACE
    child = core.child(body)
    try:
        await run_beside(child, grace or core.turn.grace, patience, core.cancellations)
    finally:
        if not child.done():
            core.leave_behind(child, what)


VISITS: dict[Window, Callable[[Core], Outcome]] = {
    Window.WOKEN: _pass,
    Window.ANNOUNCE_RUNNING: announce_running,
    Window.TURN_START: turn_start,
    Window.PROMPTS: prompts,
    Window.ASSEMBLY: _pass,
    Window.PRE_STEP: _pass,
    Window.STEP_START: _pass,
    Window.REQUEST: request,
    Window.STREAM: stream,
    Window.RESULT: result,
    Window.CHECKPOINT: checkpoint,
    Window.TOOL_CALL: tool_call,
    Window.STEP_END: _pass,
    Window.CONTINUATION: continuation,
    Window.CLOSING: _pass,
    Window.TURN_END: _pass,
    Window.FLUSH: flush,
    Window.ANNOUNCE_IDLE: _pass,
}
"""The visit of every window that the driver can be in."""
