"""Faults in the plugin context, each planted for one test."""
# ruff: noqa: SLF001  # faults are planted inside

from collections.abc import Awaitable, Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from runtime.containment import attempt_awaited
from runtime.context import (
    Effect,
    Fiber,
    FiberState,
    Subscription,
    endings,
    guests,
    lives,
    services,
)
from runtime.context import effects as effects_module
from runtime.context.parts import Part

if TYPE_CHECKING:
    import asyncio

__all__ = [
    "a_cancelled_disposer_ends_the_chain",
    "a_child_is_not_the_parents",
    "a_departing_name_is_free_at_once",
    "a_dispose_cuts_into_the_load",
    "a_disposed_effect_stays_in_the_tree",
    "a_failed_load_is_not_undone",
    "a_failed_set_up_is_not_undone",
    "a_failing_disposer_breaks_the_chain",
    "a_loading_provider_is_available",
    "a_pending_fiber_is_not_woken",
    "a_restart_keeps_the_old_configuration",
    "a_restart_while_loading_is_forgotten",
    "an_unload_waits_for_nobody",
    "circles_are_waited_for",
    "circles_through_others_are_not_seen",
    "dependents_are_not_told",
    "disposers_first_in_first_out",
    "every_dispose_is_an_end_of_its_own",
    "nobody_is_silenced",
]


def disposers_first_in_first_out(patch: pytest.MonkeyPatch) -> None:
    """The disposers of an effect run in the order in which they came."""
    patch.setattr(effects_module, "reversed", iter, raising=False)


def nobody_is_silenced(patch: pytest.MonkeyPatch) -> None:
    """A listener is called until it is closed, also while its plugin unloads."""
    patch.setattr(Subscription, "is_live", property(lambda self: self._ending is None))


def an_unload_waits_for_nobody(patch: pytest.MonkeyPatch) -> None:
    """An end begins the ends of its parts and does not await them."""

    async def outlast(self: endings.Findings, _: str, awaited: Awaitable[object]) -> None:
        if not isinstance(awaited, endings.Ending):
            await attempt_awaited(endings.Findings._keep(self, awaited))

    patch.setattr(endings.Findings, "outlast", outlast)


def a_dispose_cuts_into_the_load(patch: pytest.MonkeyPatch) -> None:
    """Who is disposed while it loads unloads at once."""
    advance = Fiber.advance

    def impatient(self: Fiber) -> None:
        if self._ending is not None and self.state is FiberState.LOADING:
            self._phase = None
        advance(self)

    patch.setattr(Fiber, "advance", impatient)


def a_loading_provider_is_available(patch: pytest.MonkeyPatch) -> None:
    """A service is there before its provider is active."""
    patch.setattr(lives.Life, "is_active", property(lambda self: self.is_open))


def dependents_are_not_told(patch: pytest.MonkeyPatch) -> None:
    """A service goes, and nobody hears of it."""

    def depart(self: services.Provision) -> None:
        self.is_departing = True

    patch.setattr(services.Provision, "depart", depart)


def a_departing_name_is_free_at_once(patch: pytest.MonkeyPatch) -> None:
    """A name may be taken while its service is still in use."""

    def withdraw(self: services.Provision) -> None:
        self.depart()
        self._services.remove(self)

    patch.setattr(services.Provision, "withdraw", withdraw)


def circles_are_waited_for(patch: pytest.MonkeyPatch) -> None:
    """Nobody looks whether a wait would close a circle."""

    @contextmanager
    def noted(*_: object) -> Any:  # noqa: ANN401  # a generator
        yield

    patch.setattr(endings.Waits, "noted", noted)


def circles_through_others_are_not_seen(patch: pytest.MonkeyPatch) -> None:
    """Only who waits for himself is seen."""

    def blockers(_: endings.Waits, own_tasks: Callable[[], endings.Tasks]) -> set[object]:
        return {*own_tasks()}

    patch.setattr(endings.Waits, "_blockers", blockers)


def a_cancelled_disposer_ends_the_chain(patch: pytest.MonkeyPatch) -> None:
    """A cancellation is no failure like another."""
    patch.setattr(endings, "attempt_uncut", attempt_awaited)
    patch.setattr(guests, "attempt_uncut", attempt_awaited)
    ended = endings.Work._ended

    def give_up(work: endings.Work, task: "asyncio.Task[None]") -> None:
        if not task.cancelled():
            ended(work, task)

    patch.setattr(endings.Work, "_ended", give_up)


def a_failed_set_up_is_not_undone(patch: pytest.MonkeyPatch) -> None:
    """What an effect had set up when it failed stays."""

    def roll_back(self: Effect) -> endings.Ending:
        self._parts.clear()
        self._is_up = True
        end = self.dispose()
        assert isinstance(end, endings.Ending)
        return end

    patch.setattr(Effect, "_roll_back", roll_back)


def a_failed_load_is_not_undone(patch: pytest.MonkeyPatch) -> None:
    """What a plugin had set up when its load failed stays."""

    async def load(self: Fiber, life: lives.Life) -> None:
        error = await guests.attempt_uncut(self._apply(life))
        if error is not None:
            life.close()
            life.effects.clear()
            await self._unload(life)
            self._fail(error)

    patch.setattr(Fiber, "_load", load)


def a_restart_keeps_the_old_configuration(patch: pytest.MonkeyPatch) -> None:
    """A restart applies what was applied before."""
    restart = Fiber.restart
    patch.setattr(Fiber, "restart", lambda self, _config=None: restart(self, self._raw))


def a_restart_while_loading_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    """A restart counts only for a plugin that is loaded."""
    load = Fiber._load

    async def forgetful(self: Fiber, life: lives.Life) -> None:
        await load(self, life)
        self._is_stale = False

    patch.setattr(Fiber, "_load", forgetful)


def a_pending_fiber_is_not_woken(patch: pytest.MonkeyPatch) -> None:
    """Nobody tells who waits that a service has come."""
    patch.setattr(services.Services, "inject", lambda *_: None)


def a_child_is_not_the_parents(patch: pytest.MonkeyPatch) -> None:
    """A child plugin belongs to nobody."""
    add = lives.Life.add

    def add_effects_only(self: lives.Life, part: Part) -> None:
        if not isinstance(part, Fiber):
            add(self, part)

    patch.setattr(lives.Life, "add", add_effects_only)


def every_dispose_is_an_end_of_its_own(patch: pytest.MonkeyPatch) -> None:
    """Each call of dispose begins an end."""
    dispose = Fiber.dispose

    def forgetful(self: Fiber) -> object:
        self._ending = None if self.state is not FiberState.DISPOSED else self._ending
        return dispose(self)

    patch.setattr(Fiber, "dispose", forgetful)


def a_disposed_effect_stays_in_the_tree(patch: pytest.MonkeyPatch) -> None:
    """What has ended is still held."""
    patch.setattr(lives.Life, "drop", lambda *_: None)


def a_failing_disposer_breaks_the_chain(patch: pytest.MonkeyPatch) -> None:
    """The disposers behind one that failed are left out."""
    run = Effect._run_disposers

    def breakable(self: Effect, findings: endings.Findings) -> object:
        if findings.failed:
            self._parts.clear()
        return run(self, findings)

    patch.setattr(Effect, "_run_disposers", breakable)
