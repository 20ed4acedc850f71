"""The log: what an append does, what a refused one does not, and how a seed begins it."""

import gc
from typing import Any

import attrs
import pytest

from runtime.errors import InvalidContentError, InvalidRecordError, LimitError
from runtime.limits import Limits
from runtime.session.content import FrozenObject, accept_content
from runtime.session.derive import messages
from runtime.session.log import Draft, SessionHeader, SessionLog
from runtime.session.records import Record

from .clocks import SetClock

SOURCE = {"kind": "user"}
TRIGGER = {"kind": "message", "source": SOURCE}
CONTENT = [{"type": "text", "text": "x"}]


def new_log(**options: Any) -> SessionLog:  # noqa: ANN401  # handed on
    """Return an empty log on a clock that stands still."""
    options.setdefault("clock", SetClock())
    return SessionLog(SessionHeader(id="s", created_ms=1), **options)


def start_turn(log: SessionLog) -> Record:
    """Open the next turn."""
    return log.append("turn/start", {"turn": log.next_turn, "trigger": TRIGGER})


def prompt(log: SessionLog, text: str = "x", **options: Any) -> Record:  # noqa: ANN401  # handed on
    """Record a prompt in the open turn."""
    data = {
        "turn": log.open_turn,
        "message_id": "m1",
        "content": accept_content(text),
        "source": SOURCE,
    }
    return log.append("user/message", data, **({"placement": "append"} | options))


def whole_turn(log: SessionLog) -> None:
    """Append one turn with one step."""
    start_turn(log)
    prompt(log)
    position = {"turn": log.open_turn, "step": 1}
    log.append("step/start", position)
    log.append("assistant/message", position | {"content": CONTENT}, placement="append")
    log.append("step/end", position)
    log.append("turn/end", {"turn": log.open_turn, "ending": "completed"})


def injection(log: SessionLog, content: object = CONTENT) -> list[Draft]:
    """Return the three records of a one-shot injection turn."""
    turn = log.next_turn
    return [
        Draft(
            type="turn/start",
            data={"turn": turn, "trigger": {"kind": "injection", "source": SOURCE}},
        ),
        Draft(
            type="context/message",
            data={"turn": turn, "content": content, "source": SOURCE},
            placement="append",
        ),
        Draft(type="turn/end", data={"turn": turn, "ending": "completed"}),
    ]


@pytest.mark.clause("D-01")
def test_an_append_numbers_stamps_stores_and_then_notifies() -> None:
    """The observer already finds the record in the log."""
    seen: list[tuple[Record, bool]] = []
    log = new_log()
    log.on_append = lambda record: seen.append((record, log.events[-1] is record))
    first = start_turn(log)
    second = prompt(log)
    assert [first.seq, second.seq] == [0, 1]
    assert first.time_ms == 1_000
    assert seen == [(first, True), (second, True)]
    assert list(log.events) == [first, second]


@pytest.mark.clause("D-01")
def test_the_time_of_records_never_goes_backwards() -> None:
    """A clock that is set back does not reorder the log."""
    clock = SetClock()
    log = new_log(clock=clock)
    start_turn(log)
    clock.time_ms = 400
    prompt(log)
    clock.time_ms = 1_200
    prompt(log)
    assert [record.time_ms for record in log.events] == [1_000, 1_000, 1_200]


@pytest.mark.clause("D-10")
def test_a_record_holds_a_snapshot() -> None:
    """The returned record is the snapshot, whatever happens to the data later."""
    log = new_log()
    start_turn(log)
    content: list[dict[str, Any]] = [{"type": "v/x", "deep": [1]}]
    data = {"turn": 1, "content": content, "source": {"kind": "k"}}
    record = log.append("context/message", data, placement="append")
    content[0]["deep"].append(2)
    data["turn"] = 9
    assert record.data == {
        "turn": 1,
        "content": [{"type": "v/x", "deep": [1]}],
        "source": {"kind": "k"},
    }


@pytest.mark.clause("D-10")
def test_a_record_of_a_plugin_holds_a_snapshot_too() -> None:
    """Its fields are free, and copied like ours."""
    log = new_log()
    start_turn(log)
    deep: dict[str, Any] = {"of": [1]}
    record = log.append("vendor/note", {"deep": deep, "list": [deep]})
    deep["of"].append(2)
    assert record.data == {"deep": {"of": [1]}, "list": [{"of": [1]}]}


@pytest.mark.clause("D-10")
def test_a_record_cannot_be_changed() -> None:
    """Neither the record, nor its data, nor the view of the log."""
    log = new_log()
    record = start_turn(log)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        record.seq = 5  # type: ignore[misc]
    with pytest.raises(TypeError):
        record.data["turn"] = 5
    with pytest.raises(TypeError):
        log.events[0] = record  # type: ignore[index]
    assert not hasattr(log.events, "append")


