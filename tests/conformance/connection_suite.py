"""The random suite of connections: create, load, close, go away, unload, in any order and anywhere.

Theory. Callbacks, gates and calls are rules alike, so the order in which Hypothesis draws them is
the interleaving, and it shrinks. Whatever is drawn, the runtime must do what the connection world
can do, after every callback, and owe nothing when all is quiet.
"""

from collections.abc import Callable
from typing import ClassVar, Final

from attrs import define
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,
)

from statemachine.worlds.connection import Asked, Caller, Connection
from tests.conformance.connection_scene import AGENTS, REQUESTS_MAX, SESSIONS, Request, Scene
from tests.conformance.programs import program_settings

__all__ = ["ConnectionProgram", "Count", "connection_suite"]

_WHICH: Final = st.integers(0, 7)
_ASKS: Final = st.builds(
    Asked,
    st.sampled_from(Caller),
    st.sampled_from(range(len(AGENTS))),
    # The first is stored, so that there is something to load.
    st.sampled_from((0, 0, *range(len(SESSIONS)))),
)
_NEW: Final = st.builds(
    Asked,
    st.sampled_from(Caller),
    st.sampled_from(range(len(AGENTS))),
    # The first can only be refused.
    st.sampled_from((0, 1, 1)),
)
_INSIDE: Final = st.sampled_from(
    ("create", "create", "load", "dispose", "close", "disconnect", "unload owner", "unload driver")
)


@define
class Count:
    """How much was done in all the programs of a suite."""

    programs: int = 0
    judged: int = 0
    """Instants that were compared with the world."""
    loads: int = 0
    """Loads that came back with an agent."""
    inside: int = 0
    """Calls that were made inside a listener."""


