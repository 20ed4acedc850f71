"""Calls of tools inside a turn: what becomes of each, and what its result says."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from runtime import (
    Limits,
    Plugin,
    Record,
    Tool,
    ToolCallDelta,
    ToolErrorInfo,
    ToolResult,
    ToolUse,
)
from runtime.seams import (
    TOOL_AFTER,
    TOOL_BEFORE,
    TOOL_PERMISSION,
    Accept,
    Ask,
    Deny,
    Permit,
    Reject,
)
from tests.unit.windows.scene import CALL, Scene, call

REST = "SE SS CH CH AM SE TE{completed} FLUSH idle W"
BEGIN = "running TS UM(A) SS CH AM FLUSH TC"
BEFORE, AFTER = "tool/before?", "tool/after?"


def results(scene: Scene) -> list[Record]:
    """Return the records of results."""
    return [each for each in scene.records() if each.type == "tool/result"]


def text_of(record: Record) -> str:
    """Return the text of a result."""
    return "".join(block["text"] for block in record.data["content"])


def failing(*_: object) -> object:
    """Raise as a plugin might."""
    raise ValueError("out of order")


# -- The body --------------------------------------------------------------------------------------


@pytest.mark.clause("B-63", "B-64")
@pytest.mark.parametrize(
    ("raw", "parsed"), [("", {}), ('{"n": 1}', {"n": 1}), ("not JSON", "not JSON")]
)
def test_a_body_gets_what_the_model_wrote_parsed(raw: str, parsed: object) -> None:
    """The log keeps the string; what is no JSON stays a string."""
    with Scene() as scene:
        seen: list[ToolUse] = []

        def body(arguments: object, use: ToolUse) -> str:
            assert arguments == use.arguments == parsed
            seen.append(use)
            return "done"

        scene.tool(body, is_raw=True)
        scene.replies = [(ToolCallDelta("k1", "tool", raw),)]
        scene.ask("A")
        scene.settle()
        scene.expect(f"{BEGIN} body TR(done) {REST}")
        record = next(each for each in scene.records() if each.type == "tool/call")
        assert record.data["arguments"] == seen[0].raw_arguments == raw
        assert (seen[0].agent, seen[0].turn, seen[0].step, seen[0].call_id) == (
            scene.a, 1, 1, "k1",
        )  # fmt: skip


@pytest.mark.clause("B-63")
def test_calls_are_carried_out_one_after_the_other_in_their_order() -> None:
    """Each has its result before the next one is taken up."""
    with Scene() as scene:

        async def body(_: object, use: ToolUse) -> str:
            await scene.stage.gate("tool")
            return use.call_id

        scene.tool(body)
        scene.replies = [(call(1), call(2))]
        scene.ask("A")
        scene.settle()
        scene.expect(f"running TS UM(A) SS CH CH AM FLUSH TC body TR(k1) TC body TR(k2) {REST}")


@pytest.mark.clause("B-66", "K-12")
def test_a_result_says_only_what_there_is_to_say() -> None:
    """Meta where there is any, an error where there is one, and neither where not."""
    with Scene() as scene:
        given: list[object] = ["plain", ToolResult(content="m", meta={"n": 1}), None]
        scene.tool(lambda _arguments, _use: given.pop(0))
        scene.replies = [(call(1), call(2), call(3))]
        scene.ask("A")
        scene.settle()
        first, second, third = results(scene)
        assert set(first.data) == {"turn", "step", "call_id", "content", "is_error"}
        assert second.data["meta"] == {"n": 1}
        assert third.data["content"] == []


@pytest.mark.clause("K-03", "K-04")
@pytest.mark.parametrize(
    "body",
    [failing, lambda _arguments, _use: object(), lambda _arguments, _use: "x" * 5_000],
    ids=["raises", "returns an object", "returns too much"],
)
@pytest.mark.parametrize("cooperative", [True, False])
def test_a_body_that_fails_is_a_result_and_the_turn_goes_on(
    body: Callable[..., object], *, cooperative: bool
) -> None:
    """Its text begins with a prefix that says so."""
    with Scene(limits=Limits(record_bytes_max=4_000)) as scene:
        scene.tool(body, cooperative=cooperative)
        scene.replies = [CALL]
        scene.ask("A")
        scene.settle()
        (record,) = results(scene)
        assert record.data["is_error"]
        assert text_of(record).startswith("Error: ")
        assert scene.trace()[-3:] == ["FLUSH", "idle", "W"]
        assert "TE{completed}" in scene.trace()


@pytest.mark.clause("K-21")
@pytest.mark.parametrize(
    "body",
    [lambda _arguments, _use: object(), lambda _arguments, _use: "x" * 5_000],
    ids=["an object", "too much"],
)
def test_what_is_no_result_is_recorded_as_a_bad_one(body: Callable[..., object]) -> None:
    """What is too much is measured by the limits of the runtime."""
    with Scene(limits=Limits(record_bytes_max=4_000)) as scene:
        scene.tool(body)
        scene.replies = [CALL]
        scene.ask("A")
        scene.settle()
        (record,) = results(scene)
        assert record.data["error"] == {"name": "BadResult", "code": "bad-result"}


@pytest.mark.clause("K-03", "B-128")
@pytest.mark.parametrize("cooperative", [True, False])
def test_a_body_that_awaits_something_cancelled_fails_alone(*, cooperative: bool) -> None:
    """Nobody cancelled the turn."""
    with Scene() as scene:

        async def body(_: object, _use: ToolUse) -> None:
            future = asyncio.get_running_loop().create_future()
            future.cancel()
            await future

        scene.tool(body, cooperative=cooperative)
        scene.replies = [CALL]
        scene.ask("A")
        scene.settle()
        (record,) = results(scene)
        assert "although nobody cancelled it" in text_of(record)
        assert "TE{completed}" in scene.trace()


@pytest.mark.clause("K-03", "K-04", "K-09")
def test_a_call_that_does_not_fit_never_reaches_its_body() -> None:
    """No such tool, or arguments that its schema refuses."""
    with Scene() as scene:
        schema = {"type": "object", "required": ["path"]}
        tool = Tool(name="tool", description="Reads.", parameters=schema, execute=failing)
        scene.rt.tools.register(scene.rt.context, tool)
        scene.replies = [(call(1), ToolCallDelta("k2", "nobody", ""))]
        scene.ask("A")
        scene.settle()
        codes = [each.data["error"]["code"] for each in results(scene)]
        assert codes == ["invalid-arguments", "unknown-tool"]
        assert "path" in text_of(results(scene)[0])


@pytest.mark.clause("K-02")
def test_a_model_is_told_of_the_tools_there_are_now() -> None:
    """Of one that was unloaded between two steps no more."""
    with Scene() as scene:
        fiber = scene.rt.context.plugin(
            Plugin(
                name="reader",
                apply=lambda context, _: scene.rt.tools.register(
                    context,
                    Tool(name="read", description="Reads.", parameters={}, execute=failing),
                ),
            )
        )
        scene.quiet()
        scene.tool(lambda _arguments, _use: str(fiber.dispose().is_done))
        scene.replies = [CALL]
        scene.ask("A")
        scene.settle()
        told = [[each["name"] for each in request.tools] for request in scene.requests]
        assert told == [["read", "tool"], ["tool"]]


# -- Before the body -------------------------------------------------------------------------------


@pytest.mark.clause("K-05", "K-07")
def test_a_denied_call_is_answered_without_its_body_and_its_result_is_judged() -> None:
    """The model reads the feedback."""
    with Scene() as scene:
        scene.tool()
        scene.intercept(TOOL_BEFORE, lambda _: Deny("not on a Sunday"))
        scene.intercept(TOOL_AFTER)
        scene.replies = [CALL]
        scene.ask("A")
        scene.settle()
        scene.expect(f"{BEGIN} {BEFORE} {AFTER} TR(denied) {REST}")
        assert text_of(results(scene)[0]) == "Error: not on a Sunday"


@pytest.mark.clause("K-05")
@pytest.mark.parametrize(
    ("answer", "trace"),
    [
        (None, "TR(denied)"),
        (False, "tool/permission? TR(denied)"),
        (True, "tool/permission? body TR(done)"),
    ],
    ids=["nobody", "no", "yes"],
)
def test_a_question_is_answered_by_whoever_can_and_nobody_is_a_no(
    answer: object, trace: str
) -> None:
    """A call about which nobody can be asked does not run."""
    with Scene() as scene:
        scene.tool()
        scene.intercept(TOOL_BEFORE, lambda _: Ask("May I?"))
        if answer is not None:
            scene.intercept(TOOL_PERMISSION, lambda it: answer if it.question == "May I?" else 1)
        scene.replies = [CALL]
        scene.ask("A")
        scene.settle()
        scene.expect(f"{BEGIN} {BEFORE} {trace} {REST}")


@pytest.mark.clause("K-03", "K-05")
@pytest.mark.parametrize("seam", [TOOL_BEFORE, TOOL_PERMISSION], ids=lambda each: each.name)
def test_an_interceptor_that_fails_before_a_body_is_the_result_and_the_body_does_not_run(
    seam: Any,  # noqa: ANN401  # a seam
) -> None:
    """The turn goes on."""
    with Scene() as scene:
        scene.tool()
        if seam is TOOL_PERMISSION:
            scene.intercept(TOOL_BEFORE, lambda _: Ask())
        scene.intercept(seam, failing)
        scene.replies = [CALL]
        scene.ask("A")
        scene.settle()
        assert "body" not in scene.trace()
        assert text_of(results(scene)[0]) == "Error: ValueError: out of order"
        assert "TE{completed}" in scene.trace()


@pytest.mark.clause("K-06")
def test_nobody_can_rewrite_the_arguments_of_a_call() -> None:
    """What is logged is what is executed."""
    with Scene() as scene:
        got: list[object] = []
        scene.tool(lambda arguments, _use: got.append(arguments))

        def answer(use: ToolUse) -> Permit:
            with pytest.raises((AttributeError, TypeError)):
                use.arguments["n"] = 2
            with pytest.raises(AttributeError):
                use.arguments = {}  # type: ignore[misc]
            return Permit()

        scene.intercept(TOOL_BEFORE, answer)
        scene.replies = [(ToolCallDelta("k1", "tool", '{"n": 1}'),)]
        scene.ask("A")
        scene.settle()
        assert got == [{"n": 1}]


@pytest.mark.clause("K-03")
def test_a_tool_that_is_unloaded_while_somebody_is_asked_about_it_is_unknown() -> None:
    """Its body is not entered any more."""
    with Scene() as scene:
        tool = Tool(name="tool", description="Raises.", parameters={}, execute=failing)
        effect = scene.rt.tools.register(scene.rt.context, tool)
        scene.intercept(TOOL_BEFORE, lambda _: effect.dispose() and Permit())
        scene.replies = [CALL]
        scene.ask("A")
        scene.settle()
        scene.expect(f"{BEGIN} {BEFORE} TR(unknown-tool) {REST}")


# -- Behind the body -------------------------------------------------------------------------------


@pytest.mark.clause("K-07", "B-65", "K-08")
def test_a_result_may_be_replaced_or_rejected() -> None:
    """Its call, and whether it is an error, stay what they are unless it is rejected."""
    with Scene() as scene:
        scene.tool()
        answers: list[object] = [Accept(content="better"), Reject("useless"), Accept()]
        scene.intercept(TOOL_AFTER, lambda _: answers.pop(0))
        scene.replies = [(call(1), call(2), call(3))]
        scene.ask("A")
        scene.settle()
        seen = [
            (each.data["call_id"], each.data["is_error"], text_of(each)) for each in results(scene)
        ]
        assert seen == [
            ("k1", False, "better"),
            ("k2", True, "Error: useless"),
            ("k3", False, "done"),
        ]


@pytest.mark.clause("K-07", "K-08")
def test_other_content_leaves_the_rest_of_a_result_as_it_is() -> None:
    """What a body said for programs is not for interceptors to take back."""
    error = ToolErrorInfo(name="NotFound", code="not-found")
    body = ToolResult(content="no", is_error=True, error=error, meta={"path": "a"})
    with Scene() as scene:
        scene.tool(lambda *_: body)
        scene.intercept(TOOL_AFTER, lambda _: Accept(content="look elsewhere"))
        scene.replies = [(call(1),)]
        scene.ask("A")
        scene.settle()
        (result,) = results(scene)
        assert text_of(result) == "look elsewhere"
        assert {name: result.data[name] for name in ("is_error", "error", "meta")} == {
            "is_error": True,
            "error": {"name": "NotFound", "code": "not-found"},
            "meta": {"path": "a"},
        }


@pytest.mark.clause("B-67", "K-07")
def test_context_attached_to_results_follows_the_last_of_them() -> None:
    """Nothing may stand between a call and its result."""
    with Scene() as scene:
        scene.tool()
        scene.intercept(
            TOOL_AFTER,
            lambda it: (
                Accept(context=it.use.call_id)
                if it.use.call_id == "k1"
                else Reject("no", context=["k2"])
            ),
        )
        scene.replies = [(call(1), call(2))]
        scene.ask("A")
        scene.settle()
        scene.expect(
            f"running TS UM(A) SS CH CH AM FLUSH TC body {AFTER} TR(done) "
            f"TC body {AFTER} TR(rejected) CM(k1) CM(k2) {REST}"
        )


@pytest.mark.clause("B-166")
def test_context_that_no_record_could_hold_fails_the_interceptor_that_attached_it() -> None:
    """Before the step is closed, where nothing may be refused any more."""
    with Scene(limits=Limits(record_bytes_max=2_000)) as scene:
        scene.tool()
        scene.intercept(TOOL_AFTER, lambda _: Accept(context="x" * 3_000))
        scene.replies = [CALL]
        scene.ask("A")
        scene.settle()
        (result,) = results(scene)
        assert (result.data["is_error"], result.data["error"]["code"]) == (True, "limit")
        assert scene.trace()[-4:] == ["TE{completed}", "FLUSH", "idle", "W"]


@pytest.mark.clause("K-03")
@pytest.mark.parametrize("answer", [failing, lambda _: 5], ids=["raises", "answers nonsense"])
def test_an_interceptor_that_fails_behind_a_body_is_the_result(
    answer: Callable[[object], object],
) -> None:
    """The turn goes on."""
    with Scene() as scene:
        scene.tool()
        scene.intercept(TOOL_AFTER, answer)
        scene.replies = [CALL]
        scene.ask("A")
        scene.settle()
        assert results(scene)[0].data["is_error"]
        assert "TE{completed}" in scene.trace()
