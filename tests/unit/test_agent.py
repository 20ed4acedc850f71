"""What an agent promises to whoever holds it: send, steer, inject, cancel, when_idle."""

import asyncio

import pytest

import runtime
from runtime import (
    AGENT_DISCARDED,
    AGENT_STATUS,
    AgentOptions,
    Discarded,
    Limits,
    Status,
    StatusChanged,
)
from tests.unit.windows.scene import CALL, Scene

TEXT_A = ({"type": "text", "text": "A"},)


@pytest.mark.clause("A-02", "A-39")
@pytest.mark.seed("SEED-25", "SEED-26")
def test_send_returns_nothing_and_nothing_has_run() -> None:
    """The message is queued, the status is what it was, and no record exists."""
    with Scene() as scene:
        assert scene.a.status is Status.IDLE
        assert scene.a.send("A") is None  # type: ignore[func-returns-value]
        (about,) = scene.rt.inspect().agents
        assert (about.status, about.queued, about.steering) == (Status.IDLE, 1, 0)
        scene.expect("")
        scene.settle()


@pytest.mark.clause("A-03", "A-04", "A-62", "A-71")
def test_an_accepted_message_is_announced_inside_the_call() -> None:
    """Once, with its content, its resolved source and whether it is steering."""
    with Scene() as scene:
        scene.a.send("A")
        (notice,) = scene.queued
        assert notice.agent is scene.a
        assert notice.content == TEXT_A
        assert notice.source == {"kind": "user"}
        assert notice.steering is False
        scene.settle()
        assert len(scene.queued) == 1
        prompt = next(each for each in scene.records() if each.type == "user/message")
        assert prompt.data["source"] == {"kind": "user"}
        assert prompt.data["content"] == list(TEXT_A)


@pytest.mark.clause("A-10", "A-03", "A-53")
@pytest.mark.seed("SEED-24")
def test_steering_is_announced_as_such_and_recorded_in_the_running_turn() -> None:
    """`steering` is true, the record has its id, and the turn goes on with a step."""
    with Scene() as scene:
        scene.ask("A")
        scene.quiet()
        scene.a.steer("S", source={"kind": "watcher", "n": 1})
        assert scene.queued[1].steering is True
        scene.settle()
        scene.expect(
            "running TS UM(A) SS CH CH AM SM(S) SE SS CH CH AM SE TE{completed} FLUSH idle W"
        )
        steering = next(each for each in scene.records() if each.type == "steering/message")
        assert steering.data["message_id"] == scene.queued[1].message_id == "m2"
        assert steering.data["source"] == {"kind": "watcher", "n": 1}


@pytest.mark.clause("A-06", "B-53", "B-55")
def test_a_batch_is_one_turn_with_the_trigger_of_the_first() -> None:
    """Two prompts: one `turn/start`, one step, one question to the model."""
    with Scene() as scene:
        scene.a.send("A", source={"kind": "first"})
        scene.a.send("B", source={"kind": "second"})
        scene.settle()
        scene.expect("running [A,B] idle")
        start = scene.records()[0].data
        assert start["trigger"] == {"kind": "message", "source": {"kind": "first"}}
        assert len(scene.requests) == 1
        assert [each.text for each in scene.requests[0].messages] == ["A", "B"]


@pytest.mark.clause("A-07", "A-53", "A-55")
def test_what_is_recorded_or_discarded_is_what_was_accepted() -> None:
    """Changing the caller's own objects afterwards changes neither record nor announcement."""
    dropped: list[Discarded] = []
    content, source = [{"type": "text", "text": "A"}], {"kind": "x"}
    with Scene() as scene:
        scene.rt.on(AGENT_DISCARDED, dropped.append)
        scene.a.send(content, source=source)
        content[0]["text"] = source["kind"] = "changed"
        scene.settle()
        content[0]["text"], source["kind"] = "B", "y"
        scene.a.send(content, source=source)
        content[0]["text"] = source["kind"] = "changed"
        scene.a.cancel("r")
        scene.settle()
        scene.expect("running [A] idle -B{cancelled:r}")
        assert scene.records()[1].data["source"] == {"kind": "x"}
        (notice,) = dropped
        assert (notice.message_id, notice.cause, notice.reason) == ("m2", "cancelled", "r")
        assert (notice.source, notice.steering) == ({"kind": "y"}, False)


