"""The contract of everything that keeps sessions, as checks of one place each.

Theory. A place is used by processes; a process is one backend. What one of them has been promised
must be seen by the next, however the first one ended, so nearly every check looks through the eyes
of another process. A check raises `AssertionError` when the contract is broken; the broken backends
beside this file show that each check can.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Protocol

import pytest

from runtime import (
    DuplicateIdError,
    InvalidRecordError,
    Record,
    SessionBusyError,
    SessionHeader,
    UnknownIdError,
)
from runtime.session.backend import Backend

from .session_samples import log_of, sample

__all__ = ["CHECKS", "Place"]


class Place(Protocol):
    """One place that keeps sessions."""

    def process(self) -> Backend:
        """Return the backend of one more process, not opened yet."""
        ...

    def crash(self, backend: Backend) -> None:
        """Kill a process."""
        ...

    def tear(self, session_id: str) -> bool:
        """Leave a torn tail behind a session, as a killed write would; False if it never does."""
        ...


@contextmanager
def _opened(place: Place) -> Iterator[Backend]:
    backend = place.process()
    backend.open()
    try:
        yield backend
    finally:
        backend.close()


def _kept(place: Place, session_id: str = "s") -> tuple[SessionHeader, tuple[Record, ...]]:
    """Return what another process finds."""
    with _opened(place) as other:
        stored = other.read(session_id)
    return stored.header, stored.records


def _store(backend: Backend, session_id: str = "s", length: int | None = None) -> None:
    header, records = sample(session_id)
    backend.acquire(session_id)
    backend.begin(header, records[:length])


# -- The checks ------------------------------------------------------------------------------------


def what_was_stored_is_read_as_it_was(place: Place) -> None:
    """Header, values, order, placements and sources survive.

    Clauses: E-03 E-11
    """
    with _opened(place) as backend:
        _store(backend)
    assert _kept(place) == sample()
    kept = _kept(place)[1]
    for record, original in zip(kept, sample()[1], strict=True):
        # Equal is not enough: True equals 1, and 1.0 does, too.
        assert repr(record) == repr(original)


def what_was_appended_continues(place: Place) -> None:
    """However it is cut into batches, the same is stored.

    Clauses: E-04 E-05 E-11
    """
    header, records = sample()
    with _opened(place) as backend:
        _store(backend, length=1)
        for start, end in ((1, 2), (2, 9), (9, 9), (9, len(records))):
            backend.append("s", records[start:end])
            assert _kept(place)[1] == records[:end]
    assert _kept(place) == (header, records)


def what_was_promised_survives_a_crash(place: Place) -> None:
    """A batch is durable when the call has returned.

    Clauses: E-03 E-04
    """
    header, records = sample()
    first = place.process()
    first.open()
    _store(first, length=3)
    place.crash(first)
    assert _kept(place) == (header, records[:3])
    second = place.process()
    second.open()
    second.acquire("s")
    second.append("s", records[3:])
    place.crash(second)
    assert _kept(place) == (header, records)


def a_gap_is_refused_and_nothing_is_written(place: Place) -> None:
    """The message says what was expected; the batch is all or nothing.

    Clauses: E-05
    """
    header, records = sample()
    wrong: tuple[Sequence[Record], ...] = (
        records[5:],
        records[3:],
        (*records[4:6], records[7]),
        (records[4], records[4]),
    )
    with _opened(place) as backend:
        backend.acquire("s")
        with pytest.raises(InvalidRecordError, match=r"1.*0"):
            backend.begin(header, records[1:])
        assert backend.headers() == ()
        backend.begin(header, records[:4])
        for batch in wrong:
            with pytest.raises(InvalidRecordError, match=r"4|6"):
                backend.append("s", batch)
            assert _kept(place)[1] == records[:4]
        backend.append("s", records[4:])
    assert _kept(place)[1] == records


def an_empty_batch_changes_nothing(place: Place) -> None:
    """It is accepted.

    Clauses: E-06
    """
    with _opened(place) as backend:
        _store(backend, length=4)
        backend.append("s", ())
    assert _kept(place)[1] == sample()[1][:4]


def a_batch_belongs_to_the_place(place: Place) -> None:
    """What the caller does to its list afterwards changes nothing.

    Clauses: E-07
    """
    header, records = sample()
    batch = list(records)
    with _opened(place) as backend:
        backend.acquire("s")
        backend.begin(header, batch)
        batch.clear()
        assert backend.read("s").records == records
    assert _kept(place)[1] == records


def a_stored_session_is_not_begun_again(place: Place) -> None:
    """Neither by its own process nor by the next, and it stays as it is.

    Clauses: E-09 E-28
    """
    for _ in range(2):
        with _opened(place) as backend:
            backend.acquire("s")
            header, records = sample()
            if backend.headers() == ():
                backend.begin(header, records)
            with pytest.raises(DuplicateIdError, match="'s'"):
                backend.begin(SessionHeader(id="s", created_ms=5, cwd="/else"), records[:2])
    assert _kept(place) == sample()


def what_is_not_there_is_unknown(place: Place) -> None:
    """The message names the id, and nothing comes into being by the question.

    Clauses: E-02 E-16
    """
    with _opened(place) as backend:
        _store(backend)
        backend.acquire("nobody")
        for act in (
            lambda: backend.read("nobody"),
            lambda: backend.append("nobody", sample("nobody")[1]),
            lambda: backend.cut("nobody"),
        ):
            with pytest.raises(UnknownIdError, match="nobody"):
                act()
        assert [each.header.id for each in backend.headers()] == ["s"]


def there_is_one_writer(place: Place) -> None:
    """A second one is refused, in its own process and in another, until the first lets go.

    Clauses: E-44
    """
    with _opened(place) as first, _opened(place) as second:
        first.acquire("s")
        first.acquire("t")
        for each in (first, second):
            with pytest.raises(SessionBusyError, match="'s'"):
                each.acquire("s")
        second.release("s")
        with pytest.raises(SessionBusyError):
            second.acquire("s")
        first.release("s")
        second.acquire("s")
        with pytest.raises(SessionBusyError):
            first.acquire("s")
        with pytest.raises(SessionBusyError):
            second.acquire("t")


def a_lease_ends_with_its_process(place: Place) -> None:
    """However that ends.

    Clauses: E-44
    """
    for end in (place.crash, lambda backend: backend.close()):
        backend = place.process()
        backend.open()
        backend.acquire("s")
        end(backend)
        with _opened(place) as other:
            other.acquire("s")


def reading_needs_no_lease_and_changes_nothing(place: Place) -> None:
    """While somebody writes, others see what is stored so far.

    Clauses: E-16 E-45
    """
    with _opened(place) as writer, _opened(place) as reader:
        _store(writer, length=6)
        assert reader.read("s").records == sample()[1][:6]
        assert reader.read("s") == reader.read("s")
        assert [each.header for each in reader.headers()] == [sample()[0]]
        writer.append("s", sample()[1][6:])
        assert reader.read("s").records == sample()[1]


def the_list_is_of_headers_from_the_oldest(place: Place) -> None:
    """An empty place has an empty list; each entry says where the session is.

    Clauses: E-24 E-25
    """
    with _opened(place) as backend:
        assert backend.headers() == ()
        for session_id, created_ms in (("b", 20), ("c", 10), ("a", 20)):
            backend.acquire(session_id)
            header = SessionHeader(id=session_id, created_ms=created_ms)
            backend.begin(header, sample()[1])
        listed = backend.headers()
    assert [each.header.id for each in listed] == ["c", "a", "b"]
    assert all(each.place for each in listed)


def ids_are_kept_apart(place: Place) -> None:
    """Whatever they look like, they name different sessions, and nothing else.

    Clauses: E-26
    """
    hostile = ("a", "A", "../a", "a/b", ".", "..", "a\\b", "a.jsonl", "a%2Fb", "ä", "a\u0308", " ")
    with _opened(place) as backend:
        for number, session_id in enumerate(hostile):
            _store(backend, session_id, length=number + 1)
    for number, session_id in enumerate(hostile):
        header, records = _kept(place, session_id)
        assert (header.id, len(records)) == (session_id, number + 1)
    with _opened(place) as backend:
        assert {each.header.id for each in backend.headers()} == set(hostile)


def what_is_stored_is_known_by_its_id(place: Place) -> None:
    """Also to another process, and whatever the id looks like.

    Clauses: E-104
    """
    hostile = ("s", "../s", "S", "\u0130", "l" * 400, "l" * 401)
    with _opened(place) as backend:
        for session_id in hostile:
            assert session_id not in backend.ids()
            _store(backend, session_id)
            assert session_id in backend.ids()
    with _opened(place) as other:
        known = other.ids()
        _store(other, "t")
        assert all(session_id in known for session_id in hostile)
        assert not any(each in known for each in ("t", "", "nobody", "s ", "l" * 402))


def a_torn_tail_is_told_and_cut(place: Place) -> None:
    """Reading reports it and leaves it; only a cut removes it, and nothing else.

    Clauses: E-18 E-45
    """
    with _opened(place) as backend:
        _store(backend)
    if not place.tear("s"):
        return
    for _ in range(2):
        with _opened(place) as backend:
            stored = backend.read("s")
            assert (stored.header, stored.records) == sample()
            assert stored.torn
    with _opened(place) as backend:
        backend.acquire("s")
        backend.cut("s")
        backend.cut("s")
        assert backend.read("s").torn is None
        longer = tuple(log_of(turns=3).events)
        backend.append("s", longer[len(sample()[1]) :])
    assert _kept(place) == (sample()[0], longer)


def a_place_can_be_opened_again(place: Place) -> None:
    """Closing is harmless at any time, and the same backend can go on.

    Clauses: E-43
    """
    backend = place.process()
    backend.close()
    for length in (3, 5):
        backend.open()
        backend.acquire("s")
        if length == 3:
            backend.begin(sample()[0], sample()[1][:3])
        else:
            backend.append("s", sample()[1][3:5])
        backend.close()
        backend.close()
    assert _kept(place)[1] == sample()[1][:5]


CHECKS: Final[tuple[Callable[[Place], None], ...]] = (
    what_was_stored_is_read_as_it_was,
    what_was_appended_continues,
    what_was_promised_survives_a_crash,
    a_gap_is_refused_and_nothing_is_written,
    an_empty_batch_changes_nothing,
    a_batch_belongs_to_the_place,
    a_stored_session_is_not_begun_again,
    what_is_not_there_is_unknown,
    there_is_one_writer,
    a_lease_ends_with_its_process,
    reading_needs_no_lease_and_changes_nothing,
    the_list_is_of_headers_from_the_oldest,
    ids_are_kept_apart,
    what_is_stored_is_known_by_its_id,
    a_torn_tail_is_told_and_cut,
    a_place_can_be_opened_again,
)
"""Every check of the contract."""
