"""The types of records that the runtime writes, declared once.

`RECORD_TYPES` is data: validation, derived history, documentation and a JSON Schema all read it.
"""

from typing import Final, Literal

from attrs import field, frozen

from statemachine import Ending

from .frozen import FrozenList, FrozenObject

__all__ = ["ENDINGS", "RECORD_TYPES", "Field", "RecordType"]

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
    """As JSON Schema calls it; an array is content, a list of blocks."""
    is_required: bool = field(default=True, kw_only=True)
    choices: tuple[str, ...] = field(default=(), kw_only=True)
    """The only values, or none for any value of the kind."""


@frozen(kw_only=True)
class RecordType:
    """One type of record: its name, its fields, and whether a model ever sees it."""

    name: str
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


_TURN = Field("turn", "integer")
_STEP = Field("step", "integer")
_MESSAGE_ID = Field("message_id", "string")
_CONTENT = Field("content", "array")
_SOURCE = Field("source", "object")
_CALL_ID = Field("call_id", "string")

RECORD_TYPES: Final[dict[str, RecordType]] = {
    declared.name: declared
    for declared in (
        RecordType(name="turn/start", fields=(_TURN, Field("trigger", "object")), is_boundary=True),
        RecordType(
            name="user/message", fields=(_TURN, _MESSAGE_ID, _CONTENT, _SOURCE), is_message=True
        ),
        RecordType(
            name="steering/message",
            # What a vote for another step tells the model is no accepted message and has no id.
            fields=(
                _TURN,
                Field("message_id", "string", is_required=False),
                _CONTENT,
                _SOURCE,
            ),
            is_message=True,
        ),
        RecordType(name="context/message", fields=(_TURN, _CONTENT, _SOURCE), is_message=True),
        RecordType(
            name="prompt/blocked",
            fields=(_TURN, _MESSAGE_ID, _CONTENT, _SOURCE, Field("reason", "string")),
        ),
        RecordType(name="step/start", fields=(_TURN, _STEP), is_boundary=True),
        RecordType(name="assistant/chunk", fields=(_TURN, _STEP, Field("chunk", "object"))),
        RecordType(
            name="assistant/message",
            fields=(_TURN, _STEP, _CONTENT, Field("usage", "object", is_required=False)),
            is_message=True,
        ),
        RecordType(
            name="tool/call",
            fields=(_TURN, _STEP, _CALL_ID, Field("name", "string"), Field("arguments", "string")),
        ),
        RecordType(
            name="tool/result",
            fields=(
                _TURN,
                _STEP,
                _CALL_ID,
                _CONTENT,
                Field("is_error", "boolean"),
                Field("error", "object", is_required=False),
                Field("execution", "string", is_required=False, choices=("not-started", "unknown")),
                Field("meta", "object", is_required=False),
            ),
            is_message=True,
        ),
        RecordType(name="step/end", fields=(_TURN, _STEP), is_boundary=True),
        RecordType(
            name="turn/end",
            fields=(
                _TURN,
                Field("ending", "string", choices=ENDINGS),
                Field("reason", "string", is_required=False),
                Field("error", "object", is_required=False),
            ),
            is_boundary=True,
        ),
    )
}
"""Every type of record the runtime itself writes, by name."""
