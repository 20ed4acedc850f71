"""What a client is told of a prompt, by what became of it."""

import asyncio

import pytest

from acp import RequestError
from runtime.acp.prompts import Prompt, stop_reason
from runtime.turn import Fate


def _prompt(*, is_cancelled: bool = False, cause: str | None = None) -> Prompt:
    loop = asyncio.new_event_loop()
    try:
        return Prompt(fate=loop.create_future(), is_cancelled=is_cancelled, cause=cause)
    finally:
        loop.close()


def _fate(fate: str, ending: str | None = None, reason: str | None = None) -> Fate:
    return Fate(fate=fate, ending=ending, reason=reason, text="")


@pytest.mark.clause("J-14")
@pytest.mark.parametrize(
    ("ending", "told"),
    [
        ("completed", "end_turn"),
        ("max-tokens", "max_tokens"),
        ("max-steps", "max_turn_requests"),
        ("aborted", "cancelled"),
        ("disposed", "cancelled"),
    ],
)
def test_the_ending_of_the_turn_is_the_stop_reason(ending: str, told: str) -> None:
    """Each ending has one word of the protocol, whoever brought it about."""
    assert stop_reason(_prompt(), _fate("recorded", ending)) == told


@pytest.mark.clause("J-56")
def test_what_was_blocked_or_dropped_before_any_turn_has_words_of_its_own() -> None:
    """A policy's no is a refusal, and what a stop dropped was cancelled."""
    assert stop_reason(_prompt(), _fate("blocked", "rejected", "no")) == "refusal"
    for cause in ("cancelled", "disposed"):
        assert stop_reason(_prompt(cause=cause), _fate("discarded")) == "cancelled"


@pytest.mark.clause("J-15", "J-56")
@pytest.mark.parametrize(
    ("prompt", "fate"),
    [
        (_prompt(), _fate("recorded", "error", "the model broke")),
        (_prompt(cause="error"), _fate("discarded", reason="the model broke")),
    ],
    ids=["its turn failed", "it was dropped by a failure"],
)
def test_a_failure_is_an_error_that_says_what_failed(prompt: Prompt, fate: Fate) -> None:
    """The client shows the failure's own words."""
    with pytest.raises(RequestError) as caught:
        stop_reason(prompt, fate)
    assert caught.value.data == {"details": "the model broke"}


@pytest.mark.clause("J-19")
def test_what_the_client_cancelled_is_cancelled_whatever_else_happened() -> None:
    """The client asked for nothing else."""
    assert (
        stop_reason(_prompt(is_cancelled=True), _fate("recorded", "error", "broke")) == "cancelled"
    )
