"""Listeners: who is told, in which order, and how deep."""

import pytest

import runtime
from runtime import (
    AGENT_CREATED,
    AGENT_QUEUED,
    AGENT_STATUS,
    SESSION_EVENT,
    SESSION_FLUSH,
    CallerError,
    Context,
    Limits,
    Queued,
    RecordAppended,
    StatusChanged,
)
from runtime.announcements import AgentNotice
from runtime.errors import LimitError
from statemachine.conformance import Stage
from tests.unit.windows.scene import Scene


@pytest.mark.clause("G-33", "G-23", "A-78")
def test_a_coroutine_function_is_refused_as_a_listener() -> None:
    """At registration, with advice; and a plain function where somebody awaits."""

    async def wait(_: object) -> None: ...

    with Scene() as scene:
        with pytest.raises(CallerError, match=r"agent/status refused.*plain function.*a task"):
            scene.rt.on(AGENT_STATUS, wait)
        with pytest.raises(CallerError, match=r"session/flush refused.*coroutine function"):
            scene.rt.on(SESSION_FLUSH, lambda _: None)
        scene.ask("A")
        scene.settle()
        scene.expect("running [A] idle W")


@pytest.mark.clause("G-33")
def test_an_object_with_an_async_call_is_refused_as_a_listener() -> None:
    """Its coroutine would never run."""

    class Waiting:
        async def __call__(self, _: object) -> None: ...

    with Scene() as scene, pytest.raises(CallerError, match="plain function"):
        scene.rt.on(AGENT_STATUS, Waiting())


@pytest.mark.clause("G-24", "G-29", "B-126")
def test_a_dispatch_tells_who_was_there_when_it_began() -> None:
    """In order of registration; one that raises is contained, a new one waits for the next."""
    told: list[str] = []

    def first(_: AgentNotice) -> None:
        told.append("first")
        bus.on(AGENT_CREATED, lambda _: told.append("new"))
        raise RuntimeError("listener")

    with Stage():
        bus = Context.root()
        bus.on(AGENT_CREATED, first)
        subscription = bus.on(AGENT_CREATED, lambda _: told.append("second"))
        bus.emit(AGENT_CREATED, AgentNotice(agent=None))
        assert told == ["first", "second"]
        subscription.close()
        subscription.close()
        bus.emit(AGENT_CREATED, AgentNotice(agent=None))
    assert told == ["first", "second", "first", "new"]


@pytest.mark.clause("G-25", "G-23")
def test_a_parallel_dispatch_runs_everybody_and_raises_one_group() -> None:
    """Also when one raises at once, before its first await."""
    told: list[str] = []

    async def fail(_: object) -> None:
        raise OSError("full")

    async def flush(_: object) -> None:
        await scene.stage.sleep(0)
        told.append("flushed")

    with Scene() as scene:
        bus = Context.root()
        for listener in (fail, flush, fail, flush):
            bus.on(SESSION_FLUSH, listener)
        notice = runtime.SessionNotice(session=scene.a.session)
        with pytest.raises(ExceptionGroup) as raised:
            scene.stage.complete(bus.parallel(SESSION_FLUSH, notice, scene.stage.loop.create_task))
        assert told == ["flushed", "flushed"]
        assert [str(each) for each in raised.value.exceptions] == ["full", "full"]


@pytest.mark.clause("G-34", "F-44", "A-78")
def test_nesting_has_a_limit_that_is_named() -> None:
    """A circle of listeners of two agents ends in a `LimitError`, and both go on."""
    errors: list[str] = []

    def answer(notice: Queued) -> None:
        other = scene.agent("b" if notice.agent.id == "a" else "a")
        try:
            other.send("again")
        except LimitError as error:
            errors.append(str(error))
            raise

    def nest(_: AgentNotice) -> None:
        try:
            bus.emit(AGENT_CREATED, AgentNotice(agent=None))
        except LimitError as error:
            errors.append(str(error))

    with Stage():
        bus = Context.root(limits=Limits(nested_announcements_max=3))
        bus.on(AGENT_CREATED, nest)
        bus.emit(AGENT_CREATED, AgentNotice(agent=None))
    assert len(errors) == 1
    assert "nested_announcements_max=3" in errors[0]
    with Scene(agents=("a", "b"), limits=Limits(inbox_messages_max=5)) as scene:
        subscription = scene.rt.on(AGENT_QUEUED, answer)
        scene.a.send("A")
        subscription.close()
        scene.settle()
        assert scene.a.status == scene.agent("b").status == "idle"


