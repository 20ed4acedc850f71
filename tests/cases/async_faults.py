"""Faults in the handling of tasks and cancellations: what a careless use of asyncio does."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import pytest

from runtime import abort, asking, streaming
from runtime.agent import LiveAgent
from runtime.context import interceptors
from runtime.core import Core
from runtime.session.store import Sessions
from runtime.teardown import Teardown
from statemachine import Input, Window
from tests.mutants.planting import remove, rows

from .planting import fault, use

__all__: list[str] = []


@fault
def answer_beats_cancel(patch: pytest.MonkeyPatch) -> None:
    """What has been answered is recorded, although the turn was stopped before it was read."""
    use(remove(rows(Input.DONE, Window.STREAM, "stopped", windows_max=1)))

    async def to_the_end(body: Coroutine[Any, Any, object], _: abort.AbortAuthority) -> None:
        await body

    async def beside(child: asyncio.Task[Any], *_: object) -> object:
        return await child

    patch.setattr(streaming, "run_cooperative", to_the_end)
    patch.setattr(streaming, "is_stopped", lambda _: False)
    patch.setattr(asking, "run_beside", beside)


@fault
def owed_flush_not_kept(patch: pytest.MonkeyPatch) -> None:
    """The flush of an injection at rest is started and forgotten."""
    owe = Core.owe_flush

    def forget(core: Core, turn: int) -> None:
        owe(core, turn)
        core.owed.clear()

    patch.setattr(Core, "owe_flush", forget)


@fault
def teardown_cancelled_with_its_waiter(patch: pytest.MonkeyPatch) -> None:
    """Whoever gives up waiting for a teardown takes it away from the others."""
    patch.setattr(Teardown, "__await__", lambda self: self._end.__await__())


@fault
def cancellation_not_contained(patch: pytest.MonkeyPatch) -> None:
    """What is no `Exception` leaves a listener, and takes the announcement along."""

    def call_exposed(call: Callable[..., object], *args: object, what: str, who: str) -> None:
        del what, who
        with suppress(Exception):
            call(*args)

    patch.setattr(interceptors, "contain", call_exposed)


@fault
def wait_swallows_its_cancellation(patch: pytest.MonkeyPatch) -> None:
    """A wait for idle takes every cancellation for its own, and waits on."""
    when_idle = LiveAgent.when_idle

    async def stubborn(agent: LiveAgent) -> None:
        while True:
            try:
                await when_idle(agent)
            except asyncio.CancelledError:
                continue
            return

    patch.setattr(LiveAgent, "when_idle", stubborn)


@fault
def strangers_taken_for_nobody(patch: pytest.MonkeyPatch) -> None:
    """A cancellation of the driver by somebody else is one more failure of the step."""
    patch.setattr(abort.Cancellations, "is_strangers", lambda _: False)


@fault
def session_taken_twice(patch: pytest.MonkeyPatch) -> None:
    """A session may be taken while another agent still works on it."""

    def let_in(*_: Any) -> None:  # noqa: ANN401  # whatever it is asked
        """Refuse nobody."""

    patch.setattr(Sessions, "_refuse_taken", let_in)
