"""What a crash leaves open at the end of a log, and the records that close it.

Pure: nothing is read or written here. Only what is open at the end is closed; a turn that ended and
a step that ended are history, whatever they lack. Nothing is ever taken away.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from runtime.errors import InvalidRecordError
from statemachine import Ending

from .records import Enclosure, Placement, Record, calls_of, freeze_data

__all__ = ["is_safe_cut", "repair"]

_TEXT: Final = "Error: the call was interrupted."
_ERROR: Final = {"name": "Interrupted", "code": "interrupted"}


def repair(records: Sequence[Record]) -> tuple[Record, ...]:
    """Return the records that close what a crash left open; none for a balanced log.

    Every call of the open step that has no result gets one. It says that the execution is unknown:
    that the start of a body is not on disk proves nothing.

    Raises:
        InvalidRecordError: the last turn has a record that may not stand in it.

    Clauses: D-42 D-43 D-44 D-45 D-46 D-47 D-60 D-61
    """
    tail = _last_turn(records)
    place = Enclosure()
    if tail:
        place.next_turn = tail[0].data.get("turn", place.next_turn)
    for record in tail:
        place.advance(record.type, record.data, is_seed=True)
    if place.open_turn is None:
        return ()
    return tuple(_closing(records, place, _calls_logged(tail)))


def _last_turn(records: Sequence[Record]) -> Sequence[Record]:
    for index in range(len(records) - 1, -1, -1):
        if records[index].type == "turn/start":
            return records[index:]
    return records


def _calls_logged(tail: Sequence[Record]) -> dict[str, int]:
    return {each.data["call_id"]: each.seq for each in tail if each.type == "tool/call"}


def _closing(
    records: Sequence[Record], place: Enclosure, calls: Mapping[str, int]
) -> Iterator[Record]:
    last, seq = records[-1], len(records)
    turn: dict[str, Any] = {"turn": place.open_turn}

    def stamped(
        type_name: str,
        data: dict[str, Any],
        placement: Placement | None = None,
        sources: tuple[int, ...] | None = None,
    ) -> Record:
        nonlocal seq
        # When the crash happened is not known; that it was after the last record is.
        record = Record(
            seq, last.time_ms, type_name, freeze_data(type_name, data), placement, sources
        )
        seq += 1
        return record

    if place.open_step is not None:
        step = {**turn, "step": place.open_step}
        for call_id in place.unanswered:
            sources = (calls[call_id],) if call_id in calls else None
            yield stamped("tool/result", _interrupted(step, call_id), "append", sources)
        yield stamped("step/end", step)
    yield stamped("turn/end", {**turn, "ending": Ending.INTERRUPTED.value})


def _interrupted(step: Mapping[str, Any], call_id: str) -> dict[str, Any]:
    return {
        **step,
        "call_id": call_id,
        "content": [{"type": "text", "text": _TEXT}],
        "is_error": True,
        "error": _ERROR,
        "execution": "unknown",
    }


def is_safe_cut(records: Sequence[Record], length: int) -> bool:
    """Return whether the first `length` records hold a result for every call in them.

    A history may begin or end there: a provider refuses one with a call that was never answered.

    Raises:
        InvalidRecordError: one of them is a result of a call that is not there.

    Clauses: D-48
    """
    waiting: list[str] = []
    for record in records[:length]:
        if record.type == "assistant/message":
            waiting.extend(calls_of(record.data["content"]))
        elif record.type == "tool/result":
            call_id = record.data["call_id"]
            if call_id not in waiting:
                raise InvalidRecordError(
                    f"record {record.seq} answers the call {call_id!a}, which nobody made"
                )
            waiting.remove(call_id)
    return not waiting
