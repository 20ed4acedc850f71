"""Particular sequences about steering, context and sizes."""

import pytest

from runtime import Finish, FinishKind, Limits, TextDelta, ToolCallDelta

from .scene import CALL, EITHER_TASK, FAILS, Scene, call

OPEN = "running TS UM(A) SS"


@pytest.mark.clause("B-78", "B-111", "A-13", "C-10")
@EITHER_TASK
def test_steering_that_came_during_a_failed_step_is_the_next_prompt(*, cooperative: bool) -> None:
    """It is neither recorded in the failed turn nor dropped, and no `idle` comes between."""
    with Scene(cooperative=cooperative) as scene:
        scene.replies = [FAILS]
        scene.ask("A")
        scene.quiet()
        scene.a.steer("S")
        scene.settle()
        scene.expect(f"{OPEN} SE ERR(1) TE{{error}} FLUSH [S] idle W")


@pytest.mark.clause("B-116", "B-21", "B-78")
@pytest.mark.seed("SEED-15")
@EITHER_TASK
def test_a_step_that_aborts_by_itself_redelivers_its_steering(*, cooperative: bool) -> None:
    """Nobody cancelled, so it is a failure, and what was steered runs in the next turn."""
    with Scene(cooperative=cooperative) as scene:
        scene.replies = [(Finish(FinishKind.ABORTED),)]
        scene.ask("A")
        scene.quiet()
        scene.a.steer("S")
        scene.settle()
        scene.expect(f"{OPEN} SE ERR(1) TE{{error}} FLUSH [S] idle W")
        assert not scene.signals[0].is_aborted
        assert scene.records()[4].data["error"]["code"] == "aborted"


@pytest.mark.clause("A-24", "B-116")
@pytest.mark.seed("SEED-15")
def test_a_cancel_does_not_redeliver_steering() -> None:
    """What was steered before the cancel is dropped with it, unlike in a step that failed."""
    with Scene() as scene:
        scene.ask("A")
        scene.quiet()
        scene.a.steer("S")
        scene.a.cancel("r")
        scene.settle()
        scene.expect(f"{OPEN} abort cancelled -S{{cancelled:r}} SE TE{{aborted:r}} FLUSH idle W")


@pytest.mark.clause("A-74", "A-16", "B-123")
@pytest.mark.parametrize("stop", ["cancel", "dispose"])
def test_context_that_was_held_back_is_recorded_when_the_turn_is_stopped(stop: str) -> None:
    """Behind the results that close the calls, inside the step."""

    def act() -> None:
        scene.a.inject("c")
        scene.a.inject("d")
        scene.stop(stop)

    with Scene() as scene:
        scene.replies = [(call(1), call(2))]
        scene.at("AM", act)
        scene.ask("A")
        scene.settle()
        trace = " ".join(scene.trace())
        assert "TR(not-started) TR(not-started) CM(c) CM(d) SE TE" in trace
        results = [each.data["call_id"] for each in scene.records() if each.type == "tool/result"]
        assert results == ["k1", "k2"]


@pytest.mark.clause("A-74", "A-16", "B-138")
def test_context_that_was_held_back_is_recorded_when_the_step_fails() -> None:
    """The flush before the first call fails: the context still has its record."""
    with Scene() as scene:
        scene.replies = [CALL]
        scene.hold()
        scene.ask("A")
        scene.quiet()
        scene.open("model")
        scene.a.inject("c")
        scene.open("flush", "error")
        scene.settle()
        scene.expect(
            f"{OPEN} CH AM FLUSH! TR(not-started) CM(c) SE ERR(1) TE{{error}} FLUSH idle W"
        )


