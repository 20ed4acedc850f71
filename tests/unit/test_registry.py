"""Making agents, finding them, and refusing names that are taken."""

from collections.abc import Callable
from typing import Any

import pytest

import runtime
from runtime import (
    AGENT_CREATED,
    AGENT_SESSION_START,
    AGENT_STATUS,
    SESSION_CREATED,
    SESSION_EVENT,
    Announcement,
    CallerError,
    DuplicateIdError,
    InvalidRecordError,
    Status,
)
from tests.unit.windows.scene import Scene

CREATION: tuple[Announcement[Any], ...] = (SESSION_CREATED, AGENT_CREATED, AGENT_SESSION_START)


@pytest.mark.clause("F-01", "F-02", "A-49", "F-42")
@pytest.mark.seed("SEED-29", "SEED-31")
def test_create_returns_a_handle_and_get_the_bare_agent() -> None:
    """`list` is in order of registration; an unknown id is None."""
    with Scene(agents=()) as scene:
        agents = scene.rt.agents
        handles = [agents.create(agent_id=each) for each in ("x", "c", "b")]
        assert [each.id for each in agents.list()] == ["x", "c", "b"]
        assert agents.get("c") is handles[1].agent
        assert agents.get("nobody") is None
        assert not hasattr(agents.get("c"), "dispose")
        scene.rt.on(AGENT_STATUS, lambda _: None)
        for handle in handles:
            handle.dispose()


@pytest.mark.clause("F-37", "A-47", "D-30")
@pytest.mark.parametrize(
    ("given", "agent_id", "session_id"),
    [
        ({}, "id-1", "id-1"),
        ({"agent_id": "x"}, "x", "x"),
        ({"session_id": "s"}, "s", "s"),
        ({"agent_id": "x", "session_id": "s"}, "x", "s"),
    ],
)
def test_an_id_that_is_omitted_equals_the_other(
    given: dict[str, str], agent_id: str, session_id: str
) -> None:
    """Both omitted, one new name serves for both."""
    with Scene(agents=()) as scene:
        agent = scene.rt.agents.create(**given).agent  # type: ignore[arg-type]  # two strings
        assert (agent.id, agent.session.header.id) == (agent_id, session_id)
        assert scene.rt.agents.get(agent_id) is agent
        assert scene.rt.sessions.get(session_id) is agent.session


@pytest.mark.clause("F-37")
def test_new_names_are_uuids() -> None:
    """Without identifiers of a test they are random and of the usual form."""

    async def run() -> set[str]:
        async with runtime.open_runtime() as rt:
            return {rt.agents.create().agent.id for _ in range(3)}

    with Scene() as scene:
        names = scene.stage.complete(run())
    assert [len(each) for each in names] == [36] * 3


@pytest.mark.clause("F-05", "A-78", "F-38")
@pytest.mark.seed("SEED-67")
def test_an_agent_id_that_is_taken_is_refused_and_its_session_id_stays_free() -> None:
    """The error names the id and what to do; no session was made."""
    with Scene() as scene:
        with pytest.raises(DuplicateIdError, match=r"'a' refused.*dispose it first"):
            scene.rt.agents.create(agent_id="a", session_id="s")
        assert scene.rt.sessions.get("s") is None
        assert [each.id for each in scene.rt.agents.list()] == ["a"]
        scene.rt.agents.create(agent_id="b", session_id="s").dispose()


@pytest.mark.clause("F-06", "A-48", "A-78")
@pytest.mark.seed("SEED-67")
def test_a_session_id_that_is_taken_is_refused_under_any_agent_id() -> None:
    """Nothing is registered, the agent's id stays free, and whoever lives there is untouched."""
    with Scene() as scene:
        scene.ask("A")
        scene.quiet()
        with pytest.raises(DuplicateIdError, match=r"session 'a' refused.*dispose that agent"):
            scene.rt.agents.create(agent_id="b", session_id="a")
        assert scene.rt.agents.get("b") is None
        assert scene.rt.sessions.get("a") is scene.a.session
        scene.create("b")
        scene.settle()
        scene.expect("running [A] idle W")


@pytest.mark.clause("A-78", "D-27", "D-28")
@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"options": {"model": "echo"}}, CallerError, "options is a dict"),
        ({"agent_id": ""}, CallerError, "agent_id"),
        ({"session_id": ""}, CallerError, "session_id"),
        ({"agent_id": 7}, CallerError, "agent_id is 7"),
        ({"cwd": "here"}, CallerError, "not absolute"),
        ({"seed": "records"}, (AttributeError, InvalidRecordError), "str|seed"),
    ],
)
def test_bad_options_are_refused_and_leave_nothing(
    options: dict[str, object], error: type[Exception] | tuple[type[Exception], ...], said: str
) -> None:
    """Neither an agent nor a session is behind."""
    with Scene(agents=()) as scene:
        with pytest.raises(error, match=said):
            scene.rt.agents.create(**options)  # type: ignore[arg-type]  # the point
        assert scene.rt.agents.list() == ()
        assert scene.rt.sessions.list() == ()


