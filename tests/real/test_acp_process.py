"""The program on real pipes, driven line by line; `AcpClient.finish` is part of every test."""

import json
import signal
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from .acp_client import AcpClient, Frame, initialize, new_session, processes_with
from .talking import until

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

SLEEP: Final = "98761.5"
SCRIPT: Final[list[dict[str, Any]]] = [
    {"when": "^hang", "chunks": ["thinking"], "hang": True},
    {"when": "^slow", "chunks": ["a", "b", "c", "d"], "delay_s": 0.05},
    {"when": "^fail", "error": "the model is out"},
    {"when": "^cut", "chunks": ["half"], "finish": "max-tokens"},
    {"when": "^think", "reasoning": ["hmm"], "chunks": ["so"]},
    {"when": "^flood", "chunks": ["x" * 100_000] * 40, "hang": True},
    {"when": "^big", "chunks": ["\U0001f40c" * 300_000]},
    {
        "when": "^run",
        "tool_calls": [
            {
                "call_id": "c1",
                "name": "bash",
                "arguments": {"command": "echo out", "description": "says something"},
            }
        ],
        "repeat": 1,
    },
    {
        "when": "^wait",
        "tool_calls": [
            {
                "call_id": "c2",
                "name": "bash",
                "arguments": {"command": f"sleep {SLEEP}", "description": "waits"},
            }
        ],
        "repeat": 1,
    },
    {
        "when": "^job",
        "tool_calls": [
            {
                "call_id": "c3",
                "name": "bash",
                "arguments": {
                    "command": f"sleep {SLEEP}",
                    "description": "waits",
                    "run_in_background": True,
                },
            }
        ],
        "repeat": 1,
    },
    {"chunks": ["well", " said"]},
]


@pytest.fixture
def script(tmp_path: Path) -> str:
    """What the model says."""
    path = tmp_path / "script.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in SCRIPT), encoding="utf-8")
    return f"scripted:{path}"


@pytest.fixture
def client(script: str) -> Iterator[AcpClient]:
    """A client of a program without a store."""
    with AcpClient("--model", script) as made:
        yield made
        made.finish()


@pytest.fixture
def keep(script: str, tmp_path: Path) -> Iterator[Callable[[], AcpClient]]:
    """Makes clients, one after the other, whose sessions are kept."""
    made: list[AcpClient] = []

    def make() -> AcpClient:
        made.append(AcpClient("--model", script, "--store", str(tmp_path / "sessions.db")))
        return made[-1]

    try:
        yield make
        for each in made:
            each.finish()
    finally:
        for each in made:
            each.__exit__()


@pytest.fixture
def tools(script: str) -> Iterator[AcpClient]:
    """A client whose model may run commands, if it is allowed to."""
    with AcpClient("--model", script, "--tools", "bash") as made:
        yield made
        made.finish()
        assert processes_with(SLEEP) == []


# -- Prompts ---------------------------------------------------------------------------------------


@pytest.mark.clause("J-01")
def test_the_one_version_is_answered_whatever_was_asked(client: AcpClient) -> None:
    """A client that wants another version hears which one there is, and no error."""
    answer = client.ask("initialize", protocolVersion=99, clientCapabilities={})
    assert answer["result"]["protocolVersion"] == 1
    assert answer["result"]["agentCapabilities"]["loadSession"] is False


@pytest.mark.clause("J-25", "J-26", "J-57")
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


# -- Cancelling ------------------------------------------------------------------------------------


@pytest.mark.clause("J-19")
@pytest.mark.seed("SEED-45")
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
def test_a_cancel_behind_the_answer_does_nothing(client: AcpClient) -> None:
    """What is answered stays as it was answered."""
    session = client.open()
    one, two = client.prompt(session, "hello"), client.prompt(session, "hello")
    client.send(one)
    assert client.stopped(one) == "end_turn"
    client.send(client.cancel(session), two)
    assert client.stopped(two) == "end_turn"