@pytest.mark.clause("A-07")
@pytest.mark.parametrize("verb", ["send", "steer", "inject"])
def test_what_was_accepted_is_a_copy_at_every_level(verb: str) -> None:
    """A change deep inside the caller's own objects reaches no record."""
    with Scene() as scene:
        block, source = {"type": "vendor/it", "parts": [{"n": 1}]}, {"kind": "x", "of": ["a"]}
        getattr(scene.a, verb)([block], source=source)
        for changed in (block["parts"], source["of"]):
            changed[0] = "changed"  # type: ignore[index]  # a list
        scene.settle()
        data = scene.records()[1].data
        assert data["content"] == [{"type": "vendor/it", "parts": [{"n": 1}]}]
        assert data["source"] == {"kind": "x", "of": ["a"]}


@pytest.mark.clause("A-55", "A-24")
@pytest.mark.seed("SEED-02")
def test_dropped_steering_is_named_as_steering() -> None:
    """Queued and steering messages are dropped in order of acceptance, each saying what it was."""
    dropped: list[Discarded] = []
    with Scene() as scene:
        scene.rt.on(AGENT_DISCARDED, dropped.append)
        scene.ask("A")
        scene.quiet()
        scene.a.steer("S")
        scene.a.send("B")
        scene.a.steer("T")
        scene.a.cancel("r")
        assert [(each.message_id, each.steering) for each in dropped] == [
            ("m2", True),
            ("m3", False),
            ("m4", True),
        ]
        scene.settle()


@pytest.mark.clause("A-14", "A-15", "A-16", "A-73")
def test_injections_are_context_and_run_no_model() -> None:
    """Idle, an injection is a turn of its own; in an open turn it joins it."""
    with Scene() as scene:
        scene.a.inject("c", source={"kind": "watcher"})
        assert [each.type for each in scene.records()] == [
            "turn/start",
            "context/message",
            "turn/end",
        ]
        start, context, end = scene.records()
        assert start.data["trigger"] == {"kind": "injection", "source": {"kind": "watcher"}}
        assert context.data == {
            "turn": 1,
            "content": [{"type": "text", "text": "c"}],
            "source": {"kind": "watcher"},
        }
        assert end.data == {"turn": 1, "ending": "completed"}
        scene.settle()
        assert scene.requests == []
        assert scene.a.status is Status.IDLE


@pytest.mark.clause("B-54", "D-19", "B-55")
def test_turn_numbers_continue_across_injections_and_a_seed() -> None:
    """1, 2, 3: whoever made the turn, and in a fork from where the seed ends."""
    with Scene() as scene:
        scene.ask("A")
        scene.settle()
        scene.a.inject("c")
        scene.a.send("B")
        scene.settle()
        starts = [each.data["turn"] for each in scene.records() if each.type == "turn/start"]
        assert starts == [1, 2, 3]
        seed = scene.a.session.events[:]
        fork = scene.rt.agents.create(agent_id="fork", seed=seed, parent="a").agent
        fork.inject("d")
        assert fork.session.events[-1].data["turn"] == 4
        assert fork.session.header.seed_length == len(seed)
        scene.settle()


@pytest.mark.clause("A-17")
def test_an_injection_that_cannot_be_appended_leaves_nothing() -> None:
    """The caller gets the error, the log is unchanged and nothing is flushed."""
    with Scene(limits=Limits(record_bytes_max=400)) as scene:
        with pytest.raises(runtime.LimitError, match="record_bytes_max"):
            scene.a.inject("c" * 300, source={"kind": "k" * 300})
        scene.settle()
        scene.expect("")
        assert scene.a.status is Status.IDLE


