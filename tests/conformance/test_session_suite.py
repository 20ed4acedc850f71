"""The contract of stores: memory keeps it, and every way to break it is seen."""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

import pytest
from attrs import define, evolve, field

from runtime import (
    DuplicateIdError,
    InvalidRecordError,
    LifecycleError,
    MemoryBackend,
    Record,
    SessionHeader,
    StoredHeader,
    StoredSession,
    UnknownIdError,
)
from runtime.session.backend import Backend
from runtime.session.memory import MemoryDisk
from tests.conformance import session_suite, test_disk_stores
from tests.conformance.session_suite import CHECKS, Place


@define(eq=False)
class MemoryPlace:
    """A disk in memory, and the processes on it."""

    make: Callable[[MemoryDisk], MemoryBackend] = MemoryBackend
    disk: MemoryDisk = field(factory=MemoryDisk)

    def process(self) -> Backend:
        """See `Place`."""
        return self.make(self.disk)

    def crash(self, backend: Backend) -> None:
        """See `Place`."""
        assert isinstance(backend, MemoryBackend)
        backend.crash()

    def tear(self, session_id: str) -> bool:
        """See `Place`."""
        self.disk.torn[session_id] = "half a record"
        return True


@pytest.mark.clause("E-02", "E-03", "E-04", "E-05", "E-06", "E-07", "E-09", "E-11", "E-16", "E-18")
@pytest.mark.clause("E-24", "E-25", "E-26", "E-28", "E-43", "E-44", "E-45", "E-104")
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_memory_keeps_the_contract_of_stores(check: Callable[[Place], None]) -> None:
    """So a runtime that is tested on it is tested on a store."""
    check(MemoryPlace())


# -- Every way to break it -------------------------------------------------------------------------


class _LosesTheLastRecord(MemoryBackend):
    def append(self, session_id: str, records: Sequence[Record]) -> None:
        super().append(session_id, records[:-1] if len(records) > 1 else records)


class _WritesTwice(MemoryBackend):
    def append(self, session_id: str, records: Sequence[Record]) -> None:
        super().append(session_id, records)
        self.disk.records[session_id].extend(records)


class _WritesHalfABatch(MemoryBackend):
    def append(self, session_id: str, records: Sequence[Record]) -> None:
        for record in records:
            super().append(session_id, (record,))


class _WritesLater(MemoryBackend):
    def append(self, session_id: str, records: Sequence[Record]) -> None:
        stored = super().read(session_id).records
        super().append(session_id, records)
        self.kept = (session_id, list(stored))

    def crash(self) -> MemoryBackend:
        session_id, records = getattr(self, "kept", ("", []))
        if session_id:
            self.disk.records[session_id] = records
        return super().crash()


class _ShowsAHeaderFirst(MemoryBackend):
    def begin(self, header: SessionHeader, records: Sequence[Record]) -> None:
        if header.id not in self.disk.headers:
            super().begin(header, ())
        super().append(header.id, records)


class _Overwrites(MemoryBackend):
    def begin(self, header: SessionHeader, records: Sequence[Record]) -> None:
        self.disk.headers.pop(header.id, None)
        super().begin(header, records)


class _SkipsGaps(MemoryBackend):
    def append(self, session_id: str, records: Sequence[Record]) -> None:
        stored = len(super().read(session_id).records)
        fitting = [record for record in records if record.seq >= stored]
        for seq, record in enumerate(fitting, start=stored):
            super().append(session_id, (Record(seq, record.time_ms, record.type, record.data),))


class _KeepsTheCallersList(MemoryBackend):
    def begin(self, header: SessionHeader, records: Sequence[Record]) -> None:
        super().begin(header, records)
        if isinstance(records, list):
            self.disk.records[header.id] = records


class _CreatesWhatIsAskedFor(MemoryBackend):
    def append(self, session_id: str, records: Sequence[Record]) -> None:
        if session_id not in self.disk.headers:
            super().begin(SessionHeader(id=session_id, created_ms=0), ())
        super().append(session_id, records)


class _ForgetsTheLease(MemoryBackend):
    def acquire(self, session_id: str) -> None:
        self.disk.writers[session_id] = self


class _LetsAnyoneRelease(MemoryBackend):
    def release(self, session_id: str) -> None:
        self.disk.writers.pop(session_id, None)


class _KeepsTheLeaseAfterACrash(MemoryBackend):
    def close(self) -> None:
        """Let go of nothing."""


class _ReadsOnlyUnderALease(MemoryBackend):
    def read(self, session_id: str) -> StoredSession:
        if self.disk.writers.get(session_id) not in (None, self):
            raise UnknownIdError(f"session {session_id!r} is busy")
        return super().read(session_id)


class _RepairsByReading(MemoryBackend):
    def read(self, session_id: str) -> StoredSession:
        stored = super().read(session_id)
        self.disk.torn.pop(session_id, None)
        return stored


