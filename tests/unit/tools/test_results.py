"""What comes back from a call, whatever the body did."""

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import (
    AgentDisposedError,
    InvalidContentError,
    LifecycleError,
    LimitError,
    ModelError,
    PluginError,
    UnknownIdError,
)
from runtime.limits import RECORD_OWN_BYTES, Limits
from runtime.session.content import FrozenObject, text_of
from runtime.session.records import freeze_data
from runtime.tools import (
    ToolErrorInfo,
    ToolResult,
    failed_result,
    invalid_arguments_result,
    unknown_tool_result,
)

IMAGE = {"type": "image", "data": "AAAA"}


def recorded(result: ToolResult, limits: Limits | None = None) -> FrozenObject:
    """Return the data of a record of a result, checked as the log checks it."""
    data = {"turn": 1, "step": 1, "call_id": "c1", **result.record_data()}
    return freeze_data("tool/result", data, limits=limits or Limits())


class Hostile:
    """Something that answers nothing."""

    def __eq__(self, _other: object) -> bool:
        raise ValueError("never compare me")

    def __str__(self) -> str:
        raise ValueError("never print me")

    __hash__ = None  # type: ignore[assignment]
    __repr__ = __str__


class HostileError(PluginError):
    """An error of a plugin's own, which answers nothing, either."""

    @property
    def code(self) -> str:
        """Fail."""
        raise ValueError("I have no code")

    def __str__(self) -> str:
        raise ValueError("I have no text")


# ----------------------------------------------------------------------------- what a body returns


@pytest.mark.clause("K-21")
@pytest.mark.parametrize(
    ("returned", "content"),
    [
        (None, []),
        ("", []),
        ([], []),
        ("done", [{"type": "text", "text": "done"}]),
        ([IMAGE], [IMAGE]),
        ([{"type": "text", "text": ""}], [{"type": "text", "text": ""}]),
    ],
)
def test_what_a_body_returns_becomes_content(returned: object, content: object) -> None:
    """A string is one text block, nothing is nothing, and a list of blocks is what it is."""
    result = ToolResult.of(returned)
    assert (result.content, result.is_error, result.error) == (tuple(content), False, None)  # type: ignore[arg-type]
    recorded(result)


@pytest.mark.clause("K-21")
@pytest.mark.parametrize(
    "returned",
    [
        3,
        True,
        b"done",
        {"type": "text", "text": "done"},
        {"answer": 42},
        ["done"],
        [{"text": "done"}],
        [{"type": "text"}],
        [{"type": "image", "data": b"AAAA"}],
        {1},
        "a\ud800",
        [{"type": "n", "n": float("nan")}],
        [{"type": "n", "n": 2**53}],
        object(),
        Hostile(),
        [Hostile()],
        ToolResult,
        ValueError("returned, not raised"),
    ],
    ids=lambda returned: type(returned).__name__,
)
def test_what_is_no_result_becomes_an_error(returned: object) -> None:
    """The model is told what the tool did wrong, and the call is answered all the same."""
    result = ToolResult.of(returned)
    assert result.is_error
    assert result.error == ToolErrorInfo(name="BadResult", code="bad-result")
    assert text_of(result.content).startswith("Error: the tool returned what is no result: ")
    recorded(result)


@pytest.mark.clause("K-21")
def test_a_list_that_contains_itself_becomes_an_error() -> None:
    """A circle has no end that could be recorded."""
    circle: list[Any] = []
    circle.append({"type": "circle", "inner": circle})
    assert "contains itself" in text_of(ToolResult.of(circle).content)


@pytest.mark.clause("K-21")
@given(
    returned=st.recursive(
        st.none() | st.text() | st.floats() | st.integers() | st.binary(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.text() | st.integers(), inner)
            | st.fixed_dictionaries({"type": st.text(), "text": inner})
        ),
        max_leaves=8,
    )
)
def test_anything_a_body_returns_can_be_recorded(returned: object) -> None:
    """No return value raises, and every result passes the checks of the log."""
    recorded(ToolResult.of(returned))


