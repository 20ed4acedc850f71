"""The agent side of the protocol: what a client asks for, done to sessions and agents.

The bridge stops work with `cancel` and with the `dispose` of a handle, and waits for records and
fates only. What a handler registers it registers before its first await: the SDK starts handlers in
the order of the wire, so a cancel finds the prompt that came before it. What a handler has opened
after a wait counts only if the client is still there.
"""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Any

from acp import Client
from acp.schema import DeleteSessionRequest
from attrs import define, field

from runtime.announcements import (
    AGENT_DISCARDED,
    AGENT_DISPOSED,
    AGENT_QUEUED,
    SESSION_EVENT,
    AgentNotice,
    Discarded,
    Queued,
    RecordAppended,
)
from runtime.application import AGENTS, AppContext
from runtime.containment import attempt_awaited, log_failure
from runtime.errors import CallerError, LifecycleError
from runtime.handle import AgentHandle
from runtime.limits import Limits
from runtime.persistence import PERSISTENCE
from runtime.seams import TOOL_PERMISSION, PermissionRequest
from runtime.session.log import Session
from runtime.session.store import Sessions
from runtime.teardown import Link, Teardown, wait_bounded
from runtime.tools import TOOLS

from .answers import (
    about_servers,
    check_place,
    closed,
    in_use,
    initialized,
    not_found,
    page,
    refusal,
)
from .frames import UNROUTED, Frame
from .loading import delete_stored, loaded, open_stored
from .permission import ask_client
from .prompts import prompt_text, stop_reason
from .sessions import OpenSession

__all__ = ["Bridge"]


