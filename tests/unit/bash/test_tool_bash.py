"""The tools: arguments, directories, and who may touch whose job."""

import ast
import inspect
import signal
from collections.abc import Callable
from typing import Any

import pytest

import runtime.bash.tools as tools_module
from runtime import (
    BASH,
    BashExecRequest,
    BashExecutor,
    Context,
    JobStatus,
    Plugin,
    UnknownIdError,
)
from runtime.bash.tools import _Bodies
from runtime.tools import ToolUse
from statemachine.conformance.stage.stage import Stage

from .shop import GRACE_S, Shop, text_of

FENCED = "belongs to another session"


@pytest.mark.clause("I-01")
def test_tools_come_and_go_with_what_they_need(shop: Shop) -> None:
    """Without the executor there are none; with it again, there are."""
    names = ["bash", "bash_output", "bash_kill"]
    assert [tool.name for tool in shop.registry.list()] == names
    assert [shop.rt.bash] == [shop.bash]
    shop.executor.dispose()
    shop.stage.run_until_quiet()
    assert [shop.rt.bash] == [None]
    assert shop.registry.list() == ()
    assert shop.use(shop.agent("a"), "bash").result().is_error


@pytest.mark.clause("I-01", "I-13")
def test_tools_go_with_their_plugin(shop: Shop) -> None:
    """And the executor goes on without them."""
    a = shop.agent("a")
    job, process = shop.start(a)
    shop.tools.dispose()
    shop.stage.run_until_quiet()
    assert shop.registry.list() == ()
    assert "no tool is named" in text_of(shop.read(a, job))
    assert (process.signals, shop.bash.get(job) is not None) == ([], True)


@pytest.mark.clause("I-02")
@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("bash", {"description": "d"}, "invalid-arguments"),
        ("bash", {"command": "c"}, "invalid-arguments"),
        ("bash", {"command": 7, "description": "d"}, "invalid-arguments"),
        ("bash", {"command": " \n", "description": "d"}, "invalid-command"),
        ("bash", {"command": "c", "description": "\t"}, "invalid-command"),
        ("bash", {"command": "c", "description": "d", "timeout_s": 0}, "invalid-arguments"),
        ("bash", {"command": "c", "description": "d", "timeout_s": -1}, "invalid-arguments"),
        ("bash", {"command": "c", "description": "d", "timeout_s": "1"}, "invalid-arguments"),
        ("bash", {"command": "c", "description": "d", "timeout_s": 2**40}, "invalid-command"),
        ("bash", {"command": "a\0b", "description": "d"}, "invalid-command"),
        ("bash", {"command": "c", "description": "d", "workdir": 7}, "invalid-arguments"),
        ("bash", {"command": "c", "description": "d", "workdir": "a\0"}, "invalid-command"),
        ("bash_output", {}, "invalid-arguments"),
        ("bash_output", {"job_id": ""}, "invalid-arguments"),
        ("bash_kill", {"job_id": 7}, "invalid-arguments"),
        ("bash_kill", {"job_id": "bash-0000-1"}, "unknown-id"),
    ],
)
def test_bad_arguments_start_nothing(
    shop: Shop, name: str, arguments: dict[str, Any], code: str
) -> None:
    """They become an error result with a code, and the executor runs nothing."""
    result = shop.use(shop.agent("a"), name, **arguments).result()
    assert result.is_error
    assert result.error is not None
    assert result.error.code == code
    assert shop.processes.started == []


@pytest.mark.clause("I-03", "I-05")
def test_only_named_arguments_reach_the_executor(shop: Shop) -> None:
    """A model that sends variables, standard input or an owner sends them in vain."""
    a = shop.agent("a")
    extra = {"env": {"A": "1"}, "environment": {"A": "1"}, "stdin": "x", "owner": "session of b"}
    shop.use(a, "bash", command="c", description="rm -rf", run_in_background=True, **extra)
    spec = shop.processes.last().spec
    assert "A" not in spec.environment
    assert (spec.stdin, spec.arguments[1:]) == (None, ("-c", "c"))
    assert [shop.bash.owner_of(job.id) for job in shop.bash.list()] == ["session of a"]