@pytest.mark.clause("D-52", "B-75", "B-93")
@EITHER_TASK
@pytest.mark.parametrize(
    ("reply", "chunks"),
    [
        ((TextDelta("x" * 3_000),), 0),
        ((TextDelta("x" * 700), TextDelta("x" * 700)), 2),
        ((ToolCallDelta("k", "n" * 700, "a" * 700),), 0),
        ((ToolCallDelta("k", "n", "a" * 700), ToolCallDelta("k", "", "a" * 700)), 2),
    ],
    ids=["a chunk", "a message", "a call", "a call in pieces"],
)
def test_a_reply_that_is_too_large_for_the_log_fails_its_step(
    reply: tuple[TextDelta, ...], chunks: int, *, cooperative: bool
) -> None:
    """The error names the limit, the log stays balanced, and the next prompt runs."""
    with Scene(limits=Limits(record_bytes_max=1_000), cooperative=cooperative) as scene:
        scene.replies = [reply]
        scene.ask("A")
        scene.settle()
        cut = " ".join(["CH"] * chunks)
        scene.expect(f"{OPEN} {cut} SE ERR(1) TE{{error}} FLUSH idle W")
        assert "record_bytes_max" in scene.records()[-1].data["error"]["message"]
        scene.a.send("Z")
        scene.settle()
        assert scene.trace()[-3:] == ["TE{completed}", "FLUSH", "idle"]


@pytest.mark.clause("B-93", "B-124")
@EITHER_TASK
@pytest.mark.parametrize(
    "reply",
    [
        (ToolCallDelta("", "tool", "{}"),),
        (ToolCallDelta("k", "", "{}"),),
        (ToolCallDelta("k", "tool", "{}"), ToolCallDelta("k", "other", "{}")),
        (ToolCallDelta("k", "tool", "not json"),),
        (ToolCallDelta("\ud800", "tool", "{}"),),
    ],
    ids=["no id", "no name", "one id twice", "no JSON", "a surrogate"],
)
def test_a_strange_call_is_answered_or_fails_its_step(
    reply: tuple[ToolCallDelta, ...], *, cooperative: bool
) -> None:
    """No call stays open, and the next prompt runs."""
    with Scene(cooperative=cooperative) as scene:
        scene.replies = [reply]
        scene.ask("A")
        scene.settle()
        trace = scene.trace()
        assert trace[-2:] == ["idle", "W"]
        assert {"TE{completed}", "TE{error}"} & set(trace)
        assert trace.count("TC") <= sum(each.startswith("TR") for each in trace)
        scene.a.send("Z")
        scene.settle()
        assert scene.trace()[-3:] == ["TE{completed}", "FLUSH", "idle"]


@pytest.mark.clause("B-104", "B-47", "A-28", "B-96")
def test_a_stop_after_a_stop_after_a_failure() -> None:
    """Error reported, then cancel, then dispose: the first in the list of endings stays."""

    def act() -> None:
        scene.a.cancel("r")
        scene.handle().dispose()
        scene.a.cancel("again")

    with Scene() as scene:
        scene.replies = [FAILS]
        scene.at("ERR", act)
        scene.ask("A")
        scene.settle()
        scene.expect(f"{OPEN} SE ERR(1) abort cancelled disposed TE{{error}} FLUSH W gone")
        assert "reason" not in scene.records()[-1].data


@pytest.mark.clause("A-10", "C-11", "B-69", "B-68")
def test_every_boundary_takes_what_was_steered_before_it() -> None:
    """S before the reply, T from the listener of S, U from the end of the step: four steps."""

    def later() -> None:
        scene.a.steer("T")
        scene.at("SE", lambda: scene.at("SE", lambda: scene.a.steer("U")))

    with Scene() as scene:
        scene.ask("A")
        scene.quiet()
        scene.a.steer("S")
        scene.at("SM", later)
        scene.settle()
        scene.expect(
            f"{OPEN} CH CH AM SM(S) SE SM(T) SS CH CH AM SE SM(U) SS CH CH AM SE TE{{completed}} "
            "FLUSH idle W"
        )
        assert [request.step for request in scene.requests] == [1, 2, 3]


@pytest.mark.clause("B-58", "B-54")
def test_every_request_shows_the_log_as_it_is_then() -> None:
    """Prompt, reply, result and steering are there; a request never changes afterwards."""
    with Scene() as scene:
        scene.replies = [CALL]
        scene.at("TR", lambda: scene.a.steer("S"))
        scene.ask("A")
        scene.settle()
        first, second = scene.requests
        assert [each.role for each in first.messages] == ["user"]
        assert [each.role for each in second.messages] == ["user", "assistant", "user", "user"]
