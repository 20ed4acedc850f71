"""The random suite of the bridge: new, load, prompt, cancel, close, disconnect, in every order.

Theory. As in the other suites: callbacks, gates and what clients say are rules alike, so the order
in which Hypothesis draws them is the interleaving, and it shrinks. Models and the disk wait at
gates, so that a load, a flush or a turn may be pending at any place while something else happens.
The oracles are those of `World`, after every act and at rest.
"""

from typing import ClassVar, Final

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.conformance.acp_clients import Count
from tests.conformance.acp_world import World

__all__ = ["ClientProgram", "acp_suite"]

_WHICH: Final = st.integers(0, 5)
_OUTCOME: Final = st.integers(0, 3)


class ClientProgram(RuleBasedStateMachine):
    """What a program may do; a suite sets the class attributes."""

    count: ClassVar[Count] = Count()
    make_world: ClassVar[type[World]] = World

    def __init__(self) -> None:
        super().__init__()
        self.world = self.make_world(count=self.count)

    @initialize()
    def begin(self) -> None:
        """Begin with a stored session, and with one that has been prompted."""
        world = self.world
        world.open()
        world.connection.wire.say(world.new())
        world.rest()
        (stored,) = world.connection.sessions
        world.connection.wire.say(world.prompt(stored))
        world.rest()
        world.connection.wire.say(world.close(stored), world.new())
        world.rest()
        (session,) = world.connection.sessions
        world.connection.wire.say(world.prompt(session))

    def session(self, which: int) -> str:
        """Return mostly one of the open sessions, else one that was open once, or never."""
        opened = self.world.connection.sessions
        return opened[which % len(opened)] if opened and which < 5 else self.known(which)

    def known(self, which: int) -> str:
        """Return one of the sessions that were ever open, or one that never was."""
        ids = self.world.known
        return ids[which % len(ids)] if ids else "nobody"

    @property
    def can_talk(self) -> bool:
        """Whether somebody is connected."""
        return not self.world.connection.wire.is_ended

    @precondition(lambda self: self.can_talk)
    @rule()
    def new(self) -> None:
        """Ask for another session."""
        if self.world.has_room():
            self.world.tell("new")
            self.world.connection.wire.say(self.world.new())

    @precondition(lambda self: self.can_talk)
    @rule(which=_WHICH, is_shown=st.booleans())
    def load(self, which: int, is_shown: bool) -> None:  # noqa: FBT001  # drawn
        """Load a session, open or not, with what was said in it or without."""
        free = [each for each in self.world.known if each not in self.world.connection.sessions]
        session = free[which % len(free)] if free and which < 5 else self.known(which)
        if self.world.has_room(session):
            self.world.tell(f"load {session}, shown: {is_shown}")
            self.world.connection.wire.say(self.world.load(session, is_shown=is_shown))

    @precondition(lambda self: self.can_talk)
    @rule(which=_WHICH, n=st.integers(1, 3))
    def prompt(self, which: int, n: int) -> None:
        """Prompt, once or more in one write."""
        session = self.session(which)
        if self.world.has_room(session, prompts=n):
            self.world.tell(f"{n} prompts to {session}")
            self.world.connection.wire.say(*(self.world.prompt(session) for _ in range(n)))

    @precondition(lambda self: self.can_talk)
    @rule(which=_WHICH)
    def cancel(self, which: int) -> None:
        """Cancel."""
        session = self.session(which)
        if self.world.has_room(session):
            self.world.tell(f"cancel {session}")
            self.world.connection.wire.say(self.world.cancel(session))

    @precondition(lambda self: self.can_talk)
    @rule(which=_WHICH)
    def prompt_cancel_prompt(self, which: int) -> None:
        """Prompt, cancel and prompt again, in one write."""
        session = self.session(which)
        world = self.world
        if world.has_room(session, prompts=2):
            world.tell(f"prompt, cancel, prompt to {session}")
            first, cancel = world.prompt(session), world.cancel(session)
            world.connection.wire.say(first, cancel, world.prompt(session))

    @precondition(lambda self: self.can_talk)
    @rule(which=_WHICH)
    def close(self, which: int) -> None:
        """Close a session."""
        session = self.session(which)
        if self.world.has_room(session):
            self.world.tell(f"close {session}")
            self.world.connection.wire.say(self.world.close(session))

    @precondition(lambda self: self.can_talk)
    @rule(which=_WHICH)
    def close_and_load(self, which: int) -> None:
        """Close a session, and load it while it ends."""
        session = self.session(which)
        if self.world.has_room(session):
            self.world.tell(f"close and load {session}")
            close = self.world.close(session)
            self.world.connection.wire.say(close, self.world.load(session))

    @precondition(lambda self: self.can_talk)
    @rule(which=_WHICH)
    def disconnect(self, which: int) -> None:
        """Go, whatever is pending; rarely, so that there is something."""
        if which == 0:
            self.world.tell("disconnect")
            self.world.disconnect()

    @precondition(lambda self: not self.can_talk)
    @rule()
    def reconnect(self) -> None:
        """Bring the end of the client to rest, judge it, and connect anew."""
        self.world.tell("the end of the client")
        self.world.gone()
        self.world.connect()
        if self.world.known:
            session = self.known(0)
            self.world.tell(f"load {session}")
            self.world.connection.wire.say(self.world.load(session))

    @precondition(lambda self: self.can_talk and self.world.connection.questions)
    @rule(is_allowed=st.booleans())
    def answer(self, is_allowed: bool) -> None:  # noqa: FBT001  # drawn
        """Answer a question."""
        number = self.world.connection.questions.pop(0)
        self.world.tell(f"answer {number}: {is_allowed}")
        self.world.permit(number, "allow" if is_allowed else "reject")

    @precondition(lambda self: self.world.stage.gates.open_gates)
    @rule(which=_WHICH, outcome=_OUTCOME)
    def open_gate(self, which: int, outcome: int) -> None:
        """Let a model or the disk answer."""
        gates = self.world.stage.gates
        gate = gates.open_gates[which % len(gates.open_gates)]
        chosen = gate.outcomes[outcome % len(gate.outcomes)]
        self.world.tell(f"open {gate} with {chosen}")
        gates.open(gate, chosen)

    @rule(n=st.integers(1, 12))
    def tick(self, n: int) -> None:
        """Run a few callbacks."""
        self.world.tell(f"tick {n}")
        for _ in range(n):
            self.world.stage.tick()
            self.world.judge()

    @rule(n=st.integers(1, 60))
    def go_on(self, n: int) -> None:
        """Let things happen as they do when nobody interferes: gates are opened, time goes on."""
        self.world.tell(f"go on {n}")
        for _ in range(n):
            if not self.world.stage.move():
                break
            self.world.judge()

    @rule()
    def run_until_quiet(self) -> None:
        """Run every callback there is."""
        self.world.tell("run until quiet")
        self.world.stage.run_until_quiet()

    @invariant()
    def promises_are_kept(self) -> None:
        """What was written is so."""
        if self.world.broken is None:
            self.world.judge()

    def teardown(self) -> None:
        """Bring everything to rest and judge it, unless something is broken already."""
        world = self.world
        try:
            if world.broken is None:
                world.tell("the end")
                world.finish()
        finally:
            world.shut()
            world.count.programs += 1


def acp_suite(  # noqa: PLR0913  # all optional but one, all by name
    *,
    count: Count,
    examples: int = 60,
    steps: int = 40,
    shrinks: bool = True,
    seeded: bool = True,
    make_world: type[World] = World,
) -> None:
    """Run random programs of clients.

    Args:
        count: is told how much was done.
        examples: how many programs.
        steps: how many acts each has at most.
        shrinks: whether a failure is made small; not worth its time for a planted fault.
        seeded: whether the same programs are drawn each time.
        make_world: makes the clients, and judges what they are told.

    Raises:
        BrokenPromiseError: a client was told what is not so.
    """

    class Program(ClientProgram):
        pass

    Program.count, Program.make_world = count, make_world
    phases = [Phase.generate, *([Phase.shrink] if shrinks else [])]
    run_state_machine_as_test(
        Program,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            database=None,
            derandomize=seeded,
            phases=phases,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )
