"""Prompts, cancels and sessions of the program on real pipes, driven line by line."""

import json

import pytest

from .acp_client import (
    AcpClient,
    Frame,
)

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]


@pytest.mark.clause("J-01")
def test_the_one_version_is_answered_whatever_was_asked(client: AcpClient) -> None:
    """A client that wants another version hears which one there is, and no error."""
    answer = client.ask("initialize", protocolVersion=99, clientCapabilities={})
    assert answer["result"]["protocolVersion"] == 1
    assert answer["result"]["agentCapabilities"]["loadSession"] is False


@pytest.mark.clause("J-25", "J-26", "J-57")
@pytest.mark.case("CASE-136")
def test_a_prompt_streams_its_text_and_then_says_that_it_ended(client: AcpClient) -> None:
    """The pieces come first, the client's own words do not come back, the answer is last."""
    session = client.open()
    prompt = client.prompt(session, "hello")
    client.send(prompt)
    assert client.stopped(prompt) == "end_turn"
    assert client.text(session) == "well said"
    assert client.updates(session, "user_message_chunk") == []
    assert "method" not in client.frames[-1]


@pytest.mark.clause("J-25")
def test_reasoning_is_shown_as_thought(client: AcpClient) -> None:
    """A client can tell what the model thinks from what it says."""
    session = client.open()
    prompt = client.prompt(session, "think")
    client.send(prompt)
    assert client.stopped(prompt) == "end_turn"
    assert client.text(session, "agent_thought_chunk") == "hmm"
    assert client.text(session) == "so"


@pytest.mark.clause("J-14")
def test_a_reply_that_ran_out_of_tokens_says_so(client: AcpClient) -> None:
    """The stop reason is the ending of the turn."""
    session = client.open()
    prompt = client.prompt(session, "cut")
    client.send(prompt)
    assert client.stopped(prompt) == "max_tokens"


@pytest.mark.clause("J-15")
def test_a_failed_turn_is_an_error_and_the_next_prompt_runs(client: AcpClient) -> None:
    """What the model failed with is told once, and costs one turn."""
    session = client.open()
    failing, next_one = client.prompt(session, "fail"), client.prompt(session, "hello")
    client.send(failing)
    answer = client.response(failing)
    assert answer["error"]["code"] == -32603
    assert "the model is out" in answer["error"]["data"]["details"]
    client.send(next_one)
    assert client.stopped(next_one) == "end_turn"


@pytest.mark.clause("J-57")
def test_two_prompts_in_one_write_are_both_answered(client: AcpClient) -> None:
    """A second prompt is queued, not refused."""
    session = client.open()
    one, two = client.prompt(session, "one"), client.prompt(session, "two")
    client.send(one, two)
    assert client.stopped(one) == client.stopped(two) == "end_turn"


@pytest.mark.clause("J-57")
@pytest.mark.case("CASE-138")
def test_what_follows_a_turn_is_written_behind_its_answer(client: AcpClient) -> None:
    """A prompt that runs in the next turn shows nothing before the first one is answered."""
    session = client.open()
    one, two = client.prompt(session, "slow one"), client.prompt(session, "think two")
    client.send(one)
    client.shows(session, "agent_message_chunk")
    client.send(two)
    assert client.stopped(two) == "end_turn"
    answered = client.position(lambda frame: frame.get("id") == one["id"])
    thought = client.position(lambda frame: "agent_thought_chunk" in json.dumps(frame))
    assert answered < thought


@pytest.mark.clause("J-06", "J-07")
@pytest.mark.parametrize(
    "blocks",
    [
        [],
        [{"type": "text", "text": " \n"}],
        [{"type": "image", "data": "AA==", "mimeType": "image/png"}],
        "no list",
        None,
        [42],
    ],
)
def test_a_prompt_that_says_nothing_is_refused(client: AcpClient, blocks: object) -> None:
    """Nothing is queued, and the session lives on."""
    session = client.open()
    answer = client.ask("session/prompt", sessionId=session, prompt=blocks)
    assert answer["error"]["code"] == -32602
    prompt = client.prompt(session, "hello")
    client.send(prompt)
    assert client.stopped(prompt) == "end_turn"


