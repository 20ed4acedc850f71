"""What can be read of a log: the history derived for a model, the records, and those to come."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import attrs
import pytest

from runtime.ports import yield_once
from runtime.session import derive
from runtime.session.content import accept_content, freeze_json, thaw
from runtime.session.derive import History, Message, Surface, messages
from runtime.session.log import Session, SessionHeader, SessionLog
from runtime.session.records import RECORD_TYPES, Record

from .clocks import SetClock


def record(seq: int, name: str, placement: object = None, **data: object) -> Record:
    """Return a record as the log would hold it."""
    frozen = freeze_json(data, what=name)
    return Record(seq, 0, name, frozen, freeze_json(placement, what=name))


def text(seq: int, value: str, placement: object = "append") -> Record:
    """Return a prompt."""
    return record(seq, "user/message", placement, content=[{"type": "text", "text": value}])


def over(seq: int, value: str, start: int, end: int) -> Record:
    """Return a prompt that replaces a range."""
    return text(seq, value, {"replace": {"start": start, "end": end}})


def texts(events: Sequence[Record]) -> list[str]:
    """Return the texts of the derived history."""
    return [each.text for each in messages(events)]


@pytest.mark.clause("D-23")
def test_users_and_assistants_keep_their_roles_and_blocks() -> None:
    """What was said is shown as it was said, by whoever said it."""
    answer = [{"type": "reasoning", "text": "hm"}, {"type": "v/x", "y": 1}]
    events = [text(0, "ask"), record(1, "assistant/message", "append", content=answer)]
    assert messages(events) == [
        Message("user", accept_content("ask"), (0,)),
        Message("assistant", accept_content(answer), (1,)),
    ]


@pytest.mark.clause("D-23", "K-12")
@pytest.mark.parametrize("is_error", [True, False])
def test_the_result_of_a_tool_is_a_users_message_with_a_result_block(*, is_error: bool) -> None:
    """It names the call, holds the content, and has no text of its own."""
    content = [{"type": "text", "text": "out"}]
    result = record(
        0, "tool/result", "append", call_id="c", content=content, is_error=is_error, meta={"x": 1}
    )
    [message] = messages([result])
    assert message.role == "user"
    assert message.content == (
        {"type": "tool-result", "call_id": "c", "content": content, "is_error": is_error},
    )
    assert message.text == ""


@pytest.mark.clause("D-23")
@pytest.mark.parametrize("name", ["context", "steering"])
def test_context_and_steering_stand_in_an_envelope_with_their_source(name: str) -> None:
    """The model sees that nobody typed this as a prompt, and where it came from."""
    content = [{"type": "text", "text": "look"}, {"type": "v/x", "y": 1}]
    source = {"kind": 'a "plugin"'}
    [message] = messages([record(0, f"{name}/message", "append", content=content, source=source)])
    assert message.role == "user"
    assert message.text == f'<{name} source="a &quot;plugin&quot;">\nlook\n</{name}>'
    assert message.content[2] == {"type": "v/x", "y": 1}


@pytest.mark.clause("D-24")
def test_an_assistant_message_without_content_derives_to_nothing() -> None:
    """A report of usage is nothing to show."""
    events = [text(0, "a"), record(1, "assistant/message", "append", content=[], usage={"n": 1})]
    assert texts(events) == ["a"]


@pytest.mark.clause("D-26")
@pytest.mark.parametrize("name", [each.name for each in RECORD_TYPES.values()])
def test_only_messages_reach_the_history(name: str) -> None:
    """Chunks, boundaries, blocked prompts and calls do not."""
    is_message = RECORD_TYPES[name].is_message
    one = record(
        0,
        name,
        "append" if is_message else None,
        content=[{"type": "text", "text": "x"}],
        source={"kind": "k"},
        call_id="c",
        is_error=False,
    )
    assert len(messages([one])) == int(is_message)
    assert messages([record(0, "vendor/todo", items=[1])]) == []


@pytest.mark.clause("D-16")
@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0, 0, ["new", "b", "c", "d"]),
        (1, 2, ["a", "new", "d"]),
        (3, 3, ["a", "b", "c", "new"]),
        (0, 3, ["new"]),
    ],
)
def test_a_replacement_stands_where_its_range_stood(
    start: int, end: int, expected: list[str]
) -> None:
    """The replaced messages go, the others keep their order."""
    events = [text(seq, value) for seq, value in enumerate("abcd")]
    assert texts([*events, over(4, "new", start, end)]) == expected


@pytest.mark.clause("D-16")
def test_replacements_can_be_replaced_and_followed() -> None:
    """Positions are places in the history, not numbers in the log."""
    events = [text(seq, value) for seq, value in enumerate("abcd")]
    events += [over(4, "B", 1, 2), text(5, "e"), over(6, "AB", 0, 4), text(7, "f")]
    assert texts(events) == ["AB", "d", "e", "f"]
    assert [each.seqs for each in messages(events)] == [(6,), (3,), (5,), (7,)]


@pytest.mark.clause("D-16", "D-24")
def test_a_message_that_shows_nothing_still_has_its_place() -> None:
    """An empty answer can be replaced, or be the end of a range."""
    empty = record(1, "assistant/message", "append", content=[])
    events = [text(0, "a"), empty, text(2, "b")]
    assert texts([*events, over(3, "new", 1, 1)]) == ["a", "new", "b"]
    assert texts([*events, over(3, "new", 0, 1)]) == ["new", "b"]
    assert texts([*events, text(3, "c"), over(4, "new", 2, 2)]) == ["a", "new", "c"]
    silent = record(3, "assistant/message", {"replace": {"start": 0, "end": 1}}, content=[])
    assert texts([*events, silent]) == ["b"]


@pytest.mark.clause("D-17")
@pytest.mark.parametrize("pace", [1, 2, 3, 10])
def test_following_gives_what_deriving_at_once_gives(pace: int) -> None:
    """The same log has the same history, however often somebody looked on the way."""
    events = [text(seq, value) for seq, value in enumerate("abcd")]
    events += [over(4, "B", 1, 2), text(5, "e"), record(6, "vendor/x"), over(7, "AB", 0, 4)]
    surface = Surface()
    for length in range(0, len(events) + pace, pace):
        surface.follow(events[:length])
        assert list(surface.history) == messages(events[:length])


@pytest.mark.clause("D-17")
def test_every_record_is_looked_at_once() -> None:
    """Deriving after each turn does not read the log again."""

    class Counted(list[Record]):
        reads = 0

        def __getitem__(self, index: Any) -> Any:  # noqa: ANN401  # as its base has it
            Counted.reads += 1
            return super().__getitem__(index)

    events = Counted()
    surface = Surface()
    for seq in range(100):
        events.append(text(seq, "x"))
        surface.follow(events)
        assert len(surface.history) == seq + 1
    assert Counted.reads == 100


@pytest.mark.clause("D-16")
def test_a_replacement_of_a_long_range_looks_at_each_message_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is looked up for each of them is made once, however many there are."""
    made: list[int] = []

    def counted(seqs: list[int]) -> set[int]:
        made.append(len(seqs))
        return set(seqs)

    monkeypatch.setattr(derive, "set", counted, raising=False)
    for length in (10, 100):
        made.clear()
        events = [text(seq, "x") for seq in range(length)]
        assert texts([*events, over(length, "short", 1, length - 2)]) == ["x", "short", "x"]
        assert sorted(made) == [1, length - 2]


