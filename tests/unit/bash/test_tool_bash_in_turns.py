"""The tools as a model uses them: in turns, which are cancelled, disposed of and interrupted."""

import json
import signal
from collections.abc import Iterator

import pytest

from runtime import Agent, ScriptedModel, Status
from runtime.session.records import Record
from statemachine.conformance.stage.stage import Stage

from .shop import GRACE_S, Shop

JOB = "bash-6b86-1"
"""The id of the first job: the identifiers of the shop are the same in every run."""


def calling(prompt: str, name: str, **arguments: object) -> str:
    """Return the line of a script that answers a prompt with one call."""
    call = {"call_id": prompt, "name": name, "arguments": arguments}
    return json.dumps({"when": f"^{prompt}$", "tool_calls": [call], "repeat": 1})


SCRIPT = (
    calling("start", "bash", command="job", description="d", run_in_background=True),
    calling("run", "bash", command="run", description="d"),
    calling("read", "bash_output", job_id=JOB),
    calling("kill", "bash_kill", job_id=JOB),
    calling("peep", "bash_output", job_id=JOB),
    calling("meddle", "bash_kill", job_id=JOB),
    json.dumps({"chunks": ["done"]}),
)


@pytest.fixture
def shop(stage: Stage) -> Iterator[Shop]:
    """A runtime whose model makes the calls that its prompts name."""
    model = ScriptedModel.from_lines(SCRIPT)
    with Shop(stage, model=model) as made:
        yield made


def say(shop: Shop, agent: Agent, prompt: str) -> None:
    """Send a prompt, and let the turn go as far as it can."""
    agent.send(prompt)
    shop.stage.run_until_quiet()


def results(agent: Agent) -> list[Record]:
    """Return the results of calls in an agent's log."""
    return [record for record in agent.session.events if record.type == "tool/result"]


def last_text(agent: Agent) -> str:
    """Return the text of the last result."""
    text: str = results(agent)[-1].data["content"][0]["text"]
    return text


@pytest.mark.clause("I-06", "I-08", "I-13", "I-15", "I-28", "I-31")
@pytest.mark.case("CASE-103", "CASE-104", "CASE-108")
def test_a_job_in_a_conversation(shop: Shop) -> None:
    """Started in one turn, read in another behind a reload, refused to a stranger, killed."""
    a, b = shop.agent("a"), shop.agent("b")
    say(shop, a, "start")
    assert last_text(a) == JOB
    assert a.status is Status.IDLE
    shop.processes.last().write(b"text")
    shop.stage.complete(_end(shop))
    say(shop, b, "peep")
    assert "belongs to another session" in last_text(b)
    assert "text" not in last_text(b)
    say(shop, b, "meddle")
    assert "belongs to another session" in last_text(b)
    say(shop, a, "read")
    assert last_text(a) == "text\n[running]"
    say(shop, a, "kill")
    assert last_text(a) == f"Job {JOB} was ended: killed by SIGTERM."
    assert len(shop.notices(a)) == 1
    assert shop.notices(b) == []


async def _end(shop: Shop) -> None:
    await shop.tools.restart()


@pytest.mark.clause("I-15", "A-16")
def test_a_notice_between_a_call_and_its_result_waits_for_the_result(shop: Shop) -> None:
    """The kill is answered first; what is told of the job follows in the same turn."""
    a = shop.agent("a")
    say(shop, a, "start")
    say(shop, a, "kill")
    types = [record.type for record in a.session.events if record.data["turn"] == 2]
    assert types.index("tool/result") < types.index("context/message") < types.index("turn/end")


@pytest.mark.clause("I-31", "I-24", "H-14")
@pytest.mark.parametrize("how", ["cancel", "dispose"])
@pytest.mark.parametrize("is_deaf", [False, True])
def test_the_stop_of_a_turn_ends_its_command_and_no_job(
    shop: Shop,
    how: str,
    is_deaf: bool,  # noqa: FBT001  # a parameter of the test
) -> None:
    """The turn closes with a result that says so, and nothing of the command is left."""
    a = shop.agent("a")
    say(shop, a, "start")
    job = shop.processes.last()
    shop.processes.deaf_to = frozenset({signal.SIGTERM}) if is_deaf else frozenset()
    say(shop, a, "run")
    command = shop.processes.last()
    assert command.signals == []
    if how == "cancel":
        a.cancel("enough")
        shop.stage.complete(a.when_idle())
    else:
        shop.dispose("a")
    assert command.is_gone
    assert job.signals == []
    assert shop.stage.now == (GRACE_S if is_deaf else 0.0)
    result = results(a)[-1].data
    assert (result["is_error"], result["error"]["code"]) == (True, "aborted")
    ending = a.session.events[-1]
    assert (ending.type, ending.data["ending"]) == (
        "turn/end",
        "aborted" if how == "cancel" else "disposed",
    )


@pytest.mark.clause("H-57", "H-59", "B-117")
def test_a_command_that_cannot_be_ended_holds_up_no_turn(shop: Shop) -> None:
    """The turn gives up within its grace, and the executor goes on with the command."""
    a = shop.agent("a")
    shop.processes.ignore_everything()
    say(shop, a, "run")
    a.cancel()
    shop.stage.complete(a.when_idle())
    command = shop.processes.last()
    assert shop.stage.now == shop.limits.abort_grace_s
    assert (command.is_gone, command.signals) == (False, [signal.SIGTERM, signal.SIGKILL])
    assert results(a)[-1].data["error"]["code"] == "interrupted"
    command.end(-9)
    shop.stage.run_until_quiet()
