"""The random suite of the plugin context, and that a fault planted in the context dies of it."""
# ruff: noqa: SLF001  # faults are planted inside

import json
from collections.abc import Awaitable, Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

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
from statemachine.conformance.verdict.parts import merge_parts
from tests.conformance.context_suite import Count, context_suite
from tests.conformance.plugin_plants import BrokenError

Plant = Callable[[pytest.MonkeyPatch], None]


@pytest.mark.clause("G-02", "G-04", "G-05", "G-06", "G-08", "G-09", "G-10", "G-11", "G-12", "G-13")
@pytest.mark.clause("G-16", "G-18", "G-19", "G-21", "G-22", "G-24", "G-27", "G-35", "G-36", "G-41")
@pytest.mark.clause("G-43", "G-47", "G-48")
def test_plugin_trees_hold_in_every_interleaving(parts_directory: Path | None) -> None:
    """Whatever is loaded, unloaded, provided, withdrawn, raised and cancelled, in any order."""
    why, count = None, Count()
    try:
        context_suite(count=count)
    except BrokenError as error:
        why = str(error)
        raise
    finally:
        if parts_directory is not None:
            (parts_directory / "context.json").write_text(part(count, why), encoding="utf-8")
    assert count.loads > 0
    assert count.judged > count.programs


def part(count: Count, why: str | None) -> str:
    """Tell the verdict what was looked at: plugin trees end, once, and for all callers alike."""
    check = {
        "name": "plugin trees: every end is reached, by all who joined it",
        "kind": "always",
        "explored": count.judged,
        "why": why,
    }
    suite = {"name": "context", "examples": count.programs, "judged": count.judged}
    return json.dumps(
        {"criteria": [{"id": "INV-12", "checks": [check]}], "suites": [suite]}, indent=2
    )


def test_the_part_of_the_verdict_can_be_read(tmp_path: Path) -> None:
    """What is written has the form that the verdict reads."""
    (tmp_path / "context.json").write_text(part(Count(judged=3), "no"), encoding="utf-8")
    (check,) = merge_parts(tmp_path).checks
    assert (check.criterion, check.explored, check.why) == ("INV-12", 3, "no")


# -- Planted faults --------------------------------------------------------------------------------


