"""The runtime in a real process: the stock loop, a script in a file, threads, and a clean exit."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from runtime import (
    AGENT_STATUS,
    Agent,
    CallerError,
    EchoModel,
    Fate,
    Limits,
    Model,
    ModelRequest,
    Runtime,
    ScriptedModel,
    ScriptError,
    Status,
    StatusChanged,
    TextDelta,
    exchange,
    open_runtime,
)
from runtime.model import AbortSignalLike, Chunk

pytestmark = pytest.mark.real

SCRIPT = [
    {"when": "^hello", "chunks": ["good ", "day"], "delay_s": 0.001},
    {"when": "tool", "tool_calls": [{"call_id": "k", "name": "none"}], "repeat": 1},
    {"when": "tool", "chunks": ["done"]},
    {"when": "hang", "chunks": ["1"], "hang": True},
    {"when": "fail", "error": "out of order"},
    {"when": "long", "chunks": ["cut"], "finish": "max-tokens"},
]
WITHIN_S = 30.0
"""Guards against a hang; nothing is asserted about how long anything takes."""


@pytest.fixture
def model(tmp_path: Path) -> ScriptedModel:
    """Give a model that answers from a file."""
    script = tmp_path / "script.jsonl"
    script.write_text("\n".join(json.dumps(line) for line in SCRIPT), encoding="utf-8")
    return ScriptedModel.from_file(script)


def run(body: Callable[[Runtime], Coroutine[Any, Any, None]], model: Model) -> None:
    """Run a program on the stock loop and see that it leaves no task behind."""

    async def program() -> None:
        async with open_runtime(
            models={"m": model},
            default_model="m",
            limits=Limits(abort_grace_s=0.05),
        ) as rt:
            await asyncio.wait_for(body(rt), WITHIN_S)
        assert rt.agents.list() == ()
        assert rt.sessions.list() == ()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(program())


@pytest.mark.clause("B-52", "B-54", "A-79", "A-77", "B-93", "K-03")
def test_a_conversation_with_a_script(model: ScriptedModel) -> None:
    """Every kind of line has its fate, and the agent is idle without a task in between."""

    async def body(rt: Runtime) -> None:
        async with rt.agents.create() as agent:
            fates = [await exchange(agent, text) for text in ("hello", "a tool", "fail", "long")]
            assert fates[0] == Fate("recorded", "completed", None, "good day")
            assert fates[1] == Fate("recorded", "completed", None, "done")
            assert (fates[2].ending, fates[3].ending) == ("error", "max-tokens")
            assert "out of order" in (fates[2].reason or "")
            assert agent.status == "idle"
            turns = [each.data["turn"] for each in agent.session.events if each.type == "turn/end"]
            assert turns == [1, 2, 3, 4]
        assert agent.status == "disposed"

    run(body, model)


@pytest.mark.clause("B-17", "B-117", "A-26", "A-52")
def test_a_model_that_hangs_is_cancelled_and_the_replacement_runs(model: ScriptedModel) -> None:
    """The cancel returns at once, and nobody has to call again."""

    async def body(rt: Runtime) -> None:
        agent = rt.agents.create().agent
        hanging = asyncio.ensure_future(exchange(agent, "hang"))
        async for record in agent.session.follow():
            if record.type == "assistant/chunk":
                break
        agent.cancel("enough")
        answer = await exchange(agent, "hello")
        assert await hanging == Fate("recorded", "aborted", "enough", "")
        assert answer.text == "good day"

    run(body, model)


@pytest.mark.clause("A-60")
def test_calls_from_another_thread(model: ScriptedModel) -> None:
    """Refused, unless they come through the loop."""
    raised: list[str] = []

    async def body(rt: Runtime) -> None:
        loop = asyncio.get_running_loop()
        handle = rt.agents.create()
        agent = handle.agent
        sent = asyncio.Event()

        def through_the_loop() -> None:
            agent.send("hello")
            sent.set()

        def elsewhere() -> None:
            for call in (lambda: agent.send("hello"), agent.cancel, handle.dispose):
                try:
                    call()
                except CallerError as error:
                    raised.append(str(error))
            loop.call_soon_threadsafe(through_the_loop)

        thread = threading.Thread(target=elsewhere)
        thread.start()
        await sent.wait()
        thread.join()
        await agent.when_idle()
        assert agent.session.messages()[-1].text == "good day"

    run(body, model)
    assert len(raised) == 3
    assert all("call_soon_threadsafe" in each for each in raised)


class Swallowing:
    """A model that catches its cancellation, until it is let go."""

    cooperative = False

    def __init__(self) -> None:
        self.let_go = asyncio.Event()

    async def stream(self, _: ModelRequest, __: AbortSignalLike) -> AsyncIterator[Chunk]:
        """Wait again, whatever happens."""
        yield TextDelta("1")
        while not self.let_go.is_set():
            try:
                await self.let_go.wait()
            except asyncio.CancelledError:
                continue


@pytest.mark.clause("B-117", "B-119", "F-34")
def test_a_model_that_swallows_its_cancellation_is_left_behind_by_name() -> None:
    """Turn and teardown end in time, the report names the straggler, and it can still end."""

    async def body(rt: Runtime) -> None:
        handle = rt.agents.create()
        agent = handle.agent
        agent.send("hello")
        async for record in agent.session.follow():
            if record.type == "assistant/chunk":
                break
        agent.cancel("enough")
        await agent.when_idle()
        assert agent.session.events[-1].data["reason"] == "enough"
        report = await handle.dispose()
        assert report.stragglers == ("the model's stream in turn 1",)
        swallowing.let_go.set()
        while len(asyncio.all_tasks()) > 2:
            await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()}, timeout=0.01)

    swallowing = Swallowing()
    run(body, swallowing)


@pytest.mark.clause("F-43", "A-80")
def test_a_program_that_fails_leaves_nothing_behind(model: ScriptedModel) -> None:
    """Its own error comes out, behind the teardown of every agent."""

    async def body(rt: Runtime) -> None:
        for _ in range(3):
            rt.agents.create().agent.send("hang")
        await asyncio.wait([asyncio.ensure_future(exchange(rt.agents.create().agent, "hello"))])
        raise KeyError("program")

    with pytest.raises(KeyError, match="program"):
        run(body, model)


@pytest.mark.clause("B-95", "F-43")
def test_a_program_that_is_cancelled_leaves_nothing_behind(model: ScriptedModel) -> None:
    """A time limit around the whole program closes the runtime on the way out."""
    agents: list[Agent] = []

    async def hang() -> None:
        limits = Limits(abort_grace_s=0.05)
        async with open_runtime(models={"m": model}, default_model="m", limits=limits) as rt:
            agents.extend(rt.agents.create().agent for _ in range(2))
            for agent in agents:
                agent.send("hang")
            await agents[0].when_idle()

    async def program() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(hang(), 0.05)
        assert [each.status for each in agents] == [Status.DISPOSED] * 2
        assert [each.session.events[-1].data["ending"] for each in agents] == ["disposed"] * 2
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(program())


@pytest.mark.clause("K-16", "A-78")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b'{"chunks": ["a"]}\n{"chunks": [\n', r"script\.jsonl:2"),
        (b'{"chunks": ["a"]}\n\n{"chunk": ["a"]}\n', r"script\.jsonl:3: unknown field 'chunk'"),
        (b'{"finish": "perhaps"}', r"script\.jsonl:1: field finish must be one of"),
        (b'{"when": "("}', r"script\.jsonl:1: field when must be a regular expression"),
        (b'{"chunks": ["a"]}\n\xff\n', r"script\.jsonl:2: the script must be UTF-8"),
        (b"\n\n", r"script\.jsonl: the script is empty"),
        (None, r"script\.jsonl: the script cannot be read"),
    ],
)
def test_a_damaged_script_is_refused_with_its_place(
    tmp_path: Path, text: bytes | None, said: str
) -> None:
    """The file and the line, and what belongs there."""
    path = tmp_path / "script.jsonl"
    if text is not None:
        path.write_bytes(text)
    with pytest.raises(ScriptError, match=said):
        ScriptedModel.from_file(path)


PROGRAM = """
import asyncio, sys
import runtime

