"""The public surface, name by name: whoever changes it changes this file."""

import inspect
import re

import attrs
import pytest

import runtime
from runtime import Agent, AgentHandle, AgentRegistry, Teardown, exchange, open_runtime
from runtime.agent import LiveAgent
from runtime.turn import Turn

NAMES = [
    "AGENTS",
    "AGENT_CREATED",
    "AGENT_DISCARDED",
    "AGENT_DISPOSED",
    "AGENT_ERROR",
    "AGENT_QUEUED",
    "AGENT_SESSION_START",
    "AGENT_STATUS",
    "BASH",
    "BASH_FINISHED",
    "PERSISTENCE",
    "SESSION_CREATED",
    "SESSION_ENDED",
    "SESSION_EVENT",
    "SESSION_FLUSH",
    "SYSTEM_PROMPT",
    "TOOLS",
    "TOOLS_CHANGED",
    "AbortSignal",
    "Agent",
    "AgentDisposedError",
    "AgentFailed",
    "AgentHandle",
    "AgentInspection",
    "AgentNotice",
    "AgentOptions",
    "AgentRegistry",
    "Announcement",
    "AppContext",
    "Backend",
    "BashConfig",
    "BashExecRequest",
    "BashExecSpec",
    "BashExecutor",
    "BashFinished",
    "BashRead",
    "BashResult",
    "BashTask",
    "Blocking",
    "CallerError",
    "CommandAbortedError",
    "ConfiguredAgent",
    "Context",
    "DamagedSessionError",
    "Discarded",
    "DuplicateIdError",
    "EchoModel",
    "Effect",
    "Ending",
    "ExecutorClosedError",
    "Fate",
    "Fiber",
    "FiberState",
    "Finish",
    "FinishKind",
    "ForeignJobError",
    "Inspection",
    "InvalidCommandError",
    "InvalidContentError",
    "InvalidRecordError",
    "JobStatus",
    "JsonLinesBackend",
    "LifecycleError",
    "LimitError",
    "Limits",
    "LinkFailure",
    "MemoryBackend",
    "Message",
    "Model",
    "ModelError",
    "ModelRequest",
    "Persistence",
    "Plugin",
    "PluginError",
    "Queued",
    "ReasoningDelta",
    "Record",
    "RecordAppended",
    "RemovingBackend",
    "Reply",
    "Runtime",
    "ScriptError",
    "ScriptedModel",
    "Session",
    "SessionBusyError",
    "SessionHeader",
    "SessionEnded",
    "SessionNotice",
    "SessionStarted",
    "Sessions",
    "SpawnError",
    "SqliteBackend",
    "Status",
    "StatusChanged",
    "StorageError",
    "StoredHeader",
    "StoredSession",
    "StreamOutput",
    "Subscription",
    "SystemPrompt",
    "Teardown",
    "TeardownReport",
    "TextDelta",
    "Token",
    "Tool",
    "ToolCallDelta",
    "ToolErrorInfo",
    "ToolRegistry",
    "ToolResult",
    "ToolUse",
    "ToolsChanged",
    "UnknownIdError",
    "Usage",
    "Window",
    "WouldDeadlockError",
    "bash_plugin",
    "bash_tools_plugin",
    "exchange",
    "open_runtime",
    "seams",
]

SURFACE = {
    "send",
    "steer",
    "inject",
    "cancel",
    "when_idle",
    "status",
    "options",
    "session",
    "id",
}


def public(thing: object) -> set[str]:
    """Return the public names of an object."""
    return {each for each in dir(thing) if not each.startswith("_")}


PRIVATE = {"AbortAuthority", "Core", "Turn", "Queues"}
"""What only the driver and its neighbours may hold."""


def told_types(thing: object) -> set[str]:
    """Return every type that the public attributes and methods of a class speak of."""
    members = vars(thing).items() if isinstance(thing, type) else ()
    told = [str(note) for note in getattr(thing, "__annotations__", {}).values()]
    for name, member in members:
        if not name.startswith("_"):
            call = member.fget if isinstance(member, property) else member
            told += [str(note) for note in getattr(call, "__annotations__", {}).values()]
    return set(re.findall(r"\w+", " ".join(told)))


def test_the_package_exports_exactly_these_names() -> None:
    """And every one of them can be had."""
    assert sorted(NAMES) == sorted(runtime.__all__)
    assert all(hasattr(runtime, each) for each in NAMES)


@pytest.mark.clause("A-01", "A-49", "A-50", "A-72")
@pytest.mark.seed("SEED-11", "SEED-12", "SEED-14", "SEED-23")
@pytest.mark.parametrize("agent", [Agent, LiveAgent])
def test_the_surface_of_an_agent_is_closed(agent: type) -> None:
    """Nine names; nothing that stops but `cancel`, nothing that ends, removes or keeps."""
    assert public(agent) == SURFACE
    for missing in ("abort", "stop", "kill", "close", "dispose", "interrupt", "clear", "remove"):
        assert not hasattr(agent, missing)