@pytest.mark.clause("K-21")
def test_a_result_that_leaves_no_room_in_its_record_becomes_an_error() -> None:
    """Content and meta count together, and the limit is named; one that just fits is recorded."""
    limits = Limits(record_bytes_max=10_000)
    room = 10_000 - RECORD_OWN_BYTES
    half = room // 2 - 100
    meta = {"note": "m" * half}
    fits = ToolResult(content="x" * half, meta=meta)
    assert ToolResult.of(fits, limits) is fits
    recorded(fits, limits)
    large = ToolResult.of(ToolResult(content="x" * (half + 200), meta=meta), limits)
    assert large.error == ToolErrorInfo(name="BadResult", code="bad-result")
    assert "record_bytes_max (10000 bytes)" in text_of(large.content)
    assert (large.meta, len(text_of(large.content)) < 300) == (None, True)
    assert ToolResult.of("x" * room, limits).is_error
    with pytest.raises(LimitError):
        recorded(ToolResult(content="x" * 10_000), limits)


def test_a_result_may_be_as_large_as_the_runtime_allows() -> None:
    """The value itself has no limit of its own: the runtime's may be larger than the default."""
    text = "x" * (17 * 1024 * 1024)
    large = ToolResult(content=text, meta={"text": text})
    assert ToolResult.of(large).is_error
    assert ToolResult.of(large, Limits(record_bytes_max=64 * 1024 * 1024)) is large


def test_a_result_is_changed_by_making_another() -> None:
    """What is frozen already is taken over, and a tuple of blocks is content, too."""
    result = ToolResult(content="a", meta={"n": 1})
    block = {"type": "text", "text": "b"}
    other = attrs.evolve(result, content=(*result.content, block))
    assert text_of(other.content) == "ab"
    assert other.content[0] is result.content[0]
    assert other.meta is result.meta


# ------------------------------------------------------------------------------------ the value


@pytest.mark.clause("K-08")
def test_nobody_can_change_a_result() -> None:
    """Error flag, error and content are what the body gave, whoever holds the result."""
    info = ToolErrorInfo(name="NotFound", code="not-found")
    mine = {"type": "text", "text": "no such file"}
    of_mine = {"path": ["a"]}
    result = ToolResult(content=[mine], is_error=True, error=info, meta=of_mine)
    mine["text"] = "changed"
    of_mine["path"].append("b")
    for name in ("content", "is_error", "error", "meta"):
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            setattr(result, name, None)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        info.code = "changed"  # type: ignore[misc]
    assert not hasattr(result.content, "append")
    with pytest.raises(TypeError, match="cannot be changed"):
        result.content[0]["text"] = "changed"
    assert result.meta is not None
    assert text_of(result.content) == "no such file"
    assert result.record_data() == {
        "content": [{"type": "text", "text": "no such file"}],
        "is_error": True,
        "error": {"name": "NotFound", "code": "not-found"},
        "meta": {"path": ["a"]},
    }
    recorded(result)


@pytest.mark.clause("B-66")
def test_error_and_meta_are_recorded_only_if_there_is_one() -> None:
    """A reader of the log tells "none" from "empty"."""
    assert recorded(ToolResult(content="a")).keys() == {
        "turn",
        "step",
        "call_id",
        "content",
        "is_error",
    }
    assert recorded(ToolResult(content="a", meta={}))["meta"] == {}
    assert "error" not in recorded(ToolResult(content="a", is_error=True))


