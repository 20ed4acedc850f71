"""What there is in the store world: a live session, its stored copy, and who writes it."""

from enum import StrEnum
from typing import Final, NamedTuple

__all__ = [
    "COMPARE", "KEEPER", "SESSION", "WRITTEN", "Agent", "Barrier", "Call", "Keeper", "Kind",
    "Owner", "Record", "Report", "State", "Work", "is_open",
]  # fmt: skip

COMPARE: Final = -1
"""A cursor that is not trusted: what is stored is read and compared first."""

SESSION: Final = 0
"""The place of whatever is not the end of the keeper."""
KEEPER: Final = 1
"""The place of the end of the keeper: nobody who waits there keeps the others from going on."""


class Kind(StrEnum):
    """What a record does to a turn; what else it says is no matter of storing."""

    START = "start"
    END = "end"
    REPAIR = "repair"
    """An end that a resume wrote for a turn that a crash had left open."""


class Record(NamedTuple):
    """One record: its number makes every record another one."""

    seq: int
    kind: Kind


class Agent(StrEnum):
    """The agent on the session, and how far its end is."""

    NONE = "none"
    LOADING = "loading"
    LIVE = "live"
    ENDING = "ending"
    """Disposed; its closing records are not written yet."""
    CLOSED = "closed"
    """The log is balanced, and nobody appends any more."""
    FLUSHING = "flushing"
    FLUSHED = "flushed"
    RELEASING = "releasing"
    """Its session is detached; the last write and the release of the lease are asked for."""


WRITTEN: Final = (Agent.LIVE, Agent.ENDING, Agent.CLOSED, Agent.FLUSHING, Agent.FLUSHED)
"""While it may be written."""


class Keeper(StrEnum):
    """The plugin that keeps sessions."""

    LOADED = "loaded"
    DRAINING = "draining"
    UNLOADED = "unloaded"


class Owner(StrEnum):
    """Who has the lease of the session."""

    NOBODY = "nobody"
    MINE = "mine"
    RIVAL = "rival"
    """Another process."""


class Report(StrEnum):
    """What the teardown of an agent has said, or will say by now."""

    CLEAN = "clean"
    FAILED = "failed"
    """Something failed or was late."""
    UNKEPT = "unkept"
    """Nobody kept the session any more when it ended."""


class Work(StrEnum):
    """What the disk is asked for."""

    WRITE = "write"
    FINISH = "finish"
    """The last write of a writer, and the release of the lease."""
    LOAD = "load"


class Call(NamedTuple):
    """Something that the disk is asked for; the first of the queue is under way."""

    work: Work
    is_own: bool = True
    """Whether somebody still waits for it: the writer that is in charge, or the resume."""
    start: int = COMPARE
    """Where the batch begins, known when it is under way; for a last write, always."""
    end: int = 0
    """Where it ends, known when it is under way."""


class Barrier(NamedTuple):
    """A flush that waits."""

    wanted: int
    """How many records have to be stored."""
    is_own: bool
    """Whether the write under way is the one that it has asked for itself."""


class State(NamedTuple):
    """Everything at one instant."""

    log: tuple[Record, ...] = ()
    """The live session, or the one that is written for the last time."""
    disk: tuple[Record, ...] = ()
    acknowledged: int = 0
    """How many records somebody was told to be stored."""
    agent: Agent = Agent.LIVE
    keeper: Keeper = Keeper.LOADED
    cursor: int = 0
    """How many records are stored, as far as the writer knows."""
    has_failed: bool = False
    """Whether the last write failed, so that the next one waits for a flush."""
    lease: Owner = Owner.NOBODY
    queue: tuple[Call, ...] = ()
    barrier: Barrier | None = None
    report: Report = Report.CLEAN
    is_stopping: bool = False
    """Whether the application stops."""

    @property
    def is_written(self) -> bool:
        """Whether a writer is in charge of the session."""
        return self.keeper is Keeper.LOADED and self.agent in WRITTEN

    @property
    def is_writing(self) -> bool:
        """Whether that writer waits for a write."""
        return any(call.work is Work.WRITE and call.is_own for call in self.queue)

    @property
    def is_behind(self) -> bool:
        """Whether the writer does not know of every record that it is stored."""
        return self.cursor < len(self.log) and bool(self.log)

    @property
    def batch(self) -> tuple[Record, ...]:
        """What the call under way is to add; nothing if there is no such call."""
        if not self.queue or self.queue[0].work is Work.LOAD:
            return ()
        call = self.queue[0]
        return self.log[len(self.disk) if call.start == COMPARE else call.start : call.end]

    @property
    def is_stored_another(self) -> bool:
        """Whether what is stored is no beginning of the live log."""
        return self.log[: len(self.disk)] != self.disk

    def __str__(self) -> str:
        """Return it as a reader of a story wants it."""
        parts = [f"agent {self.agent}", f"log {_spelled(self.log)}", f"disk {_spelled(self.disk)}"]
        parts += [f"{self.acknowledged} acknowledged"] if self.acknowledged else []
        parts += [] if self.keeper is Keeper.LOADED else [f"keeper {self.keeper}"]
        parts += [] if self.lease is Owner.NOBODY else [f"lease {self.lease}"]
        parts += [f"disk asked: {', '.join(map(_called, self.queue))}"] if self.queue else []
        parts += ["last write failed"] if self.has_failed else []
        parts += [f"flush waits for {self.barrier.wanted}"] if self.barrier is not None else []
        parts += [] if self.report is Report.CLEAN else [f"report {self.report}"]
        parts += ["application stops"] if self.is_stopping else []
        return "; ".join(parts)


def is_open(records: tuple[Record, ...]) -> bool:
    """Return whether a turn is open at the end."""
    return bool(records) and records[-1].kind is Kind.START


def _spelled(records: tuple[Record, ...]) -> str:
    return " ".join(f"{record.seq}:{record.kind}" for record in records) or "empty"


def _called(call: Call) -> str:
    return call.work if call.is_own else f"{call.work} for nobody"
