"""The form of records: declared fields, types of plugins, placement and sources."""

from typing import Any

import pytest

from runtime.errors import InvalidContentError, InvalidRecordError, LimitError
from runtime.limits import Limits
from runtime.session.content import FrozenObject, freeze_json
from runtime.session.derive import check_placement, check_sources
from runtime.session.records import ENDINGS, RECORD_TYPES, Enclosure, freeze_data

CONTENT = [{"type": "text", "text": "x"}]
SOURCE = {"kind": "user"}

WHOLE: dict[str, dict[str, Any]] = {
    "turn/start": {"turn": 1, "trigger": {"kind": "message", "source": SOURCE}},
    "user/message": {"turn": 1, "message_id": "m1", "content": CONTENT, "source": SOURCE},
    "steering/message": {"turn": 1, "message_id": "m1", "content": CONTENT, "source": SOURCE},
    "context/message": {"turn": 1, "content": CONTENT, "source": SOURCE},
    "prompt/blocked": {
        "turn": 1,
        "message_id": "m1",
        "content": CONTENT,
        "source": SOURCE,
        "reason": "no",
    },
    "step/start": {"turn": 1, "step": 1},
    "assistant/chunk": {"turn": 1, "step": 1, "chunk": {"type": "text", "text": "x"}},
    "assistant/message": {"turn": 1, "step": 1, "content": CONTENT, "usage": {"tokens": 3}},
    "tool/call": {"turn": 1, "step": 1, "call_id": "c", "name": "read", "arguments": "{}"},
    "tool/result": {
        "turn": 1,
        "step": 1,
        "call_id": "c",
        "content": CONTENT,
        "is_error": True,
        "error": {"name": "read", "code": "x"},
        "execution": "unknown",
        "meta": {},
    },
    "step/end": {"turn": 1, "step": 1},
    "turn/end": {"turn": 1, "ending": "error", "reason": "r", "error": {"step": 1}},
}

OPTIONAL = {
    "steering/message": {"message_id"},
    "assistant/message": {"usage"},
    "tool/result": {"error", "execution", "meta"},
    "turn/end": {"reason", "error"},
}

MESSAGES = {
    "user/message",
    "steering/message",
    "context/message",
    "assistant/message",
    "tool/result",
}


def test_every_declared_type_has_an_example_here() -> None:
    """A new type of record is tested like the others, or this fails."""
    assert WHOLE.keys() == RECORD_TYPES.keys()
    assert {name for name, each in RECORD_TYPES.items() if each.is_message} == MESSAGES


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_record_is_accepted(name: str) -> None:
    """Each type takes exactly what the declaration says."""
    frozen = freeze_data(name, WHOLE[name])
    assert frozen == WHOLE[name]
    assert type(frozen) is FrozenObject
    assert freeze_data(name, frozen) == frozen


FIELDS = [(name, each) for name, data in WHOLE.items() for each in data]


@pytest.mark.clause("D-28")
@pytest.mark.parametrize(("name", "missing"), FIELDS)
def test_a_missing_field_is_refused_unless_it_is_optional(name: str, missing: str) -> None:
    """The error names the type and the field."""
    data = {key: value for key, value in WHOLE[name].items() if key != missing}
    if missing in OPTIONAL.get(name, set()):
        assert freeze_data(name, data) == data
        return
    with pytest.raises(InvalidRecordError, match=f"{name}.*{missing}"):
        freeze_data(name, data)


@pytest.mark.clause("D-28")
@pytest.mark.parametrize(("name", "damaged"), FIELDS)
@pytest.mark.parametrize("value", [None, 1.0], ids=["None", "number"])
def test_a_field_of_another_kind_is_refused(name: str, damaged: str, value: object) -> None:
    """The error names the type and the field."""
    with pytest.raises(InvalidRecordError, match=f"{name}.{damaged}"):
        freeze_data(name, WHOLE[name] | {damaged: value})


