"""Going on with a stored session: what comes back, and who comes first."""

from collections.abc import Awaitable, Callable

import attrs
import pytest

from runtime import (
    AGENT_SESSION_START,
    AGENT_STATUS,
    SESSION_EVENT,
    AgentHandle,
    AgentOptions,
    DuplicateIdError,
    MemoryBackend,
    SessionStarted,
    Status,
    StorageError,
    StoredSession,
)
from runtime.session.derive import messages
from tests.unit.stored import StoredScene, store_of
from tests.unit.test_registry import CREATION


@pytest.mark.clause("F-01", "F-12", "D-31", "E-35", "E-49")
@pytest.mark.seed("SEED-29")
def test_a_resumed_session_is_the_session() -> None:
    """Header, records, history and numbers go on; nothing that is stored is written again."""
    seed_of = store_of("A")
    seed = seed_of.disk.records["a"]
    backend = store_of("B", cwd="/home", seed=seed, parent="first")
    before = backend.read("a")
    with StoredScene(backend, agents=()) as scene:
        agent = scene.resume()
        assert scene.disk.calls == ["open", "load"]
        assert agent.session.header == before.header
        assert agent.session.header.seed_length == len(seed) == 8
        assert tuple(agent.session.events) == before.records
        assert agent.session.messages() == messages(before.records)
        assert (agent.id, agent.session.id, agent.status) == ("a", "a", Status.IDLE)
        scene.ask("C")
        scene.settle()
        assert scene.records()[16].data["turn"] == 3
        assert scene.stored() == scene.records()
        assert tuple(scene.stored()[:16]) == before.records
        assert set(scene.disk.calls[2:]) == {"write"}


@pytest.mark.clause("D-37", "F-13", "F-14", "D-36", "A-39")
def test_the_order_of_a_resume_is_that_of_a_creation() -> None:
    """The session-start says which it was; a listener finds the agent and may inject."""
    seen: list[tuple[str, bool, bool]] = []

    def look(name: str) -> Callable[[object], None]:
        def listener(_: object) -> None:
            rt = scene.rt
            seen.append((name, rt.sessions.get("a") is not None, rt.agents.get("a") is not None))

        return listener

    def started(notice: SessionStarted) -> None:
        seen.append((notice.source, True, True))
        notice.agent.inject("welcome back")
        raise RuntimeError("contained")

    with StoredScene(store_of("A"), agents=()) as scene:
        for announcement in CREATION:
            scene.rt.on(announcement, look(announcement.name))
        scene.rt.on(AGENT_STATUS, look("a status"))
        scene.rt.on(AGENT_SESSION_START, started)
        agent = scene.resume()
        assert seen == [
            ("session/created", True, False),
            ("agent/created", True, True),
            ("agent/session-start", True, True),
            ("resume", True, True),
        ]
        scene.settle()
        assert [each.type for each in agent.session.events[8:]] == [
            "turn/start",
            "context/message",
            "turn/end",
        ]


@pytest.mark.clause("F-12", "A-47")
def test_the_agent_may_have_another_name_and_other_options() -> None:
    """The live id of the session is the stored one."""
    with StoredScene(store_of("A"), agents=()) as scene:
        options = AgentOptions(model="stage", system_prompt="be short")
        handle = scene.wait_for(
            scene.rt.agents.resume(session_id="a", agent_id="b", options=options)
        )
        assert (handle.agent.id, handle.agent.session.id) == ("b", "a")
        assert handle.agent.options == options


@pytest.mark.clause("F-22", "E-33", "E-49")
def test_a_session_can_be_resumed_as_soon_as_its_agent_is_gone() -> None:
    """In the same runtime, again and again."""
    with StoredScene() as scene:
        for turns in (1, 2, 3):
            scene.ask("A")
            scene.settle()
            scene.wait_for(scene.handle().dispose())
            scene.resume()
            assert len(scene.records()) == 8 * turns


@pytest.mark.clause("F-22", "E-33")
@pytest.mark.parametrize("is_written", [True, False])
def test_a_resume_may_come_the_moment_the_session_is_free(is_written: bool) -> None:  # noqa: FBT001  # a parametrised flag
    """It stands behind the last write and the return of the lease, and waits for them."""
    with StoredScene() as scene:
        scene.ask("A")
        scene.settle()
        if not is_written:
            scene.hold("disk")
            scene.a.inject("late")
        scene.handle().dispose()
        while scene.rt.sessions.get("a") is not None:
            assert scene.stage.move()
        resuming = scene.stage.spawn(_awaited(scene.rt.agents.resume(session_id="a")), "resuming")
        scene.release()
        scene.settle()
        assert len(resuming.result().agent.session.events) == (8 if is_written else 11)


async def _awaited(resuming: Awaitable[AgentHandle]) -> AgentHandle:
    return await resuming