@pytest.mark.clause("I-04")
@pytest.mark.parametrize(
    ("home", "asked", "expected"),
    [
        ("/home-of-session", None, "/home-of-session"),
        ("/home-of-session", "sub", "/home-of-session/sub"),
        ("/home-of-session", "/abs", "/abs"),
        (None, None, "/default"),
        (None, "sub", "/default/sub"),
        (None, "/abs", "/abs"),
    ],
)
def test_directories(shop: Shop, home: str | None, asked: str | None, expected: str) -> None:
    """Asked for, else the session's, else the executor's."""
    a = shop.agent("a", cwd=home)
    asking = {} if asked is None else {"workdir": asked}
    shop.use(a, "bash", command="c", description="d", **asking)
    assert shop.processes.last().spec.workdir == expected
    shop.processes.last().end()


@pytest.mark.clause("I-06")
@pytest.mark.seed("SEED-58")
def test_tool_bash_stamps_header_id(shop: Shop) -> None:
    """The owner is the id in the session's header, and not that of the agent."""
    a = shop.agent("a")
    job, _ = shop.start(a)
    assert shop.bash.owner_of(job) == a.session.header.id == "session of a"


@pytest.mark.clause("I-07", "I-09", "I-10")
@pytest.mark.seed("SEED-60")
def test_a_caller_that_is_no_agent(shop: Shop) -> None:
    """It starts jobs that are nobody's and open to everyone, and touches nobody else's."""
    a = shop.agent("a")
    owned, _ = shop.start(a)
    open_job, process = shop.start(None)
    assert shop.bash.owner_of(open_job) is None
    process.write(b"text")
    assert "text" in text_of(shop.read(a, open_job))
    for verb in (shop.read, shop.kill):
        result = verb(None, owned)
        assert result.is_error
        assert FENCED in text_of(result)
    assert not shop.kill(None, open_job).is_error


@pytest.mark.clause("I-08")
@pytest.mark.seed("SEED-60")
@pytest.mark.case("CASE-104")
def test_tool_bash_isolation(shop: Shop) -> None:
    """Another session is refused, learns nothing, and changes nothing; the owner is not."""
    a, b = shop.agent("a"), shop.agent("b")
    job, process = shop.start(a)
    process.write(b"secret")
    for verb in (shop.read, shop.kill):
        result = verb(b, job)
        assert (result.is_error, FENCED in text_of(result)) == (True, True)
        assert result.error is not None
        assert result.error.code == "foreign-job"
        assert "secret" not in text_of(result)
    assert process.signals == []
    assert "secret" in text_of(shop.read(a, job))
    assert not shop.kill(a, job).is_error


@pytest.mark.clause("I-08")
def test_a_token_is_compared_as_a_whole(shop: Shop) -> None:
    """A part of it, a longer one and another case are tokens of other sessions."""
    job, process = shop.start(shop.agent("a", "s-2"))
    for other in ("s", "s-22", "S-2", "-2"):
        stranger = shop.agent(f"b{other}", other)
        for verb in (shop.read, shop.kill):
            assert FENCED in text_of(verb(stranger, job))
    assert process.signals == []


@pytest.mark.clause("I-08", "H-34")
@pytest.mark.seed("SEED-59")
def test_tool_bash_empty_owner(shop: Shop) -> None:
    """An empty token is an owner: whoever has another one, or none, is refused."""
    b = shop.agent("b")
    job = shop.bash.start(shop.bash.resolve(BashExecRequest(command="c", owner="")))
    for caller in (b, None):
        for verb in (shop.read, shop.kill):
            assert FENCED in text_of(verb(caller, job.id))
    assert shop.processes.last().signals == []


