"""The bridge on the stage, with the SDK and the runtime below and above it."""

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import runtime.acp
from acp.schema import SessionNotification
from runtime import (
    AGENT_SESSION_START,
    SESSION_ENDED,
    SESSION_EVENT,
    RecordAppended,
    SessionStarted,
)
from runtime.acp.bridge import Bridge
from runtime.context import Proceed
from runtime.errors import CallerError
from runtime.limits import Limits
from runtime.persistence import PERSISTENCE
from runtime.seams import PROMPT_SUBMIT, Block, PromptSubmission, PromptVerdict
from runtime.tools import Tool

from .conftest import Connected


@pytest.mark.clause("J-02")
def test_nobody_has_to_authenticate(connected: Connected) -> None:
    """Whoever does succeeds."""
    assert connected.ask("initialize", protocolVersion=1)["result"]["authMethods"] == []
    assert connected.ask("authenticate", methodId="any")["result"] == {}


@pytest.mark.clause("J-01")
def test_with_a_store_loading_is_offered(connected: Connected) -> None:
    """What is offered is what there is."""
    offered = connected.ask("initialize", protocolVersion=1)["result"]["agentCapabilities"]
    assert offered["loadSession"] is True
    assert set(offered["sessionCapabilities"]) == {"close", "delete", "list", "resume"}


@pytest.mark.clause("J-03", "J-04", "J-05")
@pytest.mark.seed("SEED-51")
def test_a_session_is_one_agent_with_its_id(connected: Connected) -> None:
    """The ids are the same and new, and the directory is in the header."""
    one, two = connected.new(), connected.new()
    assert one != two
    agent = connected.runtime.agents.get(one)
    assert agent is not None
    assert agent.session.header.id == one
    assert agent.session.header.cwd == "/"
    refused = connected.ask("session/new", cwd="/", additionalDirectories=["/x"], mcpServers=[])
    assert refused["error"]["code"] == -32602
    assert len(connected.runtime.agents.list()) == 2


@pytest.mark.clause("J-06", "J-08")
def test_texts_are_joined_and_links_can_be_read(connected: Connected) -> None:
    """What the agent gets is what the client wrote, with references in their places."""
    session = connected.new()
    link = {"type": "resource_link", "name": "notes", "uri": "file:///n.md"}
    blocks = [{"type": "text", "text": "read "}, link, {"type": "text", "text": " please"}]
    answer = connected.ask("session/prompt", sessionId=session, prompt=blocks)
    assert answer["result"]["stopReason"] == "end_turn"
    live = connected.runtime.sessions.get(session)
    assert live is not None
    assert live.messages()[0].text == "read [notes](file:///n.md) please"


@pytest.mark.clause("J-24")
def test_an_agent_of_somebody_else_is_not_shown(connected: Connected) -> None:
    """Its turns are nobody's business on this connection."""
    handle = connected.runtime.agents.create()
    handle.agent.send("hello")
    connected.go_on()
    assert connected.wire.written == []
    connected.stage.complete(_end(handle.dispose()))


@pytest.mark.clause("J-56")
def test_a_blocked_prompt_is_a_refusal(connected: Connected) -> None:
    """The prompt is answered, and no model has seen it."""

    async def block(_: PromptSubmission, __: Proceed[PromptVerdict]) -> PromptVerdict:
        return Block("not here")

    connected.runtime.context.on(PROMPT_SUBMIT, block)
    session = connected.new()
    prompt = connected.prompt(session, "hello")
    connected.go_on()
    assert connected.answer(prompt)["result"]["stopReason"] == "refusal"


@pytest.mark.clause("J-43")
def test_a_tool_that_cannot_present_a_call_leaves_its_name(connected: Connected) -> None:
    """A presentation is the tool's business, and its failure nobody else's."""

    def fail(*_: object) -> object:
        raise RuntimeError("no presentation")

    tool = Tool(
        name="staged",
        description="d",
        parameters={"type": "object"},
        execute=lambda *_: "done",
        present=fail,
    )
    connected.runtime.tools.register(connected.runtime.context, tool)
    connected.stage.model_answers = {"call": lambda _: "\x00call"}
    session = connected.new()
    prompt = connected.prompt(session, "hello")
    while not shown(connected, "tool_call_update"):
        assert connected.stage.move()
    connected.stage.model_answers = {"ok": lambda _: "done"}
    connected.wire.say(
        {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}
    )
    connected.go_on()
    assert connected.answer(prompt)["result"]["stopReason"] == "cancelled"
    first = shown(connected, "tool_call")[0]
    assert (first["title"], first["kind"], first["status"]) == ("staged", "other", "pending")


