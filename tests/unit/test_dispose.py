"""The end of an agent: what happens at the call, what in the teardown, and who may ask for it."""

import asyncio

import pytest

import runtime
from runtime import (
    AGENT_DISPOSED,
    AGENT_STATUS,
    SESSION_EVENT,
    AgentDisposedError,
    Status,
    Teardown,
    TeardownReport,
)
from tests.unit.windows.scene import Scene

ENDS = "running TS UM(A) SS abort disposed -B{disposed:disposed} SE TE{disposed} FLUSH W gone END"


async def joined(teardown: Teardown) -> TeardownReport:
    """Wait for a teardown."""
    return await teardown


@pytest.mark.clause("F-15", "F-32", "F-35", "B-44", "B-46", "A-58", "D-51")
@pytest.mark.seed("SEED-27", "SEED-32", "SEED-40")
def test_the_whole_order_of_an_end() -> None:
    """Status, callbacks, announcement, discards, records, flush, exit, unregister, gone, detach."""
    seen: list[tuple[str, bool, bool]] = []

    def look() -> None:
        registered = scene.rt.agents.get("a") is not None
        seen.append((scene.trace()[-1], registered, scene.rt.sessions.get("a") is not None))

    with Scene() as scene:
        for head in ("abort", "disposed", "-", "TE", "FLUSH", "W", "gone", "END"):
            scene.at(head, look)
        scene.ask("A")
        scene.quiet()
        scene.a.send("B")
        scene.dispose()
        assert scene.a.status is Status.DISPOSED
        assert scene.trace()[-2:] == ["disposed", "-B{disposed:disposed}"]
        scene.settle()
        scene.expect(ENDS)
    assert seen == [
        ("abort", True, True),
        ("disposed", True, True),
        ("-B{disposed:disposed}", True, True),
        ("TE{disposed}", True, True),
        ("FLUSH", True, True),
        ("W", True, True),
        ("gone", False, True),
        ("END", False, False),
    ]


@pytest.mark.clause("B-38", "F-32", "F-35", "B-94")
def test_nothing_but_the_status_happens_inside_the_call_for_a_parked_agent() -> None:
    """It is still registered and in the store when `dispose` returns."""
    with Scene() as scene:
        rt, at_its_end = scene.rt, list[object]()
        scene.at("gone", lambda: at_its_end.extend((rt.agents.get("a"), rt.sessions.get("a"))))
        teardown = scene.handle().dispose()
        scene.expect("disposed")
        assert scene.rt.agents.get("a") is scene.a
        assert scene.rt.sessions.get("a") is scene.a.session
        assert not teardown.is_done
        scene.settle()
        scene.expect("disposed gone")
        assert at_its_end == [None, scene.a.session]
        assert scene.rt.agents.get("a") is None
        assert scene.rt.sessions.get("a") is None


@pytest.mark.clause("F-17", "F-33", "F-34")
@pytest.mark.seed("SEED-33")
def test_everybody_who_asks_gets_the_same_end() -> None:
    """Early, late and concurrent callers; a waiter that is cancelled cancels nothing."""
    with Scene() as scene:
        scene.ask("A")
        scene.quiet()
        first = scene.handle().dispose()
        waiters = [scene.stage.spawn(joined(first), f"waiter {n}") for n in range(3)]
        assert scene.handle().dispose() is first
        scene.stage.tick(4)
        waiters[0].cancel()
        scene.settle()
        assert waiters[0].cancelled()
        late = scene.stage.complete(joined(scene.handle().dispose()))
        assert waiters[1].result() is waiters[2].result() is late
        assert late == TeardownReport()
        assert scene.trace().count("gone") == 1


@pytest.mark.clause("B-46", "C-12", "A-55", "A-57")
def test_a_dispose_drops_both_fifos_in_order_of_acceptance() -> None:
    """Each message is announced with cause and reason `disposed`, and none is recorded."""
    with Scene() as scene:
        scene.ask("A")
        scene.quiet()
        scene.a.steer("S")
        scene.a.send("B")
        scene.a.steer("T")
        scene.dispose()
        scene.settle()
        scene.expect(
            "running TS UM(A) SS abort disposed -S{disposed:disposed} -B{disposed:disposed} "
            "-T{disposed:disposed} SE TE{disposed} FLUSH W gone END"
        )


@pytest.mark.clause("F-33")
def test_a_teardown_that_nobody_awaits_completes() -> None:
    """Dropping it is fine."""
    with Scene() as scene:
        scene.ask("A")
        scene.quiet()
        scene.handle().dispose()
        scene.settle()
        assert scene.trace()[-1] == "gone"
        assert scene.stage.pending == ()