@pytest.mark.parametrize("name", WHOLE)
def test_an_unknown_field_is_refused(name: str) -> None:
    """A misspelt field must not vanish in the log."""
    with pytest.raises(InvalidRecordError, match=f"{name} has no field 'extra'"):
        freeze_data(name, WHOLE[name] | {"extra": 1})


def test_a_boolean_is_no_integer_here() -> None:
    """A turn is counted, not affirmed."""
    with pytest.raises(InvalidRecordError, match=r"step/start.turn must be integer"):
        freeze_data("step/start", {"turn": True, "step": 1})


@pytest.mark.parametrize("ending", [*ENDINGS, "finished", "Completed", ""])
def test_an_ending_is_one_of_the_eight(ending: str) -> None:
    """No ninth ending comes into being by a misspelling."""
    data = {"turn": 1, "ending": ending}
    if ending in ENDINGS:
        assert freeze_data("turn/end", data) == data
        return
    with pytest.raises(InvalidRecordError, match=r"turn/end.ending must be one of completed"):
        freeze_data("turn/end", data)


def test_an_execution_is_one_of_two() -> None:
    """A call that was closed for it says what is known of its body, in known words."""
    with pytest.raises(InvalidRecordError, match="not-started, unknown"):
        freeze_data("tool/result", WHOLE["tool/result"] | {"execution": "maybe"})


@pytest.mark.clause("D-03")
@pytest.mark.parametrize("name", ["user/message", "vendor/note"])
def test_the_error_for_a_bad_value_names_the_type_and_the_path(name: str) -> None:
    """Whoever appended it finds the place."""
    data = WHOLE["user/message"] | {"content": [{"type": "v/x", "deep": [float("nan")]}]}
    with pytest.raises(InvalidContentError) as caught:
        freeze_data(name, data)
    assert str(caught.value).startswith(f"{name}.content[0].deep[0] ")


@pytest.mark.parametrize(
    ("field", "value"), [("message_id", "\ud800"), ("turn", 2**53), ("source", {"kind": (1,)})]
)
def test_declared_fields_obey_the_rules_of_json_too(field: str, value: object) -> None:
    """Being of the declared kind is not enough."""
    with pytest.raises(InvalidContentError, match=f"user/message.{field}"):
        freeze_data("user/message", WHOLE["user/message"] | {field: value})


@pytest.mark.parametrize("content", [["x"], [{}], [{"type": "text"}]])
def test_recorded_content_consists_of_whole_blocks(content: object) -> None:
    """Deriving the history never meets a block that it cannot read."""
    with pytest.raises(InvalidContentError, match=r"user/message\.content\[0\]"):
        freeze_data("user/message", WHOLE["user/message"] | {"content": content})


@pytest.mark.parametrize("data", [None, [], "x", 5, (("turn", 1),)])
@pytest.mark.parametrize("name", ["step/start", "vendor/note"])
def test_the_data_of_a_record_is_an_object(name: str, data: object) -> None:
    """Nothing else has fields."""
    with pytest.raises((InvalidRecordError, InvalidContentError), match=name):
        freeze_data(name, data)


@pytest.mark.clause("D-52")
def test_the_size_of_a_record_is_limited_as_a_whole() -> None:
    """Fields that fit one by one do not fit together."""
    limits = Limits(record_bytes_max=1_000)
    part = {"kind": "x" * 600}
    freeze_data("context/message", {"turn": 1, "content": [], "source": part}, limits=limits)
    content = [{"type": "text", "text": "x" * 600}]
    with pytest.raises(LimitError, match=r"context/message .*record_bytes_max"):
        freeze_data(
            "context/message", {"turn": 1, "content": content, "source": part}, limits=limits
        )


@pytest.mark.parametrize("name", ["vendor/note", "vendor/a/b", "v/x"])
def test_a_plugins_type_is_free_in_its_fields(name: str) -> None:
    """The plugin knows what it means."""
    assert freeze_data(name, {"anything": [1, None]}) == {"anything": [1, None]}


