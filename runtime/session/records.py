"""The records of a session's log, declared once, and the rules of what may stand where.

`RECORD_TYPES` is data: validation, derived history, documentation and a JSON Schema all read it.
Two of the rules kept at every append stand here; the third, placement, stands in `derive`:

* **form** - a type of ours has exactly its declared fields; a type of a plugin is named
  `vendor/name` and free in its fields;
* **enclosure** - a log is a sequence of turns, a turn a sequence of steps, and everything lies
  inside a turn (`Enclosure`).
"""

from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias

from attrs import define, field, frozen

from runtime.errors import InvalidContentError, InvalidRecordError
from runtime.limits import DEFAULT_LIMITS, RECORD_OWN_BYTES, Limits

from .content import (
    INTEGER_MAX,
    MEASURES,
    FrozenList,
    FrozenObject,
    UnfitError,
    check_blocks,
    freeze_json,
    too_large,
)

__all__ = [
    "ENDINGS",
    "RECORD_TYPES",
    "Enclosure",
    "Field",
    "Placement",
    "Record",
    "RecordType",
    "calls_of",
    "check_fits",
    "freeze_data",
]

Placement: TypeAlias = Literal["append"] | FrozenObject
"""`append`, or `{"replace": {"start": seq, "end": seq}}`, both ends included."""

ENDINGS: Final = (
    "completed",
    "aborted",
    "disposed",
    "error",
    "rejected",
    "max-tokens",
    "max-steps",
    "interrupted",
)
"""Why a turn ended."""

_INTEGER_BYTES: Final = 8

_FROZEN: Final[dict[type, type]] = {dict: FrozenObject, list: FrozenList}

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
            name="steering/message", fields=(_TURN, _MESSAGE_ID, _CONTENT, _SOURCE), is_message=True
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

_OUR_NAMESPACES: Final = frozenset(name.partition("/")[0] for name in RECORD_TYPES)


@frozen
class Record:
    """One entry of a session's log; it never changes."""

    seq: int
    """Its place in the log, from 0."""
    time_ms: int
    """Milliseconds since the Unix epoch, UTC, when it was appended; never goes backwards."""
    type: str
    data: FrozenObject
    placement: Placement | None = None
    sources: tuple[int, ...] | None = None
    """The seqs of the records it was made from."""


def check_fits(what: str, limits: Limits, *values: object) -> None:
    """Check that frozen values leave room in one record for what the runtime adds to them.

    Raises:
        LimitError: they do not.

    Clauses: A-08 D-52
    """
    size = sum(MEASURES[type(value)](value) for value in values)
    if size > limits.record_bytes_max - RECORD_OWN_BYTES:
        raise too_large(what, limits)


def freeze_data(type_name: str, data: object, *, limits: Limits = DEFAULT_LIMITS) -> FrozenObject:
    """Check the form of a record's data and freeze it, in one walk.

    Raises:
        InvalidContentError: a value would not survive the log.
        InvalidRecordError: the type is unknown, or a field is missing, unknown or of another kind.
        LimitError: the data is too large or too deep.

    Clauses: D-03 D-10
    """
    declared = RECORD_TYPES.get(type_name)
    if declared is None:
        _check_plugin_type(type_name)
        frozen_data = freeze_json(data, what=type_name, limits=limits)
        if type(frozen_data) is not FrozenObject:
            raise InvalidRecordError(f"{type_name}: the data of a record must be an object")
        return frozen_data
    if type(data) is FrozenObject:
        data = dict(data)
    elif type(data) is not dict:
        raise InvalidRecordError(f"{type_name}: the data of a record must be an object")
    frozen_data = _freeze_fields(declared, data, limits)
    # Every field is declared, so only a smaller number of them can lack one.
    if len(data) < len(declared.classes) and not declared.required <= data.keys():
        missing = ", ".join(sorted(declared.required - data.keys()))
        raise InvalidRecordError(f"{type_name} needs the field {missing}")
    for path, each in declared.detailed:
        if each.name in data:
            _check_value(path, each, frozen_data[each.name])
    return frozen_data


def _freeze_fields(declared: RecordType, data: dict[str, Any], limits: Limits) -> FrozenObject:
    """Freeze declared fields: the declared class and the rules of JSON are checked in one pass."""
    classes = declared.classes
    frozen_data = FrozenObject(data)
    size = 0
    for name, value in data.items():
        kind, expected = type(value), classes.get(name)
        if kind is not expected or type(name) is not str:
            if expected is None or _FROZEN.get(kind) is not expected or type(name) is not str:
                raise _misfit(declared, name, value)
            value = freeze_json(value, what=f"{declared.name}.{name}", limits=limits)  # noqa: PLW2901 - its frozen form
            dict.__setitem__(frozen_data, name, value)
        # Nearly all fields are one of these; looking up how to measure them costs more than this.
        if expected is int and 0 <= value <= INTEGER_MAX:
            size += _INTEGER_BYTES
            continue
        if expected is str and value.isascii():
            size += len(value)
            continue
        try:
            size += MEASURES[expected](value)
        except UnfitError as unfit:
            raise InvalidContentError(f"{declared.name}.{name} {unfit}") from None
    # A boundary is made of what was accepted before; a turn that could not be closed helps nobody.
    if size > limits.record_bytes_max and not declared.is_boundary:
        raise too_large(declared.name, limits)
    frozen_data.weight = size
    return frozen_data


