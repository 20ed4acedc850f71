"""The random suite of the plugin context: load, unload, reload, provide, withdraw, raise anywhere.

Theory. As in the suite of the lifecycle: callbacks, gates and acts are rules alike, so the order in
which Hypothesis draws them is the interleaving, and it shrinks. What a plugin does is drawn when it
is loaded. The oracles are those of the trees, after every callback and at rest.
"""

from typing import ClassVar, Final

from attrs import define
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.conformance.plugin_plants import Script, Step
from tests.conformance.plugin_trees import Trees
from tests.conformance.programs import program_settings

__all__ = ["ContextProgram", "Count", "context_suite"]

_WHICH: Final = st.integers(0, 8)
_LOAD_ACTS: Final = st.sampled_from(
    (
        "effect",
        "effect",
        "effect",
        "provide",
        "provide",
        "listen",
        "gate",
        "gate",
        "child",
        "await child",
        "raise",
        "dispose",
        "end",
        "restart",
        "emit",
    )
)
_UNLOAD_ACTS: Final = st.sampled_from(
    ("nothing", "nothing", "gate", "gate", "boom", "cancelled", "dispose", "end", "restart", "emit")
)
_INJECT: Final = st.lists(st.integers(0, 2), max_size=2, unique=True).map(tuple)


def _scripts(child: "st.SearchStrategy[Script | None]") -> "st.SearchStrategy[Script]":
    return st.builds(
        Script,
        inject=_INJECT,
        load=st.lists(st.builds(Step, _LOAD_ACTS, _WHICH), max_size=5).map(tuple),
        unload=st.builds(Step, _UNLOAD_ACTS, _WHICH),
        child=child,
    )


_SCRIPTS: Final = _scripts(st.one_of(st.none(), _scripts(st.none())))


@define
class Count:
    """How much was done in all the programs of a suite."""

    programs: int = 0
    judged: int = 0
    """Instants between two callbacks that were judged."""
    loads: int = 0


class ContextProgram(RuleBasedStateMachine):
    """What a program may do; a suite sets the class attributes."""

    count: ClassVar[Count] = Count()

    def __init__(self) -> None:
        super().__init__()
        self.trees = Trees()

    @rule(script=_SCRIPTS)
    def load(self, script: Script) -> None:
        """Load a plugin at the root."""
        self.trees.load(script, None, self.trees.root)

    @rule(script=_SCRIPTS, n=st.integers(1, 12))
    def load_and_run(self, script: Script, n: int) -> None:
        """Load a plugin at the root, and let its load come somewhere."""
        self.trees.load(script, None, self.trees.root)
        self.trees.stage.tick(n)

    @rule(acts=st.lists(st.sampled_from(("end", "restart", "dispose")), min_size=2, max_size=3))
    def load_rivals(self, acts: list[str]) -> None:
        """Load a few plugins, each of which lets the next one go when it is let go."""
        first = len(self.trees.plants)
        for place, act in enumerate(acts):
            other = first + (place + 1) % len(acts)
            unload = Step(act, other)
            script = Script(load=(Step("listen", 1), Step("effect", 1)), unload=unload)
            self.trees.load(script, None, self.trees.root)

    @precondition(lambda self: self.trees.plants)
    @rule(which=_WHICH)
    def dispose(self, which: int) -> None:
        """Dispose a plugin, whatever it is doing."""
        plant = self.trees.plant(which)
        assert plant is not None
        self.trees.tell(f"dispose p{plant.number}")
        self.trees.dispose(plant)

    @precondition(lambda self: self.trees.plants)
    @rule(which=_WHICH, waits=st.booleans())
    def restart(self, which: int, waits: bool) -> None:  # noqa: FBT001  # drawn
        """Restart a plugin, whatever it is doing."""
        plant = self.trees.plant(which)
        assert plant is not None
        self.trees.tell(f"restart p{plant.number}")
        end = self.trees.restart(plant)
        if end is not None and waits:
            self.trees.wait(f"restart of p{plant.number}", end)

    @precondition(lambda self: any(plant.effects for plant in self.trees.plants))
    @rule(which=_WHICH)
    def dispose_effect(self, which: int) -> None:
        """Dispose one effect, maybe while it is set up, maybe one that is long gone."""
        effects = [effect for plant in self.trees.plants for effect in plant.effects]
        self.trees.tell(f"dispose {effects[which % len(effects)].name}")
        self.trees.ends.append(effects[which % len(effects)].dispose())

    @rule(index=st.integers(0, 2))
    def provide(self, index: int) -> None:
        """Provide a service at the root, or withdraw it."""
        self.trees.tell(f"provide or withdraw {index}")
        self.trees.provide(index)

    @rule()
    def emit(self) -> None:
        """Announce something."""
        self.trees.tell("emit")
        self.trees.emit()

    @precondition(lambda self: self.trees.plants)
    @rule(which=_WHICH, whole=st.booleans())
    def wait(self, which: int, whole: bool) -> None:  # noqa: FBT001  # drawn
        """Let somebody wait for a plugin to be at rest, or for an end."""
        plant = self.trees.plant(which)
        assert plant is not None
        ends = self.trees.ends
        awaited = ends[which % len(ends)] if ends and whole else plant.fiber
        self.trees.wait(f"waiter of p{plant.number}", awaited)

    @precondition(lambda self: self.trees.stage.loop.pending_tasks())
    @rule(which=_WHICH)
    def cancel_some_task(self, which: int) -> None:
        """Cancel a task that is none of the caller's business."""
        tasks = self.trees.stage.loop.pending_tasks()
        if which >= len(tasks):
            return
        task = tasks[which]
        self.trees.tell(f"cancel the task {task.get_name()}")
        task.cancel()

    @precondition(lambda self: self.trees.stage.gates.open_gates)
    @rule(which=_WHICH, fails=st.booleans())
    def open_gate(self, which: int, fails: bool) -> None:  # noqa: FBT001  # drawn
        """Let something outside happen."""
        gates = self.trees.stage.gates
        gate = gates.open_gates[which % len(gates.open_gates)]
        outcome = gate.outcomes[-1 if fails else 0]
        self.trees.tell(f"open {gate} with {outcome}")
        gates.open(gate, outcome)

    @rule(n=st.integers(1, 8))
    def tick(self, n: int) -> None:
        """Run a few callbacks."""
        self.trees.tell(f"tick {self.trees.stage.tick(n)}")

    @rule()
    def run_until_quiet(self) -> None:
        """Run every callback there is."""
        self.trees.tell("run until quiet")
        self.trees.stage.run_until_quiet()

    def teardown(self) -> None:
        """Bring everything to rest and judge it, unless something is broken already."""
        trees = self.trees
        try:
            if trees.broken is None:
                trees.tell("the end")
                trees.finish()
        finally:
            trees.close()
            count = type(self).count
            count.programs += 1
            count.judged += trees.judged
            count.loads += sum(plant.lives for plant in trees.plants)


def context_suite(
    *, examples: int | None = None, is_canary: bool = False, count: Count | None = None
) -> Count:
    """Run random plugin trees, as many as the Hypothesis profile says, and return their count.

    Args:
        examples: how many programs, instead.
        is_canary: the programs are to find a planted fault: always the same ones, none shortened.
        count: where to count, for a caller that wants to know although a clause does not hold.

    Raises:
        BrokenError: a clause does not hold; the message tells the shortest program that was found.
    """
    count = Count() if count is None else count
    program = type("ContextProgram", (ContextProgram,), {"count": count})
    chosen = program_settings(examples=examples, steps=30, is_canary=is_canary)
    run_state_machine_as_test(program, settings=chosen)
    return count
