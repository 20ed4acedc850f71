"""Interceptors and the bodies of tools were entered although the turn had been stopped meanwhile.

Their task had been made and had not taken its first step when the stop came.
"""

import pytest

from runtime.subject import RuntimeSubject
from statemachine.conformance.suite.examination import SEAMS, Examination

MOVES_MAX = 60


@pytest.mark.clause("B-125", "B-134", "B-11")
@pytest.mark.parametrize("stop", ["cancel", "dispose"])
@pytest.mark.parametrize("seam", SEAMS)
def test_nobody_is_asked_when_the_stop_comes_before_their_task_has_run(
    seam: str, stop: str
) -> None:
    """A stop before any callback of a turn finds nobody who is asked behind it."""
    moves = 0
    while moves < MOVES_MAX and _is_stopped_in_time(seam, stop, moves):
        moves += 1
    assert 0 < moves < MOVES_MAX, "the turn was never stopped, or never came to the seam"


def _is_stopped_in_time(seam: str, stop: str, moves: int) -> bool:
    """Stop a turn after so many callbacks; return whether nobody had been asked by then."""
    with Examination(RuntimeSubject, inside=True) as play:
        play.create("a")
        # The tool is there, and the seam has an interceptor.
        play.intercept("tool/body")
        play.intercept(seam)
        play.send("a")
        for _ in range(moves):
            if not play.stage.tick():
                play.open_gate(0, "call")
        is_in_time = seam not in play.ledgers["a"].heard
        play.do(stop, "a")
        # Whoever is asked from here on breaks INV-05.
        play.finish()
    return is_in_time