@pytest.mark.parametrize(
    "name", ["", "note", "/note", "vendor/", "user/other", "turn/started", "tool/x", "step/"]
)
def test_a_name_that_is_no_plugins_is_refused(name: str) -> None:
    """A type without a namespace, or in one of ours, is a mistake."""
    with pytest.raises(InvalidRecordError):
        freeze_data(name, {"turn": 1})


# --- placement and sources ----------------------------------------------------------------------


@pytest.mark.clause("D-12", "D-13")
@pytest.mark.parametrize("name", [*WHOLE, "vendor/note"])
def test_exactly_the_messages_have_a_placement(name: str) -> None:
    """What a model sees says where it goes; what it never sees does not."""
    if name in MESSAGES:
        assert check_placement(name, "append") == "append"
        with pytest.raises(InvalidRecordError, match=f"{name} needs a placement"):
            check_placement(name, None)
    else:
        assert check_placement(name, None) is None
        with pytest.raises(InvalidRecordError, match=f"{name} is no message"):
            check_placement(name, "append")


@pytest.mark.parametrize(
    "placement",
    [
        "prepend",
        5,
        True,
        [],
        {},
        {"replace": None},
        {"replace": {"start": 1}},
        {"replace": {"start": 1, "end": 2, "x": 3}},
        {"replace": {"start": 1, "end": "2"}},
        {"replace": {"start": True, "end": 2}},
        {"replace": {"start": 1, "end": 2}, "x": 1},
    ],
)
def test_what_is_no_placement_is_refused(placement: object) -> None:
    """There are two forms."""
    with pytest.raises(InvalidRecordError, match="user/message"):
        check_placement("user/message", placement)


@pytest.mark.clause("D-11")
def test_the_placement_is_a_snapshot() -> None:
    """A later change of the range does not reach the record."""
    ends = {"start": 1, "end": 2}
    placement = check_placement("user/message", {"replace": ends})
    ends["end"] = 9
    assert placement == {"replace": {"start": 1, "end": 2}}


@pytest.mark.clause("D-13", "D-14")
@pytest.mark.parametrize(
    "sources",
    [[], [1, 1], [5], [6], [-1], [True], ["1"], [1.0], False, 1, "1", {1: 1}, {1}],
    ids=repr,
)
def test_sources_that_are_no_list_of_earlier_records_are_refused(sources: Any) -> None:  # noqa: ANN401  # any value
    """A record comes from what was there before it."""
    with pytest.raises(InvalidRecordError, match=r"assistant/message.*sources"):
        check_sources("assistant/message", sources, "append", 5)


@pytest.mark.clause("D-11", "D-13", "D-14")
def test_sources_are_a_snapshot_and_only_for_messages() -> None:
    """They are copied, and refused where there is no message."""
    sources = [0, 4]
    checked = check_sources("assistant/message", sources, "append", 5)
    sources.append(3)
    assert checked == (0, 4)
    with pytest.raises(InvalidRecordError, match="step/start"):
        check_sources("step/start", [0], None, 5)


# --- enclosure ----------------------------------------------------------------------------------


def advanced(*steps: tuple[str, dict[str, Any]]) -> Enclosure:
    """Return an enclosure that has taken these records."""
    enclosure = Enclosure()
    for name, data in steps:
        enclosure.advance(name, freeze_json(data, what=name))
    return enclosure


TURN = ("turn/start", {"turn": 1})
STEP = ("step/start", {"turn": 1, "step": 1})
CALL_BLOCK = {"type": "tool-call", "call_id": "c", "name": "n", "arguments": ""}
CALLING = ("assistant/message", {"turn": 1, "step": 1, "content": [CALL_BLOCK]})
RESULT = ("tool/result", {"turn": 1, "step": 1, "call_id": "c"})
CALL = ("tool/call", {"turn": 1, "step": 1, "call_id": "c"})
STEP_END = ("step/end", {"turn": 1, "step": 1})
TURN_END = ("turn/end", {"turn": 1})
PROMPT = ("user/message", {"turn": 1})
NOTE: tuple[str, dict[str, Any]] = ("vendor/note", {})


