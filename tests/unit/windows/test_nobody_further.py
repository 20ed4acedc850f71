"""A stop while one interceptor waits: nobody further in is asked."""

import asyncio
from contextlib import suppress
from typing import Any, Final

import pytest

from runtime import seams
from runtime.context.interceptors import Kind

from .scene import CALL, Scene

OPEN: Final = "running TS"
STEP: Final = f"{OPEN} UM(A) SS"
CALLED: Final = f"{STEP} CH AM FLUSH TC"

PLACES: Final = {
    seams.PROMPT_SUBMIT: f"{OPEN} first STOP UM(A)",
    seams.SYSTEM_ASSEMBLE: f"{OPEN} UM(A) first STOP",
    seams.STEP_PREPARE: f"{OPEN} UM(A) first STOP",
    seams.MODEL_REQUEST: f"{STEP} first STOP SE",
    seams.STEP_RESULT: f"{STEP} CH first STOP AM TR(not-started) SE",
    seams.TOOL_BEFORE: f"{CALLED} first STOP TR(not-started) SE",
    seams.TOOL_PERMISSION: f"{CALLED} first STOP TR(not-started) SE",
    seams.TOOL_AFTER: f"{CALLED} body first STOP TR(unknown) SE",
    seams.TURN_CONTINUE: f"{CALLED} body TR(done) SE first STOP",
}
"""Every seam, and what is in the log when its turn closes."""
ENDS: Final = {
    "cancel": ("cancelled", "TE{aborted:r} FLUSH idle W"),
    "dispose": ("disposed", "TE{disposed} FLUSH W gone"),
}


def listen_twice(scene: Scene, seam: Kind) -> None:
    """Register an interceptor that waits and goes on, and one further in that says it was asked."""

    async def first(_: object, proceed: Any = None) -> object:  # noqa: ANN401  # any seam
        scene.note("first")
        await scene.stage.gate("first")
        return None if proceed is None else await proceed()

    async def second(_: object, proceed: Any = None) -> object:  # noqa: ANN401  # any seam
        scene.note("second")
        return None if proceed is None else await proceed()

    scene.rt.context.on(seam, first)
    scene.rt.context.on(seam, second)
    if seam is seams.TOOL_PERMISSION:
        scene.rt.context.on(seams.TOOL_BEFORE, lambda _use, _proceed: seams.Ask())


def wait_for(scene: Scene, gate: str) -> None:
    """Open gates until the oldest is the one of this name."""
    scene.quiet()
    while scene.stage.gates.open_gates[0].name != gate:
        scene.open(scene.stage.gates.open_gates[0].name)


@pytest.mark.clause("B-165")
@pytest.mark.parametrize("stop", ENDS)
@pytest.mark.parametrize("seam", PLACES, ids=lambda seam: seam.name)
def test_nobody_further_in_is_asked_once_the_turn_is_stopped(seam: Kind, stop: str) -> None:
    """Although the first one goes on within the grace."""
    with Scene() as scene:
        listen_twice(scene, seam)
        scene.tool()
        scene.replies = [CALL]
        scene.ask("A")
        wait_for(scene, "first")
        scene.stop(stop)
        scene.settle()
        status, rest = ENDS[stop]
        told = f"abort {status}" if scene.signals else status
        scene.expect(f"{PLACES[seam]} {rest}".replace("STOP", told))
        assert scene.stage.now == 0, "the grace was not needed"


@pytest.mark.clause("B-165")
@pytest.mark.parametrize("seam", PLACES, ids=lambda seam: seam.name)
def test_the_second_one_is_asked_while_nothing_stops_the_turn(seam: Kind) -> None:
    """Or the test above would hold for want of an interceptor."""
    with Scene() as scene:
        listen_twice(scene, seam)
        scene.tool()
        scene.replies = [CALL]
        scene.ask("A")
        wait_for(scene, "first")
        scene.open("first")
        assert scene.trace()[scene.trace().index("first") + 1] == "second"


def test_the_test_above_finds_an_interceptor_that_is_asked_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody looks for the stop."""
    monkeypatch.setattr("runtime.asking.go_on", lambda _turn: None)
    with pytest.raises(AssertionError, match="second"):
        test_nobody_further_in_is_asked_once_the_turn_is_stopped(seams.PROMPT_SUBMIT, "cancel")


@pytest.mark.clause("B-165")
@pytest.mark.parametrize(
    ("seam", "answer", "trace"),
    [
        (seams.PROMPT_SUBMIT, seams.Block("no"), "PB(A) TE{rejected:no}"),
        (seams.PROMPT_SUBMIT, seams.Allow(content="B"), "UM(B) TE{aborted:r}"),
        (seams.TOOL_AFTER, seams.Accept(content="ok"), "TR(ok) SE TE{aborted:r}"),
    ],
    ids=["blocks", "replaces", "accepts"],
)
def test_whoever_was_asked_may_still_answer_alone(seam: Kind, answer: object, trace: str) -> None:
    """An interceptor that decides without the others is not disturbed by the stop."""
    with Scene() as scene:

        async def decides(*_: object) -> object:
            await scene.stage.gate("first")
            return answer

        scene.rt.context.on(seam, decides)
        scene.tool()
        scene.replies = [CALL]
        scene.ask("A")
        wait_for(scene, "first")
        scene.stop("cancel")
        scene.settle()
        told = " ".join(scene.trace()).split("cancelled ")[1]
        assert told == f"{trace} FLUSH idle W"


@pytest.mark.clause("B-165", "B-118")
@pytest.mark.parametrize("seam", [seams.SYSTEM_ASSEMBLE, seams.STEP_PREPARE], ids=["layer", "list"])
def test_whoever_outlived_the_turn_asks_nobody_in_the_next_one(seam: Kind) -> None:
    """The stop was of its own turn, and that turn stays stopped."""
    with Scene() as scene:
        asked: list[int] = []
        stages: list[str] = ["stubborn"]

        async def first(_: object, proceed: Any = None) -> object:  # noqa: ANN401  # any seam
            if stages:
                stages.pop()
                with suppress(asyncio.CancelledError):
                    await scene.stage.gate("never", outcomes=())
                await scene.stage.gate("late")
            return None if proceed is None else await proceed()

        async def second(it: seams.Moment, proceed: Any = None) -> object:  # noqa: ANN401  # any seam
            asked.append(it.turn)
            return None if proceed is None else await proceed()

        scene.rt.context.on(seam, first)
        scene.rt.context.on(seam, second)
        scene.a.send("A")
        scene.quiet()
        scene.a.cancel("r")
        scene.stage.loop.advance(2)
        scene.quiet()
        scene.a.send("B")
        scene.quiet()
        assert asked == [2]
        scene.open("late")
        assert asked == [2]
        scene.settle()
