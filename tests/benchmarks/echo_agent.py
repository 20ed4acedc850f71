"""The baseline of the bridge: an agent on the protocol's SDK that repeats what it is told.

It runs on the SDK's own standard input and output, keeps of a session nothing but its id, records
nothing, runs no turn, and cannot be cancelled. What the bridge costs beyond it is the price of all
that.
"""

import asyncio
from typing import Any, cast
from uuid import uuid4

from acp import PROTOCOL_VERSION, Agent, Client, run_agent, update_agent_message_text
from acp.schema import (
    CloseSessionResponse,
    InitializeResponse,
    NewSessionResponse,
    PromptResponse,
)

__all__: list[str] = []


class _Echo:
    def __init__(self) -> None:
        self._sessions: set[str] = set()

    def on_connect(self, client: Client) -> None:
        self._client = client

    async def initialize(self, **_: object) -> InitializeResponse:
        return InitializeResponse(protocol_version=PROTOCOL_VERSION)

    async def new_session(self, **_: object) -> NewSessionResponse:
        session_id = uuid4().hex
        self._sessions.add(session_id)
        return NewSessionResponse(session_id=session_id)

    async def close_session(self, session_id: str, **_: object) -> CloseSessionResponse:
        self._sessions.remove(session_id)
        return CloseSessionResponse()

    async def prompt(self, prompt: list[Any], session_id: str, **_: object) -> PromptResponse:
        for block in prompt:
            await self._client.session_update(session_id, update_agent_message_text(block.text))
        return PromptResponse(stop_reason="end_turn")


if __name__ == "__main__":
    # Without this the SDK does not close sessions.
    asyncio.run(run_agent(cast("Agent", _Echo()), use_unstable_protocol=True))
