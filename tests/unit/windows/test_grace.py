"""How long a stopped turn waits, and what it leaves behind."""

from collections.abc import AsyncIterator

import pytest

from runtime import Limits, ModelRequest, Teardown, TeardownReport, TextDelta
from runtime.model import AbortSignalLike, Chunk

from .scene import CALL, Scene

OPEN = "running TS UM(A) SS"
DONE = f"{OPEN} CH CH AM SE TE{{completed}}"


class Stubborn:
    """A model that survives being asked to end, until its gate `stubborn` is opened."""

    cooperative = False

    def __init__(self) -> None:
        self.scene: Scene

    async def stream(self, _: ModelRequest, signal: AbortSignalLike) -> AsyncIterator[Chunk]:
        """Swallow the cancellation, and answer late."""
        stage = self.scene.stage
        try:
            await stage.gate("model")
        finally:
            if signal.is_aborted:
                await stage.gate("stubborn")
                yield TextDelta("late")
        yield TextDelta("1")


class Swallower(Stubborn):
    """A model that catches its cancellation and goes on for ever, one chunk a gate."""

    async def stream(self, _: ModelRequest, signal: AbortSignalLike) -> AsyncIterator[Chunk]:
        """Never end by itself."""
        while True:
            try:
                await self.scene.stage.gate("model")
            except BaseException as error:
                if type(error).__name__ != "CancelledError":
                    raise
                await self.scene.stage.gate("stubborn")
            yield TextDelta("x" if signal.is_aborted else "1")


def staged(model: Stubborn, *, grace_s: float = 2.0) -> Scene:
    """Return a scene whose model is the given one."""
    scene = Scene(model=model, limits=Limits(abort_grace_s=grace_s))
    model.scene = scene
    return scene


@pytest.mark.clause("B-117", "B-118", "B-119", "B-120")
@pytest.mark.parametrize("model", [Stubborn, Swallower])
def test_a_turn_closes_over_a_model_that_will_not_end(
    model: type[Stubborn], caplog: pytest.LogCaptureFixture
) -> None:
    """It closes when the grace is over, and the model is a straggler by name until it ends."""
    with staged(model()) as scene:
        scene.ask("A")
        scene.quiet()
        scene.a.cancel("r")
        scene.quiet()
        scene.stage.loop.advance(1.9)
        scene.quiet()
        scene.expect(f"{OPEN} cancelled")
        scene.stage.loop.advance(0.1)
        scene.quiet()
        scene.expect(f"{OPEN} cancelled SE TE{{aborted:r}} FLUSH idle W")
        (about,) = scene.rt.inspect().agents
        assert about.stragglers == ("the model's stream in turn 1",)
        assert "goes on without the model's stream in turn 1" in caplog.text
        scene.open("stubborn")
        assert "late" not in str(scene.records())
        assert "x" not in [str(each.data.get("chunk")) for each in scene.records()]


@pytest.mark.clause("B-120")
def test_no_later_call_moves_the_deadline() -> None:
    """A dispose just before the deadline of the cancel does not start another grace."""
    with staged(Stubborn()) as scene:
        scene.ask("A")
        scene.quiet()
        scene.a.cancel("r")
        scene.quiet()
        scene.stage.loop.advance(1.5)
        scene.a.cancel("again")
        scene.dispose()
        scene.quiet()
        assert "SE" not in scene.trace()
        scene.stage.loop.advance(0.5)
        scene.quiet()
        assert scene.trace()[:9] == f"{OPEN} cancelled disposed SE TE{{disposed}} FLUSH".split()
        scene.open("stubborn")


@pytest.mark.clause("B-119", "F-34", "F-15")
def test_a_teardown_waits_again_for_a_straggler_and_then_lists_it() -> None:
    """One grace closes the turn, another one is the teardown's; then the report names it."""
    with staged(Stubborn()) as scene:
        scene.ask("A")
        scene.quiet()
        teardown = scene.dispose()
        scene.quiet()
        scene.stage.loop.advance(2)
        scene.quiet()
        scene.expect(f"{OPEN} disposed SE TE{{disposed}} FLUSH W")
        scene.stage.loop.advance(1.9)
        scene.quiet()
        assert not teardown.is_done
        scene.stage.loop.advance(0.1)
        scene.quiet()
        scene.expect(f"{OPEN} disposed SE TE{{disposed}} FLUSH W gone END")
        report = scene.stage.complete(_joined(teardown))
        assert report.stragglers == ("the model's stream in turn 1",)
        assert report.failed == ()
        (left,) = scene.stage.spawned[-1:]
        assert left.done()
        scene.open("stubborn")
        assert scene.stage.pending == ()


async def _joined(teardown: Teardown) -> TeardownReport:
    return await teardown


@pytest.mark.clause("B-119")
def test_a_straggler_that_ends_in_time_is_not_listed() -> None:
    """What ends while the teardown waits for it is no straggler any more."""
    with staged(Stubborn()) as scene:
        scene.ask("A")
        scene.quiet()
        teardown = scene.dispose()
        scene.quiet()
        scene.stage.loop.advance(2)
        scene.quiet()
        scene.open("stubborn")
        assert scene.stage.complete(_joined(teardown)).stragglers == ()