@pytest.mark.clause("J-25")
def test_every_update_is_one_that_the_protocol_knows(connected: Connected) -> None:
    """The SDK reads each of them back without leaving anything out."""
    session = connected.new()
    connected.prompt(session, "hello")
    connected.go_on()
    frames = [f for f in connected.wire.written if f.get("method") == "session/update"]
    assert frames != []
    for frame in frames:
        read = SessionNotification.model_validate(frame["params"])
        assert read.model_dump(mode="json", by_alias=True, exclude_unset=True) == frame["params"]


@pytest.mark.clause("J-35", "J-36", "J-37", "J-41")
@pytest.mark.seed("SEED-47")
def test_unloading_the_bridge_ends_its_agents_and_nothing_else(connected: Connected) -> None:
    """The running prompt is answered, others' agents live on, later requests are told."""
    other = connected.runtime.agents.create()
    session = connected.new()
    prompt = connected.prompt(session, "hello")
    connected.stage.run_until_quiet()
    first = connected.bridge.aclose()
    assert connected.bridge.aclose() is first
    connected.go_on()
    assert first.is_done
    assert connected.answer(prompt)["result"]["stopReason"] == "cancelled"
    assert connected.runtime.agents.list() == (other.agent,)
    for method, params in (
        ("session/new", {"cwd": "/", "mcpServers": []}),
        ("session/load", {"cwd": "/", "mcpServers": [], "sessionId": session}),
        ("session/list", {}),
        ("session/close", {"sessionId": session}),
        ("session/delete", {"sessionId": session}),
        ("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": "x"}]}),
    ):
        answer = connected.ask(method, **params)
        assert answer["error"]["code"] == -32603
        assert "closed" in answer["error"]["data"]["details"]
    assert connected.ask("initialize", protocolVersion=1)["result"]["protocolVersion"] == 1
    connected.stage.complete(_end(other.dispose()))


@pytest.mark.clause("J-37")
def test_the_end_of_a_bridge_without_sessions_is_one_end(connected: Connected) -> None:
    """Whoever asks joins it."""
    end = connected.bridge.aclose()
    connected.go_on()
    assert end.is_done
    assert connected.bridge.aclose() is end


