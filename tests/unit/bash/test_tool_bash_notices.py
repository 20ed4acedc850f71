"""Notices: whose they are, how they find their way, and which one may be lost."""

import logging
from collections.abc import Callable
from typing import Any

import pytest

import runtime.bash.tools as tools_module
from runtime import (
    AGENTS,
    SESSION_EVENT,
    AgentDisposedError,
    AgentRegistry,
    RecordAppended,
    Status,
)
from runtime.agent import LiveAgent
from runtime.application import AppContext
from runtime.context import Context, NotInjectedError
from statemachine.conformance.stage.stage import Stage

from .shop import Shop, text_of


@pytest.mark.clause("I-15", "I-16")
@pytest.mark.seed("SEED-62")
def test_tool_bash_notice_finds_the_agent_by_header_id(shop: Shop) -> None:
    """The agent has another id than its session, and an agent with the session's id is no match."""
    decoy, a = shop.agent("session of a", "other"), shop.agent("a")
    job, process = shop.start(a)
    process.end(3)
    shop.stage.run_until_quiet()
    assert shop.notices(a) == [
        f"Background job {job} has finished: completed with exit code 3. "
        "What it wrote can be read with bash_output."
    ]
    assert shop.notices(decoy) == []
    (record,) = (each for each in a.session.events if each.type == "context/message")
    assert record.data["source"] == {"kind": "plugin", "plugin": "bash-tools", "job_id": job}


@pytest.mark.clause("I-20")
def test_a_notice_wakes_nobody(shop: Shop) -> None:
    """It is a turn of its own in which no model is asked; the next prompt finds it in the log."""
    a = shop.agent("a")
    _, process = shop.start(a)
    process.end()
    shop.stage.run_until_quiet()
    assert [each.type for each in a.session.events] == [
        "turn/start",
        "context/message",
        "turn/end",
    ]
    assert a.status is Status.IDLE


@pytest.mark.clause("I-15", "H-38")
@pytest.mark.parametrize("how", ["exit", "kill", "spawn"])
def test_every_job_is_told_of_once(shop: Shop, how: str) -> None:
    """However it ended; a job that its own session killed, too."""
    a = shop.agent("a")
    if how == "spawn":
        shop.processes.refusal = lambda _: OSError(1, "no")
        call = shop.use(a, "bash", command="c", description="d", run_in_background=True)
        assert call.is_done
    else:
        job, process = shop.start(a)
        if how == "kill":
            shop.kill(a, job)
            shop.kill(a, job)
        process.end()
    shop.stage.run_until_quiet()
    assert len(shop.notices(a)) == 1


@pytest.mark.clause("I-17")
def test_nobody_to_tell_is_no_error(shop: Shop, caplog: pytest.LogCaptureFixture) -> None:
    """No owner, no agent on its session, no registry."""
    a = shop.agent("a")
    _, open_job = shop.start(None)
    _, orphan = shop.start(a)
    _, unregistered = shop.start(a)
    open_job.end()
    shop.dispose("a")
    orphan.end()
    shop.stage.complete(_wait(shop.rt.driver.dispose()))
    unregistered.end()
    shop.stage.run_until_quiet()
    assert shop.notices(a) == []
    assert caplog.text == ""


async def _wait(awaitable: Any) -> Any:  # noqa: ANN401  # whatever it gives
    return await awaitable