@pytest.mark.clause("D-18", "D-19", "D-20", "D-21", "D-22")
@pytest.mark.parametrize(
    ("before", "refused"),
    [
        ([], PROMPT),
        ([], STEP),
        ([], TURN_END),
        ([], NOTE),
        ([], ("turn/start", {"turn": 2})),
        ([], ("turn/start", {"turn": 0})),
        ([TURN], TURN),
        ([TURN], ("turn/start", {"turn": 2})),
        ([TURN, TURN_END], TURN),
        ([TURN, TURN_END], PROMPT),
        ([TURN, TURN_END], NOTE),
        ([TURN, TURN_END], ("turn/start", {"turn": 3})),
        ([TURN], ("user/message", {"turn": 2})),
        ([TURN], ("turn/end", {"turn": 2})),
        ([TURN], ("step/start", {"turn": 1, "step": 2})),
        ([TURN], ("step/start", {"turn": 2, "step": 1})),
        ([TURN], STEP_END),
        ([TURN], CALLING),
        ([TURN, STEP], STEP),
        ([TURN, STEP], ("step/start", {"turn": 1, "step": 2})),
        ([TURN, STEP], TURN_END),
        ([TURN, STEP], ("step/end", {"turn": 1, "step": 2})),
        ([TURN, STEP], ("assistant/chunk", {"turn": 1, "step": 2})),
        ([TURN, STEP, STEP_END], STEP),
        ([TURN, STEP, STEP_END], ("assistant/chunk", {"turn": 1, "step": 1})),
        ([TURN, STEP], RESULT),
        ([TURN, STEP], CALL),
        ([TURN, STEP, CALLING], ("tool/result", {"turn": 1, "step": 1, "call_id": "other"})),
        ([TURN, STEP, CALLING, RESULT], RESULT),
        ([TURN, STEP, CALLING, CALL, RESULT], CALL),
        ([TURN, STEP, CALLING], STEP_END),
        ([TURN, STEP, CALLING, CALL], STEP_END),
    ],
)
def test_a_record_at_the_wrong_place_is_refused_and_changes_nothing(
    before: list[Any], refused: tuple[str, dict[str, Any]]
) -> None:
    """Turns and steps are balanced, numbered, not nested, and answer their calls."""
    enclosure = advanced(*before)
    name, data = refused
    with pytest.raises(InvalidRecordError, match=name):
        enclosure.advance(name, freeze_json(data, what=name))
    assert enclosure == advanced(*before)


@pytest.mark.clause("D-18", "D-19", "D-20", "D-21")
def test_a_whole_turn_passes_and_is_known_at_every_point() -> None:
    """The log knows what is open without looking back."""
    assert advanced(TURN, PROMPT).open_turn == 1
    calling = advanced(TURN, PROMPT, STEP, CALLING, NOTE)
    assert (calling.open_step, calling.unanswered) == (1, ("c",))
    assert advanced(TURN, STEP, CALLING, CALL, RESULT, STEP_END).unanswered == ()
    second = advanced(TURN, STEP, CALLING, RESULT, STEP_END, ("step/start", {"turn": 1, "step": 2}))
    assert second.open_step == 2
    over = advanced(TURN, STEP, STEP_END, TURN_END)
    assert (over.open_turn, over.open_step, over.next_turn, over.next_step) == (None, None, 2, 2)


@pytest.mark.clause("B-55")
def test_steps_begin_at_one_in_every_turn() -> None:
    """The count of one turn does not reach the next."""
    enclosure = advanced(TURN, STEP, STEP_END, TURN_END, ("turn/start", {"turn": 2}))
    enclosure.advance("step/start", freeze_json({"turn": 2, "step": 1}, what="it"))
    assert enclosure.open_step == 1


@pytest.mark.clause("D-22")
def test_only_a_seed_may_forget_a_call() -> None:
    """What another writer left unanswered is not carried into the next step."""
    enclosure = advanced(TURN, STEP, CALLING)
    enclosure.advance("step/end", freeze_json({"turn": 1, "step": 1}, what="it"), is_seed=True)
    assert (enclosure.open_step, enclosure.unanswered) == (None, ())
