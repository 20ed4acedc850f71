"""Agents of the configuration: fresh, resumed, or one of the two."""

from collections.abc import Callable
from typing import Any

import pytest

from runtime import (
    AGENT_CREATED,
    AgentOptions,
    CallerError,
    ConfiguredAgent,
    FiberState,
    MemoryBackend,
)
from tests.unit.stored import StoredScene, store_of


@pytest.mark.clause("F-25", "F-26", "F-28")
@pytest.mark.parametrize("fields", [{}, {"resume": ""}])
def test_without_a_session_to_resume_every_run_has_a_session_of_its_own(
    fields: dict[str, str],
) -> None:
    """On one store no run meets the session of another."""
    configured = ConfiguredAgent(id="c", **fields)  # type: ignore[arg-type]  # strings
    with StoredScene(agents=(), configured=(configured,)) as scene:
        for run in (1, 2):
            agent = scene.rt.agents.get("c")
            assert agent is not None
            assert agent.session.id == f"c-session-id-{run}"
            agent.send("A")
            scene.settle()
            scene.wait_for(scene.rt.driver.restart())
        assert [len(scene.stored(f"c-session-id-{run}")) for run in (1, 2)] == [8, 8]


@pytest.mark.clause("F-27", "F-25")
def test_a_configured_agent_goes_on_with_its_session() -> None:
    """It is there when the runtime has opened, and ends with the plugin that drives agents."""
    configured = ConfiguredAgent(id="c", resume="a")
    with StoredScene(store_of("A"), agents=(), configured=(configured,)) as scene:
        agent = scene.rt.agents.get("c")
        assert agent is not None
        assert [each.text for each in agent.session.messages()] == ["A", "12"]
        scene.wait_for(scene.rt.driver.dispose())
        assert agent.status == "disposed"
        assert scene.backend.disk.writers == {}


