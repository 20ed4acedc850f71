"""One call of a tool, from the record of the call to the record of its result.

A call never fails the turn: an unknown tool, arguments that do not fit, an interceptor that denies
or raises, a body that raises each become the call's own `is_error` result. What the log then says
about a call that has no result, because the turn was stopped first, is said where the step closes:
`not-started`, or `unknown` once its body had been entered.
"""

from collections.abc import Coroutine
from functools import partial
from inspect import isawaitable
from typing import Any, TypeAlias

from attrs import evolve

from statemachine import Input

from .abort import CutError, own_cancellation_as_failure, run_cooperative
from .asking import ask, beside, go_on, is_stopped
from .containment import attempt, attempt_awaited
from .core import Core
from .recording import record_result
from .seams import (
    TOOL_AFTER,
    TOOL_BEFORE,
    TOOL_PERMISSION,
    Accept,
    Ask,
    Attachment,
    Deny,
    PermissionRequest,
    Permit,
    Reject,
    ToolJudgement,
    ToolOutcome,
    ToolVerdict,
)
from .session.records import check_fits
from .tools import (
    Tool,
    ToolErrorInfo,
    ToolResult,
    ToolUse,
    failed_result,
    invalid_arguments_result,
    parse_arguments,
    unknown_tool_result,
    violations,
)
from .turn import Context

__all__ = ["tool_body", "tool_call"]

Outcome: TypeAlias = Input | Coroutine[Any, Any, Input]


def tool_call(core: Core) -> Outcome:
    """Record the next call, and decide whether its body may be entered.

    Clauses: B-24 B-63 B-64 K-03 K-05
    """
    if is_stopped(core):
        return Input.CUT
    use = _take_up(core)
    if is_stopped(core):
        return Input.CUT
    refusal = _refusal(core, use)
    if refusal is None and core.bus.listens(TOOL_BEFORE):
        return _decide(core, use)
    if refusal is None:
        return Input.ALLOWED
    return _answer(core, use, refusal)


def _take_up(core: Core) -> ToolUse:
    turn = core.turn
    call = turn.calls.pop(0)
    core.log.append(
        "tool/call",
        {
            "turn": turn.number,
            "step": turn.step,
            "call_id": call.call_id,
            "name": call.name,
            "arguments": call.arguments,
        },
    )
    turn.use = use = ToolUse(
        agent=core.face,
        session=core.log.session,
        turn=turn.number,
        step=turn.step,
        call_id=call.call_id,
        name=call.name,
        arguments=parse_arguments(call.arguments),
        raw_arguments=call.arguments,
        signal=turn.authority.signal,
    )
    core.outbox.deliver()
    return use


def _refusal(core: Core, use: ToolUse) -> ToolResult | None:
    """Return what is wrong with a call before anybody is asked, or None."""
    tool = core.around.tools.get(use.name)
    if tool is None:
        return unknown_tool_result(use.name)
    found = violations(tool, use.arguments)
    return invalid_arguments_result(use.name, found) if found else None


async def _decide(core: Core, use: ToolUse) -> Input:
    verdicts: list[ToolVerdict | ToolResult] = []

    async def decide() -> None:
        verdict = await ask(core, TOOL_BEFORE, use, lambda _: Permit(), Permit, Deny, Ask)
        verdicts.append(await _put_to(core, use, verdict) if isinstance(verdict, Ask) else verdict)

    error = await _own_failure(decide())
    if is_stopped(core):
        return Input.CUT
    if error is not None:
        return await _judge(core, use, failed_result(error))
    verdict = verdicts[0]
    if isinstance(verdict, Permit):
        return Input.ALLOWED
    assert isinstance(verdict, Deny)
    return await _judge(core, use, _refused(verdict.feedback, "Denied", "denied"))


