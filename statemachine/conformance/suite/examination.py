"""One run of one subject under the eyes of the oracles.

Theory. Everything that is asked of the subject is asked here, so that it is in the ledger. The
methods are the alphabet of the random suites and of the directed scenarios alike; each writes
itself into the story as the line of code that does it again.
"""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final

from attrs import define, field

from statemachine.conformance.stage.stage import StageError, TooLong
from statemachine.conformance.subject import SEAMS, Injects, Intercepts, Listens, Steers

from .ledger import Context, Ledger, Verb, Waiter
from .story import Violation
from .watch import _GONE, _RELEASED, POINTS, Watch

__all__ = ["ACTS", "POINTS", "SEAMS", "Examination"]

MOVES_MAX: Final = 20_000
GATES_MAX: Final = 4
ACTS: Final = (
    "send", "steer", "inject", "cancel", "cancel:stop", "dispose", "when_idle", "raise",
    "cancel,send", "send,cancel", "steer,dispose",
)  # fmt: skip
"""What a listener may do: verbs, one after the other, with a reason behind a colon."""


@define(eq=False)
class Examination(Watch):
    """A subject on its stage, examined.

    Use it as a context manager, ask what the methods offer, and `finish`.
    """

    _scripts: list[Callable[[], None]] = field(init=False, factory=list)
    _is_finished: bool = field(init=False, default=False)

    # -- What can be asked -------------------------------------------------------------------------

    def create(self, agent: str = "a", session: str = "") -> bool:
        """Make an agent; return whether there is one. A taken id has to be refused."""
        session = session or f"session of {agent}"
        self.story.did(f"play.create({agent!r}, {session!r})", self._depth)
        is_taken = self._is_taken(agent, session)
        error = None
        try:
            self.subject.create(agent, session)
        except Exception as raised:  # whatever the runtime raises
            error = raised
        if (error is not None) != is_taken:
            expected = "refused" if is_taken else "made"
            seen = "it was made" if error is None else f"{type(error).__name__}: {error}"
            self.note(
                Violation("INV-16", "F-05 F-06 F-38", f"{agent} on {session} is {expected}", seen)
            )
        elif error is None:
            if agent in self.ledgers:
                self.past.append(self.ledgers[agent])
            self.ledgers[agent] = Ledger(agent, session, seen=self.subject.observe(agent))
        self._settle()
        return error is None

    def _is_taken(self, agent: str, session: str) -> bool:
        live = [one for one in self.ledgers.values() if one.seen.registered or one.seen.in_store]
        return any(
            (one.agent == agent and one.seen.registered)
            or (one.session == session and one.seen.in_store)
            for one in live
        )

    def send(self, agent: str = "a") -> str:
        """Send a message of its own text; return the text."""
        return self._offer(Verb.SEND, agent, self.subject.send)

    def steer(self, agent: str = "a") -> str:
        """Steer with a message of its own text; return the text."""
        assert isinstance(self.subject, Steers)
        return self._offer(Verb.STEER, agent, self.subject.steer)

    def inject(self, agent: str = "a") -> str:
        """Inject a context of its own text; return the text."""
        assert isinstance(self.subject, Injects)
        inject, ledger, text = self.subject.inject, self.ledgers[agent], self._text("c")
        call = self._call(Verb.INJECT, ledger, lambda: inject(agent, text), f"  # {text}")
        if call.error is None:
            ledger.contexts[text] = Context(text, call.order)
            self._note_context(ledger, text)
        self._settle()
        return text

    def _note_context(self, ledger: Ledger, text: str) -> None:
        # Usually it is in the log before the call returns.
        for record in ledger.seen.log:
            if record.type == "context/message" and record.text == text:
                ledger.contexts[text].recorded = record

    def _offer(self, verb: Verb, agent: str, act: Callable[[str, str], None]) -> str:
        ledger, text = self.ledgers[agent], self._text("m")
        self._look_all()
        message = ledger.accept(text, verb, self._tick())
        call = self._call(verb, ledger, lambda: act(agent, text), f"  # {text}", message.order)
        if call.error is not None:
            ledger.withdraw(message)
        self._settle()
        return text

    def cancel(self, agent: str = "a", reason: str | None = None) -> None:
        """Cancel, with that reason or none."""
        given = "cancelled" if reason is None else reason
        words = "" if reason is None else f", {reason!r}"
        self._stop(Verb.CANCEL, agent, given, lambda: self.subject.cancel(agent, reason), words)

    def dispose(self, agent: str = "a") -> None:
        """Dispose; somebody awaits the end."""
        ends: list[Awaitable[object]] = []
        self._stop(
            Verb.DISPOSE, agent, "disposed", lambda: ends.append(self.subject.dispose(agent))
        )
        ledger = self.ledgers[agent]
        for end in ends:
            name = f"end {len(ledger.ends) + 1} of {agent}"
            ledger.ends.append(self.stage.spawn(_joined(end), name, may_linger=True))

    def _stop(
        self, verb: Verb, agent: str, reason: str, act: Callable[[], object], words: str = ""
    ) -> None:
        ledger = self.ledgers[agent]
        self._look_all()
        had_nothing = ledger.has_nothing
        streaming = self._point == "assistant/chunk" or self._is_streaming(ledger)
        stop = ledger.stopped(verb, self._tick(), reason, self._point, streaming=streaming)
        ledger.under_way.append(stop)
        try:
            self._call(verb, ledger, act, words, stop.order, stop, had_nothing=had_nothing)
        finally:
            ledger.under_way.remove(stop)
        self._settle()

    def _is_streaming(self, ledger: Ledger) -> bool:
        return any(
            gate.name == "model" and self._owner(gate) is ledger
            for gate in self.stage.gates.open_gates
        )

    def when_idle(self, agent: str = "a") -> None:
        """Let somebody wait until the agent is idle."""
        ledger = self.ledgers[agent]
        self.story.did(f"play.when_idle({agent!r})", self._depth)
        self._count("when_idle")
        waiter = Waiter()
        ledger.waiters.append(waiter)
        name = f"waiter {len(ledger.waiters)} of {agent}"
        coroutine = self.subject.when_idle(agent)
        waiter.task = self.stage.spawn(self._wait(ledger, waiter, coroutine), name, may_linger=True)
        # A waiter that is cancelled before it ran at all has not begun to wait.
        waiter.task.add_done_callback(lambda _: coroutine.close())

    async def _wait(
        self, ledger: Ledger, waiter: Waiter, coroutine: Coroutine[Any, Any, None]
    ) -> None:
        waiter.registered = self._tick()
        self._look(ledger)
        try:
            await coroutine
        except Exception as error:  # whatever the runtime raises
            seen = f"{type(error).__name__}: {error}"
            self.note(Violation("INV-08", "A-29 A-80", "when_idle returns", seen))
            return
        waiter.done = True
        self._look(ledger)
        self._judge(_RELEASED, "released", ledger, waiter)

    def cancel_waiter(self, agent: str = "a", which: int = 0) -> None:
        """Cancel one of those who wait, if there is one."""
        waiting = [
            waiter.task
            for waiter in self.ledgers[agent].waiters
            if waiter.task is not None and not waiter.task.done()
        ]
        if waiting:
            self.story.did(f"play.cancel_waiter({agent!r}, {which})", self._depth)
            waiting[which % len(waiting)].cancel()

    def listen(self, point: str, act: str, agent: str = "") -> None:
        """Do something, once, from inside the next listener called at that point.

        `act` is one of `ACTS`, or anything of that form; `agent` is whom to do it to, the one that
        the listener hears of if empty.
        """
        assert isinstance(self.subject, Listens)
        words = f", {agent!r}" if agent else ""
        self.story.did(f"play.listen({point!r}, {act!r}{words})", self._depth)
        script = _Script(self, point, act, agent)
        script.close = self.subject.on(point, script)
        self._scripts.append(script.close)

    def intercept(self, seam: str, act: str = "", agent: str = "") -> None:
        """Let whoever is asked next at that seam wait at a gate, and act first, if there is an act.

        `act` and `agent` are what they are of `listen`.
        """
        assert isinstance(self.subject, Intercepts)
        words = "".join(f", {word!r}" for word in (act, agent) if word)
        self.story.did(f"play.intercept({seam!r}{words})", self._depth)
        self._count(seam)
        self.subject.intercept(seam, _Script(self, seam, act, agent) if act else None)

    def turn_up_to(self, seam: str, act: str, outcome: str, model: str) -> None:
        """Send, answer everything up to a seam, act there, and let that come of it.

        Args:
            seam: where the turn is to wait.
            act: what is done first, from inside; nothing if empty.
            outcome: what comes of the seam.
            model: what the model answers on the way.
        """
        self.intercept(seam, act)
        agent = next(iter(self.ledgers))
        self.send(agent)
        self.run_until_quiet()
        for _ in range(GATES_MAX):
            gates = self.stage.gates.open_gates
            if not gates or gates[0].name == seam:
                break
            self.answer(model if gates[0].name == "model" else "ok")
        self.answer(outcome)

    def note_listener(self, point: str, agent: str) -> None:
        """Write down that a listener begins to act."""
        self.story.saw(f"inside {point} of {agent}:", self._depth)

    def do(self, act: str, agent: str) -> None:
        """Do what a listener was told to.

        Raises:
            StageError: that was to raise.
        """
        for one in act.split(","):
            verb, _, reason = one.partition(":")
            if verb == "raise":
                self._count("raise")
                raise StageError("a listener failed because the test said so")
            if verb == "cancel":
                self.cancel(agent, reason or None)
            elif verb == "silence":
                self.silence()
            else:
                getattr(self, verb)(agent)

    # -- What the outside does ---------------------------------------------------------------------

    def tick(self, n: int = 1) -> None:
        """Run up to `n` callbacks."""
        self.story.did(f"play.tick({n})")
        self.stage.tick(n)

    def run_until_quiet(self) -> None:
        """Run callbacks until none is ready."""
        self.story.did("play.run_until_quiet()")
        self.stage.run_until_quiet(MOVES_MAX)

    def open_gate(self, which: int = 0, outcome: str = "ok") -> None:
        """Open one of the gates at which somebody waits; an outcome it has not is its first.

        Does nothing once there is silence.
        """
        gates = self.stage.gates.open_gates
        if gates and not self.stage.is_silent:
            gate = gates[which % len(gates)]
            chosen = outcome if outcome in gate.outcomes else gate.outcomes[0]
            self.story.did(f"play.open_gate({which % len(gates)}, {chosen!r})  # {gate}")
            self.stage.gates.open(gate, chosen)

    def answer(self, outcome: str = "ok") -> None:
        """Open the oldest gate and run every callback."""
        self.open_gate(0, outcome)
        self.run_until_quiet()

    def fire_timer(self) -> None:
        """Let the next timer run out, if there is one."""
        if self.stage.loop.next_timer() is not None:
            self.story.did("play.fire_timer()")
            self.stage.loop.fire_next_timer()

    def silence(self) -> None:
        """From here on nobody outside answers: gates stay shut, and only time goes on.

        What was stopped has to come to rest all the same, and so has every end.

        Clauses: B-117 B-118 B-121
        """
        if not self.stage.is_silent:
            self.story.did("play.silence()", self._depth)
            self.stage.is_silent = True
            self._settle()

    def drain(self) -> None:
        """Let everything happen, first in, first out, until nothing is left to do."""
        self.story.did("play.drain()")
        for _ in range(MOVES_MAX):
            if not self.stage.move():
                return
        raise TooLong(self.stage.listing(f"there is more to do after {MOVES_MAX} moves"))

    # -- The end -----------------------------------------------------------------------------------

    def finish(self) -> None:
        """Bring everything to rest, judge, end every agent and the subject, and judge again.

        Raises:
            Violation: something does not hold.
        """
        if self._is_finished:
            return
        self._is_finished = True
        self.story.did("play.finish()")
        self.story.base = 1
        self._rest()
        # What a listener was to do once and has not done is not waited for any longer.
        for close in self._scripts:
            close()
        for agent in tuple(self.ledgers):
            self.dispose(agent)
        self._rest()
        # A late caller joins the end that has already come.
        for agent in tuple(self.ledgers):
            self.dispose(agent)
        self._rest()
        for ledger in (*self.past, *self.ledgers.values()):
            self._judge(_GONE, "gone", ledger)
        self._raise()
        self._close()

    def _rest(self) -> None:
        self.drain()
        self._settle()

    def _close(self) -> None:
        self.stage.complete(self.subject.close())
        left = self.stage.pending
        if left:
            seen = f"still there: {', '.join(left)}"
            raise Violation("INV-12", "F-43 A-77", "no task outlives the runtime", seen)
        loop = self.stage.loop
        loop.report_unretrieved()
        if loop.failures:
            failure = loop.failures[0]
            seen = f"{failure.source}: {failure.message}: {failure.exception!r}"
            raise Violation("INV-12", "B-126 F-36", "every error reaches somebody", seen)


async def _joined(end: Awaitable[object]) -> object:
    return await end


@define(eq=False)
class _Script:
    """A listener that does one thing, once."""

    play: Examination
    point: str
    act: str
    agent: str
    close: Callable[[], None] = field(init=False, default=lambda: None)

    def __call__(self, agent: str) -> None:
        """Do it, from inside the listener."""
        self.close()
        target = self.agent or agent
        if target not in self.play.ledgers:
            return
        self.play.note_listener(self.point, agent)
        with self.play.at_point(self.point):
            self.play.do(self.act, target)
