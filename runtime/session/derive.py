"""The history that a model sees, derived from the log.

**The surface** is the sequence of the message-producing records that still count: a new one is put
at its end, or in the place of a range that it replaces. Nothing is ever removed from the log; a
replaced record merely is no longer on the surface.

`Surface` follows a log with a cursor, so each record is looked at once in its life, and it keeps
the messages it has made. They are frozen, like the records they come from, and so are shared: a
request can neither change the log nor another request (D-25). What it hands out is a view of the
messages as they were, in constant time: the list behind it only grows, and a replacement starts a
new list.
"""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Literal, overload

from attrs import frozen

from runtime.errors import InvalidRecordError
from runtime.limits import ANY_SIZE

from .content import Block, FrozenObject, freeze_json, text_of
from .records import RECORD_TYPES, Placement, Record

__all__ = ["History", "Message", "Surface", "check_placement", "check_sources", "messages"]


@frozen
class Message:
    """One message of the derived history."""

    role: Literal["user", "assistant"]
    content: tuple[Block, ...]
    """Frozen blocks; `thaw` gives a copy that may be changed."""
    seqs: tuple[int, ...]
    """The records it was derived from."""

    @property
    def text(self) -> str:
        """The texts of its text blocks, one after the other."""
        return text_of(self.content)


class History(Sequence[Message]):
    """The messages of a log as they were when this view was taken."""

    __slots__ = ("_length", "_messages")

    def __init__(self, growing: list[Message]) -> None:
        self._messages = growing
        self._length = len(growing)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | Sequence[Message]:
        if isinstance(index, slice):
            return tuple(self._messages[: self._length][index])
        return self._messages[range(self._length)[index]]

    def __iter__(self) -> Iterator[Message]:
        return iter(self._messages[: self._length])

    def __repr__(self) -> str:
        return f"History({list(self)!r})"


def messages(events: Sequence[Record]) -> list[Message]:
    """Derive the whole history of a log at once.

    Clauses: D-16 D-17 D-23 D-24 D-25 D-26 D-49
    """
    surface = Surface()
    surface.follow(events)
    return list(surface.history)


class Surface:
    """The records of one log that a model sees, kept up to date on demand."""

    __slots__ = ("_messages", "_nodes", "_position")

    def __init__(self) -> None:
        # The seqs on the surface in order, and those of them that make a message, made.
        self._nodes: list[int] = []
        self._messages: list[Message] = []
        self._position = 0

    @property
    def history(self) -> History:
        """The messages up to the last record followed, in constant time."""
        return History(self._messages)

    def follow(self, events: Sequence[Record]) -> None:
        """Take in the records that were appended since the last call."""
        for position in range(self._position, len(events)):
            record = events[position]
            if record.placement is not None:
                self._take(record)
        self._position = len(events)

    def shadowed_by(self, type_name: str, ends: FrozenObject) -> list[int]:
        """Return the seqs that a replacement would take off the surface.

        Raises:
            InvalidRecordError: an end is not on the surface, or the start comes after the end.

        Clauses: D-15
        """
        for name in ("start", "end"):
            if ends[name] not in self._nodes:
                raise InvalidRecordError(
                    f"{type_name}: the {name} of the replaced range, {ends[name]}, "
                    "is not in the history"
                )
        first, last = self._nodes.index(ends["start"]), self._nodes.index(ends["end"])
        if first > last:
            raise InvalidRecordError(f"{type_name}: the replaced range ends before it starts")
        return self._nodes[first : last + 1]

    def _take(self, record: Record) -> None:
        message = _message_of(record)
        if isinstance(record.placement, str):
            self._nodes.append(record.seq)
            if message is not None:
                self._messages.append(message)
            return
        assert record.placement is not None
        shadowed = self.shadowed_by(record.type, record.placement["replace"])
        first = self._nodes.index(shadowed[0])
        self._nodes[first : first + len(shadowed)] = [record.seq]
        # Looked up once: a long range of a long history would cost their product.
        before, gone = set(self._nodes[:first]), set(shadowed)
        kept = [each for each in self._messages if each.seqs[0] not in gone]
        at = sum(each.seqs[0] in before for each in kept)
        # A new list, never a change of the old one: views of the old one are still in use.
        self._messages = [*kept[:at], *([] if message is None else [message]), *kept[at:]]


