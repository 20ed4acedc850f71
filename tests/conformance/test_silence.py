"""The ending in which nobody outside answers any more: graces alone bring everything to rest.

A walk leads through every listener point and every window. At one of them the agent is stopped and
the outside falls silent; further stops come at the same instant, or once nothing but timers is
left. Whatever was stopped has to come to rest, and then every agent has to end.
"""

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import pytest

from runtime.limits import DEFAULT_LIMITS
from runtime.subject import RuntimeSubject
from statemachine.conformance.stage.stage import Stage
from statemachine.conformance.suite.examination import POINTS, Examination
from statemachine.conformance.suite.profiles import PROFILES, ProfileName
from statemachine.conformance.suite.rules import MACHINES
from statemachine.conformance.suite.suite import lifecycle_suite

KINDS: Final = {
    "cooperative": partial(RuntimeSubject, cooperative=True),
    "patient": partial(RuntimeSubject, cooperative=False),
}
ONCE: Final = ("cancel", "dispose")
TWICE: Final = (("cancel", "cancel"), ("dispose", "cancel"), ("cancel", "dispose"))
GRACES_MAX: Final = 4
"""An end waits once each for the turn, its flush, owed flushes and the last flush."""

INSTANTS_MIN: Final = 60
"""How many instants the walk has at least."""

Plan = tuple[str, str | None, int]
"""What is done at once, what later, and after how many timers."""
Step = Callable[[], object]


def _walk(play: Examination, *, injects_first: bool = True) -> Iterator[Step]:
    """Yield steps that lead through every point and window, each to be done by the caller.

    What is injected first is a turn of its own, and leaves a flush behind that nobody waits for.
    """
    if injects_first:
        yield play.inject
    yield play.when_idle
    yield play.send
    yield play.run_until_quiet
    yield play.steer
    yield play.inject
    for gate, outcome in (("model", "call"), ("flush", "ok"), ("model", "error"), ("flush", "ok")):
        yield partial(_open, play, gate, outcome)
        yield play.run_until_quiet
    # A turn that was stopped, and its flush.
    yield play.send
    yield play.send
    yield play.run_until_quiet
    yield play.send
    yield partial(play.cancel, "a", "first")
    yield play.send
    yield play.run_until_quiet
    yield partial(_open, play, "flush", "ok")
    yield play.run_until_quiet
    # An end in the middle of a turn.
    yield play.dispose
    yield play.run_until_quiet
    yield partial(_open, play, "flush", "ok")
    yield play.run_until_quiet
    yield play.drain


def _open(play: Examination, name: str, outcome: str) -> None:
    """Open the newest gate of that name."""
    names = [gate.name for gate in play.stage.gates.open_gates]
    if name in names:
        play.open_gate(len(names) - 1 - names[::-1].index(name), outcome)


def _later(play: Examination, stop: str, gap: int) -> None:
    """Stop again once nothing but timers is left, and `gap` of them have fired."""
    play.run_until_quiet()
    for _ in range(gap):
        play.fire_timer()
        play.run_until_quiet()
    play.do(stop, "a")


def _come_to_rest(play: Examination) -> None:
    """Let everything end in silence, and judge how long it took."""
    assert play.stage.is_silent
    play.when_idle()
    silent_s = play.stage.now
    play.drain()
    took_s = play.stage.now - silent_s
    assert took_s <= GRACES_MAX * DEFAULT_LIMITS.abort_grace_s, play.story.numbered()
    assert play.subject.observe("a").status != "cancelled"
    play.finish()


def _plans() -> list[Plan]:
    """Return every sequence of stops, at one instant and apart."""
    plans: list[Plan] = [(stop, None, 0) for stop in ONCE]
    for first, second in TWICE:
        plans.append((f"{first},{second}", None, 0))
        plans += [(first, second, gap) for gap in (0, 1)]
    return plans


@pytest.mark.clause("B-117", "B-118", "B-121", "A-80", "F-17")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("point", POINTS)
def test_a_stop_inside_any_listener_needs_no_answer(point: str, kind: str) -> None:
    """Stopped inside any listener, and answered by nobody from then on, an agent comes to rest."""
    for (first, second, gap), injects_first in itertools.product(_plans(), (False, True)):
        with Examination(KINDS[kind], inside=True) as play:
            play.create("a")
            play.listen(point, f"{first},silence")
            for step in _walk(play, injects_first=injects_first):
                step()
                if play.stage.is_silent:
                    break
            if second is not None:
                _later(play, second, gap)
            _come_to_rest(play)


@pytest.mark.clause("B-117", "B-118", "B-121", "A-80", "F-17")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("plan", _plans(), ids=str)
def test_a_stop_between_any_two_callbacks_needs_no_answer(plan: Plan, kind: str) -> None:
    """Stopped at any instant, and answered by nobody from then on, an agent comes to rest."""
    first, second, gap = plan
    for instant in itertools.count():
        with Examination(KINDS[kind], inside=True) as play:
            play.create("a")
            is_over = not _reach(play, instant)
            play.do(first, "a")
            play.silence()
            if second is not None:
                _later(play, second, gap)
            _come_to_rest(play)
        if is_over:
            break
    assert instant > INSTANTS_MIN, instant


def _reach(play: Examination, instant: int) -> bool:
    """Walk up to an instant, counted in callbacks and acts; return whether there is more."""
    left = instant
    for step in _walk(play):
        is_run = step == play.run_until_quiet
        while not is_run or not play.stage.idle:
            if left == 0:
                return True
            left -= 1
            if not is_run:
                step()
                break
            play.tick()
    return False


@pytest.mark.parametrize("machine", MACHINES)
def test_some_random_programs_end_in_silence_and_most_do_not(machine: str) -> None:
    """Both endings are drawn in every machine, the silent one less often."""
    stages: list[Stage] = []

    class Listed(RuntimeSubject):
        """Says on which stage it was."""

        async def open(self, stage: Stage) -> None:
            """Open, and note the stage."""
            stages.append(stage)
            await super().open(stage)

    suite = lifecycle_suite(Listed, profile=PROFILES[ProfileName.CI], machines=(machine,))
    assert suite.run().holds
    silent = sum(stage.is_silent for stage in stages)
    assert len(stages) / 20 < silent < len(stages) / 2, f"{silent} of {len(stages)}"


def test_what_nobody_stopped_may_wait_for_ever_in_silence() -> None:
    """A turn that runs and is answered by nobody is no fault, until it is stopped."""
    with Examination(RuntimeSubject, inside=True) as play:
        play.create()
        play.send()
        play.when_idle()
        play.silence()
        play.drain()
        assert play.subject.observe("a").status == "running"
        play.finish()


def test_silence_keeps_every_gate_shut() -> None:
    """Once there is silence nothing opens a gate, neither the stage nor a program."""
    with Examination(RuntimeSubject) as play:
        play.create()
        play.send()
        play.run_until_quiet()
        play.silence()
        waiting = play.stage.gates.open_gates
        play.answer()
        play.drain()
        assert play.stage.gates.open_gates == waiting
        assert len(waiting) == 1
        assert not play.stage.can_move()
