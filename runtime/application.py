"""What a plugin of this application is given, and the plugin that drives agents."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from functools import partial
from typing import Any

from attrs import Attribute, field, frozen, validators

from .containment import attempt, attempt_awaited, log_failure
from .context import Context, Plugin, Provided, Token
from .core import AgentOptions
from .errors import CallerError, UnknownIdError
from .persistence import PERSISTENCE
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


def _is_name(_: object, attribute: "Attribute[str]", value: object) -> None:
    if type(value) is not str or not value:
        raise CallerError(f"{attribute.name} of a configured agent is {value!r}; give it a name")


def _may_resume(configured: "ConfiguredAgent", attribute: "Attribute[str]", value: object) -> None:
    if value != "":
        _is_name(configured, attribute, value)
    if value and configured.session_id is not None:
        raise CallerError(
            f"agent {configured.id!r} names both a session to resume and an exact session_id; "
            "the latter is resumed if it is stored: leave resume empty"
        )


@frozen(kw_only=True)
class ConfiguredAgent:
    """An agent that the configuration asks for; nobody holds its handle.

    Clauses: F-25 F-26 F-27 F-28 F-29
    """

    id: str = field(validator=_is_name)
    options: AgentOptions = field(factory=AgentOptions)
    session_id: str | None = field(default=None, validator=validators.optional(_is_name))
    """Its session in every run: resumed if it is stored, new otherwise. None: new in every run."""
    resume: str = field(default="", validator=_may_resume)
    """A stored session to go on with; without it there is no agent. Empty: start fresh."""


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

    Clauses: F-24 F-25 F-26 F-30
    """
    wanted = tuple(configured)

    def apply(context: AppContext, _: None) -> None:
        roster = make_roster(context)
        agents = AgentRegistry(roster, context)
        is_kept = context.get(PERSISTENCE) is not None
        for each in wanted:
            if each.resume or (each.session_id is not None and is_kept):
                # Beside the load of the plugin, whose end must not have to wait for a disk.
                start = partial(_start, agents, each)
                context.effect(partial(_begin, roster, start), name=f"start of agent {each.id}")
            else:
                # Nobody asked for this one: no two runs may write to one session by accident.
                fresh = f"{each.id}-session-{identifiers.new_id()}"
                _create(agents, each, each.session_id or fresh)

    return Plugin(name="driver", apply=apply)


def _begin(
    roster: Roster, start: Callable[[], Coroutine[Any, Any, None]]
) -> Callable[[], Awaitable[object]]:
    """Start an agent in a task, and return what waits for the end of that.

    An unload gives the loading up that the task waits for, so it does not wait for a disk.
    """
    task = asyncio.get_running_loop().create_task(start(), name="start of a configured agent")
    roster.starting.add(task)
    task.add_done_callback(roster.starting.discard)
    return lambda: asyncio.wait((task,))


async def _start(agents: AgentRegistry, configured: ConfiguredAgent) -> None:
    """Resume a configured agent, or make it; what stands in the way is a line in the log."""
    error = await attempt_awaited(_resume(agents, configured))
    if isinstance(error, UnknownIdError) and not configured.resume:
        error = attempt(_create, agents, configured, configured.session_id)
    if error is not None:
        log_failure(error, f"agent {configured.id} of the configuration was not started")


async def _resume(agents: AgentRegistry, configured: ConfiguredAgent) -> None:
    session_id = configured.resume or configured.session_id
    assert session_id is not None
    await agents.resume(session_id=session_id, agent_id=configured.id, options=configured.options)


def _create(agents: AgentRegistry, configured: ConfiguredAgent, session_id: str | None) -> None:
    agents.create(agent_id=configured.id, session_id=session_id, options=configured.options)