def _disposers_first_in_first_out(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(effects_module, "reversed", iter, raising=False)


def _nobody_is_silenced(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Subscription, "is_live", property(lambda self: self._ending is None))


def _an_unload_waits_for_nobody(patch: pytest.MonkeyPatch) -> None:
    async def outlast(self: endings.Findings, _: str, awaited: Awaitable[object]) -> None:
        if not isinstance(awaited, endings.Ending):
            await attempt_awaited(endings.Findings._keep(self, awaited))

    patch.setattr(endings.Findings, "outlast", outlast)


def _a_dispose_cuts_into_the_load(patch: pytest.MonkeyPatch) -> None:
    advance = Fiber.advance

    def impatient(self: Fiber) -> None:
        if self._ending is not None and self.state is FiberState.LOADING:
            self._phase = None
        advance(self)

    patch.setattr(Fiber, "advance", impatient)


def _a_loading_provider_is_available(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(lives.Life, "is_active", property(lambda self: self.is_open))


def _dependents_are_not_told(patch: pytest.MonkeyPatch) -> None:
    def depart(self: services.Provision) -> None:
        self.is_departing = True

    patch.setattr(services.Provision, "depart", depart)


def _a_departing_name_is_free_at_once(patch: pytest.MonkeyPatch) -> None:
    def withdraw(self: services.Provision) -> None:
        self.depart()
        self._services.remove(self)

    patch.setattr(services.Provision, "withdraw", withdraw)


def _circles_are_waited_for(patch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def noted(*_: object) -> Any:  # noqa: ANN401  # a generator
        yield

    patch.setattr(endings.Waits, "noted", noted)


def _circles_through_others_are_not_seen(patch: pytest.MonkeyPatch) -> None:
    def blockers(_: endings.Waits, own_tasks: Callable[[], endings.Tasks]) -> set[object]:
        return {*own_tasks()}

    patch.setattr(endings.Waits, "_blockers", blockers)


def _a_cancelled_disposer_ends_the_chain(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(endings, "attempt_uncut", attempt_awaited)
    patch.setattr(guests, "attempt_uncut", attempt_awaited)


def _a_failed_set_up_is_not_undone(patch: pytest.MonkeyPatch) -> None:
    def roll_back(self: Effect) -> endings.Ending:
        self._parts.clear()
        self._is_up = True
        end = self.dispose()
        assert isinstance(end, endings.Ending)
        return end

    patch.setattr(Effect, "_roll_back", roll_back)


def _a_failed_load_is_not_undone(patch: pytest.MonkeyPatch) -> None:
    async def load(self: Fiber, life: lives.Life) -> None:
        error = await guests.attempt_uncut(self._apply(life))
        if error is not None:
            life.close()
            life.effects.clear()
            await self._unload(life)
            self._fail(error)

    patch.setattr(Fiber, "_load", load)


def _a_restart_keeps_the_old_configuration(patch: pytest.MonkeyPatch) -> None:
    restart = Fiber.restart
    patch.setattr(Fiber, "restart", lambda self, _config=None: restart(self, self._raw))


def _a_restart_while_loading_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    load = Fiber._load

    async def forgetful(self: Fiber, life: lives.Life) -> None:
        await load(self, life)
        self._is_stale = False

    patch.setattr(Fiber, "_load", forgetful)


def _a_pending_fiber_is_not_woken(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(services.Services, "inject", lambda *_: None)


def _a_child_is_not_the_parents(patch: pytest.MonkeyPatch) -> None:
    add = lives.Life.add

    def add_effects_only(self: lives.Life, part: Part) -> None:
        if not isinstance(part, Fiber):
            add(self, part)

    patch.setattr(lives.Life, "add", add_effects_only)


def _every_dispose_is_an_end_of_its_own(patch: pytest.MonkeyPatch) -> None:
    dispose = Fiber.dispose

    def forgetful(self: Fiber) -> object:
        self._ending = None if self.state is not FiberState.DISPOSED else self._ending
        return dispose(self)

    patch.setattr(Fiber, "dispose", forgetful)


def _a_disposed_effect_stays_in_the_tree(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(lives.Life, "drop", lambda *_: None)


def _a_failing_disposer_breaks_the_chain(patch: pytest.MonkeyPatch) -> None:
    run = Effect._run_disposers

    def breakable(self: Effect, findings: endings.Findings) -> object:
        if findings.failed:
            self._parts.clear()
        return run(self, findings)

    patch.setattr(Effect, "_run_disposers", breakable)


FAULTS: Final[dict[Plant, str]] = {
    _disposers_first_in_first_out: "G-02",
    _nobody_is_silenced: "G-27",
    _an_unload_waits_for_nobody: "G-(02|21|48)",
    _a_dispose_cuts_into_the_load: "G-2",
    _a_loading_provider_is_available: "G-16",
    _dependents_are_not_told: "G-12",
    _a_departing_name_is_free_at_once: "G-48",
    _circles_are_waited_for: "G-41",
    _circles_through_others_are_not_seen: "G-41",
    _a_cancelled_disposer_ends_the_chain: "G-",
    _a_failed_set_up_is_not_undone: "G-",
    _a_failed_load_is_not_undone: "G-21",
    _a_restart_keeps_the_old_configuration: "G-36",
    _a_restart_while_loading_is_forgotten: "G-36",
    _a_pending_fiber_is_not_woken: "G-11",
    _a_child_is_not_the_parents: "G-21",
    _every_dispose_is_an_end_of_its_own: "G-05",
    _a_disposed_effect_stays_in_the_tree: "G-(02|43)",
    _a_failing_disposer_breaks_the_chain: "G-",
}


# What a broken context leaves behind is not what is being tested.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.__name__.strip("_"))
def test_a_planted_fault_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each fault breaks the clause that it is about, within a few hundred programs."""
    plant(monkeypatch)
    with pytest.raises(BrokenError, match=f"^{FAULTS[plant]}"):
        context_suite(examples=400, is_canary=True)
