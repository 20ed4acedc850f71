"""Found by the hunt: the suite expected `aborted` of a turn whose only prompt was blocked."""

import pytest

from runtime.subject import RuntimeSubject
from statemachine.conformance.suite.examination import Examination


@pytest.mark.clause("B-12", "B-96")
def test_a_turn_that_is_cancelled_and_then_blocked_is_rejected() -> None:
    """The interceptor of its only prompt cancels first; a rejection wins over a cancel."""
    with Examination(RuntimeSubject, inside=True) as play:
        play.create("a", "session of a")
        play.intercept("prompt/submit", "cancel")
        play.send("a")
        play.run_until_quiet()
        play.open_gate(0, "block")
        play.finish()
