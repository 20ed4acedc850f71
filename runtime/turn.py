"""What one turn carries beside the shape: its prompts, its signal, its reply, its failure.

None of it decides anything. The machine decides on the shape; this is what its commands act on.
"""

import asyncio  # noqa: TC003  # attrs reads the annotations

from attrs import define, field, frozen

from .abort import AbortAuthority, Grace
from .model import Call, Chunk, Model, ModelRequest, Reply
from .session.content import Block, FrozenObject
from .tools import ToolUse

__all__ = ["AcceptedMessage", "Context", "Fate", "Offer", "Stop", "Turn"]


@frozen
class Context:
    """What `inject` accepted: context for the log, not a message.

    Clauses: A-14 A-16
    """

    content: tuple[Block, ...]
    source: FrozenObject
    is_attached: bool = False
    """Whether an interceptor attached it to a call, so that it goes with a turn that is stopped."""


@frozen
class Fate:
    """What became of one accepted message.

    Clauses: A-54 A-79
    """

    fate: str
    """`recorded`, `blocked` or `discarded`."""
    ending: str | None
    """The ending of the turn that recorded or blocked it; None if it was discarded."""
    reason: str | None
    """Why it was discarded or its turn did not complete, if there is something to say."""
    text: str
    """What the model answered in that turn, text only."""


@frozen
class Offer:
    """A message that is offered to the inbox; accepted, it gets an order and with it an id."""

    content: tuple[Block, ...]
    source: FrozenObject
    verb: str
    watcher: "asyncio.Future[Fate] | None" = None


@frozen
class Stop:
    """What a cancel or a dispose says about what it drops."""

    cause: str
    reason: str


@define(eq=False)
class AcceptedMessage:
    """What `send` or `steer` accepted; frozen in content, and in one place at a time."""

    order: int
    """Its place in the order of acceptance, from 1."""
    content: tuple[Block, ...]
    source: FrozenObject
    watcher: "asyncio.Future[Fate] | None" = None
    """Completed with the fate of this message, if somebody awaits it."""

    @property
    def message_id(self) -> str:
        """The id for audit; not an address."""
        return f"m{self.order}"

    def complete(self, fate: Fate) -> None:
        """Tell whoever awaits the fate of this message, once."""
        if self.watcher is not None and not self.watcher.done():
            self.watcher.set_result(fate)


@define(eq=False)
class Turn:
    """One turn from its `running` notification until the next turn begins."""

    authority: AbortAuthority = field(factory=AbortAuthority)
    grace: Grace = field(factory=Grace)
    """The one deadline of the turn, from its first cancel or dispose."""
    flush_grace: Grace = field(factory=Grace)
    """The deadline of the flush after the turn."""

    number: int = 0
    step: int = 0
    """The last step that was opened, 0 before the first."""
    unread: list[AcceptedMessage] = field(factory=list)
    """The batch, without what was already recorded."""
    watched: list[tuple[AcceptedMessage, str | None]] = field(factory=list)
    """Messages of this turn whose fate somebody awaits, with the reason of those blocked."""
    blocked_reason: str | None = None
    """Why the last prompt that was blocked was."""

    system: str = ""
    """The system prompt of this step."""
    model: Model | None = None
    request: ModelRequest | None = None
    chunks: list[Chunk] = field(factory=list)
    chunk_seqs: list[int] = field(factory=list)
    reply: Reply | None = None
    """What the model said in this step, assembled; None before the stream ended."""
    calls: list[Call] = field(factory=list)
    """Calls of this step that were not taken up yet."""
    use: ToolUse | None = None
    """The call that is being carried out."""
    entered: set[str] = field(factory=set)
    """The calls whose bodies were entered."""
    reason_to_go_on: tuple[Block, ...] | None = None
    """What the vote for another step tells the model when that step opens."""
    deferred: list[Context] = field(factory=list)
    """Context that waits for the last result of the batch of calls."""
    text: list[str] = field(factory=list)
    """Texts of the assistant messages recorded so far; together, the answer of the turn."""

    failure: Exception | None = None
    """What the last failed visit raised."""
    error: FrozenObject | None = None
    """The error as `turn/end` will record it, once it was reported."""
    is_unopened: bool = False
    owes_yield: bool = False
    outcome: tuple[str, str | None] | None = None
    """Ending and reason, from `turn/end` on."""

    def settle(self) -> None:
        """Tell whoever awaits a message of this turn what became of it, once it has ended."""
        if self.outcome is None:
            return
        ending, reason = self.outcome
        watched, self.watched = self.watched, []
        for message, blocked in watched:
            if blocked is None:
                message.complete(Fate("recorded", ending, reason, "".join(self.text)))
            else:
                message.complete(Fate("blocked", ending, blocked, ""))

    def close(self) -> None:
        """Give the timers back."""
        self.grace.close()
        self.flush_grace.close()
