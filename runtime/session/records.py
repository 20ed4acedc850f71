"""The records of a session's log, and the rules of what may stand where.

The types stand in `record_types`, as data. Two of the rules kept at every append stand here; the
third, placement, stands in `derive`:

* **form** - a type of ours has exactly its declared fields; a type of a plugin is named
  `vendor/name` and free in its fields;
* **enclosure** - a log is a sequence of turns, a turn a sequence of steps, and everything lies
  inside a turn (`Enclosure`).
"""

from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias

from attrs import define, frozen

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
from .record_types import ENDINGS, NAMESPACES, RECORD_TYPES, Field, RecordType

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

_INTEGER_BYTES: Final = 8

_FROZEN: Final[dict[type, type]] = {dict: FrozenObject, list: FrozenList}


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
        expected = classes.get(name)
        if type(value) is not expected or type(name) is not str:
            value = _freeze_field(declared, name, value, limits)  # noqa: PLW2901  # its frozen form
            dict.__setitem__(frozen_data, name, value)
        # Nearly all fields are one of these; looking up how to measure them costs more than this.
        if expected is int and 0 <= value <= INTEGER_MAX:
            size += _INTEGER_BYTES
        elif expected is FrozenObject:
            size += value.weight
        elif expected is str and value.isascii():
            size += len(value)
        else:
            size += _measure_field(declared, name, value)
    # A boundary is made of what was accepted before; a turn that could not be closed helps nobody.
    if size > limits.record_bytes_max and not declared.is_boundary:
        raise too_large(declared.name, limits)
    frozen_data.weight = size
    return frozen_data


def _freeze_field(declared: RecordType, name: object, value: object, limits: Limits) -> Any:  # noqa: ANN401  # any JSON
    expected = declared.classes.get(name) if type(name) is str else None
    if expected is None or _FROZEN.get(type(value)) is not expected:
        raise _misfit(declared, name, value)
    return freeze_json(value, what=f"{declared.name}.{name}", limits=limits)


def _measure_field(declared: RecordType, name: str, value: object) -> int:
    try:
        return MEASURES[type(value)](value)
    except UnfitError as unfit:
        raise InvalidContentError(f"{declared.name}.{name} {unfit}") from None


def _check_value(path: str, declared: Field, value: Any) -> None:  # noqa: ANN401  # any JSON
    if declared.kind == "array":
        check_blocks(value, path)
    elif value not in declared.choices:
        raise InvalidRecordError(f"{path} must be one of {', '.join(declared.choices)}")


def _misfit(declared: RecordType, name: object, value: object) -> InvalidRecordError:
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
    if vendor in NAMESPACES:
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
