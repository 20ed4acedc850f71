"""Acceptance of content: what is refused, and where; what is kept, and how."""

import copy
import datetime
import decimal
import json
import pickle
from collections.abc import Callable
from enum import IntEnum, StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import InvalidContentError, LimitError
from runtime.limits import Limits
from runtime.session.content import (
    USER_SOURCE,
    FrozenList,
    FrozenObject,
    accept_content,
    accept_source,
    freeze_json,
    text_of,
    thaw,
)

# What could carry more than JSON can, or answer differently the second time.
TextSubclass = type("TextSubclass", (str,), {})
NumberSubclass = type("NumberSubclass", (float,), {})
ListSubclass = type("ListSubclass", (list,), {})
ObjectSubclass = type("ObjectSubclass", (dict,), {})
Colour = StrEnum("Colour", ["RED"])
Level = IntEnum("Level", ["LOW"])

HOSTILE: list[tuple[str, Any]] = [
    ("nan", float("nan")),
    ("infinity", float("inf")),
    ("minus infinity", float("-inf")),
    ("integer too large", 2**53),
    ("integer too small", -(2**53)),
    ("lone high surrogate", "a\ud800"),
    ("lone low surrogate", "\udfffb"),
    ("tuple", (1, 2)),
    ("set", {1}),
    ("frozenset", frozenset({1})),
    ("bytes", b"x"),
    ("bytearray", bytearray(b"x")),
    ("complex", 1j),
    ("decimal", decimal.Decimal(1)),
    ("date", datetime.date(2020, 1, 1)),
    ("function", len),
    ("class", int),
    ("object", object()),
    ("ellipsis", ...),
    ("exception", ValueError("x")),
    ("string subclass", TextSubclass("x")),
    ("float subclass", NumberSubclass(1.0)),
    ("list subclass", ListSubclass([1])),
    ("dict subclass", ObjectSubclass(a=1)),
    ("string enumeration", Colour.RED),
    ("integer enumeration", Level.LOW),
    ("integer as a name", {1: "x"}),
    ("boolean as a name", {True: "x"}),
    ("None as a name", {None: "x"}),
    ("string subclass as a name", {TextSubclass("a"): "x"}),
    ("surrogate in a name", {"\ud800": "x"}),
]


@pytest.mark.clause("D-05", "D-07", "D-09")
@pytest.mark.parametrize(("name", "value"), HOSTILE, ids=[name for name, _ in HOSTILE])
@pytest.mark.parametrize("depth", [0, 1, 3])
def test_what_json_cannot_carry_is_refused_with_its_path(
    name: str, value: object, depth: int
) -> None:
    """The error names the way to the value, whatever the value is and wherever it stands."""
    path = ""
    for level in range(depth):
        value = [0, value] if level % 2 else {"a": 1, "key": value}
        path = ("[1]" if level % 2 else ".key") + path
    with pytest.raises(InvalidContentError) as caught:
        freeze_json(value, what="it")
    assert str(caught.value).startswith(f"it{path} "), name


@pytest.mark.clause("D-04", "D-07")
@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        False,
        0,
        2**53 - 1,
        -(2**53 - 1),
        1.5,
        -0.0,
        1e300,
        "",
        "text",
        "ümlaut 🜚 \x00 \u2028",
        [],
        {},
        [[], {}, [[]], {"": {}}],
        {"a": [1, 2.0, "x", None, True], "not an identifier": {"b": []}},
    ],
    ids=repr,
)
def test_what_json_has_is_kept_as_it_is(value: object) -> None:
    """The frozen form is equal, and JSON of it is the same text."""
    frozen = freeze_json(value, what="it")
    assert frozen == value
    assert value == frozen
    assert json.dumps(frozen) == json.dumps(value)
    assert type(thaw(frozen)) is type(value)


@pytest.mark.clause("D-07")
def test_a_boolean_stays_a_boolean() -> None:
    """True is no 1, although Python says that they are equal."""
    assert freeze_json([True, 1, False, 0], what="it")[0] is True
    assert [type(item) for item in freeze_json([True, 1], what="it")] == [bool, int]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda children: st.lists(children) | st.dictionaries(st.text("abc"), children),
    max_leaves=30,
)


@pytest.mark.clause("D-04", "D-10")
@given(JSON)
def test_freezing_and_thawing_gives_an_equal_copy(value: object) -> None:
    """Nothing is lost on the way in, nothing is shared on the way out."""
    frozen = freeze_json(value, what="it")
    thawed = thaw(frozen)
    assert thawed == value
    assert json.dumps(thawed) == json.dumps(value)
    assert freeze_json(frozen, what="it") is frozen
    if isinstance(value, list | dict):
        assert thawed is not value


