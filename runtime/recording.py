"""What a turn writes into the log of its session, beside its boundaries.

Each function appends what was decided elsewhere, and none looks at the status.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from .errors import InvalidRecordError
from .seams import Allow, Attachment, PromptVerdict
from .session.content import Block, freeze_json
from .session.records import RECORD_TYPES, Record
from .tools import ToolErrorInfo, ToolResult
from .turn import AcceptedMessage, Context, Turn

if TYPE_CHECKING:
    from .core import Core

__all__ = [
    "record_attachments",
    "record_context",
    "record_deferred",
    "record_interruptions",
    "record_message",
    "record_of_plugin",
    "record_prompt",
    "record_reason_to_go_on",
    "record_result",
]


def record_message(
    core: "Core",
    type_name: str,
    message: AcceptedMessage,
    content: tuple[Block, ...] | None = None,
) -> None:
    """Record one accepted message in the open turn; from here on that is its fate."""
    data = {
        "turn": core.turn.number,
        "message_id": message.message_id,
        "content": message.content if content is None else content,
        "source": message.source,
    }
    core.log.append(type_name, data, placement="append")
    if message.watcher is not None:
        core.turn.watched.append((message, None))


def record_prompt(core: "Core", message: AcceptedMessage, verdict: PromptVerdict) -> None:
    """Record a prompt of the batch, or that it was blocked.

    Clauses: B-88 B-90
    """
    if isinstance(verdict, Allow):
        record_message(core, "user/message", message, verdict.content)
        return
    turn = core.turn
    data = {
        "turn": turn.number,
        "message_id": message.message_id,
        "content": message.content,
        "source": message.source,
        "reason": verdict.reason,
    }
    core.log.append("prompt/blocked", data)
    turn.blocked_reason = verdict.reason
    if message.watcher is not None:
        turn.watched.append((message, verdict.reason))


def record_attachments(core: "Core", attachments: Iterable[Attachment]) -> None:
    """Record the context that an interceptor attached.

    Clauses: B-89
    """
    for each in attachments:
        record_context(core, Context(each.content, each.source))


def record_of_plugin(core: "Core", turn: Turn, type_name: str, data: Mapping[str, Any]) -> Record:
    """Append a record of a plugin's own type to the turn that it was asked in.

    Raises:
        InvalidRecordError: the type belongs to the runtime, or that turn is over.
        InvalidContentError: the data would not survive the log.
        LimitError: the data is too large or too deep.

    Clauses: B-57 D-18
    """
    if type_name in RECORD_TYPES:
        raise InvalidRecordError(
            f"{type_name} is written by the runtime alone; a plugin names its own like vendor/name"
        )
    if core.turn is not turn or turn.outcome is not None:
        raise InvalidRecordError(f"{type_name} refused: turn {turn.number} is over")
    record = core.log.append(type_name, data)
    core.outbox.deliver()
    return record


_CONTINUATION: Final = freeze_json({"kind": "continuation"}, what="source")


def record_reason_to_go_on(core: "Core") -> None:
    """Record what the vote for this step tells the model, if it said anything.

    Clauses: B-70 B-107 B-151
    """
    reason, core.turn.reason_to_go_on = core.turn.reason_to_go_on, None
    if reason is not None:
        data = {"turn": core.turn.number, "content": reason, "source": _CONTINUATION}
        core.log.append("steering/message", data, placement="append")


# -- Context ---------------------------------------------------------------------------------------


def record_context(core: "Core", context: Context) -> None:
    """Record context in the open turn."""
    data = {"turn": core.turn.number, "content": context.content, "source": context.source}
    core.log.append("context/message", data, placement="append")


def record_deferred(core: "Core") -> None:
    """Record the context that waited for the last result.

    Clauses: A-16 B-67 B-142
    """
    deferred, core.turn.deferred = core.turn.deferred, []
    for context in deferred:
        record_context(core, context)


# -- Calls -----------------------------------------------------------------------------------------


def record_result(
    core: "Core", call_id: str, result: ToolResult, execution: str | None = None
) -> None:
    """Record the result of one call, under the id of that call.

    Args:
        core: whose call it was.
        call_id: which call.
        result: what came of it.
        execution: how far a call came that was interrupted, None for one that was not.

    Clauses: B-65 B-66 B-108
    """
    data = {
        "turn": core.turn.number,
        "step": core.turn.step,
        "call_id": call_id,
        **result.record_data(),
    }
    if execution is not None:
        data["execution"] = execution
    core.log.append("tool/result", data, placement="append")


_INTERRUPTED: Final = ToolResult(
    content="Error: the call was interrupted.",
    is_error=True,
    error=ToolErrorInfo(name="Interrupted", code="interrupted"),
)


def record_interruptions(core: "Core") -> None:
    """Answer every call of the step that has no result, saying how far it came.

    Clauses: B-108
    """
    for call_id in core.log.unanswered:
        execution = "unknown" if call_id in core.turn.entered else "not-started"
        record_result(core, call_id, _INTERRUPTED, execution)
