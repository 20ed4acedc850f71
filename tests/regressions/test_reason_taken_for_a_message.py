"""The suite took the reason of a vote for a message that nobody had given, and called it broken."""

import pytest

from runtime.subject import RuntimeSubject
from statemachine.conformance.suite.examination import Examination


@pytest.mark.clause("B-70", "A-54")
def test_the_reason_of_a_vote_is_no_message_for_the_suite() -> None:
    """It has no acceptance and no fate."""
    with Examination(RuntimeSubject, inside=True) as play:
        play.create("a")
        play.intercept("turn/continue")
        play.send("a")
        play.run_until_quiet()
        play.answer()
        play.answer("continue")
        play.finish()
        assert "continuation" in [each.type for each in play.ledgers["a"].seen.log]
