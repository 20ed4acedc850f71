"""The model of a case: it answers each prompt as the case says, when the schedule says so."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Final

from attrs import define, field

from runtime import ModelError, ModelRequest, TextDelta, ToolCallDelta
from runtime.model import AbortSignalLike, Chunk, last_user_text
from statemachine.conformance.stage.stage import Stage

__all__ = ["HELD", "CaseModel"]

HELD: Final = ("held",)
"""The model says nothing about this prompt until the case lets it."""


@define(eq=False, kw_only=True)
class CaseModel:
    """A model that answers each prompt as its case says.

    `answers` maps a prompt, or `A in step 1`, to the outcomes of its gates, one after the other;
    every `ok` is a piece of text, `error` raises, `call` asks for the tool `nothing`. A prompt in
    `stubborn` swallows every cancellation, and its gate waits on.
    """

    stage: Stage
    cooperative: bool
    answers: Mapping[str, tuple[str, ...]]
    stubborn: frozenset[str]
    on_call: Callable[[str, str], None]
    """Told of every call: the prompt and the agent."""
    asked: list[ModelRequest] = field(factory=list)
    held: dict[str, asyncio.Future[None]] = field(factory=dict)
    swallowed: int = 0
    is_over: bool = False
    """The run was judged: nobody is answered any more, and every cancellation passes."""

    async def stream(self, request: ModelRequest, _: AbortSignalLike) -> AsyncIterator[Chunk]:
        """Answer at the pace of the schedule."""
        if self.is_over:
            raise ModelError("the run is over")
        prompt = last_user_text(request.messages)
        self.asked.append(request)
        self.on_call(prompt, request.agent_id)
        default = self.answers.get(prompt, ("ok",))
        for number, outcome in enumerate(
            self.answers.get(f"{prompt} in step {request.step}", default), start=1
        ):
            await self._until(prompt, outcome)
            if outcome == "error":
                raise ModelError(f"no answer to {prompt}")
            if outcome == "call":
                call_id = f"call-{request.turn}-{request.step}-{number}"
                yield ToolCallDelta(call_id, "nothing", "{}")
            else:
                yield TextDelta(f"<{prompt}>")

    async def _until(self, prompt: str, outcome: str) -> None:
        while True:
            try:
                if outcome in HELD:
                    await self.held.setdefault(prompt, self.stage.loop.create_future())
                else:
                    await self.stage.gate("model", (outcome,), value=prompt)
            except asyncio.CancelledError:
                if self.is_over or prompt not in self.stubborn:
                    raise
                self.swallowed += 1
                if self.held.get(prompt) is not None:
                    self.held[prompt] = self.stage.loop.create_future()
            else:
                return
