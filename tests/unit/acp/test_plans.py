"""Plans that a tool makes, on the stage."""

from typing import Any, Final

import pytest
from attrs import define

from acp.schema import SessionNotification
from runtime.tools import Tool, ToolResult

from .conftest import Connected

STEPS: Final[list[dict[str, str]]] = [
    {"content": "look", "status": "completed", "priority": "high"},
    {"content": "think"},
]
ENTRIES: Final = [STEPS[0], {"content": "think", "status": "pending", "priority": "medium"}]


@define
class _Planner:
    """What a tool says about its calls, which a test may change."""

    plan: object = None
    is_error: bool = False

    def present(self, _: object, meta: Any) -> dict[str, object]:  # noqa: ANN401  # as it was kept
        """Head the call; behind its result, tell the plan."""
        return {"title": "a plan"} if meta is None else {"title": "a plan", "plan": meta["steps"]}

    async def execute(self, _: object, __: object) -> ToolResult:
        """Keep the plan."""
        return ToolResult(content="noted", meta={"steps": self.plan}, is_error=self.is_error)


def planned(connected: Connected, planner: _Planner) -> str:
    """Let a model plan in one step and end in the next; return the session."""
    tool = Tool(
        name="staged",
        description="d",
        parameters={"type": "object"},
        execute=planner.execute,
        present=planner.present,
    )
    connected.runtime.tools.register(connected.runtime.context, tool)
    connected.stage.model_answers = {"call": lambda _: "\x00call"}
    session = connected.new()
    prompt = connected.prompt(session, "hello")
    while not any(each.get("content") for each in updates(connected, "tool_call_update")):
        assert connected.stage.move()
    connected.stage.model_answers = {"call": lambda _: "done"}
    connected.go_on()
    assert connected.answer(prompt)["result"]["stopReason"] == "end_turn"
    return session


def updates(connected: Connected, kind: str | None = None) -> list[dict[str, Any]]:
    """Return the updates of a kind."""
    shown = [f["params"]["update"] for f in connected.wire.written if "update" in str(f)]
    return [each for each in shown if kind in {None, each["sessionUpdate"]}]


@pytest.mark.clause("J-74")
def test_a_plan_is_shown_behind_its_result_and_when_it_is_loaded(connected: Connected) -> None:
    """Every entry has what the protocol wants, and the SDK reads it back as it is."""
    session = planned(connected, _Planner(plan=STEPS))
    kinds = [each["sessionUpdate"] for each in updates(connected)]
    assert kinds.index("plan") == len(kinds) - 1 - kinds[::-1].index("tool_call_update") + 1
    assert [each["entries"] for each in updates(connected, "plan")] == [ENTRIES]
    connected.ask("session/close", sessionId=session)
    connected.wire.written.clear()
    connected.ask("session/load", sessionId=session, cwd="/", mcpServers=[])
    assert [each["entries"] for each in updates(connected, "plan")] == [ENTRIES]
    (frame,) = (f for f in connected.wire.written if "entries" in str(f))
    read = SessionNotification.model_validate(frame["params"])
    assert read.model_dump(mode="json", by_alias=True, exclude_unset=True) == frame["params"]


@pytest.mark.clause("J-74")
def test_a_plan_may_be_empty(connected: Connected) -> None:
    """That is how a client is told that there is none any more."""
    planned(connected, _Planner(plan=[]))
    assert [each["entries"] for each in updates(connected, "plan")] == [[]]


@pytest.mark.clause("J-74")
@pytest.mark.parametrize(
    "plan",
    [
        None,
        "look",
        {},
        [1],
        [{}],
        [{"content": 1}],
        [{"content": "look", "status": "done"}],
        [{"content": "look", "status": {}}],
        [{"content": "look", "priority": ["high"]}],
    ],
)
def test_what_is_no_plan_is_not_shown(
    connected: Connected, caplog: pytest.LogCaptureFixture, plan: object
) -> None:
    """The turn goes on, and the log names the tool."""
    planned(connected, _Planner(plan=plan))
    assert updates(connected, "plan") == []
    assert "tool staged presents a plan that is none" in caplog.text


@pytest.mark.clause("J-74")
def test_a_call_that_failed_makes_no_plan(connected: Connected) -> None:
    """What it would have been is not shown."""
    planned(connected, _Planner(plan=STEPS, is_error=True))
    assert updates(connected, "plan") == []
