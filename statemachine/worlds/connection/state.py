"""What there is: requests and their agents, tables of ids, a connection and two fibers.

A slot holds one request, and from some step on the agent that it made. It is taken by the call and
free again when nothing of it is left, so a world with a few slots covers histories of any length:
what is bounded is only how much is under way at one time.
"""

from enum import StrEnum
from typing import Final, NamedTuple

from statemachine.worlds.driver import Driver

__all__ = [
    "AGENTS", "NOBODY", "SESSIONS", "Asked", "Caller", "Connection", "End", "Fiber", "Phase",
    "Slot", "State", "of_connection",
]  # fmt: skip

NOBODY: Final = -1
"""In a table: no slot has this id."""

AGENTS: Final = ("a", "b")
SESSIONS: Final = ("s", "t")


class Caller(StrEnum):
    """Who asked."""

    CONNECTION = "connection"
    """The client at the other end; the agent belongs to the fiber of the connection."""
    PROGRAM = "program"
    """Somebody else in this process, whose fiber outlives the connection."""


class Phase(StrEnum):
    """How far a request is."""

    ASKED = "asked"
    """Being looked at, for no time."""
    PENDING = "pending"
    """A load that waits for the store."""
    READ = "read"
    """A load that the store has answered and that has not gone on yet."""
    OPENING = "opening"
    """Its session has been entered, and whoever listens is being told of it."""
    TOLD = "told"
    """Its agent is registered, and whoever listens is being told of it."""
    RETURNED = "returned"
    """Whoever serves the request has the handle and has not gone on yet."""
    LIVE = "live"
    """Answered: the agent is the caller's."""
    CLOSING = "closing"
    """Answered, and a close of it waits for the end."""
    FAILING = "failing"
    """To be refused when the end of what it got is there."""
    FAILED = "failed"
    """Refused, and what it had taken is still being given back."""


class End(StrEnum):
    """How far the teardown of an agent is."""

    NONE = "none"
    STARTED = "started"
    UNREGISTERED = "unregistered"
    DETACHED = "detached"
    """Only the lease is left to give back."""
    RESOLVED = "resolved"


class Connection(StrEnum):
    """The connection."""

    OPEN = "open"
    CLOSING = "closing"
    CLOSED = "closed"
    """Its teardown has resolved."""


class Fiber(StrEnum):
    """A fiber that owns agents."""

    OPEN = "open"
    CALLED = "called"
    """Asked to unload: nothing can be owned by it any more."""
    UNWOUND = "unwound"
    """It has disposed what it owns."""
    GONE = "gone"


class Asked(NamedTuple):
    """What a call asks for."""

    caller: Caller
    agent: int
    session: int

    def __str__(self) -> str:
        """Return it as a story tells it."""
        return f"{self.caller}: {AGENTS[self.agent]} on {SESSIONS[self.session]}"


class Slot(NamedTuple):
    """One request, and the agent that came of it."""

    asked: Asked
    phase: Phase = Phase.ASKED
    driver: Driver = Driver.NONE
    end: End = End.NONE
    is_owned: bool = False
    """Whether the fibers that own it dispose it when they unload."""

    def __str__(self) -> str:
        """Return it as a story tells it."""
        parts = [str(self.asked), self.phase.value]
        parts += [] if self.driver is Driver.NONE else [self.driver.value]
        parts += [] if self.end is End.NONE else [f"end {self.end}"]
        return " ".join(parts)

    @property
    def is_alive(self) -> bool:
        """Whether an agent of it may still run a turn."""
        return self.driver not in (Driver.NONE, Driver.EXITED)

    @property
    def is_known(self) -> bool:
        """Whether it is alive and its agent has been announced."""
        return self.is_alive and self.phase is not Phase.OPENING

    @property
    def is_stopped(self) -> bool:
        """Whether its agent is disposed."""
        return self.driver in (Driver.UNWINDING, Driver.EXITED)


class State(NamedTuple):
    """Everything at one instant."""

    slots: tuple[Slot | None, ...]
    registry: tuple[int, ...] = (NOBODY, NOBODY)
    """By agent id: the slot whose agent is registered."""
    names: tuple[int, ...] = (NOBODY, NOBODY)
    """By agent id: the slot that has it reserved until its agent is registered."""
    reserved: tuple[int, ...] = (NOBODY, NOBODY)
    """By session id: the slot whose load has it."""
    store: tuple[int, ...] = (NOBODY, NOBODY)
    """By session id: the slot whose session is live."""
    leases: tuple[int, ...] = (NOBODY, NOBODY)
    """By session id: the slot that may write."""
    standing: tuple[int, ...] = ()
    """The stretches that have not returned, the innermost last."""
    connection: Connection = Connection.OPEN
    owner: Fiber = Fiber.OPEN
    """The fiber of the connection."""
    provider: Fiber = Fiber.OPEN
    """The fiber of the plugin that drives agents."""

    @property
    def taken(self) -> tuple[tuple[int, Slot], ...]:
        """The slots that hold a request, each with its place."""
        return tuple((at, slot) for at, slot in enumerate(self.slots) if slot is not None)

    def at(self, place: int) -> Slot:
        """Return the slot at a place that is taken."""
        slot = self.slots[place]
        assert slot is not None
        return slot

    def put(self, place: int, slot: Slot | None) -> "State":
        """Return the state with another slot at a place."""
        return self._replace(slots=(*self.slots[:place], slot, *self.slots[place + 1 :]))

    def __str__(self) -> str:
        """Return it as a reader of a story wants it: only what is not at rest."""
        parts = [f"{at} {slot}" for at, slot in enumerate(self.slots) if slot is not None]
        for name, ids in _TABLES.items():
            table: tuple[int, ...] = getattr(self, name)
            held = [f"{id_}:{at}" for id_, at in zip(ids, table, strict=True) if at != NOBODY]
            parts += [f"{name} {' '.join(held)}"] if held else []
        parts += [f"{self.standing[-1]} calls out"] if self.standing else []
        wholes = {"connection": self.connection, "owner": self.owner, "provider": self.provider}
        parts += [f"{name} {value}" for name, value in wholes.items() if value.value != "open"]
        return "; ".join(parts) or "nothing"


_TABLES: Final = {
    "registry": AGENTS, "names": AGENTS, "reserved": SESSIONS, "store": SESSIONS,
    "leases": SESSIONS,
}  # fmt: skip


def of_connection(state: State) -> tuple[Slot, ...]:
    """Return the requests of the connection."""
    return tuple(slot for _, slot in state.taken if slot.asked.caller is Caller.CONNECTION)
