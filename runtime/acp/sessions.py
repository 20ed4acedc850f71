"""One session of a client: its agent, its prompts, and what the client is shown of it."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable

from attrs import define, field

from runtime.announcements import Discarded, Queued
from runtime.exchange import begin_exchange
from runtime.handle import AgentHandle
from runtime.session.log import Session
from runtime.session.records import Record
from runtime.tools import ToolRegistry

from .frames import Frame
from .prompts import Prompt
from .updates import Presenter

__all__ = ["OpenSession"]

_CANCELLED = "cancelled by the client"


@define(eq=False)
class OpenSession:
    """A session that the client has created or loaded.

    A prompt is answered behind the updates of its turn, and what comes after that turn is written
    behind the answer: until the answers of a turn that has ended are written, updates wait.

    Clauses: J-13 J-25 J-57
    """

    handle: AgentHandle
    tools: ToolRegistry
    put: Callable[[Frame], None]
    """Writes a message to the client at once."""
    _prompts: list[Prompt] = field(init=False, factory=list)
    """Those that are not answered, in the order of their acceptance."""
    _offering: Prompt | None = field(init=False, default=None)
    _presenter: Presenter = field(init=False)
    is_open: bool = field(init=False, default=True)
    """False while it is loaded and its past is being shown: then nothing can be asked of it."""
    _held: deque[Frame | Prompt] = field(init=False, factory=deque)
    """Updates that wait, each behind the prompts that have to be answered before it."""

    @_presenter.default
    def _clean(self) -> Presenter:
        return Presenter(self.tools)

    @property
    def session(self) -> Session:
        """The live session."""
        return self.handle.agent.session

    @property
    def id(self) -> str:
        """The id that the client knows."""
        return self.session.id

    def offer(self, text: str) -> Prompt:
        """Put a prompt into the inbox, before this returns.

        Raises:
            LifecycleError: the agent does not accept it.
        """
        prompt = self._offering = Prompt(fate=asyncio.get_running_loop().create_future())
        try:
            begin_exchange(self.handle.agent, text, watcher=prompt.fate)
        finally:
            self._offering = None
        self._prompts.append(prompt)
        return prompt

    def cancel(self) -> None:
        """Cancel the prompts that were accepted so far, and no other.

        Clauses: J-19 J-21 J-22
        """
        for prompt in self._prompts:
            prompt.is_cancelled = prompt.is_cancelled or not prompt.is_fixed
        self.handle.agent.cancel(_CANCELLED)

    def answering(self, prompt: Prompt) -> None:
        """Show what comes before the answer of a prompt, which is about to be written.

        Fates are told in the order in which turns end, so earlier prompts have been answered.
        """
        if prompt in self._held:
            while (first := self._held[0]) is not prompt:
                self._held.popleft()
                self._put(first)

    def answered(self, prompt: Prompt) -> None:
        """Forget a prompt whose answer has been written, and show what had to wait for that."""
        self._prompts.remove(prompt)
        if prompt in self._held:
            self._held.remove(prompt)
        while self._held and not isinstance(self._held[0], Prompt):
            self._put(self._held.popleft())

    async def replay(self, drain: Callable[[], Awaitable[None]]) -> None:
        """Show everything that was recorded before, as fast as it is read.

        Clauses: J-33 J-78
        """
        self.is_open, position = False, 0
        while position < len(self.session.events):
            self._show(self._presenter.replayed(self.session.events[position]))
            position += 1
            await drain()
        self.is_open = True

    # -- What happens ------------------------------------------------------------------------------

    def queued(self, notice: Queued) -> None:
        """Learn the id of the prompt that is being offered."""
        if self._offering is not None and self._offering.message_id is None:
            self._offering.message_id = notice.message_id

    def discarded(self, notice: Discarded) -> None:
        """Note why a prompt was dropped."""
        prompt = self._find(notice.message_id)
        if prompt is not None:
            prompt.cause = notice.cause

    def recorded(self, record: Record) -> None:
        """Show a record, and note which prompts its turn answers."""
        data = record.data
        if not self.is_open:
            # Its turn comes in the replay.
            return
        if record.type in {"user/message", "prompt/blocked"}:
            prompt = self._find(data["message_id"])
            if prompt is not None:
                prompt.turn = data["turn"]
        elif record.type == "turn/end":
            for prompt in self._prompts:
                if prompt.turn == data["turn"]:
                    prompt.is_fixed = True
                    self._held.append(prompt)
        else:
            self._show(self._presenter.live(record))

    def _find(self, message_id: str) -> Prompt | None:
        mine = (prompt for prompt in self._prompts if prompt.message_id == message_id)
        return next(mine, None)

    def _show(self, updates: Iterable[Frame]) -> None:
        for update in updates:
            self.show(update)

    def show(self, update: Frame) -> None:
        """Send an update to the client, behind the answers that are due before it."""
        frame: Frame = {
            "jsonrpc": "2.0",
            "method": "session/update",
            "params": {"sessionId": self.id, "update": update},
        }
        if self._held:
            self._held.append(frame)
        else:
            self.put(frame)

    def _put(self, held: Frame | Prompt) -> None:
        if not isinstance(held, Prompt):
            self.put(held)
