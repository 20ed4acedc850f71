"""A few actors around interceptors, tools and stored sessions, who do what they like.

What always holds is left to the audit of the cases, where there is one; what a scenario is about is
checked here.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

import pytest
from attrs import define, field

from runtime import (
    AgentHandle,
    AppContext,
    CallerError,
    DuplicateIdError,
    MemoryBackend,
    Plugin,
    Runtime,
    Status,
    Tool,
    open_runtime,
)
from runtime.seams import (
    PROMPT_SUBMIT,
    TOOL_BEFORE,
    TURN_CONTINUE,
    Allow,
    Block,
    Permit,
    Stop,
    Vote,
)
from runtime.subject import StageClock, StageIdentifiers, StageModel
from runtime.tools import TOOLS
from statemachine.conformance.stage.schedules import Actor, Scenario
from statemachine.conformance.stage.stage import Stage

from .cast import CANCELLER, OWNER
from .conftest import Holds
from .test_trn import CALL_ONCE, CALL_TWICE, gated
from .world import World, actor, scene

T = TypeVar("T")


# -- One agent -------------------------------------------------------------------------------------


def tooled(world: World) -> None:
    """Have the tool that the model asks for."""
    tool = Tool(name="nothing", description="", parameters={"type": "object"}, execute=gated(world))
    world.subject.runtime.tools.register(world.subject.runtime.context, tool)


def asked(world: World, seam: Any, answer: Callable[[Any], object]) -> None:  # noqa: ANN401  # any seam
    """Have an interceptor that answers when the schedule says so."""

    async def interceptor(argument: Any, _: object) -> object:  # noqa: ANN401  # as above
        await world.stage.gate(seam.name, ("ok",))
        return answer(argument)

    world.subject.runtime.context.on(seam, interceptor)


def executions(world: World) -> list[str | None]:
    """Return how far each call came that has a result; None if it came to one of its own."""
    results = [each for each in world.records() if each.type == "tool/result"]
    return [each.data.get("execution") for each in results]


@pytest.mark.clause("B-24", "B-64", "B-123", "B-125")
def test_a_cancel_and_the_answer_about_a_call_in_any_order(holds: Holds) -> None:
    """The body is entered before the cancel or not at all, and the log says which."""

    def before(world: World) -> None:
        tooled(world)
        asked(world, TOOL_BEFORE, lambda _: Permit())
        world.send("A")

    def check(world: World) -> None:
        entered = world.notes.get("entered", 0)
        for execution in executions(world):
            assert execution in ((None, "unknown") if entered else ("not-started",))

    holds(
        scene(
            "cancel, tool/before",
            CANCELLER,
            before=before,
            answers=CALL_ONCE,
            flushes=(),
            check=check,
        )
    )


@pytest.mark.clause("B-25", "B-123", "K-13", "F-15")
def test_a_dispose_and_the_end_of_a_body_in_any_order(holds: Holds) -> None:
    """What the body returns in time is its result; the second body is entered or says not."""

    def before(world: World) -> None:
        tooled(world)
        world.send("A")

    def check(world: World) -> None:
        told = executions(world)
        assert len(told) in (0, 2)
        assert world.notes.get("entered", 0) == sum(each != "not-started" for each in told)
        assert world.status() == "disposed"

    holds(
        scene(
            "dispose, tool/body",
            OWNER,
            before=before,
            answers=CALL_TWICE,
            flushes=(),
            check=check,
        )
    )


@pytest.mark.clause("A-10", "B-69", "B-71")
def test_steering_and_a_vote_to_stop_in_any_order(holds: Holds) -> None:
    """It overrules the vote or is the next turn; it is never lost and never cut short."""

    def before(world: World) -> None:
        asked(world, TURN_CONTINUE, _stop)
        world.send("A")

    def check(world: World) -> None:
        assert set(world.endings()) == {"completed"}
        texts = [text for turn in world.turns() for text in turn]
        assert texts.count("steering S") + texts.count("S") == 1

    holds(
        scene(
            "steer, turn/continue",
            actor("user", lambda w: w.steer("S")),
            before=before,
            flushes=(),
            check=check,
        )
    )


def _stop(_: object) -> Vote:
    return Stop()


@pytest.mark.clause("A-16", "A-74")
def test_context_and_the_last_result_of_a_step_in_any_order(holds: Holds) -> None:
    """Nothing stands between a call and its result, and the context is recorded once."""

    def before(world: World) -> None:
        tooled(world)
        world.send("A")

    def check(world: World) -> None:
        types = world.types()
        assert types.count("context/message") == 1
        if "tool/result" in types:
            message = types.index("assistant/message")
            last = len(types) - types[::-1].index("tool/result")
            assert "context/message" not in types[message:last]

    holds(
        scene(
            "inject, tool/body",
            actor("plugin", lambda w: w.inject("X")),
            CANCELLER,
            before=before,
            answers=CALL_ONCE,
            flushes=(),
            check=check,
        )
    )


@pytest.mark.clause("K-03", "K-14", "B-64")
def test_the_unload_of_the_owner_of_a_tool_and_its_call_in_any_order(holds: Holds) -> None:
    """The call is answered by the body that was entered, or says that there is no such tool."""

    def before(world: World) -> None:
        def apply(context: AppContext, _: None) -> None:
            tool = Tool(
                name="nothing", description="", parameters={"type": "object"}, execute=gated(world)
            )
            context.tools.register(context, tool)

        owner = Plugin(name="tools", apply=apply, inject=(TOOLS,))
        world.notes["fiber"] = world.subject.runtime.context.plugin(owner)
        asked(world, TOOL_BEFORE, lambda _: Permit())
        world.stage.run_until_quiet()
        world.send("A")

    def unload(world: World) -> None:
        world.stage.spawn(_finished(world.notes["fiber"].dispose()), "unload")

    def check(world: World) -> None:
        assert world.turns() == [["A", "completed"]]
        (result,) = [each for each in world.records() if each.type == "tool/result"]
        assert result.data["is_error"] is (world.notes.get("entered", 0) == 0)

    holds(
        scene(
            "unload, tool/call",
            actor("owner", unload),
            before=before,
            answers=CALL_ONCE,
            flushes=(),
            check=check,
        )
    )


@pytest.mark.clause("B-08", "B-11", "B-88", "B-90", "A-54")
def test_verdicts_on_a_batch_and_a_cancel_in_any_order(holds: Holds) -> None:
    """Each prompt is recorded, blocked or discarded, and only one of these."""

    def before(world: World) -> None:
        def judge(submission: Any) -> object:  # noqa: ANN401  # a submission
            return Block("no") if submission.content[0]["text"] == "A" else Allow()

        asked(world, PROMPT_SUBMIT, judge)
        world.send("A")

    def check(world: World) -> None:
        texts = [each for each in world.told() if each.startswith("prompt/blocked")]
        assert texts in ([], ["prompt/blocked A"])
        assert "B" not in str(texts)

    holds(
        scene(
            "prompt/submit, cancel",
            actor("user", lambda w: w.send("B")),
            CANCELLER,
            before=before,
            flushes=(),
            check=check,
        )
    )


async def _finished(end: Awaitable[T]) -> T:
    return await end


# -- A stored session ------------------------------------------------------------------------------


@define(eq=False)
class _Disk:
    """What blocks happens when the schedule says so."""

    stage: Stage
    is_held: bool = False

    async def run(self, call: Callable[[], T]) -> T:
        """See `Blocking`."""
        if self.is_held:
            await self.stage.gate("disk", ("ok",))
        return call()


@define(eq=False)
class Kept:
    """A runtime that keeps sessions, with one agent on the session `a`."""

    stage: Stage
    backend: MemoryBackend = field(factory=MemoryBackend)
    opening: AbstractAsyncContextManager[Runtime] = field(init=False)
    rt: Runtime = field(init=False)
    handles: list[AgentHandle] = field(factory=list)
    refused: list[Exception] = field(factory=list)

    def resume(self) -> None:
        """Resume the session in a task of its own."""
        self.stage.spawn(self._resumed(), f"resume {len(self.handles)}")

    async def _resumed(self) -> None:
        try:
            self.handles.append(await self.rt.agents.resume(session_id="a"))
        except (CallerError, DuplicateIdError) as error:
            self.refused.append(error)

    def dispose(self) -> None:
        """End the first agent, and wait for that in a task of its own."""
        self.stage.spawn(_finished(self.handles[0].dispose()), "dispose")

    def look(self) -> None:
        """At no time do two agents live on the session."""
        living = [each for each in self.handles if each.agent.status is not Status.DISPOSED]
        assert len(living) <= 1


def kept(stage: Stage) -> Kept:
    """Return a runtime with an agent on a stored session."""
    disk = _Disk(stage)
    world = Kept(stage)
    world.opening = open_runtime(
        store=world.backend,
        blocking=disk,
        models={"stage": StageModel(stage)},
        default_model="stage",
        clock=StageClock(stage),
        identifiers=StageIdentifiers(),
    )
    world.rt = stage.complete(world.opening.__aenter__())
    world.handles.append(world.rt.agents.create(agent_id="a"))
    world.handles[0].agent.inject("stored")
    stage.run_until_quiet()
    disk.is_held = True
    return world


def at_the_end(world: Kept) -> None:
    """Whoever holds the session in the end, it can be gone on with once they are gone."""
    world.look()
    for handle in world.handles:
        world.stage.complete(_finished(handle.dispose()))
    assert world.rt.agents.list() == ()
    world.handles.append(world.stage.complete(world.rt.agents.resume(session_id="a")))
    assert len(world.handles[-1].agent.session.events) == 3
    world.stage.complete(world.opening.__aexit__(None, None, None))
    assert world.backend.disk.writers == {}


def around_a_resume(name: str, *actors: Actor[Kept]) -> Scenario[Kept]:
    """Tell who does what to the session."""
    return Scenario(name=name, actors=actors, setup=kept, check=at_the_end, after_each=Kept.look)


RESUMER = Actor[Kept](name="client", actions=(Kept.resume,))
ENDER = Actor[Kept](name="holder", actions=(Kept.dispose,))


@pytest.mark.clause("F-06", "F-22", "F-38", "A-48", "E-33")
def test_a_dispose_and_a_resume_of_one_session_in_any_order(holds: Holds) -> None:
    """It is refused while its agent lives, and succeeds behind its release."""
    holds(around_a_resume("dispose, resume", ENDER, RESUMER))


@pytest.mark.clause("F-07", "F-08", "F-22", "A-48")
def test_a_dispose_and_two_resumes_of_one_session_in_any_order(holds: Holds) -> None:
    """One of them comes first, and nobody else lives on it."""
    second = Actor[Kept](name="another", actions=(Kept.resume,))
    holds(around_a_resume("dispose, resume, resume", ENDER, RESUMER, second))


@pytest.mark.clause("F-24", "F-30", "F-52")
def test_a_resume_and_the_reload_of_the_driver_in_any_order(holds: Holds) -> None:
    """An agent that comes back is driven by the plugin that is loaded, or does not come back."""

    def reload(world: Kept) -> None:
        world.stage.spawn(_finished(world.rt.driver.restart()), "reload")

    host = Actor[Kept](name="host", actions=(reload,))
    holds(around_a_resume("dispose, resume, reload", ENDER, RESUMER, host))
