"""Somebody else cancels the driver's task: a dispose by the owner, in every window."""

import asyncio
from collections.abc import Callable

import pytest

from tests.unit.windows.scene import CALL, EITHER_TASK, FAILS, Scene

END = "W gone"
UNWOUND = "disposed SE TE{disposed} FLUSH"


def driver(scene: Scene, agent: str = "a") -> asyncio.Task[None]:
    """Return the driver's task."""
    (task,) = (
        each for each in scene.stage.loop.pending_tasks() if each.get_name() == f"driver of {agent}"
    )
    return task


AT: dict[str, tuple[str, str]] = {
    # A cancellation is delivered where the task waits next, so the windows before the model are
    # passed and the turn unwinds there; only behind the reply is the next wait the flush.
    "running": ("running", f"running TS UM(A) SS abort {UNWOUND}"),
    "TS": ("TS", f"running TS UM(A) SS abort {UNWOUND}"),
    "UM": ("UM", f"running TS UM(A) SS abort {UNWOUND}"),
    "SS": ("SS", f"running TS UM(A) SS abort {UNWOUND}"),
    "CH": ("CH", "running TS UM(A) SS CH CH AM SE TE{completed} disposed FLUSH"),
    "AM": ("AM", "running TS UM(A) SS CH CH AM SE TE{completed} disposed FLUSH"),
    "SE": ("SE", "running TS UM(A) SS CH CH AM SE TE{completed} disposed FLUSH"),
    "TE": ("TE", "running TS UM(A) SS CH CH AM SE TE{completed} disposed FLUSH"),
    "idle": ("idle", "running [A] idle W disposed"),
}


@pytest.mark.clause("B-95", "F-40", "B-51")
@pytest.mark.parametrize("times", [1, 2])
@EITHER_TASK
@pytest.mark.parametrize(("head", "trace"), AT.values(), ids=AT)
def test_a_cancellation_from_inside_a_listener(
    head: str, trace: str, times: int, *, cooperative: bool
) -> None:
    """The turn is closed, the teardown starts, and the task ends cancelled."""
    tasks: list[asyncio.Task[None]] = []

    def cancel() -> None:
        tasks.append(driver(scene))
        for _ in range(times):
            tasks[0].cancel()

    if head == "CH" and not cooperative:
        # The listener runs in the model's own task, so the driver learns of it in the stream.
        trace = f"running TS UM(A) SS CH CH abort {UNWOUND}"
    with Scene(cooperative=cooperative) as scene:
        scene.at(head, cancel)
        scene.ask("A")
        scene.settle()
        scene.expect(f"{trace} gone" if head == "idle" else f"{trace} {END}")
        assert tasks[0].cancelled()
        assert scene.stage.pending == ()


@pytest.mark.clause("B-95", "F-40", "A-54")
@pytest.mark.parametrize("times", [1, 2])
def test_a_cancellation_before_the_first_step_of_the_driver(times: int) -> None:
    """The task never ran, and nothing is lost: the message is discarded, waiters are released."""
    with Scene() as scene:
        scene.ask("A")
        scene.stage.tick()
        for _ in range(times):
            driver(scene).cancel()
        scene.settle()
        scene.expect(f"disposed -A{{disposed:disposed}} {END}")


@pytest.mark.clause("B-95", "B-101")
def test_a_cancellation_in_the_pass_of_an_unopened_turn() -> None:
    """What was resent is discarded by the dispose."""

    def act() -> None:
        scene.a.cancel("q")
        scene.a.send("Y")
        scene.stage.loop.call_soon(lambda: driver(scene).cancel())

    with Scene() as scene:
        scene.at("running", act)
        scene.ask("A")
        scene.settle()
        scene.expect(f"running cancelled -A{{cancelled:q}} disposed -Y{{disposed:disposed}} {END}")


def streaming(scene: Scene) -> str:
    """Wait for the model."""
    scene.ask("A")
    scene.quiet()
    return f"running TS UM(A) SS abort {UNWOUND}"


def checkpoint(scene: Scene) -> str:
    """Wait for the flush before a call."""
    scene.replies = [CALL]
    scene.hold()
    scene.ask("A")
    scene.quiet()
    scene.open("model")
    return "running TS UM(A) SS CH AM abort disposed FLUSH TR(not-started) SE TE{disposed} FLUSH"