@pytest.mark.clause("A-70", "A-42", "D-50")
def test_what_a_listener_causes_is_announced_behind_what_was_placed_before() -> None:
    """A second listener sees the record of an injection after the record that caused it."""
    seen: list[tuple[str, int]] = []

    def inject(notice: RecordAppended) -> None:
        if notice.record.type == "turn/start":
            scene.a.inject("c")
            assert scene.records()[-1].type == "context/message"

    with Scene() as scene:
        first = scene.rt.on(SESSION_EVENT, inject)
        scene.rt.on(SESSION_EVENT, lambda it: seen.append((it.record.type, it.record.seq)))
        scene.ask("A")
        scene.settle()
        first.close()
        assert seen[:3] == [("turn/start", 0), ("context/message", 1), ("user/message", 2)]
        assert [number for _, number in seen] == list(range(len(seen)))


@pytest.mark.clause("A-70", "A-71", "A-42")
def test_one_queue_carries_everything_of_an_agent() -> None:
    """A listener of a status sends, cancels and injects: announced in this order, behind it."""
    heard: list[str] = []

    def act(notice: StatusChanged) -> None:
        heard.append(f"first {notice.status}")
        if notice.status == "running":
            scene.a.send("B")
            scene.a.inject("c")
            scene.a.cancel("r")
            assert heard[-1] == "first running"

    with Scene() as scene:
        scene.rt.on(AGENT_STATUS, act)
        scene.rt.on(AGENT_STATUS, lambda it: heard.append(f"second {it.status}"))
        scene.rt.on(AGENT_QUEUED, lambda it: heard.append(f"queued {it.message_id}"))
        scene.ask("A")
        scene.settle()
        assert heard == [
            "queued m1",
            "first running",
            "second running",
            "queued m2",
            "first cancelled",
            "second cancelled",
            "first idle",
            "second idle",
        ]
        scene.expect(
            "running TS CM(c) TE{completed} cancelled -A{cancelled:r} -B{cancelled:r} idle W FLUSH"
        )


@pytest.mark.clause("B-130", "B-99")
@pytest.mark.parametrize("record_type", ["turn/start", "step/start", "step/end", "turn/end"])
def test_a_boundary_is_in_the_log_before_anybody_hears_of_its_window(record_type: str) -> None:
    """Whoever is told of anything finds every boundary record of the windows before."""
    with Scene() as scene:
        lengths: list[bool] = []

        def look(notice: RecordAppended) -> None:
            if notice.record.type == record_type:
                lengths.append(scene.records()[notice.record.seq] is notice.record)

        scene.rt.on(SESSION_EVENT, look)
        scene.ask("A")
        scene.settle()
        assert lengths == [True]


@pytest.mark.clause("A-71")
def test_everything_a_call_caused_is_delivered_when_it_returns() -> None:
    """Queued, discarded and statuses; nothing waits for the loop."""
    with Scene() as scene:
        scene.ask("A")
        scene.quiet()
        scene.a.send("B")
        scene.a.steer("S")
        assert [each.message_id for each in scene.queued] == ["m1", "m2", "m3"]
        scene.a.cancel("r")
        assert scene.trace()[-3:] == ["cancelled", "-B{cancelled:r}", "-S{cancelled:r}"]
        scene.settle()


@pytest.mark.clause("G-34", "F-44")
@pytest.mark.timeout(20)
def test_the_default_limit_is_reached_before_the_interpreter_gives_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A chain of 150 agents: each message is accepted, the limit is named in the log."""
    names = [str(number) for number in range(150)]

    def hand_on(notice: Queued) -> None:
        follower = int(notice.agent.id) + 1
        if follower < len(names):
            scene.agent(names[follower]).send("again")

    with Scene(agents=names) as scene:
        scene.rt.on(AGENT_QUEUED, hand_on)
        scene.agent("0").send("A")
        assert "nested_announcements_max=100" in caplog.text
        assert "RecursionError" not in caplog.text
        scene.settle()
        assert {agent.status for agent in scene.rt.agents.list()} == {"idle"}


@pytest.mark.clause("G-34", "A-70")
@pytest.mark.timeout(20)
def test_a_circle_in_one_queue_has_a_limit_too() -> None:
    """A listener of `agent/discarded` that sends and cancels for ever does not hang the loop."""
    rounds = 0

    def again(notice: runtime.Discarded) -> None:
        nonlocal rounds
        rounds += 1
        if rounds > 5_000:  # only here so that a failure is one, and no hang
            return
        notice.agent.send("B")
        notice.agent.cancel()

    with Scene() as scene:
        scene.rt.on(runtime.AGENT_DISCARDED, again)
        scene.a.send("A")
        scene.a.cancel()
        scene.settle()
        assert rounds <= 5_000
