"""Faults around stored sessions: a careless way to go on."""
# faults are planted inside

from typing import Any

import pytest

from runtime import AgentHandle, MemoryBackend, roster
from runtime.roster import Roster
from runtime.session import journal
from runtime.session.content import text_of
from runtime.session.store import Sessions

from .planting import fault

__all__: list[str] = []


def _nothing(*_: object) -> None:
    """Do nothing."""


@fault
def the_last_prompt_comes_back(patch: pytest.MonkeyPatch) -> None:
    """A resume sends again what was asked last."""
    resume = Roster.resume

    async def eager(roster: Roster, *given: Any) -> AgentHandle:  # noqa: ANN401  # passed on
        handle = await resume(roster, *given)
        asked = [each for each in handle.agent.session.events if each.type == "user/message"]
        handle.agent.send(text_of(asked[-1].data["content"]))
        return handle

    patch.setattr(Roster, "resume", eager)


@fault
def an_interrupted_turn_is_left_open(patch: pytest.MonkeyPatch) -> None:
    """What a crash left open is taken as it is."""
    patch.setattr(journal, "repair", lambda _: ())


@fault
def nothing_is_reserved(patch: pytest.MonkeyPatch) -> None:
    """Nobody asks whether a session is being used, or was asked for."""
    patch.setattr(Roster, "_reserve", lambda *_: _nothing)
    patch.setattr(Sessions, "reserve", lambda *_: _nothing)
    patch.setattr(Sessions, "_refuse_taken", _nothing)
    patch.setattr(MemoryBackend, "acquire", _nothing)


@fault
def detached_before_it_is_stored(patch: pytest.MonkeyPatch) -> None:
    """A teardown waits neither for the driver nor for what is still to be stored."""

    async def at_once(*_: object) -> tuple[str, ...]:
        return ()

    patch.setattr(roster, "_stop_driver", at_once)
    patch.setattr(roster, "_flush_once_more", at_once)
    patch.setattr(roster, "_release_stored", at_once)
