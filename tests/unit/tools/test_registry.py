"""The tools of an application: who brought them, who is told, and when they go."""

import json
from typing import Any

import pytest

from runtime.context import Context, FiberState, InactiveError
from runtime.errors import CallerError, DuplicateIdError
from runtime.limits import Limits
from runtime.session.content import FrozenObject, freeze_json
from runtime.tools import TOOLS_CHANGED, Tool, ToolRegistry, ToolsChanged
from statemachine.conformance.stage.stage import Stage
from tests.unit.context.scene import FailedError, failures, load, state_of, wait

from .scene import READ, made


def names(registry: ToolRegistry) -> list[str]:
    """Return the names of the tools, as a model is told them."""
    told = [schema["name"] for schema in registry.schemas()]
    assert [tool.name for tool in registry.list()] == told
    assert all(registry.get(name) is not None for name in told)
    return told


# ---------------------------------------------------------------------------------- registering


@pytest.mark.clause("K-01")
def test_a_tool_goes_with_the_plugin_that_registered_it(stage: Stage, root: Context) -> None:
    """The tools of others stay, and the name is free again."""
    registry = ToolRegistry()
    registry.register(root, made("stay"))
    fiber = load(stage, root, lambda context, _: registry.register(context, made("go")))
    assert names(registry) == ["stay", "go"]
    assert [part.name for tree in fiber.effects for part in tree.parts] == ["tool go"]
    assert wait(stage, fiber.dispose()).failed == ()
    assert names(registry) == ["stay"]
    assert registry.get("go") is None
    registry.register(root, made("go"))
    assert names(registry) == ["stay", "go"]


@pytest.mark.clause("K-01")
def test_a_tool_that_is_disposed_is_gone_at_once(stage: Stage, root: Context) -> None:
    """Nothing has to be awaited, and doing it again changes nothing."""
    registry = ToolRegistry()
    effect = registry.register(root, made("read"))
    effect.dispose()
    assert names(registry) == []
    successor = made("read")
    registry.register(root, successor)
    wait(stage, effect.dispose())
    assert registry.get("read") is successor


@pytest.mark.clause("K-01")
def test_a_plugin_that_is_loaded_anew_registers_its_tool_anew(stage: Stage, root: Context) -> None:
    """What it registered before is gone before it starts, so its own name is not taken."""
    registry = ToolRegistry()
    tools: list[Tool] = []

    def apply(context: Context, _config: object) -> None:
        tools.append(made("read"))
        registry.register(context, tools[-1])

    fiber = load(stage, root, apply)
    wait(stage, fiber.restart())
    assert (len(tools), registry.list()) == (2, (tools[1],))


@pytest.mark.clause("K-01")
def test_a_name_is_taken_once(stage: Stage, root: Context) -> None:
    """The refusal names who has it, and the second plugin's failure takes nothing away."""
    registry = ToolRegistry()
    first = made("read")
    load(stage, root, lambda context, _: registry.register(context, first), name="files")
    seen: list[ToolsChanged] = []
    root.on(TOOLS_CHANGED, seen.append)
    before = root.effects
    with pytest.raises(DuplicateIdError, match="tool 'read' refused: plugin files registered one"):
        registry.register(root, made("read"))
    assert root.effects == before
    second = load(stage, root, lambda context, _: registry.register(context, made("read")))
    assert state_of(second) is FiberState.FAILED
    assert registry.list() == (first,)
    assert seen == []


@pytest.mark.clause("K-01")
def test_a_plugin_that_has_gone_registers_nothing(stage: Stage, root: Context) -> None:
    """Nobody would ever take the tool away again."""
    registry = ToolRegistry()
    contexts: list[Context] = []
    fiber = load(stage, root, lambda context, _: contexts.append(context))
    wait(stage, fiber.dispose())
    with pytest.raises(InactiveError, match="effect tool read refused: plugin plugin is"):
        registry.register(contexts[0], made("read"))
    assert names(registry) == []


@pytest.mark.clause("K-20")
@pytest.mark.parametrize("odd", [None, READ, Tool, print])
def test_only_tools_are_registered(stage: Stage, root: Context, odd: Any) -> None:  # noqa: ANN401  # on purpose
    """A function alone has no schema; the refusal says what is wanted."""
    assert stage.idle
    with pytest.raises(CallerError, match="it takes a Tool"):
        ToolRegistry().register(root, odd)


# ---------------------------------------------------------------------------------------- telling


@pytest.mark.clause("K-01")
def test_listeners_are_told_both_ways(stage: Stage, root: Context) -> None:
    """They see the registry as it is then."""
    registry = ToolRegistry()
    seen: list[tuple[ToolsChanged, list[str]]] = []
    root.on(TOOLS_CHANGED, lambda notice: seen.append((notice, names(registry))))
    effect = registry.register(root, made("read"))
    wait(stage, effect.dispose())
    assert seen == [
        (ToolsChanged(name="read", is_registered=True), ["read"]),
        (ToolsChanged(name="read", is_registered=False), []),
    ]


@pytest.mark.clause("K-01")
def test_a_listener_that_raises_changes_nothing(
    stage: Stage, root: Context, caplog: pytest.LogCaptureFixture
) -> None:
    """It is an observer: the tool comes and goes all the same, and the others are told."""
    registry = ToolRegistry()
    seen: list[bool] = []

    def fail(_notice: ToolsChanged) -> None:
        raise FailedError

    load(stage, root, lambda context, _: context.on(TOOLS_CHANGED, fail), name="bad")
    root.on(TOOLS_CHANGED, lambda notice: seen.append(notice.is_registered))
    effect = registry.register(root, made("read"))
    assert names(registry) == ["read"]
    assert wait(stage, effect.dispose()).failed == ()
    assert (names(registry), seen) == ([], [True, False])
    assert caplog.text.count("listener of tools/changed of plugin bad failed") == 2


