"""The answer of a model: asked once, recorded piece by piece, given up when the turn is to stop."""

from functools import partial
from typing import Final

from statemachine import Input

from .abort import run_cooperative
from .asking import beside, is_stopped
from .core import Core
from .errors import ModelError
from .model import Finish, FinishKind, assemble, chunk_to_json, is_cooperative
from .ports import yield_once

__all__ = ["CHUNKS_AT_ONCE", "answer"]

CHUNKS_AT_ONCE: Final = 64
"""After so many chunks everybody else has a turn on the loop, also if the stream never waits."""


async def answer(core: Core) -> Input:
    """Let the model answer the request of the turn, and put its reply together.

    Raises:
        CutError: the turn is to stop.
        ModelError: the model failed, or aborted although nobody had asked it to.

    Clauses: B-17 B-18 B-19 B-20 B-21 B-59 B-190
    """
    turn = core.turn
    if is_cooperative(turn.model):
        await run_cooperative(_consume(core), turn.authority)
    else:
        await beside(core, partial(_consume, core), "the model's stream")
    # A stop that the stream did not notice is noticed by the machine: the reply is not recorded.
    turn.reply = reply = assemble(turn.chunks)
    finish = reply.finish
    if finish.kind is FinishKind.ERROR:
        raise ModelError(finish.message or "the model failed without a word", code=finish.code)
    if finish.kind is FinishKind.ABORTED and not is_stopped(core):
        text = finish.message or "the model aborted although nobody had cancelled the turn"
        raise ModelError(text, code=finish.code or "aborted")
    return Input.TRUNCATED if finish.kind is FinishKind.MAX_TOKENS else Input.DONE


async def _consume(core: Core) -> None:
    turn = core.turn
    assert turn.model is not None
    assert turn.request is not None
    answer = turn.model.stream(turn.request, turn.authority.signal)
    try:
        async for chunk in answer:
            # Read before every append: what a stopped stream still says is nobody's (B-18).
            if is_stopped(core):
                return
            turn.chunks.append(chunk)
            if isinstance(chunk, Finish):
                return
            data = {"turn": turn.number, "step": turn.step, "chunk": chunk_to_json(chunk)}
            turn.chunk_seqs.append(core.log.append("assistant/chunk", data).seq)
            core.outbox.deliver()
            if not len(turn.chunks) % CHUNKS_AT_ONCE:
                await yield_once()
    finally:
        # An iterator need not be a generator; one that is has clean-up to do.
        close = getattr(answer, "aclose", None)
        if close is not None:
            await close()
