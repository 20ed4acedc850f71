"""Every case can fail: under a fault of its own kind, the same scenarios find something."""

import re
from pathlib import Path
from typing import Final

import pytest

from statemachine.conformance.stage.schedules import search

from . import (
    async_faults,
    part_faults,
    plugin_faults,
    row_faults,
    stored_faults,
    test_asy,
    test_can,
    test_dsp,
    test_idl,
    test_plg,
    test_plg_listeners,
    test_que,
    test_stored,
    test_trn,
    tool_faults,
)
from .cast import Scenes
from .conftest import told_cases
from .planting import FAULTS, planted

_CASE_MARK: Final = re.compile(r"mark\.case\(([^)]*)\)")
_CASE_ID: Final = re.compile(r"CASE-\d{3}")

# Imported for what they list.
_FAULTY: Final = (row_faults, part_faults, plugin_faults, async_faults, tool_faults, stored_faults)
_MODULES: Final = (
    test_asy,
    test_can,
    test_que,
    test_idl,
    test_dsp,
    test_plg,
    test_plg_listeners,
    test_trn,
    test_stored,
)

TEETH: Final[dict[str, tuple[str, ...]]] = {
    "CASE-001": ("cancel-at-rest-is-remembered",),
    "CASE-002": ("queue-survives-a-cancel",),
    "CASE-004": ("nobody-is-interrupted", "stop-overlooked"),
    "CASE-006": ("reason-lost", "queue-survives-a-cancel"),
    "CASE-007": ("queue-survives-a-cancel", "cancel-releases"),
    "CASE-010": (
        "idle-between",
        "replacement-forgotten",
        "queue-survives-a-cancel",
        "dispose-drops-silently",
    ),
    "CASE-012": ("sticky-marker", "reason-lost"),
    "CASE-013": ("abort-over-error",),
    "CASE-015": ("steering-while-cancelled", "replacement-forgotten"),
    "CASE-017": ("no-grace", "teardown-does-not-wait"),
    "CASE-018": ("prompts-joined",),
    "CASE-020": ("no-grace",),
    "CASE-021": ("calls-not-closed",),
    "CASE-023": ("said-never-to-have-run", "every-failure-an-interruption"),
    "CASE-024": ("the-tool-names-its-call", "any-answer-is-taken"),
    "CASE-025": ("injected-at-once",),
    "CASE-028": ("half-a-reply-recorded",),
    "CASE-029": ("half-a-reply-recorded",),
    "CASE-031": ("steering-not-looked-for", "replacement-forgotten"),
    "CASE-032": ("steering-wakes-nobody",),
    "CASE-034": ("steering-dropped-silently", "steering-twice"),
    "CASE-036": ("steering-dropped-silently",),
    "CASE-037": ("failed-prompt-again", "replacement-forgotten"),
    "CASE-039": ("messages-glued", "prompts-joined"),
    "CASE-040": ("steering-dropped-silently", "reason-lost"),
    "CASE-041": ("closed-while-unwinding", "replacement-forgotten"),
    "CASE-042": ("last-message-wins",),
    "CASE-046": ("the-last-prompt-comes-back",),
    "CASE-048": ("injection-never-flushed", "injection-asks-the-model", "late-wait-hangs"),
    "CASE-049": ("queue-survives-a-cancel", "idle-not-announced", "turn-without-a-message"),
    "CASE-051": ("early-release",),
    "CASE-052": ("replacement-releases",),
    "CASE-053": ("parking-without-release", "queue-survives-a-cancel"),
    "CASE-057": ("late-wait-hangs",),
    "CASE-058": ("replacement-forgotten", "unopened-batch-lost"),
    "CASE-059": ("an-interrupted-turn-is-left-open",),
    "CASE-061": ("nobody-is-interrupted", "stop-overlooked"),
    "CASE-063": ("second-dispose-returns-at-once",),
    "CASE-065": ("detached-before-it-is-stored",),
    "CASE-069": ("nothing-is-reserved",),
    "CASE-071": ("dispose-interrupts-nobody", "teardown-does-not-wait"),
    "CASE-072": ("dead-fibers-register",),
    "CASE-073": ("end-not-announced", "late-effects-forgotten"),
    "CASE-077": ("disposed-accepts", "dispose-drops-silently"),
    "CASE-120": ("dead-fibers-register",),
    "CASE-121": ("late-effects-forgotten",),
    "CASE-123": ("a-restart-keeps-the-old-configuration",),
    "CASE-125": ("failed-for-good", "refused-and-unloaded"),
    "CASE-126": ("one-listener-starves-the-others",),
    "CASE-128": ("announced-early",),
    "CASE-130": ("old-listeners-live",),
    "CASE-132": ("a-failing-disposer-breaks-the-chain",),
    "CASE-156": ("answer-beats-cancel",),
    "CASE-159": ("owed-flush-not-kept",),
    "CASE-160": ("teardown-cancelled-with-its-waiter",),
    "CASE-161": ("cancellation-not-contained",),
    "CASE-163": ("wait-swallows-its-cancellation", "strangers-taken-for-nobody"),
    "CASE-165": ("session-taken-twice",),
}
"""Case to the faults that its scenarios must find."""


def scenes_of(case: str) -> Scenes:
    """Return the scenarios that retell a case."""
    name = f"case_{case.removeprefix('CASE-')}"
    (tell,) = [vars(module)[name] for module in _MODULES if name in vars(module)]
    scenes: Scenes = tell()
    return scenes


def finds(case: str, number: int, fault: str) -> bool:
    """Return whether one scenario of a case fails under a fault, without running out of moves."""
    with planted(fault):
        return search(scenes_of(case)[number], deviations=1).failure is not None


@pytest.mark.parametrize(
    ("case", "fault"), [(case, fault) for case, faults in TEETH.items() for fault in faults]
)
def test_a_case_finds_the_fault_that_it_is_about(case: str, fault: str) -> None:
    """One of the scenarios of the case fails where the runtime does what was reported."""
    assert any(finds(case, number, fault) for number in range(len(scenes_of(case))))


@pytest.mark.parametrize("case", TEETH)
def test_no_scenario_of_a_case_is_idle(case: str) -> None:
    """Each of the scenarios fails under one of the faults, not only the first."""
    for number, scene in enumerate(scenes_of(case)):
        assert any(finds(case, number, fault) for fault in TEETH[case]), scene.name


def retold_elsewhere() -> set[str]:
    """Return the cases that need more than a schedule: a real process, a pipe, a signal."""
    here = Path(__file__).parent
    texts = (path.read_text(encoding="utf-8") for path in here.parent.rglob("test_*.py"))
    marks = (mark for text in texts for mark in _CASE_MARK.findall(text))
    return {case for mark in marks for case in _CASE_ID.findall(mark)}


def test_every_case_that_is_told_has_a_scenario_and_a_fault() -> None:
    """The specification and the tests tell the same cases."""
    told = set(told_cases())
    assert set(TEETH) <= told
    assert told - set(TEETH) <= retold_elsewhere()


def test_every_fault_belongs_to_a_case() -> None:
    """A fault that no case needs is a fault that nobody looks at."""
    assert {fault for faults in TEETH.values() for fault in faults} == set(FAULTS)


def test_a_fault_is_taken_out_again() -> None:
    """Behind the block everything is as it was."""
    with planted("no-grace"), planted("cancel-releases"):
        pass
    assert all(
        search(scene, deviations=0).holds
        for case in ("CASE-007", "CASE-017")
        for scene in scenes_of(case)
    )
