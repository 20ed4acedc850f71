"""Models that break their side of the agreement: each leaves a recorded ending."""

import asyncio
from collections.abc import AsyncIterator, Callable, Generator
from typing import Any

import pytest

from runtime import Finish, FinishKind, Limits, ModelError, ModelRequest, TextDelta, Usage
from runtime.model import AbortSignalLike, Chunk
from tests.unit.windows.scene import CALL, CUT, EITHER_TASK, Scene

ERROR = "running TS UM(A) SS SE ERR(1) TE{error} FLUSH idle W"


class UnspeakableError(Exception):
    """An exception whose text cannot be had."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


class Saying:
    """A model whose `stream` is any function."""

    def __init__(self, say: Callable[[], Any], *, cooperative: bool) -> None:
        self.say = say
        self.cooperative = cooperative

    def stream(self, _: ModelRequest, __: AbortSignalLike) -> AsyncIterator[Chunk]:
        """Return whatever the function returns."""
        result: AsyncIterator[Chunk] = self.say()
        return result


def outcome(
    *reply: Chunk | BaseException, cooperative: bool
) -> tuple[list[str], dict[str, Any], int]:
    """Return the trace, the error of the turn and the steps of one prompt; another one must run."""
    with Scene(cooperative=cooperative) as scene:
        scene.replies = [reply]
        scene.ask("A")
        scene.settle()
        trace = scene.trace()
        end = scene.records()[-1].data
        scene.a.send("Z")
        scene.settle()
        assert " ".join(scene.trace()).endswith("UM(Z) SS CH CH AM SE TE{completed} FLUSH idle")
        assert scene.stage.pending == ()
        return trace, dict(end.get("error", {})), len(scene.requests) - 1


@EITHER_TASK
@pytest.mark.clause("B-77", "B-93", "B-75")
@pytest.mark.parametrize(
    ("raised", "message", "code"),
    [
        (ValueError("no"), "ValueError: no", None),
        (ValueError(), "ValueError", None),
        (ModelError("overloaded", code="busy"), "ModelError: overloaded", "busy"),
        (ModelError("overloaded"), "ModelError: overloaded", None),
        (ModelError("overloaded", code="x" * 201), "ModelError: overloaded", None),
        (UnspeakableError(), "UnspeakableError (its text could not be rendered)", None),
        (
            ExceptionGroup("two", [ValueError("x")]),
            "ExceptionGroup: two (1 sub-exception): ValueError: x",
            None,
        ),
        (ValueError("\ud800"), None, None),
        (ValueError("x" * 5_000), None, None),
        (StopIteration("x"), None, None),
    ],
)
def test_whatever_a_model_raises_is_a_recorded_failure(
    raised: Exception, message: str | None, code: str | None, *, cooperative: bool
) -> None:
    """With a message, also when it has no text, and with a code only when there is one."""
    trace, error, _ = outcome(raised, cooperative=cooperative)
    assert " ".join(trace) == ERROR
    assert error["step"] == 1
    assert error["message"]
    if message is not None:
        assert error["message"] == message
    assert error.get("code") == code


@EITHER_TASK
@pytest.mark.clause("B-77", "B-93")
@pytest.mark.parametrize("code", ["\ud800", "c" * 5_000], ids=["a surrogate", "too long"])
def test_a_code_that_cannot_be_logged_does_not_hurt_the_driver(
    code: str, *, cooperative: bool
) -> None:
    """The failure is recorded in any case, and the next prompt runs."""
    with Scene(cooperative=cooperative, limits=Limits(record_bytes_max=2_000)) as scene:
        scene.replies = [(ModelError("no", code=code),)]
        scene.ask("A")
        scene.settle()
        scene.expect(ERROR)
        scene.a.send("Z")
        scene.settle()
        assert scene.trace()[-2:] == ["FLUSH", "idle"]


@EITHER_TASK
@pytest.mark.clause("B-128", "B-116")
def test_a_cancellation_that_nobody_asked_for_is_a_failure(*, cooperative: bool) -> None:
    """A model that raises `CancelledError` by itself fails its step and disposes nothing."""
    trace, error, _ = outcome(TextDelta("1"), asyncio.CancelledError(), cooperative=cooperative)
    assert " ".join(trace) == "running TS UM(A) SS CH SE ERR(1) TE{error} FLUSH idle W"
    assert "CancelledError" in error["message"]


@EITHER_TASK
@pytest.mark.clause("B-128", "B-77")
def test_a_model_that_awaits_something_cancelled_fails_its_step(*, cooperative: bool) -> None:
    """The cancellation of a future of its own is nobody's cancellation of the turn."""

    async def say() -> AsyncIterator[Chunk]:
        future = asyncio.get_running_loop().create_future()
        future.cancel()
        await future
        yield TextDelta("1")

    with Scene(model=Saying(say, cooperative=cooperative)) as scene:
        scene.ask("A")
        scene.settle()
        scene.expect(ERROR)


