"""Faults planted in the bridge, beside those of its suite: its world has to tell each of them."""

from collections.abc import Callable
from typing import Any, Final

import pytest

from runtime.acp.bridge import Bridge
from runtime.acp.sessions import OpenSession
from runtime.acp.transport import LineTransport
from runtime.ports import yield_once
from runtime.turn import AcceptedMessage, Fate

__all__ = ["PLANTS", "Plant"]

Frame = dict[str, Any]
Plant = Callable[[pytest.MonkeyPatch], None]


def _an_answer_is_written_twice(patch: pytest.MonkeyPatch) -> None:
    async def send(self: LineTransport, message: Frame) -> None:
        self.put(message)
        if "stopReason" in (message.get("result") or {}):
            self.put(message)

    patch.setattr(LineTransport, "send", send)


def _a_close_forgets_the_prompts_that_wait(patch: pytest.MonkeyPatch) -> None:
    plain = AcceptedMessage.complete

    def complete(self: AcceptedMessage, fate: Fate) -> None:
        if fate.reason != "disposed":
            plain(self, fate)

    patch.setattr(AcceptedMessage, "complete", complete)


def _a_load_takes_prompts_before_its_answer(patch: pytest.MonkeyPatch) -> None:
    plain = OpenSession.replay

    async def load_session(self: Bridge, cwd: str, session_id: str, **__: object) -> Frame:
        session = await self._load(cwd, session_id, None)
        for _ in range(20):
            await yield_once()
        await plain(session, self.drain)
        return {}

    patch.setattr(Bridge, "load_session", load_session)


def _a_cancel_reaches_every_session(patch: pytest.MonkeyPatch) -> None:
    async def cancel(self: Bridge, **_: object) -> None:
        for session in self._open.values():
            session.cancel()

    patch.setattr(Bridge, "cancel", cancel)


def _a_cancel_changes_what_a_turn_has_decided(patch: pytest.MonkeyPatch) -> None:
    plain = OpenSession.cancel

    def cancel(self: OpenSession) -> None:
        for prompt in self._prompts:
            prompt.is_cancelled = True
        plain(self)

    patch.setattr(OpenSession, "cancel", cancel)


PLANTS: Final[dict[Plant, str]] = {
    _an_answer_is_written_twice: "INV-15",
    _a_close_forgets_the_prompts_that_wait: "INV-15",
    _a_load_takes_prompts_before_its_answer: "INV-14",
    _a_cancel_reaches_every_session: "INV-15",
    _a_cancel_changes_what_a_turn_has_decided: "INV-15",
}