def _check_value(path: str, declared: Field, value: Any) -> None:  # noqa: ANN401 - any JSON
    if declared.kind == "array":
        check_blocks(value, path)
    elif value not in declared.choices:
        raise InvalidRecordError(f"{path} must be one of {', '.join(declared.choices)}")


def _misfit(declared: RecordType, name: str, value: object) -> InvalidRecordError:
    for each in declared.fields:
        if each.name == name:
            found = "None" if value is None else type(value).__name__
            return InvalidRecordError(f"{declared.name}.{name} must be {each.kind}, not {found}")
    known = ", ".join(declared.classes)
    return InvalidRecordError(f"{declared.name} has no field {name!a}; its fields are {known}")


def _check_plugin_type(type_name: str) -> None:
    vendor, slash, name = type_name.partition("/")
    if not (vendor and slash and name):
        raise InvalidRecordError(
            f"{type_name!a} is no type of record; a plugin names its own like vendor/name"
        )
    if vendor in _OUR_NAMESPACES:
        raise InvalidRecordError(
            f"{type_name} is not declared, and {vendor}/ belongs to the runtime; "
            "a plugin uses a namespace of its own"
        )


def calls_of(content: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Return the calls of an assistant message in order, call id to the name of the tool."""
    return {block["call_id"]: block["name"] for block in content if block["type"] == "tool-call"}


@define
class Enclosure:
    """Where in turns and steps a log stands, and what may come next.

    A value with a few slots, so that several records can be tried and taken back together.
    """

    open_turn: int | None = None
    open_step: int | None = None
    next_turn: int = 1
    next_step: int = 1
    unanswered: tuple[str, ...] = ()
    """Calls of the open step that have no result yet, in the order of its assistant message."""

    def advance(self, type_name: str, data: FrozenObject, *, is_seed: bool = False) -> None:
        """Take one more record, or refuse it and stay as before.

        A seed may close a step over an unanswered call, as logs of other writers do; the call is
        forgotten with its step (D-22).

        Raises:
            InvalidRecordError: the record may not stand here.

        Clauses: D-18 D-19 D-20 D-21 D-22
        """
        if type_name == "turn/start":
            self._start_turn(data["turn"])
            return
        if self.open_turn is None:
            raise InvalidRecordError(f"{type_name} stands outside a turn; open a turn first")
        declared = RECORD_TYPES.get(type_name)
        if declared is None:
            return
        if data["turn"] != self.open_turn:
            raise InvalidRecordError(
                f"{type_name} names turn {data['turn']}, but turn {self.open_turn} is open"
            )
        if type_name == "step/start":
            self._start_step(data["step"])
        elif declared.is_step_scoped:
            self._inside_step(type_name, data, is_seed=is_seed)
        elif type_name == "turn/end":
            self._end_turn()

    def _start_turn(self, turn: int) -> None:
        if self.open_turn is not None:
            raise InvalidRecordError(f"turn/start {turn}: turn {self.open_turn} is still open")
        if turn != self.next_turn:
            raise InvalidRecordError(f"turn/start {turn}: the next turn is {self.next_turn}")
        self.open_turn, self.next_turn, self.next_step = turn, turn + 1, 1

    def _end_turn(self) -> None:
        if self.open_step is not None:
            raise InvalidRecordError(f"turn/end: step {self.open_step} is still open; end it first")
        self.open_turn = None

    def _start_step(self, step: int) -> None:
        if self.open_step is not None:
            raise InvalidRecordError(f"step/start {step}: step {self.open_step} is still open")
        if step != self.next_step:
            raise InvalidRecordError(f"step/start {step}: the next step is {self.next_step}")
        self.open_step, self.next_step = step, step + 1

    def _inside_step(self, type_name: str, data: FrozenObject, *, is_seed: bool) -> None:
        step = data["step"]
        if step != self.open_step:
            state = "no step is" if self.open_step is None else f"step {self.open_step} is"
            raise InvalidRecordError(f"{type_name} names step {step}, but {state} open")
        if type_name == "assistant/message":
            self.unanswered += tuple(calls_of(data["content"]))
        elif type_name in ("tool/call", "tool/result"):
            self._about_call(type_name, data["call_id"])
        elif type_name == "step/end":
            if self.unanswered and not is_seed:
                waiting = ", ".join(self.unanswered)
                raise InvalidRecordError(f"step/end {step}: no result yet for the calls {waiting}")
            self.open_step, self.unanswered = None, ()

    def _about_call(self, type_name: str, call_id: str) -> None:
        if call_id not in self.unanswered:
            raise InvalidRecordError(
                f"{type_name} names the call {call_id!a}, which waits for no result in this step"
            )
        if type_name == "tool/result":
            self.unanswered = tuple(each for each in self.unanswered if each != call_id)
