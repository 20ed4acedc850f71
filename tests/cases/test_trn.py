"""Interrupted turns: calls without results, results that lied, and text that came back."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import pytest

from runtime import Message, exchange
from runtime.seams import TOOL_AFTER, TOOL_BEFORE, Deny
from runtime.session.records import calls_of
from runtime.tools import Tool, ToolResult
from statemachine.conformance.stage.schedules import Scenario

from .cast import Scenes
from .conftest import Examine
from .world import GRACE_S, HELD, Act, World, act, actor, scene

Body: TypeAlias = Callable[[World], Callable[[Any, Any], Any]]

CALL_ONCE = {"A in step 1": ("call",)}
CALL_TWICE = {"A in step 1": ("call", "call")}


def open_model(world: World) -> None:
    """Let the model go on until it has nothing more to say."""
    world.stage.run_until_quiet()
    while gates := [gate for gate in world.stage.gates.open_gates if gate.name == "model"]:
        world.stage.gates.open(gates[0], gates[0].outcomes[0])
        world.stage.run_until_quiet()


def calling(body: Body) -> Act:
    """Send A, whose first step calls a tool; setting up ends inside the tool."""

    def before(world: World) -> None:
        runtime = world.subject.runtime
        tool = Tool(
            name="nothing", description="", parameters={"type": "object"}, execute=body(world)
        )
        runtime.tools.register(runtime.context, tool)
        world.send("A")
        open_model(world)

    return before


def gated(world: World) -> Callable[[Any, Any], Any]:
    """A tool that writes something, and ends when the schedule says so."""

    async def execute(_: object, __: object) -> str:
        world.notes["entered"] = world.notes.get("entered", 0) + 1
        await world.stage.gate("tool", ("ok",))
        return "done"

    return execute


def hanging(world: World) -> Callable[[Any, Any], Any]:
    """A tool that writes something and then hangs."""

    async def execute(_: object, __: object) -> None:
        world.notes["entered"] = world.notes.get("entered", 0) + 1
        await world.stage.gate("tool", ())

    return execute


def check_paired(messages: Iterable[Message]) -> None:
    """Every call is answered once, before anything else is said."""
    unanswered: list[str] = []
    for message in messages:
        results = [block["call_id"] for block in message.content if block["type"] == "tool-result"]
        for call_id in results:
            unanswered.remove(call_id)
        if not results:
            assert unanswered == [], f"{message.text!r} comes before the results of {unanswered}"
        unanswered += calls_of(message.content)
    assert unanswered == []


def results(world: World) -> list[tuple[str, str | None]]:
    """Return of every result the code of its error, and how far the call came."""
    records = [record.data for record in world.records() if record.type == "tool/result"]
    return [
        (data["error"]["code"] if "error" in data else "", data.get("execution"))
        for data in records
    ]


def case_020() -> Scenes:
    """Cancel a turn whose tool waits for a child that neither answers nor lets go."""

    def delegating(world: World) -> Callable[[Any, Any], Any]:
        async def execute(_: object, __: object) -> str | None:
            world.create("child")
            try:
                fate = await exchange(world.agents["child"], "W")
            finally:
                world.dispose("child")
            return fate.text

        return execute

    def check(world: World) -> None:
        assert world.turns()[0] == ["A", "aborted: stop"]
        assert world.turns()[1:] == [["B", "completed"]]
        closed = next(record for record in world.records() if record.type == "turn/end")
        assert closed.time_ms <= GRACE_S * 1_000
        assert results(world) == [("interrupted", "unknown")]
        assert world.status("child") == "disposed"
        assert world.subject.runtime.agents.get("child") is None
        ((report, _),) = world.reports
        assert report.stragglers == ("the model's stream in turn 1",)
        world.answer("W")
        world.stage.run_until_quiet()

    def accepted_by_the_child(world: World) -> None:
        world.epochs["child"] = [0]
        calling(delegating)(world)

    return (
        scene(
            "a child that does not answer",
            actor("user", lambda w: w.cancel("stop"), lambda w: w.send("B")),
            before=accepted_by_the_child,
            answers={**CALL_ONCE, "W": HELD},
            flushes=(),
            stubborn=frozenset("W"),
            cooperative=False,
            check=check,
        ),
    )


@pytest.mark.case("CASE-020")
@pytest.mark.clause("B-25", "B-117", "B-119", "F-15")
def test_a_child_that_ignores_the_stop_does_not_hold_its_parent(examine: Examine) -> None:
    """The parent's turn closes within its grace, and the child is disposed behind it."""
    examine(*case_020())


