"""What a model is to this runtime: one question, a stream of chunks as the answer.

The chunks are recorded as they come; `assemble` makes the message out of them when the stream has
ended. A model is foreign code: it may yield nothing, end without saying why, raise, or hang. What
each of these means is decided here and in the driver, never by the model.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from enum import StrEnum
from typing import Any, Final, Protocol, TypeAlias, assert_never

from attrs import evolve, field, frozen

from .errors import InvalidContentError, ModelError
from .limits import ANY_SIZE, CALL_ID_BYTES_MAX
from .session.content import (
    Block,
    FrozenList,
    FrozenObject,
    check_blocks,
    freeze_json,
    text_of,
)
from .session.derive import Message

__all__ = [
    "AbortSignalLike",
    "Call",
    "Chunk",
    "EchoModel",
    "Finish",
    "FinishKind",
    "Model",
    "ModelRequest",
    "ReasoningDelta",
    "Reply",
    "TextDelta",
    "ToolCallDelta",
    "Usage",
    "assemble",
    "chunk_to_json",
    "is_cooperative",
    "last_user_text",
]


class FinishKind(StrEnum):
    """Why a model stopped."""

    STOP = "stop"
    TOOL_CALLS = "tool-calls"
    MAX_TOKENS = "max-tokens"
    ABORTED = "aborted"
    ERROR = "error"


@frozen
class TextDelta:
    """A piece of the answer's text."""

    text: str


@frozen
class ReasoningDelta:
    """A piece of the model's reasoning."""

    text: str


@frozen
class ToolCallDelta:
    """A piece of a call: pieces with one `call_id` are one call, their `arguments` one string."""

    call_id: str
    name: str
    arguments: str


@frozen
class Usage:
    """What the answer cost, in the model's own words; a later one replaces an earlier one."""

    data: dict[str, Any]


@frozen
class Finish:
    """The end of the answer; nothing behind it is read."""

    kind: FinishKind = field(converter=FinishKind)
    code: str | None = None
    message: str | None = None


_PLAIN_STOP: Final = Finish(FinishKind.STOP)


Chunk: TypeAlias = TextDelta | ReasoningDelta | ToolCallDelta | Usage | Finish
"""One element of a model's stream."""


class AbortSignalLike(Protocol):
    """The turn's abort signal, as a model sees it."""

    @property
    def is_aborted(self) -> bool:
        """Whether the turn has been stopped."""
        ...

    @property
    def reason(self) -> str | None:
        """Why it was stopped, or None while it was not."""
        ...

    def on_abort(self, callback: Callable[[], None]) -> object:
        """Call back when the turn is stopped; at once if it has been."""
        ...

    async def wait(self) -> object:
        """Wait until the turn is stopped."""
        ...


@frozen(kw_only=True)
class ModelRequest:
    """One question to a model."""

    agent_id: str
    session_id: str
    turn: int
    step: int
    system: str = ""
    messages: Sequence[Message] = ()
    """The derived history, oldest first; frozen."""
    tools: tuple[FrozenObject, ...] = ()


class Model(Protocol):
    """Something that answers requests."""

    @property
    def cooperative(self) -> bool:
        """Whether a cancellation passes through the stream at once.

        Claim it only where a test proves it: a body that swallows its cancellation would hold up
        the whole agent.
        """
        ...

    def stream(self, request: ModelRequest, signal: AbortSignalLike) -> AsyncIterator[Chunk]:
        """Answer a request, piece by piece.

        A stream that ends without `Finish` is a plain stop. A failure is raised as `ModelError`.
        """
        ...


def is_cooperative(model: object) -> bool:
    """Whether a model claims to let cancellations pass; one that says nothing does not."""
    return getattr(model, "cooperative", False) is True


@frozen
class Call:
    """One call of a tool that a model asks for; `arguments` as the model wrote them."""

    call_id: str
    name: str
    arguments: str


def _content(value: Sequence[Any]) -> tuple[Block, ...]:
    content = freeze_json(
        value if type(value) is FrozenList else list(value), what="content", limits=ANY_SIZE
    )
    check_blocks(content, "content")
    call_ids = [block["call_id"] for block in content if block["type"] == "tool-call"]
    if len(set(call_ids)) != len(call_ids):
        raise InvalidContentError("two calls of a reply have one call_id; each needs its own")
    if any(_is_too_long(each) for each in call_ids):
        raise InvalidContentError(f"a call_id has at most {CALL_ID_BYTES_MAX} bytes")
    return content  # type: ignore[no-any-return]  # a FrozenList is a tuple of blocks


@frozen(kw_only=True)
class Reply:
    """A whole answer.

    Raises:
        InvalidContentError: the content is no list of blocks, or two calls share an id.
    """

    content: tuple[Block, ...] = field(default=(), converter=_content)
    """Frozen blocks: reasoning, text and calls in the order in which they began."""
    usage: FrozenObject | None = None
    finish: Finish

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to record: no content and no usage (B-60)."""
        return not self.content and self.usage is None

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls that its content asks for, in order."""
        return tuple(
            Call(block["call_id"], block["name"], block["arguments"])
            for block in self.content
            if block["type"] == "tool-call"
        )

    @property
    def text(self) -> str:
        """The texts of its text blocks, one after the other."""
        return text_of(self.content)

    def without_calls(self) -> "Reply":
        """Return the reply without any call, for an answer that was cut off (B-73)."""
        kept = [block for block in self.content if block["type"] != "tool-call"]
        return evolve(self, content=kept)


