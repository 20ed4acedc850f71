"""The story of a turn: what the driver does in each window, in time order.

A visit is given the agent's cell, does its work and returns how it came out, or a coroutine that
does when somebody has to be waited for; where nobody listens there is no coroutine. It knows
neither what comes next nor what a failure or a cancellation leads to: the machine does, and the
driver's cycle asks it. What has to be said of a stop is only this: nobody is asked any more.
"""

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final

from statemachine import Input, Window

from .abort import CutError, Grace
from .asking import ask, ask_or, beside, go_on, is_stopped, moment, where
from .calling import tool_body, tool_call
from .containment import attempt, render_error
from .core import Core
from .model import FinishKind, ModelRequest, Reply
from .obey import place_discarded
from .ports import yield_once
from .recording import record_attachments, record_prompt
from .seams import (
    MODEL_REQUEST,
    PROMPT_SUBMIT,
    STEP_PREPARE,
    STEP_RESULT,
    SYSTEM_ASSEMBLE,
    TURN_CONTINUE,
    Allow,
    AsUsual,
    Block,
    Continue,
    PromptSubmission,
    PromptVerdict,
    RequestPreparation,
    StepResult,
    Stop,
    Vote,
)
from .streaming import answer
from .turn import AcceptedMessage

__all__ = ["VISITS", "Outcome"]

Outcome = Input | Coroutine[Any, Any, Input]


# -- Before the turn -------------------------------------------------------------------------------


def _pass(_: Core) -> Outcome:
    """Leave a window in which only notices were delivered."""
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
    """Record each prompt of the batch, as the interceptors let it in.

    Clauses: B-08 B-11 B-53 B-87 B-88 B-89 B-90 B-91
    """
    if core.bus.listens(PROMPT_SUBMIT):
        return _submit_prompts(core)
    has_failed = False
    while core.turn.unread:
        has_failed |= not _let_in(core, core.turn.unread.pop(0), _ALLOW)
        if has_failed and _leaves_some_behind(core):
            return Input.BROKE_OFF
    return Input.FAILED if has_failed else Input.DONE


async def _submit_prompts(core: Core) -> Input:
    turn, has_failed, are_all_blocked = core.turn, False, True
    while turn.unread:
        message = turn.unread.pop(0)
        verdict, error = await _submit(core, message)
        has_failed |= not _let_in(core, message, verdict)
        if error is not None:
            turn.failure, has_failed = error, True
        are_all_blocked &= isinstance(verdict, Block)
        if has_failed and _leaves_some_behind(core):
            return Input.BROKE_OFF
    if has_failed:
        return Input.FAILED
    return Input.BLOCKED if are_all_blocked else Input.DONE


_ALLOW: Final = Allow()


async def _submit(core: Core, message: AcceptedMessage) -> tuple[PromptVerdict, Exception | None]:
    """Ask about one prompt; a stopped turn lets it in unasked."""
    if is_stopped(core):
        return _ALLOW, None
    submission = PromptSubmission(
        message_id=message.message_id,
        content=message.content,
        source=message.source,
        **where(core),
    )
    return await ask_or(core, PROMPT_SUBMIT, submission, _ALLOW, Allow, Block)


def _let_in(core: Core, message: AcceptedMessage, verdict: PromptVerdict) -> bool:
    """Record a prompt by its verdict, or as it came if what was made of it cannot be recorded."""
    error = attempt(record_prompt, core, message, verdict)
    if error is None and isinstance(verdict, Allow):
        error = attempt(record_attachments, core, verdict.context)
    elif error is not None and (
        verdict is _ALLOW or attempt(record_prompt, core, message, _ALLOW) is not None
    ):
        place_discarded(core, message, "error", render_error(error))
    if error is not None:
        core.turn.failure = error
    core.outbox.deliver()
    return error is None


def _leaves_some_behind(core: Core) -> bool:
    return bool(core.turn.unread) and not is_stopped(core)


# -- One step --------------------------------------------------------------------------------------


def assembly(core: Core) -> Outcome:
    """Put the system prompt together: once a step.

    Clauses: A-45 B-13 B-56 B-58
    """
    if core.bus.listens(SYSTEM_ASSEMBLE):
        return _assemble(core)
    core.turn.system = core.system_prompt()
    return Input.DONE


async def _assemble(core: Core) -> Input:
    core.turn.system = await ask(
        core, SYSTEM_ASSEMBLE, moment(core), lambda _: core.system_prompt(), str
    )
    return Input.DONE


