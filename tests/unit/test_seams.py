"""The seams of a step: what interceptors may do, and what comes of what they do wrong."""

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from runtime import (
    AgentOptions,
    Finish,
    FinishKind,
    InvalidRecordError,
    TextDelta,
    exchange,
    seams,
)
from runtime.context.interceptors import Kind
from runtime.seams import (
    MODEL_REQUEST,
    PROMPT_SUBMIT,
    STEP_PREPARE,
    STEP_RESULT,
    SYSTEM_ASSEMBLE,
    TOOL_AFTER,
    TOOL_BEFORE,
    TURN_CONTINUE,
)
from tests.unit.windows.scene import CALL, CUT, Scene

STEP = "SS CH CH AM SE"


def failing(_argument: object) -> object:
    """Raise as a plugin might."""
    raise ValueError("the plugin is out of order")


# -- One step --------------------------------------------------------------------------------------


@pytest.mark.clause("A-45", "B-58")
def test_the_system_prompt_is_assembled_once_a_step() -> None:
    """From what is further in: the agent's own."""
    with Scene(options=AgentOptions(system_prompt="be brief")) as scene:

        async def shout(_: seams.Moment, proceed: Any) -> str:  # noqa: ANN401  # a seam's
            text: str = await proceed()
            return text.upper()

        scene.rt.context.on(SYSTEM_ASSEMBLE, shout)
        scene.replies.append(CALL)
        scene.ask("A")
        scene.settle()
        assert [each.system for each in scene.requests] == ["BE BRIEF", "BE BRIEF"]


@pytest.mark.clause("B-57", "B-58")
def test_what_is_recorded_before_a_step_lies_before_it() -> None:
    """Injected context and a plugin's own record; the request shows the first."""
    with Scene() as scene:

        def answer(it: seams.Moment) -> None:
            it.agent.inject("seen")
            record = it.record("acme/note", {"n": 1})
            assert record.data == {"n": 1}

        scene.intercept(STEP_PREPARE, answer)
        scene.ask("A")
        scene.quiet()
        types = [each.type for each in scene.records()]
        assert types == [
            "turn/start", "user/message", "context/message", "acme/note", "step/start",
        ]  # fmt: skip
        assert "seen" in scene.requests[0].messages[-1].text


@pytest.mark.clause("B-57", "B-143", "D-18")
def test_a_plugin_writes_no_record_of_ours_and_none_when_its_turn_is_over() -> None:
    """The capability ends with the turn."""
    with Scene() as scene:
        kept: list[seams.Moment] = []
        scene.intercept(STEP_PREPARE, kept.append)
        scene.ask("A")
        scene.quiet()
        with pytest.raises(InvalidRecordError, match="by the runtime alone"):
            kept[0].record("turn/end", {"turn": 1, "ending": "completed"})
        scene.settle()
        with pytest.raises(InvalidRecordError, match="turn 1 is over"):
            kept[0].record("acme/note", {})
        scene.ask("B")
        scene.quiet()
        with pytest.raises(InvalidRecordError, match="turn 1 is over"):
            kept[0].record("acme/note", {})


@pytest.mark.clause("B-58")
def test_a_request_may_be_changed() -> None:
    """The model sees what the interceptors made of it."""
    with Scene() as scene:
        scene.intercept(MODEL_REQUEST, lambda it: evolve(it.request, system="changed"))
        scene.ask("A")
        scene.settle()
        assert scene.requests[0].system == "changed"


@pytest.mark.clause("B-61", "B-62")
def test_a_rewritten_reply_is_what_is_recorded_derived_and_answered() -> None:
    """Log, history and text of the exchange agree."""
    with Scene() as scene:
        fates: list[Any] = []

        async def ask() -> None:
            fates.append(await exchange(scene.a, "A"))

        block = {"type": "text", "text": "rewritten"}
        scene.intercept(STEP_RESULT, lambda it: evolve(it.reply, content=[block]))
        scene.stage.spawn(ask(), "exchange")
        scene.settle()
        assert fates[0].text == "rewritten"
        assert scene.a.session.messages()[-1].text == "rewritten"


@pytest.mark.clause("B-62", "B-63")
def test_calls_that_an_interceptor_adds_are_made_and_those_it_takes_away_are_not() -> None:
    """What is dispatched is read from what is recorded."""
    with Scene() as scene:
        scene.tool()
        added = {"type": "tool-call", "call_id": "k9", "name": "tool", "arguments": ""}
        answers = [[added], []]
        scene.intercept(STEP_RESULT, lambda it: evolve(it.reply, content=answers.pop(0)))
        scene.replies = [(TextDelta("1"),), CALL]
        scene.ask("A")
        scene.settle()
        asked = "step/result?"
        scene.expect(
            f"running TS UM(A) SS CH {asked} AM FLUSH TC body TR(done) SE "
            f"SS CH {asked} SE TE{{completed}} FLUSH idle W"
        )