class ConnectionProgram(RuleBasedStateMachine):
    """What a program may do; a suite sets the class attributes."""

    count: ClassVar[Count] = Count()

    def __init__(self) -> None:
        super().__init__()
        self.inside: list[tuple[str, Asked, int]] = []
        self.scene = Scene(self._act_inside)

    # -- Calls -------------------------------------------------------------------------------------

    @rule(asked=_NEW)
    def create(self, asked: Asked) -> None:
        """Ask for an agent on a new session."""
        self._make("create", asked)

    @rule(asked=_ASKS)
    def load(self, asked: Asked) -> None:
        """Ask for an agent on a stored session; the call is made when its task first runs."""
        self._make("load", asked)

    @rule(caller=st.sampled_from(Caller), agent=st.sampled_from((0, 1)), is_read=st.booleans())
    def load_what_is_stored(self, caller: Caller, agent: int, is_read: bool) -> None:  # noqa: FBT001  # drawn
        """Ask for the session that is stored, and let the store come so far."""
        self._make("load", Asked(caller, agent, 0))
        self.scene.stage.run_until_quiet()
        for gate in self.scene.stage.gates.open_gates:
            if is_read and gate.name.startswith("load"):
                self.scene.stage.gates.open(gate, "ok")

    @rule(act=_INSIDE, asked=_ASKS, which=_WHICH)
    def act_inside_the_next_listener(self, act: str, asked: Asked, which: int) -> None:
        """Let the next listener of a new session, or of a new agent, make a call."""
        self.inside.append((act, asked, which))

    @precondition(lambda self: self.scene.requests)
    @rule(which=_WHICH)
    def send(self, which: int) -> None:
        """Give an agent something to do."""
        request = self._pick(which, self._is_alive)
        if request is not None:
            self.scene.send(request)

    @precondition(lambda self: self.scene.requests)
    @rule(which=_WHICH)
    def dispose(self, which: int) -> None:
        """Let the program dispose an agent."""
        self._end("dispose", which)

    @precondition(lambda self: self.scene.requests)
    @rule(which=_WHICH)
    def close(self, which: int) -> None:
        """Let the client close a session."""
        self._end("close", which)

    @precondition(lambda self: self.scene.requests)
    @rule(which=_WHICH)
    def give_up(self, which: int) -> None:
        """Cancel whoever waits for a load."""
        request = self._pick(which, lambda each: not each.is_answered and each.handle is None)
        if request is not None:
            self.scene.give_up(request)

    @rule(who=st.sampled_from(("disconnect", "unload owner", "unload driver")))
    def go(self, who: str) -> None:
        """Let the client go, or a plugin."""
        self._go(who)

    # -- Time --------------------------------------------------------------------------------------

    @precondition(lambda self: self.scene.stage.gates.open_gates)
    @rule(which=_WHICH, fails=st.booleans())
    def open_gate(self, which: int, fails: bool) -> None:  # noqa: FBT001  # drawn
        """Let the store or a model do what it was asked for, or fail."""
        gates = self.scene.stage.gates
        gate = gates.open_gates[which % len(gates.open_gates)]
        gates.open(gate, gate.outcomes[-1 if fails else 0])

    @rule(n=st.integers(1, 8))
    def tick(self, n: int) -> None:
        """Run a few callbacks."""
        self.scene.stage.tick(n)

    @rule()
    def run_until_quiet(self) -> None:
        """Run every callback there is."""
        self.scene.stage.run_until_quiet()

    def teardown(self) -> None:
        """Bring everything to rest, unless something is broken already."""
        scene = self.scene
        try:
            if scene.broken is None:
                scene.finish()
        finally:
            scene.shut()
            count = type(self).count
            count.programs += 1
            count.judged += scene.judged
            count.loads += sum(each.was_loaded for each in scene.requests)

    # -- How ---------------------------------------------------------------------------------------

    def _make(self, what: str, asked: Asked) -> None:
        if self.scene.under_way < REQUESTS_MAX:
            (self.scene.create if what == "create" else self.scene.load)(asked)

    def _end(self, what: str, which: int) -> None:
        caller = Caller.PROGRAM if what == "dispose" else Caller.CONNECTION
        request = self._pick(which, lambda each: each.is_live and each.asked.caller is caller)
        is_late = what == "close" and self.scene.state is not Connection.OPEN
        if request is not None and not request.is_over and not is_late:
            (self.scene.dispose if what == "dispose" else self.scene.close)(request)

    def _go(self, who: str) -> None:
        match who:
            case "disconnect":
                self.scene.disconnect()
            case "unload owner":
                self.scene.unload_owner()
            case _:
                self.scene.unload_provider()

    def _act_inside(self, _scene: Scene, _point: str) -> None:
        if not self.inside:
            return
        act, asked, which = self.inside.pop(0)
        type(self).count.inside += 1
        if act in {"create", "load"}:
            self._make(act, asked)
        elif act in {"dispose", "close"}:
            self._end(act, which)
        else:
            self._go(act)

    def _is_alive(self, request: Request) -> bool:
        return request.handle is not None and request.handle.agent.status.value != "disposed"

    def _pick(self, which: int, is_fit: Callable[[Request], bool]) -> Request | None:
        fit = [each for each in self.scene.requests if is_fit(each)]
        return fit[which % len(fit)] if fit else None


def connection_suite(
    *, examples: int | None = None, is_canary: bool = False, count: Count | None = None
) -> Count:
    """Run random programs, as many as the Hypothesis profile says, and return their count.

    Args:
        examples: how many programs, instead.
        is_canary: the programs are to find a planted fault: always the same ones, none shortened.
        count: where to count, for a caller that wants to know although a claim does not hold.

    Raises:
        DisagreementError: the runtime did what the world cannot do.
        StageStuck: somebody waits for ever.
    """
    count = Count() if count is None else count
    program = type("ConnectionProgram", (ConnectionProgram,), {"count": count})
    chosen = program_settings(examples=examples, steps=30, is_canary=is_canary)
    run_state_machine_as_test(program, settings=chosen)
    return count