@pytest.mark.clause("K-01")
def test_a_listener_may_unload_the_plugin_whose_tool_it_hears_of(
    stage: Stage, root: Context
) -> None:
    """The registration succeeds, and is over."""
    registry = ToolRegistry()
    contexts: list[Context] = []
    fiber = load(stage, root, lambda context, _: contexts.append(context))
    root.on(TOOLS_CHANGED, lambda notice: fiber.dispose() if notice.is_registered else None)
    effect = registry.register(contexts[0], made("read"))
    assert failures(wait(stage, effect.dispose())) == []
    wait(stage, fiber.dispose())
    assert (names(registry), effect.is_open) == ([], False)


@pytest.mark.clause("K-01")
def test_a_circle_of_listeners_ends_and_leaves_nothing_half_registered(stage: Stage) -> None:
    """A registration that cannot be announced any more is refused and undone."""
    assert stage.idle
    root = Context.root(limits=Limits(nested_announcements_max=4))
    registry = ToolRegistry()

    def another(notice: ToolsChanged) -> None:
        if notice.is_registered:
            registry.register(root, made(f"{notice.name}x"))

    root.on(TOOLS_CHANGED, another)
    registry.register(root, made("x"))
    assert names(registry) == ["x", "xx", "xxx", "xxxx"]
    tools = [tree.name for tree in root.effects if tree.name.startswith("tool ")]
    assert tools == ["tool x", "tool xx", "tool xxx", "tool xxxx"]


@pytest.mark.clause("K-02", "K-15")
def test_schemas_are_those_of_the_tools_that_are_there(stage: Stage, root: Context) -> None:
    """They are made once and shared, frozen, until a tool comes or goes."""
    registry = ToolRegistry()
    assert registry.schemas() == ()
    registry.register(root, made("a"))
    told = registry.schemas()
    assert registry.schemas() is told
    assert json.loads(json.dumps(told)) == [
        {"name": "a", "description": "Reads a file.", "parameters": READ}
    ]
    assert type(told[0]) is FrozenObject
    effect = registry.register(root, made("b"))
    assert names(registry) == ["a", "b"]
    wait(stage, effect.dispose())
    assert (registry.schemas(), len(told)) == (told, 1)


# -------------------------------------------------------------------------------------- presenting


def show(arguments: Any, meta: FrozenObject | None) -> object:  # noqa: ANN401  # any JSON
    """Present a call of the tool that reads files."""
    return {"title": f"Read {arguments['path']}", "bytes": meta and meta["bytes"]}


@pytest.mark.clause("K-12")
def test_a_call_is_presented_with_its_arguments_and_the_meta_of_its_result(
    stage: Stage, root: Context
) -> None:
    """Before there is a result, the meta is None."""
    assert stage.idle
    registry = ToolRegistry()
    registry.register(root, made("read", present=show))
    arguments = freeze_json({"path": "a"}, what="arguments")
    meta = freeze_json({"bytes": 3}, what="meta")
    assert registry.presentation("read", arguments) == {"title": "Read a", "bytes": None}
    shown = registry.presentation("read", arguments, meta)
    assert (shown, type(shown)) == ({"title": "Read a", "bytes": 3}, FrozenObject)


@pytest.mark.clause("K-10")
@pytest.mark.parametrize(
    "arguments",
    [{}, {"path": 3}, "{", None, [], object()],
    ids=lambda each: str(each) if type(each) is not object else "an object",
)
def test_arguments_of_an_old_log_that_do_not_fit_are_not_presented(
    stage: Stage, root: Context, caplog: pytest.LogCaptureFixture, arguments: object
) -> None:
    """The callback may rely on the schema, and nobody is blamed."""
    assert stage.idle
    registry = ToolRegistry()
    registry.register(root, made("read", present=show))
    assert registry.presentation("read", arguments) is None
    assert caplog.text == ""


@pytest.mark.clause("K-10")
def test_what_cannot_be_presented_is_none(stage: Stage, root: Context) -> None:
    """A tool that has gone, one without a callback, and a callback with nothing to show."""
    assert stage.idle
    registry = ToolRegistry()
    registry.register(root, made("plain"))
    registry.register(root, made("silent", present=lambda _arguments, _meta: None))
    assert [registry.presentation(name, {"path": "a"}) for name in ("gone", "plain", "silent")] == [
        None,
        None,
        None,
    ]


@pytest.mark.clause("K-10")
@pytest.mark.parametrize(
    "given",
    ["text", 3, ["a"], {"title": object()}, {"title": "\ud800"}],
    ids=["a string", "a number", "a list", "no JSON", "half a character"],
)
def test_a_presentation_that_is_none_is_logged(
    stage: Stage, root: Context, caplog: pytest.LogCaptureFixture, given: object
) -> None:
    """Whoever shows calls to people gets a JSON object or nothing, and no exception."""
    registry = ToolRegistry()
    tool = made("read", present=lambda _arguments, _meta: given)
    load(stage, root, lambda context, _: registry.register(context, tool), name="files")
    assert registry.presentation("read", {"path": "a"}) is None
    assert "presentation of tool read of plugin files failed" in caplog.text


@pytest.mark.clause("K-10")
def test_a_presentation_that_raises_is_logged(
    stage: Stage, root: Context, caplog: pytest.LogCaptureFixture
) -> None:
    """A raw tool's callback gets whatever was in the log, so it may well fail."""
    assert stage.idle
    registry = ToolRegistry()
    registry.register(root, made("read", is_raw=True, present=show))
    assert registry.presentation("read", "{") is None
    assert "presentation of tool read of plugin application failed" in caplog.text
