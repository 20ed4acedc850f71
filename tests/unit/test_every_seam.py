"""What is true of every seam: a plugin that hangs, goes, raises, or answers nonsense."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from runtime import (
    SESSION_EVENT,
    ModelError,
    Plugin,
    TeardownReport,
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
    TOOL_PERMISSION,
    TURN_CONTINUE,
    Accept,
    Ask,
    Attachment,
)
from tests.unit.windows.scene import CALL, Scene

SEAMS: list[tuple[Kind, str]] = [
    (PROMPT_SUBMIT, "prompt/submit? {} UM(A)"),
    (SYSTEM_ASSEMBLE, "UM(A) system/assemble? {}"),
    (STEP_PREPARE, "UM(A) step/prepare? {}"),
    (MODEL_REQUEST, "UM(A) SS model/request? {} SE"),
    (STEP_RESULT, "UM(A) SS CH CH step/result? abort {} AM SE"),
    (TURN_CONTINUE, "UM(A) SS CH CH AM SE turn/continue? abort {}"),
]


@pytest.mark.clause("B-117", "B-119", "B-137", "B-11")
@pytest.mark.seed("SEED-04", "SEED-06", "SEED-07")
@pytest.mark.parametrize(("seam", "trace"), SEAMS, ids=[each.name for each, _ in SEAMS])
@pytest.mark.parametrize("stop", ["cancel", "dispose"])
def test_an_interceptor_that_does_not_answer_is_left_behind(
    seam: Kind,
    trace: str,
    stop: str,
) -> None:
    """After the grace; what was under way is recorded as it came, and the straggler is named."""
    with Scene() as scene:

        async def hang(_: object, _proceed: object = None) -> None:
            scene.note(f"{seam.name}?")
            with suppress(asyncio.CancelledError):
                await scene.stage.gate("never", outcomes=())
            await scene.stage.gate("never", outcomes=())

        scene.rt.context.on(seam, hang)
        scene.a.send("A")
        scene.settle()
        if stop == "cancel":
            scene.a.cancel("r")
            scene.settle()
            scene.expect(f"running TS {trace.format('cancelled')} TE{{aborted:r}} FLUSH idle")
            (name,) = scene.rt.inspect().agents[0].stragglers
        else:
            reports: list[TeardownReport] = []

            async def end() -> None:
                reports.append(await scene.dispose())

            scene.stage.spawn(end(), "dispose")
            scene.settle()
            scene.expect(f"running TS {trace.format('disposed')} TE{{disposed}} FLUSH gone END")
            (name,) = reports[0].stragglers
        assert seam.name in name


@pytest.mark.clause("K-14", "G-27")
def test_the_seams_of_a_plugin_go_with_it() -> None:
    """Unloading it takes all of its interceptors out."""
    with Scene() as scene:
        asked: list[str] = []

        def apply(context: Any, _: None) -> None:  # noqa: ANN401  # a context
            for seam, _trace in SEAMS:

                def listen(_: object, proceed: Any = None, name: str = seam.name) -> object:  # noqa: ANN401  # a seam's
                    asked.append(name)
                    return None if proceed is None else proceed()

                context.on(seam, listen)

        fiber = scene.rt.context.plugin(Plugin(name="hooks", apply=apply))
        scene.quiet()
        scene.ask("A")
        scene.settle()
        assert asked == [seam.name for seam, _ in SEAMS]
        fiber.dispose()
        scene.settle()
        scene.ask("B")
        scene.settle()
        assert len(asked) == len(SEAMS)


@pytest.mark.clause("K-14", "G-27")
def test_the_seams_around_a_tool_go_with_their_plugin() -> None:
    """Of a plugin that permitted, answered and judged, nobody is asked about the next call."""
    with Scene() as scene:
        asked: list[str] = []

        def apply(context: Any, _: None) -> None:  # noqa: ANN401  # a context
            def ask(*_: object) -> Ask:
                asked.append("before")
                return Ask("may it?")

            def permit(_: object) -> bool:
                asked.append("permission")
                return True

            def judge(*_: object) -> Accept:
                asked.append("after")
                return Accept()

            context.on(TOOL_BEFORE, ask)
            context.on(TOOL_PERMISSION, permit)
            context.on(TOOL_AFTER, judge)

        fiber = scene.rt.context.plugin(Plugin(name="hooks", apply=apply))
        scene.quiet()
        scene.tool()
        for prompt in ("A", "B"):
            scene.replies = [CALL]
            scene.ask(prompt)
            scene.settle()
            assert asked == ["before", "permission", "after"]
            fiber.dispose()
            scene.settle()
        assert scene.trace().count("body") == 2


@pytest.mark.clause("B-42", "B-97")
def test_an_interceptor_that_stops_the_turn_and_raises_is_not_reported() -> None:
    """The stop came first."""
    with Scene() as scene:

        def answer(_: object) -> object:
            scene.dispose()
            raise ModelError("too late")

        scene.intercept(STEP_PREPARE, answer)
        scene.ask("A")
        scene.settle()
        scene.expect("running TS UM(A) step/prepare? disposed TE{disposed} FLUSH W gone END")


@pytest.mark.clause("B-89")
def test_an_attachment_says_where_it_comes_from() -> None:
    """Its source is the plugin unless it says otherwise."""
    assert Attachment("x").source == {"kind": "plugin"}
    assert Attachment("x", {"kind": "memory"}).source == {"kind": "memory"}


@pytest.mark.clause("B-72", "B-92")
def test_an_answer_of_the_wrong_class_is_the_plugins_fault_and_names_the_seam() -> None:
    """Whoever reads it knows where to look."""
    with Scene() as scene:
        scene.intercept(SYSTEM_ASSEMBLE, lambda _: 7)
        scene.ask("A")
        scene.settle()
        end = scene.records()[-1].data
        assert end["ending"] == "error"
        assert "PluginError: an interceptor of system/assemble answered with a int" in str(end)


@pytest.mark.clause("B-57", "A-42")
def test_a_record_of_a_plugin_is_announced_before_the_call_returns() -> None:
    """Unless a notification is being delivered, as everything that is appended."""
    told: list[str] = []
    with Scene() as scene:

        def prepare(moment: seams.Moment) -> None:
            told.clear()
            moment.record("acme/note", {})
            assert told == ["acme/note"]

        scene.rt.on(SESSION_EVENT, lambda it: told.append(it.record.type))
        scene.intercept(STEP_PREPARE, prepare)
        scene.ask("A")
        scene.settle()
        assert "acme/note" in told
        assert scene.records()[-1].data["ending"] == "completed"
