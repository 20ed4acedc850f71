"""A client that asks for everything in any order, and a program that keeps its word."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from .acp_client import AcpClient, Frame, initialize, processes_with

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]

WRITES: Final = 60
WORDS: Final = ("hello", "slow", "hang", "run", "wait", "job", "think", "fail")
ANSWERS: Final[tuple[Frame, ...]] = (
    {"result": {"outcome": {"outcome": "selected", "optionId": "allow"}}},
    {"result": {"outcome": {"outcome": "selected", "optionId": "reject"}}},
    {"result": {"outcome": {"outcome": "cancelled"}}},
    {"result": {}},
    {"error": {"code": -1, "message": "no"}},
)


class Storm:
    """One client, and what it makes up next."""

    def __init__(self, client: AcpClient, seed: int) -> None:
        self.client = client
        self.chance = random.Random(seed)  # noqa: S311  # a storm that can be had again
        self.sessions = ["nobody"]
        self.asked: list[Frame] = []
        self._looked_at = 0

    def blow(self) -> None:
        """Write a few messages in one piece, and read some of what is said."""
        self.client.send(*[self._message() for _ in range(self.chance.randint(1, 8))])
        self.client.listen(self.chance.choice((0.0, 0.0, 0.02)))
        self._note()

    def calm(self) -> None:
        """Cancel everything until whatever was asked for has been answered."""
        for session in self.sessions:
            self.client.send(self.client.cancel(session))
        for frame in self.asked:
            self.client.response(frame)

    def _note(self) -> None:
        heard, self._looked_at = self.client.frames[self._looked_at :], len(self.client.frames)
        for frame in heard:
            if "sessionId" in (frame.get("result") or {}):
                self.sessions.append(frame["result"]["sessionId"])
            elif frame.get("method") == "session/request_permission" and self.chance.random() < 0.7:
                answer = {"jsonrpc": "2.0", "id": frame["id"]} | self.chance.choice(ANSWERS)
                self.client.send(*[answer] * self.chance.randint(1, 2))

    def _message(self) -> Frame:
        session = self.chance.choice(self.sessions[-6:])
        what = self.chance.choices(
            ("prompt", "cancel", "new", "load", "resume", "close", "delete", "list", "give up"),
            (8, 4, 2, 3, 1, 2, 1, 1, 1),
        )[0]
        place = {"sessionId": session, "cwd": "/", "mcpServers": []}
        match what:
            case "cancel":
                return self.client.cancel(session)
            case "give up":
                named = self.chance.choice(self.asked)["id"] if self.asked else None
                params = {"requestId": named}
                return {"jsonrpc": "2.0", "method": "$/cancel_request", "params": params}
            case "prompt":
                asked = self.client.prompt(session, self.chance.choice(WORDS))
            case "new" | "list":
                asked = self.client.request(f"session/{what}", cwd="/", mcpServers=[])
            case "load" | "resume":
                asked = self.client.request(f"session/{what}", **place)
            case _:
                asked = self.client.request(f"session/{what}", sessionId=session)
        self.asked.append(asked)
        return asked


@pytest.fixture
def start(script: str, tmp_path: Path) -> Iterator[Callable[[], AcpClient]]:
    """Makes one client after the other, on one store, whose model may run commands if allowed."""
    made: list[AcpClient] = []
    store = ("--store", str(tmp_path / "sessions.db"), "--tools", "bash")

    def make() -> AcpClient:
        made.append(AcpClient("--model", script, *store))
        return made[-1]

    try:
        yield make
    finally:
        for each in made:
            each.__exit__()


@pytest.mark.clause("J-13", "J-51", "J-71", "J-75")
@pytest.mark.parametrize("seed", range(3))
def test_a_storm_is_answered_in_full_and_leaves_nothing(
    start: Callable[[], AcpClient], nap: str, seed: int
) -> None:
    """Each request has one answer, no defect is told, and whatever is stored can be loaded."""
    client = start()
    client.open()
    storm = Storm(client, seed)
    for _ in range(WRITES):
        storm.blow()
    storm.calm()
    # An error of our own would say that the runtime is broken; the model's is wanted.
    for frame in client.frames:
        if frame.get("error", {}).get("code") == -32603:
            assert "the model is out" in str(frame)
    client.finish()
    assert processes_with(nap) == []
    check_stored(start())


@pytest.mark.clause("J-60")
@pytest.mark.parametrize("seed", range(3, 6))
def test_a_client_that_goes_in_a_storm_leaves_nothing(
    start: Callable[[], AcpClient], nap: str, seed: int
) -> None:
    """Whatever was under way, the program ends in good order and every stored log is whole."""
    client = start()
    client.open()
    storm = Storm(client, seed)
    for _ in range(WRITES // 2):
        storm.blow()
    client.finish()
    assert processes_with(nap) == []
    check_stored(start())


def check_stored(client: AcpClient) -> None:
    """Load whatever is stored, and say something in it."""
    client.send(initialize())
    for each in client.ask("session/list")["result"]["sessions"]:
        loaded = client.ask("session/load", mcpServers=[], **each)
        assert "error" not in loaded, loaded
        prompt = client.prompt(each["sessionId"], "hello")
        client.send(prompt)
        assert client.stopped(prompt) == "end_turn"
    client.finish()