@pytest.mark.clause("I-11", "I-32", "I-31")
@pytest.mark.case("CASE-108")
def test_another_agent_on_the_same_session_may(shop: Shop) -> None:
    """The job outlives the agent that started it, and the session has it again when it is open."""
    a = shop.agent("a", "s")
    job, process = shop.start(a)
    process.write(b"before ")
    shop.dispose("a")
    assert process.signals == []
    process.write(b"after")
    stranger = shop.agent("a", "t")
    assert FENCED in text_of(shop.read(stranger, job))
    again = shop.agent("b", "s")
    assert "before after" in text_of(shop.read(again, job))
    assert not shop.kill(again, job).is_error


@pytest.mark.clause("I-12")
@pytest.mark.parametrize("name", ["bash_output", "bash_kill"])
def test_an_unknown_id_is_refused_by_the_executor(shop: Shop, name: str) -> None:
    """With its own words, which are those of an error of ours."""
    result = shop.use(shop.agent("a"), name, job_id="bash-0000-1").result()
    assert UnknownIdError.__name__ in text_of(result)
    assert "was never started here" in text_of(result)


@pytest.mark.clause("I-13", "I-08")
@pytest.mark.seed("SEED-61", "SEED-57")
@pytest.mark.case("CASE-103")
def test_tool_bash_reload(shop: Shop) -> None:
    """Before, during and after: the owner may whenever there are tools, nobody else ever may."""
    a, b = shop.agent("a"), shop.agent("b")
    job, process = shop.start(a)
    process.write(b"one")
    shop.stage.complete(_wait(shop.tools.restart()))
    assert FENCED in text_of(shop.read(b, job))
    assert FENCED in text_of(shop.kill(b, job))
    process.write(b" two")
    assert "one two" in text_of(shop.read(a, job))
    assert process.signals == []
    assert not shop.kill(a, job).is_error
    assert shop.stage.complete(_wait(shop.tools)) is not None
    assert FENCED in text_of(shop.read(b, job))


async def _wait(awaitable: Any) -> Any:  # noqa: ANN401  # whatever it gives
    return await awaitable


@pytest.mark.clause("I-14")
@pytest.mark.seed("SEED-57")
def test_the_tools_keep_nothing() -> None:
    """No module-level table, and what the bodies hold is the executor and nothing else."""
    tree = ast.parse(inspect.getsource(tools_module))
    assigned = {
        ast.unparse(target)
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    }
    assert assigned == {"__all__", "_NAME", "_RUN", "_READ", "_KILL", "_JOB_ID"}
    assert [each.name for each in _Bodies.__attrs_attrs__] == ["bash"]


@pytest.mark.clause("I-31", "I-24")
@pytest.mark.case("CASE-108")
def test_the_signal_of_a_turn_ends_foreground_commands_only(shop: Shop) -> None:
    """A job that the same turn started goes on."""
    a = shop.agent("a")
    background = shop.use(a, "bash", command="job", description="d", run_in_background=True)
    background.authority.fire("stop")
    job = shop.processes.last()
    foreground = shop.use(a, "bash", command="run", description="d")
    foreground.authority.fire("stop")
    assert shop.processes.last().signals == [signal.SIGTERM]
    result = foreground.result()
    assert result.is_error
    assert result.error is not None
    assert result.error.code == "aborted"
    assert job.signals == []
    assert shop.bash.get(background.text) is not None


@pytest.mark.clause("I-27", "I-12")
def test_a_kill_waits_until_nothing_is_left(shop: Shop) -> None:
    """It says by what the job ended, or that it had ended before."""
    a = shop.agent("a")
    shop.processes.ignore_term()
    job, _ = shop.start(a)
    call, another = (shop.use(a, "bash_kill", job_id=job) for _ in range(2))
    assert not call.is_done
    assert call.text == another.text == f"Job {job} was ended: killed by SIGKILL."
    assert shop.stage.now == GRACE_S
    assert text_of(shop.kill(a, job)) == f"Job {job} had already finished: killed by SIGKILL."


