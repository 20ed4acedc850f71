"""The JSON Schema of records agrees with the log: both accept, or both refuse, a record's form."""

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from runtime import Finish, FinishKind, ModelError, Record, TextDelta, Usage
from runtime.__main__ import main
from runtime.context import Proceed
from runtime.errors import InvalidContentError, InvalidRecordError
from runtime.seams import (
    PROMPT_SUBMIT,
    TURN_CONTINUE,
    Allow,
    Block,
    Continue,
    Moment,
    PromptSubmission,
    PromptVerdict,
    Vote,
)
from runtime.session.codec import UnreadableError, decode_header, encode_header, encode_record
from runtime.session.content import INTEGER_MAX, text_of
from runtime.session.log import Draft, SessionHeader, SessionLog
from runtime.session.record_types import RECORD_TYPES
from runtime.session.repair import repair
from runtime.session.schema import record_schema
from runtime.tools import Tool, ToolResult, ToolUse
from tests.house.record_page import HEADER, example
from tests.unit.windows.scene import CALL, Scene

from .clocks import SetClock

VALIDATOR: Final = Draft202012Validator(record_schema())

EXAMPLE: Final = example()
FIRST: Final = {name: next(each for each in EXAMPLE if each.type == name) for name in RECORD_TYPES}
UNFIT: Final[tuple[object, ...]] = (None, 1.5, True, "x", [], {}, 0, -1, 2**53, ["x"], [{}])
"""For each field some of these are of another kind than its own."""


def as_json(record: Record) -> Any:  # noqa: ANN401  # any JSON
    """Return a record as another program would read it."""
    return json.loads(encode_record(record))


def is_accepted_by_the_log(changed: dict[str, Any]) -> bool:
    """Whether a record may stand where the example has the one with its seq."""
    before = EXAMPLE[: changed["seq"]]
    log = SessionLog(SessionHeader(id="s", created_ms=0), clock=SetClock(), seed=before)
    given = {name: changed.get(name) for name in ("placement", "sources")}
    try:
        log.append_many([Draft(type=changed["type"], data=changed["data"], **given)])
    except (InvalidContentError, InvalidRecordError):
        return False
    return True


def is_accepted_by_the_schema(changed: dict[str, Any]) -> bool:
    """Whether the schema describes a record."""
    return VALIDATOR.is_valid(changed)


async def submit(asked: PromptSubmission, proceed: Proceed[PromptVerdict]) -> PromptVerdict:
    """Refuse one prompt, and attach context to another."""
    text = text_of(asked.content)
    if text == "bad":
        return Block("no")
    return Allow(context=("attached",)) if text == "more" else await proceed()


async def vote(asked: Moment, proceed: Proceed[Vote]) -> Vote:
    """Let one agent take another step, for a reason."""
    return Continue("go on") if asked.agent.id == "goes on" and asked.step == 1 else await proceed()


async def run(_: object, use: ToolUse) -> ToolResult:
    """Answer a call for people and for programs."""
    return ToolResult(content=f"ran {use.name}", meta={"n": 1})


def conversation() -> Iterator[Record]:
    """Return the logs of agents that meet calls, steering, interceptors, failures and stops."""
    agents = ("calls", "steered", "fails", "stopped", "ended", "goes on")
    called = (TextDelta("1"), *CALL, Usage({"tokens": 3}), Finish(FinishKind.TOOL_CALLS))
    with Scene(agents=agents) as scene:
        context = scene.rt.context
        context.on(PROMPT_SUBMIT, submit)
        context.on(TURN_CONTINUE, vote)
        tool = Tool(name="tool", description="Runs.", parameters={"type": "object"}, execute=run)
        scene.rt.tools.register(context, tool)
        scene.replies = [called]
        scene.ask("A", agent="calls")
        scene.settle()
        scene.ask("bad", "more", agent="goes on")
        scene.settle()
        scene.ask("bad", agent="goes on")
        scene.settle()
        scene.ask("A", agent="steered")
        scene.quiet()
        scene.agent("steered").steer("S")
        scene.agent("steered").inject("c", source={"kind": "watcher", "n": 1})
        scene.settle()
        scene.replies = [(ModelError("broken", code="out"),)]
        scene.ask("A", agent="fails")
        scene.settle()
        scene.replies = [CALL]
        scene.at("AM", lambda: scene.agent("stopped").cancel("r"), agent="stopped")
        scene.ask("A", agent="stopped")
        scene.settle()
        scene.ask("A", agent="ended")
        scene.quiet()
        scene.dispose("ended")
        scene.settle()
        for agent in agents:
            yield from scene.records(agent)


