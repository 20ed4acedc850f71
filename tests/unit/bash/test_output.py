"""What can be read of the output of a command, and how much of it is kept."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.bash.output import Output
from runtime.bash.spill import SpillFolder

CAP = 8


@pytest.fixture
def folder() -> Iterator[SpillFolder]:
    """Give a folder that is closed afterwards."""
    made = SpillFolder(1000, 1000)
    yield made
    made.close()


def make(bytes_max: int = CAP, spills: SpillFolder | None = None) -> Output:
    """Make an output with a small memory."""
    return Output(bytes_max=bytes_max, spills=spills or SpillFolder(0, 0), name="o")


@pytest.mark.clause("H-16")
def test_nothing_is_read_twice() -> None:
    """A read gives what came since the last one; at the end there is nothing more."""
    output = make()
    output.append(b"ab")
    assert output.read().text == "ab"
    assert output.read().text == ""
    output.append(b"c")
    output.append(b"d\n")
    output.end()
    assert output.read().text == "cd\n"
    assert output.read().text == ""


@pytest.mark.clause("H-16")
@pytest.mark.case("CASE-113")
def test_a_last_line_without_its_end_is_exact() -> None:
    """Nothing waits for a newline that may never come."""
    output = make()
    output.append(b"yes")
    assert output.read().text == "yes"
    output.end()
    assert output.read().text == ""


@pytest.mark.clause("H-18", "H-24")
def test_too_much_leaves_the_tail_and_says_so() -> None:
    """The next read goes on behind it and is whole again."""
    output = make()
    output.append(b"0123456789")
    read = output.read()
    assert (read.text, read.is_lossy, read.total_bytes) == ("23456789", True, 10)
    output.append(b"x")
    read = output.read()
    assert (read.text, read.is_lossy, read.total_bytes) == ("x", False, 11)


@pytest.mark.clause("H-24")
def test_a_read_is_lossy_by_what_was_not_read() -> None:
    """What was read before it was dropped is not missing."""
    output = make()
    for digit in b"0123456789":
        output.append(bytes([digit]))
        assert not output.read().is_lossy
    assert output.tail().is_lossy
    assert output.tail().text == "23456789"


@pytest.mark.clause("H-19", "H-20")
def test_exactly_at_the_bound_there_is_no_file(folder: SpillFolder) -> None:
    """One byte more, and there is one, with everything from the beginning."""
    output = make(CAP, folder)
    output.append(b"0123")
    output.append(b"4567")
    assert (output.tail().spill_path, output.tail().is_lossy) == (None, False)
    assert output.read().text == "01234567"
    output.append(b"8")
    path = output.read().spill_path
    assert path is not None
    output.append(b"9")
    assert Path(path).read_bytes() == b"0123456789"
    output.end()
    assert output.tail().spill_path == path


@pytest.mark.clause("H-25")
def test_the_file_is_named_with_every_read_once_there_is_one(folder: SpillFolder) -> None:
    """Also with one that lost nothing."""
    output = make(CAP, folder)
    output.append(b"0123456789")
    path = output.read().spill_path
    output.append(b"a")
    read = output.read()
    assert (read.is_lossy, read.spill_path) == (False, path)


@pytest.mark.clause("H-26")
@pytest.mark.case("CASE-115")
def test_an_unfinished_character_waits_for_the_rest() -> None:
    """It is neither replaced nor lost, whatever its length."""
    for character in ("é", "€", "😀"):
        whole = character.encode()
        for cut in range(1, len(whole)):
            output = make()
            output.append(b"a" + whole[:cut])
            assert output.read().text == "a"
            output.append(whole[cut:])
            assert output.read().text == character


@pytest.mark.clause("H-26")
@pytest.mark.case("CASE-115")
def test_a_tail_begins_with_a_whole_character() -> None:
    """What would be the rest of one is dropped with it."""
    output = make()
    output.append("€€€".encode())
    output.end()
    assert output.tail().text == "€€"
    assert output.read().text == "€€"


@pytest.mark.clause("H-26")
def test_what_is_no_text_is_replaced() -> None:
    """A command that writes anything can be read."""
    output = make()
    output.append(b"\xff\x00\x80a")
    output.end()
    assert output.read().text == "\ufffd\x00\ufffda"


@pytest.mark.clause("H-26", "H-16")
def test_an_unfinished_character_at_the_very_end_is_replaced() -> None:
    """There is no rest to wait for."""
    output = make()
    output.append(b"a\xe2\x82")
    assert output.read().text == "a"
    output.end()
    assert output.read().text == "\ufffd"


@pytest.mark.clause("H-16", "H-18", "H-24", "H-26")
@given(
    text=st.text(max_size=60),
    cuts=st.lists(st.integers(1, 7), max_size=40),
    reads=st.lists(st.booleans(), min_size=40, max_size=40),
    cap=st.integers(4, 40),
)
def test_reads_of_any_text_in_any_pieces(
    text: str, cuts: list[int], reads: list[bool], cap: int
) -> None:
    """Every read is a piece of the text, in order; together they are its end, or all of it."""
    data = text.encode()
    output = Output(bytes_max=cap, spills=SpillFolder(0, 0), name="o")
    heard, place, losses = "", 0, 0
    for size, reading in zip([*cuts, len(data) or 1], [*reads[: len(cuts)], True], strict=True):
        piece = data[place : place + size]
        place += len(piece)
        if piece:
            output.append(piece)
        if place == len(data):
            output.end()
        if reading:
            read = output.read()
            losses += read.is_lossy
            assert "\ufffd" not in read.text or "\ufffd" in text
            assert len(read.text.encode()) <= cap
            heard += read.text
    assert losses or heard == text
    assert output.total_bytes == len(data)
    assert text.endswith(output.tail().text)
    assert len(output.tail().text.encode()) > min(cap, len(data)) - 4


def test_the_memory_is_bounded_by_the_cap_and_one_piece() -> None:
    """However much is written and never read."""
    output = make(1000, SpillFolder(0, 0))
    for _ in range(1000):
        output.append(b"x" * 300)
        assert sum(map(len, output._chunks)) < 1000 + 300  # noqa: SLF001  # what is kept
    output.end()
    assert sum(map(len, output._chunks)) == 1000  # noqa: SLF001  # what is kept