def case_021() -> Scenes:
    """Cancel inside a tool, send again, and look at the request."""

    def check(world: World) -> None:
        assert world.turns()[0][0] == "A"
        assert world.turns()[-1] == ["B", "completed"]
        check_paired(world.asked[-1].messages)
        assert world.users_of(-1)[-1] == "B"

    def run(name: str, answers: Mapping[str, tuple[str, ...]], body: Body) -> Scenario[World]:
        return scene(
            name,
            actor("user", lambda w: w.cancel("stop"), lambda w: w.send("B")),
            before=calling(body),
            answers=answers,
            flushes=(),
            check=check,
        )

    return (
        run("one call that may end", CALL_ONCE, gated),
        run("two calls that hang", CALL_TWICE, hanging),
    )


@pytest.mark.case("CASE-021")
@pytest.mark.clause("B-25", "B-123", "D-23")
def test_the_request_after_an_interrupted_tool_is_paired(examine: Examine) -> None:
    """Every call has one result, before the new prompt."""
    examine(*case_021())


def case_023() -> Scenes:
    """Interrupt a tool, deny it, and let it fail: three different stories."""

    def interrupted(world: World) -> None:
        assert world.notes["entered"] == 1
        assert results(world) == [("interrupted", "unknown"), ("interrupted", "not-started")]

    def told(expected: tuple[str, str | None], entered: int) -> Act:
        def check(world: World) -> None:
            assert results(world) == [expected]
            assert world.notes.get("entered", 0) == entered
            assert world.turns() == [["A", "completed"]]

        return check

    def failing(world: World) -> Callable[[Any, Any], Any]:
        def execute(_: object, __: object) -> str:
            world.notes["entered"] = 1
            raise OSError("the disk is full")

        return execute

    def denied(world: World) -> None:
        runtime = world.subject.runtime
        runtime.context.on(TOOL_BEFORE, lambda _, __: Deny("not here"))
        calling(gated)(world)

    return (
        scene(
            "interrupted",
            actor("user", lambda w: w.cancel("stop")),
            before=calling(hanging),
            answers=CALL_TWICE,
            flushes=(),
            check=interrupted,
        ),
        scene("failed", before=calling(failing), answers=CALL_ONCE, flushes=(),
              check=told(("", None), 1)),
        scene("denied", before=denied, answers=CALL_ONCE, flushes=(),
              check=told(("denied", None), 0)),
    )  # fmt: skip


@pytest.mark.case("CASE-023")
@pytest.mark.clause("B-24", "B-25", "B-123", "K-05")
def test_an_interrupted_tool_is_not_said_never_to_have_run(examine: Examine) -> None:
    """Its effects are unknown, which is told from one that was not started, denied or failed."""
    examine(*case_023())


def case_024() -> Scenes:
    """Let a tool, and an interceptor behind it, give back another call's id."""

    def answered(world: World) -> None:
        assert results(world) == [("", None)]
        check(world)

    def check(world: World) -> None:
        ids = {
            record.type: record.data["call_id"]
            for record in world.records()
            if record.type.startswith("tool/")
        }
        assert len(set(ids.values())) == 1
        assert len(world.asked) == 2
        check_paired(world.asked[-1].messages)
        # What is injected behind the turn is one of its own.
        assert set(world.endings()) == {"completed"}

    def rewriting(_: World) -> Callable[[Any, Any], Any]:
        return lambda _, __: ToolResult(content="done", meta={"call_id": "other"})

    def intercepted(world: World) -> None:
        def rewrite(_: object, __: object) -> Any:  # noqa: ANN401  # what the type forbids
            return {"call_id": "other", "content": "mine"}

        world.subject.runtime.context.on(TOOL_AFTER, rewrite)
        calling(rewriting)(world)

    user = actor("user", lambda w: w.inject("X"))
    return (
        scene("a tool", user, before=calling(rewriting), answers=CALL_ONCE, check=answered),
        scene("an interceptor", user, before=intercepted, answers=CALL_ONCE, check=check),
    )


