"""What foreign code raises that is no `Exception` is its failure like any other."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from runtime import (
    SESSION_EVENT,
    ModelRequest,
    Plugin,
    PluginError,
    Runtime,
    ScriptedModel,
    TextDelta,
    Tool,
    exchange,
    open_runtime,
    seams,
)

SCRIPT = ('{"repeat": 1, "tool_calls": [{"call_id": "1", "name": "look"}]}', '{"chunks": ["done"]}')


class StrangeError(BaseException):
    """As a test framework raises, which wants to pass every handler."""


def _raise(*_: object) -> None:
    # What a task group raises when one of its members is no `Exception`.
    raise BaseExceptionGroup("members", [StrangeError("strange")])


async def _raise_later(*_: object) -> Any:  # noqa: ANN401  # it never answers
    _raise()


class StrangeModel:
    """A model whose library raises past everybody, in the first turn."""

    def __init__(self, *, cooperative: bool) -> None:
        self.cooperative = cooperative

    async def stream(self, request: ModelRequest, _: object) -> AsyncIterator[TextDelta]:
        """Fail, or answer."""
        if request.turn == 1:
            _raise()
        yield TextDelta("fine")


def run(scenario: Callable[[Runtime], Awaitable[None]], model: StrangeModel | None = None) -> None:
    """Run a scenario and close its runtime, which must not hang."""

    async def bounded() -> None:
        models = {"m": model or ScriptedModel.from_lines(SCRIPT)}
        async with asyncio.timeout(20), open_runtime(models=models, default_model="m") as rt:
            await scenario(rt)

    asyncio.run(bounded())


@pytest.mark.clause("K-03", "F-33")
@pytest.mark.parametrize("cooperative", [False, True])
def test_what_a_body_raises_is_its_result_whatever_it_is(*, cooperative: bool) -> None:
    """The call is answered, the turn goes on, and the agent can be ended."""
    look = Tool(
        name="look", description="", parameters={}, execute=_raise_later, cooperative=cooperative
    )

    async def scenario(rt: Runtime) -> None:
        rt.tools.register(rt.context, look)
        async with rt.agents.create() as agent:
            assert (await exchange(agent, "go")).ending == "completed"
            (result,) = (each.data for each in agent.session.events if each.type == "tool/result")
            assert result["is_error"]
            assert "no Exception: BaseExceptionGroup: members" in result["content"][0]["text"]

    run(scenario)


@pytest.mark.clause("B-77", "B-131")
@pytest.mark.parametrize("cooperative", [False, True])
def test_what_a_model_raises_ends_its_turn_whatever_it_is(*, cooperative: bool) -> None:
    """The driver lives, and the next turn runs."""

    async def scenario(rt: Runtime) -> None:
        async with rt.agents.create() as agent:
            assert (await exchange(agent, "go")).ending == "error"
            assert (await exchange(agent, "again")).text == "fine"

    run(scenario, StrangeModel(cooperative=cooperative))


@pytest.mark.clause("B-72", "B-126")
def test_interceptors_and_listeners_fail_alike_whatever_they_raise() -> None:
    """The one fails the turn, the other nothing at all."""

    async def scenario(rt: Runtime) -> None:
        rt.on(SESSION_EVENT, _raise)
        async with rt.agents.create() as agent:
            listening = rt.context.on(seams.MODEL_REQUEST, _raise_later)
            assert (await exchange(agent, "go")).ending == "error"
            listening.close()
            assert (await exchange(agent, "again")).ending == "completed"

    run(scenario)


@pytest.mark.clause("G-19", "G-08")
def test_a_plugin_fails_alike_whatever_it_raises() -> None:
    """Neither its load nor its unload waits for something that will never come."""

    async def scenario(rt: Runtime) -> None:
        with pytest.raises(PluginError, match="no Exception"):
            await rt.context.plugin(Plugin(name="bad load", apply=_raise))
        rude = rt.context.plugin(Plugin(name="bad end", apply=lambda *_: _raise))
        await rude
        (failure,) = (await rude.dispose()).failed
        assert isinstance(failure.error, PluginError)

    run(scenario)
