"""The random programs: what may be done to a subject, in any order, of any length.

Theory. Ticks, gates, timers and acts are rules alike, so the order in which Hypothesis draws them
is the interleaving, and it shrinks with everything else. A rule never lets more happen than it
says: if each drained the loop, no interleaving would ever be tried. Nothing is drawn inside a
callback; what a listener is to do is drawn before and installed.

A program has one of two endings. Usually everything that waits for the outside is answered in the
end. In some the outside falls silent at a drawn step and nothing is answered from then on: whatever
was stopped has to come to rest by its grace alone.

There are several machines, each with a part of the rules: a program of thirty steps that may do
everything does most things too rarely.
"""

from collections.abc import Callable
from typing import ClassVar, Final

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from statemachine.conformance.stage.stage import StageStuck, TooLong
from statemachine.conformance.subject import SEAM_OUTCOMES, Offer

from .examination import ACTS, POINTS, SEAMS, Examination
from .story import Violation

__all__ = ["MACHINES", "Program"]

_WHICH: Final = st.integers(0, 3)
_AGENTS: Final = st.integers(0, 1)
_OUTCOMES: Final = st.sampled_from(("ok", "ok", "error", "call", "max-tokens"))
_SEAMS: Final = st.sampled_from(SEAMS)
_SEAM_AND_OUTCOME: Final = st.sampled_from(
    [(seam, outcome) for seam, outcomes in SEAM_OUTCOMES.items() for outcome in outcomes]
)
_SEAM_ACTS: Final = st.sampled_from(
    ("", "", "", "cancel", "dispose", "send", "steer", "cancel,send")
)
_REASONS: Final = st.sampled_from((None, "stop", "again"))
_POINTS: Final = st.sampled_from(POINTS)
_TURNING_POINTS: Final = st.sampled_from(
    ("abort", "status running", "status cancelled", "status idle", "turn/start", "turn/end")
)
_ACTS: Final = st.sampled_from(ACTS)
_TURNING_ACTS: Final = st.sampled_from(
    ("send", "cancel", "cancel,send", "send,cancel", "steer", "dispose")
)
_ONE_IN_FOUR: Final = st.sampled_from((False, False, False, True))
_NEEDS: Final = {"steer": Offer.STEER, "inject": Offer.INJECT}


class Program(RuleBasedStateMachine):
    """What every program may do: send, and let things happen.

    Subclasses made by a suite set the class attributes.
    """

    examine: ClassVar[Callable[[], Examination]]
    ended: ClassVar[Callable[[Examination, Exception | None], None]]
    offers: ClassVar[frozenset[Offer]] = frozenset()

    def __init__(self) -> None:
        super().__init__()
        self.error: Exception | None = None
        self.play = type(self).examine().__enter__()
        self.play.create("a")

    def attempt(self, act: Callable[..., object], *words: object) -> None:
        """Do one thing and tell the story if it shows that something is broken.

        Raises:
            Broken: it does.
        """
        try:
            act(*words)
        except Violation as violation:
            self.error = self.play.tell(violation)
            raise self.error from None
        except (TooLong, StageStuck) as verdict:
            stuck = Violation("INV-06", "B-135", "everything comes to rest", str(verdict))
            self.error = self.play.tell(stuck)
            raise self.error from None
        except Exception as error:
            self.error = error
            raise

    def agent(self, which: int) -> str:
        """Return one of the agents by number."""
        names = tuple(self.play.ledgers)
        return names[which % len(names)]

    @rule(which=_AGENTS)
    def send(self, which: int) -> None:
        """Send a message."""
        self.attempt(self.play.send, self.agent(which))

    @rule(n=st.integers(1, 4))
    def tick(self, n: int) -> None:
        """Run a few callbacks."""
        self.attempt(self.play.tick, n)

    @rule()
    def run_until_quiet(self) -> None:
        """Run every callback there is."""
        self.attempt(self.play.run_until_quiet)

    @rule(outcome=_OUTCOMES)
    def answer(self, outcome: str) -> None:
        """Let the oldest thing outside happen, with everything that follows."""
        self.attempt(self.play.answer, outcome)

    @precondition(lambda self: not self.play.stage.is_silent)
    @rule(is_now=_ONE_IN_FOUR)
    def silence(self, *, is_now: bool) -> None:
        """Answer nothing any more; rarely, so that most programs end with every answer given."""
        if is_now:
            self.attempt(self.play.silence)

    def teardown(self) -> None:
        """Bring everything to rest and judge it, unless something is broken already."""
        try:
            if self.error is None:
                self.attempt(self.play.finish)
        finally:
            self.play.__exit__(None, None, None)
            type(self).ended(self.play, self.error)


class Waiting(Program):
    """Programs in which somebody waits for the agent."""

    @rule(which=_AGENTS)
    def when_idle(self, which: int) -> None:
        """Let somebody wait."""
        self.attempt(self.play.when_idle, self.agent(which))

    @rule(which=_AGENTS)
    def send_to_one_who_waits(self, which: int) -> None:
        """Let somebody begin to wait at the instant at which a message comes."""
        self.attempt(self.play.when_idle, self.agent(which))
        self.attempt(self.play.send, self.agent(which))


class Timing(Program):
    """Programs in which the outside takes its time, and any order."""

    @rule(which=_WHICH, outcome=_OUTCOMES)
    def open_gate(self, which: int, outcome: str) -> None:
        """Let something outside happen."""
        self.attempt(self.play.open_gate, which, outcome)

    @precondition(lambda self: self.play.stage.loop.next_timer() is not None)
    @rule()
    def fire_timer(self) -> None:
        """Let time pass until the next timer."""
        self.attempt(self.play.fire_timer)


