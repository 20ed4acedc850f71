"""A stranger: a small agent runtime that owes nothing to this project but the subject protocol.

It is here to show that a runtime which never heard of our machine can be examined, and to be broken
in ways that the verdict has to name. It offers no steering, no injection and no listeners.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any

from attrs import define, field

from statemachine.conformance import Dropped, Observation, Offer, Seen, Stage, StageError

__all__ = ["ToyAgent", "ToySubject", "make_broken_subject", "make_subject"]


@define(eq=False)
class ToyAgent:
    """An agent: a queue, a log and a task while there is work."""

    stage: Stage
    session: str
    status: str = "idle"
    queue: list[str] = field(factory=list)
    log: list[Seen] = field(factory=list)
    discards: list[Dropped] = field(factory=list)
    statuses: list[str] = field(factory=list)
    waiters: list[asyncio.Future[None]] = field(factory=list)
    turns: int = 0
    stopped: str | None = None
    driver: asyncio.Task[None] | None = None
    body: asyncio.Task[str] | None = None
    end: asyncio.Task[None] | None = None

    def send(self, text: str) -> None:
        """Queue a message and wake the driver."""
        if self.status == "disposed":
            raise RuntimeError("the agent is disposed")
        self.queue.append(text)
        if self.driver is None:
            self.driver = asyncio.get_running_loop().create_task(self.drive(), name="toy driver")

    def cancel(self, reason: str) -> None:
        """Stop the turn and drop what waits."""
        if self.status == "disposed":
            return
        self.drop("cancelled", reason)
        if self.status == "running":
            self.announce("cancelled")
            self.stop(f"aborted: {reason}")

    def drop(self, cause: str, reason: str) -> None:
        """Discard everything that waits."""
        dropped, self.queue = self.queue, []
        self.discards += [Dropped(text, cause, reason) for text in dropped]

    def stop(self, ending: str) -> None:
        """Abort the body; the first ending of a cancel stays unless a dispose overtakes it."""
        self.stopped = ending
        if self.body is not None:
            self.body.cancel()

    def announce(self, status: str) -> None:
        """Change the status."""
        self.status = status
        self.statuses.append(status)

    async def when_idle(self) -> None:
        """Wait until the driver has nothing left to do."""
        if self.driver is not None:
            waiter = asyncio.get_running_loop().create_future()
            self.waiters.append(waiter)
            await waiter

    async def drive(self) -> None:
        """Run turns while there is work, then release whoever waits."""
        while self.queue and self.status != "disposed":
            if self.status != "running":
                self.announce("running")
            await self.run_turn()
            # Whoever is ready goes first, so that endless work cannot starve the rest.
            await self.stage.sleep(0)
            if self.status != "disposed" and not self.queue:
                self.announce("idle")
        self.driver = None
        waiters, self.waiters = self.waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def run_turn(self) -> None:
        """Drain the queue into one turn and ask the model once."""
        self.turns += 1
        self.stopped = None
        batch, self.queue = self.queue, []
        self.record("turn/start")
        for text in batch:
            self.record("user/message", text)
        self.record("step/start")
        ending = await self.ask(batch[-1])
        self.record("step/end")
        self.record("turn/end", self.stopped or ending)

    async def ask(self, prompt: str) -> str:
        """Ask the model; return the ending of the turn as far as the model decides it."""
        self.body = asyncio.get_running_loop().create_task(
            self.stage.model(prompt), name="toy body"
        )
        try:
            text = await self.body
        except asyncio.CancelledError:
            return "error"
        except StageError:
            return "error"
        finally:
            self.body = None
        if self.stopped is None:
            self.record("assistant/message", text)
        return "completed"

    def record(self, kind: str, text: str = "") -> None:
        """Append to the log."""
        self.log.append(Seen(kind, self.turns, text))


@define(eq=False)
class ToySubject:
    """The toy runtime: agents by id, one session each."""

    kind: type[ToyAgent] = ToyAgent
    stage: Stage = field(init=False)
    live: dict[str, ToyAgent] = field(init=False, factory=dict)
    known: dict[str, ToyAgent] = field(init=False, factory=dict)

    @property
    def offers(self) -> frozenset[Offer]:
        """Nothing beyond the least."""
        return frozenset()

    async def open(self, stage: Stage) -> None:
        """Keep the stage."""
        self.stage = stage

    def create(self, agent: str, session: str) -> None:
        """Make an agent unless one of its ids is taken."""
        taken = {each.session for each in self.live.values()}
        if agent in self.live or session in taken:
            raise ValueError(f"{agent} or {session} is taken")
        self.live[agent] = self.known[agent] = self.kind(self.stage, session)

    def send(self, agent: str, text: str) -> None:
        """Send."""
        self.known[agent].send(text)

    def cancel(self, agent: str, reason: str | None) -> None:
        """Cancel."""
        self.known[agent].cancel("cancelled" if reason is None else reason)

    def dispose(self, agent: str) -> asyncio.Task[None]:
        """Dispose now; all callers get the same end."""
        toy = self.known[agent]
        if toy.end is None:
            toy.announce("disposed")
            toy.drop("disposed", "disposed")
            toy.stop("disposed")
            toy.end = asyncio.get_running_loop().create_task(self._tear_down(agent), name="toy end")
        return toy.end

    async def _tear_down(self, agent: str) -> None:
        toy = self.known[agent]
        if toy.driver is not None:
            await toy.driver
        if self.live.get(agent) is toy:
            del self.live[agent]

    def when_idle(self, agent: str) -> Coroutine[Any, Any, None]:
        """Wait."""
        return self.known[agent].when_idle()

    def observe(self, agent: str) -> Observation:
        """Look."""
        toy = self.known.get(agent)
        if toy is None:
            return Observation(status=None)
        is_live = self.live.get(agent) is toy
        return Observation(
            status=toy.status,
            log=tuple(toy.log),
            discards=tuple(toy.discards),
            statuses=tuple(toy.statuses),
            registered=is_live,
            in_store=is_live,
        )

    async def close(self) -> None:
        """Dispose every agent and wait for the ends."""
        for agent in tuple(self.live):
            await self.dispose(agent)


class BrokenAgent(ToyAgent):
    """An agent whose cancel overlooks what waits behind the turn."""

    def cancel(self, reason: str) -> None:
        """Stop the turn and keep the queue."""
        queue, self.queue = self.queue, []
        super().cancel(reason)
        self.queue = queue


def make_subject() -> ToySubject:
    """Return a fresh toy runtime."""
    return ToySubject()


def make_broken_subject() -> ToySubject:
    """Return a toy runtime with a fault."""
    return ToySubject(kind=BrokenAgent)