@pytest.mark.clause("J-20")
def test_a_cancel_of_an_unknown_session_does_nothing(client: AcpClient) -> None:
    """Nobody is told, and nobody else is stopped."""
    session = client.open()
    prompt = client.prompt(session, "slow")
    client.send(prompt, client.cancel("nobody"))
    assert client.stopped(prompt) == "end_turn"


@pytest.mark.clause("J-23")
def test_a_cancel_leaves_other_sessions_alone(client: AcpClient) -> None:
    """Only the session that it names is cancelled."""
    one, two = client.open(), client.open()
    first, second = client.prompt(one, "hang"), client.prompt(two, "slow")
    client.send(first, second, client.cancel(one))
    assert client.stopped(first) == "cancelled"
    assert client.stopped(second) == "end_turn"
    assert client.text(two) == "abcd"


@pytest.mark.clause("J-13", "J-21")
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


# -- Sessions --------------------------------------------------------------------------------------


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


# -- Loading ---------------------------------------------------------------------------------------


def said_before(keep: Callable[[], AcpClient]) -> str:
    """Let a client talk, and go; return its session."""
    first = keep()
    session = first.open()
    for text in ("think", "hello"):
        prompt = first.prompt(session, text)
        first.send(prompt)
        assert first.stopped(prompt) == "end_turn"
    first.finish()
    return session


@pytest.mark.clause("J-33", "J-26")
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


# -- Tools -----------------------------------------------------------------------------------------


def question_of(client: AcpClient) -> Frame:
    """Wait until the client is asked."""
    return client.wait_for(lambda frame: frame.get("method") == "session/request_permission")


@pytest.mark.clause("J-25", "J-59")
def test_a_command_that_is_allowed_runs_and_shows_its_states(tools: AcpClient) -> None:
    """Pending, in progress, completed, with what it wrote."""
    session = tools.open()
    prompt = tools.prompt(session, "run")
    tools.send(prompt)
    question = question_of(tools)
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
def test_a_cancel_ends_a_question_that_nobody_answers(tools: AcpClient) -> None:
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
    assert processes_with(SLEEP) == []


@pytest.mark.clause("J-59", "J-60")
def test_the_program_ends_while_a_question_is_open(tools: AcpClient) -> None:
    """A client that goes without an answer takes the question along."""
    session = tools.open()
    tools.send(tools.prompt(session, "wait"))
    question_of(tools)
    tools.hang_up()


def test_a_running_command_ends_with_the_client(script: str) -> None:
    """No process of a command outlives the client that wanted it."""
    with AcpClient("--model", script, "--tools", "bash", "--yes") as client:
        session = client.open()
        client.send(client.prompt(session, "wait"))
        until(lambda within_s: bool(processes_with(SLEEP)) or pause(client, within_s))
        client.finish()
    assert processes_with(SLEEP) == []


@pytest.mark.clause("J-58")
def test_a_job_ends_with_its_session(script: str) -> None:
    """Closing a session ends what it runs in the background; the program goes on."""
    with AcpClient("--model", script, "--tools", "bash", "--yes") as client:
        session = client.open()
        prompt = client.prompt(session, "job")
        client.send(prompt)
        assert client.stopped(prompt) == "end_turn"
        assert processes_with(SLEEP) != []
        assert client.ask("session/close", sessionId=session)["result"] == {}
        assert processes_with(SLEEP) == []
        client.open()
        client.finish()


def pause(client: AcpClient, within_s: float) -> bool:
    """Read for a moment what the program says; it is not so yet."""
    client._listen(min(within_s, 0.05))  # noqa: SLF001  # a wait that also reads
    return False


# -- Going -----------------------------------------------------------------------------------------


@pytest.mark.clause("J-60")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_is_the_end_of_the_client(client: AcpClient, number: signal.Signals) -> None:
    """With its input open and a prompt running, the program ends in good order."""
    session = client.open()
    client.send(client.prompt(session, "hang"))
    client.shows(session, "agent_message_chunk")
    client.process.send_signal(number)
    assert client.exit_status() == 0