@pytest.mark.clause("B-61")
def test_a_reply_from_no_chunk_has_no_sources() -> None:
    """Only an interceptor can make one."""
    with Scene() as scene:
        scene.replies = [()]
        block = {"type": "text", "text": "made up"}
        scene.intercept(STEP_RESULT, lambda it: evolve(it.reply, content=[block]))
        scene.ask("A")
        scene.settle()
        record = next(each for each in scene.records() if each.type == "assistant/message")
        assert record.sources is None


@pytest.mark.clause("B-73")
@pytest.mark.parametrize("rest", [{}, {"finish": Finish(FinishKind.STOP)}], ids=["as-is", "whole"])
def test_a_reply_that_was_cut_off_keeps_no_call_that_an_interceptor_adds(
    rest: dict[str, Any],
) -> None:
    """Incomplete calls are taken out before the interceptors, and again behind them."""
    with Scene() as scene:
        scene.tool()
        added = {"type": "tool-call", "call_id": "k9", "name": "tool", "arguments": ""}
        scene.intercept(
            STEP_RESULT, lambda it: evolve(it.reply, content=[*it.reply.content, added], **rest)
        )
        scene.replies = [CUT]
        scene.ask("A")
        scene.settle()
        scene.expect("running TS UM(A) SS CH CH step/result? AM SE TE{max-tokens} FLUSH idle W")


@pytest.mark.clause("B-75", "B-72", "B-127", "B-140", "B-144")
@pytest.mark.parametrize(
    ("seam", "trace"),
    [
        (SYSTEM_ASSEMBLE, "system/assemble? ERR(0) TE{error}"),
        (MODEL_REQUEST, "SS model/request? SE ERR(1) TE{error}"),
        (STEP_RESULT, "SS CH CH step/result? AM SE ERR(1) TE{error}"),
        (TURN_CONTINUE, "SS CH CH AM SE turn/continue? ERR(1) TE{error}"),
    ],
    ids=lambda each: getattr(each, "name", ""),
)
@pytest.mark.parametrize("answer", [failing, lambda _: 5], ids=["raises", "answers nonsense"])
def test_an_interceptor_that_fails_ends_the_turn_and_the_next_prompt_runs(
    seam: Kind,
    trace: str,
    answer: Callable[[object], object],
) -> None:
    """The step it stood in is balanced, and the failure told once, behind it."""
    with Scene() as scene:
        first = [True]

        async def only_once(argument: object, proceed: Any = None) -> object:  # noqa: ANN401  # a seam's
            scene.note(f"{seam.name}?")
            if first:
                first.clear()
                return answer(argument)
            return None if proceed is None else await proceed()

        scene.rt.context.on(seam, only_once)
        scene.ask("A")
        scene.settle()
        scene.expect(f"running TS UM(A) {trace} FLUSH idle W")
        scene.ask("B")
        scene.settle()
        assert "TE{completed}" in scene.trace()


@pytest.mark.clause("B-144", "B-127")
@pytest.mark.parametrize(
    ("seam", "field"),
    [
        (PROMPT_SUBMIT, "error"),
        (SYSTEM_ASSEMBLE, "error"),
        (MODEL_REQUEST, "error"),
        (STEP_RESULT, "error"),
        (TOOL_BEFORE, "content"),
        (TOOL_AFTER, "content"),
        (TURN_CONTINUE, "error"),
    ],
    ids=lambda each: getattr(each, "name", ""),
)
def test_an_answer_of_the_wrong_kind_is_told_as_the_failure_of_its_seam(
    seam: Kind, field: str
) -> None:
    """As the end of the turn, or, around a tool, as the result of the call."""
    with Scene() as scene:
        scene.tool()
        scene.replies = [CALL]
        scene.intercept(seam, lambda _: 5)
        scene.ask("A")
        scene.settle()
        told = f"an interceptor of {seam.name} answered with a int"
        kind = "turn/end" if field == "error" else "tool/result"
        (record,) = (each for each in scene.records() if each.type == kind)
        assert told in str(record.data[field])


@pytest.mark.clause("B-127")
def test_a_preparation_that_fails_ends_the_turn_and_opens_no_step() -> None:
    """Those behind it are not asked; the next prompt runs."""
    with Scene() as scene:
        scene.intercept(STEP_PREPARE, failing)
        scene.intercept(STEP_PREPARE)
        scene.ask("A")
        scene.settle()
        scene.expect("running TS UM(A) step/prepare? ERR(0) TE{error} FLUSH idle W")
