"""One life of a runtime that keeps a session: its disk, its model, and what it does."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from attrs import define

from runtime import (
    AgentHandle,
    Finish,
    FinishKind,
    LifecycleError,
    ModelRequest,
    Record,
    Runtime,
    StorageError,
    Teardown,
    Window,
)
from runtime.model import AbortSignalLike, Chunk
from statemachine.conformance.stage.stage import Stage
from statemachine.worlds import Event
from statemachine.worlds.store import Kind, Work
from statemachine.worlds.store import table as t

if TYPE_CHECKING:
    from asyncio import Task

    from runtime.core import Core

__all__ = ["Port", "Process", "SilentModel", "boundaries", "is_flushing"]

T = TypeVar("T")
OUTCOMES: Final = {"ok": t.DISK_OK, "error": t.DISK_ERROR, "late": t.DISK_LATE}
_WORKS: Final = {
    "begin": Work.WRITE,
    "write": Work.WRITE,
    "catch_up": Work.WRITE,
    "finish": Work.FINISH,
    "load": Work.LOAD,
}


@define(eq=False)
class Port:
    """The `Blocking` port of one process: what it does to the session waits for the stage."""

    stage: Stage
    tell: Callable[[Event], None]
    under_way: Work | None = None
    call: Callable[[], Any] | None = None
    """What is under way."""
    has_loaded: bool = False
    """Whether the last load was answered, although whoever asked may not have noticed."""
    owes_lease: bool = False
    """Whether a last write was not done: its lease is given back by whatever is done next."""

    async def run(self, call: Callable[[], T]) -> T:
        """See `Blocking`."""
        work = _work_of(call)
        if work is None:
            # The world does not know of it: it is done at once.
            return self._do(call)
        self.under_way, self.call = work, call
        outcome = await self.stage.gate("disk", tuple(OUTCOMES))
        self.under_way = self.call = None
        self.has_loaded |= work is Work.LOAD
        if outcome == "error":
            self.owes_lease |= work is Work.FINISH
            self.tell(t.DISK_ERROR)
            raise StorageError("the stage's disk is full")
        try:
            result = self._do(call)
        except LifecycleError:
            # What is refused is refused, and cannot be late.
            self.tell(t.DISK_OK)
            raise
        self.tell(OUTCOMES[outcome])
        if outcome == "late":
            raise StorageError("the stage's disk did not answer in time")
        return result

    def _do(self, call: Callable[[], T]) -> T:
        self.owes_lease = False
        return call()


def _work_of(call: Any) -> Work | None:  # noqa: ANN401  # whatever is called
    # In front of a call there may be a lease to give back.
    is_behind_releases = getattr(getattr(call, "func", None), "__name__", "") == "_release_first"
    inner = call.args[1] if is_behind_releases else call
    return _WORKS.get(getattr(getattr(inner, "func", inner), "__name__", ""))


@define(eq=False)
class Process:
    """One life of the runtime."""

    runtime: Runtime
    opening: Any
    port: Port
    handle: AgentHandle | None = None
    core: "Core | None" = None
    teardown: Teardown | None = None
    resuming: "Task[None] | None" = None
    is_asked: bool = False
    """Whether a resume was asked for, and it is not seen yet whether it is refused."""
    is_loading: bool = False
    told: int = 0
    """How many of the boundaries in the log were told."""
    is_stopping: bool = False
    is_flush_left: bool = False
    """A flush was left behind; unlike the world's it still asks on its own account."""


@define(eq=False)
class SilentModel:
    """Answers with nothing when its gate `model` opens, so a turn has no chunk."""

    stage: Stage
    cooperative: bool = True

    async def stream(self, _: ModelRequest, __: AbortSignalLike) -> AsyncIterator[Chunk]:
        """See `Model`."""
        await self.stage.gate("model", ("ok",))
        yield Finish(FinishKind.STOP)


def boundaries(records: Sequence[Record]) -> tuple[Kind, ...]:
    """Return the beginnings and ends of turns."""
    kinds = []
    for record in records:
        if record.type == "turn/start":
            kinds.append(Kind.START)
        elif record.type == "turn/end":
            is_repair = record.data["ending"] == "interrupted"
            kinds.append(Kind.REPAIR if is_repair else Kind.END)
    return tuple(kinds)


def is_flushing(core: "Core") -> bool:
    """Return whether the driver, or the teardown, waits for a flush."""
    last = core.last_flush
    return core.shape.window is Window.FLUSH or (last is not None and not last.done())