@define(eq=False)
class Bridge:
    """Serves one client; the SDK finds the methods by their names.

    Clauses: J-01 J-46
    """

    put: Callable[[Frame], None]
    """Writes a message to the client at once."""
    limits: Limits
    drain: Callable[[], Awaitable[None]] = field(init=False)
    """Waits until the client has read most of what was put."""
    _context: AppContext = field(init=False)
    _sessions: Sessions = field(init=False)
    _client: Client = field(init=False)
    _open: dict[str, OpenSession] = field(init=False, factory=dict)
    _ending: "dict[str, asyncio.Task[None]]" = field(init=False, factory=dict)
    """Sessions that were closed and are not gone yet."""
    _deleting: list[str] = field(init=False, factory=list)
    """Sessions that are being deleted, once for each who asked."""
    _loading: "dict[str, asyncio.Task[AgentHandle]]" = field(init=False, factory=dict)
    _shown: dict[Session, OpenSession] = field(init=False, factory=dict)
    """Whatever is open or ending, for what happens to it."""
    _handlers: "set[asyncio.Task[Any]]" = field(init=False, factory=set)
    """Handlers that wait, until their answers are written."""
    _teardown: Teardown | None = field(init=False, default=None)
    _has_said_servers: bool = field(init=False, default=False)

    def on_connect(self, client: Client) -> None:
        """Learn who is connected."""
        self._client = client

    # -- Requests ----------------------------------------------------------------------------------

    async def initialize(self, **_: object) -> Frame:
        """Answer with the one version there is, whatever was asked for.

        Clauses: J-01
        """
        persistence = self._context.get(PERSISTENCE)
        can_delete = persistence is not None and persistence.can_remove
        return initialized(can_load=persistence is not None, can_delete=can_delete)

    async def authenticate(self, **_: object) -> None:
        """Nobody has to.

        Clauses: J-02
        """

    async def new_session(
        self,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: list[Any] | None = None,
        **_: object,
    ) -> Frame:
        """Make an agent on a new session.

        Clauses: J-03 J-04 J-05 J-49
        """
        self._check_open()
        check_place(cwd, additional_directories)
        try:
            handle = self._context.agents.create(cwd=cwd)
        except LifecycleError as error:
            raise refusal(error) from error
        return {"sessionId": self._enter(handle).id} | self._about_servers(mcp_servers)

    async def load_session(
        self,
        cwd: str,
        session_id: str,
        mcp_servers: list[Any] | None = None,
        additional_directories: list[str] | None = None,
        **_: object,
    ) -> Frame:
        """Go on with a stored session, and show everything that was said in it.

        Clauses: J-28 J-29 J-31 J-32 J-33 J-34 J-78
        """
        session = await self._load(cwd, session_id, additional_directories)
        with self._handling():
            await session.replay(self.drain)
        if self._open.get(session_id) is not session:
            raise closed() if self._teardown is not None else not_found(session_id)
        return self._about_servers(mcp_servers)

    async def resume_session(
        self,
        cwd: str,
        session_id: str,
        additional_directories: list[str] | None = None,
        mcp_servers: list[Any] | None = None,
        **_: object,
    ) -> Frame:
        """Go on with a stored session, and show nothing of it.

        Clauses: J-28 J-29 J-31 J-32 J-34
        """
        await self._load(cwd, session_id, additional_directories)
        return self._about_servers(mcp_servers)

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **_: object
    ) -> Frame:
        """Name the sessions that can be loaded, and those that are open, the newest first.

        Clauses: J-55
        """
        self._check_open()
        with self._handling():
            persistence = self._context.get(PERSISTENCE)
            stored = () if persistence is None else await persistence.headers()
        known = {each.header.id: each.header for each in stored}
        known |= {each.id: each.session.header for each in self._open.values()}
        return page(tuple(reversed(known.values())), cwd, cursor)

    async def close_session(self, session_id: str, **_: object) -> Frame:
        """Cancel what runs in a session and free it; answered when it is gone.

        Clauses: J-58
        """
        self._check_open()
        ending = self._end(self._need(session_id))
        with self._handling():
            await asyncio.wait((ending,))
        return {}

    async def ext_method(self, name: str, params: Frame) -> Frame:
        """Close and delete a session: what the SDK does not route comes as an extension.

        Clauses: J-71
        """
        assert f"_{name}" == UNROUTED["session/delete"], name
        self._check_open()
        session_id = DeleteSessionRequest.model_validate(params).session_id
        session = self._open.get(session_id)
        if session is not None and session.is_open:
            self._end(session)
        ending = self._ending.get(session_id)
        if ending is None:
            self._check_at_rest(session_id)
        self._deleting.append(session_id)
        try:
            with self._handling():
                await delete_stored(self._context, session_id, ending)
        finally:
            self._deleting.remove(session_id)
        return {}

    async def prompt(self, prompt: list[Any], session_id: str, **_: object) -> Frame:
        """Queue a prompt, and answer when its turn has ended.

        Clauses: J-06 J-07 J-13 J-14 J-15 J-57
        """
        self._check_open()
        session = self._need(session_id)
        text = prompt_text(prompt)
        try:
            accepted = session.offer(text)
        except LifecycleError as error:
            raise refusal(error) from error
        try:
            with self._handling():
                fate = await accepted.fate
            session.answering(accepted)
        finally:
            # The SDK writes the answer before the loop comes to this.
            asyncio.get_running_loop().call_soon(session.answered, accepted)
        return {"stopReason": stop_reason(accepted, fate)}

    async def cancel(self, session_id: str, **_: object) -> None:
        """Cancel what was accepted of a session so far; nothing for one that is unknown.

        Clauses: J-19 J-20 J-23
        """
        session = self._open.get(session_id)
        if session is not None and session.is_open:
            session.cancel()

    # -- The end -----------------------------------------------------------------------------------

    def aclose(self) -> Teardown:
        """End every session of the client; whoever asks gets the same end.

        When this returns every agent is disposed, and nothing is accepted any more.

        Clauses: J-34 J-35 J-36 J-37 J-39
        """
        if self._teardown is None:
            loop = asyncio.get_running_loop()
            self._teardown = Teardown("the bridge", loop, lambda: ())
            for session in tuple(self._open.values()):
                self._end(session)
            loads = tuple(self._loading.values())
            for load in loads:
                load.cancel()
            self._teardown.start(
                [
                    Link("loads", lambda: self._join_loads(loads)),
                    Link("sessions", self._join_sessions),
                    Link("answers", self._join_handlers),
                ]
            )
        return self._teardown

    async def _join_loads(self, loads: "tuple[asyncio.Task[AgentHandle], ...]") -> tuple[str, ...]:
        await wait_bounded(loads, self.limits.abort_grace_s)
        for load in loads:
            if load.done() and not load.cancelled() and load.exception() is None:
                await load.result().dispose()
        return tuple(load.get_name() for load in loads if not load.done())

    async def _join_sessions(self) -> tuple[str, ...]:
        # Each is bounded by the graces of its parts.
        while endings := [each for each in self._ending.values() if not each.done()]:
            await asyncio.wait(endings)
        return ()

    async def _join_handlers(self) -> tuple[str, ...]:
        # One that outlives this reads a disk; the SDK cancels it.
        await wait_bounded(tuple(self._handlers), self.limits.abort_grace_s)
        return ()

    def _end(self, session: OpenSession) -> "asyncio.Task[None]":
        """Begin the end of a session; its id stays taken until it is gone."""
        del self._open[session.id]
        session.handle.dispose()
        loop = asyncio.get_running_loop()
        ending = loop.create_task(self._finish(session), name=f"end of session {session.id}")
        self._ending[session.id] = ending
        return ending

    async def _finish(self, session: OpenSession) -> None:
        await session.handle.dispose()
        error = await attempt_awaited(self._sessions.end(session.id))
        # Refused where somebody else works on it by now, and its jobs are theirs.
        if error is not None and not isinstance(error, CallerError):
            log_failure(error, f"session {session.id} was not ended")
        del self._ending[session.id], self._shown[session.session]

    # -- What happens ------------------------------------------------------------------------------

    def attach(self, context: AppContext) -> None:
        """Listen on the context that the agents of this client belong to."""
        self._context = context
        self._sessions = context.need(AGENTS).sessions
        context.on(AGENT_QUEUED, self._on_queued)
        context.on(AGENT_DISCARDED, self._on_discarded)
        context.on(AGENT_DISPOSED, self._on_disposed)
        context.on(SESSION_EVENT, self._on_record)
        context.on(TOOL_PERMISSION, self._on_permission)

    def _on_queued(self, notice: Queued) -> None:
        session = self._shown.get(notice.agent.session)
        if session is not None:
            session.queued(notice)

    def _on_discarded(self, notice: Discarded) -> None:
        session = self._shown.get(notice.agent.session)
        if session is not None:
            session.discarded(notice)

    def _on_disposed(self, notice: AgentNotice) -> None:
        session = self._shown.get(notice.agent.session)
        if session is not None and self._open.get(session.id) is session:
            self._end(session)

    def _on_record(self, notice: RecordAppended) -> None:
        session = self._shown.get(notice.session)
        if session is not None:
            session.recorded(notice.record)

    async def _on_permission(self, request: PermissionRequest) -> bool | None:
        session = self._shown.get(request.use.session)
        return None if session is None else await ask_client(self._client, session, request)

    # -- Parts of requests -------------------------------------------------------------------------

    async def _load(self, cwd: str, session_id: str, directories: list[str] | None) -> OpenSession:
        self._check_open()
        check_place(cwd, directories)
        self._check_free(session_id)
        loop = asyncio.get_running_loop()
        body = open_stored(self._context, session_id, cwd)
        load = self._loading[session_id] = loop.create_task(body, name=f"load of {session_id}")
        with self._handling():
            try:
                await asyncio.wait((load,))
            finally:
                if load.done():
                    del self._loading[session_id]
                else:
                    # The SDK gives up; the end of the bridge waits for it.
                    load.cancel()
        return self._enter(loaded(load, self._context, is_over=self._teardown is not None))

    def _enter(self, handle: AgentHandle) -> OpenSession:
        session = OpenSession(handle, self._context.need(TOOLS), self.put)
        self._open[session.id] = self._shown[session.session] = session
        return session

    def _check_open(self) -> None:
        if self._teardown is not None:
            raise closed()

    def _check_free(self, session_id: str) -> None:
        self._check_at_rest(session_id)
        if session_id in self._ending or session_id in self._deleting:
            raise in_use(session_id)

    def _check_at_rest(self, session_id: str) -> None:
        if self._sessions.get(session_id) is not None or session_id in self._loading:
            raise in_use(session_id)

    def _need(self, session_id: str) -> OpenSession:
        session = self._open.get(session_id)
        if session is None or not session.is_open:
            raise not_found(session_id)
        return session

    @contextmanager
    def _handling(self) -> Generator[None, None, None]:
        """Let the end of the bridge wait for the answer of the handler that waits here.

        Raises:
            RequestError: instead of an error of the runtime.
        """
        task = asyncio.current_task()
        assert task is not None
        self._handlers.add(task)
        task.add_done_callback(self._handlers.discard)
        try:
            yield
        except LifecycleError as error:
            raise refusal(error) from error

    def _about_servers(self, servers: list[Any] | None) -> Frame:
        told = about_servers(servers, is_first=not self._has_said_servers)
        self._has_said_servers = self._has_said_servers or bool(told)
        return told
