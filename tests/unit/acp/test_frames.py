"""Lines into messages and back."""

import json
from typing import Any

import pytest

from runtime.acp.frames import Answer, Lines, Message, encode, parse


def answered(line: bytes) -> dict[str, Any]:
    """Return the answer to a line that is no message."""
    read = parse(line)
    assert isinstance(read, Answer)
    assert read.frame is not None
    return read.frame


@pytest.mark.clause("J-50")
@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", -32700),
        (b"\xff", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":NaN}}', -32700),
        (b"[" * 100_000, -32700),
        (b"42", -32600),
        (b"null", -32600),
        (b"[{}]", -32600),
        (b"{}", -32600),
        (b'{"id":1.0,"method":"x"}', -32600),
        (b'{"id":true,"method":"x"}', -32600),
        (b'{"id":1,"method":["x"]}', -32600),
        (b'{"id":1,"method":"x","params":[]}', -32602),
    ],
)
def test_a_line_that_is_no_message_is_answered(line: bytes, code: int) -> None:
    """The answer says what is wrong in the protocol's own numbers."""
    assert answered(line)["error"]["code"] == code


@pytest.mark.clause("J-50")
@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"  \r",
        b'{"method":"$/cancel_request","params":{"requestId":1}}',
        b'{"method":"session/cancel","params":{}}',
        b'{"method":"session/cancel","params":[]}',
        b'{"method":42}',
        b'{"id":"ours are numbers","result":{}}',
        b'{"id":true,"result":{}}',
    ],
)
def test_what_asks_for_nothing_is_not_answered(line: bytes) -> None:
    """Notifications that mean nothing here, and answers to nothing, are ignored."""
    assert parse(line) == Answer(None)


@pytest.mark.clause("J-52")
def test_metadata_is_left_out() -> None:
    """Whatever it says, and under both names that the SDK knows it by."""
    params = {"sessionId": "a", "_meta": {"session_id": "b"}, "field_meta": {"session_id": "b"}}
    read = parse(json.dumps({"id": 1, "method": "session/prompt", "params": params}).encode())
    assert isinstance(read, Message)
    assert read.frame["params"] == {"sessionId": "a"}


@pytest.mark.clause("J-50")
@pytest.mark.parametrize("error", ["no", None, [], {"code": "1"}, {"code": 1, "message": 2}])
def test_a_broken_error_is_an_error_all_the_same(error: object) -> None:
    """Whoever waits for the answer is told, and the reader lives on."""
    read = parse(json.dumps({"id": 3, "error": error}).encode())
    assert isinstance(read, Message)
    assert read.frame["id"] == 3
    assert type(read.frame["error"]["code"]) is int
    assert type(read.frame["error"]["message"]) is str


@pytest.mark.clause("J-50")
def test_lines_are_cut_however_they_come() -> None:
    """The pieces in which bytes come say nothing."""
    whole = b"one\ntwo\n\nthree\n"
    lines = Lines(10)
    cut = [line for byte in whole for line in lines.feed(bytes([byte]))]
    assert cut == list(Lines(10).feed(whole)) == [b"one", b"two", b"", b"three"]


@pytest.mark.clause("J-50")
@pytest.mark.parametrize("size", [1, 3, 100])
def test_a_line_that_is_too_long_is_left_out_once(size: int) -> None:
    """It is told of once, nothing of it is kept, and the next line is whole."""
    data = b"x" * 50 + b"\nnext\n" + b"y" * 11 + b"\n" + b"z" * 10 + b"\n"
    lines = Lines(10)
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    cut = [line for piece in pieces for line in lines.feed(piece)]
    assert cut == [None, b"next", None, b"z" * 10]


@pytest.mark.clause("J-53")
def test_what_is_written_is_always_json() -> None:
    """What JSON cannot say is replaced by an error that answers the same request."""
    for value in (float("nan"), object(), {1, 2}):
        frame = json.loads(encode({"jsonrpc": "2.0", "id": 5, "result": {"a": value}}))
        assert frame["id"] == 5
        assert frame["error"]["code"] == -32603


@pytest.mark.clause("J-53")
def test_half_a_surrogate_pair_is_written_all_the_same() -> None:
    """A client that sent it is told of it, in ASCII."""
    line = encode({"jsonrpc": "2.0", "id": "\ud800", "result": "x"})
    assert line.isascii()
    assert json.loads(line)["id"] == "\ud800"


@pytest.mark.clause("J-53")
def test_an_error_does_not_repeat_what_was_sent() -> None:
    """The SDK's errors hold the whole input; the place and the reason are enough."""
    found = {"type": "t", "loc": ["prompt"], "msg": "m", "input": "x" * 1000, "ctx": object()}
    error = {"code": -32602, "message": "Invalid params", "data": {"errors": [found] * 50}}
    line = encode({"jsonrpc": "2.0", "id": 1, "error": error})
    told = json.loads(line)["error"]["data"]["errors"]
    assert told == [{"type": "t", "loc": ["prompt"], "msg": "m"}] * 20
