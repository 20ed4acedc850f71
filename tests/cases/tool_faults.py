"""Faults around the calls of tools, and around replies that did not come to their end."""

from collections.abc import Awaitable
from typing import Any

import pytest
from attrs import evolve

from runtime import asking, calling, obey, visits
from runtime.core import Core
from runtime.model import assemble
from runtime.recording import record_context, record_result
from runtime.tools import ToolErrorInfo, ToolResult, failed_result
from runtime.turn import Context
from statemachine import Command, Input, Window

from .planting import fault

__all__: list[str] = []

_INTERRUPTED = ToolErrorInfo(name="Interrupted", code="interrupted")


@fault
def calls_not_closed(patch: pytest.MonkeyPatch) -> None:
    """A step closes over calls that nobody has answered."""
    patch.setitem(obey.OBEY, Command.CLOSE_CALLS, lambda *_: None)


@fault
def said_never_to_have_run(patch: pytest.MonkeyPatch) -> None:
    """A call whose body was entered is told like one that was not started."""
    close = obey.OBEY[Command.CLOSE_CALLS]

    def forget_and_close(core: Core, argument: object) -> None:
        core.turn.entered.clear()
        close(core, argument)

    patch.setitem(obey.OBEY, Command.CLOSE_CALLS, forget_and_close)


@fault
def every_failure_an_interruption(patch: pytest.MonkeyPatch) -> None:
    """A tool that failed, or was denied, is told like one that was interrupted."""

    def failed(error: Exception) -> ToolResult:
        return evolve(failed_result(error), error=_INTERRUPTED)

    def refused(text: str, *_: str) -> ToolResult:
        return ToolResult(content=text, is_error=True, error=_INTERRUPTED)

    patch.setattr(calling, "failed_result", failed)
    patch.setattr(calling, "_refused", refused)


@fault
def the_tool_names_its_call(patch: pytest.MonkeyPatch) -> None:
    """What a tool gives back decides which call it belongs to."""

    def record(core: Core, call_id: str, result: ToolResult) -> None:
        named = result.meta["call_id"] if result.meta is not None else call_id
        record_result(core, named, result)

    patch.setattr(calling, "record_result", record)


@fault
def any_answer_is_taken(patch: pytest.MonkeyPatch) -> None:
    """Nobody looks at what an interceptor gives back."""

    async def ask(core: Core, seam: Any, argument: Any, body: Any, *_: type) -> Any:  # noqa: ANN401  # passed on
        return await asking.ask(core, seam, argument, body, object)

    patch.setattr(calling, "ask", ask)


@fault
def injected_at_once(patch: pytest.MonkeyPatch) -> None:
    """An injection is recorded where it comes, also between a call and its result."""

    def join(core: Core, context: Context) -> None:
        record_context(core, context)

    patch.setitem(obey.OBEY, Command.JOIN, join)


@fault
def half_a_reply_recorded(patch: pytest.MonkeyPatch) -> None:
    """What a model had said before it was cut, or failed, is recorded as its message."""
    stream = visits.VISITS[Window.STREAM]

    async def salvage(core: Core, answer: Awaitable[Input]) -> Input:
        try:
            return await answer
        except Exception:
            if core.turn.chunks:
                visits._record_reply(core, assemble(core.turn.chunks))  # noqa: SLF001  # the fault
            raise

    def visit(core: Core) -> visits.Outcome:
        outcome = stream(core)
        assert not isinstance(outcome, Input)
        return salvage(core, outcome)

    patch.setitem(visits.VISITS, Window.STREAM, visit)