@pytest.mark.case("CASE-024")
@pytest.mark.clause("B-65", "B-127", "K-03")
def test_nobody_rewrites_the_id_of_a_call(examine: Examine) -> None:
    """The runtime alone knows which call a result belongs to."""
    examine(*case_024())


def case_025() -> Scenes:
    """Inject twice, at any time around a tool, and change what was given afterwards."""

    def inject(text: str) -> Act:
        def injecting(world: World) -> None:
            block = {"type": "text", "text": text}
            content = [block]
            world.agents["a"].inject(content)
            block["text"] = "changed"
            content.append({"type": "text", "text": "more"})

        return injecting

    def check(world: World) -> None:
        contexts = [text for turn in world.turns() for text in turn if "context" in text]
        assert contexts == ["context X1", "context X2"]
        types = world.types()
        called = types.index("assistant/message")
        assert types[called : called + 3] == ["assistant/message", "tool/call", "tool/result"]
        for request in world.asked:
            check_paired(request.messages)

    return (
        scene(
            "injections around a tool",
            actor("user", act("inject X1", inject("X1")), act("inject X2", inject("X2"))),
            before=calling(gated),
            answers=CALL_ONCE,
            flushes=(),
            check=check,
        ),
    )


@pytest.mark.case("CASE-025")
@pytest.mark.clause("A-07", "A-16", "B-65")
def test_an_injection_does_not_come_between_a_call_and_its_result(examine: Examine) -> None:
    """It waits for the last result, in order, as it was when it was given."""
    examine(*case_025())


def case_028() -> Scenes:
    """Cancel while the model speaks, and look at what stays."""

    def check(world: World) -> None:
        kinds = [record.type for record in world.records() if record.data["turn"] == 1]
        assert kinds.count("assistant/chunk") == 2
        assert "assistant/message" not in kinds
        assert world.users_of(-1) == ["A", "B"]
        assert [message.role for message in world.asked[-1].messages] == ["user", "user"]

    def spoken(world: World) -> None:
        world.send("A")
        open_model(world)

    return (
        scene(
            "cut while speaking",
            actor("user", lambda w: w.cancel("stop"), lambda w: w.send("B")),
            before=spoken,
            answers={"A": ("a", "b", *HELD)},
            check=check,
        ),
    )


@pytest.mark.case("CASE-028")
@pytest.mark.clause("B-17", "B-19", "D-23")
def test_text_that_was_cut_stays_as_chunks_and_is_no_message(examine: Examine) -> None:
    """The log has what was shown; the next request has no half of a reply."""
    examine(*case_028())


def case_029() -> Scenes:
    """Let an attempt fail behind its first words, and cancel in the report of that."""

    def check(ending: str) -> Act:
        def nothing_said(world: World) -> None:
            assert world.turns() == [["A", ending], ["B", "completed"]]
            assert world.types().count("assistant/message") == 1
            assert [message.role for message in world.asked[-1].messages] == ["user", "user"]
            assert world.calls == ["A", "B"]

        return nothing_said

    def run(name: str, before: Act, ending: str) -> Scenario[World]:
        user = actor("user", act("send A", lambda w: w.send("A")), lambda w: w.after_idle("B"))
        answers = {"A": ("a", "b", "error")}
        return scene(name, user, before=before, answers=answers, flushes=(), check=check(ending))

    return (
        run("a failed attempt", lambda _: None, "error"),
        run("cancelled in its report", lambda w: w.on("error", World.cancel), "error"),
    )


@pytest.mark.case("CASE-029")
@pytest.mark.clause("B-75", "B-98", "D-23")
def test_the_words_of_a_failed_attempt_are_never_a_message(examine: Examine) -> None:
    """Neither by themselves nor by a cancel that comes behind the failure."""
    examine(*case_029())