REFUSED: list[tuple[str, dict[str, Any], type[Exception]]] = [
    ("user/message", {"data": {"turn": float("nan")}}, InvalidRecordError),
    ("vendor/note", {"data": {"x": float("nan")}}, InvalidContentError),
    ("vendor/note", {"data": {"x": "y" * 5_000}}, LimitError),
    ("vendor/note", {"data": {}, "placement": "append"}, InvalidRecordError),
    ("step/start", {"data": {"turn": 1, "step": 2}}, InvalidRecordError),
    ("step/start", {"data": {"turn": 1, "step": 1}, "sources": [0]}, InvalidRecordError),
    ("nonsense", {"data": {}}, InvalidRecordError),
]


@pytest.mark.clause("D-03", "D-13", "D-18", "D-52")
@pytest.mark.parametrize(("name", "options", "error"), REFUSED)
def test_a_refused_append_leaves_no_trace(
    name: str, options: dict[str, Any], error: type[Exception]
) -> None:
    """The log keeps its length, nobody hears of it, and the next append is as if nothing was."""
    heard: list[Record] = []
    log = new_log(limits=Limits(record_bytes_max=1_000), on_append=heard.append)
    start_turn(log)
    with pytest.raises(error, match=name):
        log.append(name, **options)
    assert (len(log.events), len(heard)) == (1, 1)
    assert log.append("step/start", {"turn": 1, "step": 1}).seq == 1


@pytest.mark.clause("D-12", "D-28")
def test_a_message_without_a_placement_is_refused() -> None:
    """What a model will see says where."""
    log = new_log()
    start_turn(log)
    with pytest.raises(InvalidRecordError, match="user/message needs a placement"):
        prompt(log, placement=None)


@pytest.mark.clause("D-14")
def test_sources_must_be_in_the_log() -> None:
    """A record comes from earlier ones only."""
    log = new_log()
    start_turn(log)
    assert prompt(log, sources=[0]).sources == (0,)
    with pytest.raises(InvalidRecordError, match="earlier"):
        prompt(log, sources=[2])


@pytest.mark.clause("D-15")
@pytest.mark.parametrize(
    ("start", "end", "sources", "complaint"),
    [
        (0, 1, [0, 1], "start of the replaced range, 0"),
        (1, 9, [1, 2], "end of the replaced range, 9"),
        (2, 1, [1, 2], "ends before it starts"),
        (1, 3, [1, 3], "name every record it replaces: 1, 2, 3"),
        (1, 3, None, "name every record it replaces"),
    ],
)
def test_a_range_that_cannot_be_replaced_is_refused(
    start: int, end: int, sources: list[int] | None, complaint: str
) -> None:
    """Both ends are messages, in order, and the sources cover what goes."""
    log = new_log()
    start_turn(log)
    for text in "abc":
        prompt(log, text)
    placement = {"replace": {"start": start, "end": end}}
    with pytest.raises(InvalidRecordError, match=complaint):
        prompt(log, placement=placement, sources=sources)
    assert len(log.events) == 4
    assert [each.text for each in log.session.messages()] == ["a", "b", "c"]


@pytest.mark.clause("B-54", "D-19")
def test_the_log_knows_what_is_open() -> None:
    """Turn, step and calls are read from the log, at no cost."""
    log = new_log()
    whole_turn(log)
    assert (log.next_turn, log.open_turn, log.open_step) == (2, None, None)
    start_turn(log)
    position = {"turn": 2, "step": 1}
    log.append("step/start", position)
    calls = [
        {"type": "tool-call", "call_id": each, "name": "n", "arguments": ""} for each in ("a", "b")
    ]
    log.append("assistant/message", position | {"content": calls}, placement="append")
    assert (log.next_turn, log.open_turn, log.open_step) == (3, 2, 1)
    assert list(log.unanswered) == ["a", "b"]
    result = {"call_id": "a", "content": [], "is_error": False}
    log.append("tool/result", position | result, placement="append")
    assert list(log.unanswered) == ["b"]


# --- several at once ----------------------------------------------------------------------------


@pytest.mark.clause("D-18")
def test_several_records_enter_together() -> None:
    """Whoever hears of the first finds the last in the log."""
    heard: list[tuple[str, int]] = []
    log = new_log()
    log.on_append = lambda record: heard.append((record.type, len(log.events)))
    records = log.append_many(injection(log))
    assert [record.seq for record in records] == [0, 1, 2]
    assert heard == [("turn/start", 3), ("context/message", 3), ("turn/end", 3)]
    assert log.open_turn is None


@pytest.mark.clause("D-03", "D-18")
@pytest.mark.parametrize("broken", [0, 1, 2])
def test_several_records_enter_together_or_not_at_all(broken: int) -> None:
    """A refused one takes the others back: log, place in the turn, and history."""
    heard: list[Record] = []
    log = new_log(on_append=heard.append)
    whole_turn(log)
    before, length = list(log.events), len(heard)
    drafts = injection(log)
    drafts[broken] = attrs.evolve(drafts[broken], data={"turn": 2, "x": float("inf")})
    with pytest.raises((InvalidRecordError, InvalidContentError)):
        log.append_many(drafts)
    assert list(log.events) == before
    assert len(heard) == length
    assert (log.next_turn, log.open_turn) == (2, None)
    assert len(log.session.messages()) == 2
    log.append_many(injection(log))
    assert [each.text for each in log.session.messages()][-1] != "x"
    assert len(log.session.messages()) == 3


