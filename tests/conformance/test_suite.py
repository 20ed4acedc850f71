"""The reference runtime under the random suite, from outside and from inside."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from attrs import evolve

from runtime.subject import RuntimeSubject
from statemachine import OUTSIDE_INPUTS, Window
from statemachine.conformance.suite.coverage import coverage_table, unmet
from statemachine.conformance.suite.examination import ACTS, POINTS, Examination
from statemachine.conformance.suite.profiles import PROFILES, Profile, ProfileName
from statemachine.conformance.suite.rules import MACHINES
from statemachine.conformance.suite.suite import SuiteResult, lifecycle_suite
from tests.conformance.broken import CancelForgets

CANDIDATES = Path(__file__).parents[2] / "build" / "regressions"

KINDS = {
    "cooperative": partial(RuntimeSubject, cooperative=True),
    "patient": partial(RuntimeSubject, cooperative=False),
}


@pytest.fixture(scope="session")
def profile(pytestconfig: pytest.Config) -> Profile:
    """Give the profile that the run was started with."""
    chosen = pytestconfig.getoption("--hypothesis-profile", default=None)
    name = chosen or os.environ.get("QUIESCE_PROFILE", "ci")
    found = PROFILES[ProfileName(name)]
    # Eight suites share the time of a profile that has one.
    return found if found.within_s is None else evolve(found, within_s=found.within_s / 8)


INPUTS = ("send", "steer", "inject", "cancel", "dispose", "when_idle", "raise")
WINDOW_INPUTS = tuple(each.value for each in OUTSIDE_INPUTS)


def _told(result: SuiteResult) -> str:
    return "\n".join(
        (
            f"{result.name}: {result.examples} runs, {result.steps} steps, "
            f"{result.decisions} decisions compared, {result.examples_per_second:.0f} runs/s",
            coverage_table(result.points, ("outside", *POINTS), INPUTS),
            coverage_table(result.windows, [each.value for each in Window], WINDOW_INPUTS),
            *(failure.story for failure in result.failures),
        )
    )


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("machine", MACHINES)
def test_the_reference_runtime_holds(machine: str, kind: str, profile: Profile) -> None:
    """No program that was drawn breaks an invariant, and every decision is the machine's."""
    result = lifecycle_suite(
        KINDS[kind],
        level="inside",
        profile=profile,
        machines=(machine,),
        candidates=CANDIDATES,
        name=f"{machine}, {kind}",
        subject_name="runtime.subject:make_subject",
    ).run()
    print(_told(result))  # noqa: T201  # shown when the test fails, or with -s
    assert result.holds, _told(result)
    assert result.decisions > 0


def _full_turn(play: Examination) -> None:
    """Go through every point that there is, as long as nobody interferes."""
    play.create("a")
    play.create("b")
    play.inject("a")
    play.send("a")
    play.when_idle("a")
    play.run_until_quiet()
    play.steer("a")
    for outcome in ("call", "ok", "error", "max-tokens", "ok"):
        for _ in range(2):
            play.open_gate(0, outcome)
            play.run_until_quiet()
    play.send("a")
    play.send("a")
    play.run_until_quiet()
    play.cancel("a", "first")
    play.send("a")
    play.run_until_quiet()
    play.send("a")
    play.dispose("a")
    play.drain()


@pytest.mark.clause("B-126", "B-132", "A-69", "A-70")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("point", POINTS)
def test_every_act_from_inside_every_listener(point: str, kind: str) -> None:
    """Whatever a listener does, wherever it is called, every invariant holds."""
    met: dict[tuple[str, str], int] = {}
    for act in ACTS:
        for agent in ("", "b"):
            with Examination(KINDS[kind], inside=True) as play:
                play.create("a")
                play.listen(point, act, agent)
                _full_turn(play)
                play.finish()
            met |= play.points
    assert unmet(met, [point], INPUTS) == []


def _runs(make: Callable[[], RuntimeSubject], **words: object) -> SuiteResult:
    return lifecycle_suite(make, profile="fast", **words).run()  # type: ignore[arg-type]


def test_a_broken_subject_is_found_shrunk_told_and_written_down(tmp_path: Path) -> None:
    """A failure is a short story that names the clause, and a file that shows it again."""
    result = _runs(CancelForgets, machines=("cancel",), candidates=tmp_path)
    (failure,) = result.failures
    assert failure.invariant == "INV-01"
    assert "A-24" in failure.story
    assert len(failure.script) <= 5, failure.story
    written = Path(failure.candidate).read_text(encoding="utf-8")
    assert all(line in written for line in failure.script)
    assert failure.candidate in failure.replay


def test_a_suite_without_shrinking_finds_what_is_broken_as_well() -> None:
    """Shrinking can be left out, for faults that are only to be found."""
    hasty = evolve(PROFILES[ProfileName.FAST], shrinks=False)
    result = lifecycle_suite(CancelForgets, profile=hasty, machines=("cancel",)).run()
    (failure,) = result.failures
    assert failure.invariant in ("INV-01", "INV-05")
    assert len(failure.script) > 3


def test_a_derandomized_suite_makes_the_same_runs() -> None:
    """Two runs of one profile do and find exactly the same."""
    first, second = (_runs(RuntimeSubject, machines=("all",)) for _ in range(2))
    assert first == second


def test_a_hunt_goes_on_until_its_time_is_over() -> None:
    """A profile with a time makes rounds with fresh seeds until the time is over."""
    hunt = evolve(PROFILES[ProfileName.HUNT], examples=5, within_s=1.0, remembers=False)
    told: list[int] = []
    result = lifecycle_suite(
        RuntimeSubject, profile=hunt, machines=("cancel",), progress=told.append
    ).run()
    assert result.examples > 5
    assert result.holds


def test_what_a_subject_does_not_offer_is_not_asked() -> None:
    """A subject that offers nothing is only sent to, cancelled and disposed."""

    class Bare(RuntimeSubject):
        """Offers nothing."""

        @property
        def offers(self) -> frozenset[object]:  # type: ignore[override]
            """Nothing."""
            return frozenset()

    result = _runs(Bare, machines=("all",))
    asked = {verb for _, verb in result.points}
    assert result.holds, result.failures[0].story
    assert asked == {"send", "cancel", "dispose", "when_idle"}
