"""What a client sends as a prompt, and what it is answered."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final
from xml.sax.saxutils import quoteattr

from acp import RequestError
from acp.schema import TextResourceContents
from attrs import define

from runtime.turn import Fate

if TYPE_CHECKING:
    import asyncio

__all__ = ["Prompt", "prompt_text", "stop_reason"]

_STOP_REASONS: Final = {
    "completed": "end_turn",
    "max-tokens": "max_tokens",
    "max-steps": "max_turn_requests",
    "rejected": "refusal",
    "aborted": "cancelled",
    "disposed": "cancelled",
    "interrupted": "cancelled",
}


@define(eq=False)
class Prompt:
    """One prompt of a client, from its acceptance until it is answered."""

    fate: "asyncio.Future[Fate]"
    message_id: str | None = None
    turn: int | None = None
    """The turn that recorded it."""
    is_fixed: bool = False
    """Whether that turn has ended, so that no cancel changes the outcome any more."""
    is_cancelled: bool = False
    """Whether the client has cancelled it before that."""
    cause: str | None = None
    """Why it was discarded, if it was."""


def prompt_text(blocks: Sequence[Any]) -> str:
    """Return a prompt as text: links as references, files that are text with their content.

    Raises:
        RequestError: it holds something else, or nothing to read.

    Clauses: J-06 J-08 J-73
    """
    text = "".join(_block_text(block) for block in blocks)
    if not text.strip():
        raise RequestError.invalid_params({"details": "the prompt is blank; say something"})
    return text


def _block_text(block: Any) -> str:  # noqa: ANN401  # a model of the SDK
    match block.type:
        case "text":
            return str(block.text)
        case "resource_link":
            return f"[{block.name}]({block.uri})"
        case "resource" if isinstance(block.resource, TextResourceContents):
            # Apart from what the client says, and with the name under which tools find it.
            opening = f"<resource uri={quoteattr(block.resource.uri)}>"
            return f"\n{opening}\n{block.resource.text}\n</resource>\n"
        case kind:
            given = "binary resource" if kind == "resource" else kind
            why = f"a prompt takes text, resource_link and resource blocks of text, no {given}"
            raise RequestError.invalid_params({"details": why})


def stop_reason(prompt: Prompt, fate: Fate) -> str:
    """Return why a prompt is over, in the protocol's words.

    Raises:
        RequestError: its turn failed, or it was dropped because of a failure.

    Clauses: J-14 J-15 J-56
    """
    if prompt.is_cancelled:
        return "cancelled"
    if fate.fate == "discarded":
        if prompt.cause == "error":
            raise RequestError.internal_error({"details": fate.reason})
        return "cancelled"
    if fate.fate == "blocked":
        return "refusal"
    if fate.ending == "error":
        raise RequestError.internal_error({"details": fate.reason or "the turn failed"})
    assert fate.ending is not None
    return _STOP_REASONS[fate.ending]
