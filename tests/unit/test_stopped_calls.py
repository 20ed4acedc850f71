"""Calls of tools in a turn that is stopped, and what a body may do to its own agent."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

import pytest

from runtime import ToolUse, WouldDeadlockError, seams
from runtime.seams import TOOL_AFTER, TOOL_BEFORE, Accept, Permit
from tests.unit.windows.scene import CALL, Scene, call

BEGIN = "running TS UM(A) SS CH AM FLUSH TC"


def stubborn(scene: Scene) -> Callable[..., object]:
    """Return a body that swallows its cancellation and never ends."""

    async def body(*_: object) -> None:
        with suppress(asyncio.CancelledError):
            await scene.stage.gate("never", outcomes=())
        await scene.stage.gate("never", outcomes=())

    return body


@pytest.mark.clause("B-123", "B-117", "B-119", "K-13")
def test_a_body_that_ignores_the_stop_is_left_behind() -> None:
    """Its call is closed as `unknown`, those behind it as not started."""
    with Scene() as scene:
        scene.tool(stubborn(scene))
        scene.replies = [(call(1), call(2))]
        scene.a.send("A")
        scene.settle()
        scene.a.cancel("r")
        scene.settle()
        scene.expect(
            "running TS UM(A) SS CH CH AM FLUSH TC body abort cancelled "
            "TR(unknown) TR(not-started) SE TE{aborted:r} FLUSH idle"
        )
        for record in (each for each in scene.records() if each.type == "tool/result"):
            assert (record.data["is_error"], record.data["error"]["code"]) == (True, "interrupted")
        (name,) = scene.rt.inspect().agents[0].stragglers
        assert name.startswith("the tool tool")


@pytest.mark.clause("B-118", "B-123")
def test_a_cooperative_body_is_cut_at_once() -> None:
    """Without a timer, and nothing is left behind."""
    with Scene() as scene:

        async def body(*_: object) -> None:
            await scene.stage.gate("never", outcomes=())

        scene.tool(body, cooperative=True)
        scene.replies = [CALL]
        scene.a.send("A")
        scene.settle()
        scene.a.cancel("r")
        scene.quiet()
        scene.expect(f"{BEGIN} body abort cancelled TR(unknown) SE TE{{aborted:r}} FLUSH idle")
        assert scene.stage.now == 0
        assert scene.rt.inspect().agents[0].stragglers == ()


@pytest.mark.clause("K-13", "B-25")
def test_a_body_that_ends_within_the_grace_has_its_result_recorded() -> None:
    """What it did is known, and so it is said."""
    with Scene() as scene:

        async def body(_: object, use: ToolUse) -> str:
            await use.signal.wait()
            return "half"

        scene.tool(body)
        scene.replies = [(call(1), call(2))]
        scene.a.send("A")
        scene.settle()
        scene.a.cancel("r")
        scene.settle()
        scene.expect(
            "running TS UM(A) SS CH CH AM FLUSH TC body abort cancelled "
            "TR(half) TR(not-started) SE TE{aborted:r} FLUSH idle"
        )


@pytest.mark.clause("B-141", "K-13")
def test_what_a_body_brings_behind_a_stop_is_not_recorded_where_it_would_be_judged() -> None:
    """No seam is opened for a stopped turn, and an unjudged result may hold anything."""
    with Scene() as scene:

        async def body(_: object, use: ToolUse) -> str:
            await use.signal.wait()
            return "half"

        scene.tool(body)
        scene.intercept(TOOL_AFTER)
        scene.replies = [CALL]
        scene.a.send("A")
        scene.settle()
        scene.a.cancel("r")
        scene.settle()
        scene.expect(f"{BEGIN} body abort cancelled TR(unknown) SE TE{{aborted:r}} FLUSH idle")


@pytest.mark.clause("B-25", "B-67", "B-142")
def test_context_that_interceptors_attached_goes_with_a_stopped_turn_and_injected_stays() -> None:
    """What was injected is never lost."""
    with Scene() as scene:

        def answer(it: seams.ToolOutcome) -> Accept:
            it.use.agent.inject("i")
            it.use.agent.cancel("r")
            return Accept(context="attached")

        scene.tool()
        scene.intercept(TOOL_AFTER, answer)
        scene.replies = [CALL]
        scene.ask("A")
        scene.settle()
        scene.expect(
            f"{BEGIN} body tool/after? abort cancelled TR(done) CM(i) SE TE{{aborted:r}} "
            "FLUSH idle W"
        )


@pytest.mark.clause("B-24", "B-125")
def test_no_body_is_entered_once_an_interceptor_has_stopped_the_turn() -> None:
    """Although it permits the call."""
    with Scene() as scene:
        scene.tool()
        scene.intercept(TOOL_BEFORE, lambda it: it.agent.cancel("r") or Permit())
        scene.replies = [CALL]
        scene.ask("A")
        scene.settle()
        scene.expect(
            f"{BEGIN} tool/before? abort cancelled TR(not-started) SE TE{{aborted:r}} FLUSH idle W"
        )


@pytest.mark.clause("B-141", "K-07")
def test_a_result_that_is_not_judged_in_time_is_not_recorded() -> None:
    """Nobody has said that it may be; the call is closed as `unknown`."""
    with Scene() as scene:
        scene.tool(lambda _arguments, _use: "secret")
        scene.rt.context.on(TOOL_AFTER, stubborn(scene))  # type: ignore[arg-type]  # never answers
        scene.replies = [CALL]
        scene.a.send("A")
        scene.settle()
        scene.a.cancel("r")
        scene.settle()
        assert "secret" not in str(scene.records())
        assert "TR(unknown)" in scene.trace()


# -- What a body may do to its own agent -----------------------------------------------------------


@pytest.mark.clause("A-05", "A-10", "A-16")
@pytest.mark.parametrize("cooperative", [True, False])
def test_a_body_may_send_steer_and_inject(*, cooperative: bool) -> None:
    """A message waits for its turn, steering for the step, context for the result."""
    with Scene() as scene:

        def body(_: object, use: ToolUse) -> str:
            use.agent.send("B")
            use.agent.steer("S")
            use.agent.inject("c")
            return "done"

        scene.tool(body, cooperative=cooperative)
        scene.replies = [CALL]
        scene.ask("A")
        scene.settle()
        scene.expect(
            f"{BEGIN} body TR(done) CM(c) SM(S) SE SS CH CH AM SE TE{{completed}} FLUSH [B] idle W"
        )


@pytest.mark.clause("B-44", "B-115")
@pytest.mark.parametrize("cooperative", [True, False])
@pytest.mark.parametrize("stop", ["cancel", "dispose"])
def test_a_body_may_stop_its_own_agent_and_return(stop: str, *, cooperative: bool) -> None:
    """Its result is recorded, and the stop strikes nothing that comes later."""
    with Scene() as scene:

        def body(_: object, use: ToolUse) -> str:
            if stop == "cancel":
                use.agent.cancel("r")
            else:
                scene.dispose()
            return "done"

        scene.tool(body, cooperative=cooperative)
        scene.replies = [CALL]
        scene.ask("A")
        scene.settle()
        ends = {
            "cancel": "abort cancelled TR(done) SE TE{aborted:r} FLUSH idle W",
            "dispose": "abort disposed TR(done) SE TE{disposed} FLUSH W gone END",
        }
        scene.expect(f"{BEGIN} body {ends[stop]}")


@pytest.mark.clause("A-68", "K-03")
@pytest.mark.parametrize("cooperative", [True, False])
def test_a_body_that_waits_for_its_own_agent_is_refused(*, cooperative: bool) -> None:
    """That is its result, and the agent ends all the same."""
    with Scene() as scene:

        async def body(_: object, use: ToolUse) -> None:
            with pytest.raises(WouldDeadlockError):
                await use.agent.when_idle()
            await scene.handle().dispose()

        scene.tool(body, cooperative=cooperative)
        scene.replies = [CALL]
        scene.ask("A")
        scene.settle()
        assert (
            next(each for each in scene.records() if each.type == "tool/result").data["error"][
                "code"
            ]
            == "would-deadlock"
        )
        assert scene.trace()[-1] == "gone"