@pytest.mark.clause("A-19", "D-53")
def test_a_failed_flush_of_an_injection_is_announced_as_step_0() -> None:
    """The caller of `inject` has long returned; it never hears of it."""
    with Scene() as scene:
        scene.hold()
        scene.a.inject("c")
        scene.quiet()
        scene.open("flush", "error")
        scene.expect("TS CM(c) TE{completed} FLUSH! ERR(0)")
        scene.settle()


@pytest.mark.clause("A-21", "A-59", "B-36")
@pytest.mark.seed("SEED-12", "SEED-13")
@pytest.mark.parametrize(
    ("reason", "kept"), [(None, "cancelled"), ("", ""), ("user pressed stop", "user pressed stop")]
)
def test_the_reason_of_a_cancel_is_kept(reason: str | None, kept: str) -> None:
    """Any string is, the empty one too; without one it is `cancelled`."""
    with Scene() as scene:
        scene.ask("A")
        scene.quiet()
        scene.a.cancel(reason)
        scene.settle()
        assert scene.records()[-1].data == {"turn": 1, "ending": "aborted", "reason": kept}


@pytest.mark.clause("A-26", "A-27", "A-28")
@pytest.mark.seed("SEED-01")
def test_a_cancel_is_a_request_that_is_done_when_it_returns() -> None:
    """The status is `cancelled`, once, and the turn is still open."""
    with Scene() as scene:
        scene.ask("A")
        scene.quiet()
        assert scene.a.cancel("r") is None  # type: ignore[func-returns-value]
        assert scene.a.status is Status.CANCELLED
        scene.expect("running TS UM(A) SS abort cancelled")
        scene.a.cancel("again")
        scene.settle()
        scene.expect("running TS UM(A) SS abort cancelled SE TE{aborted:r} FLUSH idle W")


@pytest.mark.clause("A-56", "A-57", "C-14")
@pytest.mark.seed("SEED-16")
@pytest.mark.parametrize(("stop", "status"), [("cancel", "cancelled"), ("dispose", "disposed")])
def test_every_change_is_complete_before_foreign_code_runs(stop: str, status: str) -> None:
    """An abort callback finds the new status and an empty inbox, and no fate is open."""
    found: list[tuple[str, int, int, str | None]] = []

    def look() -> None:
        (about,) = scene.rt.inspect().agents
        found.append((about.status, about.queued, about.steering, scene.signals[0].reason))

    with Scene() as scene:
        scene.ask("A")
        scene.quiet()
        scene.a.send("B")
        scene.a.steer("S")
        scene.at("abort", look)
        scene.at(status, look)
        scene.stop(stop)
        reason = "r" if stop == "cancel" else "disposed"
        assert found == [(status, 0, 0, reason)] * 2
        scene.settle()


@pytest.mark.clause("A-40", "A-41", "A-42", "A-51")
@pytest.mark.seed("SEED-26")
def test_every_listener_sees_the_statuses_in_order() -> None:
    """Also the second one, when the first causes the next status while it is told of one."""
    second: list[tuple[str, str]] = []

    def cause(notice: StatusChanged) -> None:
        if notice.status is Status.RUNNING:
            notice.agent.cancel()
            notice.agent.send("B")
            first.close()

    with Scene() as scene:
        first = scene.rt.on(AGENT_STATUS, cause, plugin="first")
        scene.rt.on(AGENT_STATUS, lambda it: second.append((it.previous, it.status)))
        scene.ask("A")
        scene.settle()
        assert second == [
            ("idle", "running"),
            ("running", "cancelled"),
            ("cancelled", "running"),
            ("running", "idle"),
        ]


@pytest.mark.clause("A-44", "A-78")
@pytest.mark.parametrize(("named", "said"), [("nobody", "'nobody'"), ("stage2", "there is: stage")])
def test_an_agent_whose_model_is_unknown_fails_its_first_step(named: str, said: str) -> None:
    """The turn ends `error`, says why, and the agent is idle again."""
    with Scene(options=AgentOptions(model=named)) as scene:
        scene.ask("A")
        scene.settle()
        scene.expect("running TS UM(A) SS SE ERR(1) TE{error} FLUSH idle W")
        assert said in scene.records()[-1].data["error"]["message"]