@pytest.mark.clause("F-25", "F-27")
@pytest.mark.parametrize("reason", ["unknown", "damaged", "busy", "no store", "twice"])
def test_a_configured_agent_that_cannot_be_resumed_is_a_line_in_the_log(
    reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The runtime runs, and the other agents are there."""
    backend = store_of("A")
    configured = [ConfiguredAgent(id="c", resume="a"), ConfiguredAgent(id="d")]
    match reason:
        case "unknown":
            configured[0] = ConfiguredAgent(id="c", resume="nobody")
        case "damaged":
            del backend.disk.records["a"][2]
        case "busy":
            MemoryBackend(backend.disk).acquire("a")
        case "twice":
            configured.insert(0, ConfiguredAgent(id="b", resume="a"))
        case _:
            pass
    is_kept = reason != "no store"
    with StoredScene(backend, agents=(), configured=configured, is_kept=is_kept) as scene:
        assert scene.rt.agents.get("c") is None
        assert scene.rt.agents.get("d") is not None
        lines = [each for each in caplog.messages if "agent c of the configuration" in each]
        assert len(lines) == 1
        assert "refused" in lines[0]
        scene.rt.agents.create(agent_id="c", session_id="free").dispose()


@pytest.mark.clause("F-29")
def test_an_exact_session_is_created_once_and_resumed_ever_after() -> None:
    """Across runs, and across the reload of the plugin that drives agents."""
    backend = MemoryBackend()
    configured = ConfiguredAgent(id="c", session_id="mine")
    for turns in (1, 2):
        with StoredScene(backend, agents=(), configured=(configured,)) as scene:
            agent = scene.rt.agents.get("c")
            assert agent is not None
            agent.send("A")
            scene.settle()
            assert len(agent.session.events) == 8 * turns
    with StoredScene(backend, agents=(), configured=(configured,)) as scene:
        scene.wait_for(scene.rt.driver.restart())
        scene.settle()
        again = scene.rt.agents.get("c")
        assert again is not None
        assert again.status == "idle"
        assert len(again.session.events) == 16


@pytest.mark.clause("F-29")
def test_an_exact_session_without_a_store_is_created() -> None:
    """It ends with the runtime, as everything does there."""
    configured = ConfiguredAgent(id="c", session_id="mine")
    with StoredScene(agents=(), configured=(configured,), is_kept=False) as scene:
        agent = scene.rt.agents.get("c")
        assert agent is not None
        assert agent.session.id == "mine"


@pytest.mark.clause("F-29", "F-51")
def test_an_exact_session_that_is_damaged_is_not_replaced(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Only one that is not stored is created."""
    backend = store_of("A")
    del backend.disk.records["a"][2]
    configured = ConfiguredAgent(id="c", session_id="a")
    with StoredScene(backend, agents=(), configured=(configured,)) as scene:
        assert scene.rt.agents.list() == ()
        assert any("DamagedSessionError" in each for each in caplog.messages)


ENDS: dict[str, Callable[[StoredScene], Any]] = {
    "driver": lambda scene: scene.rt.driver.dispose(),
    "runtime": lambda scene: scene.rt.aclose(),
    "root": lambda scene: scene.rt.context.fiber.dispose(),
}


@pytest.mark.clause("F-30", "F-52")
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("configured", [{"resume": "a"}, {"session_id": "a"}])
def test_an_unload_while_a_configured_agent_is_being_resumed_publishes_nothing(
    end: str, configured: dict[str, str]
) -> None:
    """It does not wait for the load either, and the lease is given back."""
    agents = (ConfiguredAgent(id="c", **configured),)  # type: ignore[arg-type]  # strings
    with StoredScene(store_of("A"), agents=(), configured=agents) as scene:
        created: list[object] = []
        scene.hold("disk")
        scene.disk.calls.clear()
        restart = scene.start(scene.rt.driver.restart())
        scene.open_until("load")
        assert restart.done()
        scene.rt.on(AGENT_CREATED, created.append)
        ending = ENDS[end](scene)
        scene.quiet()
        assert scene.rt.driver.state is FiberState.DISPOSED
        scene.release()
        scene.settle()
        assert ending.is_done
        assert created == []
        assert scene.rt.agents.list() == ()
        assert scene.backend.disk.writers == {}


@pytest.mark.clause("F-27", "F-30")
def test_a_runtime_that_is_given_up_while_it_opens_leaves_nothing() -> None:
    """Its block is not entered before the agent is there; the load is given up with it."""
    configured = (ConfiguredAgent(id="c", resume="a"),)
    scene = StoredScene(store_of("A"), agents=(), configured=configured)
    with scene.stage:
        scene.hold("disk")
        opening = scene.start(scene.opening())
        scene.open_until("load")
        opening.cancel()
        scene.quiet()
        scene.release()
        assert opening.cancelled()
        assert scene.backend.disk.writers == {}
        assert scene.disk.calls == ["open", "load", "release", "close"]


@pytest.mark.clause("F-54", "F-28")
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"id": ""}, "id of a configured agent is ''"),
        ({"id": None}, "id of a configured agent is None"),
        ({"id": "c", "session_id": ""}, "session_id of a configured agent is ''"),
        ({"id": "c", "resume": 7}, "resume of a configured agent is 7"),
        ({"id": "c", "resume": "s", "session_id": "t"}, "leave resume empty"),
    ],
)
def test_a_configured_agent_that_makes_no_sense_is_refused(
    fields: dict[str, Any], said: str
) -> None:
    """When it is configured, before anything runs."""
    with pytest.raises(CallerError, match=said):
        ConfiguredAgent(**fields)


@pytest.mark.clause("F-25", "F-27", "F-29")
@pytest.mark.parametrize("fields", [{}, {"resume": "a"}, {"session_id": "new"}])
def test_a_configured_agent_has_the_options_that_it_was_configured_with(
    fields: dict[str, str],
) -> None:
    """Fresh, resumed or one of the two; its own model is not replaced by the default one."""
    options = AgentOptions(model="other", system_prompt="be short")
    configured = ConfiguredAgent(id="c", options=options, **fields)
    with StoredScene(store_of("A"), agents=(), configured=(configured,)) as scene:
        agent = scene.rt.agents.get("c")
        assert agent is not None
        assert agent.options == options