def _message_of(record: Record) -> Message | None:
    data, seqs = record.data, (record.seq,)
    match record.type:
        case "user/message":
            return Message("user", data["content"], seqs)
        case "assistant/message":
            # A message that only reports usage has nothing to say (D-24).
            return Message("assistant", data["content"], seqs) if data["content"] else None
        case "tool/result":
            result = {
                "type": "tool-result",
                "call_id": data["call_id"],
                "content": data["content"],
                "is_error": data["is_error"],
            }
            return Message("user", _frozen([result], record), seqs)
        case "steering/message":
            return _enveloped("steering", record)
        case "context/message":
            return _enveloped("context", record)
        case other:
            raise AssertionError(f"{other} carries a placement but makes no message")


def _enveloped(name: str, record: Record) -> Message:
    # Text around the blocks, so that any model can read where the content came from, and blocks
    # that are no text stay what they are.
    kind = escape(str(record.data["source"].get("kind", "unknown")))
    opening = {"type": "text", "text": f'<{name} source="{kind}">\n'}
    closing = {"type": "text", "text": f"\n</{name}>"}
    content = _frozen([opening, *record.data["content"], closing], record)
    return Message("user", content, (record.seq,))


def _frozen(content: list[object], record: Record) -> tuple[Block, ...]:
    # What is in the log was measured when it came, and must not be too large to be read.
    frozen: tuple[Block, ...] = freeze_json(content, what=record.type, limits=ANY_SIZE)
    return frozen


def check_placement(type_name: str, placement: object) -> Placement | None:
    """Check that a record says where it goes in the history exactly if it belongs there.

    Raises:
        InvalidRecordError: it does not, or the placement is none.

    Clauses: D-11 D-12 D-13
    """
    declared = RECORD_TYPES.get(type_name)
    is_message = declared is not None and declared.is_message
    if placement is None:
        if is_message:
            raise InvalidRecordError(f"{type_name} needs a placement: append, or a replace range")
        return None
    if not is_message:
        raise InvalidRecordError(f"{type_name} is no message and must not carry a placement")
    if type(placement) is str and placement == "append":
        return "append"
    frozen_placement = freeze_json(placement, what=f"{type_name}.placement")
    if _is_replace(frozen_placement):
        return frozen_placement  # type: ignore[no-any-return]
    raise InvalidRecordError(
        f"{type_name}: a placement is 'append' or {{'replace': {{'start': seq, 'end': seq}}}}"
    )


def _is_replace(placement: object) -> bool:
    if type(placement) is not FrozenObject or placement.keys() != {"replace"}:
        return False
    ends = placement["replace"]
    return (
        type(ends) is FrozenObject
        and ends.keys() == {"start", "end"}
        and all(type(end) is int for end in ends.values())
    )


def check_sources(
    type_name: str, sources: Sequence[int] | None, placement: Placement | None, seq: int
) -> tuple[int, ...] | None:
    """Check and copy the seqs that a message was made from.

    Raises:
        InvalidRecordError: they are no list, empty, repeated or not earlier, or this is no message.

    Clauses: D-11 D-13 D-14
    """
    if sources is None:
        return None
    if placement is None:
        raise InvalidRecordError(f"{type_name} is no message and must not carry sources")
    if not isinstance(sources, list | tuple):
        raise InvalidRecordError(f"{type_name}: sources must be a list of seqs of earlier records")
    copied = tuple(sources)
    if not copied:
        raise InvalidRecordError(f"{type_name}: sources must not be empty; leave them out")
    if any(type(each) is not int or not 0 <= each < seq for each in copied):
        raise InvalidRecordError(f"{type_name}: sources must be seqs of earlier records")
    if len(set(copied)) != len(copied):
        raise InvalidRecordError(f"{type_name}: sources must not repeat a seq")
    return copied