def chunk_to_json(chunk: Chunk) -> dict[str, Any]:
    """Return a chunk as the JSON object that is recorded.

    Raises:
        ModelError: it is no chunk, or a field of it is not of its type.
    """
    match chunk:
        case TextDelta():
            return {"type": "text", "text": _string(chunk.text, "text")}
        case ReasoningDelta():
            return {"type": "reasoning", "text": _string(chunk.text, "text")}
        case ToolCallDelta():
            return {
                "type": "tool-call",
                "call_id": _call_id(chunk.call_id),
                "name": _string(chunk.name, "name"),
                "arguments": _string(chunk.arguments, "arguments"),
            }
        case Usage():
            return {"type": "usage", "data": chunk.data}
        case Finish():
            return _finish_to_json(chunk)
        case _:
            # By its type it cannot be; but a model is foreign code, and types bind nobody.
            raise _foreign(chunk)


def _foreign(chunk: object) -> ModelError:
    kind = type(chunk).__name__
    return ModelError(f"the model yielded a {kind}, which is no chunk", code="bad-chunk")


def _finish_to_json(chunk: Finish) -> dict[str, Any]:
    rendered = {"type": "finish", "kind": chunk.kind.value}
    if chunk.code is not None:
        rendered["code"] = _string(chunk.code, "code")
    if chunk.message is not None:
        rendered["message"] = _string(chunk.message, "message")
    return rendered


def _call_id(value: object) -> str:
    call_id = _string(value, "call_id")
    if _is_too_long(call_id):
        raise ModelError(
            f"the model yielded a call_id of more than {CALL_ID_BYTES_MAX} bytes",
            code="bad-chunk",
        )
    return call_id


def _is_too_long(call_id: str) -> bool:
    return len(call_id.encode(errors="replace")) > CALL_ID_BYTES_MAX


def _string(value: object, name: str) -> str:
    if type(value) is not str:
        kind = type(value).__name__
        raise ModelError(f"the model yielded a chunk whose {name} is a {kind}", code="bad-chunk")
    return value


def assemble(chunks: Iterable[Chunk]) -> Reply:
    """Make the whole answer out of its pieces.

    Neighbouring pieces of text become one block, and so do neighbouring pieces of reasoning. An
    answer that was cut off at its token limit keeps no calls: they may be incomplete.

    Raises:
        ModelError: one of the pieces is no chunk.

    Clauses: B-60 B-73
    """
    blocks: list[dict[str, Any]] = []
    by_call: dict[str, dict[str, Any]] = {}
    usage: dict[str, Any] | None = None
    finish = _PLAIN_STOP
    for chunk in chunks:
        piece = chunk_to_json(chunk)
        match chunk:
            case TextDelta() | ReasoningDelta():
                _add_text(piece, blocks)
            case Finish():
                finish = chunk
                break
            case Usage():
                usage = chunk.data
            case ToolCallDelta():
                _add_call(piece, blocks, by_call)
            case _:
                assert_never(chunk)
    reply = Reply(
        content=blocks,
        usage=None if usage is None else freeze_json(usage, what="usage", limits=ANY_SIZE),
        finish=finish,
    )
    return reply.without_calls() if finish.kind is FinishKind.MAX_TOKENS else reply


def _add_text(piece: dict[str, Any], blocks: list[dict[str, Any]]) -> None:
    if not piece["text"]:
        return
    if blocks and blocks[-1]["type"] == piece["type"]:
        blocks[-1]["text"] += piece["text"]
    else:
        blocks.append(piece)


def _add_call(
    piece: dict[str, Any], blocks: list[dict[str, Any]], by_call: dict[str, dict[str, Any]]
) -> None:
    begun = by_call.get(piece["call_id"])
    if begun is None:
        by_call[piece["call_id"]] = piece
        blocks.append(piece)
        return
    begun["name"] = begun["name"] or piece["name"]
    begun["arguments"] += piece["arguments"]


def last_user_text(messages: Sequence[Message]) -> str:
    """Return the text of the newest user message that has any, or nothing.

    Results of tools are user messages, too, but have no text of their own.
    """
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message.role == "user" and message.text:
            return message.text
    return ""


class EchoModel:
    """A model that answers with the text of the last user message."""

    __slots__ = ()

    cooperative: Final = True

    async def stream(
        self,
        request: ModelRequest,
        signal: AbortSignalLike,  # noqa: ARG002  # an answer at once has nothing to abort
    ) -> AsyncIterator[Chunk]:
        """Answer at once, in one piece."""
        text = last_user_text(request.messages)
        if text:
            yield TextDelta(text)
        yield _PLAIN_STOP
