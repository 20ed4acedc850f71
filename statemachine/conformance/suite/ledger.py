"""What the suite knows of one agent: what was asked of it, and what was seen of it.

Theory. An outsider sees a status, a log, discards and announcements; what waits inside can only be
inferred from what was asked. So every act gets a number from one clock, and each accepted message
is followed from its acceptance to its one fate: *waiting*; drained into the *batch* of a turn, from
the moment the turn's `turn/start` is in the log; *doomed* by the cancel or the dispose that found
it waiting; then recorded or discarded. The ledger only keeps books; the oracles judge.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from attrs import define, field, frozen

from statemachine.conformance.subject import Dropped, Observation, Seen

if TYPE_CHECKING:
    import asyncio

__all__ = ["Call", "Context", "Ledger", "Message", "Stop", "TurnNote", "Verb", "Waiter"]

PROMPTS: Final = frozenset({"user/message", "prompt/blocked"})
MESSAGES: Final = PROMPTS | {"steering/message"}


class Verb(StrEnum):
    """What can be asked of an agent."""

    SEND = "send"
    STEER = "steer"
    INJECT = "inject"
    CANCEL = "cancel"
    DISPOSE = "dispose"


@frozen(eq=False)
class Stop:
    """A call of cancel or dispose."""

    verb: Verb
    order: int
    reason: str
    turn: int | None
    """The driven turn that was open, if one was."""
    is_first: bool
    """Whether it is what stops that turn; a further one changes nothing about the ending."""
    point: str
    """The listener it was called from, empty if from none."""
    streaming: bool
    """Whether a model was being waited for."""

    def __str__(self) -> str:
        """Return the call, for messages."""
        return f"{self.verb} #{self.order}"


@define(eq=False)
class Message:
    """What send or steer was given."""

    text: str
    verb: Verb
    order: int
    status: str
    """The status of the agent when it was offered."""
    turn: int | None
    """The driven turn that was open then."""
    batch: int | None = None
    """The turn that drained it."""
    may_be_drained: bool = False
    """Steering of an instant at which an outsider cannot know which FIFO it is merged into."""
    doomed: Stop | None = None
    maybe_doomed: Stop | None = None
    recorded: Seen | None = None
    discarded: Dropped | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether it has no fate yet."""
        return self.recorded is None and self.discarded is None

    @property
    def is_steering(self) -> bool:
        """Whether it went into the steering FIFO."""
        return self.verb is Verb.STEER and self.status == "running"


@define(eq=False)
class Context:
    """What inject was given."""

    text: str
    order: int
    recorded: Seen | None = None


@define(eq=False)
class TurnNote:
    """What was seen of one driven turn."""

    number: int
    stop: Stop | None = None
    """The first cancel of it, while it was open."""
    disposed: Stop | None = None
    failed: bool = False
    """An `agent/error` was announced while it was open."""
    failed_before_stop: bool = False
    orders: list[int] = field(factory=list)
    """The orders of acceptance of the prompts and of the steering recorded in it."""
    last_prompt: int = 0
    last_steering: int = 0
    ending: str | None = None
    let_in: int = 0
    """How many of its prompts were recorded as such."""
    blocked: int = 0

    @property
    def is_rejected(self) -> bool:
        """Whether every prompt of it was blocked."""
        return self.blocked > 0 and self.let_in == 0

    @property
    def is_stopped(self) -> bool:
        """Whether a cancel or a dispose is in effect on it."""
        return self.stop is not None or self.disposed is not None


@define(eq=False)
class Waiter:
    """One `when_idle`."""

    task: "asyncio.Task[Any] | None" = None
    registered: int = 0
    """When its coroutine first ran; 0 before."""
    done: bool = False


@define(eq=False)
class Call:
    """One call that has returned."""

    verb: Verb
    order: int
    before: Observation
    after: Observation
    was_alone: bool
    """Whether nothing else was asked of any agent during it."""
    had_nothing: bool
    """Whether there was no turn and no waiting message."""
    is_delivered: bool
    """Whether it was the outermost call, so that everything it caused has been announced."""
    error: Exception | None = None
    stop: Stop | None = None
    siblings: tuple[tuple["Ledger", Observation], ...] = ()


_BLANK: Final = Observation(status=None)