@pytest.mark.clause("A-01")
@pytest.mark.seed("SEED-14")
def test_nothing_public_leads_to_what_aborts_a_turn() -> None:
    """No public class takes, returns or has the authority; the signal is all anybody gets."""
    assert told_types(Turn) & PRIVATE
    assert [each for each in NAMES if told_types(getattr(runtime, each)) & PRIVATE] == []
    assert public(runtime.AbortSignal) == {"is_aborted", "reason", "on_abort", "wait"}


@pytest.mark.clause("A-01", "A-50")
@pytest.mark.seed("SEED-11", "SEED-12")
def test_one_more_way_to_stop_would_be_seen() -> None:
    """The closed list is compared with what is there, also with what a base class brings."""

    class Louder(LiveAgent):
        def abort(self) -> None:
            """Stop the step."""

    assert public(Louder) - SURFACE == {"abort"}


@pytest.mark.clause("A-01", "A-49")
@pytest.mark.seed("SEED-14")
def test_the_data_of_an_agent_cannot_be_set() -> None:
    """`status`, `options`, `session` and `id` are read-only, and nothing can be added."""
    for name in ("status", "options", "session", "id"):
        attribute = inspect.getattr_static(LiveAgent, name)
        assert isinstance(attribute, property)
        assert attribute.fset is None
    assert not hasattr(LiveAgent, "__dict__") or "__dict__" not in dir(LiveAgent)


@pytest.mark.clause("A-26", "A-50", "A-72", "A-21")
@pytest.mark.seed("SEED-01", "SEED-12", "SEED-17")
@pytest.mark.parametrize("agent", [Agent, LiveAgent])
def test_cancel_takes_a_reason_and_nothing_else(agent: type[LiveAgent]) -> None:
    """It is no coroutine, addresses no message, and has no way to keep the queue."""
    parameters = inspect.signature(agent.cancel).parameters
    assert list(parameters) == ["self", "reason"]
    assert parameters["reason"].default is None
    assert not inspect.iscoroutinefunction(agent.cancel)


@pytest.mark.clause("A-02", "A-72")
@pytest.mark.seed("SEED-25")
@pytest.mark.parametrize("verb", ["send", "steer", "inject"])
def test_the_verbs_take_content_and_a_source(verb: str) -> None:
    """No id goes in, and they are no coroutines; only `when_idle` is."""
    call = getattr(LiveAgent, verb)
    assert str(inspect.signature(call)) == (
        "(self, content: object, *, source: object = None) -> None"
    )
    assert not inspect.iscoroutinefunction(call)
    assert inspect.iscoroutinefunction(LiveAgent.when_idle)


@pytest.mark.clause("F-01", "F-32", "A-50", "A-72", "F-42")
@pytest.mark.seed("SEED-29", "SEED-30")
def test_handles_and_registry() -> None:
    """`create` is synchronous and by name only; `dispose` takes nothing and returns at once."""
    parameters = inspect.signature(AgentRegistry.create).parameters
    names = ["self", "agent_id", "session_id", "options", "cwd", "seed", "parent"]
    assert list(parameters) == names
    assert all(parameters[each].kind is inspect.Parameter.KEYWORD_ONLY for each in names[1:])
    assert not inspect.iscoroutinefunction(AgentRegistry.create)
    assert list(inspect.signature(AgentHandle.dispose).parameters) == ["self"]
    assert not inspect.iscoroutinefunction(AgentHandle.dispose)
    assert public(AgentHandle) == {"agent", "dispose"}
    assert list(inspect.signature(AgentRegistry.resume).parameters)[1:] == [
        "session_id",
        "agent_id",
        "options",
    ]
    assert inspect.iscoroutinefunction(AgentRegistry.resume)
    assert public(AgentRegistry) == {"create", "resume", "get", "list"}
    assert "__await__" in dir(Teardown)


@pytest.mark.clause("A-79", "F-43")
def test_functions_of_the_package() -> None:
    """`exchange` and `open_runtime`, with everything optional by name."""
    assert list(inspect.signature(exchange).parameters) == ["agent", "content", "source"]
    assert inspect.iscoroutinefunction(exchange)
    parameters = inspect.signature(open_runtime).parameters
    assert list(parameters)[:5] == ["store", "models", "default_model", "limits", "clock"]
    assert all(each.default is not inspect.Parameter.empty for each in parameters.values())


@pytest.mark.clause("F-44")
def test_every_bound_has_its_unit_in_its_name_and_a_default() -> None:
    """And a value that makes no sense is refused by the name of the field."""
    for each in attrs.fields(runtime.Limits):
        assert each.default is not attrs.NOTHING
        assert each.name.endswith(("_s", "_max"))
        for bad in (-1, "7", None, True, float("nan"), float("inf")):
            with pytest.raises(ValueError, match=each.name):
                runtime.Limits(**{each.name: bad})  # type: ignore[arg-type]  # the point


def test_every_public_name_is_documented() -> None:
    """Whatever is exported says what it is for."""
    undocumented = [
        each for each in NAMES if not each.isupper() and not inspect.getdoc(getattr(runtime, each))
    ]
    assert undocumented == []
