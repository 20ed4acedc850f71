"""What the shape does not know: which messages wait where, and what became of them.

`obey` does to labels what the runtime does to messages when it obeys the commands of a decision,
on the same `Queues`. It raises `BrokenClaimError` the moment a claim about contents is broken.
Labels are numbers in order of acceptance, reasons are numbers in order of the calls.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from attrs import define, field, frozen

from statemachine.commands import Command, Input
from statemachine.inbox import Queues
from statemachine.properties import Kind, Property
from statemachine.shape import Ending

__all__ = ["CLAIMS", "Act", "BrokenClaimError", "Contents", "Label", "obey"]

CANCELS_MAX: Final = 2
DISPOSED: Final = -1
"""The reason of a turn that was stopped by a dispose."""


class Label(int):
    """A message as far as its order is concerned."""

    @property
    def order(self) -> int:
        """The place in the order of acceptance."""
        return int(self)


Labels = tuple[Label, ...]


class Contents(NamedTuple):
    """Everything about messages, turns and waiters that the shape leaves out."""

    accepted: int = 0
    queued: Labels = ()
    steering: Labels = ()
    batch: Labels = ()
    """Drained for the turn that is open, and not read yet."""
    is_open: bool = False
    prompts: Labels = ()
    """Recorded as prompts in the turn that is open."""
    steered: Labels = ()
    """Recorded as steering in the turn that is open."""
    epochs: tuple[int, ...] = ()
    """How many cancels each message came after; 0 for messages of the past."""
    settled: int = 0
    """The messages that have their fate, as bits."""
    cancels: int = 0
    is_disposed: bool = False
    has_authority: bool = False
    first: int = 0
    """The first cancel call that landed in this turn, as the caller saw it."""
    reason: int = 0
    """The reason that the turn's abort signal was given."""


@frozen(kw_only=True)
class Act:
    """What one edge does to contents; edges that do the same share one."""

    input: Input
    commands: tuple[Command, ...]
    is_reading: bool = False
    """Whether this outcome ends the visit that reads the batch."""
    record: str | None = None
    ending: Ending | None = None
    """The ending of the turn that is closed here."""
    is_rest: bool = False
    """Whether the driver stands, afterwards, where nothing of a turn is left."""
    is_exit: bool = False


class BrokenClaimError(Exception):
    """A claim about contents does not hold for this act."""

    def __init__(self, claim: str, what: str) -> None:
        super().__init__(what)
        self.claim = claim


def _claim(
    name: str, clauses: str, invariant: str, statement: str, *, kind: Kind = Kind.ALWAYS
) -> Property:
    return Property(
        name=name,
        clauses=tuple(clauses.split()),
        invariant=invariant,
        statement=statement,
        kind=kind,
    )


CLAIMS: Final = {
    claim.name: claim
    for claim in (
        _claim("a_cancelled_message_is_discarded_by_that_call", "A-24 A-55 C-12", "INV-01",
               "What waits when a cancel or a dispose lands is settled by that call."),
        _claim("a_stop_leaves_no_message_waiting", "A-56 A-57", "INV-03",
               "When a cancel or a dispose has changed the state, both FIFOs are empty."),
        _claim("no_turn_holds_messages_from_both_sides_of_a_cancel", "B-106", "INV-02",
               "All messages of a turn were accepted between the same two cancels."),
        _claim("prompts_are_recorded_in_order_of_acceptance", "A-06 A-13 C-15", "INV-21",
               "Every turn records its prompts in the order in which they were accepted."),
        _claim("steering_is_recorded_in_order_of_acceptance", "A-10 C-02", "INV-21",
               "Every turn records its steering in the order in which it was accepted."),
        _claim("no_message_has_two_fates", "A-54", "INV-21",
               "A message that is recorded or discarded is never recorded or discarded again."),
        _claim("no_message_is_lost", "A-54 B-109 B-111", "INV-21",
               "An accepted message without a fate waits in a FIFO or in the batch of its turn."),
        _claim("the_shape_knows_what_the_inbox_holds", "C-16", "INV-21",
               "The machine believes of both FIFOs what they hold."),
        _claim("the_first_reason_ends_the_turn", "A-28 B-36 B-114", "INV-05",
               "An aborted turn ends with the reason of the first cancel that landed in it."),
        _claim("an_ending_tells_what_stopped_the_turn", "B-47 B-96", "INV-05",
               "A turn ends `aborted` or `disposed` if that landed, and only then."),
        _claim("the_authority_belongs_to_one_turn", "B-103 B-112 B-114 B-115", "INV-04",
               "A turn gets its abort authority once, is aborted through it, and gives it back."),
        _claim("waiters_are_released_only_with_nothing_left", "A-31 A-32 A-33 A-76", "INV-07",
               "Waiters are released with no turn, no flush and no message left, or at the exit."),
        _claim("an_injection_joins_exactly_an_open_turn", "A-15 A-16 A-74", "INV-09",
               "Context joins a turn if the log holds one that is open, and is its own otherwise."),
        _claim("a_turn_opens_for_a_message", "A-06 C-09", "INV-21",
               "A turn opens with at least one prompt, in a log without an open turn."),
    )
}  # fmt: skip
"""The claims that are checked at every act, by name."""

