"""What a client is shown of a session: its records as updates of the protocol.

The same records give the same updates, live and when a session is loaded; only what the client
itself has just sent is not shown to it again.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from attrs import define, field

from runtime.session.content import FrozenObject, thaw
from runtime.session.records import Record
from runtime.tools import ToolRegistry, parse_arguments

from .frames import Frame
from .plans import plan_update

__all__ = ["Presenter", "call_title"]

_TITLE_CHARACTERS_MAX: Final = 200


@define(eq=False)
class Presenter:
    """Turns the records of one session into updates, in their order.

    Clauses: J-25 J-26 J-43 J-74
    """

    _tools: ToolRegistry
    _shown: set[str] = field(init=False, factory=set)
    """The kinds of text of the open step that were shown piece by piece."""
    _names: dict[str, tuple[str, str]] = field(init=False, factory=dict)
    """The calls that are open: name and arguments."""

    def live(self, record: Record) -> Iterator[Frame]:
        """Give the updates of a record that was just appended."""
        if record.type != "user/message":
            yield from self.replayed(record)

    def replayed(self, record: Record) -> Iterator[Frame]:
        """Give the updates of a record of a session that is loaded."""
        data = record.data
        match record.type:
            case "user/message":
                yield from _texts("user_message_chunk", data["content"])
            case "step/start":
                self._shown.clear()
            case "assistant/chunk":
                yield from self._chunk(data["chunk"])
            case "assistant/message":
                yield from self._message(data["content"])
            case "tool/call":
                yield from self._taken_up(data)
            case "tool/result":
                yield from self._result(data)
            case _:
                pass

    def _chunk(self, chunk: FrozenObject) -> Iterator[Frame]:
        kind = chunk["type"]
        if kind in _CHUNKS and chunk["text"]:
            self._shown.add(kind)
            yield _text(_CHUNKS[kind], chunk["text"])

    def _message(self, content: Any) -> Iterator[Frame]:  # noqa: ANN401  # frozen blocks
        for block in content:
            kind = block["type"]
            if kind in _CHUNKS and kind not in self._shown and block["text"]:
                yield _text(_CHUNKS[kind], block["text"])
            elif kind == "tool-call":
                yield self._call(block["call_id"], block["name"], block["arguments"])

    def _call(self, call_id: str, name: str, arguments: str) -> Frame:
        self._names[call_id] = (name, arguments)
        title, kind = call_title(self._tools, name, arguments)
        return {
            "sessionUpdate": "tool_call",
            "toolCallId": call_id,
            "title": title,
            "kind": kind,
            "status": "pending",
            "rawInput": thaw(parse_arguments(arguments)),
        }

    def _taken_up(self, data: FrozenObject) -> Iterator[Frame]:
        call_id = data["call_id"]
        if call_id not in self._names:
            # Its message is not in the log, so this is the first that the client hears of it.
            yield self._call(call_id, data["name"], data["arguments"])
        yield call_update(call_id, "in_progress")

    def _result(self, data: FrozenObject) -> Iterator[Frame]:
        call_id = data["call_id"]
        named = self._names.pop(call_id, None)
        if named is None:
            return
        texts = [block["text"] for block in data["content"] if block["type"] == "text"]
        content = [{"type": "content", "content": {"type": "text", "text": each}} for each in texts]
        status = "failed" if data["is_error"] else "completed"
        yield call_update(call_id, status) | {"content": content}
        if not data["is_error"]:
            yield from self._plan(*named, data.get("meta"))

    def _plan(self, name: str, arguments: str, meta: FrozenObject | None) -> Iterator[Frame]:
        presented = self._tools.presentation(name, parse_arguments(arguments), meta)
        plan = plan_update(name, presented or {})
        if plan is not None:
            yield plan


def call_update(call_id: str, status: str) -> Frame:
    """Return the update that gives a call another status."""
    return {"sessionUpdate": "tool_call_update", "toolCallId": call_id, "status": status}


def call_title(
    tools: ToolRegistry, name: str, arguments: str
) -> tuple[str, Literal["execute", "other"]]:
    """Return how a call is headed, and the kind of thing it does, in the protocol's words."""
    shown: Mapping[str, Any] = tools.presentation(name, parse_arguments(arguments)) or {}
    title = shown.get("title")
    said = title if type(title) is str and title.strip() else name
    heading = " ".join(said.split())[:_TITLE_CHARACTERS_MAX]
    return heading, "execute" if shown.get("kind") == "terminal" else "other"


_CHUNKS: Final = {"text": "agent_message_chunk", "reasoning": "agent_thought_chunk"}


def _texts(update: str, content: Any) -> Iterator[Frame]:  # noqa: ANN401  # frozen blocks
    for block in content:
        if block["type"] == "text" and block["text"]:
            yield _text(update, block["text"])


def _text(update: str, text: str) -> Frame:
    return {"sessionUpdate": update, "content": {"type": "text", "text": text}}
