"""A subject as an outsider sees it: what was asked of it, and what it owes for that.

Theory. Whoever calls from outside knows three things exactly: what was accepted and when, what was
stopped and when, and what can be observed at any instant. That is enough to judge most rows. What
the calls themselves must show is judged at the call; what must hold at every instant, after every
callback; what must come, when nothing is left to do. `tally` counts how often each judgement really
had something to judge, so that a promise nobody put to the test is not reported as kept.
"""

from collections import Counter
from collections.abc import Awaitable, Iterable

from attrs import define, field, frozen

from statemachine.conformance.stage.gates import Gate, Gates
from statemachine.conformance.stage.stage import Stage
from statemachine.conformance.subject import MakeSubject, Observation, Seen, Steers, Subject

__all__ = ["BrokenRowError", "Outsider", "Tally"]

Tally = Counter[str]
"""How often each named judgement came up."""

_MESSAGES = ("user/message", "steering/message", "prompt/blocked")
_DEFAULT_REASON = "cancelled"


class BrokenRowError(AssertionError):
    """A row of the verdict does not hold here."""

    def __init__(self, row: str, what: str) -> None:
        super().__init__(f"{row}: {what}")


@frozen(kw_only=True)
class _Said:
    """An accepted message."""

    text: str
    epoch: int
    """How many cancels came before it."""
    logged: int
    """How long the log was when it was accepted."""
    steered: str | None = None
    """The status in which it was steered; None if it was sent."""


@frozen(kw_only=True)
class _Stop:
    """A cancel or a dispose, and what it found."""

    reason: str
    is_cancel: bool
    logged: int
    turn: int | None
    """The turn that was open."""
    waiting: frozenset[str]
    """The messages that no turn can have taken yet."""
    had_failed: bool


@define(eq=False)
class _Counted(Gates):
    """Gates that tell the outsider when somebody arrives, and what was chosen."""

    outsider: "Outsider | None" = None

    def create(
        self, name: str, *, outcomes: tuple[str, ...] = ("ok", "error"), value: object = None
    ) -> Gate:
        if name == "model" and self.outsider is not None:
            self.outsider.asked_model(str(value))
        return super().create(name, outcomes=outcomes, value=value)

    def open(self, gate: Gate, outcome: str) -> None:
        if outcome == "error" and self.outsider is not None:
            self.outsider.failures += 1
        super().open(gate, outcome)