@pytest.mark.clause("F-19", "F-20", "F-34", "G-24")
@pytest.mark.seed("SEED-43")
def test_listeners_that_raise_interrupt_no_teardown() -> None:
    """At the status, at the records and at the end: the session is still detached."""

    def fail(_: object) -> None:
        raise RuntimeError("listener")

    with Scene() as scene:
        scene.rt.on(AGENT_STATUS, fail, plugin="bad")
        scene.rt.on(AGENT_DISPOSED, fail, plugin="bad")
        scene.rt.on(SESSION_EVENT, fail, plugin="bad")
        scene.ask("A")
        scene.quiet()
        scene.a.send("B")
        scene.dispose()
        scene.settle()
        scene.expect(ENDS)
        assert scene.rt.sessions.get("a") is None


@pytest.mark.clause("F-36", "F-34", "D-53", "D-51")
def test_a_link_that_fails_is_reported_and_the_later_ones_run(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The disk is full for good: the report says which link failed, and the agent is gone."""
    with Scene() as scene:
        scene.hold()
        scene.ask("A")
        scene.quiet()
        teardown = scene.dispose()
        scene.quiet()
        scene.open("flush", "error")
        scene.open("flush", "error")
        scene.settle()
        scene.expect(
            "running TS UM(A) SS abort disposed SE TE{disposed} FLUSH! ERR(0) W FLUSH! gone END"
        )
        report = scene.stage.complete(joined(teardown))
        (failure,) = report.failed
        assert "flush" in failure.link
        assert isinstance(failure.error, ExceptionGroup)
        assert caplog.text.count(f"teardown of agent a, {failure.link}") == 1
        assert scene.rt.sessions.get("a") is None


@pytest.mark.clause("D-51")
def test_a_teardown_flushes_once_more_only_if_something_is_unflushed() -> None:
    """After a flushed turn there is no further flush."""
    with Scene() as scene:
        scene.ask("A")
        scene.settle()
        scene.dispose()
        scene.settle()
        scene.expect("running [A] idle W disposed gone END")


@pytest.mark.clause("D-51", "A-67")
def test_a_flush_covers_only_what_was_there_when_it_began() -> None:
    """An older flush that ends behind a failed one does not make its records durable."""
    with Scene() as scene:
        scene.hold()
        scene.a.inject("c")
        scene.ask("A")
        scene.quiet()
        scene.open("model")
        _, second = scene.stage.gates.open_gates
        scene.stage.gates.open(second, "error")
        scene.quiet()
        scene.open("flush")
        scene.dispose()
        scene.settle()
        scene.expect(
            "TS CM(c) TE{completed} running TS UM(A) SS CH CH AM SE TE{completed} FLUSH! ERR(0) "
            "idle W FLUSH disposed FLUSH gone END"
        )


@pytest.mark.clause("D-53", "B-85")
def test_a_failed_flush_holds_nothing_back() -> None:
    """Queued work goes on, and the driver of a disposed agent exits."""
    with Scene() as scene:
        scene.hold()
        scene.ask("A")
        scene.quiet()
        scene.a.send("B")
        scene.open("model")
        scene.open("flush", "error")
        scene.settle()
        scene.expect("running TS UM(A) SS CH CH AM SE TE{completed} FLUSH! ERR(0) [B] idle W")


@pytest.mark.clause("F-39", "F-17")
def test_a_listener_that_a_link_calls_may_dispose_again() -> None:
    """Inside `disposed` and inside `agent/disposed` it gets the same teardown."""
    got: list[Teardown] = []
    with Scene() as scene:
        scene.at("disposed", lambda: got.append(scene.handle().dispose()))
        scene.at("gone", lambda: got.append(scene.handle().dispose()))
        scene.ask("A")
        scene.quiet()
        first = scene.dispose()
        scene.settle()
        assert got == [first, first]


@pytest.mark.clause("F-22", "F-38", "A-54")
def test_ids_may_be_used_again_and_nothing_old_touches_the_new_agent() -> None:
    """The old handle, agent and waiter keep to their own incarnation."""
    with Scene() as scene:
        old, old_handle = scene.a, scene.handle()
        scene.ask("A")
        scene.settle()
        old_handle.dispose()
        scene.settle()
        new = scene.create("a")
        assert new is not old
        assert new.session is not old.session
        old_handle.dispose()
        old.cancel()
        with pytest.raises(AgentDisposedError):
            old.send("X")
        new.send("B")
        scene.settle()
        scene.expect("running [B] idle")
        assert scene.queued[-1].message_id == "m1"
        assert scene.rt.agents.get("a") is new
        assert scene.rt.sessions.get("a") is new.session
        assert len(old.session.events) == 8


@pytest.mark.clause("F-38", "F-06", "A-48")
@pytest.mark.seed("SEED-67")
def test_ids_stay_taken_until_the_teardown_has_resolved() -> None:
    """From `agent/disposed` on the agent's id is free, and the session's once it is detached."""
    with Scene() as scene:
        scene.dispose()
        with pytest.raises(runtime.DuplicateIdError):
            scene.create("a")
        scene.settle()
        scene.create("a")


@pytest.mark.clause("F-42")
def test_a_handle_gives_the_bare_agent_and_ends_it_when_left() -> None:
    """Leaving waits for the teardown, also when the body raised."""

    async def use() -> runtime.Agent:
        async with scene.handle() as agent:
            assert agent is scene.a
            agent.send("A")
            raise KeyError("body")

    with Scene() as scene:
        with pytest.raises(KeyError, match="body"):
            scene.stage.complete(use())
        assert scene.a.status is Status.DISPOSED
        assert scene.rt.agents.list() == ()
        assert scene.rt.sessions.list() == ()


@pytest.mark.clause("F-43", "F-33")
def test_closing_the_runtime_disposes_every_agent() -> None:
    """It resolves after the last teardown, once for everybody, and creates nothing any more."""
    with Scene(agents=("a", "b", "c")) as scene:
        scene.ask("A", agent="a")
        scene.quiet()
        scene.agent("b").send("B")
        closing = scene.rt.aclose()
        assert {scene.agent(each).status for each in "abc"} == {Status.DISPOSED}
        assert scene.rt.aclose() is closing
        with pytest.raises(runtime.CallerError, match=r"create refused.*unloading"):
            scene.rt.agents.create()
        report = scene.stage.complete(joined(closing))
        assert report.stragglers == ()
        assert scene.rt.agents.list() == ()
        scene.expect("disposed gone", "c")
        scene.expect("disposed -B{disposed:disposed} gone", "b")


@pytest.mark.clause("A-67", "B-119", "F-34")
def test_an_owed_flush_that_hangs_is_left_behind_by_name() -> None:
    """The teardown waits a grace for it, then reports it."""
    with Scene() as scene:
        scene.hold()
        scene.a.inject("c")
        scene.quiet()
        teardown = scene.dispose()
        scene.quiet()
        assert not teardown.is_done
        for _ in range(3):
            scene.stage.loop.advance(2)
            scene.quiet()
        assert any("flush" in each for each in scene.stage.complete(joined(teardown)).stragglers)
        scene.settle()
        assert scene.stage.pending == ()


@pytest.mark.clause("F-43", "B-119", "F-34")
def test_the_end_of_the_runtime_names_what_its_agents_left_behind() -> None:
    """The report of `aclose` carries the stragglers of every agent."""
    with Scene(agents=("a", "b")) as scene:
        scene.hold()
        scene.a.inject("c")
        scene.quiet()
        closing = scene.rt.aclose()
        for _ in range(3):
            scene.quiet()
            scene.stage.loop.advance(2)
        scene.quiet()
        late = scene.stage.complete(joined(closing)).stragglers
        # Once, although the agent, the plugin that drives it and the application all report it.
        assert late == ("owed flush of a", "last flush of a")
        scene.settle()


@pytest.mark.clause("A-20", "A-32", "A-33", "A-80")
@pytest.mark.seed("SEED-20")
@pytest.mark.parametrize("registered", ["before", "after"])
def test_a_waiter_waits_for_the_exit_and_not_for_the_status(registered: str) -> None:
    """Whenever it registered, it returns behind the closing records and their flush."""
    with Scene() as scene:
        scene.hold()
        scene.a.send("A")
        scene.quiet()
        if registered == "after":
            scene.dispose()
        scene.stage.spawn(scene.wait(), "waits")
        if registered == "before":
            scene.quiet()
            scene.dispose()
        scene.quiet()
        scene.expect("running TS UM(A) SS abort disposed SE TE{disposed}")
        scene.open("flush")
        scene.expect("running TS UM(A) SS abort disposed SE TE{disposed} FLUSH W gone END")


@pytest.mark.clause("F-34", "B-44")
def test_the_subject_of_these_tests_runs_on_a_plain_loop() -> None:
    """The same end without a stage."""

    async def run() -> TeardownReport:
        async with runtime.open_runtime() as rt:
            handle = rt.agents.create()
            handle.agent.send("A")
            return await handle.dispose()

    assert asyncio.run(run()) == TeardownReport()


def _teardown_task() -> "asyncio.Task[object]":
    (task,) = (each for each in asyncio.all_tasks() if each.get_name() == "teardown of agent a")
    return task


@pytest.mark.clause("F-33", "F-36", "F-15")
@pytest.mark.parametrize("passes", [0, 1, 2, 5])
def test_a_cancelled_teardown_task_still_goes_to_its_end_in_order(passes: int) -> None:
    """Whoever cancels the task of a teardown, before or while it waits, skips nothing."""
    with Scene() as scene:
        scene.ask("A")
        scene.quiet()
        scene.a.send("B")
        teardown = scene.handle().dispose()
        scene.stage.tick(passes)
        _teardown_task().cancel()
        scene.settle()
        scene.expect(
            "running TS UM(A) SS abort disposed -B{disposed:disposed} SE TE{disposed} FLUSH W gone"
        )
        assert scene.stage.complete(joined(teardown)) == TeardownReport()
        assert scene.rt.sessions.get("a") is None