def test_a_replacement_that_is_taken_back_leaves_the_history_as_it_was() -> None:
    """Also when the range was already looked up in the records that go."""
    log = new_log()
    start_turn(log)
    prompt(log, "a")
    data = {"turn": 1, "content": CONTENT, "source": SOURCE}
    new = Draft(type="context/message", data=data, placement="append")
    over = attrs.evolve(new, placement={"replace": {"start": 1, "end": 2}}, sources=[1, 2])
    with pytest.raises(InvalidRecordError):
        log.append_many([new, over, Draft(type="turn/start", data={"turn": 9, "trigger": {}})])
    assert [each.text for each in log.session.messages()] == ["a"]
    assert [each.seqs for each in log.session.messages()] == [(1,)]


# --- seeds --------------------------------------------------------------------------------------


def seeded(records: list[Record], **options: Any) -> SessionLog:  # noqa: ANN401  # handed on
    """Return a log that begins with these records."""
    return new_log(seed=records, **options)


def log_of(turns: int) -> list[Record]:
    """Return the records of some whole turns."""
    log = new_log()
    for _ in range(turns):
        whole_turn(log)
    return list(log.events)


@pytest.mark.clause("B-54", "D-29", "D-49")
def test_a_seeded_log_continues_where_the_seed_ended() -> None:
    """Same records, same history, next numbers, and nobody is told about the old ones."""
    heard: list[Record] = []
    seed = log_of(2)
    log = seeded(seed, on_append=heard.append)
    assert heard == []
    assert list(log.events) == seed
    assert log.session.messages() == messages(seed)
    record = start_turn(log)
    assert (record.seq, record.data["turn"]) == (12, 3)
    assert heard == [record]


@pytest.mark.clause("D-29")
def test_the_data_of_a_seed_is_copied() -> None:
    """Records made elsewhere may hold plain values; ours never share them."""
    data: dict[str, Any] = {"turn": 1, "trigger": {"kind": "message"}}
    log = seeded([Record(0, 5, "turn/start", data)])  # type: ignore[arg-type]
    data["trigger"]["kind"] = "changed"
    assert log.events[0].data["trigger"] == {"kind": "message"}
    assert type(log.events[0].data) is FrozenObject


@pytest.mark.clause("D-27")
@pytest.mark.parametrize("index", [0, 3, 11])
def test_a_gap_in_a_seed_is_refused_with_its_place(index: int) -> None:
    """The error names the place and the number that belongs there."""
    seed = log_of(2)
    seed[index] = attrs.evolve(seed[index], seq=index + 1)
    with pytest.raises(InvalidRecordError, match=f"seed record {index} has seq {index + 1}"):
        seeded(seed)


@pytest.mark.clause("D-28")
@pytest.mark.parametrize(
    ("index", "change"),
    [
        (1, {"placement": None}),
        (0, {"placement": "append"}),
        (1, {"data": {"turn": 1}}),
        (2, {"data": {"turn": 1, "step": 2}}),
        (4, {"type": "turn/end"}),
        (3, {"sources": (7,)}),
        (2, {"time_ms": 1.5}),
    ],
)
def test_a_seed_that_could_not_have_been_appended_is_refused(
    index: int, change: dict[str, Any]
) -> None:
    """The error names the record."""
    seed = log_of(1)
    seed[index] = attrs.evolve(seed[index], **change)
    with pytest.raises(InvalidRecordError, match=f"seed record {index}"):
        seeded(seed)


@pytest.mark.clause("D-28")
def test_a_seed_that_would_not_survive_is_refused() -> None:
    """What came from elsewhere obeys the same rules."""
    data: Any = {"turn": 1, "trigger": {"x": float("nan")}}
    with pytest.raises(InvalidContentError, match="seed record 0"):
        seeded([Record(0, 5, "turn/start", data)])


def test_time_continues_behind_the_seed() -> None:
    """A seed from a clock that is ahead does not make the log go backwards."""
    seed = [attrs.evolve(record, time_ms=9_000) for record in log_of(1)]
    log = seeded(seed)
    assert start_turn(log).time_ms == 9_000


@pytest.mark.clause("D-39")
def test_a_detached_log_can_be_read_and_publishes_nothing() -> None:
    """What is appended afterwards is in the log, and nobody hears of it."""
    heard: list[Record] = []
    log = new_log(on_append=heard.append)
    start_turn(log)
    log.detach()
    prompt(log)
    assert len(log.events) == 2
    assert len(heard) == 1


def test_an_append_costs_the_same_in_a_long_log() -> None:
    """Nothing that an append touches grows with the log: it makes no more objects."""

    def objects_made(log: SessionLog) -> int:
        gc.collect()
        before = len(gc.get_objects())
        whole_turn(log)
        return len(gc.get_objects()) - before

    short, long = new_log(), new_log()
    for _ in range(2):
        whole_turn(short)
    for _ in range(500):
        whole_turn(long)
    assert abs(objects_made(short) - objects_made(long)) <= 5
