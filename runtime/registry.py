"""The agents of one runtime, as the holder of a context sees them."""

from collections.abc import Iterable

from attrs import frozen

from .agent import Agent
from .context import Context
from .core import AgentOptions
from .errors import CallerError
from .handle import AgentHandle
from .roster import Roster
from .session.records import Record

__all__ = ["AgentRegistry"]


@frozen
class AgentRegistry:
    """Makes agents and finds them.

    What is made belongs to the context that this registry was read from, and ends with its fiber.

    Clauses: F-01 F-02 F-03 F-05 F-06 F-23 A-48
    """

    _roster: Roster | None
    _caller: Context

    def get(self, agent_id: str) -> Agent | None:
        """Return the bare agent of this id, or None."""
        handle = self._roster.handles.get(agent_id) if self._roster is not None else None
        return None if handle is None else handle.agent

    def list(self) -> tuple[Agent, ...]:
        """Return the agents in order of registration."""
        handles = self._roster.handles.values() if self._roster is not None else ()
        return tuple(handle.agent for handle in handles)

    def create(  # noqa: PLR0913  # all optional, all by name
        self,
        *,
        agent_id: str | None = None,
        session_id: str | None = None,
        options: AgentOptions = AgentOptions(),  # noqa: B008  # frozen
        cwd: str | None = None,
        seed: Iterable[Record] = (),
        parent: str | None = None,
    ) -> AgentHandle:
        """Make an agent on a new session.

        Args:
            agent_id: the id in the registry; omitted, the session's id.
            session_id: the durable id; omitted, the agent's id. Both omitted: one UUID.
            options: the model and the system prompt.
            cwd: the absolute working directory of the session, for its header.
            seed: records that the session begins with.
            parent: the session that the seed was forked from.

        Raises:
            DuplicateIdError: an agent, a live session or a stored one has this id; nothing was
                made. What another process has stored since this one opened the store is found by
                the first write only: then `agent/error` says so and the session lives in memory.
            CallerError: an id is empty, `cwd` is relative, the fiber of the context unloads,
                nothing drives agents, or the call came from another thread than the loop's.
            InvalidRecordError: the seed is no log.

        Clauses: D-37 E-103 F-03 F-23 F-24 F-37
        """
        roster = self._need_roster("create")
        return roster.create(self._caller, agent_id, session_id, options, cwd, seed, parent)

    async def resume(
        self,
        *,
        session_id: str,
        agent_id: str | None = None,
        options: AgentOptions | None = None,
    ) -> AgentHandle:
        """Make an agent on a session that is stored.

        What a crash left open is closed first, durably; nothing that was recorded is changed, and
        nothing that was queued comes back. When this returns, the agent is idle. Cancelled, it
        leaves nothing behind.

        Args:
            session_id: the stored session, which must not be live.
            agent_id: the id in the registry; omitted, the session's id.
            options: the model and the system prompt; they are not stored.

        Raises:
            UnknownIdError: nothing is stored under this id.
            DuplicateIdError: an agent or a live session has this id, or is being resumed.
            SessionBusyError: another process works on the session.
            DamagedSessionError: what is stored is no log; it was left as it is.
            StorageError: the session could not be read, or not be closed durably.
            CallerError: nothing keeps sessions here, an id is empty, a fiber that would own the
                agent unloads, nothing drives agents, or the call came from another thread.

        Clauses: F-07 F-08 F-09 F-10 F-11 F-12 F-13 F-23 F-24
        """
        roster = self._need_roster("resume")
        options = AgentOptions() if options is None else options
        return await roster.resume(self._caller, session_id, agent_id, options)

    def _need_roster(self, verb: str) -> Roster:
        if self._roster is None:
            raise CallerError(f"{verb} refused: no plugin drives agents here, or it is unloading")
        return self._roster
