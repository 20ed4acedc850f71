"""Calls whose body is never entered: who is asked about them, and what their results say."""

from collections.abc import Callable
from typing import Any

import pytest

from runtime import Finish, FinishKind, TextDelta, Tool, ToolCallDelta
from runtime.seams import TOOL_BEFORE, TOOL_PERMISSION, Ask, Deny, Permit
from tests.unit.test_calls import BEFORE, BEGIN, REST, failing, results, text_of
from tests.unit.windows.scene import CALL, Scene, call


@pytest.mark.clause("K-03", "K-04", "B-64")
def test_nobody_is_asked_about_a_call_that_does_not_fit() -> None:
    """An interceptor that permits everything permits no call without a tool or its arguments."""
    with Scene() as scene:
        schema = {"type": "object", "required": ["path"]}
        tool = Tool(name="tool", description="Reads.", parameters=schema, execute=failing)
        scene.rt.tools.register(scene.rt.context, tool)
        scene.intercept(TOOL_BEFORE, lambda _: Permit())
        scene.replies = [(call(1), ToolCallDelta("k2", "nobody", ""))]
        scene.ask("A")
        scene.settle()
        assert BEFORE not in scene.trace()
        codes = [each.data["error"]["code"] for each in results(scene)]
        assert codes == ["invalid-arguments", "unknown-tool"]


@pytest.mark.clause("B-24", "B-125")
def test_a_call_that_was_stopped_when_it_was_recorded_says_so_and_not_that_it_did_not_fit() -> None:
    """A cancel from a listener of `tool/call` comes before any look at the call."""
    with Scene() as scene:
        scene.at("TC", lambda: scene.a.cancel("r"))
        scene.replies = [(ToolCallDelta("k1", "nobody", ""),)]
        scene.ask("A")
        scene.settle()
        scene.expect(f"{BEGIN} abort cancelled TR(not-started) SE TE{{aborted:r}} FLUSH idle W")


@pytest.mark.clause("B-24", "B-125", "K-05")
@pytest.mark.parametrize("answer", [lambda _: Deny("no"), failing], ids=["denies", "fails"])
def test_what_is_said_of_a_call_behind_a_stop_is_not_its_result(
    answer: Callable[[Any], object],
) -> None:
    """The turn was stopped first, and that is why the body did not run."""

    def stop(use: Any) -> object:  # noqa: ANN401  # of a tool
        use.agent.cancel("r")
        return answer(use)

    with Scene() as scene:
        scene.tool()
        scene.intercept(TOOL_BEFORE, stop)
        scene.replies = [CALL]
        scene.ask("A")
        scene.settle()
        scene.expect(
            f"{BEGIN} {BEFORE} abort cancelled TR(not-started) SE TE{{aborted:r}} FLUSH idle W"
        )


@pytest.mark.clause("K-05", "B-144")
@pytest.mark.parametrize(
    ("answer", "said"),
    [("no", "permission was refused"), (False, "permission was refused"), (None, "nobody here")],
)
def test_only_true_is_a_permission(answer: object, said: str) -> None:
    """Any other answer is a no, and the model is told whether anybody was there to give it."""
    with Scene() as scene:
        scene.tool()
        scene.intercept(TOOL_BEFORE, lambda _: Ask("May I?"))
        scene.intercept(TOOL_PERMISSION, lambda _: answer)
        scene.replies = [CALL]
        scene.ask("A")
        scene.settle()
        scene.expect(f"{BEGIN} {BEFORE} tool/permission? TR(denied) {REST}")
        assert text_of(results(scene)[0]).startswith("Error: May I? ")
        assert said in text_of(results(scene)[0])


@pytest.mark.clause("B-73")
def test_a_reply_that_was_cut_off_makes_no_call() -> None:
    """Its calls may be incomplete."""
    with Scene() as scene:
        scene.tool()
        scene.replies = [(TextDelta("1"), call(1), Finish(FinishKind.MAX_TOKENS))]
        scene.ask("A")
        scene.settle()
        scene.expect("running TS UM(A) SS CH CH AM SE TE{max-tokens} FLUSH idle W")