@pytest.mark.clause("J-60")
@pytest.mark.seed("SEED-47", "SEED-48")
def test_the_end_of_the_input_ends_a_running_prompt(keep: Callable[[], AcpClient]) -> None:
    """The log says that the turn was ended, and nothing is left open in it."""
    first = keep()
    session = first.open()
    prompt = first.prompt(session, "hang")
    first.send(prompt)
    first.shows(session, "agent_message_chunk")
    first.finish()
    assert first.stopped(prompt) == "cancelled"
    second = keep()
    second.open()
    assert "error" not in second.ask("session/load", sessionId=session, cwd="/", mcpServers=[])


@pytest.mark.clause("J-60")
def test_prompt_cancel_and_end_of_input_in_one_write(client: AcpClient) -> None:
    """The race that most agents lose: nothing hangs, and the prompt is answered."""
    session = client.open()
    prompt = client.prompt(session, "hang")
    client.send(prompt, client.cancel(session))
    client.hang_up()
    client.exit_status()
    assert client.stopped(prompt) == "cancelled"


@pytest.mark.clause("J-60")
@pytest.mark.seed("SEED-49")
def test_a_load_that_the_end_of_the_input_overtakes(keep: Callable[[], AcpClient]) -> None:
    """It is answered or not; either way nothing is left, and the session can be loaded again."""
    session = said_before(keep)
    second = keep()
    second.open()
    second.send(second.request("session/load", sessionId=session, cwd="/", mcpServers=[]))
    second.finish()
    third = keep()
    third.open()
    assert "error" not in third.ask("session/load", sessionId=session, cwd="/", mcpServers=[])


@pytest.mark.clause("J-60")
@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_a_client_that_goes_at_once(client: AcpClient, count: int) -> None:
    """However much it had said, the program ends; what could be answered is."""
    opening = [initialize(), *(new_session(number) for number in range(1, count))]
    client.send(*opening[:count])
    client.hang_up()
    client.exit_status()
    assert len(client.frames) == count


@pytest.mark.clause("J-60")
def test_a_reader_that_stopped_reading_does_not_hold_the_exit(client: AcpClient) -> None:
    """More waits than a pipe takes, nobody reads, and the program ends all the same."""
    session = client.open()
    client.send(client.prompt(session, "flood"))
    client.shows(session, "agent_message_chunk")
    client.deafen()
    client.hang_up()
    assert client.exit_status() == 0


@pytest.mark.clause("J-60")
def test_a_broken_pipe_is_the_end_of_the_client(client: AcpClient) -> None:
    """Nobody can be answered any more, though the input is still open."""
    session = client.open()
    client.deafen()
    assert client.process.stdout is not None
    client.process.stdout.close()
    client.send(client.prompt(session, "hello"))
    assert client.exit_status() == 0


def test_a_slow_reader_gets_everything(client: AcpClient) -> None:
    """A reply of more than a megabyte arrives whole, its characters too."""
    session = client.open()
    prompt = client.prompt(session, "big")
    client.send(prompt)
    assert client.stopped(prompt) == "end_turn"
    assert client.text(session) == "\U0001f40c" * 300_000


def test_nothing_of_the_session_is_open_in_the_store(
    keep: Callable[[], AcpClient], tmp_path: Path
) -> None:
    """Every turn that was begun is ended in what is kept."""
    first = keep()
    session = first.open()
    first.send(first.prompt(session, "hang"))
    first.shows(session, "agent_message_chunk")
    first.process.send_signal(signal.SIGTERM)
    first.finish()
    with sqlite3.connect(tmp_path / "sessions.db") as database:
        dump = "\n".join(database.iterdump())
    database.close()
    assert dump.count("turn/start") == dump.count("turn/end") == 1


# -- Hostile input ---------------------------------------------------------------------------------

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
