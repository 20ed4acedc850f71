"""The log of one session: the only truth about what happened in it.

Two objects look at the same list. `SessionLog` may append and is held by whoever writes; `Session`
is what everybody else gets. A record is checked completely before it enters, so nothing that is in
the log ever has to be taken back, and an append that is refused leaves no trace. Nothing here costs
more when the log is longer.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

from attrs import evolve, frozen

from runtime.errors import InvalidContentError, InvalidRecordError
from runtime.limits import DEFAULT_LIMITS, Limits
from runtime.ports import Clock

from .content import FrozenObject
from .derive import History, Message, Surface, check_placement, check_sources
from .records import Enclosure, Record, freeze_data

__all__ = ["FORMAT_VERSION", "Draft", "Events", "Session", "SessionHeader", "SessionLog"]

FORMAT_VERSION = 0
"""The version of the log's format; 0 until the first release."""


@frozen(kw_only=True)
class SessionHeader:
    """What is known of a session beside its records; never derived from them."""

    format_version: int = FORMAT_VERSION
    id: str
    created_ms: int
    cwd: str | None = None
    parent: str | None = None
    """The session that this one was forked from."""
    seed_length: int = 0
    """How many records came from elsewhere; said once, at creation, and kept by every resume."""


@frozen(kw_only=True)
class Draft:
    """A record that is still to be appended."""

    type: str
    data: Mapping[str, Any]
    placement: object = None
    sources: Sequence[int] | None = None


class Events(Sequence[Record]):
    """A live, read-only view of a log; it grows with the log and never shrinks."""

    __slots__ = ("_records",)

    def __init__(self, records: list[Record]) -> None:
        self._records = records

    def __len__(self) -> int:
        return len(self._records)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Record]: ...
    def __getitem__(self, index: int | slice) -> Record | Sequence[Record]:
        if isinstance(index, slice):
            return tuple(self._records[index])
        return self._records[index]

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records)

    def __repr__(self) -> str:
        return f"Events({len(self)} records)"