@pytest.mark.clause("D-25")
def test_a_view_of_the_history_stays_as_it_was_taken() -> None:
    """A request that is under way does not see what is recorded meanwhile."""
    events = [text(seq, value) for seq, value in enumerate("abc")]
    surface = Surface()
    surface.follow(events)
    before = surface.history
    events.append(text(3, "d"))
    surface.follow(events)
    with_one_more = surface.history
    events.append(over(4, "new", 0, 3))
    surface.follow(events)
    assert [each.text for each in before] == ["a", "b", "c"]
    assert [each.text for each in with_one_more] == ["a", "b", "c", "d"]
    assert [each.text for each in surface.history] == ["new"]


def test_a_view_is_a_sequence() -> None:
    """Length, indexes from both ends, slices and iteration stay inside the view."""
    growing = messages([text(seq, value) for seq, value in enumerate("abc")])
    view = History(growing)
    growing.extend(messages([text(3, "d")]))
    assert len(view) == 3
    assert (view[0].text, view[-1].text) == ("a", "c")
    assert [each.text for each in view[1:]] == ["b", "c"]
    assert [each.text for each in reversed(view)] == ["c", "b", "a"]
    with pytest.raises(IndexError):
        view[3]


@pytest.mark.clause("D-25")
def test_nothing_done_to_a_message_reaches_the_log() -> None:
    """A message cannot be changed, and a copy that can be is a copy."""
    events = [text(0, "a")]
    [message] = messages(events)
    with pytest.raises(TypeError):
        message.content[0]["text"] = "changed"
    copied = thaw(message.content)
    copied[0]["text"] = "changed"
    assert texts(events) == ["a"]
    assert json.loads(json.dumps(message.content)) == [{"type": "text", "text": "a"}]