@pytest.mark.clause("I-24", "H-13")
def test_a_job_that_cannot_start_is_read_like_any_other(shop: Shop) -> None:
    """The start succeeds, the reason is in the output, and a foreground command is an error."""
    shop.processes.refusal = lambda _: OSError(11, "Resource temporarily unavailable")
    a = shop.agent("a")
    call = shop.use(a, "bash", command="c", description="d", run_in_background=True)
    text = text_of(shop.read(a, call.text))
    assert "Resource temporarily unavailable" in text
    assert text.endswith("[killed]")
    result = shop.use(a, "bash", command="c", description="d").result()
    assert result.error is not None
    assert (result.is_error, result.error.code) == (True, "spawn-failed")


@pytest.mark.clause("I-33")
@pytest.mark.seed("SEED-65")
def test_a_second_consumer_has_a_policy_of_its_own(shop: Shop) -> None:
    """Here every member of a team may look; the executor knows nothing of teams."""
    bash = shop.bash
    seen: list[str] = []

    def may(member: str, job_id: str) -> bool:
        owner = bash.owner_of(job_id)
        return owner is not None and owner.split("/")[0] == member.split("/", maxsplit=1)[0]

    def apply(context: Context, _: None) -> None:
        executor = context.need(BASH)
        request = BashExecRequest(command="shared", owner="red/ann")
        job = executor.start(executor.resolve(request))
        seen.extend(each for each in ("red/bob", "red/ann", "blue/eve") if may(each, job.id))

    shop.rt.context.plugin(Plugin(name="teams", apply=apply, inject=(BASH,)))
    shop.stage.run_until_quiet()
    assert seen == ["red/bob", "red/ann"]
    (job,) = bash.list()
    assert FENCED in text_of(shop.read(shop.agent("a"), job.id))
    assert job.status is JobStatus.RUNNING


# -- Broken policies -------------------------------------------------------------------------------


def _by_truth(self: _Bodies, job_id: str, use: ToolUse) -> None:
    owner = self.bash.owner_of(job_id)
    if owner and owner != use.session.header.id:
        raise tools_module.ForeignJobError(FENCED)


def _by_agent(self: _Bodies, job_id: str, use: ToolUse) -> None:
    owner = self.bash.owner_of(job_id)
    if owner is not None and (use.agent is None or owner != f"session of {use.agent.id}"):
        raise tools_module.ForeignJobError(FENCED)


def _not_at_all(self: _Bodies, job_id: str, use: ToolUse) -> None:
    del self, job_id, use


@pytest.mark.parametrize(
    ("policy", "test"),
    [
        (_by_truth, test_tool_bash_empty_owner),
        (_by_agent, test_another_agent_on_the_same_session_may),
        (_not_at_all, test_tool_bash_isolation),
        (_not_at_all, test_tool_bash_reload),
    ],
)
def test_a_broken_policy_is_seen(
    policy: Callable[[_Bodies, str, ToolUse], None],
    test: Callable[[Shop], None],
    stage: Stage,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Truthiness, identity and no policy at all each fail the test that is about it."""
    monkeypatch.setattr(_Bodies, "_check_access", policy)
    with pytest.raises(AssertionError), Shop(stage) as shop:
        test(shop)
    stage.close()


class _ForgetsOwners:
    """What an executor looks like to tools that keep the owners themselves and were reloaded."""

    def __init__(self, bash: BashExecutor) -> None:
        self._bash = bash
        self._born = {job.id for job in bash.list()}

    def owner_of(self, job_id: str) -> str | None:
        """Know only what was started since."""
        return None if job_id in self._born else self._bash.owner_of(job_id)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # whatever it has
        return getattr(self._bash, name)


def test_a_table_of_owners_in_the_tools_is_seen(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is empty after the reload, and then everybody may do everything."""
    bodies = _Bodies

    def make(bash: BashExecutor) -> _Bodies:
        forgetful: Any = _ForgetsOwners(bash)
        return bodies(forgetful)

    monkeypatch.setattr(tools_module, "_Bodies", make)
    with pytest.raises(AssertionError), Shop(stage) as shop:
        test_tool_bash_reload(shop)
    stage.close()