@EITHER_TASK
@pytest.mark.clause("B-60", "B-93")
def test_a_model_that_yields_nothing_leaves_no_message(*, cooperative: bool) -> None:
    """An empty reply is a step without an assistant's message."""
    trace, _, __ = outcome(cooperative=cooperative)
    assert " ".join(trace) == "running TS UM(A) SS SE TE{completed} FLUSH idle W"


@EITHER_TASK
@pytest.mark.clause("B-60", "B-73", "B-74", "B-21", "B-75")
@pytest.mark.parametrize(
    ("reply", "expected", "code"),
    [
        ((TextDelta("1"), Finish(FinishKind.STOP)), "CH AM SE TE{completed}", None),
        ((Usage({"n": 1}),), "CH AM SE TE{completed}", None),
        ((TextDelta(""),), "CH SE TE{completed}", None),
        (CUT, "CH CH AM SE TE{max-tokens}", None),
        ((Finish(FinishKind.MAX_TOKENS),), "SE TE{max-tokens}", None),
        ((*CALL, Finish(FinishKind.MAX_TOKENS)), "CH SE TE{max-tokens}", None),
        (
            (*CALL, Usage({"n": 1}), Finish(FinishKind.MAX_TOKENS)),
            "CH CH AM SE TE{max-tokens}",
            None,
        ),
        ((TextDelta("1"), Finish(FinishKind.ABORTED)), "CH SE ERR(1) TE{error}", "aborted"),
        ((TextDelta("1"), Finish(FinishKind.ERROR)), "CH SE ERR(1) TE{error}", None),
        ((Finish(FinishKind.ERROR, "busy", "no"),), "SE ERR(1) TE{error}", "busy"),
        ((Finish(FinishKind.TOOL_CALLS),), "SE TE{completed}", None),
        ((Finish(FinishKind.STOP), TextDelta("late")), "SE TE{completed}", None),
    ],
)
def test_every_kind_of_finish_has_its_ending(
    reply: tuple[Chunk, ...], expected: str, code: str | None, *, cooperative: bool
) -> None:
    """And a step that failed records no message of the assistant."""
    trace, error, steps = outcome(*reply, cooperative=cooperative)
    assert " ".join(trace) == f"running TS UM(A) SS {expected} FLUSH idle W"
    assert error.get("code") == code
    assert steps == 1


@EITHER_TASK
@pytest.mark.clause("B-20", "B-19")
def test_a_model_that_reports_its_abort_after_a_cancel_is_aborted(*, cooperative: bool) -> None:
    """The ending has the reason of the cancel, and no failure is announced."""
    with Scene(cooperative=cooperative) as scene:
        scene.replies = [(TextDelta("1"), Finish(FinishKind.ABORTED))]
        scene.at("CH", lambda: scene.a.cancel("r"))
        scene.ask("A")
        scene.settle()
        scene.expect("running TS UM(A) SS CH abort cancelled SE TE{aborted:r} FLUSH idle W")


@EITHER_TASK
@pytest.mark.clause("B-77", "B-93")
@pytest.mark.parametrize(
    "garbage",
    [7, None, "text", {"type": "text"}, TextDelta(7), TextDelta("\ud800"), Usage({"n": {1}})],  # type: ignore[arg-type]  # garbage
    ids=repr,
)
def test_a_model_that_yields_garbage_fails_its_step(
    garbage: Any,  # noqa: ANN401  # the point
    *,
    cooperative: bool,
) -> None:
    """What is no chunk, or cannot be logged, is a failure with a message."""
    trace, error, _ = outcome(TextDelta("1"), garbage, cooperative=cooperative)
    assert " ".join(trace) == "running TS UM(A) SS CH SE ERR(1) TE{error} FLUSH idle W"
    assert error["message"]


class Awaitable:
    """What a `stream` without a `yield` returns."""

    def __await__(self) -> Generator[None, None, None]:
        """Have nothing to say."""
        yield


@EITHER_TASK
@pytest.mark.clause("B-77", "B-93")
@pytest.mark.parametrize(
    "say", [lambda: None, lambda: 7, lambda: [TextDelta("1")], Awaitable, lambda: 1 / 0]
)
def test_a_model_whose_answer_is_no_async_iterator_fails_its_step(
    say: Callable[[], Any], *, cooperative: bool
) -> None:
    """Neither the driver nor the next prompt suffers."""
    with Scene(model=Saying(say, cooperative=cooperative)) as scene:
        scene.ask("A")
        scene.settle()
        scene.expect(ERROR)
        assert scene.records()[-1].data["error"]["message"]
        scene.dispose()
        scene.settle()