class _CutsNothing(MemoryBackend):
    def cut(self, session_id: str) -> None:
        super()._records(session_id)


class _ListsTheNewestFirst(MemoryBackend):
    def headers(self) -> tuple[StoredHeader, ...]:
        return super().headers()[::-1]


class _FoldsCase(MemoryBackend):
    def begin(self, header: SessionHeader, records: Sequence[Record]) -> None:
        if any(header.id.lower() == each.lower() for each in self.disk.headers):
            raise DuplicateIdError(f"session {header.id!r} is there")
        super().begin(header, records)


class _ForgetsTheHeader(MemoryBackend):
    def begin(self, header: SessionHeader, records: Sequence[Record]) -> None:
        super().begin(evolve(header, cwd=None), records)


class _ForgetsTheSources(MemoryBackend):
    def begin(self, header: SessionHeader, records: Sequence[Record]) -> None:
        super().begin(header, [evolve(each, sources=None) for each in records])


class _RefusesEmptyBatches(MemoryBackend):
    def append(self, session_id: str, records: Sequence[Record]) -> None:
        if not records:
            raise InvalidRecordError("nothing to write")
        super().append(session_id, records)


class _KnowsWhatIsBeingWritten(MemoryBackend):
    def ids(self) -> frozenset[str]:
        return frozenset(self.disk.writers)


class _OpensOnce(MemoryBackend):
    def close(self) -> None:
        super().close()
        self._is_dead = True


BREACHES: Final = (AssertionError, pytest.fail.Exception, LifecycleError)
"""How a check complains: something is not so, was not refused, or was refused."""

BROKEN: Final[tuple[tuple[type[MemoryBackend], str], ...]] = (
    (_LosesTheLastRecord, "what_was_promised_survives_a_crash"),
    (_WritesTwice, "what_was_appended_continues"),
    (_WritesHalfABatch, "a_gap_is_refused_and_nothing_is_written"),
    (_WritesLater, "what_was_promised_survives_a_crash"),
    (_ShowsAHeaderFirst, "a_gap_is_refused_and_nothing_is_written"),
    (_Overwrites, "a_stored_session_is_not_begun_again"),
    (_SkipsGaps, "a_gap_is_refused_and_nothing_is_written"),
    (_KeepsTheCallersList, "a_batch_belongs_to_the_place"),
    (_CreatesWhatIsAskedFor, "what_is_not_there_is_unknown"),
    (_ForgetsTheLease, "there_is_one_writer"),
    (_LetsAnyoneRelease, "there_is_one_writer"),
    (_KeepsTheLeaseAfterACrash, "a_lease_ends_with_its_process"),
    (_ReadsOnlyUnderALease, "reading_needs_no_lease_and_changes_nothing"),
    (_RepairsByReading, "a_torn_tail_is_told_and_cut"),
    (_CutsNothing, "a_torn_tail_is_told_and_cut"),
    (_ListsTheNewestFirst, "the_list_is_of_headers_from_the_oldest"),
    (_FoldsCase, "ids_are_kept_apart"),
    (_ForgetsTheHeader, "what_was_stored_is_read_as_it_was"),
    (_ForgetsTheSources, "what_was_stored_is_read_as_it_was"),
    (_RefusesEmptyBatches, "an_empty_batch_changes_nothing"),
    (_KnowsWhatIsBeingWritten, "what_is_stored_is_known_by_its_id"),
    (_OpensOnce, "a_place_can_be_opened_again"),
)


@pytest.mark.clause("E-43")
@pytest.mark.parametrize(("broken", "check"), BROKEN, ids=lambda it: getattr(it, "__name__", it))
def test_a_broken_store_is_seen(broken: type[MemoryBackend], check: str) -> None:
    """By the check that is about it."""
    with pytest.raises(BREACHES):
        getattr(session_suite, check)(MemoryPlace(broken))


@pytest.mark.clause("E-43")
def test_every_check_can_fail() -> None:
    """Each has a broken store of its own, so none of them is there for show."""
    assert {check for _, check in BROKEN} == {check.__name__ for check in CHECKS}


@pytest.mark.clause("E-43")
@pytest.mark.parametrize(
    "test",
    [
        test_memory_keeps_the_contract_of_stores,
        test_disk_stores.test_a_place_on_a_disk_keeps_the_contract,
    ],
)
def test_whoever_runs_the_suite_is_marked_with_every_clause_of_it(test: Any) -> None:  # noqa: ANN401  # a test
    """So a clause that is broken is looked for in every kind of store."""
    named = {each for check in CHECKS for each in re.findall(r"\b[A-Z]-\d+", check.__doc__ or "")}
    marked = {each for mark in test.pytestmark if mark.name == "clause" for each in mark.args}
    assert named <= marked