@pytest.mark.clause("B-121", "B-119")
@pytest.mark.parametrize("stop", ["cancel", "dispose"])
def test_the_flush_of_a_stopped_turn_is_bounded(stop: str) -> None:
    """A disk that hangs holds up a stopped turn for one more grace and not longer."""
    with Scene() as scene:
        scene.hold()
        scene.ask("A")
        scene.quiet()
        scene.stop(stop)
        scene.quiet()
        scene.stage.loop.advance(1.9)
        scene.quiet()
        assert scene.trace()[-1].startswith("TE")
        scene.stage.loop.advance(0.1)
        scene.quiet()
        assert "W" in scene.trace()
        scene.settle()


@pytest.mark.clause("B-121", "B-46")
def test_a_dispose_bounds_a_flush_that_is_awaited() -> None:
    """From the dispose on the flush of an ended turn has one grace."""
    with Scene() as scene:
        scene.hold()
        scene.ask("A")
        scene.quiet()
        scene.open("model")
        scene.stage.loop.advance(100)
        scene.dispose()
        scene.quiet()
        scene.stage.loop.advance(1.9)
        scene.quiet()
        scene.expect(f"{DONE} disposed")
        scene.stage.loop.advance(0.1)
        scene.quiet()
        assert "W" in scene.trace()
        scene.settle()
        assert scene.trace()[-2:] == ["gone", "END"]


@pytest.mark.clause("B-120", "B-121", "B-46")
def test_a_dispose_does_not_lengthen_the_flush_of_a_cancelled_turn() -> None:
    """The bound that the cancel set stays the bound."""
    with Scene() as scene:
        scene.hold()
        scene.ask("A")
        scene.quiet()
        scene.a.cancel("r")
        scene.quiet()
        scene.stage.loop.advance(1.5)
        scene.dispose()
        scene.quiet()
        assert "W" not in scene.trace()
        scene.stage.loop.advance(0.5)
        scene.quiet()
        assert "W" in scene.trace()
        scene.settle()


@pytest.mark.clause("B-121", "A-28")
@pytest.mark.parametrize("stop", ["cancel", "dispose"])
def test_a_cancel_of_nothing_does_not_unbound_a_flush_that_has_a_bound(stop: str) -> None:
    """Whoever is impatient and cancels once more does not make everybody wait for ever."""
    with Scene() as scene:
        scene.hold()
        scene.ask("A")
        scene.quiet()
        scene.stop(stop)
        scene.quiet()
        scene.stage.loop.advance(1.5)
        scene.a.cancel("again")
        scene.quiet()
        assert "W" not in scene.trace()
        scene.stage.loop.advance(0.5)
        scene.quiet()
        assert "W" in scene.trace()
        scene.settle()


@pytest.mark.clause("B-122", "B-30")
def test_a_cancel_never_cuts_the_flush_of_an_ended_turn() -> None:
    """However long the disk takes, a cancel of nothing shortens nothing."""
    with Scene() as scene:
        scene.hold()
        scene.ask("A")
        scene.quiet()
        scene.open("model")
        scene.a.cancel("r")
        scene.stage.loop.advance(1_000)
        scene.quiet()
        scene.expect(DONE)
        scene.open("flush")
        scene.expect(f"{DONE} FLUSH idle W")


@pytest.mark.clause("B-118", "B-138", "B-123")
def test_the_flush_before_a_call_gets_the_grace_and_no_more() -> None:
    """Cut by the deadline, the calls are answered as not started and the turn closes."""
    with Scene() as scene:
        scene.replies = [CALL]
        scene.hold()
        scene.ask("A")
        scene.quiet()
        scene.open("model")
        scene.a.cancel("r")
        scene.quiet()
        scene.expect(f"{OPEN} CH AM abort cancelled")
        scene.stage.loop.advance(2)
        scene.quiet()
        scene.expect(f"{OPEN} CH AM abort cancelled TR(not-started) SE TE{{aborted:r}}")
        scene.settle()


@pytest.mark.clause("B-138", "B-124")
def test_a_call_is_not_taken_up_when_the_flush_before_it_fails() -> None:
    """The calls are answered as not started and the turn ends `error`."""
    with Scene() as scene:
        scene.replies = [CALL]
        scene.hold()
        scene.ask("A")
        scene.quiet()
        scene.open("model")
        scene.open("flush", "error")
        scene.settle()
        scene.expect(f"{OPEN} CH AM FLUSH! TR(not-started) SE ERR(1) TE{{error}} FLUSH idle W")


@pytest.mark.clause("B-117")
def test_a_grace_of_nothing_closes_at_once() -> None:
    """With `abort_grace_s` of 0 the turn closes without waiting."""
    with staged(Stubborn(), grace_s=0) as scene:
        scene.ask("A")
        scene.quiet()
        scene.a.cancel("r")
        scene.stage.loop.advance(0)
        scene.quiet()
        scene.expect(f"{OPEN} cancelled SE TE{{aborted:r}} FLUSH idle W")
        scene.open("stubborn")
