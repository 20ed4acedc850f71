"""Sessions that are kept, loaded, resumed and listed, by one program after the other."""

from collections.abc import Callable
from pathlib import Path

import pytest

from runtime.session.log import SessionHeader, SessionLog
from runtime.session.sqlite import SqliteBackend
from tests.unit.disk.recorded import StillClock, store, turn

from .acp_client import AcpClient, said_before

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]


@pytest.mark.clause("J-33", "J-26")
@pytest.mark.case("CASE-148")
def test_a_loaded_session_shows_everything_before_it_answers(
    keep: Callable[[], AcpClient],
) -> None:
    """Both prompts, the thought and both replies come in their order, then the answer."""
    session = said_before(keep)
    second = keep()
    second.open()
    assert "error" not in second.ask("session/load", sessionId=session, cwd="/", mcpServers=[])
    shown = [(each["sessionUpdate"], each["content"]["text"]) for each in second.updates(session)]
    assert shown == [
        ("user_message_chunk", "think"),
        ("agent_thought_chunk", "hmm"),
        ("agent_message_chunk", "so"),
        ("user_message_chunk", "hello"),
        ("agent_message_chunk", "well"),
        ("agent_message_chunk", " said"),
    ]
    assert "method" not in second.frames[-1]
    prompt = second.prompt(session, "hello")
    second.send(prompt)
    assert second.stopped(prompt) == "end_turn"


@pytest.mark.clause("J-54")
def test_a_resumed_session_shows_nothing_and_goes_on(keep: Callable[[], AcpClient]) -> None:
    """Resume is a load without the past."""
    session = said_before(keep)
    second = keep()
    second.open()
    assert "error" not in second.ask("session/resume", sessionId=session, cwd="/")
    assert second.updates(session) == []
    prompt = second.prompt(session, "hello")
    second.send(prompt)
    assert second.stopped(prompt) == "end_turn"


@pytest.mark.clause("J-28", "J-29")
@pytest.mark.seed("SEED-50")
def test_a_session_is_loaded_once_at_a_time(keep: Callable[[], AcpClient]) -> None:
    """Of two loads in one write one is refused, and so is one of a session that is open."""
    session = said_before(keep)
    second = keep()
    second.open()
    loads = [
        second.request("session/load", sessionId=session, cwd="/", mcpServers=[]) for _ in range(2)
    ]
    second.send(*loads)
    answers = [second.response(load) for load in loads]
    assert "error" not in answers[0]
    assert answers[1]["error"]["code"] == -32602
    third = second.ask("session/load", sessionId=session, cwd="/", mcpServers=[])
    assert third["error"]["code"] == -32602


@pytest.mark.clause("J-28")
@pytest.mark.case("CASE-141")
def test_a_load_of_a_running_session_leaves_its_cancel_alone(
    keep: Callable[[], AcpClient],
) -> None:
    """The refused load changes nothing about who is reached by the cancel."""
    first = keep()
    session = first.open()
    prompt = first.prompt(session, "hang")
    first.send(prompt)
    first.shows(session, "agent_message_chunk")
    refused = first.ask("session/load", sessionId=session, cwd="/", mcpServers=[])
    assert refused["error"]["code"] == -32602
    first.send(first.cancel(session))
    assert first.stopped(prompt) == "cancelled"


@pytest.mark.clause("J-58", "J-33")
@pytest.mark.case("CASE-149")
def test_a_closed_session_can_be_loaded_again(keep: Callable[[], AcpClient]) -> None:
    """Once the close is answered, the session is free, and nothing of it was lost."""
    first = keep()
    session = first.open()
    prompt = first.prompt(session, "hello")
    first.send(prompt)
    assert first.stopped(prompt) == "end_turn"
    assert first.ask("session/close", sessionId=session)["result"] == {}
    before = len(first.updates(session))
    assert "error" not in first.ask("session/load", sessionId=session, cwd="/", mcpServers=[])
    assert len(first.updates(session)) == before + 3


@pytest.mark.clause("J-31", "J-32", "J-29")
def test_a_load_that_does_not_fit_shows_nothing_and_may_be_tried_again(
    keep: Callable[[], AcpClient],
) -> None:
    """An unknown session and another directory are refused before anything is shown."""
    session = said_before(keep)
    second = keep()
    second.open()
    unknown = second.ask("session/load", sessionId="nobody", cwd="/", mcpServers=[])
    assert unknown["error"]["code"] == -32002
    elsewhere = second.ask("session/load", sessionId=session, cwd="/tmp", mcpServers=[])  # noqa: S108  # only named
    assert elsewhere["error"]["code"] == -32602
    assert second.updates(session) == []
    assert "error" not in second.ask("session/load", sessionId=session, cwd="/", mcpServers=[])


