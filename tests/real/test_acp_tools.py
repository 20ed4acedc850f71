"""Commands that a model runs for a client, and the questions about them."""

import json

import pytest

from .acp_client import AcpClient, Frame, pause, processes_with
from .talking import until

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]


def question_of(client: AcpClient) -> Frame:
    """Wait until the client is asked."""
    return client.wait_for(lambda frame: frame.get("method") == "session/request_permission")


def runs(client: AcpClient, nap: str) -> None:
    """Wait until a command of this test sleeps."""
    until(lambda within_s: bool(processes_with(nap)) or pause(client, within_s))


@pytest.mark.clause("J-25", "J-59")
def test_a_command_that_is_allowed_runs_and_shows_its_states(tools: AcpClient) -> None:
    """Pending, in progress, completed, with what it wrote."""
    session = tools.open()
    prompt = tools.prompt(session, "run")
    tools.send(prompt)
    question = question_of(tools)
    asked = question["params"]["toolCall"]
    assert (asked["title"], asked["kind"], asked["status"]) == ("echo out", "execute", "pending")
    outcome = {"outcome": {"outcome": "selected", "optionId": "allow"}}
    tools.send({"jsonrpc": "2.0", "id": question["id"], "result": outcome})
    assert tools.stopped(prompt) == "end_turn"
    states = [each["status"] for each in tools.updates(session) if "toolCallId" in each]
    assert states[0] == "pending"
    assert states[-1] == "completed"
    assert "in_progress" in states
    result = tools.updates(session, "tool_call_update")[-1]
    assert "out" in json.dumps(result["content"])


@pytest.mark.clause("J-59")
@pytest.mark.parametrize(
    "answer",
    [
        {"result": {"outcome": {"outcome": "selected", "optionId": "reject"}}},
        {"result": {"outcome": {"outcome": "cancelled"}}},
        {"result": {"outcome": "yes"}},
        {"result": None},
        {"error": {"code": 1, "message": "no"}},
        {"error": "no"},
        {"error": {"code": "one"}},
    ],
)
def test_anything_but_an_allowance_is_a_no(tools: AcpClient, answer: Frame) -> None:
    """The command does not run, and the turn goes on."""
    session = tools.open()
    prompt = tools.prompt(session, "run")
    tools.send(prompt)
    tools.send({"jsonrpc": "2.0", "id": question_of(tools)["id"]} | answer)
    assert tools.stopped(prompt) == "end_turn"
    assert tools.updates(session, "tool_call_update")[-1]["status"] == "failed"


@pytest.mark.clause("J-59")
@pytest.mark.case("CASE-146")
def test_a_cancel_ends_a_question_that_nobody_answers(tools: AcpClient, nap: str) -> None:
    """The prompt is answered, the command never runs, a late allowance is ignored."""
    session = tools.open()
    prompt = tools.prompt(session, "wait")
    tools.send(prompt)
    question = question_of(tools)
    tools.send(tools.cancel(session))
    assert tools.stopped(prompt) == "cancelled"
    outcome = {"outcome": {"outcome": "selected", "optionId": "allow"}}
    tools.send({"jsonrpc": "2.0", "id": question["id"], "result": outcome})
    again = tools.prompt(session, "hello")
    tools.send(again)
    assert tools.stopped(again) == "end_turn"
    assert processes_with(nap) == []


@pytest.mark.clause("J-59", "J-58")
def test_a_close_ends_a_question_and_answers_behind_it_are_nobodys(tools: AcpClient) -> None:
    """Whatever is answered then, also twice or with an odd id, nothing runs and nothing breaks."""
    session = tools.open()
    prompt = tools.prompt(session, "wait")
    tools.send(prompt)
    question = question_of(tools)
    assert tools.ask("session/close", sessionId=session)["result"] == {}
    assert tools.stopped(prompt) == "cancelled"
    outcome = {"outcome": {"outcome": "selected", "optionId": "allow"}}
    for number in (question["id"], question["id"], str(question["id"]), -1, 1 << 70, None):
        tools.send({"jsonrpc": "2.0", "id": number, "result": outcome})
    other = tools.open()
    again = tools.prompt(other, "hello")
    tools.send(again)
    assert tools.stopped(again) == "end_turn"


@pytest.mark.clause("J-59")
def test_an_answer_that_comes_before_its_question_is_none(tools: AcpClient) -> None:
    """Whoever guesses the number of a question has not answered it."""
    session = tools.open()
    outcome = {"outcome": {"outcome": "selected", "optionId": "allow"}}
    guesses = [{"jsonrpc": "2.0", "id": number, "result": outcome} for number in range(5)]
    prompt = tools.prompt(session, "wait")
    tools.send(*guesses, prompt)
    question_of(tools)
    tools.send(tools.cancel(session))
    assert tools.stopped(prompt) == "cancelled"


@pytest.mark.clause("J-59", "J-60")
def test_the_program_ends_while_a_question_is_open(tools: AcpClient) -> None:
    """A client that goes without an answer takes the question along."""
    session = tools.open()
    tools.send(tools.prompt(session, "wait"))
    question_of(tools)
    tools.hang_up()


def test_a_running_command_ends_with_the_client(script: str, nap: str) -> None:
    """No process of a command outlives the client that wanted it."""
    with AcpClient("--model", script, "--tools", "bash", "--yes") as client:
        session = client.open()
        client.send(client.prompt(session, "wait"))
        runs(client, nap)
        client.finish()
    assert processes_with(nap) == []


@pytest.mark.clause("J-58")
def test_a_job_ends_with_its_session(script: str, nap: str) -> None:
    """Closing a session ends what it runs in the background; the program goes on."""
    with AcpClient("--model", script, "--tools", "bash", "--yes") as client:
        session = client.open()
        prompt = client.prompt(session, "job")
        client.send(prompt)
        assert client.stopped(prompt) == "end_turn"
        runs(client, nap)  # the call is answered when the job is known, not when its shell is
        assert client.ask("session/close", sessionId=session)["result"] == {}
        assert processes_with(nap) == []
        client.open()
        client.finish()
