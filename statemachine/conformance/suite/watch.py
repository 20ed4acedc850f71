"""The eyes on one run: the stage, the subject, the ledgers, and when each oracle is asked.

Theory. The subject is looked at before and after every call, after every callback of the loop, and
at every point where a listener is called. A judgement made inside a listener must not be raised
there, for the runtime would contain it; it is kept, and raised when the call or the callback is
over.
"""

import contextlib
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Final, Self

from attrs import define, field, frozen

from statemachine.conformance.stage.gates import Gate
from statemachine.conformance.stage.stage import Stage
from statemachine.conformance.subject import (
    SEAMS,
    Listens,
    MakeSubject,
    Observation,
    Offer,
    Probed,
    Subject,
)

from .ledger import Call, Ledger, Stop, Verb
from .oracles import ORACLES, Oracle
from .refinement import Project, Projects, Refinement
from .story import Broken, Story, Violation

__all__ = ["POINTS", "Watch"]

POINTS: Final = (
    "status running",
    "status cancelled",
    "status idle",
    "status disposed",
    "queued",
    "discarded",
    "error",
    "abort",
    "disposed",
    "turn/start",
    "user/message",
    "steering/message",
    "context/message",
    "step/start",
    "assistant/chunk",
    "assistant/message",
    "tool/call",
    "tool/result",
    "step/end",
    "turn/end",
)
"""Where a listener may be called."""


def _asking(name: str) -> tuple[Oracle, ...]:
    """Return the oracles that have something to say at one moment."""
    return tuple(one for one in ORACLES if getattr(type(one), name) is not getattr(Oracle, name))


_RECORDED, _DROPPED, _ANNOUNCED, _LOOKED, _HEARD, _CALLED, _ASKED, _RELEASED = map(
    _asking,
    (
        "recorded", "dropped", "announced", "looked", "heard", "called", "asked_model", "released",
    ),
)  # fmt: skip
_SETTLED, _AT_REST, _GONE = map(_asking, ("settled", "at_rest", "gone"))


