"""The sessions that are live in this process."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from pathlib import PurePath

from runtime.errors import CallerError, DuplicateIdError, InvalidRecordError
from runtime.limits import Limits
from runtime.ports import Clock

from .content import freeze_json
from .log import Session, SessionHeader, SessionLog
from .records import Record

__all__ = ["Sessions"]


class Sessions:
    """The live sessions by id, in order of creation.

    Clauses: D-33 D-34 D-35 D-36 D-63
    """

    def __init__(
        self,
        clock: Clock,
        limits: Limits,
        tell: Callable[[Session], None],
        tell_ended: Callable[[str], None],
        end_jobs: Callable[[str], Awaitable[object]],
    ) -> None:
        """Begin empty.

        Args:
            clock: stamps headers and records.
            limits: bounds every record.
            tell: announces `session/created`.
            tell_ended: announces `session/ended`.
            end_jobs: ends the background jobs of a session and waits for that.
        """
        self._tell, self._tell_ended, self._end_jobs = tell, tell_ended, end_jobs
        self._clock = clock
        self._limits = limits
        self._logs: dict[str, SessionLog] = {}
        self._reserved: dict[str, object] = {}
        self._left: set[str] = set()
        """The sessions that no agent works on any more and that have not ended."""
        self._ending: dict[str, asyncio.Task[None]] = {}

    def get(self, session_id: str) -> Session | None:
        """Return a live session, or None."""
        log = self._logs.get(session_id)
        return None if log is None else log.session

    def list(self) -> tuple[Session, ...]:
        """Return the live sessions in order of creation."""
        return tuple(log.session for log in self._logs.values())

    def reserve(self, session_id: str) -> Callable[[], None]:
        """Keep an id free while a session is loaded, and return what ends that.

        Raises:
            DuplicateIdError: a live session has this id, or it is reserved.

        Clauses: E-23 F-07 F-08
        """
        self._refuse_taken(session_id)
        self._reserved[session_id] = holder = object()

        def free() -> None:
            if self._reserved.get(session_id) is holder:
                del self._reserved[session_id]

        return free

    def prepare(
        self,
        session_id: str,
        *,
        cwd: str | None = None,
        seed: Iterable[Record] = (),
        parent: str | None = None,
    ) -> SessionLog:
        """Check and build a session without entering it.

        Raises:
            DuplicateIdError: a live session has this id, or one is being loaded under it.
            CallerError: the id, `cwd` or `parent` is no text, or `cwd` is not an absolute path.
            InvalidRecordError: the seed is no log.

        Clauses: D-33 D-34
        """
        for name, value in (("id", session_id), ("cwd", cwd), ("parent", parent)):
            _check_name(session_id, name, value)
        self._refuse_taken(session_id)
        if cwd is not None and not PurePath(cwd).is_absolute():
            raise CallerError(f"session {session_id!r} refused: cwd {cwd!r} is not absolute")
        records = _as_records(session_id, seed)
        header = SessionHeader(
            id=session_id,
            created_ms=self._clock.now_ms(),
            cwd=cwd,
            parent=parent,
            seed_length=len(records),
        )
        return self.rebuild(header, records)

    def rebuild(self, header: SessionHeader, records: Iterable[Record]) -> SessionLog:
        """Build a session that is known already, without entering it; looks at no live session.

        Raises:
            InvalidRecordError: the records are no log.
            InvalidContentError: the data of one could not have been appended.

        Clauses: D-31 F-12
        """
        return SessionLog(header, clock=self._clock, limits=self._limits, seed=records)

    def enter(self, log: SessionLog) -> Callable[[], None]:
        """Put a prepared session into the store and return what takes exactly it out again.

        Raises:
            DuplicateIdError: meanwhile a session with this id came alive, or is being loaded.

        Clauses: D-35
        """
        session_id = log.session.header.id
        self._refuse_taken(session_id)
        self._logs[session_id] = log
        self._left.discard(session_id)

        def detach() -> None:
            # By object, never by id: a later session may have taken the id over.
            if self._logs.get(session_id) is log:
                del self._logs[session_id]
                self._left.add(session_id)
            log.detach()

        return detach

    def announce(self, log: SessionLog) -> None:
        """Announce `session/created`.

        Clauses: D-36
        """
        self._tell(log.session)

    async def end(self, session_id: str) -> None:
        """End a session that no agent works on any more, and wait for the end of its jobs.

        What is stored of it stays, and it may be resumed again. Whoever asks meanwhile waits for
        the same end; a session that has ended, or was never here, has nothing to end.

        Raises:
            CallerError: an agent works on it, or it is being resumed.

        Clauses: D-63 D-64
        """
        ending = self._ending.get(session_id)
        if ending is None:
            if session_id in self._logs:
                raise CallerError(
                    f"end of session {session_id!r} refused: a live agent works on it; "
                    "dispose that agent first"
                )
            if session_id not in self._left:
                return
            ending = asyncio.get_running_loop().create_task(
                self._end(session_id, self.reserve(session_id)), name=f"end of session {session_id}"
            )
            self._ending[session_id] = ending
        await asyncio.shield(ending)

    async def _end(self, session_id: str, free: Callable[[], None]) -> None:
        try:
            await self._end_jobs(session_id)
        finally:
            free()
            self._left.discard(session_id)
            del self._ending[session_id]
        self._tell_ended(session_id)

    def _refuse_taken(self, session_id: str) -> None:
        if session_id in self._logs:
            raise DuplicateIdError(
                f"session {session_id!r} refused: a live agent works on it; "
                "dispose that agent first, or choose another session id"
            )
        if session_id in self._reserved:
            raise DuplicateIdError(
                f"session {session_id!r} refused: it is being resumed, or ends; "
                "use the agent that comes of it, or choose another session id"
            )


def _check_name(session_id: object, name: str, value: object) -> None:
    """Refuse what could not be told to a file or a terminal.

    Clauses: D-33 D-62
    """
    if value is None and name != "id":
        return
    if type(value) is not str or not value:
        raise CallerError(f"session {session_id!r} refused: its {name} is {value!r}, not a text")
    freeze_json(value, what=f"the {name} of session {session_id!r}")


def _as_records(session_id: str, seed: object) -> tuple[Record, ...]:
    if not isinstance(seed, Iterable):
        raise CallerError(f"session {session_id!r} refused: its seed is {seed!r}, no records")
    records = tuple(seed)
    for index, record in enumerate(records):
        if not isinstance(record, Record):
            kind = type(record).__name__
            raise InvalidRecordError(
                f"session {session_id!r} refused: seed record {index} is a {kind}, no record"
            )
    return records
