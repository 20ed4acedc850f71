"""What is left when the bridge ends, and what it answers from then on."""

from typing import Any

import pytest

from runtime import BASH, SESSION_ENDED

from .conftest import Connected


class _StubbornJobs:
    """Stands in for an executor whose jobs of one session cannot be ended."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id

    async def end_session(self, session_id: str) -> tuple[object, ...]:
        """Fail for that session, and end nothing for the others."""
        if session_id == self.session_id:
            raise OSError("its jobs do not end")
        return ()


@pytest.mark.clause("J-39")
@pytest.mark.parametrize("failing", range(3))
def test_a_session_that_cannot_be_ended_is_logged_and_the_others_end(
    connected: Connected, caplog: pytest.LogCaptureFixture, failing: int
) -> None:
    """Whichever of them it is, and the end of the bridge resolves."""
    sessions = [connected.new() for _ in range(3)]
    jobs: Any = _StubbornJobs(sessions[failing])
    connected.runtime.context.provide(BASH, jobs)
    ended: list[str] = []
    connected.runtime.on(SESSION_ENDED, lambda notice: ended.append(notice.session_id))
    end = connected.bridge.aclose()
    connected.go_on()
    assert end.is_done
    others = [each for each in sessions if each != sessions[failing]]
    assert sorted(ended) == sorted(others)
    assert connected.runtime.agents.list() == ()
    (line,) = [each for each in caplog.messages if "was not ended" in each]
    assert sessions[failing] in line
    assert "its jobs do not end" in line


@pytest.mark.clause("J-35", "J-02")
def test_a_resume_is_told_of_the_end_and_authentication_still_succeeds(
    connected: Connected,
) -> None:
    """What needs no session needs no open bridge, either."""
    session = connected.new()
    connected.bridge.aclose()
    connected.go_on()
    refused = connected.ask("session/resume", cwd="/", sessionId=session, mcpServers=[])
    assert refused["error"]["code"] == -32603
    assert "closed" in refused["error"]["data"]["details"]
    assert connected.ask("authenticate", methodId="any")["result"] == {}
