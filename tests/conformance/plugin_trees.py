"""Trees of plugins that do what they were told, and what has to hold of them at every moment.

Theory. Every plugin runs a script: while it loads it sets up effects, provides, listens, loads
children, waits at gates, raises; its disposers do the same. All that is set up is a resource that
is counted here, so that the tree can be judged without looking into the context: what is held, by
which life of which plugin, in which order it was let go. `judge` runs after every callback.
"""

import logging
from typing import Any, Final

from runtime.context import (
    Context,
    DuplicateServiceError,
    Effect,
    FiberState,
    InactiveError,
    Plugin,
)
from runtime.errors import CallerError
from runtime.teardown import Teardown
from statemachine.conformance.stage.stage import Stage, StageStuck, TooLong
from tests.conformance.plugin_acts import SAID, TOKENS, Acts, Listening
from tests.conformance.plugin_plants import AT_REST, BoomError, BrokenError, Failures, Plant, Script

__all__ = ["Trees"]

PLANTS_MAX: Final = 9


class Trees:
    """An application on a stage, and everything that its plugins have done."""

    def __init__(self) -> None:
        self.stage = Stage()
        self.stage.__enter__()
        self.root = Context.root()
        self.plants: list[Plant] = []
        self.provided: dict[int, tuple[Effect, object]] = {}
        self.withdrawn: list[tuple[Teardown, int, object]] = []
        self.ends: list[Teardown] = []
        self.story: list[str] = []
        self.broken: BrokenError | None = None
        self.acts = 0
        self.judged = 0
        self.booms: list[str] = []
        self.listening: list[Listening] = []
        self.told: list[int] = []
        self._numbers = 0
        self._log = Failures()
        logging.getLogger("quiesce").addHandler(self._log)
        self.stage.loop.monitor = self.judge

    def close(self) -> None:
        """Give everything back."""
        self.stage.loop.monitor = None
        logging.getLogger("quiesce").removeHandler(self._log)
        self.stage.__exit__(None, None, None)

    def number(self) -> int:
        """Return the next number."""
        self._numbers += 1
        return self._numbers

    # -- What is done from outside -----------------------------------------------------------------

    def load(self, script: Script, parent: Plant | None, context: Context) -> Plant | None:
        """Load a plugin, if there are not too many yet."""
        if len(self.plants) >= PLANTS_MAX:
            return None
        plant = Plant(len(self.plants), script, parent, parent.lives if parent else 0)
        plugin = Plugin(
            name=f"p{plant.number}",
            apply=Acts(self, plant).apply,
            inject=tuple(TOKENS[index] for index in script.inject),
        )
        plant.fiber = context.plugin(plugin, 0)
        self.plants.append(plant)
        self.tell(f"p{plant.number} = load {script}")
        return plant

    def plant(self, number: int) -> Plant | None:
        """Return one of the plugins."""
        return self.plants[number % len(self.plants)] if self.plants else None

    def tell(self, line: str) -> None:
        """Add to the story."""
        self.story.append(line)

    def dispose(self, plant: Plant) -> Teardown:
        """Dispose a plugin; it acts at the call."""
        end = plant.fiber.dispose()
        self.ends.append(end)
        state = plant.fiber.state
        self.hold("G-35", state not in (FiberState.PENDING, FiberState.ACTIVE), plant, "is gone")
        is_closed = state is FiberState.LOADING or not plant.has_open_life()
        self.hold("G-35", is_closed, plant, "registers nothing")
        self.hold("G-05", plant.fiber.dispose() is end, plant, "has one end")
        self.emit()
        return end

    def restart(self, plant: Plant) -> Teardown | None:
        """Restart a plugin with another configuration."""
        config = self.number()
        try:
            end = plant.fiber.restart(config)
        except InactiveError:
            return None
        plant.config = config
        self.ends.append(end)
        return end

    def provide(self, index: int) -> None:
        """Provide a service from the root, or withdraw it."""
        provided = self.provided.pop(index, None)
        if provided is not None:
            effect, value = provided
            end = effect.dispose()
            self.ends.append(end)
            self.withdrawn.append((end, index, value))
            self.hold("G-16", self.root.get(TOKENS[index]) is None, None, "the service is gone")
            return
        value = (None, 0, self.number())
        try:
            self.provided[index] = self.root.provide(TOKENS[index], value), value
        except DuplicateServiceError as error:
            self.hold("G-18", "plugin " in str(error), None, "the provider is named")

    def emit(self) -> None:
        """Announce something and compare who was told with who listens."""
        expected = [
            one.number
            for one in self.listening
            if one.life == one.plant.lives and one.plant.has_open_life()
        ]
        told, self.told = self.told, []
        self.root.emit(SAID, 0)
        heard, self.told = self.told, told
        self.hold("G-27", heard == expected, None, f"{expected} are told, not {heard}")

    def wait(self, name: str, awaited: Any) -> None:  # noqa: ANN401  # anything awaitable
        """Let somebody wait; nobody may wait for ever."""

        async def waits() -> None:
            try:
                await awaited
            except (BoomError, CallerError, LookupError):
                """The load failed."""
            except Exception as error:  # noqa: BLE001  # told by its cause
                self.hold("G-19", "cancelled" in str(error), None, f"known failure: {error!r}")

        self.stage.spawn(waits(), f"{name} {self.number()}")

    # -- What has to hold --------------------------------------------------------------------------

    def hold(self, clause: str, is_so: bool, plant: Plant | None, what: str) -> None:  # noqa: FBT001  # the condition
        """Note the first clause that does not hold; `judge` raises it, out of reach of plugins."""
        if not is_so and self.broken is None:
            who = f"p{plant.number} ({plant.fiber.state}) " if plant is not None else ""
            told = "\n".join(self.story)
            self.broken = BrokenError(f"{clause} does not hold: {who}{what}\n{told}")

    def judge(self) -> None:
        """Check everything that has to hold between two callbacks.

        Raises:
            BrokenError: something does not.
        """
        self.judged += 1
        self.hold("G-24", not self.stage.loop.failures, None, f"{self.stage.loop.failures}")
        self.hold("G-24", not self._log.defects, None, f"no defect: {self._log.defects}")
        for plant in self.plants:
            self._judge_plant(plant)
        self._judge_services()
        if self.broken is not None:
            raise self.broken

    def _judge_plant(self, plant: Plant) -> None:
        fiber, state = plant.fiber, plant.fiber.state
        if state is FiberState.UNLOADING or state in AT_REST:
            self.hold("G-35", not plant.has_open_life(), plant, "registers nothing")
        if plant.was_disposed:
            self.hold("G-21", state is FiberState.DISPOSED, plant, "is disposed for good")
        if state in AT_REST:
            self.hold("G-21", not plant.held, plant, f"holds nothing, not {list(plant.held)}")
            self.hold("G-43", fiber.effects == (), plant, "has an empty tree")
        if state is FiberState.PENDING:
            is_going = plant.parent is not None and not plant.parent.has_open_life()
            self.hold("G-11", bool(fiber.missing) or is_going, plant, "misses a service")
        elif state is FiberState.ACTIVE:
            self._judge_active(plant)
        elif state is FiberState.DISPOSED:
            plant.was_disposed = True
            self.hold("G-21", fiber.dispose().is_done, plant, "has ended")
        if plant.is_orphaned():
            self.hold("G-21", state is FiberState.DISPOSED, plant, "ends with its parent")

    def _judge_active(self, plant: Plant) -> None:
        self.hold("G-22", plant.loading == 0, plant, "has finished its load")
        self.hold("G-36", plant.applied == plant.config, plant, "has the newest configuration")
        for index in plant.script.inject:
            is_same = self.root.get(TOKENS[index]) is plant.given[index]
            self.hold("G-12", is_same, plant, f"has the service {TOKENS[index]} it loaded with")

    def _judge_services(self) -> None:
        for token in TOKENS:
            value = self.root.get(token)
            if value is not None and value[0] is not None:
                plant, life, _ = value
                is_active = plant.fiber.state is FiberState.ACTIVE and plant.lives == life
                self.hold("G-16", is_active, plant, f"provides {token} while it is active")
        for end, index, value in self.withdrawn:
            users = [one for one in self.plants if one.uses(index, value)] if end.is_done else []
            self.hold("G-48", not users, None, f"{TOKENS[index]} is kept for {users}")

    def finish(self) -> None:
        """Let everything happen, judge the rest; dispose the application, judge what is left.

        Raises:
            BrokenError: something does not hold, or somebody waits for ever.
        """
        self._settle()
        for plant in self.plants:
            state = plant.fiber.state
            is_moving = state in (FiberState.LOADING, FiberState.UNLOADING)
            self.hold("G-41", not is_moving, plant, "is at rest")
            has_all = all(self.root.get(TOKENS[index]) for index in plant.script.inject)
            is_late = state is FiberState.PENDING and has_all
            self.hold("G-11", not is_late, plant, "is loaded")
        self.ends.append(self.root.fiber.dispose())
        self._settle()
        reached = all(end.is_done for end in self.ends)
        self.hold("G-41", reached, None, "every end is reached")
        # Every gate was opened, so only a circle would have to be cut by a grace.
        self.hold("G-41", self.stage.now == 0, None, "nothing was left behind")
        self.hold("G-21", self.root.effects == (), None, f"nothing is left: {self.root.effects}")
        for plant in self.plants:
            self.hold("G-21", plant.was_disposed, plant, "is disposed with the application")
        for text in self.booms:
            count = sum(text in line for line in self._log.texts)
            self.hold("G-09", count == 1, None, f"{text} is logged once, not {count} times")
        left = self.stage.pending
        self.hold("G-21", not left, None, f"no task is left: {left}")
        self.judge()

    def _settle(self) -> None:
        try:
            self.stage.settle()
        except (StageStuck, TooLong) as verdict:
            self.hold("G-41", is_so=False, plant=None, what=f"everything comes to rest: {verdict}")
        self.judge()