# --- the read side ------------------------------------------------------------------------------


def new_log() -> SessionLog:
    """Return an empty log."""
    return SessionLog(SessionHeader(id="s", created_ms=1), clock=SetClock())


def injection(log: SessionLog) -> None:
    """Append a whole turn of three records."""
    turn, source = log.next_turn, {"kind": "k"}
    data = {"turn": turn, "content": [{"type": "text", "text": "x"}], "source": source}
    log.append("turn/start", {"turn": turn, "trigger": {"kind": "injection", "source": source}})
    log.append("context/message", data, placement="append")
    log.append("turn/end", {"turn": turn, "ending": "completed"})


@pytest.mark.clause("D-30")
def test_the_header_is_beside_the_log_and_fixed() -> None:
    """It is not a record, and nothing is derived from it."""
    header = SessionHeader(id="s", created_ms=1, cwd="/tmp", parent="p", seed_length=3)  # noqa: S108  # a text
    session = SessionLog(header, clock=SetClock()).session
    assert (session.id, session.header) == ("s", header)
    assert (header.format_version, len(session.events), session.messages()) == (0, 0, [])
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        header.id = "t"  # type: ignore[misc]


def test_a_session_offers_no_way_to_append() -> None:
    """Appending is a capability of its own, not an attribute of every holder."""
    public = {name for name in dir(Session) if not name.startswith("_")}
    assert public == {"events", "follow", "header", "id", "messages"}


def test_the_view_of_the_log_is_live_and_costs_nothing() -> None:
    """One view, which grows with the log."""
    log = new_log()
    events = log.session.events
    assert events is log.session.events
    assert (len(events), list(events)) == (0, [])
    injection(log)
    assert len(events) == 3
    assert events[-1].type == "turn/end"
    assert [record.seq for record in events[1:3]] == [1, 2]
    assert isinstance(events[1:3], tuple)
    with pytest.raises(IndexError):
        events[3]


@pytest.mark.clause("D-25")
def test_the_list_of_messages_is_the_callers() -> None:
    """Emptying it changes nothing for anybody else, and what is in it cannot be changed."""
    log = new_log()
    injection(log)
    with pytest.raises(TypeError):
        log.session.messages()[0].content[0]["text"] = "changed"
    log.session.messages().clear()
    assert len(log.session.messages()) == 1


async def settle() -> None:
    """Let every task go as far as it can."""
    for _ in range(20):
        await yield_once()


def test_a_follower_gets_every_record_once_and_ends_at_the_detach() -> None:
    """Old records, new ones, and those appended while it was busy."""

    async def scenario() -> list[int]:
        log = new_log()
        injection(log)
        seen: list[int] = []

        async def follow() -> None:
            async for record in log.session.follow():
                seen.append(record.seq)
                if record.seq == 3:
                    injection(log)

        follower = asyncio.create_task(follow())
        await settle()
        assert seen == [0, 1, 2]
        injection(log)
        await settle()
        assert seen == list(range(9))
        injection(log)
        log.detach()
        await follower
        return seen

    assert asyncio.run(scenario()) == list(range(12))


@pytest.mark.parametrize(
    ("after", "expected"),
    [(-9, [0, 1, 2]), (-2, [0, 1, 2]), (-1, [0, 1, 2]), (0, [1, 2]), (2, []), (7, [])],
)
def test_a_follower_starts_behind_the_record_it_names(after: int, expected: list[int]) -> None:
    """Whoever remembers the last record it saw continues there."""

    async def scenario() -> list[int]:
        log = new_log()
        injection(log)
        log.detach()
        return [record.seq async for record in log.session.follow(after=after)]

    assert asyncio.run(scenario()) == expected


def test_two_followers_do_not_disturb_each_other() -> None:
    """One that goes away, and one that is slow, cost the others nothing."""

    async def scenario() -> tuple[list[int], list[int]]:
        log = new_log()
        slow: list[int] = []
        quick: list[int] = []

        async def follow(seen: list[int], passes: int) -> None:
            async for record in log.session.follow():
                seen.append(record.seq)
                for _ in range(passes):
                    await yield_once()

        gone = asyncio.create_task(follow([], 0))
        tasks = [asyncio.create_task(follow(slow, 5)), asyncio.create_task(follow(quick, 0))]
        await yield_once()
        gone.cancel()
        for _ in range(3):
            injection(log)
            await yield_once()
        log.detach()
        await asyncio.gather(*tasks)
        return slow, quick

    slow, quick = asyncio.run(scenario())
    assert slow == quick == list(range(9))