COMES_TO_REST: Final = _claim(
    "the_driver_comes_to_rest",
    "A-80 B-93 B-109",
    "INV-08",
    "With the model and the senders still, the driver cannot go on forever.",
    kind=Kind.EVENTUALLY,
)
NOTHING_OWED: Final = _claim(
    "at_rest_nothing_is_owed",
    "A-36 A-38 A-54 A-80",
    "INV-21",
    "Where the driver rests no waiter waits, no message lacks a fate and no turn is open.",
    kind=Kind.EVENTUALLY,
)


def obey(contents: Contents, act: Act, read: int | None = None) -> Contents | None:
    """Return the contents after an act, or None when the call is beyond the bounds.

    Args:
        contents: what there is.
        act: what happens.
        read: how many prompts of the batch are read before one breaks it off; None reads all.

    Raises:
        BrokenClaimError: a claim about contents does not hold.
    """
    work = _Work.of(contents, act)
    if act.input is Input.CANCEL and not contents.is_disposed:
        if contents.cancels == CANCELS_MAX:
            return None
        work.cancels += 1
        if work.has_authority and not work.first:
            work.first = work.cancels
    work.is_disposed = work.is_disposed or act.input is Input.DISPOSE
    if act.is_reading:
        work.read(len(work.batch) if read is None else read)
    for command in act.commands:
        do = _DOES.get(command)
        if do is not None:
            do(work)
    work.check(contents)
    return work.frozen()


# -- Obeying ---------------------------------------------------------------------------------------


