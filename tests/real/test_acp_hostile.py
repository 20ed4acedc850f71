"""Lines that no client should send."""

import json
from pathlib import Path
from typing import Final

import pytest

from .acp_client import (
    AcpClient,
    new_session,
    pause,
)
from .talking import until

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]


LINES: Final = [
    b"42",
    b'"x"',
    b"true",
    b"null",
    b"[]",
    b'[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}]',
    b"{",
    b"\xff\xfe",
    b"\xef\xbb\xbf{}",
    b"{}",
    b'{"id":1}',
    b'{"jsonrpc":"2.0","id":7,"error":"text"}',
    b'{"jsonrpc":"2.0","id":[],"result":{}}',
    b'{"jsonrpc":"2.0","id":{"a":1},"method":"initialize"}',
    b'{"jsonrpc":"2.0","id":true,"method":"initialize"}',
    b'{"jsonrpc":"2.0","id":1.5,"method":"initialize"}',
    b'{"jsonrpc":"2.0","id":1e999,"method":"initialize"}',
    b'{"jsonrpc":"2.0","id":8,"method":42}',
    b'{"jsonrpc":"2.0","id":16,"method":["a"]}',
    b'{"jsonrpc":"2.0","id":9,"method":"session/prompt","params":[1]}',
    b'{"jsonrpc":"2.0","id":10,"method":"no/such"}',
    b'{"jsonrpc":"2.0","id":"\\ud800","method":"no\\ud800"}',
    b'{"jsonrpc":"2.0","id":11,"method":"session/new","params":{"self":1}}',
    b'{"jsonrpc":"2.0","id":12,"method":"session/cancel","params":{}}',
    b'{"jsonrpc":"2.0","method":"session/cancel"}',
    b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":[]}}',
    b'{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}',
    b'{"jsonrpc":"2.0","id":13,"method":"_vendor/thing","params":{"a":NaN}}',
    b'{"jsonrpc":"2.0","id":14,"method":"_vendor/thing"}',
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b'{"jsonrpc":"2.0","id":15,"method":"session/new","params":{"cwd":"/","a":' + b"[" * 900 + b"1"
    b"" + b"]" * 900 + b"}}",
]


@pytest.mark.clause("J-50", "J-51")
def test_no_line_takes_a_session_down(client: AcpClient) -> None:
    """Between any two of them a prompt is answered."""
    session = client.open()
    for line in LINES:
        client.raw(line + b"\n")
        prompt = client.prompt(session, "hello")
        client.send(prompt)
        assert client.stopped(prompt) == "end_turn", line[:80]
        client.frames[:] = [frame for frame in client.frames if frame.get("id") is not None]


@pytest.mark.clause("J-52")
@pytest.mark.parametrize("name", ["_meta", "field_meta"])
def test_metadata_never_names_another_session(client: AcpClient, name: str) -> None:
    """The prompt runs where the message says, whatever its metadata says."""
    one, two = client.open(), client.open()
    prompt = client.prompt(one, "hello")
    prompt["params"][name] = {"session_id": two, "prompt": [], "self": 1}
    client.send(prompt)
    assert client.stopped(prompt) == "end_turn"
    assert client.text(one) == "well said"
    assert client.text(two) == ""


@pytest.mark.clause("J-50")
@pytest.mark.case("CASE-153")
def test_a_line_that_is_too_long_is_refused_by_name_and_the_next_is_read(
    client: AcpClient,
) -> None:
    """The limit is 32 MiB; the line is not kept, and the session lives on."""
    session = client.open()
    client.raw(b'"' + b"x" * (33 * 1024 * 1024) + b'"\n')
    prompt = client.prompt(session, "hello")
    client.send(prompt)
    assert client.stopped(prompt) == "end_turn"
    refused = client.wait_for(lambda frame: frame.get("id", 0) is None)
    assert "acp_line_bytes_max" in refused["error"]["message"]


@pytest.mark.clause("J-53")
def test_a_large_refused_prompt_is_not_sent_back(client: AcpClient) -> None:
    """The refusal says what is wrong, without the megabyte that is wrong."""
    session = client.open()
    prompt = client.request("session/prompt", sessionId=session, prompt={"text": "y" * 1_000_000})
    client.send(prompt)
    answer = client.response(prompt)
    assert answer["error"]["code"] == -32602
    assert len(json.dumps(answer)) < 10_000


@pytest.mark.clause("J-50")
@pytest.mark.case("CASE-153")
def test_a_prompt_of_a_megabyte_arrives(client: AcpClient) -> None:
    """Lines far beyond the buffers of pipes and readers are ordinary."""
    session = client.open()
    prompt = client.prompt(session, "hello " + "z" * 1_000_000)
    client.send(prompt)
    assert client.stopped(prompt) == "end_turn"


def test_bytes_come_in_any_pieces(client: AcpClient) -> None:
    """A message cut into single bytes is the same message."""
    session = client.open()
    prompt = client.prompt(session, "h\u00e9llo \U0001f40c")
    for byte in json.dumps(prompt, ensure_ascii=False).encode():
        client.raw(bytes([byte]))
    client.raw(b"\r\n")
    assert client.stopped(prompt) == "end_turn"


def test_the_same_id_twice_is_two_requests(script: str) -> None:
    """Each is answered, with the id that it came with."""
    with AcpClient("--model", script) as client:
        client.open()
        client.send(new_session("same"), new_session("same"))  # type: ignore[arg-type]  # an odd id
        until(
            lambda within_s: (
                sum(frame.get("id") == "same" for frame in client.frames) == 2
                or pause(client, within_s)
            )
        )
        client.hang_up()
        assert client.exit_status() == 0


def test_a_bad_command_is_refused_before_anything_is_served(tmp_path: Path) -> None:
    """Exit status 2, nothing on standard output, and the reason on standard error."""
    with AcpClient("--model", f"scripted:{tmp_path / 'none'}") as client:
        assert client.exit_status() == 2
        assert client.frames == []
        assert b"quiesce-acp" in client.notes
