"""The same item as a turn of an agent: send to idle, a model that says `ok` at once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import runtime
from runtime import SESSION_FLUSH, Agent, Finish, FinishKind, ModelRequest, Runtime, TextDelta
from runtime.announcements import SessionNotice
from runtime.model import AbortSignalLike, Chunk, Model

from .measure import now_ns

__all__ = [
    "MODEL",
    "TYPES",
    "NoOpModel",
    "SilentModel",
    "live",
    "opened",
    "run_turns",
    "run_turns_of_one",
    "run_turns_with_flush",
    "stop",
    "take_turns",
]

MODEL: Final = "no-op"
TYPES: Final = (
    "turn/start",
    "user/message",
    "step/start",
    "assistant/chunk",
    "assistant/message",
    "step/end",
    "turn/end",
)
"""The records of one turn: the six of the bare worker, and the chunk of the model's stream."""


class NoOpModel:
    """A model that answers at once, always the same."""

    cooperative: Final = True

    async def stream(
        self,
        request: ModelRequest,  # noqa: ARG002  # it is not read
        signal: AbortSignalLike,  # noqa: ARG002  # there is nothing to abort
    ) -> AsyncIterator[Chunk]:
        """Say `ok` and stop."""
        yield TextDelta("ok")
        yield Finish(FinishKind.STOP)


class SilentModel:
    """A model that is asked and never says anything."""

    cooperative: Final = True

    def __init__(self) -> None:
        """Begin unasked."""
        self.asked = asyncio.Event()

    async def stream(
        self,
        request: ModelRequest,  # noqa: ARG002  # it is not read
        signal: AbortSignalLike,  # noqa: ARG002  # it is cancelled, and so need not ask
    ) -> AsyncIterator[Chunk]:
        """Wait for ever."""
        self.asked.set()
        await asyncio.Event().wait()
        yield TextDelta("never")


@asynccontextmanager
async def opened(model: Model | None = None) -> AsyncIterator[Runtime]:
    """Open a runtime with one model, the no-op unless told otherwise."""
    models = {MODEL: NoOpModel() if model is None else model}
    async with runtime.open_runtime(models=models, default_model=MODEL) as opening:
        yield opening


async def take_turns(agent: Agent, items: int) -> int:
    """Send one message after the other and wait each time until the agent is idle."""
    began = now_ns()
    for _ in range(items):
        agent.send("hi")
        await agent.when_idle()
    return now_ns() - began


async def run_turns_of_one(opening: Runtime, items: int) -> int:
    """Run the turns of a new agent, and see that each wrote its records."""
    async with opening.agents.create() as agent:
        took = await take_turns(agent, items)
        assert tuple(record.type for record in agent.session.events) == TYPES * items
    return took


async def run_turns(items: int) -> int:
    """Run turns; nobody makes them durable, so nobody waits for a flush."""
    async with opened() as opening:
        return await run_turns_of_one(opening, items)


async def run_turns_with_flush(items: int) -> int:
    """Run turns with one listener that is awaited after each of them and does nothing."""
    flushed = 0

    async def flush(_: SessionNotice) -> None:
        nonlocal flushed
        flushed += 1

    async with opened() as opening:
        opening.on(SESSION_FLUSH, flush)
        took = await run_turns_of_one(opening, items)
        assert flushed == items
        return took


async def live(items: int) -> int:
    """Create an agent for each item, let it take one turn, and dispose of it."""
    async with opened() as opening:
        began = now_ns()
        for _ in range(items):
            handle = opening.agents.create()
            handle.agent.send("hi")
            await handle.agent.when_idle()
            await handle.dispose()
        took = now_ns() - began
        assert opening.agents.list() == ()
    return took


async def stop(items: int) -> int:
    """Cancel a turn whose model is silent and wait until the agent is idle; only that is timed."""
    took = 0
    model = SilentModel()
    async with opened(model) as opening, opening.agents.create() as agent:
        for _ in range(items):
            agent.send("hi")
            await model.asked.wait()
            model.asked.clear()
            began = now_ns()
            agent.cancel()
            await agent.when_idle()
            took += now_ns() - began
        endings = [each.data["ending"] for each in agent.session.events if each.type == "turn/end"]
        assert endings == ["aborted"] * items
    return took