@define(eq=False)
class Outsider:
    """One agent of a subject on a stage, with the books that an outsider keeps about it."""

    stage: Stage
    subject: Subject
    tally: Tally
    agent: str = "a"
    session: str = "s"
    said: list[_Said] = field(factory=list)
    stops: list[_Stop] = field(factory=list)
    prompts: list[str] = field(factory=list)
    breaches: list[BrokenRowError] = field(factory=list)
    failures: int = 0
    disposals: int = 0
    waiters: dict[int, bool] = field(factory=dict)
    """Whether each waiter that still waits has had an instant of rest."""
    is_idle_watched: bool = False

    @classmethod
    def open(cls, stage: Stage, make_subject: MakeSubject, tally: Tally) -> "Outsider":
        """Start a subject with one agent on a stage whose model answers or fails."""
        subject = make_subject()
        gates = _Counted()
        stage.gates = gates
        stage.complete(subject.open(stage), "open")
        stage.model_answers = {
            name: answer for name, answer in stage.model_answers.items() if name in ("ok", "error")
        }
        outsider = cls(stage=stage, subject=subject, tally=tally)
        gates.outsider = outsider
        subject.create(outsider.agent, outsider.session)
        return outsider

    def look(self) -> Observation:
        """Look at the agent."""
        return self.subject.observe(self.agent)

    # -- Acts --------------------------------------------------------------------------------------

    def send(self, text: str) -> None:
        """Send a message, unless the agent is disposed; the status must stay as it was."""
        if self.disposals:
            return
        before = self.look()
        self._accept(text, before)
        self.subject.send(self.agent, text)
        after = self.look()
        self.require("INV-09", "send", after.status == before.status, _moved(before, after))

    def steer(self, text: str) -> None:
        """Steer, unless the agent is disposed."""
        if self.disposals:
            return
        assert isinstance(self.subject, Steers)
        before = self.look()
        self._accept(text, before, steered=before.status)
        self.subject.steer(self.agent, text)

    def cancel(self, reason: str | None) -> None:
        """Cancel; what waited must be discarded by this very call, and nothing means nothing."""
        before = self.look()
        stop = self._stop(before, _DEFAULT_REASON if reason is None else reason, is_cancel=True)
        is_for_nothing = before.status == "idle" and not self._unsettled(before)
        self.stops.append(stop)
        self.subject.cancel(self.agent, reason)
        after = self.look()
        if reason is None and stop.waiting:
            reasons = {each.reason for each in after.discards if each.text in stop.waiting}
            is_default = reasons <= {_DEFAULT_REASON}
            self.require("INV-09", "default reason", is_default, f"the reasons are {reasons}")
        if is_for_nothing:
            what = "a cancel with nothing to stop was seen"
            self.require("INV-04", "nothing", after == before, what)
        self._require_discarded(stop, after, "cancelled")

    def dispose(self) -> None:
        """Dispose, and watch the end of it."""
        before = self.look()
        stop = self._stop(before, "disposed", is_cancel=False)
        if not self.disposals:
            self.stops.append(stop)
        self.disposals += 1
        teardown = self.subject.dispose(self.agent)
        after = self.look()
        what = f"after dispose the status is {after.status}"
        self.require("INV-11", "status", after.status == "disposed", what)
        self.stage.spawn(self._disposed(teardown), f"INV-12 dispose {self.disposals}")

    def wait(self) -> None:
        """Wait for idle, and watch when the waiter is released."""
        number = len(self.waiters) + 1
        self.waiters[number] = self.is_at_rest(self.look())
        self.is_idle_watched = True
        self.stage.spawn(self._waited(number), f"INV-08 when_idle {number}")

    async def _waited(self, number: int) -> None:
        await self.subject.when_idle(self.agent)
        self.tally["INV-08 released"] += 1
        rested = self.waiters[number] or self.is_at_rest(self.look())
        self.note("INV-07", "rest", rested, "a waiter was released while there was work")

    async def _disposed(self, teardown: Awaitable[object]) -> None:
        await teardown
        self.tally["INV-12 ended"] += 1
        seen = self.look()
        self.note("INV-11", "closed", _open_turn(seen.log) is None, "the turn is still open")
        self.note(
            "INV-12", "gone", not (seen.registered or seen.in_store), "the agent is still there"
        )

    def asked_model(self, prompt: str) -> None:
        """Note that the model was asked; called by the gate. Another agent's prompt is not ours."""
        self.prompts.append(prompt)
        if not any(said.text in prompt for said in self.said):
            return
        turn = _open_turn(self.look().log)
        stopped = any(stop.turn == turn is not None for stop in self.stops)
        self.note(
            "INV-05", "asked", not stopped, f"the model was asked after the stop of turn {turn}"
        )

    # -- Judging -----------------------------------------------------------------------------------

    def require(self, row: str, judgement: str, holds: object, what: str) -> None:
        """Count a judgement and raise unless it holds."""
        self.tally[f"{row} {judgement}"] += 1
        if not holds:
            raise BrokenRowError(row, what)

    def note(self, row: str, judgement: str, holds: object, what: str) -> None:
        """Count a judgement inside the subject's code, where raising might be contained."""
        self.tally[f"{row} {judgement}"] += 1
        if not holds:
            self.breaches.append(BrokenRowError(row, what))

    def after_each(self) -> None:
        """Judge an instant: after every callback and every act."""
        if self.breaches:
            raise self.breaches[0]
        if self.is_idle_watched and not all(self.waiters.values()) and self.is_at_rest(self.look()):
            self.waiters = dict.fromkeys(self.waiters, True)

    def is_at_rest(self, seen: Observation) -> bool:
        """Whether no turn is open, nothing waits and no turn's flush is awaited."""
        if seen.status == "disposed":
            return not seen.registered or _open_turn(seen.log) is None
        flushes = any(gate.name == "flush" for gate in self.stage.gates.open_gates)
        # A stopped turn's flush is bounded: it may be let go of while the disk still works.
        is_flushed = not flushes or bool(self.stops)
        is_closed = _open_turn(seen.log) is None and not self._unsettled(seen)
        return seen.status == "idle" and is_closed and is_flushed

    def finish(self) -> None:
        """Judge what must have come, now that nothing is left to do."""
        self.after_each()
        seen = self.look()
        self._judge_fates(seen)
        self._judge_turns(seen)
        for stop in self.stops:
            self._judge_stop(stop, seen)
        resting = "disposed" if self.disposals else "idle"
        what = f"nothing is left to do and the status is {seen.status}"
        self.require("INV-06", "rest", seen.status == resting, what)
        self.stage.check_nobody_stuck()
        self.stage.complete(self.subject.close(), "INV-12 close")

    def _judge_fates(self, seen: Observation) -> None:
        texts = [each.text for each in seen.log if each.type in _MESSAGES]
        dropped = [each.text for each in seen.discards]
        for said in self.said:
            fates = texts.count(said.text) + dropped.count(said.text)
            self.require("INV-21", "one", fates <= 1, f"{said.text!r} has {fates} fates")
            self.require("INV-21", "fate", fates >= 1, f"{said.text!r} was lost")
            if said.steered is not None:
                self._judge_steering(said, seen)

    def _judge_steering(self, said: _Said, seen: Observation) -> None:
        """Steering joins the turn that was announced when it was given, or is a prompt."""
        joined = [e.turn for e in seen.log if e.type == "steering/message" and e.text == said.text]
        if said.steered != "running":
            self.require("INV-09", "steer idle", not joined, f"{said.text!r} steered no turn")
            return
        self.tally["INV-09 steered"] += len(joined)
        # The turn that ran was open, or was the next one to open.
        latest = max((e.turn for e in seen.log[: said.logged]), default=0)
        is_own = all(turn in (latest, latest + 1) for turn in joined)
        self.require("INV-09", "steer running", is_own, f"{said.text!r} joined turn {joined}")

    def _judge_turns(self, seen: Observation) -> None:
        epochs = {said.text: said.epoch for said in self.said}
        for turn in {each.turn for each in seen.log}:
            records = [each for each in seen.log if each.turn == turn]
            found = {epochs[e.text] for e in records if e.type in _MESSAGES and e.text in epochs}
            judgement = "replaced" if max(found, default=0) else "turn"
            what = f"turn {turn} holds messages from both sides of a cancel"
            self.require("INV-02", judgement, len(found) <= 1, what)
            balance = [
                _count(records, f"{what}/start") - _count(records, f"{what}/end")
                for what in ("turn", "step")
            ]
            self.require("INV-06", "balanced", not any(balance), f"turn {turn} is not balanced")
            end = next((each.text for each in records if each.type == "turn/end"), "")
            is_stopped = any(stop.turn == turn and stop.is_cancel for stop in self.stops)
            what = f"turn {turn} ends {end!r}, though no cancel came while it was open"
            is_ours = is_stopped or not end.startswith("aborted")
            self.require("INV-04", "own turn", is_ours, what)

    def _judge_stop(self, stop: _Stop, seen: Observation) -> None:
        reached = [text for text in stop.waiting if any(text in prompt for prompt in self.prompts)]
        self.require("INV-01", "unseen", not reached, f"the model was asked about {reached}")
        if stop.turn is None or not stop.is_cancel:
            return
        later = [e for e in seen.log[stop.logged :] if e.turn == stop.turn]
        self.require(
            "INV-05", "no step", not _count(later, "step/start"), "a step began after the stop"
        )
        first = next(each for each in self.stops if each.turn == stop.turn)
        end = next((each.text for each in later if each.type == "turn/end"), "")
        allowed = {f"aborted: {first.reason}"}
        allowed |= (
            {"disposed"}
            if any(not e.is_cancel and e.turn == stop.turn for e in self.stops)
            else set()
        )
        is_right = end in allowed or (stop.had_failed and end.startswith("error"))
        is_right = is_right or (end.startswith("disposed") and "disposed" in allowed)
        self.require(
            "INV-05", "ending", is_right, f"turn {stop.turn} ends {end!r}, not {sorted(allowed)}"
        )

    # -- Books -------------------------------------------------------------------------------------

    def _accept(self, text: str, before: Observation, steered: str | None = None) -> None:
        epoch = sum(stop.is_cancel for stop in self.stops)
        self.said.append(_Said(text=text, epoch=epoch, logged=len(before.log), steered=steered))

    def _stop(self, before: Observation, reason: str, *, is_cancel: bool) -> _Stop:
        unsettled = self._unsettled(before)
        waiting = frozenset(
            said.text
            for said in self.said
            if said.text in unsettled and not _count(before.log[said.logged :], "turn/start")
        )
        return _Stop(
            reason=reason,
            is_cancel=is_cancel,
            logged=len(before.log),
            turn=_open_turn(before.log),
            waiting=waiting,
            had_failed=self.failures > 0,
        )

    def _unsettled(self, seen: Observation) -> set[str]:
        settled = {each.text for each in seen.log if each.type in _MESSAGES}
        settled |= {each.text for each in seen.discards}
        return {said.text for said in self.said} - settled

    def _require_discarded(self, stop: _Stop, after: Observation, cause: str) -> None:
        for text in stop.waiting:
            found = [e for e in after.discards if e.text == text]
            is_right = [(e.cause, e.reason) for e in found] == [(cause, stop.reason)]
            what = f"{text!r} was waiting at the cancel and has these discards: {found}"
            self.require("INV-01", "discarded", is_right, what)


def _open_turn(log: tuple[Seen, ...]) -> int | None:
    """Return the number of the turn that is open in the log."""
    for record in reversed(log):
        if record.type == "turn/end":
            return None
        if record.type == "turn/start":
            return record.turn
    return None


def _count(records: Iterable[Seen], kind: str) -> int:
    return sum(record.type == kind for record in records)


def _moved(before: Observation, after: Observation) -> str:
    return f"a send moved the status from {before.status} to {after.status}"