@pytest.mark.clause("I-18")
def test_an_owner_that_was_disposed_meanwhile_is_passed_over(
    shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    """It is still listed while its teardown runs."""
    a = shop.agent("a")
    _, process = shop.start(a)
    shop.handles["a"].dispose()
    assert a in shop.rt.agents.list()
    with pytest.raises(AgentDisposedError):
        a.inject("x")
    process.end()
    assert caplog.text == ""
    shop.stage.run_until_quiet()
    assert shop.notices(a) == []


@pytest.mark.clause("I-18")
def test_any_other_failure_is_logged(
    shop: Shop, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is contained by whoever announces, and the job is over for everybody else."""

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("inject is broken")

    a = shop.agent("a")
    job, process = shop.start(a)
    monkeypatch.setattr(LiveAgent, "inject", fail)
    with caplog.at_level(logging.ERROR):
        process.end()
    assert "inject is broken" in caplog.text
    assert "bash-tools" in caplog.text
    assert "completed with exit code 0" in text_of(shop.read(a, job))


@pytest.mark.clause("I-19", "I-13")
@pytest.mark.seed("SEED-64")
def test_tool_bash_reload_gap_loses_one_notice_and_nothing_else(shop: Shop) -> None:
    """The job is there, with its output and its end; jobs before and behind it are told of."""
    a = shop.agent("a")
    before, gap, behind = (shop.start(a, name) for name in ("before", "gap", "behind"))
    before[1].end()
    restart = shop.tools.restart()
    gap[1].write(b"text")
    gap[1].end(5)
    shop.stage.complete(_wait(restart))
    behind[1].end()
    shop.stage.run_until_quiet()
    told = [each.split()[2] for each in shop.notices(a)]
    assert told == [before[0], behind[0]]
    assert text_of(shop.read(a, gap[0])) == "text\n[completed with exit code 5]"


@pytest.mark.clause("I-16")
@pytest.mark.seed("SEED-63")
def test_foreign_fiber_lookup(shop: Shop) -> None:
    """The job ends in the executor's fiber: there a property is refused, and a look-up is not."""
    contexts: list[Context] = []
    apply = tools_module._tell_owner  # noqa: SLF001  # what runs there

    def note(context: Context, *rest: Any) -> None:  # noqa: ANN401  # whatever it is given
        contexts.append(context)
        with pytest.raises(NotInjectedError):
            context.need(AGENTS)
        assert isinstance(context, AppContext)
        apply(context, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tools_module, "_tell_owner", note)
        shop.stage.complete(_wait(shop.tools.restart()))
    a = shop.agent("a")
    shop.start(a)[1].end()
    shop.stage.run_until_quiet()
    assert len(contexts) == len(shop.notices(a)) == 1


@pytest.mark.clause("I-15")
def test_a_notice_during_a_turn_joins_it(shop: Shop) -> None:
    """As any injection does."""
    a = shop.agent("a")
    _, process = shop.start(a)

    def end(notice: RecordAppended) -> None:
        if notice.record.type == "step/start":
            process.end()

    shop.rt.on(SESSION_EVENT, end)
    a.send("hello")
    shop.stage.run_until_quiet()
    assert len(shop.notices(a)) == 1
    turns = {record.data["turn"] for record in a.session.events}
    assert turns == {1}


@pytest.mark.clause("I-15", "I-31")
def test_the_owner_is_told_although_another_agent_lives_by_then(shop: Shop) -> None:
    """The session is open again, by another agent: that one is the live owner."""
    first = shop.agent("a", "s")
    _, process = shop.start(first)
    shop.dispose("a")
    again = shop.agent("a", "t")
    owner = shop.agent("b", "s")
    process.end()
    shop.stage.run_until_quiet()
    assert [len(shop.notices(each)) for each in (first, again, owner)] == [0, 0, 1]


# -- Broken notices --------------------------------------------------------------------------------


def _by_key(context: Context, bash: Any, notice: Any) -> None:  # noqa: ANN401  # as the original
    owner = bash.owner_of(notice.task.id)
    roster = context.get(AGENTS)
    assert roster is not None
    agent = AgentRegistry(roster, context).get(owner or "")
    if agent is not None:
        agent.inject("found by its key")


def _by_property(context: Any, bash: Any, notice: Any) -> None:  # noqa: ANN401  # as the original
    owner = bash.owner_of(notice.task.id)
    for agent in context.agents.list():
        if agent.session.header.id == owner:
            agent.inject("found by a property")


def _by_prompt(context: Context, bash: Any, notice: Any) -> None:  # noqa: ANN401  # as the original
    owner = bash.owner_of(notice.task.id)
    roster = context.get(AGENTS)
    assert roster is not None
    for agent in AgentRegistry(roster, context).list():
        if agent.session.header.id == owner:
            agent.send("wake up")


@pytest.mark.parametrize(
    ("broken", "test"),
    [
        (_by_key, test_tool_bash_notice_finds_the_agent_by_header_id),
        (_by_property, test_tool_bash_notice_finds_the_agent_by_header_id),
        (_by_prompt, test_a_notice_wakes_nobody),
    ],
)
def test_a_broken_notice_is_seen(
    broken: Callable[..., None],
    test: Callable[[Shop], None],
    stage: Stage,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By the agent's own id, by a property, as a prompt: each fails the test that is about it."""
    monkeypatch.setattr(tools_module, "_tell_owner", broken)
    with pytest.raises(AssertionError), Shop(stage) as shop:
        test(shop)
    stage.close()