@define
class _Work:
    """Contents while an act is obeyed."""

    act: Act
    queues: Queues[Label]
    accepted: int
    batch: list[Label]
    is_open: bool
    prompts: list[Label]
    steered: list[Label]
    epochs: list[int]
    settled: int
    cancels: int
    is_disposed: bool
    has_authority: bool
    first: int
    reason: int
    retired: tuple[int, int] = (0, 0)
    """`first` and `reason` of the turn that gave its authority back in this act."""
    discarded: set[Label] = field(factory=set)

    @classmethod
    def of(cls, contents: Contents, act: Act) -> "_Work":
        """Thaw contents."""
        return cls(
            act=act,
            queues=Queues(list(contents.queued), list(contents.steering)),
            accepted=contents.accepted,
            batch=list(contents.batch),
            is_open=contents.is_open,
            prompts=list(contents.prompts),
            steered=list(contents.steered),
            epochs=list(contents.epochs),
            settled=contents.settled,
            cancels=contents.cancels,
            is_disposed=contents.is_disposed,
            has_authority=contents.has_authority,
            first=contents.first,
            reason=contents.reason,
        )

    def frozen(self) -> Contents:
        """Return the contents, without what no claim will ask about any more."""
        waiting = (*self.queues.queued, *self.queues.steering, *self.batch)
        here = {*waiting, *self.prompts, *self.steered}
        return Contents(
            accepted=self.accepted,
            queued=tuple(self.queues.queued),
            steering=tuple(self.queues.steering),
            batch=tuple(self.batch),
            is_open=self.is_open,
            prompts=tuple(self.prompts),
            steered=tuple(self.steered),
            epochs=tuple(
                epoch if label in here else 0 for label, epoch in enumerate(self.epochs, start=1)
            ),
            settled=self.settled,
            cancels=self.cancels,
            is_disposed=self.is_disposed,
            has_authority=self.has_authority,
            first=self.first,
            reason=self.reason,
        )

    # Messages.

    def accept(self) -> Label:
        """Give the next message its label."""
        self.accepted += 1
        self.epochs.append(self.cancels)
        return Label(self.accepted)

    def settle(self, label: Label) -> None:
        """Give a message its one fate."""
        require("no_message_has_two_fates", not self.settled >> label & 1, f"m{label} had a fate")
        self.settled |= 1 << label

    def record(self, label: Label, recorded: list[Label], claim: str) -> None:
        """Record a message in the open turn."""
        require(claim, not recorded or recorded[-1] < label, f"m{label} comes after {recorded}")
        require("a_turn_opens_for_a_message", self.is_open, f"m{label} is recorded in no turn")
        recorded.append(label)
        self.settle(label)
        epochs = {self.epochs[each - 1] for each in (*self.prompts, *self.steered)}
        mixed = f"{[*self.prompts, *self.steered]} came after {sorted(epochs)} cancels"
        require("no_turn_holds_messages_from_both_sides_of_a_cancel", len(epochs) == 1, mixed)

    def read(self, number: int) -> None:
        """Record the first prompts of the batch."""
        for label in self.batch[:number]:
            self.record(label, self.prompts, "prompts_are_recorded_in_order_of_acceptance")
        del self.batch[:number]

    # Commands.

    def queue(self) -> None:
        self.queues.queue(self.accept())

    def steer(self) -> None:
        self.queues.steer(self.accept())

    def drain(self) -> None:
        self.batch += self.queues.drain()

    def take(self) -> None:
        for label in self.queues.take():
            self.record(label, self.steered, "steering_is_recorded_in_order_of_acceptance")

    def merge(self) -> None:
        self.queues.merge()

    def requeue(self) -> None:
        self.queues.requeue(self.batch)
        self.batch = []

    def discard(self) -> None:
        for label, _ in self.queues.clear():
            self.discarded.add(label)
            self.settle(label)

    def discard_batch(self) -> None:
        for label in self.batch:
            self.settle(label)
        self.batch = []
        self.is_open = False

    def join(self) -> None:
        require("an_injection_joins_exactly_an_open_turn", self.is_open, "no turn is open")

    def one_shot(self) -> None:
        require("an_injection_joins_exactly_an_open_turn", not self.is_open, "a turn is open")

    def begin(self) -> None:
        claim = "the_authority_belongs_to_one_turn"
        require(claim, not self.has_authority, "a turn already has it")
        self.has_authority, self.first, self.reason = True, 0, 0

    def abort(self) -> None:
        claim = "the_authority_belongs_to_one_turn"
        require(claim, self.has_authority and not self.reason, "there is none, or it was used")
        self.reason = DISPOSED if self.act.input is Input.DISPOSE else self.cancels

    def retire(self) -> None:
        require("the_authority_belongs_to_one_turn", self.has_authority, "there is none")
        self.retired = (self.first, self.reason)
        self.has_authority, self.first, self.reason = False, 0, 0

    def commit(self) -> None:
        if self.act.record == "turn/start":
            may_open = bool(self.batch) and not self.is_open
            require("a_turn_opens_for_a_message", may_open, f"the batch is {self.batch}")
            self.is_open = True
        elif self.act.record == "turn/end":
            self.close()

    def close(self) -> None:
        first, reason = self.retired
        ending = self.act.ending
        require("no_message_is_lost", not self.batch, f"{self.batch} were never read")
        if ending is Ending.ABORTED:
            told = f"the reason is {reason} and the first cancel was {first}"
            require("the_first_reason_ends_the_turn", reason == first > 0, told)
        is_free = ending in (Ending.ERROR, Ending.REJECTED)
        wanted = self.is_disposed, first > 0 and not self.is_disposed
        is_told = is_free or wanted == (ending is Ending.DISPOSED, ending is Ending.ABORTED)
        told = f"{ending} with cancel {first}, disposed {self.is_disposed}"
        require("an_ending_tells_what_stopped_the_turn", is_told, told)
        self.is_open, self.prompts, self.steered = False, [], []

    def release(self) -> None:
        is_empty = not self.queues and not self.batch and not self.is_open
        is_right = self.act.is_exit if self.is_disposed else self.act.is_rest
        what = "something is left" if is_right else "the driver does not rest there"
        claim = "waiters_are_released_only_with_nothing_left"
        require(claim, is_empty and is_right, what)

    # Claims.

    def check(self, before: Contents) -> None:
        """Check what holds after every act."""
        if self.act.input in (Input.CANCEL, Input.DISPOSE):
            waited = {*before.queued, *before.steering}
            missing = waited - self.discarded
            claim = "a_cancelled_message_is_discarded_by_that_call"
            require(claim, not missing, f"{sorted(missing)} were not discarded")
            require("a_stop_leaves_no_message_waiting", not self.queues, "something waits")
        waiting = {*self.queues.queued, *self.queues.steering, *self.batch}
        for label in map(Label, range(1, self.accepted + 1)):
            is_somewhere = (label in waiting) != bool(self.settled >> label & 1)
            require("no_message_is_lost", is_somewhere, f"m{label} is nowhere, or twice")


_DOES: Final[dict[Command, Callable[[_Work], None]]] = {
    Command.QUEUE: _Work.queue,
    Command.STEER: _Work.steer,
    Command.DRAIN: _Work.drain,
    Command.TAKE: _Work.take,
    Command.MERGE: _Work.merge,
    Command.REQUEUE: _Work.requeue,
    Command.DISCARD: _Work.discard,
    Command.DISCARD_BATCH: _Work.discard_batch,
    Command.JOIN: _Work.join,
    Command.ONE_SHOT: _Work.one_shot,
    Command.RECORD: _Work.commit,
    Command.RELEASE: _Work.release,
    Command.BEGIN: _Work.begin,
    Command.ABORT: _Work.abort,
    Command.RETIRE: _Work.retire,
}
"""The commands that touch contents."""


def require(claim: str, holds: bool, what: str) -> None:  # noqa: FBT001  # a condition, as of assert
    """Raise unless the claim holds here."""
    if not holds:
        raise BrokenClaimError(claim, what)