@pytest.mark.clause("J-19")
@pytest.mark.seed("SEED-45")
@pytest.mark.case("CASE-135", "CASE-145")
def test_a_cancel_stops_the_running_prompt(client: AcpClient) -> None:
    """It is answered as cancelled, behind what it had said."""
    session = client.open()
    prompt = client.prompt(session, "hang")
    client.send(prompt)
    client.shows(session, "agent_message_chunk", "thinking")
    client.send(client.cancel(session))
    assert client.stopped(prompt) == "cancelled"


@pytest.mark.clause("J-21", "J-48")
@pytest.mark.seed("SEED-46")
@pytest.mark.case("CASE-140")
def test_a_prompt_cancelled_in_the_same_write_never_runs(client: AcpClient) -> None:
    """Order on the wire is order in the inbox, every time, and the next prompt runs alone."""
    session = client.open()
    for round_number in range(10):
        one, two = client.prompt(session, "hang"), client.prompt(session, f"next {round_number}")
        client.send(one, client.cancel(session), two)
        assert client.stopped(one) == "cancelled"
        assert client.stopped(two) == "end_turn"
    assert "thinking" not in client.text(session)
    assert client.text(session) == "well said" * 10


@pytest.mark.clause("J-19", "J-21")
@pytest.mark.seed("SEED-45", "SEED-46")
def test_a_cancel_covers_the_running_and_the_queued_prompt_and_not_the_next(
    client: AcpClient,
) -> None:
    """Both answer as cancelled, the queued one never runs, the one behind runs alone."""
    session = client.open()
    running, queued = client.prompt(session, "hang"), client.prompt(session, "hang again")
    third = client.prompt(session, "hello")
    client.send(running)
    client.shows(session, "agent_message_chunk", "thinking")
    client.send(queued, client.cancel(session), third)
    assert client.stopped(running) == client.stopped(queued) == "cancelled"
    assert client.stopped(third) == "end_turn"
    assert client.text(session) == "thinkingwell said"


@pytest.mark.clause("J-22")
def test_a_cancel_of_nothing_does_not_reach_the_next_prompt(client: AcpClient) -> None:
    """Nothing is remembered that could strike later."""
    session = client.open()
    prompt = client.prompt(session, "hello")
    client.send(client.cancel(session), client.cancel(session), prompt)
    assert client.stopped(prompt) == "end_turn"


@pytest.mark.clause("J-22")
@pytest.mark.case("CASE-135")
def test_a_cancel_behind_the_answer_does_nothing(client: AcpClient) -> None:
    """What is answered stays as it was answered."""
    session = client.open()
    one, two = client.prompt(session, "hello"), client.prompt(session, "hello")
    client.send(one)
    assert client.stopped(one) == "end_turn"
    client.send(client.cancel(session), two)
    assert client.stopped(two) == "end_turn"


