"""Whatever the program says it can do, done; whatever it does not say, refused."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from .acp_client import AcpClient, Frame, initialize

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]


@pytest.fixture
def echo(tmp_path: Path) -> Iterator[AcpClient]:
    """A client of a model that repeats what it is told, with a store."""
    with AcpClient("--store", str(tmp_path / "sessions.db")) as made:
        yield made
        made.finish()


def load(client: AcpClient) -> None:
    """Close a session and load it: its conversation is shown."""
    session = spoken(client)
    client.ask("session/close", sessionId=session)
    client.frames.clear()
    assert "error" not in client.ask("session/load", sessionId=session, cwd="/", mcpServers=[])
    assert client.text(session, "user_message_chunk") == client.text(session) == "hello"


def resume(client: AcpClient) -> None:
    """Close a session and resume it: nothing is shown, and it goes on."""
    session = spoken(client)
    client.ask("session/close", sessionId=session)
    client.frames.clear()
    assert "error" not in client.ask("session/resume", sessionId=session, cwd="/")
    assert client.updates(session) == []
    assert client.stopped(sent(client, client.prompt(session, "again"))) == "end_turn"
    assert client.text(session) == "again"


def close(client: AcpClient) -> None:
    """Close a session while it runs: it is cancelled and gone."""
    session = client.open()
    prompt = sent(client, client.prompt(session, "hello"))
    assert client.ask("session/close", sessionId=session)["result"] == {}
    assert client.stopped(prompt) in {"cancelled", "end_turn"}
    assert client.ask("session/close", sessionId=session)["error"]["code"] == -32002


def list_(client: AcpClient) -> None:
    """List the sessions: the one that was opened is there."""
    session = client.open()
    assert session in listed(client)


def delete(client: AcpClient) -> None:
    """Delete a session: it is not listed any more, and cannot be loaded."""
    session = spoken(client)
    assert client.ask("session/delete", sessionId=session)["result"] == {}
    assert session not in listed(client)
    again = client.ask("session/load", sessionId=session, cwd="/", mcpServers=[])
    assert again["error"]["code"] == -32002


def embed(client: AcpClient) -> None:
    """Embed a file in a prompt: the model is given its text and its address."""
    session = client.open()
    resource = {"uri": 'file:///a "b".py', "text": "x = 1", "mimeType": "text/x-python"}
    blocks = [{"type": "text", "text": "look"}, {"type": "resource", "resource": resource}]
    prompt = sent(client, client.request("session/prompt", sessionId=session, prompt=blocks))
    assert client.stopped(prompt) == "end_turn"
    expected = "look\n<resource uri='file:///a \"b\".py'>\nx = 1\n</resource>\n"
    assert client.text(session) == expected


OFFERED: Final[dict[str, Callable[[AcpClient], None]]] = {
    "loadSession": load,
    "promptCapabilities.embeddedContext": embed,
    "sessionCapabilities.close": close,
    "sessionCapabilities.delete": delete,
    "sessionCapabilities.list": list_,
    "sessionCapabilities.resume": resume,
}
NEEDS_STORE: Final = {"loadSession", "sessionCapabilities.delete", "sessionCapabilities.resume"}


@pytest.mark.clause("J-01", "J-72")
def test_what_is_offered_is_what_was_tried(echo: AcpClient, client: AcpClient) -> None:
    """Each capability has its scenario here, and without a store those that need one are gone."""
    assert capabilities(echo) == set(OFFERED)
    assert capabilities(client) == set(OFFERED) - NEEDS_STORE


@pytest.mark.clause("J-72", "J-71", "J-73")
@pytest.mark.parametrize("name", OFFERED)
def test_what_is_offered_works(echo: AcpClient, name: str) -> None:
    """A client that relies on it is not disappointed."""
    OFFERED[name](echo)


@pytest.mark.clause("J-72", "J-73")
def test_what_is_not_offered_is_refused(echo: AcpClient) -> None:
    """With an error that says so, and the session goes on."""
    session = echo.open()
    for kind, block in (
        ("image", {"type": "image", "data": "aGk=", "mimeType": "image/png"}),
        ("audio", {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}),
        ("binary", {"type": "resource", "resource": {"uri": "file:///b", "blob": "aGk="}}),
    ):
        said = {"type": "text", "text": "see"}
        error = echo.ask("session/prompt", sessionId=session, prompt=[said, block])["error"]
        assert error["code"] == -32602
        assert kind in error["data"]["details"]
        assert "resource_link" in error["data"]["details"]
    more = echo.ask("session/new", cwd="/", mcpServers=[], additionalDirectories=["/tmp"])  # noqa: S108  # only named
    assert more["error"]["code"] == -32602
    for method in (
        "session/fork",
        "session/set_mode",
        "session/set_config_option",
        "logout",
        "_session/delete",
        "_vendor/thing",
        "$/cancel_request",
        "no/such",
    ):
        assert echo.ask(method, sessionId=session, cwd="/")["error"]["code"] == -32601, method
    assert echo.stopped(sent(echo, echo.prompt(session, "hello"))) == "end_turn"
    assert echo.text(session) == "hello"


def capabilities(client: AcpClient) -> set[str]:
    """Return what a client is told that it can rely on, each by its path."""
    client.send(initialize())
    return set(_paths(client.response(initialize())["result"]["agentCapabilities"]))


def _paths(offered: dict[str, Any], above: str = "") -> Iterator[str]:
    for name, value in offered.items():
        if isinstance(value, dict) and value:
            yield from _paths(value, f"{above}{name}.")
        elif value is not False and value is not None:
            yield above + name


def sent(client: AcpClient, prompt: Frame) -> Frame:
    """Send a prompt, and return it."""
    client.send(prompt)
    return prompt


def spoken(client: AcpClient) -> str:
    """Open a session and say something in it."""
    session = client.open()
    assert client.stopped(sent(client, client.prompt(session, "hello"))) == "end_turn"
    return session


def listed(client: AcpClient) -> list[str]:
    """Return the sessions that are listed."""
    return [each["sessionId"] for each in client.ask("session/list")["result"]["sessions"]]
