"""Every way in which a client goes, and that nothing of it is left."""

import json
import shlex
import signal
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .acp_client import COMMAND, AcpClient, initialize, new_session, said_before
from .talking import ROOT

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]


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
@pytest.mark.case("CASE-133")
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
@pytest.mark.case("CASE-067")
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


@pytest.mark.case("CASE-153")
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


@pytest.mark.clause("J-47", "J-60")
def test_files_serve_as_well_as_pipes(tmp_path: Path) -> None:
    """Requests from a file are answered into a file, which holds nothing else."""
    asked, told = tmp_path / "asked", tmp_path / "told"
    lines = [json.dumps(frame) for frame in (initialize(), new_session(1))]
    asked.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with asked.open("rb") as source, told.open("wb") as sink:
        run = subprocess.run(COMMAND, cwd=ROOT, stdin=source, stdout=sink, timeout=60, check=False)
    assert run.returncode == 0
    answers = [json.loads(line) for line in told.read_text(encoding="utf-8").splitlines()]
    assert [each["id"] for each in answers] == [0, 1]


def test_without_standard_input_nothing_is_served() -> None:
    """It is said on standard error, with exit status 2."""
    words = shlex.join([*COMMAND])
    run = subprocess.run(
        ["sh", "-c", f"exec {words} <&-"], cwd=ROOT, capture_output=True, timeout=60, check=False
    )
    assert (run.returncode, run.stdout) == (2, b"")
    assert b"standard input" in run.stderr
    assert b"Traceback" not in run.stderr