@define(eq=False)
class Ledger:
    """The books of one incarnation of one agent."""

    agent: str
    session: str
    seen: Observation = _BLANK
    messages: dict[str, Message] = field(factory=dict)
    waiting: dict[str, Message] = field(factory=dict)
    """Those without a fate, in order of acceptance."""
    doomed: dict[str, Message] = field(factory=dict)
    """Those whose discard has not been announced yet."""
    contexts: dict[str, Context] = field(factory=dict)
    stops: list[Stop] = field(factory=list)
    cancels: list[Stop] = field(factory=list)
    disposed: Stop | None = None
    under_way: list[Stop] = field(factory=list)
    """Stops that have been called and have not returned."""
    waiters: list[Waiter] = field(factory=list)
    ends: list["asyncio.Task[Any]"] = field(factory=list)
    """Everybody who awaits the end."""
    turns: dict[int, TurnNote] = field(factory=dict)
    turn: TurnNote | None = None
    """The driven turn that is open."""
    open_turn: int | None = None
    """The turn that is open, driven or not."""
    open_step: bool = False
    called: list[str] = field(factory=list)
    """The calls of the step that is open."""
    answered: list[str] = field(factory=list)
    """Those of them that have a result."""
    last_turn: int = 0
    heard: list[str] = field(factory=list)
    """Every point at which a listener was called, in order."""
    quiet: int = 0
    """The last moment at which nothing ran and nothing waited, as far as an outsider sees."""
    announced: str = "idle"
    """The last status that was announced; a new agent is idle and nobody says so."""
    flush_owed: int | None = None
    """How many flushes had been seen when the last driven turn ended; None once one came."""

    # -- What is asked -----------------------------------------------------------------------------

    def accept(self, text: str, verb: Verb, order: int) -> Message:
        """Note a message as it is offered."""
        turn = None if self.turn is None else self.turn.number
        message = Message(text, verb, order, str(self.seen.status), turn)
        self.messages[text] = self.waiting[text] = message
        return message

    def withdraw(self, message: Message) -> None:
        """Forget a message that was refused."""
        self.messages.pop(message.text, None)
        self.waiting.pop(message.text, None)
        self.doomed.pop(message.text, None)

    def stopped(self, verb: Verb, order: int, reason: str, point: str, *, streaming: bool) -> Stop:
        """Note a cancel or a dispose as it is called, and whom it dooms."""
        turn = self.turn
        is_first = (
            turn is not None
            and not turn.is_stopped
            and self.disposed is None
            and self.seen.status == "running"
        )
        number = None if turn is None else turn.number
        stop = Stop(verb, order, reason, number, is_first, point, streaming)
        if self.disposed is not None:
            return stop
        self.stops.append(stop)
        if verb is Verb.DISPOSE:
            self.disposed = stop
            if turn is not None:
                turn.disposed = stop
        else:
            self.cancels.append(stop)
            if turn is not None and is_first:
                turn.stop = stop
        if turn is not None and is_first:
            turn.failed_before_stop = turn.failed
        self._doom(stop)
        return stop

    def _doom(self, stop: Stop) -> None:
        for message in self.waiting.values():
            if message.doomed is not None or message.batch is not None:
                continue
            if message.may_be_drained:
                # If it is steering after all, the first stop took it.
                message.maybe_doomed = message.maybe_doomed or stop
            else:
                message.doomed = stop
                self.doomed[message.text] = message

    # -- What is seen ------------------------------------------------------------------------------

    def absorb_record(self, record: Seen, following: Iterable[Seen], flushes: int) -> None:
        """Take one more record of the log into the books."""
        kind, text = record.type, record.text
        if kind == "turn/start":
            self._open(record, following)
        elif kind == "turn/end":
            self._close(record, flushes)
        elif kind in MESSAGES:
            self._record(record)
        elif kind == "context/message" and text in self.contexts:
            self.contexts[text].recorded = record
        elif kind in ("step/start", "step/end"):
            self.open_step = kind == "step/start"
            self.called, self.answered = [], []
        elif kind == "assistant/message":
            self.called += record.calls
        elif kind == "tool/result":
            self.answered.append(text)

    def _open(self, record: Seen, following: Iterable[Seen]) -> None:
        self.open_turn = self.last_turn = record.turn
        # An injection's three records are appended together, so they are first seen together; a
        # driven turn records a prompt before anything could end it.
        ahead = [(next_.type, next_.turn) for next_ in following]
        if ahead[:2] == [("context/message", record.turn), ("turn/end", record.turn)]:
            return
        self.turn = self.turns[record.turn] = TurnNote(record.turn)
        for message in self.waiting.values():
            if message.doomed is not None:
                continue
            if not message.is_steering or message.turn is not None:
                message.batch = record.turn
            else:
                message.may_be_drained = True

    def _close(self, record: Seen, flushes: int) -> None:
        if self.turn is not None and self.turn.number == record.turn:
            self.turn.ending = record.text
            self.turn = None
            self.flush_owed = flushes
        self.open_turn = None
        for message in self.waiting.values():
            # What a failed turn did not read waits again.
            message.batch = None
            message.may_be_drained = False

    def _record(self, record: Seen) -> None:
        message = self.messages.get(record.text)
        if message is None:
            return
        message.recorded = record
        self.waiting.pop(message.text, None)
        if self.turn is not None:
            self.turn.orders.append(message.order)
            if record.type in PROMPTS:
                self.turn.last_prompt = message.order
                self.turn.let_in += record.type == "user/message"
                self.turn.blocked += record.type == "prompt/blocked"
            else:
                self.turn.last_steering = message.order

    def absorb_discard(self, dropped: Dropped) -> None:
        """Take one more discard into the books."""
        message = self.messages.get(dropped.text)
        if message is not None:
            message.discarded = dropped
            self.waiting.pop(message.text, None)
            self.doomed.pop(message.text, None)

    @property
    def has_nothing(self) -> bool:
        """Whether there is no turn and nothing waits, as far as an outsider sees."""
        return (
            self.open_turn is None
            and not self._waits_undoomed()
            and self.seen.status in ("idle", "disposed")
        )

    def _waits_undoomed(self) -> bool:
        return any(message.doomed is None for message in self.waiting.values())

    @property
    def may_wait_for_ever(self) -> bool:
        """Whether it runs and nobody has stopped what it runs, so that no grace ends its wait."""
        is_stopped = self.turn is not None and self.turn.is_stopped
        return self.seen.status == "running" and not is_stopped

    @property
    def is_over(self) -> bool:
        """Whether it was disposed and its end has come for everybody."""
        return self.disposed is not None and all(end.done() for end in self.ends)
