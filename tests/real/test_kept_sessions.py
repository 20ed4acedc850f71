"""A runtime on a real store: what is said in one process goes on in the next."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from runtime import DuplicateIdError, EchoModel, SessionBusyError, exchange, open_runtime
from runtime.session.places import backend_at

from .storing import header_of, records_of
from .talking import ROOT, WITHIN_S

pytestmark = pytest.mark.real

STORES = ["s.db", "s.jsonl"]


@pytest.mark.clause("E-66", "F-07", "E-35")
@pytest.mark.parametrize("name", STORES)
def test_a_session_goes_on_in_the_next_runtime(tmp_path: Path, name: str) -> None:
    """By its path alone; the turns are counted on, and the history is whole."""
    store = tmp_path / name

    async def first() -> None:
        async with open_runtime(store=str(store)) as rt, rt.agents.create(session_id="s") as agent:
            assert (await exchange(agent, "one")).text == "one"

    async def second() -> None:
        async with open_runtime(store=store) as rt:
            handle = await rt.agents.resume(session_id="s")
            await exchange(handle.agent, "two")
            texts = [each.text for each in handle.agent.session.messages()]
            assert texts == ["one", "one", "two", "two"]
            async with open_runtime(store=store, models={"e": EchoModel()}) as other:
                with pytest.raises(SessionBusyError, match="'s' refused: process "):
                    await other.agents.resume(session_id="s")

    asyncio.run(first())
    asyncio.run(second())
    records = backend_at(store).read("s").records
    assert [each.data["turn"] for each in records if each.type == "turn/end"] == [1, 2]
    # What is left is the store itself: no lock, no write-ahead log, no draft.
    hidden = [each.name for each in tmp_path.rglob("*") if each.suffix not in (".db", ".jsonl")]
    assert hidden == ([] if name == "s.db" else ["no-cwd"])


@pytest.mark.clause("E-103", "E-104")
@pytest.mark.parametrize("name", STORES)
def test_the_second_run_of_a_program_that_creates_its_session_is_refused(
    tmp_path: Path, name: str
) -> None:
    """At the call, before anything is said to an agent that would forget it."""

    async def run(session_id: str) -> str:
        async with (
            open_runtime(store=tmp_path / name) as rt,
            rt.agents.create(session_id=session_id) as agent,
        ):
            return (await exchange(agent, "hello")).ending or ""

    names = ("main", "../" + "n" * 300)
    assert [asyncio.run(run(each)) for each in names] == ["completed"] * 2
    for each in names:
        with pytest.raises(DuplicateIdError, match="resume it"):
            asyncio.run(run(each))


@pytest.mark.clause("E-76", "E-75")
@pytest.mark.parametrize("name", STORES)
def test_a_reader_that_has_seen_enough_ends_a_command_in_silence(tmp_path: Path, name: str) -> None:
    """As `head` does with a long export."""
    backend = backend_at(tmp_path / name)
    backend.acquire("s")
    backend.begin(header_of("s"), records_of("s", 100, size=10_000))
    backend.close()
    command = [sys.executable, "-X", "dev", "-W", "error", "-m", "runtime", "sessions", "export"]
    with subprocess.Popen(
        [*command, "s", "--store", str(tmp_path / name)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.readline())["id"] == "s"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(WITHIN_S) == 1
