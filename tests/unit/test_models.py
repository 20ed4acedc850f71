"""Models: chunks, the reply they make, the echo and the script."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from runtime import scripted
from runtime.errors import CallerError, ModelError
from runtime.model import (
    Call,
    Chunk,
    EchoModel,
    Finish,
    FinishKind,
    Model,
    ModelRequest,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
    assemble,
    chunk_to_json,
    is_cooperative,
    last_user_text,
)
from runtime.ports import yield_once
from runtime.scripted import ScriptedModel, ScriptError
from runtime.session.content import accept_content, freeze_json
from runtime.session.derive import Message

STOP = Finish(FinishKind.STOP)


# An abort signal that never fires and that nobody asks.
SILENT: Any = SimpleNamespace(is_aborted=False, reason=None)


def said(text: str, role: Any = "user") -> Message:  # noqa: ANN401  # one of two words
    """Return a message with this text."""
    return Message(role, accept_content(text), (0,))


def request(*messages: Message | str) -> ModelRequest:
    """Return a request with this history."""
    return ModelRequest(
        agent_id="a",
        session_id="s",
        turn=1,
        step=1,
        messages=[said(each) if isinstance(each, str) else each for each in messages],
    )


def answer(model: Model, *messages: Message | str) -> list[Chunk]:
    """Return every chunk of a model's answer."""

    async def scenario() -> list[Chunk]:
        return [chunk async for chunk in model.stream(request(*messages), SILENT)]

    return asyncio.run(scenario())


# --- chunks and replies -------------------------------------------------------------------------


@pytest.mark.clause("B-59")
@pytest.mark.parametrize(
    ("chunk", "expected"),
    [
        (TextDelta("x"), {"type": "text", "text": "x"}),
        (ReasoningDelta("x"), {"type": "reasoning", "text": "x"}),
        (
            ToolCallDelta("c", "n", "{"),
            {"type": "tool-call", "call_id": "c", "name": "n", "arguments": "{"},
        ),
        (Usage({"tokens": 3}), {"type": "usage", "data": {"tokens": 3}}),
        (STOP, {"type": "finish", "kind": "stop"}),
        (
            Finish(FinishKind.ERROR, code="c", message="m"),
            {"type": "finish", "kind": "error", "code": "c", "message": "m"},
        ),
    ],
)
def test_a_chunk_is_recorded_as_plain_json(chunk: Chunk, expected: dict[str, Any]) -> None:
    """The log takes it as it is; no enumeration or class gets in."""
    assert chunk_to_json(chunk) == expected
    assert freeze_json(chunk_to_json(chunk), what="chunk") == expected


