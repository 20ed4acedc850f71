"""What plugins do while they load and while they unload, as their scripts say."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from attrs import define, frozen

from runtime.announcements import Announcement
from runtime.context import Context, DuplicateServiceError, Token
from runtime.errors import WouldDeadlockError
from tests.conformance.plugin_plants import BoomError, Plant, Resource, Step

if TYPE_CHECKING:
    from tests.conformance.plugin_trees import Trees

__all__ = ["ACTS_MAX", "SAID", "TOKENS", "Acts", "Listening"]

TOKENS: Final[tuple[Token[Any], ...]] = (Token("disk"), Token("net"), Token("bash"))
SAID: Final[Announcement[int]] = Announcement("test/said")
ACTS_MAX: Final = 40


@frozen
class Listening:
    """A listener that a plugin registered."""

    number: int
    plant: Plant
    life: int


@define(eq=False)
class Acts:
    """Does what the script of one plugin says."""

    trees: "Trees"
    plant: Plant

    async def apply(self, context: Context, config: int) -> None:
        """Load, as the script says."""
        self.trees.hold(
            "G-22",
            not self.plant.loading and not self.plant.held,
            self.plant,
            "loads one at a time",
        )
        self.trees.hold(
            "G-36", config == self.plant.config, self.plant, "gets the newest configuration"
        )
        self.plant.applied = config
        self.plant.context = context
        self.plant.lives += 1
        self.plant.effects.clear()
        self.plant.given.clear()
        self.plant.loading += 1
        for index in self.plant.script.inject:
            self.plant.given[index] = context.need(TOKENS[index])
        try:
            for step in self.plant.script.load:
                await self._load_step(context, step)
                self.trees.hold("G-22", context.is_open, self.plant, "may finish its load")
        finally:
            self.plant.loading -= 1

    async def _load_step(self, context: Context, step: Step) -> None:
        if step.act in {"gate", "raise"}:
            await self._may_raise(step)
        elif step.act == "effect":
            await self._set_up(context, step.number)
        elif step.act == "provide":
            self._provide(context, step.number % len(TOKENS))
        elif step.act == "listen":
            self._listen(context, step.number)
        elif step.act in {"child", "await child"}:
            await self._load_child(context, step)
        else:
            await self._act(step)

    async def _may_raise(self, step: Step) -> None:
        name = f"load p{self.plant.number}"
        if step.act == "raise" or await self.trees.stage.gate(name) == "error":
            raise BoomError(name)

    async def _load_child(self, context: Context, step: Step) -> None:
        script = self.plant.script.child
        child = self.trees.load(script, self.plant, context) if script is not None else None
        if child is not None and step.act == "await child":
            await self._await(child.fiber)

    async def _await(self, awaited: Any) -> None:  # noqa: ANN401  # anything awaitable
        try:
            await awaited
        except WouldDeadlockError:
            self.trees.tell("  refused: it would deadlock")
        except Exception as error:  # noqa: BLE001  # a child's failure is not its parent's
            self.trees.tell(f"  the child failed: {error!r}")

    async def _act(self, step: Step) -> None:
        other = self.trees.plant(step.number)
        if other is None or self.trees.acts >= ACTS_MAX:
            return
        self.trees.acts += 1
        self.trees.tell(f"  p{self.plant.number} does {step.act} p{other.number}")
        if step.act == "dispose":
            self.trees.dispose(other)
        elif step.act == "end":
            await self._await(self.trees.dispose(other))
        elif step.act == "restart":
            self.trees.restart(other)
        elif step.act == "emit":
            self.trees.emit()

    def _provide(self, context: Context, index: int) -> None:
        try:
            context.provide(TOKENS[index], (self.plant, self.plant.lives, self.trees.number()))
        except DuplicateServiceError:
            self.trees.tell(f"  p{self.plant.number} finds {TOKENS[index]} taken")

    def _listen(self, context: Context, number: int) -> None:
        key, life = self.trees.number(), self.plant.lives

        def listener(_: int) -> None:
            self.trees.told.append(key)
            self.trees.hold(
                "G-27", context.is_open and self.plant.lives == life, self.plant, "may be told"
            )
            if number % 3 == 0:
                raise BoomError(f"listener {key}")

        context.on(SAID, listener)
        self.trees.listening.append(Listening(key, self.plant, life))

    async def _set_up(self, context: Context, form: int) -> None:
        forms = (self._function, self._generator, self._coroutine, self._slow, self._nested)
        setup = forms[form % len(forms)](context, fails=form >= len(forms))
        try:
            effect = context.effect(setup, name=f"effect {form}")
            self.plant.effects.append(effect)
            if form % 2:
                await effect
        except BoomError:
            self.trees.tell(f"  effect {form} of p{self.plant.number} failed")

    def _function(self, _: Context, *, fails: bool) -> Any:  # noqa: ANN401  # a set-up of any form
        def function() -> Callable[[], object]:
            if fails:
                raise BoomError
            return self._acquire(None)[1]

        return function

    def _generator(self, _: Context, *, fails: bool) -> Any:  # noqa: ANN401  # a set-up of any form
        def generator() -> Iterator[Callable[[], object]]:
            before, disposer = self._acquire(None)
            yield disposer
            before, disposer = self._acquire(before)
            yield disposer
            if fails:
                raise BoomError
            yield self._acquire(before)[1]

        return generator

    def _coroutine(self, _: Context, *, fails: bool) -> Any:  # noqa: ANN401  # a set-up of any form
        async def coroutine() -> Callable[[], object]:
            await self.trees.stage.gate(f"set-up p{self.plant.number}", ("ok",))
            if fails:
                raise BoomError
            return self._acquire(None)[1]

        return coroutine

    def _slow(self, _: Context, *, fails: bool) -> Any:  # noqa: ANN401  # a set-up of any form
        async def generator() -> AsyncIterator[Callable[[], object]]:
            before, disposer = self._acquire(None)
            yield disposer
            await self.trees.stage.gate(f"set-up p{self.plant.number}", ("ok",))
            if fails:
                raise BoomError
            yield self._acquire(before)[1]

        return generator

    def _nested(self, context: Context, *, fails: bool) -> Any:  # noqa: ANN401  # a set-up of any form
        def generator() -> Iterator[Any]:
            before, disposer = self._acquire(None)
            yield disposer
            before, inner = self._acquire(before)
            yield context.effect(lambda: inner, name="inner")
            if fails:
                raise BoomError
            yield self._acquire(before)[1]

        return generator

    def _acquire(self, after: Resource | None) -> tuple[Resource, Callable[[], object]]:
        resource = Resource(self.plant, self.trees.number(), after)
        self.plant.held[resource] = None
        step = self.plant.script.unload
        if step.act in {"nothing", "emit", "dispose", "restart", "boom"} and step.number % 2:
            return resource, lambda: self._release_at_once(resource, step)
        return resource, lambda: self._release(resource, step)

    def _begin_release(self, resource: Resource) -> None:
        self.trees.hold(
            "G-05", not resource.is_going, self.plant, f"lets {resource.number} go once"
        )
        resource.is_going = True
        later = [one for one in self.plant.held if one.after is resource and not one.is_gone]
        self.trees.hold(
            "G-02", not later, self.plant, f"lets go of {resource.number} last in first out"
        )

    def _end_release(self, resource: Resource) -> None:
        resource.is_gone = True
        resource.plant.held.pop(resource, None)

    def _boom(self, resource: Resource) -> BoomError:
        text = f"boom-{resource.number}!"
        self.trees.booms.append(text)
        return BoomError(text)

    def _release_at_once(self, resource: Resource, step: Step) -> None:
        self._begin_release(resource)
        try:
            other = self.trees.plant(step.number)
            if step.act == "boom":
                raise self._boom(resource)
            if other is not None and self.trees.acts < ACTS_MAX:
                self.trees.acts += 1
                acts = {"dispose": self.trees.dispose, "restart": self.trees.restart}
                acts.get(step.act, lambda _: None)(other)
        finally:
            self._end_release(resource)

    async def _release(self, resource: Resource, step: Step) -> None:
        self._begin_release(resource)
        try:
            if step.act == "boom":
                raise self._boom(resource)
            if step.act == "cancelled":
                raise asyncio.CancelledError
            if step.act == "gate":
                if await self.trees.stage.gate(f"unload p{self.plant.number}") == "error":
                    raise self._boom(resource)
            elif step.act != "nothing":
                await self._act(step)
        finally:
            self._end_release(resource)
