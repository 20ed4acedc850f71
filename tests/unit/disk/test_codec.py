"""Lines of JSON and back: nothing is lost, nothing wrong is taken, and torn is not damaged."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import DamagedSessionError, InvalidContentError, LimitError
from runtime.limits import DEFAULT_LIMITS, Limits
from runtime.session.codec import (
    Scan,
    UnreadableError,
    decode_header,
    encode_header,
    encode_record,
    glance,
    scan,
)
from runtime.session.content import INTEGER_MAX
from runtime.session.log import SessionHeader, SessionLog
from runtime.session.segments import segment_of, shown

from .recorded import StillClock, recorded, turn

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-INTEGER_MAX, INTEGER_MAX)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)


def read(lines: Sequence[str], *, can_tear: bool = True, limits: Limits = DEFAULT_LIMITS) -> Scan:
    """Read lines that stand at 0, 10, 20, ..."""
    numbered = ((10 * index, line.encode()) for index, line in enumerate(lines))
    return scan(numbered, what="it", place="line {}".format, limits=limits, can_tear=can_tear)


def lines_of(*, turns: int = 2, is_open: bool = False) -> list[str]:
    """Return the lines of a small session."""
    return [encode_record(each) for each in recorded(turns=turns, is_open=is_open)[1]]


def changed(line: str, **fields: object) -> str:
    """Return a line with other fields; None takes a field away."""
    found = {**json.loads(line), **fields}
    return json.dumps({name: value for name, value in found.items() if value is not ...})


# -------------------------------------------------------------------------------------- round trip


@pytest.mark.clause("E-11", "E-63")
@given(VALUES, TEXTS)
def test_what_was_appended_comes_back_equal(value: object, text: str) -> None:
    """Types included: a float stays a float, a true a true, and the frozen form the frozen form."""
    log = SessionLog(SessionHeader(id="s", created_ms=1), clock=StillClock())
    log.append("turn/start", {"turn": 1, "trigger": {"kind": "message", "x": value}})
    log.append("vendor/any", {"turn": 7, text: value})
    lines = [encode_record(each) for each in log.events]
    found = read(lines)
    assert found.records == tuple(log.events)
    assert repr(found.records) == repr(tuple(log.events))
    assert found.torn is None
    for line in lines:
        assert "\n" not in line
        assert line.splitlines() == [line]
        assert line.isprintable() or not any(each < " " or each == "\x7f" for each in line)


@pytest.mark.clause("E-63")
def test_a_line_is_one_line_for_every_reader() -> None:
    """What some take for the end of a line is escaped; other alphabets are left readable."""
    ends = "".join(map(chr, (*range(32), *range(0x7F, 0xA0), 0x2028, 0x2029)))
    log = SessionLog(SessionHeader(id="s", created_ms=1), clock=StillClock())
    turn(log, 1, text=f"Größe {ends}")
    turn(log, 2, text="\x7f")
    for line in (encode_record(log.events[1]), encode_record(log.events[4])):
        assert line.splitlines() == [line]
        assert line.isprintable()
    assert "Größe" in encode_record(log.events[1])
    assert read([encode_record(each) for each in log.events]).records == tuple(log.events)


@pytest.mark.clause("D-30", "E-63")
@given(TEXTS, TEXTS | st.none(), TEXTS | st.none())
def test_a_header_comes_back_equal(session_id: str, cwd: str | None, parent: str | None) -> None:
    """Whatever its names are."""
    header = SessionHeader(id=session_id, created_ms=5, cwd=cwd, parent=parent, seed_length=3)
    assert decode_header(encode_header(header).encode()) == header


@pytest.mark.clause("E-26")
def test_a_header_that_no_file_can_store_is_refused() -> None:
    """Half a surrogate pair comes from the name of a directory that is no text."""
    with pytest.raises(InvalidContentError, match="half a surrogate pair"):
        encode_header(SessionHeader(id="s", created_ms=1, cwd="/\udcff"))


# ------------------------------------------------------------------------------------------ headers

GOOD_HEADER = json.loads(encode_header(recorded()[0]))


@pytest.mark.clause("E-21")
@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"", "it is empty"),
        (b'{"type": "session', "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "not the header of a session"),
        (b'{"type": "sessions"}', "not the header of a session"),
        (json.dumps({**GOOD_HEADER, "format_version": 7}).encode(), "version 7.* reads 0"),
        (json.dumps({**GOOD_HEADER, "format_version": "0"}).encode(), "no format_version"),
        (json.dumps({**GOOD_HEADER, "id": None}).encode(), "no id"),
        (json.dumps({**GOOD_HEADER, "created_ms": True}).encode(), "no created_ms"),
        (json.dumps({**GOOD_HEADER, "cwd": 1}).encode(), "no cwd"),
        (json.dumps({**GOOD_HEADER, "more": 1}).encode(), "a field that no header has"),
    ],
)
def test_what_is_no_header_is_refused_in_words_of_its_own(line: bytes, said: str) -> None:
    """Whoever reads the message knows what kind of file it is."""
    with pytest.raises(UnreadableError, match=said):
        decode_header(line)


# ------------------------------------------------------------------------------ torn, or damaged


@pytest.mark.clause("E-18", "E-20")
@pytest.mark.parametrize("rest", ["", '{"seq":', "\x00\x00\x00", "{", '{"seq":3,"ty\n'])
@pytest.mark.parametrize("turns", [0, 1])
def test_half_a_line_behind_the_last_end_of_a_turn_is_a_torn_tail(turns: int, rest: str) -> None:
    """What stands before it is kept, and the place is said."""
    whole = [*lines_of(turns=turns), *lines_of(turns=turns + 1)[3 * turns :][:2]]
    found = read([*whole, rest])
    assert len(found.records) == 3 * turns + 2
    assert found.torn_at == 10 * len(whole)
    assert f"line {found.torn_at}" in (found.torn or "")


@pytest.mark.clause("E-18")
def test_a_gap_behind_the_last_end_of_a_turn_is_a_torn_tail() -> None:
    """A page in the middle of the last write was lost; what follows it is cut, too."""
    lines = [*lines_of(turns=1), *lines_of(turns=3)[3:5]]
    follow = [changed(lines[-1], seq=6), changed(lines[-1], seq=7)]
    found = read([*lines, *follow])
    assert (len(found.records), found.torn_at) == (5, 50)


@pytest.mark.clause("E-19", "E-64")
@pytest.mark.parametrize("bad", ["", "{", "\x00", "[]", "1", '{"seq": 1}'])
@pytest.mark.parametrize("at", [0, 1, 2, 4])
def test_a_wrong_line_before_an_end_of_a_turn_is_damage(at: int, bad: str) -> None:
    """The first wrong line is named, whatever comes behind it."""
    lines = lines_of(turns=2)
    lines[at] = bad
    with pytest.raises(
        DamagedSessionError, match=f"damaged at line {10 * at}: .* left as it is"
    ) as it:
        read([*lines, "{"])
    assert it.value.place == f"line {10 * at}"


@pytest.mark.clause("E-19")
def test_a_missing_line_before_an_end_of_a_turn_is_damage() -> None:
    """The line behind the gap is where it is seen."""
    lines = lines_of(turns=2)
    del lines[3]
    with pytest.raises(DamagedSessionError, match="line 30: record 4 stands where 3 is next"):
        read(lines)


@pytest.mark.clause("E-19")
def test_an_end_of_a_turn_behind_a_gap_is_damage() -> None:
    """It was written behind something that is missing, so nobody can say what it ends."""
    lines = lines_of(turns=2)
    with pytest.raises(DamagedSessionError, match="at line 40: record 5 stands where 4 is next"):
        read([*lines[:4], lines[5]])


OPEN = lines_of(turns=2, is_open=True)
"""Its last record is a message in an open turn."""


@pytest.mark.clause("E-64")
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[]", "JSON, but no record"),
        ('"x"', "JSON, but no record"),
        (changed(OPEN[-1], seq=3), "record 3 stands where 4 is next"),
        (changed(OPEN[-1], seq=True), "record True stands"),
        (changed(OPEN[-1], seq=4.0), "record 4.0 stands"),
        (changed(OPEN[-1], seq=...), "record None stands"),
        (changed(OPEN[-1], more=1), "a field that no record has"),
        (changed(OPEN[-1], data=...), "lacks one"),
        (changed(OPEN[-1], time_ms="1"), "a time that cannot be"),
        (changed(OPEN[-1], type=5), "a type"),
        (changed(OPEN[-1], type="user/massage"), "not declared"),
        (changed(OPEN[-1], type="message"), "no type of record"),
        (changed(OPEN[-1], data=[]), "must be an object"),
        (changed(OPEN[-1], data={"turn": 2}), "needs the field"),
        (changed(OPEN[-1], placement=...), "needs a placement"),
        (changed(OPEN[-1], placement=None), "an empty field placement"),
        (changed(OPEN[-1], placement="prepend"), "a placement is"),
        (changed(OPEN[-1], sources=None), "an empty field sources"),
        (changed(OPEN[-1], sources=3), "sources that are no list"),
        (changed(OPEN[-1], sources=[]), "must not be empty"),
        (changed(OPEN[-1], sources=[9]), "earlier records"),
        (
            changed(OPEN[-1], placement={"replace": {"start": 0, "end": 0}}),
            "not in the history",
        ),
        (
            changed(OPEN[-1], placement={"replace": {"start": 1, "end": 1}}),
            "not among its sources",
        ),
        (changed(OPEN[-2], seq=4), "turn 2 is still open"),
        ("[" * 100_000, "nested deeper"),
        (changed(OPEN[-1]).replace('"hello 2"', '"\\ud800"'), "half a surrogate"),
        (changed(OPEN[-1]).replace('"kind": "user"', '"kind": NaN'), "JSON does not have"),
        (changed(OPEN[-1]).replace('"kind": "user"', '"kind": 1e999'), "JSON does not have"),
    ],
)
def test_a_line_that_is_whole_and_wrong_is_damage_in_an_open_turn_too(line: str, said: str) -> None:
    """No crash leaves such a line; somebody edited it, or another program wrote it."""
    with pytest.raises(DamagedSessionError, match=said) as it:
        read([*OPEN[:-1], line])
    assert it.value.place == "line 40"


@pytest.mark.clause("E-77")
def test_where_nothing_tears_half_a_line_is_damage() -> None:
    """A place that writes in transactions has no other explanation for it."""
    with pytest.raises(DamagedSessionError, match="line 50: it is not a line of JSON"):
        read([*OPEN, "{"], can_tear=False)


@pytest.mark.clause("E-64")
def test_a_replacement_is_checked_against_the_history() -> None:
    """A good one is taken, and what it took off the history cannot be replaced again."""
    log = SessionLog(recorded()[0], clock=StillClock())
    turn(log, 1)
    log.append("turn/start", {"turn": 2, "trigger": {"kind": "message"}})
    summary: dict[str, Any] = {"turn": 2, "content": [], "source": {"kind": "plugin"}}
    place = {"replace": {"start": 1, "end": 1}}
    log.append("context/message", summary, placement=place, sources=[1])
    lines = [encode_record(each) for each in log.events]
    assert read(lines).records == tuple(log.events)
    with pytest.raises(DamagedSessionError, match=r"line 50: .*not in the history"):
        read([*lines, changed(lines[-1], seq=5)])


@pytest.mark.clause("E-65")
@pytest.mark.parametrize(
    ("limits", "name"),
    [(Limits(record_bytes_max=20), "record_bytes_max"), (Limits(nesting_levels_max=1), "nesting")],
)
def test_a_record_beyond_a_limit_is_refused_by_the_name_of_the_limit(
    limits: Limits, name: str
) -> None:
    """That is no damage: with another limit it can be read."""
    with pytest.raises(LimitError, match=f"it cannot be read at line 0: .*{name}"):
        read(lines_of(), limits=limits)
    assert read(lines_of()).records


def test_a_glance_says_how_far_a_session_has_come() -> None:
    """From its last line alone; what is no record says nothing."""
    closed, opened = glance(lines_of()[-1].encode()), glance(OPEN[-1].encode())
    assert closed is not None
    assert opened is not None
    assert (closed.records, closed.is_open, opened.records, opened.is_open) == (6, False, 5, True)
    for line in (b"", b"{", b"[]", b"{}", b"1", b'{"seq": []}', b"[" * 100_000):
        assert glance(line) is None


# ----------------------------------------------------------------------------------------- segments

HOSTILE = (
    "", ".", "..", "...", "/", "../../etc/passwd", "a/b", "a\\b", "a", "A", "%", "%41", "%%", "~",
    " ", "a ", "a\x00", "\n", "con", "é", "e\u0301", "\U0001f600", "x" * 10_000, "x" * 10_001,
    "é" * 10_000, "-rf", ".hidden", "a.jsonl", "*", "?", '"', "'",
)  # fmt: skip


@pytest.mark.clause("E-26")
def test_hostile_ids_stay_in_their_directory_and_apart() -> None:
    """Also where a disk does not tell upper case from lower, or two spellings of one letter."""
    segments = [segment_of(each) for each in HOSTILE]
    assert len({each.lower() for each in segments}) == len(HOSTILE)
    for each in segments:
        assert each
        assert each.isascii()
        assert not each.startswith(".")
        assert not set(each) & set("/\\\0\n *?\"'")
        assert len(each) <= 200
    assert segment_of("3f2a-b_c.d") == "3f2a-b_c.d"


@pytest.mark.clause("E-26")
@given(TEXTS, TEXTS)
def test_different_ids_have_different_segments(one: str, other: str) -> None:
    """The encoding can be undone, as long as it is short."""
    assert (segment_of(one) == segment_of(other)) == (one == other)


def test_a_long_id_is_shortened_in_a_message() -> None:
    """Nobody reads ten thousand letters to find out what went wrong."""
    assert len(shown("x" * 10_000)) < 200
    assert shown("s") == "'s'"


def test_a_record_of_another_time_is_another_line() -> None:
    """The check of equality above has teeth."""
    record = recorded()[1][0]
    assert read([encode_record(evolve(record, time_ms=1))]).records != (record,)
