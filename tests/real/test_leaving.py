"""A process that ends itself inside a turn closes that turn first."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from runtime import open_runtime

from .leaving import PLACES, STATUS

pytestmark = pytest.mark.real

WITHIN_S = 30.0
"""Guards against a hang; nothing is asserted about how long anything takes."""
ENDS = {
    "cooperative body": "tool/result step/end disposed",
    "body": "tool/result step/end disposed",
    "cooperative model": "assistant/chunk step/end disposed",
    "model": "assistant/chunk step/end disposed",
    "interceptor": "assistant/message step/end disposed",
    "section": "turn/start user/message error",
    "listener of a record": "assistant/message step/end completed",
    "listener of running": "assistant/message step/end completed",
    "interrupted listener": "assistant/message step/end completed",
}
"""The last records of the turn: a listener has no say in it, so it lasts until it has to wait."""


async def _log_of(store: Path) -> list[str]:
    async with open_runtime(store=store) as rt:
        handle = await rt.agents.resume(session_id="s")
        return [each.data.get("ending", each.type) for each in handle.agent.session.events]


def leave(place: str, store: Path, *manner: str) -> tuple[int, list[str]]:
    """Run the program; return its exit status and the last records of its turn."""
    command = [sys.executable, "-m", "tests.real.leaving", place, str(store), *manner]
    ended = subprocess.run(command, capture_output=True, timeout=WITHIN_S, check=False)
    return ended.returncode, asyncio.run(_log_of(store))[-3:]


@pytest.mark.clause("B-167")
@pytest.mark.parametrize("place", PLACES)
def test_a_process_that_ends_itself_closes_its_turn_first(place: str, tmp_path: Path) -> None:
    """The turn is on disk with its end, and the exit status is the one that was asked for."""
    status = -signal.SIGINT if place.startswith("interrupted") else STATUS
    assert leave(place, tmp_path / "s.db") == (status, ENDS[place].split())


def test_the_test_above_finds_a_turn_that_is_torn(tmp_path: Path) -> None:
    """Only the repair closes it, and the body may have done anything."""
    status, log = leave("cooperative body", tmp_path / "s.db", "abruptly")
    assert (status, log[-1]) == (STATUS, "interrupted")
