"""What a crash leaves open is closed, and nothing else is touched."""

from collections.abc import Sequence
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime import InvalidRecordError, Record
from runtime.session.derive import messages
from runtime.session.log import SessionHeader, SessionLog
from runtime.session.record_types import ENDINGS
from runtime.session.repair import is_safe_cut, repair
from tests.unit.windows.scene import Scene, call

TEXT = [{"type": "text", "text": "x"}]
SOURCE = {"kind": "user"}
STEP = {"turn": 1, "step": 1}


class Ticking:
    """A clock that moves at every look."""

    time_ms = 0

    def now_ms(self) -> int:
        """Tell a later time each time."""
        self.time_ms += 10
        return self.time_ms


def build(seed: Sequence[Record] = ()) -> SessionLog:
    """Return a log that begins with a seed."""
    return SessionLog(SessionHeader(id="s", created_ms=0), clock=Ticking(), seed=seed)


def with_calls(*call_ids: str) -> SessionLog:
    """Return a log that ends behind an assistant message with these calls."""
    log = build()
    log.append("turn/start", {"turn": 1, "trigger": {"kind": "message", "source": SOURCE}})
    log.append("step/start", STEP)
    blocks = [
        {"type": "tool-call", "call_id": each, "name": "t", "arguments": "{}"} for each in call_ids
    ]
    log.append("assistant/message", {**STEP, "content": [*TEXT, *blocks]}, placement="append")
    return log


def called(log: SessionLog, call_id: str) -> Record:
    """Record that a body was about to be entered."""
    return log.append("tool/call", {**STEP, "call_id": call_id, "name": "t", "arguments": "{}"})


def answered(log: SessionLog, call_id: str) -> Record:
    """Record a result."""
    data = {**STEP, "call_id": call_id, "content": TEXT, "is_error": False}
    return log.append("tool/result", data, placement="append")


def types(records: Sequence[Record]) -> list[str]:
    """Return what they are."""
    return [each.type for each in records]


@pytest.mark.clause("D-42")
def test_a_balanced_log_needs_no_repair() -> None:
    """Neither an empty one nor one that ends with its turn."""
    log = with_calls()
    assert repair(()) == ()
    log.append("step/end", STEP)
    log.append("turn/end", {"turn": 1, "ending": "completed"})
    assert repair(log.events) == ()


@pytest.mark.clause("D-43")
def test_an_open_turn_is_ended_as_interrupted() -> None:
    """The numbers go on; the time is that of the last thing known to have happened."""
    log = build()
    log.append("turn/start", {"turn": 1, "trigger": {"kind": "message", "source": SOURCE}})
    last = log.append("vendor/note", {})
    (end,) = repair(log.events)
    assert (end.seq, end.time_ms, end.type) == (2, last.time_ms, "turn/end")
    assert end.data == {"turn": 1, "ending": "interrupted"}
    assert end.data["ending"] in ENDINGS


@pytest.mark.clause("D-44")
def test_an_open_step_is_ended_before_its_turn() -> None:
    """In this order, in the step that was open."""
    log = with_calls()
    step, turn = repair(log.events)
    assert (step.type, step.data) == ("step/end", STEP)
    assert turn.type == "turn/end"
    assert [step.seq, turn.seq] == [3, 4]


@pytest.mark.clause("D-45")
def test_every_unanswered_call_gets_an_error_before_the_step_ends() -> None:
    """In the order of the message; its source is the call's record, if there is one."""
    log = with_calls("k1", "k2", "k3")
    called(log, "k1")
    answered(log, "k1")
    record = called(log, "k3")
    closing = repair(log.events)
    assert types(closing) == ["tool/result", "tool/result", "step/end", "turn/end"]
    second, third = closing[:2]
    assert [second.data["call_id"], third.data["call_id"]] == ["k2", "k3"]
    assert [second.sources, third.sources] == [None, (record.seq,)]
    for result in (second, third):
        assert result.placement == "append"
        assert result.data["is_error"] is True
        assert result.data["error"]["code"] == "interrupted"


@pytest.mark.clause("D-45", "D-60")
def test_a_repaired_call_always_says_that_its_execution_is_unknown() -> None:
    """That no start of a body is on disk proves nothing; a live cancel knows better."""
    log = with_calls("k1", "k2")
    called(log, "k1")
    results = repair(log.events)[:2]
    assert [each.data["execution"] for each in results] == ["unknown", "unknown"]


@pytest.mark.clause("D-60")
def test_a_repaired_call_is_recorded_like_one_that_a_cancel_interrupted() -> None:
    """But for what is known of its execution, nobody can tell the two apart."""
    with Scene() as scene:
        scene.replies = [(call(1),)]
        scene.at("TC", scene.a.cancel)
        scene.ask("A")
        scene.settle()
        records = scene.records()
    live = next(each for each in records if each.type == "tool/result")
    cut = next(at for at, each in enumerate(records) if each.type == "tool/call")
    mended = repair(records[:cut])[0]
    assert {**mended.data, "execution": ""} == {**live.data, "execution": ""}