@pytest.mark.clause("F-50")
def test_what_was_queued_does_not_come_back() -> None:
    """And nothing fires unasked."""
    with StoredScene() as scene:
        scene.ask("A")
        scene.quiet()
        scene.a.send("B")
        scene.a.steer("S")
        scene.quiet()
        survivor = scene.crash()
    with StoredScene(survivor, agents=()) as scene:
        agent = scene.resume()
        scene.settle()
        assert scene.requests == []
        assert [each.text for each in agent.session.messages()] == ["A"]


@pytest.mark.clause("F-07", "F-08")
@pytest.mark.parametrize("names", [("a", "a"), ("x", "x"), ("x", "y"), (None, "y")])
def test_of_two_resumes_of_one_session_exactly_one_succeeds(
    names: tuple[str | None, str | None],
) -> None:
    """One agent, one session, one lease, whatever the agents are to be called."""
    with StoredScene(store_of("A"), agents=()) as scene:
        scene.hold("disk")
        both = [
            scene.start(scene.rt.agents.resume(session_id="a", agent_id=name)) for name in names
        ]
        scene.release()
        scene.settle()
        first, second = both
        assert isinstance(second.exception(), DuplicateIdError)
        handle = first.result()
        assert scene.rt.agents.list() == (handle.agent,)
        assert scene.rt.sessions.list() == (handle.agent.session,)
        assert list(scene.backend.disk.writers) == ["a"]


@pytest.mark.clause("E-23", "F-07")
@pytest.mark.parametrize(
    "ids", [{"agent_id": "a"}, {"session_id": "a"}, {"agent_id": "x", "session_id": "z"}]
)
def test_nobody_takes_the_names_of_a_session_that_is_being_loaded(ids: dict[str, str]) -> None:
    """Neither that of the session nor that of its agent, until it is there or has failed."""
    with StoredScene(store_of("A"), agents=()) as scene:
        scene.hold("disk")
        resuming = scene.start(scene.rt.agents.resume(session_id="a", agent_id="x"))
        with pytest.raises(DuplicateIdError):
            scene.rt.agents.create(**ids)  # type: ignore[arg-type]  # two strings
        scene.open("disk", "error")
        assert isinstance(resuming.exception(), StorageError)
        scene.release()
        scene.rt.sessions.prepare("a")
        scene.rt.agents.create(agent_id="x", session_id="not stored").dispose()


@pytest.mark.clause("F-07")
def test_of_two_resumes_for_one_agent_id_exactly_one_succeeds() -> None:
    """Also where they are of different sessions."""
    with StoredScene(agents=("a", "b")) as scene:
        for agent in ("a", "b"):
            scene.ask(agent, agent=agent)
        scene.settle()
    with StoredScene(scene.backend, agents=()) as scene:
        first, second = (
            scene.stage.spawn(_awaited(scene.rt.agents.resume(session_id=each, agent_id="x")), each)
            for each in ("a", "b")
        )
        scene.settle()
        assert first.result().agent.session.id == "a"
        assert isinstance(second.exception(), DuplicateIdError)
        assert list(scene.backend.disk.writers) == ["a"]


@attrs.define(eq=False)
class _Noting(MemoryBackend):
    """A backend that notes what it is asked for."""

    asked: list[str] = attrs.field(factory=list)

    def acquire(self, session_id: str) -> None:
        self.asked.append("acquire")
        super().acquire(session_id)

    def read(self, session_id: str) -> StoredSession:
        self.asked.append("read")
        return super().read(session_id)


@pytest.mark.clause("E-17", "E-44")
def test_the_lease_is_taken_before_anything_is_read() -> None:
    """What is read under it cannot change any more."""
    backend = _Noting(store_of("A").disk)
    with StoredScene(backend, agents=()) as scene:
        scene.resume()
        assert backend.asked == ["acquire", "read"]


@pytest.mark.clause("F-08")
def test_resumes_of_different_sessions_do_not_disturb_each_other() -> None:
    """Each gets its own."""
    with StoredScene(agents=("a", "b")) as scene:
        for agent in ("a", "b"):
            scene.ask(agent, agent=agent)
        scene.settle()
    with StoredScene(scene.backend, agents=()) as scene:
        both = [scene.start(scene.rt.agents.resume(session_id=each)) for each in ("a", "b")]
        scene.settle()
        texts = [each.result().agent.session.messages()[0].text for each in both]
        assert texts == ["a", "b"]


@pytest.mark.clause("E-35", "D-29")
def test_what_comes_back_is_not_announced_as_news() -> None:
    """Neither the stored records nor those that close them."""
    with StoredScene() as scene:
        scene.ask("A")
        scene.quiet()
        survivor = scene.crash()
    told: list[object] = []
    with StoredScene(survivor, agents=()) as scene:
        scene.rt.on(SESSION_EVENT, told.append)
        scene.resume()
        scene.settle()
        assert told == []