@pytest.mark.clause("J-75")
def test_giving_up_a_request_changes_nothing(client: AcpClient) -> None:
    """The prompt that it names goes on, the one that waits runs; odd names are ignored, too."""
    session = client.open()
    one, two = client.prompt(session, "slow"), client.prompt(session, "hello")
    names: tuple[object, ...] = (
        one["id"],
        two["id"],
        0,
        "x",
        None,
        -1,
        {"a": []},
        [],
        True,
        1.5,
        1 << 70,
    )
    frames = [
        {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": name}}
        for name in names
    ]
    client.send(one)
    client.shows(session, "agent_message_chunk")
    client.send(two, *frames, {"jsonrpc": "2.0", "method": "$/cancel_request"})
    assert client.stopped(one) == client.stopped(two) == "end_turn"
    assert client.text(session) == "abcdwell said"


@pytest.mark.clause("J-20")
def test_a_cancel_of_an_unknown_session_does_nothing(client: AcpClient) -> None:
    """Nobody is told, and nobody else is stopped."""
    session = client.open()
    prompt = client.prompt(session, "slow")
    client.send(prompt, client.cancel("nobody"))
    assert client.stopped(prompt) == "end_turn"


@pytest.mark.clause("J-23")
@pytest.mark.case("CASE-143")
def test_a_cancel_leaves_other_sessions_alone(client: AcpClient) -> None:
    """Only the session that it names is cancelled."""
    one, two = client.open(), client.open()
    first, second = client.prompt(one, "hang"), client.prompt(two, "slow")
    client.send(first, second, client.cancel(one))
    assert client.stopped(first) == "cancelled"
    assert client.stopped(second) == "end_turn"
    assert client.text(two) == "abcd"


@pytest.mark.clause("J-13", "J-21")
@pytest.mark.case("CASE-152")
def test_a_storm_of_prompts_and_cancels_is_answered_in_full(client: AcpClient) -> None:
    """Each prompt before the last cancel is cancelled or done, none is lost, none is hung."""
    session = client.open()
    prompts = [client.prompt(session, "hang") for _ in range(60)]
    frames: list[Frame] = []
    for number, prompt in enumerate(prompts):
        frames.append(prompt)
        if number % 3 == 2:
            frames.append(client.cancel(session))
    last = client.prompt(session, "hello")
    client.send(*frames, last)
    assert {client.stopped(prompt) for prompt in prompts} == {"cancelled"}
    assert client.stopped(last) == "end_turn"


@pytest.mark.clause("J-05", "J-24")
def test_twenty_sessions_stream_at_once_without_mixing(client: AcpClient) -> None:
    """Each update names the session whose text it is."""
    sessions = [client.open() for _ in range(20)]
    prompts = [client.prompt(session, "slow") for session in sessions]
    client.send(*prompts)
    assert {client.stopped(prompt) for prompt in prompts} == {"end_turn"}
    assert {client.text(session) for session in sessions} == {"abcd"}
    assert len(set(sessions)) == 20


@pytest.mark.clause("J-03")
@pytest.mark.parametrize("cwd", ["relative", "", 42, None])
def test_a_session_needs_an_absolute_directory(client: AcpClient, cwd: object) -> None:
    """Nothing is made where nobody knows where it works."""
    client.open()
    answer = client.ask("session/new", cwd=cwd, mcpServers=[])
    assert answer["error"]["code"] == -32602


@pytest.mark.clause("J-49")
def test_servers_of_tools_are_accepted_and_told_not_to_be_connected(client: AcpClient) -> None:
    """A client that names some can connect, and learns that they are not used."""
    client.open()
    server = {"name": "s", "command": "/bin/true", "args": [], "env": []}
    answer = client.ask("session/new", cwd="/", mcpServers=[server])
    assert "not connected" in answer["result"]["_meta"]["quiesce"]["mcpServers"]


@pytest.mark.clause("J-58")
def test_a_closed_session_answers_its_prompt_and_is_gone(client: AcpClient) -> None:
    """Its prompt is cancelled, and whoever names it afterwards is told that it is not there."""
    session = client.open()
    prompt = client.prompt(session, "hang")
    client.send(prompt)
    client.shows(session, "agent_message_chunk")
    assert client.ask("session/close", sessionId=session)["result"] == {}
    assert client.stopped(prompt) == "cancelled"
    again = client.prompt(session, "hello")
    client.send(again)
    assert client.response(again)["error"]["code"] == -32002
    assert client.ask("session/close", sessionId=session)["error"]["code"] == -32002


@pytest.mark.clause("J-06")
def test_an_unknown_session_is_told_to_be_unknown(client: AcpClient) -> None:
    """A prompt for nobody is refused, and nothing runs."""
    client.open()
    prompt = client.prompt("nobody", "hello")
    client.send(prompt)
    assert client.response(prompt)["error"]["code"] == -32002


@pytest.mark.clause("J-32")
def test_nothing_can_be_loaded_without_a_store(client: AcpClient) -> None:
    """It is not offered, and asked for it is told to be unknown."""
    client.open()
    answer = client.ask("session/load", sessionId="s", cwd="/", mcpServers=[])
    assert answer["error"]["code"] == -32002
