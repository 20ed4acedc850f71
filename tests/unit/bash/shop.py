"""A runtime with the executor and its tools, and agents that use them."""

import asyncio
import inspect
from contextlib import AbstractAsyncContextManager
from typing import Any, Self

from attrs import define, field

from runtime import (
    BASH,
    Agent,
    AgentHandle,
    BashConfig,
    BashExecutor,
    EchoModel,
    Fiber,
    Limits,
    Model,
    Plugin,
    Runtime,
    bash_plugin,
    bash_tools_plugin,
    open_runtime,
)
from runtime.abort import AbortAuthority
from runtime.containment import attempt_awaited
from runtime.session.content import freeze_json
from runtime.tools import (
    TOOLS,
    ToolRegistry,
    ToolResult,
    ToolUse,
    failed_result,
    invalid_arguments_result,
    unknown_tool_result,
    violations,
)
from statemachine.conformance.stage.stage import Stage

from .fake import FakeProcess, FakeProcesses

__all__ = ["GRACE_S", "Call", "Numbers", "Shop", "text_of"]

GRACE_S = 1.0


class Numbers:
    """Names that are the same in every run."""

    def __init__(self) -> None:
        self._count = 0

    def new_id(self) -> str:
        """Return the next number."""
        self._count += 1
        return str(self._count)


@define(eq=False)
class Shop:
    """One runtime on the stage; enter it."""

    stage: Stage
    limits: Limits = field(factory=lambda: Limits(kill_grace_s=GRACE_S))
    processes: FakeProcesses = field(factory=FakeProcesses)
    plugin: Plugin[None] = field(factory=bash_tools_plugin)
    model: Model = field(factory=EchoModel)
    handles: dict[str, AgentHandle] = field(factory=dict)
    rt: Runtime = field(init=False)
    registry: ToolRegistry = field(init=False)
    executor: Fiber = field(init=False)
    tools: Fiber = field(init=False)
    _opening: AbstractAsyncContextManager[Runtime] = field(init=False)

    def __enter__(self) -> Self:
        self._opening = open_runtime(
            models={"m": self.model},
            default_model="m",
            limits=self.limits,
            identifiers=Numbers(),
        )
        self.rt = self.stage.complete(self._opening.__aenter__())
        root = self.rt.context
        registry = root.get(TOOLS)
        assert registry is not None
        self.registry = registry
        self.executor = root.plugin(
            bash_plugin(limits=self.limits, processes=self.processes, identifiers=Numbers()),
            BashConfig(program="sh", workdir="/default", environment={}),
        )
        self.tools = root.plugin(self.plugin)
        self.stage.run_until_quiet()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.stage.complete(self._opening.__aexit__(None, None, None))

    @property
    def bash(self) -> BashExecutor:
        """The executor, looked up."""
        bash = self.rt.context.get(BASH)
        assert bash is not None
        return bash

    def agent(self, name: str, session: str | None = None, cwd: str | None = None) -> Agent:
        """Make an agent, by default on a session of another name than its own."""
        session_id = f"session of {name}" if session is None else session
        handle = self.rt.agents.create(agent_id=name, session_id=session_id, cwd=cwd)
        self.handles[name] = handle
        return handle.agent

    def dispose(self, name: str) -> None:
        """Dispose an agent and wait until it is gone."""
        self.stage.complete(_await(self.handles.pop(name).dispose()))

    # -- Calls -------------------------------------------------------------------------------------

    def use(self, agent: Agent | None, name: str, **arguments: Any) -> "Call":  # noqa: ANN401  # any JSON
        """Call a tool like a model of this agent would, until it waits for something."""
        return Call(self, agent, name, arguments)

    def start(self, agent: Agent | None, command: str = "c") -> tuple[str, FakeProcess]:
        """Start a job with the tool, and return its id."""
        call = self.use(agent, "bash", command=command, description="d", run_in_background=True)
        return call.text, self.processes.last()

    def read(self, agent: Agent | None, job_id: str) -> ToolResult:
        """Read a job with the tool."""
        return self.use(agent, "bash_output", job_id=job_id).result()

    def kill(self, agent: Agent | None, job_id: str) -> ToolResult:
        """Kill a job with the tool, and wait for the answer."""
        return self.use(agent, "bash_kill", job_id=job_id).result()

    def notices(self, agent: Agent) -> list[str]:
        """Return the texts that were injected into an agent's session."""
        return [
            record.data["content"][0]["text"]
            for record in agent.session.events
            if record.type == "context/message"
        ]


class Call:
    """One call of a tool."""

    def __init__(
        self, shop: Shop, agent: Agent | None, name: str, arguments: dict[str, Any]
    ) -> None:
        self.authority = AbortAuthority()
        self._shop = shop
        session = (agent or next(iter(shop.handles.values())).agent).session
        self._use = ToolUse(
            agent=agent,
            session=session,
            turn=1,
            step=1,
            call_id="k",
            name=name,
            arguments=freeze_json(arguments, what="arguments"),
            raw_arguments="",
            signal=self.authority.signal,
        )
        self.task = shop.stage.loop.create_task(self._execute(), name=f"call of {name}")
        shop.stage.run_until_quiet()

    async def _execute(self) -> ToolResult:
        use = self._use
        tool = self._shop.registry.get(use.name)
        if tool is None:
            return unknown_tool_result(use.name)
        if found := violations(tool, use.arguments):
            return invalid_arguments_result(use.name, found)
        answers: list[object] = []

        async def body() -> None:
            answer = tool.execute(use.arguments, use)
            answers.append(await answer if inspect.isawaitable(answer) else answer)

        error = await attempt_awaited(body())
        return failed_result(error) if error is not None else ToolResult.of(answers[0])

    @property
    def is_done(self) -> bool:
        """Whether there is a result."""
        return self.task.done()

    def result(self) -> ToolResult:
        """Wait for the result; timers may run out meanwhile."""
        self._shop.stage.complete(_await(self.task))
        return self.task.result()

    @property
    def text(self) -> str:
        """The text of the result."""
        return text_of(self.result())


def text_of(result: ToolResult) -> str:
    """Return the text of a result."""
    return "".join(block["text"] for block in result.content)


async def _await(awaitable: Any) -> Any:  # noqa: ANN401  # whatever it gives
    return (
        await asyncio.shield(awaitable) if isinstance(awaitable, asyncio.Task) else await awaitable
    )
