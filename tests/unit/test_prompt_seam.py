"""Prompts are submitted before they are recorded, and may be changed or blocked."""

from collections.abc import Callable
from typing import Any

import pytest

from runtime import (
    Limits,
    exchange,
    seams,
)
from runtime.seams import (
    PROMPT_SUBMIT,
    Allow,
    Block,
    PromptSubmission,
)
from tests.unit.windows.scene import Scene

STEP = "SS CH CH AM SE"


def failing(_argument: object) -> object:
    """Raise as a plugin might."""
    raise ValueError("the plugin is out of order")


@pytest.mark.clause("B-87")
def test_every_prompt_is_submitted_once_in_order_inside_the_turn() -> None:
    """Also those that came while the turn was announced."""
    with Scene() as scene:
        asked: list[tuple[str, int, int]] = []

        def answer(it: seams.PromptSubmission) -> Allow:
            asked.append((it.message_id, it.turn, it.step))
            return Allow()

        scene.intercept(PROMPT_SUBMIT, answer)
        scene.ask("A", "B")
        scene.settle()
        assert asked == [("m1", 1, 0), ("m2", 1, 0)]
        one = "prompt/submit?"
        scene.expect(f"running TS {one} UM(A) {one} UM(B) {STEP} TE{{completed}} FLUSH idle W")


@pytest.mark.clause("B-88")
def test_a_prompt_may_be_replaced() -> None:
    """The log, and so the model, has the replacement."""
    with Scene() as scene:
        scene.intercept(PROMPT_SUBMIT, lambda _: Allow(content="better"))
        scene.ask("A")
        scene.settle()
        assert [each.text for each in scene.requests[0].messages] == ["better"]


@pytest.mark.clause("B-89")
def test_context_attached_to_a_prompt_follows_it() -> None:
    """Behind its own prompt, not behind the batch."""
    with Scene() as scene:
        scene.intercept(PROMPT_SUBMIT, lambda it: Allow(context=f"about {it.message_id}"))
        scene.ask("A", "B")
        scene.settle()
        logged = [each for each in scene.trace() if each[:2] in ("UM", "CM")]
        records = [each for each in scene.records() if each.type == "context/message"]
        assert [each.data["source"]["kind"] for each in records] == ["plugin", "plugin"]
        assert [each[:2] for each in logged] == ["UM", "CM", "UM", "CM"]


@pytest.mark.clause("B-90", "A-54", "A-79")
def test_a_blocked_prompt_is_recorded_as_such_and_the_others_run() -> None:
    """Its original content and the reason stand in the log, and its fate says so."""
    with Scene() as scene:
        fates: list[object] = []

        async def ask() -> None:
            fates.append(await exchange(scene.a, "A"))

        scene.intercept(PROMPT_SUBMIT, lambda it: Block("no") if it.message_id == "m1" else Allow())
        scene.stage.spawn(ask(), "exchange")
        scene.stage.tick()
        scene.a.send("B")
        scene.settle()
        record = next(each for each in scene.records() if each.type == "prompt/blocked")
        assert (record.data["reason"], record.data["content"][0]["text"]) == ("no", "A")
        assert [each.text for each in scene.requests[0].messages] == ["B"]
        assert scene.trace()[-3:] == ["TE{completed}", "FLUSH", "idle"]
        (fate,) = fates
        assert (fate.fate, fate.ending, fate.reason, fate.text) == (  # type: ignore[attr-defined]
            "blocked", "completed", "no", "",
        )  # fmt: skip


@pytest.mark.clause("B-90", "B-91")
@pytest.mark.parametrize("blocked", ["m1", "m2", "m3"])
def test_one_prompt_that_is_let_in_makes_a_turn(blocked: str) -> None:
    """Wherever in its batch the blocked one stands."""
    with Scene() as scene:
        scene.intercept(
            PROMPT_SUBMIT, lambda it: Block("no") if it.message_id == blocked else Allow()
        )
        scene.ask("A", "B", "C")
        scene.settle()
        assert scene.trace()[-4:] == ["TE{completed}", "FLUSH", "idle", "W"]
        assert len(scene.requests[0].messages) == 2


@pytest.mark.clause("B-91")
def test_a_turn_whose_prompts_are_all_blocked_is_rejected_with_the_last_reason() -> None:
    """No step is opened and no model asked."""
    with Scene() as scene:
        scene.intercept(PROMPT_SUBMIT, lambda it: Block(f"no-{it.message_id}"))
        scene.ask("A", "B")
        scene.settle()
        one = "prompt/submit?"
        scene.expect(f"running TS {one} PB(A) {one} PB(B) TE{{rejected:no-m2}} FLUSH idle W")
        assert scene.requests == []


@pytest.mark.clause("B-12")
def test_a_rejection_wins_over_a_cancel() -> None:
    """The interceptor cancels and blocks."""
    with Scene() as scene:

        def answer(_: object) -> Block:
            scene.a.cancel("r")
            return Block("no")

        scene.intercept(PROMPT_SUBMIT, answer)
        scene.ask("A")
        scene.settle()
        scene.expect("running TS prompt/submit? cancelled PB(A) TE{rejected:no} FLUSH idle W")


@pytest.mark.clause("B-92", "B-109")
@pytest.mark.parametrize(
    "answer",
    [failing, lambda _: None, lambda _: Allow(content=b"bytes"), lambda _: Block(5)],  # type: ignore[arg-type]
    ids=["raises", "answers nothing", "replaces by bytes", "no reason"],
)
def test_a_prompt_whose_interceptor_fails_is_recorded_and_the_others_run_later(
    answer: Callable[[Any], object],
) -> None:
    """The turn ends as `error`; those behind it are the next turn."""
    with Scene() as scene:
        first = [True]

        def only_once(it: object) -> object:
            if first:
                first.clear()
                return answer(it)
            return Allow()

        scene.intercept(PROMPT_SUBMIT, only_once)
        scene.ask("A", "B")
        scene.settle()
        scene.expect(
            "running TS prompt/submit? UM(A) ERR(0) TE{error} FLUSH "
            f"TS prompt/submit? UM(B) {STEP} TE{{completed}} FLUSH idle W"
        )


@pytest.mark.clause("B-109")
def test_a_replacement_that_the_log_cannot_keep_leaves_the_prompt_as_it_was() -> None:
    """It is larger than one record may be."""
    with Scene(limits=Limits(record_bytes_max=2_000)) as scene:
        scene.intercept(PROMPT_SUBMIT, lambda _: Allow(content="x" * 3_000))
        scene.ask("A")
        scene.settle()
        scene.expect("running TS prompt/submit? UM(A) ERR(0) TE{error} FLUSH idle W")


@pytest.mark.clause("B-109", "B-92", "A-13")
def test_prompts_behind_a_broken_one_run_before_what_was_sent_meanwhile() -> None:
    """They were accepted first, so they go back to the head of the queue."""
    with Scene() as scene:

        def judge(submission: PromptSubmission) -> Allow:
            if submission.message_id == "m1":
                submission.agent.send("C")
                raise ValueError("out of order")
            return Allow()

        scene.intercept(PROMPT_SUBMIT, judge)
        scene.a.send("A")
        scene.a.send("B")
        scene.settle()
        told = [each for each in scene.records() if each.type == "user/message"]
        assert [each.data["message_id"] for each in told] == ["m1", "m2", "m3"]
