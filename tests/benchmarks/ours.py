"""The same item as a turn of an agent: send to idle, a model that says `ok` at once."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import runtime
from runtime import SESSION_FLUSH, Finish, FinishKind, ModelRequest, Runtime, TextDelta
from runtime.announcements import SessionNotice
from runtime.model import AbortSignalLike, Chunk

from .measure import now_ns

__all__ = ["MODEL", "TYPES", "NoOpModel", "opened", "run_turns", "run_turns_with_flush"]

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
        request: ModelRequest,  # noqa: ARG002 - it is not read
        signal: AbortSignalLike,  # noqa: ARG002 - there is nothing to abort
    ) -> AsyncIterator[Chunk]:
        """Say `ok` and stop."""
        yield TextDelta("ok")
        yield Finish(FinishKind.STOP)


@asynccontextmanager
async def opened() -> AsyncIterator[Runtime]:
    """Open a runtime whose only model is the no-op."""
    async with runtime.open_runtime(models={MODEL: NoOpModel()}, default_model=MODEL) as opening:
        yield opening


async def _run_turns(opening: Runtime, items: int) -> int:
    async with opening.agents.create() as agent:
        began = now_ns()
        for _ in range(items):
            agent.send("hi")
            await agent.when_idle()
        took = now_ns() - began
        assert tuple(record.type for record in agent.session.events) == TYPES * items
    return took


async def run_turns(items: int) -> int:
    """Run turns; nobody makes them durable, so nobody waits for a flush."""
    async with opened() as opening:
        return await _run_turns(opening, items)


async def run_turns_with_flush(items: int) -> int:
    """Run turns with one listener that is awaited after each of them and does nothing."""
    flushed = 0

    async def flush(_: SessionNotice) -> None:
        nonlocal flushed
        flushed += 1

    async with opened() as opening:
        opening.on(SESSION_FLUSH, flush)
        took = await _run_turns(opening, items)
        assert flushed == items
        return took
