"""Found by the world of connections: two live agents under one id, behind a resume."""

import pytest

from runtime import SESSION_CREATED, DuplicateIdError, SessionNotice
from tests.unit.stored import StoredScene


@pytest.mark.clause("A-48", "F-05")
def test_no_listener_takes_the_id_of_an_agent_that_is_being_resumed() -> None:
    """The id belongs to the resume until the agent is registered under it."""
    with StoredScene() as scene:
        scene.ask("A")
        scene.settle()
    with StoredScene(scene.backend, agents=()) as scene:
        refused: list[str] = []

        def take(notice: SessionNotice) -> None:
            if notice.session.id == "a":
                with pytest.raises(DuplicateIdError, match="'a' refused") as found:
                    scene.rt.agents.create(agent_id="a", session_id="t")
                refused.append(str(found.value))

        scene.rt.on(SESSION_CREATED, take)
        resumed = scene.start(scene.rt.agents.resume(session_id="a"))
        scene.settle()
        assert len(refused) == 1
        assert scene.rt.agents.list() == (resumed.result().agent,)
