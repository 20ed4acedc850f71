"""A program that ends itself in the middle of a turn.

`python -m tests.real.leaving PLACE STORE [abruptly]`; abruptly, the end tears the work in hand.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any, Final, NoReturn

from runtime import (
    AGENT_STATUS,
    SESSION_EVENT,
    ModelRequest,
    Runtime,
    TextDelta,
    Tool,
    ToolCallDelta,
    abort,
    containment,
    driver,
    open_runtime,
    seams,
)
from runtime.model import AbortSignalLike, Chunk

__all__ = ["PLACES", "STATUS"]

STATUS: Final = 7
"""What the process exits with, if it is not interrupted."""


def leave(*_: object) -> NoReturn:
    """End the process."""
    sys.exit(STATUS)


def interrupt(*_: object) -> NoReturn:
    """Be interrupted, as by a second Ctrl-C."""
    raise KeyboardInterrupt


class LeavingModel:
    """A model that says one word, and then says no more, calls a tool or ends the process."""

    def __init__(
        self, *, cooperative: bool = True, leaves: bool = False, calls: bool = False
    ) -> None:
        self.cooperative = cooperative
        self.leaves = leaves
        self.calls = calls

    async def stream(self, _: ModelRequest, _signal: AbortSignalLike) -> AsyncIterator[Chunk]:
        """Say a word."""
        yield TextDelta("a word")
        if self.leaves:
            leave()
        if self.calls:
            yield ToolCallDelta("k1", "tool", "{}")


def _tool(*, cooperative: bool) -> Callable[[Runtime], object]:
    tool = Tool(
        name="tool",
        description="Ends the process.",
        parameters={"type": "object"},
        execute=leave,
        cooperative=cooperative,
    )
    return lambda rt: rt.tools.register(rt.context, tool)


def _listener(announcement: Any, listener: Callable[[Any], object]) -> Callable[[Runtime], object]:  # noqa: ANN401  # any announcement
    return lambda rt: rt.on(announcement, listener)


def _on_record(type_name: str, act: Callable[[], object]) -> Callable[[Any], object]:
    return lambda notice: notice.record.type == type_name and act()


PLACES: Final[dict[str, tuple[LeavingModel, Callable[[Runtime], object]]]] = {
    "cooperative body": (LeavingModel(calls=True), _tool(cooperative=True)),
    "body": (LeavingModel(calls=True), _tool(cooperative=False)),
    "cooperative model": (LeavingModel(leaves=True), id),
    "model": (LeavingModel(leaves=True, cooperative=False), id),
    "interceptor": (LeavingModel(), lambda rt: rt.context.on(seams.STEP_RESULT, leave)),
    "section": (LeavingModel(), lambda rt: rt.system_prompt.add(rt.context, "s", leave)),
    "listener of a record": (
        LeavingModel(),
        _listener(SESSION_EVENT, _on_record("assistant/message", leave)),
    ),
    "listener of running": (
        LeavingModel(),
        _listener(AGENT_STATUS, lambda notice: notice.status.value == "running" and leave()),
    ),
    "interrupted listener": (
        LeavingModel(),
        _listener(SESSION_EVENT, _on_record("assistant/chunk", interrupt)),
    ),
}
"""Where the process ends: the model, and what is set up beside it."""


def _raise(error: BaseException) -> NoReturn:
    raise error


async def main(place: str, store: str, manner: str = "") -> None:
    """Run one turn in which the process ends."""
    if manner == "abruptly":
        for module in (abort, containment, driver):
            module.leave_by_the_loop = _raise  # type: ignore[attr-defined]  # the fault
    model, set_up = PLACES[place]
    models = {"m": model}
    async with open_runtime(store=store, models=models, default_model="m") as rt:
        set_up(rt)
        agent = rt.agents.create(session_id="s").agent
        agent.send("hello")
        await agent.when_idle()
        # Whatever the turn came to, the end of the process is on its way.
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