@pytest.mark.clause("B-93", "B-77")
def test_a_model_that_is_none_fails_its_step() -> None:
    """An object without `stream` is a failure of the turn, like any other."""
    with Scene(model=object()) as scene:
        scene.ask("A")
        scene.settle()
        scene.expect(ERROR)


@EITHER_TASK
@pytest.mark.clause("B-17", "B-44", "B-117")
@pytest.mark.seed("SEED-16")
@pytest.mark.parametrize(("stop", "end"), [("cancel", "aborted:r"), ("dispose", "disposed")])
def test_a_model_that_hangs_is_closed_at_once(stop: str, end: str, *, cooperative: bool) -> None:
    """No time passes: the stream is closed the moment the turn is stopped."""
    with Scene(cooperative=cooperative) as scene:
        scene.ask("A")
        scene.quiet()
        scene.stop(stop)
        scene.quiet()
        assert f"TE{{{end}}}" in scene.trace()
        assert scene.stage.now == 0
        scene.settle()


class Cleaning:
    """A model that has clean-up to do, and fails at it."""

    def __init__(self, *, cooperative: bool) -> None:
        self.cooperative = cooperative
        self.scene: Scene

    async def stream(self, _: ModelRequest, __: AbortSignalLike) -> AsyncIterator[Chunk]:
        """Answer one chunk, hang, and raise when closed."""
        try:
            yield TextDelta("1")
            await self.scene.stage.gate("never", ())
        finally:
            raise ValueError("clean-up")


@EITHER_TASK
@pytest.mark.clause("B-97", "B-20")
def test_a_model_that_fails_while_it_is_closed_does_not_change_the_ending(
    *, cooperative: bool
) -> None:
    """What its clean-up raises comes after the stop."""
    model = Cleaning(cooperative=cooperative)
    with Scene(model=model) as scene:
        model.scene = scene
        scene.ask("A")
        scene.quiet()
        scene.a.cancel("r")
        scene.settle()
        scene.expect("running TS UM(A) SS CH cancelled SE TE{aborted:r} FLUSH idle W")


class Leaving:
    """A model that stops its own turn in its clean-up, when it has said everything."""

    def __init__(self, kind: FinishKind, stop: str, *, cooperative: bool) -> None:
        self.kind = kind
        self.stop = stop
        self.cooperative = cooperative
        self.scene: Scene

    async def stream(self, _: ModelRequest, __: AbortSignalLike) -> AsyncIterator[Chunk]:
        """Answer, finish, and stop the turn on the way out."""
        try:
            yield TextDelta("1")
            yield Finish(self.kind)
        finally:
            if self.stop == "cancel":
                self.scene.a.cancel("r")
            else:
                self.scene.handle().dispose()


@EITHER_TASK
@pytest.mark.clause("B-19", "B-20", "B-97", "B-128")
@pytest.mark.parametrize("kind", FinishKind)
@pytest.mark.parametrize("stop", ["cancel", "dispose"])
def test_a_stop_behind_the_last_word_of_a_model(
    kind: FinishKind, stop: str, *, cooperative: bool
) -> None:
    """However it finished: no message, no failure, and the ending is that of the stop."""
    model = Leaving(kind, stop, cooperative=cooperative)
    with Scene(model=model) as scene:
        model.scene = scene
        scene.ask("A")
        scene.settle()
        scene.expect(
            "running TS UM(A) SS CH cancelled SE TE{aborted:r} FLUSH idle W"
            if stop == "cancel"
            else "running TS UM(A) SS CH disposed SE TE{disposed} FLUSH W gone"
        )


class _Bare:
    """An iterator without anything that an iterator need not have."""

    def __init__(self) -> None:
        self.left: list[Chunk] = [TextDelta("1"), Finish(FinishKind.STOP)]

    def __aiter__(self) -> "_Bare":
        return self

    async def __anext__(self) -> Chunk:
        if not self.left:
            raise StopAsyncIteration
        return self.left.pop(0)


@EITHER_TASK
@pytest.mark.clause("A-44")
def test_a_stream_need_not_be_a_generator(*, cooperative: bool) -> None:
    """One that has nothing to close is not closed."""
    with Scene() as scene:
        models: Any = scene.rt.models
        models["stage"] = Saying(_Bare, cooperative=cooperative)
        scene.a.send("A")
        scene.settle()
        assert scene.records()[-1].data["ending"] == "completed"


@pytest.mark.clause("B-20", "B-17")
def test_a_model_that_says_that_it_aborted_because_it_was_told_to_has_not_failed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nothing is logged of it."""
    with Scene() as scene:

        async def say() -> AsyncIterator[Chunk]:
            try:
                yield Finish(FinishKind.ABORTED)
            finally:
                scene.a.cancel("r")

        models: Any = scene.rt.models
        models["stage"] = Saying(say, cooperative=False)
        scene.a.send("A")
        scene.settle()
        assert scene.records()[-1].data["ending"] == "aborted"
        assert caplog.messages == []