async def _put_to(core: Core, use: ToolUse, question: Ask) -> ToolVerdict:
    """Put a question to whoever can answer it; nobody is a no."""
    answers: list[bool | None] = []

    async def collect() -> None:
        request = PermissionRequest(use=use, question=question.question)
        check = partial(go_on, core.turn)
        answer: bool | None = await core.bus.serial(TOOL_PERMISSION, request, check)
        answers.append(answer)

    await beside(core, collect, f"the interceptors of {TOOL_PERMISSION.name}")
    if answers[0] is True:
        return Permit()
    why = "nobody here can permit it" if answers[0] is None else "permission was refused"
    return Deny(f"{question.question} {why}")


def tool_body(core: Core) -> Outcome:
    """Run the tool and record its result, as the interceptors leave it.

    Clauses: B-25 B-63 B-65 B-66 B-108 K-03 K-07 K-13
    """
    use = core.turn.use
    assert use is not None
    tool = core.around.tools.get(use.name)
    if is_stopped(core):
        return Input.CUT
    if tool is None:
        # Its plugin was unloaded while somebody was asked about the call.
        return _answer(core, use, unknown_tool_result(use.name))
    return _run(core, tool, use)


async def _run(core: Core, tool: Tool, use: ToolUse) -> Input:
    results: list[ToolResult] = []

    async def enter() -> None:
        core.turn.entered.add(use.call_id)
        await own_cancellation_as_failure(run())

    async def run() -> None:
        value = tool.execute(use.arguments, use)
        results.append(ToolResult.of(await value if isawaitable(value) else value, core.limits))

    if tool.cooperative:
        error = await _own_failure(run_cooperative(enter(), core.turn.authority))
    else:
        error = await _own_failure(beside(core, enter, f"the tool {use.name}"))
    return await _judge(core, use, results[0] if error is None else failed_result(error))


async def _own_failure(body: Coroutine[Any, Any, object]) -> Exception | None:
    """Return what a body raised; that it was given up is not its failure."""
    error = await attempt_awaited(body)
    if isinstance(error, CutError):
        raise error
    return error


# -- The result ------------------------------------------------------------------------------------


def _answer(core: Core, use: ToolUse, result: ToolResult) -> Outcome:
    if core.bus.listens(TOOL_AFTER):
        return _judge(core, use, result)
    return _record(core, use, result)


async def _judge(core: Core, use: ToolUse, result: ToolResult) -> Input:
    """Record a result as the interceptors leave it; what one of them raises is the result.

    A result that they cannot judge in time is not recorded: nobody has said that it may be.
    """
    if not core.bus.listens(TOOL_AFTER):
        return _record(core, use, result)
    judgements: list[ToolJudgement] = []

    async def judge() -> None:
        outcome = ToolOutcome(use=use, result=result)
        judgements.append(await ask(core, TOOL_AFTER, outcome, lambda _: Accept(), Accept, Reject))

    error = await _own_failure(judge())
    if error is not None:
        return _record(core, use, failed_result(error))
    judgement = judgements[0]
    error = attempt(_check_fits, core, judgement.context)
    if error is not None:
        return _record(core, use, failed_result(error))
    if isinstance(judgement, Reject):
        result = _refused(judgement.feedback, "Rejected", "rejected")
    elif judgement.content is not None:
        result = evolve(result, content=judgement.content)
    return _record(core, use, result, judgement.context)


def _check_fits(core: Core, context: tuple[Attachment, ...]) -> None:
    # It is recorded when the step closes, where nothing may be refused any more.
    for each in context:
        check_fits("attached context", core.limits, each.content, each.source)


def _record(
    core: Core, use: ToolUse, result: ToolResult, context: tuple[Attachment, ...] = ()
) -> Input:
    turn = core.turn
    error = attempt(record_result, core, use.call_id, result)
    if error is not None:
        record_result(core, use.call_id, failed_result(error))
    turn.deferred += [Context(each.content, each.source, is_attached=True) for each in context]
    core.outbox.deliver()
    return Input.ANSWERED if turn.calls else Input.DONE


def _refused(text: str, name: str, code: str) -> ToolResult:
    """Return the result of a call that did not come to a result of its own."""
    error = ToolErrorInfo(name=name, code=code)
    return ToolResult(content=f"Error: {text}", is_error=True, error=error)
