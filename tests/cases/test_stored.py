"""Stored sessions: what a crash leaves, what a resume brings back, and who may go on."""

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from runtime import AGENT_DISPOSED, AgentHandle, CallerError, Status, Teardown
from statemachine.conformance.stage.schedules import Scenario

from .conftest import Examine
from .stored_world import SESSION, Act, StoredWorld, actor, scene, texts
from .world import HELD

Scenes: TypeAlias = tuple[Scenario[StoredWorld], ...]


def z_is_stored(world: StoredWorld) -> None:
    """One turn is durable, and another one hangs in its model."""
    world.notes["agent"] = agent = world.begin("Z")
    agent.send("A")


def send_b(world: StoredWorld) -> None:
    """Send B behind A, to whoever is there."""
    world.notes["agent"].send("B")


def case_046() -> Scenes:
    """Crash with a prompt queued, go on, and send another one."""

    def check(world: StoredWorld) -> None:
        world.boot()
        agent = world.resume()
        world.stage.settle()
        assert (agent.status, world.prompts()) == (Status.IDLE, [])
        agent.send("C")
        world.complete(agent.when_idle())
        assert world.prompts() == ["C"]
        assert texts(world.stored())[-1] == "C"
        assert "B" not in texts(world.stored())

    return (
        scene(
            "a queued prompt and a crash",
            actor("user", send_b),
            actor("machine", StoredWorld.crash),
            before=z_is_stored,
            answers={"A": HELD},
            check=check,
        ),
    )


@pytest.mark.case("CASE-046")
@pytest.mark.clause("F-50")
def test_what_was_queued_at_a_crash_does_not_come_back(examine: Examine) -> None:
    """Nothing runs unasked after the resume, and the next prompt is alone."""
    examine(*case_046())


def case_059() -> Scenes:
    """Crash while the agent runs, go on, and look at it."""

    def check(world: StoredWorld) -> None:
        stored = world.notes["stored at the crash"]
        world.boot()
        agent = world.resume()
        assert agent.status is Status.IDLE
        assert world.complete(agent.when_idle()) is None
        records = tuple(agent.session.events)
        assert records[: len(stored)] == stored
        assert records[-1].type == "turn/end"
        # A crash that came behind the flush of the turn has interrupted nothing.
        was_open = stored[-1].type != "turn/end"
        assert (records[-1].data["ending"] == "interrupted") is was_open
        agent.send("B")
        world.complete(agent.when_idle())
        assert world.stored()[-1].data["ending"] == "completed"

    return (
        scene(
            "a crash in a turn",
            actor("machine", StoredWorld.crash),
            before=z_is_stored,
            check=check,
        ),
    )


@pytest.mark.case("CASE-059")
@pytest.mark.clause("E-17", "F-50")
def test_an_agent_that_ran_when_its_process_died_is_idle(examine: Examine) -> None:
    """What was open is closed as interrupted, and the next prompt runs."""
    examine(*case_059())


def case_065() -> Scenes:
    """Dispose in the middle of a turn, in three ways, and look at the disk."""

    def check(world: StoredWorld) -> None:
        ((report, stored),) = world.ends
        # Told before the session is detached, and everything is on the disk by then.
        last = world.notes["stored when it was gone"][-1]
        ended = last.type == "turn/end" and last.data["ending"] == "disposed"
        # A schedule may let the time of the flush run out, and then the report says so.
        assert ended or report.stragglers or report.failed
        assert ended or world.stage.now > 0
        if ended:
            agent = world.resume("b") if world.notes["goes on"] else None
            assert agent is None or tuple(agent.session.events) == stored

    def run(name: str, end: Callable[[StoredWorld], Teardown], *, goes_on: bool) -> Scenario[Any]:
        def before(world: StoredWorld) -> None:
            world.notes["goes on"] = goes_on
            world.rt.on(AGENT_DISPOSED, lambda _: look(world))
            z_is_stored(world)

        owner = actor("owner", lambda world: world.join(end(world)))
        return scene(name, owner, before=before, answers={"A": HELD}, check=check)

    def look(world: StoredWorld) -> None:
        world.notes["stored when it was gone"] = world.stored()

    def handle_of(world: StoredWorld) -> AgentHandle:
        assert world.rt.roster is not None
        return world.rt.roster.handles["a"]

    return (
        run("by its handle", lambda w: handle_of(w).dispose(), goes_on=True),
        run("by the unload of its owner", lambda w: w.rt.driver.dispose(), goes_on=False),
        run("by the application", lambda w: w.rt.aclose(), goes_on=False),
    )


@pytest.mark.case("CASE-065")
@pytest.mark.clause("D-51", "E-33", "F-15", "F-16")
def test_the_closing_records_are_stored_before_the_session_is_detached(examine: Examine) -> None:
    """The disk has the real ending when the teardown resolves, whoever began it."""
    examine(*case_065())


def case_069() -> Scenes:
    """Go on with one session twice at the same time."""

    def resume(agent_id: str) -> Act:
        async def going_on(world: StoredWorld) -> None:
            try:
                handle = await world.rt.agents.resume(session_id=SESSION, agent_id=agent_id)
            except CallerError as error:
                world.notes[agent_id] = error
            else:
                world.notes.setdefault("winners", []).append(handle.agent)

        return lambda world: world.stage.spawn(going_on(world), f"resumes as {agent_id}")

    def before(world: StoredWorld) -> None:
        world.begin("Z")
        assert world.rt.roster is not None
        world.complete(world.rt.roster.handles["a"].dispose())

    def check(world: StoredWorld) -> None:
        (winner,) = world.notes["winners"]
        (refused,) = (world.notes[name] for name in ("one", "two") if name in world.notes)
        assert SESSION in str(refused)
        assert world.rt.agents.list() == (winner,)
        winner.send("A")
        world.complete(winner.when_idle())
        assert texts(world.stored()) == ["Z", "A"]

    return (
        scene(
            "two at the same time",
            actor("first", resume("one")),
            actor("second", resume("two")),
            before=before,
            check=check,
        ),
    )


@pytest.mark.case("CASE-069")
@pytest.mark.clause("E-22", "E-23", "F-08")
def test_of_two_that_go_on_with_one_session_one_does(examine: Examine) -> None:
    """The other is refused by name and leaves nothing, and the first one works."""
    examine(*case_069())