@define(eq=False)
class Watch:
    """A subject on its stage, watched.

    Args:
        make_subject: makes the subject.
        inside: whether the subject's decisions are watched as well.
        project: what its cells hold; only for `inside`, and only if the subject does not bring it.
    """

    make_subject: MakeSubject
    inside: bool = False
    project: Project | None = None
    verified: dict[int, Any] = field(factory=dict)
    """What `Refinement.verified` is; shared between runs of one suite."""

    stage: Stage = field(init=False)
    subject: Subject = field(init=False)
    ledgers: dict[str, Ledger] = field(init=False, factory=dict)
    """The agents that live, or lived last, under each id."""
    past: list[Ledger] = field(init=False, factory=list)
    story: Story = field(init=False, factory=Story)
    refinement: Refinement | None = field(init=False, default=None)
    points: dict[tuple[str, str], int] = field(init=False, factory=dict)
    """How often each input was given from inside each point; `outside` for no point."""
    violation: Violation | None = field(init=False, default=None)
    _clock: int = field(init=False, default=0)
    _calls: int = field(init=False, default=0)
    _depth: int = field(init=False, default=0)
    _texts: int = field(init=False, default=0)
    _point: str = field(init=False, default="")
    _flushes: int = field(init=False, default=0)
    _models: int = field(init=False, default=0)
    _holds_flush: bool = field(init=False, default=False)

    # -- The scope ---------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self.stage = Stage()
        self.stage.__enter__()
        self.subject = self.make_subject()
        self.stage.complete(self.subject.open(self.stage))
        if self.inside:
            self._watch_decisions()
        if Offer.LISTEN in self.subject.offers:
            assert isinstance(self.subject, Listens)
            for point in (*POINTS, *SEAMS):
                self.subject.on(point, _Spy(self, point))
        self._holds_flush = Offer.HOLD in self.subject.offers
        self.stage.loop.monitor = self._settle
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stage.loop.monitor = None
        if isinstance(error, Violation):
            # Whoever reads the failure wants the story of it.
            error.add_note(self.story.numbered())
        self.stage.__exit__(kind, error, trace)

    def _watch_decisions(self) -> None:
        assert isinstance(self.subject, Probed), "level inside needs a subject with a probe"
        project = self.project
        if project is None:
            assert isinstance(self.subject, Projects), "level inside needs a projection"
            project = self.subject.project
        self.refinement = Refinement(project, verified=self.verified, on_violation=self.note)
        self.subject.probe(self.refinement.observe)

    # -- Calls -------------------------------------------------------------------------------------

    def _tick(self) -> int:
        self._clock += 1
        return self._clock

    def _text(self, letter: str) -> str:
        self._texts += 1
        return f"{letter}{self._texts}"

    def _count(self, what: str) -> None:
        key = (self._point or "outside", what)
        self.points[key] = self.points.get(key, 0) + 1

    def _call(  # noqa: PLR0913, PLR0917  # one place for every kind of call
        self,
        verb: Verb,
        ledger: Ledger,
        act: Callable[[], object],
        words: str = "",
        order: int = 0,
        stop: Stop | None = None,
        *,
        had_nothing: bool = False,
    ) -> Call:
        """Make one call and let the oracles judge it."""
        comment = words if words.startswith("  #") else ""
        spoken = "" if comment else words
        self.story.did(f"play.{verb}({ledger.agent!r}{spoken}){comment}", self._depth)
        self._count(verb.value)
        self._look_all()
        self._calls += 1
        calls, before = self._calls, ledger.seen
        siblings = tuple(
            (other, other.seen) for other in self.ledgers.values() if other is not ledger
        )
        error = None
        self._depth += 1
        try:
            act()
        except Exception as raised:  # whatever the runtime raises
            error = raised
            self.story.saw(f"raises {type(raised).__name__}: {raised}", self._depth)
        finally:
            self._depth -= 1
        self._look_all()
        call = Call(
            verb, order or self._tick(), before, ledger.seen, calls == self._calls, had_nothing,
            self._is_outermost, error, stop, siblings,
        )  # fmt: skip
        self._judge(_CALLED, "called", ledger, call)
        return call

    @property
    def _is_outermost(self) -> bool:
        return self._depth == 0 and not self._point

    # -- Looking -----------------------------------------------------------------------------------

    def _look_all(self) -> None:
        for gate in self.stage.gates.open_gates:
            if gate.name == "flush":
                if gate.number > self._flushes:
                    self._flush_came(gate)
            elif gate.name == "model" and gate.number > self._models:
                self._model_asked(gate)
        for ledger in self.ledgers.values():
            self._look(ledger)

    def _flush_came(self, gate: Gate) -> None:
        self._flushes = gate.number
        self.story.saw(f"gate {gate}", self._depth)
        for ledger in self.ledgers.values():
            ledger.flush_owed = None

    def _model_asked(self, gate: Gate) -> None:
        self._models = gate.number
        self.story.saw(f"gate {gate}: {gate.value}", self._depth)
        ledger = self._owner(gate)
        if ledger is not None:
            self._look(ledger)
            self._judge(_ASKED, "asked_model", ledger)

    def _owner(self, gate: Gate) -> Ledger | None:
        """Return whose model waits at a gate, by the text that it was asked about."""
        for ledger in self.ledgers.values():
            if gate.value in ledger.messages or gate.value in ledger.contexts:
                return ledger
        return None

    def _look(self, ledger: Ledger) -> None:
        if self.ledgers.get(ledger.agent) is not ledger:
            # Another agent has its id by now, and what is seen under it is not about this one.
            ledger.quiet = self._clock
            return
        before, after = ledger.seen, self.subject.observe(ledger.agent)
        if not _same(before, after):
            self._absorb(ledger, before, after)
        if ledger.open_turn is None and self._is_quiet(ledger, after):
            ledger.quiet = self._clock

    def _is_quiet(self, ledger: Ledger, now: Observation) -> bool:
        if now.status not in ("idle", "disposed") or ledger.flush_owed is not None:
            return False
        if any(message.doomed is None for message in ledger.waiting.values()):
            return False
        return self.refinement is None or self.refinement.is_quiescent(ledger.agent)

    def _absorb(self, ledger: Ledger, before: Observation, after: Observation) -> None:
        """Take what is new into the books, in the order: statuses, discards, records."""
        for status in after.statuses[len(before.statuses) :]:
            self.story.saw(f"{ledger.agent}: status {status}", self._depth)
            self._judge(_ANNOUNCED, "announced", ledger, status)
            ledger.announced = status
        for dropped in after.discards[len(before.discards) :]:
            words = f"{ledger.agent}: {dropped.text} discarded, {dropped.cause}: {dropped.reason}"
            self.story.saw(words, self._depth)
            self._judge(_DROPPED, "dropped", ledger, dropped)
            ledger.absorb_discard(dropped)
        new = after.log[len(before.log) :]
        for index, record in enumerate(new):
            words = f"{ledger.agent}: {record.type} {record.turn} {record.text}"
            self.story.saw(words.rstrip(), self._depth)
            self._judge(_RECORDED, "recorded", ledger, record)
            ledger.absorb_record(record, new[index + 1 : index + 3], self._flushes)
        if not self._holds_flush or len(self.ledgers) > 1:
            # Gates do not say whose they are.
            ledger.flush_owed = None
        ledger.seen = after
        self._judge(_LOOKED, "looked", ledger, before, after)

    # -- Judging -----------------------------------------------------------------------------------

    def note(self, violation: Violation) -> None:
        """Keep the first violation until it can be raised."""
        if self.violation is None:
            self.violation = violation
            self.story.saw(f"broken: {violation}", self._depth)

    def _judge(
        self, oracles: tuple[Oracle, ...], moment: str, ledger: Ledger, *facts: object
    ) -> None:
        for oracle in oracles:
            try:
                getattr(oracle, moment)(ledger, *facts)
            except Violation as violation:
                self.note(violation)

    @contextlib.contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except Violation as violation:
            self.note(violation)

    def _raise(self) -> None:
        if self.violation is not None:
            raise self.violation

    def _settle(self) -> None:
        """Judge an instant between two callbacks, if this is one."""
        if not self._is_outermost:
            return
        self._look_all()
        for ledger in self.ledgers.values():
            if ledger.doomed:
                self._judge(_SETTLED, "settled", ledger)
        if self.refinement is not None:
            with self._noting():
                self.refinement.look()
        if not self.stage.can_move():
            self._judge_rest()
        self._raise()

    def _judge_rest(self) -> None:
        """Judge an instant at which nothing is left to do: a step that is missing shows here.

        In silence a turn that nobody stopped may wait for ever; a stopped one may not.
        """
        is_silent = self.stage.is_silent
        for ledger in self.ledgers.values():
            if not (is_silent and ledger.may_wait_for_ever):
                self._judge(_AT_REST, "at_rest", ledger)
        if self.refinement is not None:
            with self._noting():
                self.refinement.at_rest(is_silent=is_silent)

    def hear(self, point: str, agent: str) -> None:
        """Look because a listener is called; what is wrong is raised later."""
        ledger = self.ledgers.get(agent)
        if ledger is not None:
            self._look(ledger)
            self._judge(_HEARD, "heard", ledger, point, ledger.seen)
            ledger.heard.append(point)
            if self.refinement is not None:
                with self._noting():
                    self.refinement.look()
            if point == "error" and ledger.turn is not None:
                ledger.turn.failed = True

    @contextlib.contextmanager
    def at_point(self, point: str) -> Iterator[None]:
        """Count what is done meanwhile as done from inside a listener."""
        outer, self._point = self._point, point
        self._depth += 1
        try:
            yield
        finally:
            self._point = outer
            self._depth -= 1

    def tell(self, violation: Violation, replay: str = "") -> Broken:
        """Return the violation with the story of this run."""
        return Broken(violation, self.story.numbered(), self.story.script, replay)


@frozen(eq=False)
class _Spy:
    """The first listener at a point: it only looks."""

    watch: Watch
    point: str

    def __call__(self, agent: str) -> None:
        self.watch.hear(self.point, agent)


def _same(before: Observation, after: Observation) -> bool:
    """Whether two looks show the same; what only grows is compared by its length."""
    return (
        len(before.log) == len(after.log)
        and before.status == after.status
        and len(before.statuses) == len(after.statuses)
        and len(before.discards) == len(after.discards)
        and before.registered == after.registered
        and before.in_store == after.in_store
    )