def flushing(scene: Scene) -> str:
    """Wait for the flush after the turn."""
    scene.hold()
    scene.ask("A")
    scene.quiet()
    scene.open("model")
    return "running TS UM(A) SS CH CH AM SE TE{completed} disposed FLUSH"


def failing(scene: Scene) -> str:
    """Wait for the flush after a turn that failed."""
    scene.replies = [FAILS]
    scene.hold()
    scene.ask("A")
    scene.quiet()
    scene.open("model")
    return "running TS UM(A) SS SE ERR(1) TE{error} disposed FLUSH"


@pytest.mark.clause("B-95", "F-40", "B-121")
@EITHER_TASK
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("window", [streaming, checkpoint, flushing, failing])
def test_a_cancellation_where_the_driver_waits(
    window: Callable[[Scene], str], times: int, *, cooperative: bool
) -> None:
    """The closing flush is not struck by it."""
    with Scene(cooperative=cooperative) as scene:
        trace = window(scene)
        task = driver(scene)
        for _ in range(times):
            task.cancel()
        scene.settle()
        scene.expect(f"{trace} {END}")
        assert task.cancelled()


@pytest.mark.clause("B-95", "B-121")
@EITHER_TASK
def test_a_second_cancellation_strikes_neither_the_unwinding_nor_the_flush(
    *, cooperative: bool
) -> None:
    """It comes while the closing flush is awaited."""
    with Scene(cooperative=cooperative) as scene:
        trace = streaming(scene)
        scene.hold()
        task = driver(scene)
        task.cancel()
        scene.quiet()
        task.cancel()
        scene.quiet()
        scene.open("flush")
        scene.expect(f"{trace} {END}")
        assert task.cancelled()


@pytest.mark.clause("B-95", "B-121", "D-51")
def test_a_closing_flush_that_hangs_is_bounded() -> None:
    """One grace for the turn's flush, one for the teardown's, and the agent is gone."""
    with Scene() as scene:
        streaming(scene)
        scene.hold()
        driver(scene).cancel()
        scene.quiet()
        for _ in range(3):
            scene.stage.loop.advance(2)
            scene.quiet()
        assert scene.trace()[-2:] == ["W", "gone"]


@pytest.mark.clause("F-40", "F-21", "F-22")
def test_only_that_agent_is_disposed_and_its_ids_are_free() -> None:
    """The sibling completes, and a new agent takes the id over."""
    with Scene(agents=("a", "b")) as scene:
        scene.ask("A", agent="a")
        scene.ask("A", agent="b")
        scene.quiet()
        driver(scene).cancel()
        scene.settle()
        scene.expect("running [A] idle W", "b")
        scene.create("a")
        scene.a.send("B")
        scene.settle()
        scene.expect("running [B] idle")


@pytest.mark.clause("B-95", "B-48")
@EITHER_TASK
@pytest.mark.parametrize("first", ["cancel", "dispose"])
def test_a_cancellation_on_top_of_a_stop(first: str, *, cooperative: bool) -> None:
    """Our own cut and a stranger's cancellation in one instant are both answered."""
    with Scene(cooperative=cooperative) as scene:
        scene.ask("A")
        scene.quiet()
        task = driver(scene)
        if first == "cancel":
            scene.a.cancel("r")
        else:
            scene.handle().dispose()
        task.cancel()
        scene.settle()
        assert task.cancelled()
        ended = [each for each in scene.trace() if each.startswith("TE")]
        assert ended == ["TE{disposed}"]
        assert scene.trace()[-2:] == ["W", "gone"]


@pytest.mark.clause("B-128", "B-93")
def test_a_stranger_that_cancels_the_task_of_a_model_fails_the_step() -> None:
    """The driver's own task was not cancelled, so nothing is disposed."""
    with Scene(cooperative=False) as scene:
        scene.ask("A")
        scene.quiet()
        task = driver(scene)
        (child,) = (
            each
            for each in scene.stage.loop.pending_tasks()
            if each is not task and not each.get_name().startswith("asks")
        )
        child.cancel()
        scene.settle()
        scene.expect("running TS UM(A) SS SE ERR(1) TE{error} FLUSH idle W")
