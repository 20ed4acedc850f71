"""The types of records that the runtime writes, declared once.

`RECORD_TYPES` is data: validation, derived history, documentation and a JSON Schema all read it.
"""

from typing import Final, Literal

from attrs import evolve, field, frozen

from statemachine import Ending

from .frozen import FrozenList, FrozenObject

__all__ = ["ENDINGS", "NAMESPACES", "RECORD_TYPES", "Field", "RecordType"]

ENDINGS: Final = tuple(ending.value for ending in Ending)
"""Why a turn ended."""

_CLASSES: Final[dict[str, type]] = {
    "integer": int,
    "string": str,
    "boolean": bool,
    "object": FrozenObject,
    "array": FrozenList,
}


@frozen
class Field:
    """One field of a type of record."""

    name: str
    kind: Literal["integer", "string", "boolean", "object", "array"]
    """As JSON Schema calls it; an integer counts from 1, an array is content, a list of blocks."""
    meaning: str
    """What it says, for a reader."""
    is_required: bool = field(default=True, kw_only=True)
    choices: tuple[str, ...] = field(default=(), kw_only=True)
    """The only values, or none for any value of the kind."""


@frozen(kw_only=True)
class RecordType:
    """One type of record: its name, its fields, and whether a model ever sees it."""

    name: str
    story: str
    """What it says and who writes it, for a reader."""
    fields: tuple[Field, ...]
    is_message: bool = False
    """It becomes part of the derived history, so it carries a placement."""
    is_boundary: bool = False
    """It opens or closes a turn or a step."""
    is_step_scoped: bool = field(init=False)
    classes: dict[str, type] = field(init=False, repr=False)
    required: frozenset[str] = field(init=False, repr=False)
    detailed: tuple[tuple[str, Field], ...] = field(init=False, repr=False)
    """The fields whose kind does not say everything, each behind its path."""

    @is_step_scoped.default
    def _has_step(self) -> bool:
        return any(each.name == "step" for each in self.fields)

    @classes.default
    def _class_of_each_field(self) -> dict[str, type]:
        return {each.name: _CLASSES[each.kind] for each in self.fields}

    @required.default
    def _names_of_required(self) -> frozenset[str]:
        return frozenset(each.name for each in self.fields if each.is_required)

    @detailed.default
    def _fields_with_more_rules(self) -> tuple[tuple[str, Field], ...]:
        return tuple(
            (f"{self.name}.{each.name}", each)
            for each in self.fields
            if each.choices or each.kind == "array"
        )


_TURN = Field("turn", "integer", "The turn it belongs to.")
_STEP = Field("step", "integer", "The step of the turn; every turn counts its own.")
_MESSAGE_ID = Field(
    "message_id", "string", "The id with which the message was accepted: `m1`, `m2`, and so on."
)
_CONTENT = Field("content", "array", "The blocks of content.")
_SOURCE = Field("source", "object", "Where it came from; its `kind` is `user` for the user.")
_CALL_ID = Field("call_id", "string", "The call, as the message of the assistant names it.")
_PROMPT = (_TURN, _MESSAGE_ID, _CONTENT, _SOURCE)

RECORD_TYPES: Final[dict[str, RecordType]] = {
    declared.name: declared
    for declared in (
        RecordType(
            name="turn/start",
            story="A turn begins; written by the driver, or by an injection that has a turn of "
            "its own.",
            fields=(
                _TURN,
                Field(
                    "trigger",
                    "object",
                    "What began it: its `kind` is `message` or `injection`, its `source` that of "
                    "the first message or of the injection.",
                ),
            ),
            is_boundary=True,
        ),
        RecordType(
            name="user/message",
            story="A message that the turn took from the queue; written by the driver once the "
            "turn is open.",
            fields=_PROMPT,
            is_message=True,
        ),
        RecordType(
            name="steering/message",
            story="A message that joined the running turn, or what a vote for another step tells "
            "the model; written by the driver between two requests.",
            # Only what was accepted has an id.
            fields=(_TURN, evolve(_MESSAGE_ID, is_required=False), _CONTENT, _SOURCE),
            is_message=True,
        ),
        RecordType(
            name="context/message",
            story="Context beside the messages; written by an injection, and by the driver for an "
            "interceptor that attached it.",
            fields=(_TURN, _CONTENT, _SOURCE),
            is_message=True,
        ),
        RecordType(
            name="prompt/blocked",
            story="A message that an interceptor refused, in the place of `user/message`; written "
            "by the driver, and no model sees it.",
            fields=(*_PROMPT, Field("reason", "string", "Why it was refused.")),
        ),
        RecordType(
            name="step/start",
            story="A step begins, which asks the model once; written by the driver.",
            fields=(_TURN, _STEP),
            is_boundary=True,
        ),
        RecordType(
            name="assistant/chunk",
            story="A piece of the answer as the model yielded it; written by the driver while the "
            "model answers, also if the answer is cut later.",
            fields=(
                _TURN,
                _STEP,
                Field(
                    "chunk",
                    "object",
                    "The piece; its `type` is `text`, `reasoning`, `tool-call`, `usage` or "
                    "`finish`.",
                ),
            ),
        ),
        RecordType(
            name="assistant/message",
            story="The whole answer; written by the driver when the model has ended.",
            fields=(
                _TURN,
                _STEP,
                _CONTENT,
                Field("usage", "object", "What it cost, in the model's words.", is_required=False),
            ),
            is_message=True,
        ),
        RecordType(
            name="tool/call",
            story="A call is taken up; written by the driver before anybody is asked about it.",
            fields=(
                _TURN,
                _STEP,
                _CALL_ID,
                Field("name", "string", "The name of the tool."),
                Field("arguments", "string", "The arguments as the model wrote them, unread."),
            ),
        ),
        RecordType(
            name="tool/result",
            story="The answer to a call; written by the driver, also for a call that was never "
            "taken up, or by the repair of a log whose writer died, so that none stays unanswered.",
            fields=(
                _TURN,
                _STEP,
                _CALL_ID,
                _CONTENT,
                Field("is_error", "boolean", "Whether the content tells of a failure."),
                Field("error", "object", "The failure: its `name` and `code`.", is_required=False),
                Field(
                    "execution",
                    "string",
                    "What is known of the body of an interrupted call.",
                    is_required=False,
                    choices=("not-started", "unknown"),
                ),
                Field("meta", "object", "What the tool adds for programs.", is_required=False),
            ),
            is_message=True,
        ),
        RecordType(
            name="step/end",
            story="A step is over and each of its calls is answered; written by the driver, or by "
            "a repair.",
            fields=(_TURN, _STEP),
            is_boundary=True,
        ),
        RecordType(
            name="turn/end",
            story="A turn is over; written by whoever began it, or by a repair, which calls it "
            "`interrupted`.",
            fields=(
                _TURN,
                Field("ending", "string", "Why it ended.", choices=ENDINGS),
                Field("reason", "string", "The reason that the stop gave.", is_required=False),
                Field(
                    "error",
                    "object",
                    "The failure: its `step`, its `message` and perhaps a `code`.",
                    is_required=False,
                ),
            ),
            is_boundary=True,
        ),
    )
}
"""Every type of record the runtime itself writes, by name."""

NAMESPACES: Final = frozenset(name.partition("/")[0] for name in RECORD_TYPES)
"""What the names of our types begin with; a plugin uses a name of its own."""
