"""The bare minimum: a worker on an `asyncio.Queue` that writes down what a turn writes down.

It checks nothing, copies nothing, can be neither cancelled nor disposed of, and tells nobody. What
an agent costs beyond it is the price of all that.
"""

import asyncio
from typing import Any

from .measure import now_ns

__all__ = ["BareAgent", "live", "process", "stop"]


class BareAgent:
    """What somebody might write in a minute: two lists and a dict."""

    def __init__(self) -> None:
        """Begin empty."""
        self.inbox: list[object] = []
        self.log: list[object] = []
        self.state: dict[str, object] = {}


async def _work(queue: "asyncio.Queue[str]", log: list[dict[str, Any]]) -> None:
    turn = 0
    while True:
        text = await queue.get()
        turn += 1
        content = [{"type": "text", "text": text}]
        source = {"kind": "user"}
        log.append(
            {"type": "turn/start", "turn": turn, "trigger": {"kind": "message", "source": source}}
        )
        log.append(
            {
                "type": "user/message",
                "turn": turn,
                "message_id": f"m{turn}",
                "content": content,
                "source": source,
            }
        )
        log.append({"type": "step/start", "turn": turn, "step": 1})
        answer = [{"type": "text", "text": "ok"}]
        log.append({"type": "assistant/message", "turn": turn, "step": 1, "content": answer})
        log.append({"type": "step/end", "turn": turn, "step": 1})
        log.append({"type": "turn/end", "turn": turn, "ending": "completed"})
        queue.task_done()


async def process(items: int) -> int:
    """Send one item after the other and wait each time until it was processed."""
    queue: asyncio.Queue[str] = asyncio.Queue()
    log: list[dict[str, Any]] = []
    worker = asyncio.create_task(_work(queue, log))
    began = now_ns()
    for _ in range(items):
        queue.put_nowait("hi")
        await queue.join()
    took = now_ns() - began
    worker.cancel()
    await asyncio.wait((worker,))
    assert len(log) == 6 * items
    return took


async def live(items: int) -> int:
    """Start a worker for each item, let it process the item, and stop it."""
    began = now_ns()
    for _ in range(items):
        queue: asyncio.Queue[str] = asyncio.Queue()
        worker = asyncio.create_task(_work(queue, []))
        queue.put_nowait("hi")
        await queue.join()
        worker.cancel()
        await asyncio.wait((worker,))
    return now_ns() - began


async def stop(items: int) -> int:
    """Cancel a task that waits for ever, and wait until it has ended; only that is timed."""
    took = 0
    for _ in range(items):
        waits = asyncio.create_task(asyncio.Event().wait())
        await asyncio.sleep(0)
        began = now_ns()
        waits.cancel()
        await asyncio.wait((waits,))
        took += now_ns() - began
    return took