@pytest.mark.clause("D-27", "D-38", "D-29")
def test_a_seed_that_is_no_log_leaves_nothing() -> None:
    """A gap in the numbers is refused inside the creation, and the id stays free."""
    with Scene(agents=("a",)) as scene:
        scene.a.inject("c")
        seed = scene.a.session.events[1:]
        with pytest.raises(InvalidRecordError, match="seed record 0"):
            scene.rt.agents.create(agent_id="b", seed=seed)
        assert scene.rt.agents.get("b") is None
        assert scene.rt.sessions.get("b") is None
        scene.create("b")
        scene.settle()


@pytest.mark.clause("D-37", "A-39")
def test_the_order_of_a_creation() -> None:
    """Session, its announcement, registration, two announcements, and only then the driver."""
    seen: list[tuple[str, bool, bool]] = []

    def look(name: str) -> Callable[[object], None]:
        def listener(_: object) -> None:
            rt = scene.rt
            seen.append((name, rt.sessions.get("b") is not None, rt.agents.get("b") is not None))

        return listener

    def send(notice: object) -> None:
        notice.agent.send("early")  # type: ignore[attr-defined]

    with Scene(agents=()) as scene:
        for announcement in CREATION:
            scene.rt.on(announcement, look(announcement.name))
        scene.rt.on(AGENT_CREATED, send)
        scene.rt.on(AGENT_STATUS, look("a status"))
        scene.rt.on(SESSION_EVENT, look("a record"))
        handle = scene.rt.agents.create(agent_id="b")
        assert seen == [
            ("session/created", True, False),
            ("agent/created", True, True),
            ("agent/session-start", True, True),
        ]
        assert handle.agent.status is Status.IDLE
        handle.dispose()


@pytest.mark.clause("F-77")
@pytest.mark.parametrize("how", ["the runtime", "the agents"])
def test_no_session_starts_for_an_agent_that_ended_when_it_was_created(how: str) -> None:
    """A listener of its creation closes the runtime, or unloads what drives agents."""
    told: list[str] = []

    def end(_: object) -> None:
        told.append("created")
        if how == "the runtime":
            scene.rt.aclose()
        else:
            scene.rt.driver.dispose()

    with Scene(agents=()) as scene:
        scene.rt.on(AGENT_CREATED, end)
        scene.rt.on(AGENT_SESSION_START, lambda _: told.append("started"))
        handle = scene.rt.agents.create(agent_id="b")
        assert told == ["created"]
        scene.settle()
        assert handle.agent.status is Status.DISPOSED


@pytest.mark.clause("D-37", "D-38", "A-48", "F-05")
@pytest.mark.seed("SEED-67")
@pytest.mark.parametrize("announcement", CREATION)
def test_a_listener_of_a_creation_cannot_take_its_names(
    announcement: Announcement[Any],
) -> None:
    """From the first announcement on both ids are taken, so no two live agents share one."""
    made: list[object] = []

    def take(_: object) -> None:
        subscription.close()
        for agent_id, session_id in (("b", "s"), ("x", "b")):
            try:
                made.append(scene.rt.agents.create(agent_id=agent_id, session_id=session_id))
            except DuplicateIdError:
                made.append(None)

    with Scene(agents=()) as scene:
        subscription = scene.rt.on(announcement, take)
        handle = scene.rt.agents.create(agent_id="b")
        assert made == [None, None]
        assert scene.rt.agents.list() == (handle.agent,)
        assert scene.rt.sessions.list() == (handle.agent.session,)


@pytest.mark.clause("D-39", "F-15")
@pytest.mark.seed("SEED-40")
def test_a_detached_session_can_be_read_and_publishes_nothing() -> None:
    """Its log is still there; the store has forgotten it; who follows it reaches the end."""
    records: list[object] = []

    async def follow() -> int:
        return len([record async for record in session.follow()])

    with Scene() as scene:
        session = scene.a.session
        following = scene.stage.spawn(follow(), "follows", may_linger=True)
        scene.ask("A")
        scene.settle()  # the follower still waits
        scene.dispose()
        scene.settle()
        scene.rt.on(SESSION_EVENT, records.append)
        assert scene.rt.sessions.get("a") is None
        assert len(session.events) == following.result() == 8
        assert [each.role for each in session.messages()] == ["user", "assistant"]
        assert records == []


@pytest.mark.clause("F-38", "F-22")
def test_what_is_cleaned_up_twice_is_taken_from_no_successor() -> None:
    """A late second clean-up holds the agent, or the reservation, and not their id."""
    with Scene() as scene:
        roster = scene.rt.roster
        assert roster is not None
        old = roster.cores["a"]
        scene.dispose()
        scene.settle()
        new = scene.create("a")
        roster._unregister(old)  # noqa: SLF001  # nobody else can clean up twice
        assert scene.rt.agents.get("a") is new
        free = roster._reserve("b")  # noqa: SLF001  # as above
        free()
        again = roster._reserve("b")  # noqa: SLF001  # as above
        free()
        with pytest.raises(DuplicateIdError):
            scene.create("b")
        again()
        scene.create("b")
