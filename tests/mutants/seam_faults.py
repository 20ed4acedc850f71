"""Faults around interceptors and tools, and what runs beside the driver for a stopped turn."""

from typing import Any
from unittest.mock import patch

from runtime import asking, calling, obey, visits
from runtime.core import Core
from runtime.obey import place_discarded
from runtime.recording import record_prompt, record_result
from runtime.seams import Block, PromptVerdict
from runtime.session.content import USER_SOURCE
from runtime.session.records import Enclosure
from runtime.tools import ToolResult
from runtime.turn import AcceptedMessage, Offer
from runtime.visits import VISITS, Outcome
from statemachine import Input, Window

from .runtime_faults import Planted, nothing, patched, patient, replacing

__all__: list[str] = []

_VISITS = dict(VISITS)


def ask_although_stopped() -> Planted:
    """Ask the model although the turn was stopped before its child task ran."""
    return patient(replacing(asking, "go_on", nothing))


# -- Interceptors and tools ------------------------------------------------------------------------


def enter_although_stopped() -> Planted:
    """Enter the body of a tool although the turn was stopped before its task ran."""
    return replacing(asking, "go_on", nothing)


def ask_about_every_prompt() -> Planted:
    """Ask about what is left of a batch although the turn was stopped."""
    return patched(
        lambda: patch.object(visits, "is_stopped", lambda _: False),
        lambda: patch.object(asking, "go_on", nothing),
    )


def leave_calls_unanswered() -> Planted:
    """Close steps over calls without a result, in a log that lets it happen."""
    inside = Enclosure._inside_step  # noqa: SLF001  # the log's own check would find it first

    def anyhow(self: Enclosure, type_name: str, data: Any, *, is_seed: bool) -> None:  # noqa: ANN401, ARG001  # as there
        inside(self, type_name, data, is_seed=True)

    return patched(
        lambda: patch.object(obey, "record_interruptions", nothing),
        lambda: patch.object(Enclosure, "_inside_step", anyhow),
    )


def answer_calls_twice() -> Planted:
    """Record every result twice, in a log that lets it happen."""
    about = Enclosure._about_call  # noqa: SLF001  # the log's own check would find it first

    def anyhow(self: Enclosure, type_name: str, call_id: str) -> None:
        if call_id in self.unanswered:
            about(self, type_name, call_id)

    def twice(core: Core, call_id: str, result: ToolResult) -> None:
        record_result(core, call_id, result)
        record_result(core, call_id, result)

    return patched(
        lambda: patch.object(calling, "record_result", twice),
        lambda: patch.object(Enclosure, "_about_call", anyhow),
    )


def run_the_overruled_reason(core: Core) -> Outcome:
    """Take a reason to go on that a stop overruled for a message."""
    reason, core.turn.reason_to_go_on = core.turn.reason_to_go_on, None
    if reason is not None and core.turn.authority.signal.is_aborted:
        core.call(Input.SEND, Offer(reason, USER_SOURCE, "send"))
    return _VISITS[Window.CLOSING](core)


def discard_what_is_blocked() -> Planted:
    """Record that a prompt was blocked, and discard it as well."""

    def record_and_discard(core: Core, message: AcceptedMessage, verdict: PromptVerdict) -> None:
        record_prompt(core, message, verdict)
        if isinstance(verdict, Block):
            place_discarded(core, message, "error", verdict.reason)

    return replacing(visits, "record_prompt", record_and_discard)


def lose_what_lies_behind(core: Core) -> Outcome:
    """Let a prompt that broke take along those behind it."""

    async def visit() -> Input:
        outcome = _VISITS[Window.PROMPTS](core)
        outcome = outcome if isinstance(outcome, Input) else await outcome
        if outcome is not Input.BROKE_OFF:
            return outcome
        core.turn.unread = []
        return Input.FAILED

    return visit()