async def main():
    async with runtime.open_runtime() as rt:
        async with rt.agents.create() as agent:
            agent.send("hello")
            agent.steer("more")
            await agent.when_idle()
            print(len(agent.session.events), agent.session.messages()[-1].text)
            agent.send("never")
    print(agent.status)

asyncio.run(main())
"""


@pytest.mark.clause("F-42", "F-43", "B-39", "A-11")
def test_a_program_in_a_process_of_its_own_ends_cleanly() -> None:
    """In development mode and with every warning an error: no task, no coroutine is forgotten."""
    ended = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", PROGRAM],
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.split() == ["8", "more", "disposed"]


@pytest.mark.clause("B-93", "A-77", "C-04")
@pytest.mark.parametrize("verb", ["send", "steer"])
def test_a_listener_that_always_sends_again_does_not_keep_the_loop(verb: str) -> None:
    """A model that answers at once, no disk to wait for, and still everybody else has a turn."""

    async def body(rt: Runtime) -> None:
        handle = rt.agents.create()

        def again(notice: StatusChanged) -> None:
            if notice.status is Status.IDLE:
                getattr(handle.agent, verb)("again")

        rt.on(AGENT_STATUS, again)
        handle.agent.send("hello")
        for _ in range(20):
            await asyncio.sleep(0)
        await handle.dispose()

    run(body, EchoModel())


@pytest.mark.clause("B-101", "B-93")
def test_a_listener_that_always_cancels_and_resends_does_not_keep_the_loop() -> None:
    """Every unopened turn gives the loop a pass."""

    async def body(rt: Runtime) -> None:
        handle = rt.agents.create()

        def again(notice: StatusChanged) -> None:
            if notice.status is Status.RUNNING:
                handle.agent.cancel()
                handle.agent.send("again")

        rt.on(AGENT_STATUS, again)
        handle.agent.send("hello")
        for _ in range(20):
            await asyncio.sleep(0)
        await handle.dispose()
        assert list(handle.agent.session.events) == []

    run(body, EchoModel())