@pytest.mark.clause("A-44")
def test_an_agent_without_any_model_says_so() -> None:
    """No model was named, and the runtime has no default."""

    async def run() -> str:
        async with runtime.open_runtime(models={}) as rt:
            agent = rt.agents.create().agent
            agent.send("A")
            await agent.when_idle()
            message: str = agent.session.events[-1].data["error"]["message"]
            return message

    assert "has no model" in asyncio.run(run())


@pytest.mark.clause("A-46", "D-01")
def test_the_log_is_live_and_never_shorter() -> None:
    """One view, read at any time, grows with every record."""
    with Scene() as scene:
        events, lengths = scene.a.session.events, []
        scene.ask("A")
        while scene.stage.move():
            lengths.append(len(events))
        assert lengths == sorted(lengths)
        assert lengths[-1] == 8


@pytest.mark.clause("A-53", "A-54", "C-02")
def test_ids_count_acceptances_and_every_message_has_one_fate() -> None:
    """m1 to m4, whatever became of them."""
    with Scene() as scene:
        scene.ask("A", "B")
        scene.quiet()
        scene.a.steer("S")
        scene.a.send("C")
        scene.a.cancel("r")
        scene.settle()
        assert [each.message_id for each in scene.queued] == ["m1", "m2", "m3", "m4"]
        recorded = [
            each.data["message_id"] for each in scene.records() if "message_id" in each.data
        ]
        assert recorded == ["m1", "m2"]
        scene.expect(
            "running TS UM(A) UM(B) SS abort cancelled -S{cancelled:r} -C{cancelled:r} SE "
            "TE{aborted:r} FLUSH idle W"
        )


@pytest.mark.clause("A-77", "C-06")
def test_a_parked_agent_owns_no_task() -> None:
    """Neither before its first turn nor after its last one."""
    with Scene() as scene:
        assert list(scene.stage.pending) == []
        scene.a.send("A")
        assert list(scene.stage.pending) == ["driver of a"]
        scene.settle()
        assert list(scene.stage.pending) == []
        assert [each.has_task for each in scene.rt.inspect().agents] == [False]


@pytest.mark.clause("B-37", "F-21")
@pytest.mark.parametrize("stop", ["cancel", "dispose"])
def test_stopping_one_agent_leaves_its_siblings_alone(stop: str) -> None:
    """The trace of `b` is the one of a plain turn."""
    with Scene(agents=("a", "b")) as scene:
        scene.ask("A", agent="a")
        scene.ask("A", agent="b")
        scene.quiet()
        scene.stop(stop)
        scene.settle()
        scene.expect("running [A] idle W", "b")
        assert "abort" in scene.trace("a")


@pytest.mark.clause("B-52", "B-53", "B-55", "B-58", "B-59", "B-60")
def test_one_prompt_with_a_plain_reply() -> None:
    """The whole order; the message names its chunks, and the model saw the prompt."""
    with Scene() as scene:
        scene.ask("A")
        scene.settle()
        scene.expect("running TS UM(A) SS CH CH AM SE TE{completed} FLUSH idle W")
        reply = scene.records()[5]
        assert reply.sources == (3, 4)
        assert reply.data["content"] == [{"type": "text", "text": "12"}]
        (request,) = scene.requests
        assert (request.turn, request.step) == (1, 1)


@pytest.mark.clause("K-03", "K-04", "B-66", "B-63")
def test_a_call_of_an_unknown_tool_is_answered_with_an_error() -> None:
    """It raises nowhere: an `is_error` result with name, code and a text that says so."""
    with Scene() as scene:
        scene.replies = [CALL]
        scene.ask("A")
        scene.settle()
        result = next(each.data for each in scene.records() if each.type == "tool/result")
        assert result["is_error"] is True
        assert result["error"] == {"name": "UnknownTool", "code": "unknown-tool"}
        assert result["content"][0]["text"].startswith("Error: ")
        assert result["call_id"] == "k1"
        assert not {"meta", "execution"} & set(result)
