"""Sessions that a client deletes, whatever they are doing."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .acp_client import AcpClient, Frame, said_before

pytestmark = [pytest.mark.real, pytest.mark.timeout(120), pytest.mark.clause("J-71")]


@pytest.fixture(params=["sessions.db", "sessions.jsonl"])
def stored(request: pytest.FixtureRequest, script: str, tmp_path: Path) -> Iterator[AcpClient]:
    """A client with a store of either kind."""
    with AcpClient("--model", script, "--store", str(tmp_path / request.param)) as made:
        yield made
        made.finish()


def delete(client: AcpClient, session: object) -> Frame:
    """Return the request, not sent yet."""
    return client.request("session/delete", sessionId=session)


def load(client: AcpClient, session: str) -> Frame:
    """Return the request, not sent yet."""
    return client.request("session/load", sessionId=session, cwd="/", mcpServers=[])


def code(answer: Frame) -> int | None:
    """Return the code of the error of a response, or None."""
    error = answer.get("error")
    return None if error is None else int(error["code"])


def test_a_session_that_runs_is_closed_and_deleted(stored: AcpClient) -> None:
    """Its prompt is answered first; whoever names it afterwards is told that it is not there."""
    session, other = stored.open(), stored.open()
    prompt, request = stored.prompt(session, "hang"), delete(stored, session)
    stored.send(prompt)
    stored.shows(session, "agent_message_chunk")
    stored.send(request)
    assert stored.response(request)["result"] == {}
    assert stored.stopped(prompt) == "cancelled"
    asked = [stored.prompt(session, "x"), stored.request("session/close", sessionId=session)]
    stored.send(stored.cancel(session), *asked, load(stored, session))
    assert [code(stored.response(each)) for each in asked] == [-32002, -32002]
    listed = stored.ask("session/list")["result"]["sessions"]
    assert [each["sessionId"] for each in listed] == [other]


def test_what_is_not_there_is_deleted_already(stored: AcpClient) -> None:
    """Unknown, never stored, deleted before, deleted twice in one write: each succeeds."""
    session, fresh = stored.open(), stored.open()
    prompt = stored.prompt(session, "hello")
    stored.send(prompt)
    assert stored.stopped(prompt) == "end_turn"
    for each in ("nobody", "", "../..", "\ud800", fresh, fresh):
        assert stored.ask("session/delete", sessionId=each)["result"] == {}
    twice = [delete(stored, session), delete(stored, session)]
    stored.send(*twice)
    assert [stored.response(each)["result"] for each in twice] == [{}, {}]
    assert stored.ask("session/list")["result"]["sessions"] == []
    wrongs: tuple[object, ...] = (None, 42, [session], {})
    for wrong in wrongs:
        assert code(stored.ask("session/delete", sessionId=wrong)) == -32602
    assert code(stored.ask("session/delete")) == -32602


def test_a_close_and_a_deletion_in_one_write(stored: AcpClient) -> None:
    """Both are answered, in whichever order, and the session is gone."""
    for order in (1, -1):
        session = stored.open()
        prompt = stored.prompt(session, "hang")
        stored.send(prompt)
        stored.shows(session, "agent_message_chunk")
        closing, deletion = (
            stored.request("session/close", sessionId=session),
            delete(stored, session),
        )
        stored.send(*(closing, deletion)[::order])
        assert code(stored.response(deletion)) is None
        assert stored.stopped(prompt) == "cancelled"
        assert code(stored.response(closing)) in {None, -32002}
    assert stored.ask("session/list")["result"]["sessions"] == []


@pytest.mark.parametrize("is_open", [True, False])
def test_of_a_load_and_a_deletion_the_first_wins(
    keep: Callable[[], AcpClient], *, is_open: bool
) -> None:
    """Whoever comes second is refused, and nothing is half done."""
    session = said_before(keep)
    client = keep()
    client.open()
    loading, deletion = load(client, session), delete(client, session)
    client.send(loading, deletion)
    assert code(client.response(loading)) is None
    assert code(client.response(deletion)) == -32602
    if not is_open:
        client.ask("session/close", sessionId=session)
    deletion, loading = delete(client, session), load(client, session)
    client.send(deletion, loading)
    assert code(client.response(deletion)) is None
    assert code(client.response(loading)) == -32602
    client.send(loading := load(client, session))
    assert code(client.response(loading)) == -32002


def test_a_session_of_another_program_is_not_deleted(keep: Callable[[], AcpClient]) -> None:
    """Whoever has it keeps it; when it is closed there, it can be deleted here."""
    first, second = keep(), keep()
    session = first.open()
    prompt = first.prompt(session, "hello")
    first.send(prompt)
    assert first.stopped(prompt) == "end_turn"
    second.open()
    assert code(second.ask("session/delete", sessionId=session)) == -32602
    again = first.prompt(session, "hello")
    first.send(again)
    assert first.stopped(again) == "end_turn"
    assert first.ask("session/close", sessionId=session)["result"] == {}
    assert second.ask("session/delete", sessionId=session)["result"] == {}
    assert code(first.ask("session/load", sessionId=session, cwd="/", mcpServers=[])) == -32002


def test_a_deletion_that_the_end_of_the_input_overtakes(keep: Callable[[], AcpClient]) -> None:
    """The session is there as it was, or gone; the program ends in good order."""
    session = said_before(keep)
    second = keep()
    second.open()
    second.send(delete(second, session))
    second.finish()
    third = keep()
    third.open()
    listed = [each["sessionId"] for each in third.ask("session/list")["result"]["sessions"]]
    loaded = third.ask("session/load", sessionId=session, cwd="/", mcpServers=[])
    assert code(loaded) == (None if session in listed else -32002)