class Steering(Program):
    """Programs that also steer and inject."""

    @precondition(lambda self: Offer.STEER in self.offers)
    @rule(which=_AGENTS)
    def steer(self, which: int) -> None:
        """Give a message to the running turn."""
        self.attempt(self.play.steer, self.agent(which))

    @precondition(lambda self: Offer.INJECT in self.offers)
    @rule(which=_AGENTS)
    def inject(self, which: int) -> None:
        """Record context."""
        self.attempt(self.play.inject, self.agent(which))


class Cancelling(Program):
    """Programs that also cancel."""

    @rule(which=_AGENTS, reason=_REASONS)
    def cancel(self, which: int, reason: str | None) -> None:
        """Stop the turn and drop what waits."""
        self.attempt(self.play.cancel, self.agent(which), reason)


class Leaving(Waiting):
    """Programs in which those who wait may lose patience."""

    @rule(which=_WHICH)
    def cancel_waiter(self, which: int) -> None:
        """Cancel one of those who wait."""
        self.attempt(self.play.cancel_waiter, self.agent(which), which)


class Ending(Program):
    """Programs that also make and end agents."""

    @rule(which=_AGENTS)
    def dispose(self, which: int) -> None:
        """End an agent, once or again."""
        self.attempt(self.play.dispose, self.agent(which))

    @rule(
        agent=st.sampled_from(("a", "b")),
        session=st.sampled_from(("", "", "session of a", "session of b")),
    )
    def create(self, agent: str, session: str) -> None:
        """Make an agent, also under a name that is taken."""
        self.attempt(self.play.create, agent, session)


class Turning(Program):
    """Programs that also act from inside the listeners on which most depends."""

    @precondition(lambda self: Offer.LISTEN in self.offers)
    @rule(point=_TURNING_POINTS, act=_TURNING_ACTS)
    def listen_to_turns(self, point: str, act: str) -> None:
        """Install a listener where most depends on what it does."""
        self._install(point, act, "")

    def _install(self, point: str, act: str, agent: str) -> None:
        verbs = {one.split(":", 1)[0] for one in act.split(",")}
        if all(_NEEDS[verb] in self.offers for verb in verbs & _NEEDS.keys()):
            self.attempt(self.play.listen, point, act, agent)


class Listening(Turning):
    """Programs that also act from inside any listener."""

    @precondition(lambda self: Offer.LISTEN in self.offers)
    @rule(point=_POINTS, act=_ACTS, which=st.sampled_from(("", "", "", "a", "b")))
    def listen(self, point: str, act: str, which: str) -> None:
        """Install a listener that acts once, at any point."""
        self._install(point, act, which)


class Intercepting(Program):
    """Programs in which a turn waits for interceptors and for the bodies of tools."""

    @precondition(lambda self: Offer.INTERCEPT in self.offers)
    @rule(seam=_SEAMS, act=_SEAM_ACTS)
    def intercept(self, seam: str, act: str) -> None:
        """Let whoever is asked next wait, and perhaps act before that."""
        if act != "steer" or Offer.STEER in self.offers:
            self.attempt(self.play.intercept, seam, act)

    @precondition(lambda self: Offer.INTERCEPT in self.offers)
    @rule(what=_SEAM_AND_OUTCOME, act=_SEAM_ACTS, model=st.sampled_from(("call", "ok")))
    def turn_up_to(self, what: tuple[str, str], act: str, model: str) -> None:
        """Let a turn come to a seam, and let something come of it."""
        if act != "steer" or Offer.STEER in self.offers:
            self.attempt(self.play.turn_up_to, what[0], act, what[1], model)

    @precondition(lambda self: Offer.INTERCEPT in self.offers)
    @rule(which=st.integers(0, 4))
    def judge(self, which: int) -> None:
        """Let the oldest thing outside happen, in any of the ways that it can."""
        gates = self.play.stage.gates.open_gates
        if gates and gates[0].outcomes:
            outcomes = gates[0].outcomes
            self.attempt(self.play.answer, outcomes[which % len(outcomes)])


class WaitingProgram(Waiting, Cancelling):
    """Send, wait and cancel: short programs around the instants at which nothing runs."""

    @rule(n=st.integers(1, 2))
    def tick(self, n: int) -> None:
        """Run few callbacks: the instants between them are what these programs are about."""
        self.attempt(self.play.tick, n)


class TurningProgram(Turning, Cancelling):
    """Send, cancel and act from inside: short programs around the ends of turns."""


class CancelProgram(Steering, Cancelling, Leaving, Timing):
    """Send, steer, inject and cancel."""


class TeardownProgram(Ending, Steering, Waiting, Timing):
    """Send, steer, inject, create and dispose."""


class ListenerProgram(Listening, Cancelling, Waiting, Timing):
    """Send and cancel, and act from inside listeners."""


class SeamProgram(Intercepting, Cancelling, Ending):
    """Send, cancel, dispose, and wait for interceptors and tools."""


class FullProgram(Listening, Intercepting, Cancelling, Ending, Steering, Leaving, Timing):
    """Everything."""


MACHINES: Final[dict[str, type[Program]]] = {
    "waiting": WaitingProgram,
    "turning": TurningProgram,
    "cancel": CancelProgram,
    "teardown": TeardownProgram,
    "listeners": ListenerProgram,
    "seams": SeamProgram,
    "all": FullProgram,
}
"""The machines by name."""