@pytest.mark.clause("D-46")
def test_a_step_that_was_closed_over_a_call_stays_as_it_is() -> None:
    """Such logs come from other writers; neither its turn nor a later one answers for it."""
    records = list(with_calls("k1").events)

    def add(type_name: str, data: dict[str, Any]) -> None:
        records.append(Record(len(records), 50, type_name, data))  # type: ignore[arg-type]  # frozen by the seed

    add("step/end", STEP)
    seeded = list(build(records).events)
    assert types(repair(seeded)) == ["turn/end"]
    records = seeded
    add("turn/end", {"turn": 1, "ending": "error"})
    add("turn/start", {"turn": 2, "trigger": {"kind": "message", "source": SOURCE}})
    assert types(repair(build(records).events)) == ["turn/end"]


@pytest.mark.clause("D-48")
def test_a_cut_is_safe_where_no_call_waits() -> None:
    """Between a call and its result it is not."""
    log = with_calls("k1", "k2")
    called(log, "k1")
    answered(log, "k1")
    answered(log, "k2")
    safe = [is_safe_cut(log.events, length) for length in range(len(log.events) + 1)]
    assert safe == [True, True, True, False, False, False, True]


@pytest.mark.clause("D-48")
def test_a_result_that_answers_nothing_is_an_error() -> None:
    """A second result of the same call is one, too."""
    log = with_calls("k1")
    result = answered(log, "k1")
    again = attrs.evolve(result, seq=4)
    with pytest.raises(InvalidRecordError, match=r"record 4 answers the call 'k1'"):
        is_safe_cut([*log.events, again], 5)
    assert is_safe_cut([*log.events, again], 4)


# -- Any log, any crash ----------------------------------------------------------------------------

ACTS = st.lists(
    st.sampled_from(("turn", "prompt", "step", "calls", "call", "result", "end step", "end turn")),
    max_size=30,
)


def played(acts: Sequence[str]) -> SessionLog:
    """Return the log of what fits of these acts, everything closed at the end."""
    log = build()
    for act in (*acts, *("result",) * 9, "end step", "end turn"):
        _play(log, act)
    return log


def _play(log: SessionLog, act: str) -> None:
    """Do it, if it fits; nobody minds if it does not."""
    if log.open_turn is None:
        if act == "turn":
            trigger = {"kind": "message", "source": SOURCE}
            log.append("turn/start", {"turn": log.next_turn, "trigger": trigger})
    elif log.open_step is None:
        _play_in_turn(log, act, log.open_turn)
    else:
        _play_in_step(log, act, {"turn": log.open_turn, "step": log.open_step})


def _play_in_turn(log: SessionLog, act: str, turn: int) -> None:
    if act == "prompt":
        data = {"turn": turn, "message_id": "m", "content": TEXT, "source": SOURCE}
        log.append("user/message", data, placement="append")
    elif act == "step":
        steps = [each for each in log.events if each.type == "step/start"]
        number = sum(each.data["turn"] == turn for each in steps) + 1
        log.append("step/start", {"turn": turn, "step": number})
    elif act == "end turn":
        log.append("turn/end", {"turn": turn, "ending": "completed"})


def _play_in_step(log: SessionLog, act: str, step: dict[str, int]) -> None:
    waiting = log.unanswered
    if act == "calls" and not waiting:
        at = len(log.events)
        blocks = [
            {"type": "tool-call", "call_id": f"{at}-{n}", "name": "t", "arguments": "{}"}
            for n in range(at % 4)
        ]
        log.append("assistant/message", {**step, "content": [*TEXT, *blocks]}, placement="append")
    elif act == "call" and waiting:
        data = {**step, "call_id": waiting[-1], "name": "t", "arguments": "{}"}
        log.append("tool/call", data)
    elif act == "result" and waiting:
        data = {**step, "call_id": waiting[0], "content": TEXT, "is_error": False}
        log.append("tool/result", data, placement="append")
    elif act == "end step" and not waiting:
        log.append("step/end", step)


@pytest.mark.clause("D-61", "D-42", "D-43", "D-44", "D-45", "D-47", "D-48", "D-49")
@settings(deadline=None)
@given(acts=ACTS)
def test_every_crash_of_every_log_is_repaired(acts: list[str]) -> None:
    """The prefix is identical, the whole a log that is balanced, and a second repair empty."""
    whole = list(played(("turn", "step", *acts)).events)
    assert repair(whole) == ()
    for length in range(len(whole) + 1):
        prefix = whole[:length]
        mended = build([*prefix, *repair(prefix)])
        assert list(mended.events[:length]) == prefix
        assert mended.open_turn is None
        assert repair(mended.events) == ()
        assert is_safe_cut(mended.events, len(mended.events))
        assert {each.time_ms for each in mended.events[length:]} <= {whole[length - 1].time_ms}
        # And the runtime can go on with it, with the next number.
        assert mended.next_turn == sum(each.type == "turn/start" for each in prefix) + 1
        assert messages(build(mended.events).events) == messages(mended.events)


def test_the_property_meets_every_kind_of_crash() -> None:
    """One log has prefixes that lack a turn's end, a step's end, and results."""
    whole = list(played(("turn", "prompt", "step", "calls", "call")).events)
    seen = {tuple(types(repair(whole[:length]))) for length in range(len(whole) + 1)}
    assert ("turn/end",) in seen
    assert ("step/end", "turn/end") in seen
    assert any(each.count("tool/result") == 3 for each in seen)