@pytest.mark.clause("A-07", "D-10")
def test_later_changes_of_the_callers_value_are_not_seen() -> None:
    """The value is copied at every level."""
    inner: dict[str, Any] = {"list": [1, {"deep": "x"}]}
    value: list[Any] = [inner, 2]
    frozen = freeze_json(value, what="it")
    inner["list"][1]["deep"] = "changed"
    inner["list"].append(3)
    inner["more"] = True
    value.clear()
    assert frozen == [{"list": [1, {"deep": "x"}]}, 2]


@pytest.mark.clause("D-25")
@pytest.mark.parametrize(
    "change",
    [
        lambda it: it.__setitem__("a", 2),
        lambda it: it.__delitem__("a"),
        lambda it: it.update(a=2),
        lambda it: it.pop("a"),
        lambda it: it.popitem(),
        lambda it: it.clear(),
        lambda it: it.setdefault("b", 2),
        lambda it: it.__ior__({"b": 2}),
        lambda it: it["list"].append(2),
        lambda it: it["list"].__setitem__(0, 2),
        lambda it: it["list"][0].update(x=1),
    ],
)
def test_what_is_frozen_cannot_be_changed(change: Callable[[Any], object]) -> None:
    """Every way to change a dict or a list is closed, at every level."""
    frozen = freeze_json({"a": 1, "list": [{"x": 0}]}, what="it")
    with pytest.raises((TypeError, AttributeError)):
        change(frozen)
    assert frozen == {"a": 1, "list": [{"x": 0}]}


def test_copies_and_pickles_of_frozen_values_are_frozen() -> None:
    """Neither `copy` nor `pickle` opens a way around; only `thaw` does."""
    frozen = freeze_json({"a": [1, {"b": 2}]}, what="it")
    assert copy.copy(frozen) is frozen
    assert copy.deepcopy(frozen) is frozen
    again = pickle.loads(pickle.dumps(frozen))  # noqa: S301  # made one line above
    assert again == frozen
    assert type(again) is FrozenObject
    assert type(again["a"]) is FrozenList
    thawed = thaw(frozen)
    thawed["a"][1]["b"] = 3
    thawed["a"].append(3)
    assert frozen == {"a": [1, {"b": 2}]}


@pytest.mark.clause("D-06")
def test_one_value_in_two_places_is_fine() -> None:
    """Only a cycle is refused, not sharing."""
    shared = {"x": [1]}
    assert freeze_json([shared, {"again": shared}], what="it") == [
        {"x": [1]},
        {"again": {"x": [1]}},
    ]


@pytest.mark.clause("D-05", "D-06")
@pytest.mark.parametrize("length", [1, 2, 5, 100])
def test_a_cycle_is_refused_as_one(length: int) -> None:
    """However many values it leads through."""
    first: list[Any] = ["x"]
    last = first
    for _ in range(length - 1):
        following: list[Any] = [1]
        last.append({"next": following})
        last = following
    last.append(first)
    with pytest.raises(InvalidContentError, match="contains itself"):
        freeze_json(first, what="it")


@pytest.mark.clause("D-08")
@pytest.mark.parametrize("levels", [5_000, 200_000])
@pytest.mark.parametrize("kind", ["list", "object"])
def test_deep_nesting_is_refused_cleanly(levels: int, kind: str) -> None:
    """No depth exhausts the stack; the error names the limit."""
    value: Any = "bottom"
    for _ in range(levels):
        value = [value] if kind == "list" else {"in": value}
    with pytest.raises(LimitError, match="nesting_levels_max"):
        freeze_json(value, what="it")


@pytest.mark.clause("D-08")
def test_nesting_up_to_the_limit_is_kept_and_usable() -> None:
    """What is accepted can be written, compared and copied."""
    limits = Limits()
    value: Any = {}
    for _ in range(limits.nesting_levels_max - 1):
        value = [value]
    frozen = freeze_json(value, what="it", limits=limits)
    assert json.loads(json.dumps(frozen)) == value
    assert thaw(frozen) == value
    with pytest.raises(LimitError):
        freeze_json([value], what="it", limits=limits)


@pytest.mark.clause("D-52")
@pytest.mark.parametrize(
    "value",
    [
        "x" * 2_000,
        ["x" * 2_000],
        {"x" * 2_000: 1},
        ["ü" * 600],
        [0] * 2_000,
        [[]] * 2_000,
        {"a": ["x" * 100] * 20},
    ],
)
def test_a_value_over_the_limit_is_refused_by_name(value: object) -> None:
    """Text, names, numbers and empty containers all count."""
    limits = Limits(record_bytes_max=1_000)
    with pytest.raises(LimitError, match="record_bytes_max"):
        freeze_json(value, what="it", limits=limits)
    with pytest.raises(LimitError, match="record_bytes_max"):
        accept_content([{"type": "v/x", "value": value}], limits=limits)