@pytest.mark.parametrize(
    "chunk",
    [
        None,
        "text",
        {"type": "text", "text": "x"},
        object(),
        TextDelta(None),  # type: ignore[arg-type]
        ToolCallDelta("c", None, ""),  # type: ignore[arg-type]
        ToolCallDelta("c", "n", {}),  # type: ignore[arg-type]
        Finish(FinishKind.ERROR, message=5),  # type: ignore[arg-type]
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_chunk_is_the_models_error(chunk: Any) -> None:  # noqa: ANN401  # anything at all
    """The model is at fault, and the error says what it yielded."""
    with pytest.raises(ModelError, match="the model yielded") as caught:
        chunk_to_json(chunk)
    assert caught.value.code == "bad-chunk"
    with pytest.raises(ModelError):
        assemble([chunk])


def test_a_finish_has_one_of_five_kinds() -> None:
    """A sixth is a mistake of the adapter, found where it is made."""
    with pytest.raises(ValueError, match="FinishKind"):
        Finish("done")


def test_neighbouring_pieces_become_one_block_in_order() -> None:
    """Text, reasoning and calls stand where they began."""
    reply = assemble(
        [
            ReasoningDelta("h"),
            ReasoningDelta("m"),
            TextDelta("a"),
            TextDelta(""),
            TextDelta("b"),
            ToolCallDelta("c1", "read", '{"p'),
            ToolCallDelta("c2", "list", ""),
            ToolCallDelta("c1", "", '":1}'),
            TextDelta("c"),
            Usage({"n": 1}),
            Usage({"n": 2}),
            Finish(FinishKind.TOOL_CALLS),
        ]
    )
    first = {"type": "tool-call", "call_id": "c1", "name": "read", "arguments": '{"p":1}'}
    second = {"type": "tool-call", "call_id": "c2", "name": "list", "arguments": ""}
    assert list(reply.content) == [
        {"type": "reasoning", "text": "hm"},
        {"type": "text", "text": "ab"},
        first,
        second,
        {"type": "text", "text": "c"},
    ]
    assert reply.calls == (Call("c1", "read", '{"p":1}'), Call("c2", "list", ""))
    assert reply.usage == {"n": 2}
    assert (reply.finish.kind, reply.text) == (FinishKind.TOOL_CALLS, "abc")


@pytest.mark.clause("B-60")
@pytest.mark.parametrize(
    ("chunks", "is_empty"),
    [
        ([], True),
        ([STOP], True),
        ([TextDelta(""), STOP], True),
        ([TextDelta("x")], False),
        ([Usage({})], False),
        ([ToolCallDelta("c", "n", "")], False),
    ],
)
def test_a_reply_is_empty_without_content_and_usage(chunks: list[Chunk], *, is_empty: bool) -> None:
    """Then there is nothing to record, and the step is over all the same."""
    reply = assemble(chunks)
    assert reply.is_empty is is_empty
    assert reply.finish.kind is FinishKind.STOP


def test_nothing_behind_the_finish_is_read() -> None:
    """The first finish is the end."""
    reply = assemble([TextDelta("a"), STOP, TextDelta("b"), Finish(FinishKind.ERROR)])
    assert (reply.text, reply.finish) == ("a", STOP)


@pytest.mark.clause("B-73")
@pytest.mark.parametrize("kind", FinishKind)
def test_only_a_reply_cut_at_its_token_limit_loses_its_calls(kind: FinishKind) -> None:
    """They may be incomplete, so they are neither recorded nor run."""
    reply = assemble([TextDelta("a"), ToolCallDelta("c", "n", "{"), Finish(kind)])
    kept = kind is not FinishKind.MAX_TOKENS
    assert [block["type"] for block in reply.content] == ["text", "tool-call"][: 1 + kept]
    assert len(reply.calls) == int(kept)
    stripped = reply.without_calls()
    assert (stripped.calls, len(stripped.content)) == ((), 1)


# --- the echo -----------------------------------------------------------------------------------


def test_the_echo_answers_the_last_user_message() -> None:
    """In one piece, and then stops; nothing is answered with nothing."""
    assert answer(EchoModel(), "one", said("answer", "assistant"), "two") == [
        TextDelta("two"),
        STOP,
    ]
    assert answer(EchoModel(), " ") == [TextDelta(" "), STOP]
    assert answer(EchoModel()) == [STOP]


def test_the_result_of_a_tool_is_not_what_the_user_said() -> None:
    """The last user text is looked for behind it."""
    block = {"type": "tool-result", "call_id": "c", "content": [], "is_error": False}
    result = Message("user", accept_content([block]), (1,))
    assert last_user_text([said("ask"), said("calls", "assistant"), result]) == "ask"
    assert last_user_text([result]) == ""


def test_a_model_is_cooperative_only_if_it_says_so() -> None:
    """Silence, and anything but True, is no claim."""
    assert is_cooperative(EchoModel())
    assert is_cooperative(ScriptedModel.from_lines(["{}"]))
    assert not is_cooperative(object())
    assert not is_cooperative(SimpleNamespace(cooperative="yes"))


# --- the script ---------------------------------------------------------------------------------


def test_the_first_line_that_fits_answers() -> None:
    """Lines are tried in order; the pattern is searched, not matched whole."""
    model = ScriptedModel.from_lines(
        [
            '{"when": "^hel", "chunks": ["hi", "!"]}',
            "",
            '{"when": "l", "chunks": ["second"]}',
            '{"chunks": ["any"]}',
        ]
    )
    assert answer(model, "hello") == [TextDelta("hi"), TextDelta("!"), STOP]
    assert answer(model, "shell") == [TextDelta("second"), STOP]
    assert answer(model, "xyz") == [TextDelta("any"), STOP]


def test_a_line_answers_as_often_as_it_may() -> None:
    """Then the search passes it by; a line without a bound never ends."""
    lines = ['{"chunks": ["one"], "repeat": 2}', '{"when": "x", "chunks": ["two"]}']
    model = ScriptedModel.from_lines(lines)
    texts = [assemble(answer(model, "x")).text for _ in range(5)]
    assert texts == ["one", "one", "two", "two", "two"]


def test_reasoning_text_and_calls_come_in_this_order() -> None:
    """Arguments that are no string become JSON."""
    model = ScriptedModel.from_lines(
        [
            '{"tool_calls": [{"call_id": "c1", "name": "read", "arguments": {"path": "x"}},'
            ' {"call_id": "c2", "name": "list", "arguments": "{"}, {"call_id": "c3", "name": "n"}],'
            ' "chunks": ["t"], "reasoning": ["r"]}'
        ]
    )
    assert answer(model, "x") == [
        ReasoningDelta("r"),
        TextDelta("t"),
        ToolCallDelta("c1", "read", '{"path": "x"}'),
        ToolCallDelta("c2", "list", "{"),
        ToolCallDelta("c3", "n", ""),
        Finish(FinishKind.TOOL_CALLS),
    ]


@pytest.mark.parametrize("kind", FinishKind)
def test_a_script_can_finish_with_every_kind(kind: FinishKind) -> None:
    """Also with those that a friendly model never uses."""
    model = ScriptedModel.from_lines([f'{{"chunks": ["x"], "finish": "{kind}"}}'])
    assert answer(model, "x") == [TextDelta("x"), Finish(kind)]


def test_an_error_is_raised_behind_the_pieces_or_reported_as_the_finish() -> None:
    """What came before it was yielded."""
    model = ScriptedModel.from_lines(['{"chunks": ["a"], "error": "overloaded"}'])
    seen: list[Chunk] = []

    async def scenario() -> None:
        async for chunk in model.stream(request("x"), SILENT):
            seen.append(chunk)  # noqa: PERF401  # what came before the error counts

    with pytest.raises(ModelError, match="overloaded"):
        asyncio.run(scenario())
    assert seen == [TextDelta("a")]
    model = ScriptedModel.from_lines(['{"error": "overloaded", "finish": "error"}'])
    assert answer(model, "x") == [Finish(FinishKind.ERROR, message="overloaded")]


def test_a_prompt_that_no_line_answers_is_an_error_that_names_both() -> None:
    """Whoever wrote the script sees what was asked and what would have fitted."""
    model = ScriptedModel.from_lines(['{"when": "hello"}', '{"when": "a.c"}'])
    with pytest.raises(ModelError, match=r"'good day'.*'hello', 'a\.c'"):
        answer(model, "good day")


def test_a_line_that_hangs_waits_behind_its_pieces_until_it_is_cancelled() -> None:
    """It lets the cancellation through."""
    model = ScriptedModel.from_lines(['{"chunks": ["a"], "hang": true}'])
    seen: list[Chunk] = []

    async def scenario() -> bool:
        async def read() -> None:
            async for chunk in model.stream(request("x"), SILENT):
                seen.append(chunk)  # noqa: PERF401  # it never ends

        task = asyncio.create_task(read())
        for _ in range(20):
            await yield_once()
        assert not task.done()
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(scenario())
    assert seen == [TextDelta("a")]


def test_a_delay_stands_before_every_piece_and_the_finish(monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes through the port, so that virtual time can pass it."""
    waited: list[float] = []

    async def note(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(scripted, "pause", note)
    model = ScriptedModel.from_lines(['{"chunks": ["a", "b"], "delay_s": 1.5}', '{"delay_s": 0}'])
    answer(model, "x")
    assert waited == [1.5, 1.5, 1.5]


DAMAGED: list[tuple[str, str]] = [
    ("{", "script:2:2: not JSON"),
    ('{"when": "x"} trailing', "script:2:15: not JSON"),
    ("[1]", "script:2: a line must be a JSON object, not a list"),
    ("null", "script:2: a line must be a JSON object, not null"),
    ('{"wehn": "x"}', "script:2: unknown field 'wehn'; a line may have when, chunks"),
    ('{"when": "x", "when": "y"}', "script:2: the field 'when' stands there twice"),
    ('{"when": 5}', "script:2: field when must be a string"),
    ('{"when": "("}', "script:2: field when must be a regular expression"),
    ('{"when": "\\ud800"}', "script:2: line.when holds half a surrogate pair"),
    ('{"chunks": "x"}', "script:2: field chunks must be a list of strings"),
    ('{"chunks": ["x", 5]}', "script:2: field chunks must be a list of strings"),
    ('{"delay_s": -1}', "script:2: field delay_s must be a number"),
    ('{"delay_s": true}', "script:2: field delay_s must be a number"),
    ('{"delay_s": 1e999}', "script:2: line.delay_s is a number that JSON does not have"),
    ('{"repeat": 0}', "script:2: field repeat must be a whole number"),
    ('{"repeat": true}', "script:2: field repeat must be a whole number"),
    ('{"hang": 1}', "script:2: field hang must be true or false"),
    ('{"finish": "done"}', "script:2: field finish must be one of stop, tool-calls"),
    ('{"finish": ["stop"]}', "script:2: field finish must be one of stop, tool-calls"),
    ('{"tool_calls": {}}', "script:2: field tool_calls must be a list of objects"),
    ('{"tool_calls": [5]}', "script:2: field tool_calls must be a list of objects"),
    ('{"tool_calls": [{"name": "n"}]}', "script:2: field tool_calls[0].call_id must be"),
    ('{"tool_calls": [{"call_id": "c", "name": ""}]}', "script:2: field tool_calls[0].name must"),
    ('{"tool_calls": [{"id": "c"}]}', "script:2: field tool_calls[0] may have call_id, name and"),
    ('{"chunks": ' + "[" * 100_000, "script:2: "),
    ('{"delay_s": ' + "1" * 10_000 + "}", "script:2: "),
]


@pytest.mark.parametrize(
    ("line", "complaint"), DAMAGED, ids=[complaint[:60] for _, complaint in DAMAGED]
)
def test_a_damaged_line_is_refused_with_its_place(line: str, complaint: str) -> None:
    """The error says where, what, and what belongs there; nothing is half loaded."""
    with pytest.raises(ScriptError) as caught:
        ScriptedModel.from_lines(['{"chunks": ["good"]}', line])
    assert str(caught.value).startswith(complaint)
    assert isinstance(caught.value, CallerError)


@pytest.mark.parametrize("text", ["", "\n", " \n\t\n"])
def test_an_empty_script_is_refused(text: str, tmp_path: Path) -> None:
    """It could answer nothing."""
    (tmp_path / "empty.jsonl").write_text(text)
    with pytest.raises(ScriptError, match=r"empty\.jsonl: the script is empty"):
        ScriptedModel.from_file(tmp_path / "empty.jsonl")


def test_a_script_is_read_from_a_file(tmp_path: Path) -> None:
    """UTF-8, whatever the machine's own encoding is; the line separator of text is no newline."""
    path = tmp_path / "script.jsonl"
    path.write_bytes('{"chunks": ["grüße\u2028x"]}\r\n{"when": "x"}\n'.encode())
    assert assemble(answer(ScriptedModel.from_file(path), "x")).text == "grüße\u2028x"
    assert assemble(answer(ScriptedModel.from_file(str(path)), "x")).text == "grüße\u2028x"


def test_a_damaged_file_is_refused_with_its_name_and_place(tmp_path: Path) -> None:
    """Broken JSON, broken UTF-8, and no file at all."""
    path = tmp_path / "script.jsonl"
    path.write_text('{"chunks": ["x"]}\n{"chunks": [}\n')
    with pytest.raises(ScriptError, match=r"script\.jsonl:2:13: not JSON"):
        ScriptedModel.from_file(path)
    path.write_bytes(b'{}\n{}\n{"when": "\xff"}\n')
    with pytest.raises(ScriptError, match=r"script\.jsonl:3: the script must be UTF-8"):
        ScriptedModel.from_file(path)
    with pytest.raises(ScriptError, match=r"missing\.jsonl: the script cannot be read"):
        ScriptedModel.from_file(tmp_path / "missing.jsonl")
    with pytest.raises(ScriptError, match="the script cannot be read"):
        ScriptedModel.from_file(tmp_path)
