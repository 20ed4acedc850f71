"""Interceptors and tools whose moment and answer belong to a stage.

For the subject of the suites: whoever is asked next at a seam waits at a gate of that name, and
answers what the gate says. A seam at which nobody was told to wait has no listener, so that the
short way through a window is tried as well.
"""

from collections.abc import Callable
from typing import Any, Final, Protocol

from attrs import define, field

from . import seams
from .context import Context, Serial, Waterfall
from .tools import Tool, ToolRegistry, ToolUse

__all__ = ["TOOL_NAME", "Gated", "StagedSeams"]

TOOL_NAME: Final = "staged"
"""The tool that the stage's model asks for."""

Call = Callable[[str], None]
Answer = Callable[[], object]
Seam = Waterfall[Any, Any] | Serial[Any, Any]


class Gated(Protocol):
    """What has gates: a stage."""

    async def gate(self, name: str, outcomes: tuple[str, ...] = ...) -> str:
        """Wait at a gate and return what was chosen."""
        ...


def _fail() -> object:
    raise RuntimeError("the interceptor failed because the test said so")


_ALWAYS: Final[dict[str, Answer | None]] = {"ok": None, "error": _fail}

_ASKED: Final[tuple[tuple[Seam, dict[str, Answer | None]], ...]] = (
    (seams.PROMPT_SUBMIT, {"block": lambda: seams.Block("blocked")}),
    (seams.SYSTEM_ASSEMBLE, {}),
    (seams.STEP_PREPARE, {}),
    (seams.MODEL_REQUEST, {}),
    (seams.STEP_RESULT, {}),
    (seams.TOOL_BEFORE, {"deny": lambda: seams.Deny("denied"), "ask": seams.Ask}),
    (seams.TOOL_AFTER, {"reject": lambda: seams.Reject("rejected")}),
    (seams.TURN_CONTINUE, {"stop": seams.Stop, "continue": lambda: seams.Continue("go on")}),
)
_SEAMS: Final = {seam.name: (seam, _ALWAYS | answers) for seam, answers in _ASKED}


@define(eq=False)
class StagedSeams:
    """The interceptors and the tool of one subject.

    Args:
        stage: where they wait.
        context: what they are registered on.
        tools: where the tool is registered.
        tell: told the seam and the agent whenever somebody is asked.
    """

    stage: Gated
    context: Context
    tools: ToolRegistry
    tell: Callable[[str, str], None]
    _waits: dict[str, list[Call | None]] = field(init=False, factory=dict)
    """For each seam, whoever is asked next: what to call first, if anything."""

    def intercept(self, seam: str, call: Call | None = None) -> None:
        """Let the next one who is asked at a seam wait at a gate of that name."""
        if seam not in self._waits:
            self._waits[seam] = []
            self._install(seam)
        self._waits[seam].append(call)

    def _install(self, name: str) -> None:
        if name == "tool/body":
            self.tools.register(self.context, self._tool())
            return
        seam, answers = _SEAMS[name]

        async def interceptor(argument: Any, proceed: Any = None) -> object:  # noqa: ANN401  # any
            agent = getattr(argument, "use", argument).agent.id
            self.tell(name, agent)
            waits = self._waits[name]
            if waits:
                answer = answers[await self._wait(name, waits.pop(0), agent, tuple(answers))]
                if answer is not None:
                    return answer()
            return None if proceed is None else await proceed()

        self.context.on(seam, interceptor)

    async def _wait(
        self, name: str, call: Call | None, agent: str, outcomes: tuple[str, ...]
    ) -> str:
        if call is not None:
            call(agent)
        return await self.stage.gate(name, outcomes)

    def _tool(self) -> Tool:
        async def execute(_: object, use: ToolUse) -> str:
            self.tell("tool/body", use.agent.id)
            waits = self._waits["tool/body"]
            if waits:
                chosen = await self._wait("tool/body", waits.pop(0), use.agent.id, tuple(_ALWAYS))
                if chosen == "error":
                    _fail()
            return "done"

        return Tool(
            name=TOOL_NAME,
            description="Does what the stage says.",
            parameters={"type": "object"},
            execute=execute,
        )