@pytest.mark.clause("D-52")
def test_what_is_frozen_already_counts_in_full() -> None:
    """Sharing saves the walk, not the measure."""
    limits = Limits(record_bytes_max=1_000)
    part = freeze_json([[{"text": "x" * 400}]], what="it", limits=limits)
    assert freeze_json([part, part], what="it", limits=limits) == [part, part]
    with pytest.raises(LimitError):
        freeze_json([part, part, part], what="it", limits=limits)


@pytest.mark.clause("D-52")
def test_sharing_cannot_multiply_without_bound() -> None:
    """A value that doubles at every level is stopped by the limit, not by memory."""
    value: Any = ["x" * 1_000]
    for _ in range(60):
        value = [value, value]
    with pytest.raises(LimitError, match="record_bytes_max"):
        freeze_json(value, what="it", limits=Limits(record_bytes_max=100_000))


# --- content ------------------------------------------------------------------------------------


@pytest.mark.clause("A-07")
def test_a_string_becomes_one_text_block() -> None:
    """The short form and the long form are the same content."""
    assert accept_content("hello") == ({"type": "text", "text": "hello"},)
    assert accept_content("hello") == accept_content([{"type": "text", "text": "hello"}])
    # Nothing is walked twice on its way from the caller to the log.
    content = accept_content("hello")
    assert accept_content(content) is content


@pytest.mark.clause("A-07")
def test_blocks_of_a_plugin_are_kept() -> None:
    """A block of another type is its plugin's business."""
    block = {"type": "vendor/image", "data": [1, 2], "alt": None}
    assert accept_content([block]) == (block,)


@pytest.mark.clause("A-08")
@pytest.mark.parametrize(
    ("content", "path"),
    [
        (None, "content"),
        (5, "content"),
        (True, "content"),
        ({"type": "text", "text": "x"}, "content"),
        (b"x", "content"),
        (("x",), "content"),
        (TextSubclass("x"), "content"),
        (iter(["x"]), "content"),
        (["x"], "content[0]"),
        ([None], "content[0]"),
        ([[]], "content[0]"),
        ([{"type": "text", "text": "x"}, 5], "content[1]"),
        ([{}], "content[0].type"),
        ([{"type": 5}], "content[0].type"),
        ([{"type": "text"}], "content[0].text"),
        ([{"type": "text", "text": None}], "content[0].text"),
        ([{"type": "reasoning", "text": 5}], "content[0].text"),
        ([{"type": "tool-call", "call_id": "c", "name": "n"}], "content[0].arguments"),
        ("\ud800", "content[0].text"),
        ([{"type": "text", "text": "x", "n": float("nan")}], "content[0].n"),
        ([{"type": "v/x", "deep": [{"a b": (1,)}]}], "content[0].deep[0]['a b']"),
    ],
)
def test_what_is_no_content_is_refused_with_its_path(content: object, path: str) -> None:
    """The caller learns which part of the content to change."""
    with pytest.raises(InvalidContentError) as caught:
        accept_content(content)
    assert str(caught.value).startswith(f"{path} ")


@pytest.mark.clause("A-08")
@pytest.mark.parametrize(
    "content", ["", [], [{"type": "text", "text": ""}], [{"type": "text", "text": ""}] * 2]
)
def test_empty_content_is_refused(content: object) -> None:
    """A message says something."""
    with pytest.raises(InvalidContentError, match="empty"):
        accept_content(content)


@pytest.mark.clause("A-08")
@pytest.mark.parametrize(
    "content",
    [" ", "\n", [{"type": "v/x"}], [{"type": "text", "text": ""}, {"type": "v/x"}]],
)
def test_blank_content_and_blocks_without_text_are_accepted(content: object) -> None:
    """Only nothing at all is empty."""
    assert accept_content(content)


@pytest.mark.clause("A-04")
def test_a_missing_source_is_the_user() -> None:
    """Whoever says nothing speaks for the user."""
    assert accept_source(None) == {"kind": "user"}
    assert accept_source(None) is USER_SOURCE


@pytest.mark.clause("A-08")
@pytest.mark.parametrize(
    "source", ["user", 5, [], {}, {"kind": None}, {"kind": "x", "y": {1}}, ("kind",)]
)
def test_what_is_no_source_is_refused(source: object) -> None:
    """A source is an object that says its kind."""
    with pytest.raises(InvalidContentError, match="source"):
        accept_source(source)


def test_the_text_of_content_is_the_text_of_its_text_blocks() -> None:
    """Reasoning and foreign blocks are no text."""
    content = accept_content(
        [
            {"type": "reasoning", "text": "hmm"},
            {"type": "text", "text": "a"},
            {"type": "v/x", "text": "no"},
            {"type": "text", "text": "b"},
        ]
    )
    assert text_of(content) == "ab"