def test_the_schema_is_one() -> None:
    """It follows the rules of its own dialect, and nothing in it is left open."""
    Draft202012Validator.check_schema(record_schema())
    assert record_schema()["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    assert not is_accepted_by_the_schema(as_json(EXAMPLE[0]) | {"extra": 1})


@pytest.mark.clause("D-30", "E-21")
def test_a_header_is_described_and_a_damaged_one_refused_by_both() -> None:
    """A field that is missing, of another kind or unknown, and another version."""
    whole = json.loads(encode_header(HEADER))
    VALIDATOR.validate(whole)
    VALIDATOR.validate(whole | {"cwd": None, "parent": "first"})
    damaged = [whole | {"extra": 1}, whole | {"format_version": 1}, whole | {"type": "turn/start"}]
    damaged += [{key: whole[key] for key in whole if key != missing} for missing in whole]
    odd: tuple[object, ...] = (1.5, [], {}, True)
    damaged += [whole | {name: value} for name in whole for value in odd]
    for each in damaged:
        with pytest.raises(UnreadableError):
            decode_header(json.dumps(each).encode())
        assert not VALIDATOR.is_valid(each), each


def test_the_command_prints_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever has only the wheel gets it, too."""
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == record_schema()


def test_what_the_runtime_writes_is_described() -> None:
    """Whatever happens to an agent, its log has the form."""
    records = list(conversation())
    for record in records:
        VALIDATOR.validate(as_json(record))
    assert {each.type for each in records} == RECORD_TYPES.keys()
    told = {name for each in records if each.type in RECORD_TYPES for name in each.data}
    assert told == {each.name for declared in RECORD_TYPES.values() for each in declared.fields}


def test_the_example_shows_every_type_and_is_described() -> None:
    """The page shows nothing that the log or the schema would refuse."""
    assert {each.type for each in EXAMPLE} - RECORD_TYPES.keys() == {"acme/file-read"}
    assert RECORD_TYPES.keys() - {each.type for each in EXAMPLE} == set()
    for record in EXAMPLE:
        VALIDATOR.validate(as_json(record))
        assert is_accepted_by_the_log(as_json(record))


@pytest.mark.clause("D-43", "D-44", "D-45")
@pytest.mark.parametrize("length", range(len(EXAMPLE)))
def test_what_a_repair_writes_is_described(length: int) -> None:
    """Wherever the example is cut off."""
    for record in repair(EXAMPLE[:length]):
        VALIDATOR.validate(as_json(record))


@pytest.mark.clause("D-03", "D-28")
@pytest.mark.parametrize("name", RECORD_TYPES)
def test_a_damaged_field_is_refused_by_both(name: str) -> None:
    """A field that is missing, of another kind, no choice of its own, or unknown."""
    whole = as_json(FIRST[name])
    damaged = [whole["data"] | {"extra": 1}]
    for declared in RECORD_TYPES[name].fields:
        rest = {key: value for key, value in whole["data"].items() if key != declared.name}
        damaged += [rest] * declared.is_required
        fits = {"integer": (), "string": ("x",), "boolean": (True,), "object": ({},)}
        damaged += [
            rest | {declared.name: value}
            for value in UNFIT
            if declared.choices or value not in fits.get(declared.kind, ([],))
        ]
    for data in damaged:
        assert not is_accepted_by_the_log(whole | {"data": data}), data
        assert not is_accepted_by_the_schema(whole | {"data": data}), data


@pytest.mark.clause("D-12", "D-13", "D-14")
@pytest.mark.parametrize("name", [*RECORD_TYPES, "acme/file-read"])
def test_a_placement_or_sources_in_the_wrong_place_are_refused_by_both(name: str) -> None:
    """A message has a placement, nothing else has, and sources come with one."""
    whole = as_json(next(each for each in EXAMPLE if each.type == name))
    bare = {key: value for key, value in whole.items() if key not in ("placement", "sources")}
    is_message = name in RECORD_TYPES and RECORD_TYPES[name].is_message
    wrong: list[dict[str, Any]] = [
        bare | {"placement": "prepend"},
        bare | {"placement": {"replace": {"start": 1}}},
        bare | {"placement": {"replace": {"start": 1, "end": 1}, "extra": 1}},
        bare | {"placement": "append", "sources": []},
        bare | {"placement": "append", "sources": [0, 0]},
        bare | {"placement": "append", "sources": [-1]},
        bare | {"placement": "append", "sources": ["0"]},
        bare if is_message else bare | {"placement": "append"},
    ]
    for each in wrong:
        assert not is_accepted_by_the_log(each), each
        assert not is_accepted_by_the_schema(each), each


@pytest.mark.parametrize(
    "block",
    [
        "text",
        {},
        {"type": 1},
        {"text": "x", "call_id": "c", "name": "n", "arguments": "{}"},
        {"type": "text"},
        {"type": "reasoning", "text": None},
        {"type": "tool-call", "call_id": "c", "name": "n"},
    ],
)
def test_a_block_that_is_not_whole_is_refused_by_both(block: object) -> None:
    """A block of ours has its strings; one of a plugin may have anything."""
    whole = as_json(FIRST["user/message"])
    for content, accepted in (([block], False), ([{"type": "acme/map", "at": [1, 2]}], True)):
        changed = whole | {"data": whole["data"] | {"content": content}}
        assert is_accepted_by_the_log(changed) is accepted
        assert is_accepted_by_the_schema(changed) is accepted


@pytest.mark.parametrize(
    ("name", "accepted"),
    [
        ("acme/note", True),
        ("acme/a/b", True),
        ("acme/new\nline", True),
        ("turn-by-turn/note", True),
        ("note", False),
        ("/note", False),
        ("acme/", False),
        ("turn/note", False),
        ("assistant/note", False),
        ("", False),
    ],
)
def test_both_know_the_name_of_a_plugins_type(name: str, accepted: bool) -> None:  # noqa: FBT001  # a parametrised flag
    """It has a vendor that is none of ours, and a name."""
    whole = as_json(next(each for each in EXAMPLE if each.type == "acme/file-read"))
    assert is_accepted_by_the_log(whole | {"type": name}) is accepted
    assert is_accepted_by_the_schema(whole | {"type": name}) is accepted


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-INTEGER_MAX, INTEGER_MAX)
    | st.sampled_from(["", "append", "text", "completed", 0.5, 1, 2]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["type", "text", "kind", "replace"]), inner, max_size=2)
    ),
    max_leaves=4,
)


@given(st.data())
def test_whatever_the_log_accepts_is_described(data: st.DataObject) -> None:
    """A record of the example in which any one value was changed, or taken away."""
    changed = as_json(data.draw(st.sampled_from(EXAMPLE)))
    part = changed
    names = [name for name in changed if name not in ("seq", "time_ms")]
    while True:
        name = data.draw(st.sampled_from(names))
        if not isinstance(part[name], dict) or not part[name] or data.draw(st.booleans()):
            break
        part, names = part[name], list(part[name])
    if data.draw(st.booleans()) and part is not changed:
        del part[name]
    else:
        part[name] = data.draw(json_values)
    if isinstance(changed["type"], str) and is_accepted_by_the_log(changed):
        VALIDATOR.validate(changed)


def test_a_schema_that_is_too_strict_or_too_lax_is_seen() -> None:
    """The comparison can fail in both directions."""
    whole = as_json(FIRST["turn/end"])
    strict, lax = record_schema(), record_schema()
    strict["$defs"]["turn-end"]["properties"]["data"]["required"].append("error")
    assert not Draft202012Validator(strict).is_valid(whole)
    lax["$defs"]["turn-end"]["properties"]["data"]["additionalProperties"] = True
    damaged = whole | {"data": whole["data"] | {"extra": 1}}
    assert Draft202012Validator(lax).is_valid(damaged)
    assert not is_accepted_by_the_log(damaged)