@pytest.mark.clause("J-54")
def test_prompts_are_refused_until_the_load_is_answered(keep: Callable[[], AcpClient]) -> None:
    """What is sent right behind a load does not know whether there will be a session."""
    session = said_before(keep)
    second = keep()
    second.open()
    load = second.request("session/load", sessionId=session, cwd="/", mcpServers=[])
    prompt = second.prompt(session, "hello")
    second.send(load, prompt, second.cancel(session))
    assert second.response(prompt)["error"]["code"] == -32002
    assert "error" not in second.response(load)


@pytest.mark.clause("J-55")
def test_kept_sessions_are_listed_by_directory(keep: Callable[[], AcpClient]) -> None:
    """A client finds what it can load, and an empty list where there is nothing."""
    session = said_before(keep)
    second = keep()
    fresh = second.open("/usr")
    listed = second.ask("session/list")["result"]["sessions"]
    assert [each["sessionId"] for each in listed] == [fresh, session]
    there = second.ask("session/list", cwd="/")["result"]["sessions"]
    assert [each["sessionId"] for each in there] == [session]
    assert second.ask("session/list", cwd="/nowhere")["result"]["sessions"] == []
    assert second.ask("session/list", cursor="no such")["error"]["code"] == -32602


@pytest.mark.clause("J-28")
def test_two_programs_do_not_write_to_one_session(keep: Callable[[], AcpClient]) -> None:
    """The second is told who has it; when the first has closed it, it is free."""
    first, second = keep(), keep()
    session = first.open()
    prompt = first.prompt(session, "hello")
    first.send(prompt)
    assert first.stopped(prompt) == "end_turn"
    second.open()
    refused = second.ask("session/load", sessionId=session, cwd="/", mcpServers=[])
    assert refused["error"]["code"] == -32602
    assert second.updates(session) == []
    assert first.ask("session/close", sessionId=session)["result"] == {}
    assert "error" not in second.ask("session/load", sessionId=session, cwd="/", mcpServers=[])


def large(tmp_path: Path, *, turns: int) -> str:
    """Store a session with a megabyte in each turn; return the path of the store."""
    log = SessionLog(SessionHeader(id="large", created_ms=1, cwd="/"), clock=StillClock())
    for number in range(1, turns + 1):
        turn(log, number, "x" * 1_000_000)
    path = tmp_path / "s.db"
    backend = SqliteBackend(path)
    store(backend, log.session.header, tuple(log.events))
    backend.close()
    return str(path)


@pytest.mark.clause("J-33", "J-78")
def test_a_session_that_is_larger_than_what_may_wait_is_loaded(script: str, tmp_path: Path) -> None:
    """A client that reads gets all of it, however much it is, and then the answer."""
    place = large(tmp_path, turns=72)
    with AcpClient("--model", script, "--store", place) as client:
        client.open()
        load = client.request("session/load", sessionId="large", cwd="/", mcpServers=[])
        prompt = client.prompt("large", "hello")
        client.send(load)
        client.shows("large", "user_message_chunk")
        # It has not been answered, so there is nothing to prompt, to close or to delete.
        client.send(prompt, client.cancel("large"))
        assert client.response(prompt)["error"]["code"] == -32002
        assert client.ask("session/delete", sessionId="large")["error"]["code"] == -32602
        assert "error" not in client.response(load)
        assert len(client.updates("large")) == 72
        assert "method" not in client.frames[-1]
        client.send(prompt := client.prompt("large", "hello"))
        assert client.stopped(prompt) == "end_turn"
        client.finish()


@pytest.mark.clause("J-60", "J-78")
def test_a_client_that_goes_while_much_is_shown_to_it(script: str, tmp_path: Path) -> None:
    """Nobody reads, and the program ends all the same."""
    place = large(tmp_path, turns=20)
    with AcpClient("--model", script, "--store", place) as client:
        client.open()
        client.send(client.request("session/load", sessionId="large", cwd="/", mcpServers=[]))
        client.shows("large", "user_message_chunk")
        client.deafen()
        client.hang_up()
        assert client.exit_status() == 0
        assert b"Traceback" not in client.notes


@pytest.mark.clause("J-79")
def test_a_store_that_cannot_be_read_is_told_of_and_sessions_go_on(
    script: str, tmp_path: Path
) -> None:
    """A list, a load and a deletion fail, each with the reason, and nothing else does."""
    folder = tmp_path / "folder"
    folder.mkdir()
    with AcpClient("--model", script, "--store", str(folder)) as client:
        session = client.open()
        folder.rmdir()
        folder.write_text("no folder", encoding="utf-8")
        place = {"sessionId": "s", "cwd": "/", "mcpServers": []}
        for method in ("list", "load", "resume", "delete"):
            error = client.ask(f"session/{method}", **place)["error"]
            assert error["code"] == -32603, method
            assert "Not a directory" in error["data"]["details"], method
        client.send(prompt := client.prompt(session, "hello"))
        assert client.stopped(prompt) == "end_turn"
        client.finish()
