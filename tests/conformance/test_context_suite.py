"""The random suite of the plugin context, and that a fault planted in the context dies of it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from statemachine.conformance.verdict.parts import merge_parts
from tests.conformance import context_faults
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


FAULTS: Final[dict[Plant, str]] = {
    context_faults.disposers_first_in_first_out: "G-02",
    context_faults.nobody_is_silenced: "G-27",
    context_faults.an_unload_waits_for_nobody: "G-(02|21|48)",
    context_faults.a_dispose_cuts_into_the_load: "G-2",
    context_faults.a_loading_provider_is_available: "G-16",
    context_faults.dependents_are_not_told: "G-12",
    context_faults.a_departing_name_is_free_at_once: "G-48",
    context_faults.circles_are_waited_for: "G-41",
    context_faults.circles_through_others_are_not_seen: "G-41",
    context_faults.a_cancelled_disposer_ends_the_chain: "G-",
    context_faults.a_failed_set_up_is_not_undone: "G-",
    context_faults.a_failed_load_is_not_undone: "G-21",
    context_faults.a_restart_keeps_the_old_configuration: "G-36",
    context_faults.a_restart_while_loading_is_forgotten: "G-36",
    context_faults.a_pending_fiber_is_not_woken: "G-11",
    context_faults.a_child_is_not_the_parents: "G-21",
    context_faults.every_dispose_is_an_end_of_its_own: "G-05",
    context_faults.a_disposed_effect_stays_in_the_tree: "G-(02|43)",
    context_faults.a_failing_disposer_breaks_the_chain: "G-",
}


# What a broken context leaves behind is not what is being tested.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.__name__)
def test_a_planted_fault_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each fault breaks the clause that it is about, within a few hundred programs."""
    plant(monkeypatch)
    with pytest.raises(BrokenError, match=f"^{FAULTS[plant]}"):
        context_suite(examples=400, is_canary=True)
