"""A client and a runtime on the stage, connected by memory."""

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from attrs import define, field

from runtime import Runtime, open_runtime
from runtime.acp.bridge import Bridge
from runtime.acp.frames import Frame
from runtime.acp.serving import serve
from runtime.limits import Limits
from runtime.session.memory import MemoryBackend
from runtime.subject import StageClock, StageIdentifiers, StageModel
from statemachine.conformance.stage.stage import Stage
from tests.conformance.acp_clients import MemoryWire


@define(eq=False)
class _AtOnce:
    async def run(self, call: Any) -> Any:  # noqa: ANN401  # whatever it is
        return call()


@define(eq=False)
class Connected:
    """A runtime and one client."""

    stage: Stage
    runtime: Runtime = field(init=False)
    wire: MemoryWire = field(init=False, factory=MemoryWire)
    bridge: Bridge = field(init=False)
    _opening: AbstractAsyncContextManager[Runtime] = field(init=False)
    _last_id: int = 0

    def open(self) -> None:
        """Open the runtime and connect."""
        self._opening = open_runtime(
            store=MemoryBackend(),
            models={"stage": StageModel(self.stage)},
            default_model="stage",
            clock=StageClock(self.stage),
            identifiers=StageIdentifiers(),
            blocking=_AtOnce(),
        )
        self.runtime = self.stage.complete(self._opening.__aenter__())
        made: list[Bridge] = []

        def make(put: Callable[[Frame], None], limits: Limits) -> Bridge:
            made.append(Bridge(put, limits))
            return made[0]

        self.stage.spawn(serve(self.runtime, self.wire, make_bridge=make), "connection")
        self.stage.run_until_quiet()
        (self.bridge,) = made

    def say(self, method: str, **params: object) -> int:
        """Send a request, and return its id."""
        self._last_id += 1
        frame = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}
        self.wire.say(frame)
        return self._last_id

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        """Send a request, let everything happen, and return its response."""
        number = self.say(method, **params)
        self.go_on()
        return self.answer(number)

    def answer(self, number: int) -> dict[str, Any]:
        """Return the response to a request."""
        (found,) = (f for f in self.wire.written if f.get("id") == number and "method" not in f)
        return found

    def new(self) -> str:
        """Open a session."""
        return str(self.ask("session/new", cwd="/", mcpServers=[])["result"]["sessionId"])

    def prompt(self, session: str, text: str) -> int:
        """Send a prompt."""
        block = {"type": "text", "text": text}
        return self.say("session/prompt", sessionId=session, prompt=[block])

    def go_on(self) -> None:
        """Let everything happen that can."""
        while self.stage.move():
            pass

    def close(self) -> None:
        """Go, and close the runtime."""
        self.wire.end()
        self.stage.settle()
        self.stage.complete(self._opening.__aexit__(None, None, None))


@pytest.fixture
def connected(stage: Stage) -> Iterator[Connected]:
    """A connected client; at its end it goes, and nothing of it is left."""
    made = Connected(stage)
    made.open()
    yield made
    made.wire.end()
    stage.settle()
    assert made.runtime.agents.list() == ()
    assert made.runtime.sessions.list() == ()
    made.close()
