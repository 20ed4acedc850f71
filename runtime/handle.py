"""The right to end exactly one agent."""

from collections.abc import Callable
from types import TracebackType

from statemachine import Input

from .agent import Agent
from .core import Core
from .teardown import Link, Teardown
from .turn import Stop

__all__ = ["AgentHandle"]

_DISPOSED = Stop("disposed", "disposed")


class AgentHandle:
    """The right to end exactly one agent.

    Entered, it gives the bare agent; left, it disposes it and waits for the teardown.

    Clauses: F-01 F-42 A-49
    """

    __slots__ = ("_core", "_links", "_teardown", "agent")

    agent: Agent
    """The bare agent, which may be handed on."""

    def __init__(self, core: Core, agent: Agent, links: Callable[[], list[Link]]) -> None:
        self.agent = agent
        self._core = core
        self._links = links
        self._teardown: Teardown | None = None
        core.dispose = self.dispose

    def dispose(self) -> Teardown:
        """End the agent now, and return its teardown, to be awaited or not.

        When this returns, the status is `disposed`, nothing is accepted any more and everything
        that waited has been discarded. A turn that runs unwinds within its grace. Unregistering,
        `agent/disposed` and leaving the store happen later, in this order, in a task.

        Every call returns the same teardown.

        Raises:
            CallerError: called from another thread than the loop's.

        Clauses: F-15 F-17 F-32 F-35 F-39 A-69
        """
        core = self._core
        core.around.check_thread(f"dispose of agent {core.id!r}")
        if self._teardown is None:
            # The end exists before anybody is told, because whoever is told may ask for it.
            self._teardown = Teardown(f"agent {core.id}", core.loop, lambda: core.own_tasks)
            try:
                core.call(Input.DISPOSE, _DISPOSED)
            finally:
                self._teardown.start(self._links())
        return self._teardown

    async def __aenter__(self) -> Agent:
        """Return the bare agent."""
        return self.agent

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Dispose the agent and wait until it is gone."""
        await self.dispose()