@pytest.mark.clause("J-39")
def test_a_session_whose_end_fails_does_not_keep_the_others(
    connected: Connected, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every agent is gone although a listener of one failed all the way."""

    def fail(notice: RecordAppended) -> None:
        raise RuntimeError(notice.record.type)

    connected.runtime.on(SESSION_EVENT, fail)
    sessions = [connected.new() for _ in range(3)]
    for session in sessions:
        connected.prompt(session, "hello")
    connected.stage.run_until_quiet()
    connected.bridge.aclose()
    connected.go_on()
    assert connected.runtime.agents.list() == ()
    assert connected.runtime.sessions.list() == ()
    del monkeypatch


@pytest.mark.clause("J-58")
def test_an_agent_that_somebody_else_ends_is_a_closed_session(connected: Connected) -> None:
    """Its prompt is answered, and its session is unknown afterwards."""
    session = connected.new()
    prompt = connected.prompt(session, "hello")
    connected.stage.run_until_quiet()
    connected.bridge._open[session].handle.dispose()  # noqa: SLF001  # nobody else holds it
    connected.go_on()
    assert connected.answer(prompt)["result"]["stopReason"] == "cancelled"
    again = connected.prompt(session, "hello")
    connected.go_on()
    assert connected.answer(again)["error"]["code"] == -32002


@pytest.mark.clause("J-76")
def test_an_agent_that_is_ended_while_it_is_loaded_is_not_loaded(connected: Connected) -> None:
    """Nothing is claimed of it, and it may be loaded again."""
    session = connected.new()
    connected.prompt(session, "hello")
    connected.go_on()
    connected.ask("session/close", sessionId=session)
    was_ended: list[str] = []

    def end_first(notice: SessionStarted) -> None:
        roster = connected.runtime.roster
        if roster is not None and not was_ended:
            was_ended.append(notice.agent.id)
            roster.handles[notice.agent.id].dispose()

    connected.runtime.on(AGENT_SESSION_START, end_first)
    load = {"sessionId": session, "cwd": "/", "mcpServers": []}
    assert connected.ask("session/load", **load)["error"]["code"] == -32002
    assert was_ended == [session]
    assert connected.ask("session/close", sessionId=session)["error"]["code"] == -32002
    assert "error" not in connected.ask("session/load", **load)


@pytest.mark.clause("J-53")
@pytest.mark.parametrize("method", ["load", "resume", "close", "prompt", "new"])
def test_a_refusal_does_not_repeat_a_long_name(connected: Connected, method: str) -> None:
    """Whoever sends a megabyte knows what it was."""
    said = [{"type": "text", "text": "hello"}]
    long = {"sessionId": "x" * 1_000_000, "cwd": "/", "prompt": said, "mcpServers": []}
    if method == "new":
        long["cwd"] = "y" * 1_000_000
    refused = connected.ask(f"session/{method}", **long)
    assert refused["error"]["code"] in {-32002, -32602}
    assert len(str(refused)) < 1_000


@pytest.mark.clause("D-63", "J-58")
@pytest.mark.parametrize("is_closed", [True, False], ids=["closed", "client gone"])
def test_a_session_of_a_client_ends_with_it(connected: Connected, *, is_closed: bool) -> None:
    """Once, with everything that belongs to it, whether the client closes it or goes."""
    ended: list[str] = []
    connected.runtime.on(SESSION_ENDED, lambda notice: ended.append(notice.session_id))
    session = connected.new()
    if is_closed:
        connected.say("session/close", sessionId=session)
        connected.go_on()
        assert ended == [session]
    connected.bridge.aclose()
    connected.go_on()
    assert ended == [session]


@pytest.mark.clause("J-46")
@pytest.mark.seed("SEED-52")
def test_the_bridge_has_two_verbs_and_never_waits_for_idleness() -> None:
    """What it calls on agents and handles is read from its source."""
    called: set[str] = set()
    for path in Path(runtime.acp.__file__).parent.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        called |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert {"when_idle", "steer", "inject", "send_message", "status"} & called == set()
    assert {"cancel", "dispose"} <= called


def test_the_sdk_is_not_imported_before_it_is_needed() -> None:
    """It takes about a second, and most programs never need it."""
    code = "import sys, runtime, runtime.__main__; sys.exit('acp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_the_sdk_it_is_said_what_to_install() -> None:
    """Exit status 2, and nothing on standard output."""
    code = (
        "import sys; sys.modules['acp'] = None; from runtime.acp.command import main; "
        "sys.exit(main([]))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    assert (run.returncode, run.stdout) == (2, b"")
    assert b"quiesce[acp]" in run.stderr
    assert b"Traceback" not in run.stderr


@pytest.mark.clause("J-71", "E-90")
def test_a_session_of_somebody_else_is_not_deleted(connected: Connected) -> None:
    """Whatever lives in this process belongs to whoever made it."""
    other = connected.runtime.agents.create(cwd="/")
    other.agent.send("hello")
    connected.go_on()
    session = other.agent.session.id
    assert connected.ask("session/delete", sessionId=session)["error"]["code"] == -32602
    assert connected.runtime.agents.list() == (other.agent,)
    connected.stage.complete(_end(other.dispose()))
    assert connected.ask("session/delete", sessionId=session)["result"] == {}
    assert connected.ask("session/list")["result"]["sessions"] == []


@pytest.mark.clause("E-90")
def test_what_lives_is_not_removed_under_it(connected: Connected) -> None:
    """Also whoever asks the keeper itself is refused, and nothing of the session is lost."""
    session = connected.new()
    connected.prompt(session, "hello")
    connected.go_on()
    keeper = connected.runtime.context.get(PERSISTENCE)
    assert keeper is not None
    with pytest.raises(CallerError, match="lives"):
        connected.stage.complete(keeper.remove(session))
    assert [each.header.id for each in connected.stage.complete(keeper.headers())] == [session]


@pytest.mark.clause("J-55")
def test_a_long_list_comes_in_pages(connected: Connected) -> None:
    """Each session is on one page, whatever the pages are."""
    sessions = [connected.new() for _ in range(130)]
    first = connected.ask("session/list")["result"]
    second = connected.ask("session/list", cursor=first["nextCursor"])["result"]
    assert "nextCursor" not in second
    listed = [each["sessionId"] for each in first["sessions"] + second["sessions"]]
    assert listed == sessions[::-1]


def test_limits_of_the_bridge_are_limits() -> None:
    """Each has a name, a unit and a default."""
    assert Limits().acp_line_bytes_max == 32 * 1024 * 1024
    assert Limits().acp_unread_bytes_max == 64 * 1024 * 1024
    assert Bridge(print, Limits()) is not None


def shown(connected: Connected, kind: str) -> list[dict[str, Any]]:
    """Return the updates of a kind."""
    updates = [
        f["params"]["update"] for f in connected.wire.written if f.get("method") == "session/update"
    ]
    return [each for each in updates if each["sessionUpdate"] == kind]


async def _end(teardown: Any) -> None:  # noqa: ANN401  # whatever can be awaited
    await teardown
