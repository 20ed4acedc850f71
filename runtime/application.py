"""What a plugin of this application is given, and the plugin that drives agents."""

from collections.abc import Callable, Iterable

from attrs import field, frozen

from .context import Context, Plugin, Provided, Token
from .core import AgentOptions
from .ports import Identifiers
from .registry import AgentRegistry
from .roster import Roster
from .system_prompt import SYSTEM_PROMPT
from .tools import TOOLS

__all__ = ["AGENTS", "AppContext", "ConfiguredAgent", "driver_plugin"]

AGENTS: Token[Roster] = Token("agents")
"""Whoever drives agents provides this."""


class AppContext(Context):
    """The context of a plugin of this application."""

    __slots__ = ()

    tools = Provided(TOOLS)
    """What a model may call."""
    system_prompt = Provided(SYSTEM_PROMPT)
    """What plugins add to the system prompt."""

    @property
    def agents(self) -> AgentRegistry:
        """The agents; what is created through it belongs to the fiber of this context.

        Raises:
            NotInjectedError: the plugin does not inject `AGENTS`.
            InactiveError: the plugin is not loaded.

        Clauses: F-23 G-14 G-15
        """
        return AgentRegistry(self.need(AGENTS), self)


@frozen(kw_only=True)
class ConfiguredAgent:
    """An agent that the configuration asks for; nobody holds its handle."""

    id: str
    options: AgentOptions = field(factory=AgentOptions)


def driver_plugin(
    make_roster: Callable[[Context], Roster],
    configured: Iterable[ConfiguredAgent],
    identifiers: Identifiers,
) -> Plugin[None]:
    """Return the plugin that provides `AGENTS` and owns every agent, those configured first.

    Args:
        make_roster: makes the roster of a context and provides it there.
        configured: the agents that exist from the beginning.
        identifiers: for their sessions.

    Clauses: F-24 F-25 F-26
    """
    wanted = tuple(configured)

    def apply(context: AppContext, _: None) -> None:
        roster = make_roster(context)
        agents = AgentRegistry(roster, context)
        for each in wanted:
            # The durable id is new in every run, so that no two runs write to one session.
            session_id = f"{each.id}-session-{identifiers.new_id()}"
            agents.create(agent_id=each.id, session_id=session_id, options=each.options)

    return Plugin(name="driver", apply=apply)
