"""A client that goes while the disk under its sessions does not answer, and never will.

The file of a session is replaced by a pipe that nobody reads: whoever opens it for writing waits in
the system, where nothing reaches him but the end of the process.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .acp_client import AcpClient, pause
from .talking import until

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]


def hang_up(client: AcpClient) -> None:
    """End its input."""
    client.hang_up()


def terminate(client: AcpClient) -> None:
    """Ask it to end, as a supervisor does."""
    client.process.send_signal(signal.SIGTERM)


def interrupt(client: AcpClient) -> None:
    """Ask it to end, as a terminal does, and be impatient."""
    client.process.send_signal(signal.SIGINT)
    client.process.send_signal(signal.SIGINT)


def break_pipe(client: AcpClient) -> None:
    """Take away what it writes to, and make it write."""
    client.deafen()
    assert client.process.stdout is not None
    client.process.stdout.close()
    client.send(client.request("initialize", protocolVersion=1))


GOING = [hang_up, terminate, interrupt, break_pipe]


PROMPTED = "prompt"
LOADED = "load"
LISTED = "list"


@pytest.fixture
def start(script: str, tmp_path: Path) -> Iterator[Callable[[], tuple[AcpClient, str]]]:
    """Makes clients, each with a store of its own that has stopped, and a session in it."""
    made: list[AcpClient] = []

    def make() -> tuple[AcpClient, str]:
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(AcpClient("--model", script, "--store", str(folder)))
        return made[-1], stored_and_stopped(made[-1], folder)

    try:
        yield make
    finally:
        for each in made:
            each.__exit__()


def stored_and_stopped(client: AcpClient, folder: Path) -> str:
    """Say something that is stored, and stop the disk; return the session."""
    session = client.open()
    prompt = client.prompt(session, "hello")
    client.send(prompt)
    assert client.stopped(prompt) == "end_turn"
    (path,) = folder.rglob(f"{session}.jsonl")
    path.unlink()
    os.mkfifo(path)
    return session


def ask(client: AcpClient, session: str, what: str) -> None:
    """Ask for something that the disk will never let happen."""
    if what == PROMPTED:
        client.send(client.prompt(session, "hang"))
        client.shows(session, "agent_message_chunk", "thinking")
        return
    load = client.request("session/load", sessionId="other", cwd="/", mcpServers=[])
    client.send(load if what == LOADED else client.request("session/list"))
    # Whatever is answered behind it shows that it was begun.
    client.ask("authenticate", methodId="any")


@pytest.mark.clause("J-77")
@pytest.mark.parametrize(
    ("what", "ways"),
    [(PROMPTED, GOING), (LOADED, [hang_up, terminate]), (LISTED, [interrupt, break_pipe])],
    ids=[PROMPTED, LOADED, LISTED],
)
def test_a_disk_that_never_answers_does_not_hold_the_exit(
    start: Callable[[], tuple[AcpClient, str]], what: str, ways: list[Callable[[AcpClient], None]]
) -> None:
    """However the client goes, the program exits with 0 and says what may not be stored."""
    stuck = [start() for _ in ways]
    for client, session in stuck:
        ask(client, session, what)
    for go, (client, _) in zip(ways, stuck, strict=True):
        go(client)
    for client, session in stuck:
        assert client.exit_status() == 0
        notes = client.notes.decode()
        assert "Traceback" not in notes, notes
        is_lost = f"session '{session}': " in notes and "may not be stored" in notes
        assert is_lost == (what == PROMPTED), notes


OPENING = """
import os, sys
from runtime.acp.command import main
from runtime.session.sqlite import SqliteBackend

def open_for_ever(_):
    print("opening", file=sys.stderr, flush=True)
    os.open(os.environ["PIPE"], os.O_WRONLY)

SqliteBackend.open = open_for_ever
sys.exit(main(["--store", os.environ["STORE"]]))
"""


@pytest.mark.slow
@pytest.mark.clause("J-77")
@pytest.mark.parametrize("go", [terminate, interrupt])
def test_a_store_that_never_opens_does_not_hold_the_exit(
    tmp_path: Path, go: Callable[[AcpClient], None]
) -> None:
    """Nothing was begun, so there is nothing to wait for."""
    os.mkfifo(tmp_path / "pipe")
    names = {"PIPE": str(tmp_path / "pipe"), "STORE": str(tmp_path / "s.db")}
    with AcpClient(command=(sys.executable, "-c", OPENING), environment=names) as client:
        until(lambda within_s: b"opening" in client.notes or pause(client, within_s))
        go(client)
        assert client.exit_status() == 0
        assert b"Traceback" not in client.notes
