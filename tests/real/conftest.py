"""What a model says to the clients of these tests, and the clients."""

import itertools
import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from .acp_client import AcpClient, processes_with

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
                "arguments": {"command": "sleep NAP", "description": "waits"},
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
                    "command": "sleep NAP",
                    "description": "waits",
                    "run_in_background": True,
                },
            }
        ],
        "repeat": 1,
    },
    {"chunks": ["well", " said"]},
]


_NAPS: Final = itertools.count(1)


@pytest.fixture
def nap() -> Iterator[str]:
    """How long the commands of this test sleep: so long, and nobody else just as long.

    Tests run side by side, so a process of one must not be taken for that of another. What a failed
    test left is ended here; after any other test there is nothing to end.
    """
    seconds = f"9{os.getpid()}.{next(_NAPS)}"
    yield seconds
    left = processes_with(seconds)
    for process in left:
        os.kill(process, signal.SIGKILL)
    assert left == []


@pytest.fixture
def script(tmp_path: Path, nap: str) -> str:
    """What the model says."""
    path = tmp_path / "script.jsonl"
    lines = "".join(json.dumps(line) + "\n" for line in SCRIPT)
    path.write_text(lines.replace("NAP", nap), encoding="utf-8")
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
