"""The queue of one agent's announcements, by itself: what a delivery leaves behind."""

from collections.abc import Iterator

import pytest

from runtime import AGENT_CREATED, AGENT_DISPOSED, Context, Limits
from runtime.announcements import AgentNotice
from runtime.outbox import Outbox
from statemachine.conformance import Stage

NOTICE = AgentNotice(agent=None)


@pytest.fixture
def stage() -> Iterator[Stage]:
    """Give a stage."""
    with Stage() as entered:
        yield entered


@pytest.fixture
def bus(stage: Stage) -> Context:  # noqa: ARG001  # it has to be entered
    """Return the root of an application on the stage."""
    return Context.root()


@pytest.mark.clause("A-42", "A-70", "B-167")
@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_a_listener_that_ends_the_process_keeps_no_notice_from_anybody(
    stage: Stage, bus: Context, end: type[BaseException]
) -> None:
    """Everybody is told, and then the loop ends."""
    told: list[str] = []

    def leave(_: AgentNotice) -> None:
        raise end

    bus.on(AGENT_CREATED, leave)
    bus.on(AGENT_CREATED, lambda _: told.append("created"))
    bus.on(AGENT_DISPOSED, lambda _: told.append("disposed"))
    outbox = Outbox(bus.channels)
    outbox.place(AGENT_CREATED, NOTICE)
    outbox.place(AGENT_DISPOSED, NOTICE)
    outbox.deliver()
    assert (told, outbox.depth) == (["created", "disposed"], 0)
    with pytest.raises(end):
        stage.run_until_quiet()


@pytest.mark.clause("A-71", "G-34")
def test_a_chain_ends_with_its_delivery(bus: Context) -> None:
    """What is announced later begins a chain of its own, however often."""
    depths: list[int] = []
    outbox = Outbox(bus.channels)

    def cause(_: AgentNotice) -> None:
        depths.append(outbox.depth)
        outbox.place(AGENT_DISPOSED, NOTICE)

    bus.on(AGENT_CREATED, cause)
    bus.on(AGENT_DISPOSED, lambda _: depths.append(outbox.depth))
    for _ in range(3):
        outbox.place(AGENT_CREATED, NOTICE)
        outbox.deliver()
        assert outbox.depth == 0
    assert depths == [1, 2] * 3


@pytest.mark.clause("B-126", "G-34")
def test_a_notice_that_the_bus_refuses_is_nobodys_failure(bus: Context) -> None:
    """Whoever made the call that caused it did nothing wrong, and the rest is delivered."""
    told: list[str] = []
    bus = Context.root(limits=Limits(nested_announcements_max=1))
    inner, outer = Outbox(bus.channels), Outbox(bus.channels)

    def call_another_agent(_: AgentNotice) -> None:
        inner.place(AGENT_DISPOSED, NOTICE)
        inner.place(AGENT_DISPOSED, NOTICE)
        inner.deliver()
        told.append("returned")

    bus.on(AGENT_CREATED, call_another_agent)
    bus.on(AGENT_DISPOSED, lambda _: told.append("told"))
    outer.place(AGENT_CREATED, NOTICE)
    outer.deliver()
    assert told == ["returned"]
    inner.place(AGENT_DISPOSED, NOTICE)
    inner.deliver()
    assert told == ["returned", "told"]