def pre_step(core: Core) -> Outcome:
    """Let the interceptors prepare the step; what they record lies before it.

    Clauses: B-14 B-57
    """
    return _prepare(core) if core.bus.listens(STEP_PREPARE) else Input.DONE


async def _prepare(core: Core) -> Input:
    asked = partial(core.bus.serial, STEP_PREPARE, moment(core), partial(go_on, core.turn))
    await beside(core, asked, f"the interceptors of {STEP_PREPARE.name}")
    return Input.DONE


def request(core: Core) -> Outcome:
    """Find the model and put the question together.

    Raises:
        ModelError: the agent has no model.

    Clauses: A-44 A-45 B-16 B-58 K-02
    """
    turn = core.turn
    turn.model = core.find_model()
    turn.request = ModelRequest(
        agent_id=core.id,
        session_id=core.log.session.id,
        turn=turn.number,
        step=turn.step,
        system=turn.system,
        messages=core.log.history,
        tools=core.around.tools.schemas(),
    )
    return _change_request(core) if core.bus.listens(MODEL_REQUEST) else Input.DONE


async def _change_request(core: Core) -> Input:
    asked = core.turn.request
    assert asked is not None
    preparation = RequestPreparation(request=asked, **where(core))
    core.turn.request = await ask(core, MODEL_REQUEST, preparation, lambda _: asked, ModelRequest)
    return Input.DONE


def stream(core: Core) -> Outcome:
    """Let the model answer, and record each chunk as it comes.

    Clauses: B-17 B-18 B-19 B-59
    """
    turn = core.turn
    turn.chunks, turn.chunk_seqs, turn.reply = [], [], None
    return answer(core)


def result(core: Core) -> Outcome:
    """Record the finished reply as the interceptors leave it, stop or no stop.

    Clauses: B-22 B-23 B-59 B-60 B-61 B-62 B-73 B-137
    """
    if core.bus.listens(STEP_RESULT) and not is_stopped(core):
        return _judge_reply(core)
    return _record_reply(core, _reply(core))


async def _judge_reply(core: Core) -> Input:
    received = _reply(core)
    judged, failure = await ask_or(
        core, STEP_RESULT, StepResult(reply=received, **where(core)), received, Reply
    )
    if received.finish.kind is FinishKind.MAX_TOKENS:
        judged = judged.without_calls()
    outcome = _record_reply(core, judged)
    if failure is not None:
        raise failure
    return outcome


def _reply(core: Core) -> Reply:
    assert core.turn.reply is not None
    return core.turn.reply


def _record_reply(core: Core, reply: Reply) -> Input:
    turn = core.turn
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


def continuation(core: Core) -> Outcome:
    """Ask whether there is another step; after the last one that is allowed, nobody.

    Clauses: B-27 B-68 B-71 B-129
    """
    if core.turn.step >= core.limits.steps_per_turn_max:
        return Input.EXHAUSTED
    return _vote(core) if core.bus.listens(TURN_CONTINUE) else Input.DONE


async def _vote(core: Core) -> Input:
    vote: Vote = await ask(
        core, TURN_CONTINUE, moment(core), lambda _: AsUsual(), AsUsual, Continue, Stop
    )
    if isinstance(vote, Continue):
        core.turn.reason_to_go_on = vote.reason
        return Input.CONTINUE
    return Input.STOP if isinstance(vote, Stop) else Input.DONE


# -- After the turn --------------------------------------------------------------------------------


def flush(core: Core) -> Outcome:
    """Wait until the closed turn is durable, or has failed to become so.

    Clauses: B-85 B-86 B-121 B-122 B-150
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
    await beside(core, core.flush, "the session's flush", grace=grace)
    return Input.DONE


VISITS: dict[Window, Callable[[Core], Outcome]] = {
    Window.WOKEN: _pass,
    Window.ANNOUNCE_RUNNING: announce_running,
    Window.TURN_START: turn_start,
    Window.PROMPTS: prompts,
    Window.ASSEMBLY: assembly,
    Window.PRE_STEP: pre_step,
    Window.STEP_START: _pass,
    Window.REQUEST: request,
    Window.STREAM: stream,
    Window.RESULT: result,
    Window.CHECKPOINT: checkpoint,
    Window.TOOL_CALL: tool_call,
    Window.TOOL_BODY: tool_body,
    Window.STEP_END: _pass,
    Window.CONTINUATION: continuation,
    Window.CLOSING: _pass,
    Window.TURN_END: _pass,
    Window.FLUSH: flush,
    Window.ANNOUNCE_IDLE: _pass,
}
"""The visit of every window that the driver can be in."""