@pytest.mark.clause("K-12")
@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"meta": []}, "meta must be an object or None, not list"),
        ({"meta": {"at": object()}}, r"meta\.at must be"),
        ({"meta": {"at": (1, 2)}}, r"meta\.at must be"),
        ({"content": {"type": "text"}}, "content must be a string, a list of blocks or None"),
        ({"content": [{"type": "text", "text": 3}]}, r"content\[0\]\.text must be"),
        ({"is_error": 1}, "is_error must be True or False"),
        ({"error": ToolErrorInfo(name="a", code="b")}, "error must be a ToolErrorInfo"),
        ({"error": {"name": "a", "code": "b"}, "is_error": True}, "error must be a ToolErrorInfo"),
    ],
    ids=[f"case-{number}" for number in range(8)],
)
def test_a_result_that_would_not_survive_the_log_is_refused(
    fields: dict[str, Any], why: str
) -> None:
    """The body that makes it learns it where it made it."""
    with pytest.raises(InvalidContentError, match=why):
        ToolResult(**fields)


@pytest.mark.parametrize("word", ["", None, 3, "a\ud800"])
def test_the_words_for_an_error_are_strings(word: Any) -> None:  # noqa: ANN401  # on purpose
    """A program compares them, so they are there."""
    with pytest.raises(InvalidContentError, match=r"error\.name"):
        ToolErrorInfo(name=word, code="a")
    with pytest.raises(InvalidContentError, match=r"error\.code"):
        ToolErrorInfo(name="a", code=word)


# ------------------------------------------------------------------------------ what a body raises


@pytest.mark.clause("K-04")
@pytest.mark.parametrize(
    ("error", "name", "code"),
    [
        (AgentDisposedError("gone"), "AgentDisposedError", "agent-disposed"),
        (UnknownIdError("\udc00"), "UnknownIdError", "unknown-id"),
        (LimitError(""), "LimitError", "limit"),
        (ModelError("busy", code="429"), "ModelError", "429"),
        (ModelError("busy"), "ModelError", "model"),
        (LifecycleError("x" * 10_000), "LifecycleError", "lifecycle"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_an_error_of_the_runtime_is_named(error: Exception, name: str, code: str) -> None:
    """A program can tell it from others without reading its text."""
    result = failed_result(error)
    assert (result.is_error, result.error) == (True, ToolErrorInfo(name=name, code=code))
    assert text_of(result.content).startswith(f"Error: {name}")
    recorded(result)


@pytest.mark.clause("K-03", "K-04")
@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no such file"), "Error: ValueError: no such file"),
        (KeyError("a"), "Error: KeyError: 'a'"),
        (RuntimeError(), "Error: RuntimeError"),
        (ValueError("a\ud800"), "Error: ValueError: 'a\\ud800'"),
        (KeyboardInterrupt(), "Error: KeyboardInterrupt"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_plain_exception_is_only_text(error: BaseException, text: str) -> None:
    """Its class is nothing that a program should rely on."""
    result = failed_result(error)
    assert (result.is_error, result.error, text_of(result.content)) == (True, None, text)
    recorded(result)


@pytest.mark.clause("K-03")
def test_an_error_that_cannot_say_what_it_is_still_becomes_a_result() -> None:
    """A failure of the failure is nobody's business."""
    result = failed_result(HostileError())
    assert text_of(result.content) == "Error: HostileError (its text could not be rendered)"
    assert result.error is None
    recorded(result)


@pytest.mark.clause("K-03", "K-04")
def test_a_call_of_an_unknown_tool_is_answered() -> None:
    """Also if what the model took for a name is a novel."""
    result = unknown_tool_result("wrong\ud800" * 10_000)
    assert result.error == ToolErrorInfo(name="UnknownTool", code="unknown-tool")
    assert text_of(result.content).startswith("Error: no tool is named 'wrong")
    assert len(text_of(result.content)) < 2_000
    recorded(result)


@pytest.mark.clause("K-04", "K-09")
def test_a_call_with_wrong_arguments_is_answered_with_what_is_wrong() -> None:
    """The model is told every violation, so that it can call again and be right."""
    result = invalid_arguments_result("read", ("arguments: 'a'", "arguments.b: 3"))
    assert result.error == ToolErrorInfo(name="InvalidArguments", code="invalid-arguments")
    assert text_of(result.content) == (
        "Error: tool 'read' was not run, because its arguments are wrong:\n"
        "- arguments: 'a'\n- arguments.b: 3"
    )
    recorded(result)