class SessionLog:
    """The capability to append to one session."""

    __slots__ = (
        "_clock",
        "_enclosure",
        "_events",
        "_is_detached",
        "_limits",
        "_news",
        "_records",
        "_surface",
        "_time_ms",
        "on_append",
        "session",
    )

    def __init__(
        self,
        header: SessionHeader,
        *,
        clock: Clock,
        limits: Limits = DEFAULT_LIMITS,
        seed: Iterable[Record] = (),
        on_append: Callable[[Record], None] | None = None,
    ) -> None:
        """Begin a log, empty or with the records of a seed.

        The records of a seed are checked like any other and announced to nobody.

        Raises:
            InvalidRecordError: the seed has a gap or a record that may not stand where it does.
            InvalidContentError: the data of a seeded record would not survive.

        Clauses: D-27 D-28 D-29
        """
        self._clock = clock
        self._limits = limits
        self._records: list[Record] = []
        self._events = Events(self._records)
        self._enclosure = Enclosure()
        self._surface = Surface()
        self._time_ms = 0
        self._news: asyncio.Event | None = None
        self._is_detached = False
        self.on_append = on_append
        """Called with each record once it is in the log; must not raise."""
        self._seed(seed)
        self.session = Session(header, self)
        """The read side, for everybody."""

    @property
    def events(self) -> Events:
        """The records, live and read-only."""
        return self._events

    @property
    def next_turn(self) -> int:
        """The number that the next turn will have."""
        return self._enclosure.next_turn

    @property
    def open_turn(self) -> int | None:
        """The number of the turn that is open, or None."""
        return self._enclosure.open_turn

    @property
    def open_step(self) -> int | None:
        """The number of the step that is open, or None."""
        return self._enclosure.open_step

    @property
    def unanswered(self) -> tuple[str, ...]:
        """The calls of the open step that have no result yet, in order."""
        return self._enclosure.unanswered

    @property
    def history(self) -> History:
        """The derived messages so far; costs only what was appended since the last look."""
        self._surface.follow(self._records)
        return self._surface.history

    def append(
        self,
        type_name: str,
        data: Mapping[str, Any],
        *,
        placement: object = None,
        sources: Sequence[int] | None = None,
    ) -> Record:
        """Check, copy, stamp and append one record, then tell the observer.

        Raises:
            InvalidContentError: the data would not survive the log.
            InvalidRecordError: the record may not stand here.
            LimitError: the data is too large or too deep.

        Clauses: D-01 D-03 D-10 D-11 D-12 D-13 D-14 D-15 D-18 D-19 D-20 D-21
        """
        record = self._commit(type_name, data, placement, sources)
        self._publish(record)
        return record

    def append_many(self, drafts: Iterable[Draft]) -> tuple[Record, ...]:
        """Append several records, or none; the observer hears of them when all are in.

        Raises:
            InvalidContentError: the data of one would not survive the log.
            InvalidRecordError: one of them may not stand where it would.
            LimitError: the data of one is too large or too deep.
        """
        length = len(self._records)
        before = evolve(self._enclosure)
        try:
            committed = tuple(
                self._commit(draft.type, draft.data, draft.placement, draft.sources)
                for draft in drafts
            )
        except BaseException:
            # Nobody has seen the first ones: nothing is published before all are in.
            del self._records[length:]
            self._enclosure = before
            self._surface = Surface()
            raise
        for record in committed:
            self._publish(record)
        return committed

    def detach(self) -> None:
        """Stop publishing: the observer hears nothing more and followers end.

        The log stays readable.

        Clauses: D-39
        """
        self._is_detached = True
        self.on_append = None
        self._wake_followers()

    def _commit(
        self, type_name: str, data: object, placement: object, sources: Sequence[int] | None
    ) -> Record:
        record = self._checked(type_name, data, placement, sources)
        self._enclosure.advance(type_name, record.data)
        self._records.append(record)
        return record

    def _checked(
        self, type_name: str, data: object, placement: object, sources: Sequence[int] | None
    ) -> Record:
        frozen_data = freeze_data(type_name, data, limits=self._limits)
        place = check_placement(type_name, placement)
        seq = len(self._records)
        if sources is not None:
            sources = check_sources(type_name, sources, place, seq)
        if place is not None and not isinstance(place, str):
            self._check_replacement(type_name, place["replace"], sources)
        # The system's clock may be set back; the order of a log may not.
        now_ms = self._clock.now_ms()
        if now_ms > self._time_ms:  # noqa: PLR1730  # a third of the cost of calling max()
            self._time_ms = now_ms
        return Record(seq, self._time_ms, type_name, frozen_data, place, sources)

    def _check_replacement(
        self, type_name: str, ends: FrozenObject, sources: tuple[int, ...] | None
    ) -> None:
        self._surface.follow(self._records)
        shadowed = self._surface.shadowed_by(type_name, ends)
        if not set(shadowed) <= set(sources or ()):
            raise InvalidRecordError(
                f"{type_name}: its sources must name every record it replaces: "
                + ", ".join(map(str, shadowed))
            )

    def _seed(self, seed: Iterable[Record]) -> None:
        for index, record in enumerate(seed):
            if record.seq != index:
                raise InvalidRecordError(f"seed record {index} has seq {record.seq}, not {index}")
            if type(record.time_ms) is not int:
                raise InvalidRecordError(f"seed record {index}: time_ms must be an integer")
            try:
                checked = self._checked(record.type, record.data, record.placement, record.sources)
                self._enclosure.advance(record.type, checked.data, is_seed=True)
            except (InvalidContentError, InvalidRecordError) as error:
                raise type(error)(f"seed record {index}: {error}") from error
            self._records.append(evolve(checked, time_ms=record.time_ms))
        if self._records:
            self._time_ms = max(record.time_ms for record in self._records)

    def _publish(self, record: Record) -> None:
        if self.on_append is not None:
            self.on_append(record)
        if self._news is not None:
            self._wake_followers()

    def _wake_followers(self) -> None:
        if self._news is not None:
            # Whoever waits is released by the first; whoever comes later waits for the next news.
            self._news.set()
            self._news.clear()

    async def _follow(self, after: int) -> AsyncIterator[Record]:
        position = max(after + 1, 0)
        while True:
            while position < len(self._records):
                yield self._records[position]
                position += 1
            if self._is_detached:
                return
            if self._news is None:
                self._news = asyncio.Event()
            await self._news.wait()


class Session:
    """What everybody may know of one session."""

    __slots__ = ("__log", "header")

    def __init__(self, header: SessionHeader, log: SessionLog) -> None:
        self.__log = log
        self.header = header
        """What is known of the session beside its records."""

    @property
    def id(self) -> str:
        """The id of the session."""
        return self.header.id

    @property
    def events(self) -> Events:
        """The records so far: a live, read-only view, in constant time."""
        return self.__log.events

    def messages(self) -> list[Message]:
        """Return the derived history: what a model would be shown now.

        The list is the caller's; the messages in it are frozen, so nothing done to them reaches the
        log (`thaw` gives a copy that may be changed).

        Clauses: D-17 D-23 D-25
        """
        return list(self.__log.history)

    def follow(self, *, after: int = -1) -> AsyncIterator[Record]:
        """Iterate over the records behind `after`, those to come included.

        Each follower has its own place in the log, so a slow one misses nothing and delays nobody.
        The iteration ends when the session is detached and its last record was given out.
        """
        return self.__log._follow(after)  # noqa: SLF001  # the two faces of one log

    def __repr__(self) -> str:
        return f"Session({self.id!r}, {len(self.events)} records)"
