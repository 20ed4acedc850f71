"""What a log takes over from elsewhere: calls left open, odd times, wide sources."""

import attrs
import pytest

from runtime.errors import InvalidRecordError
from tests.unit.test_log import log_of, new_log, prompt, seeded, start_turn


@pytest.mark.clause("D-22", "D-28")
def test_a_seed_may_leave_a_call_unanswered_but_a_log_may_not() -> None:
    """Logs of other writers close such a step, and the next step owes nothing for it."""
    log = new_log()
    start_turn(log)
    position = {"turn": 1, "step": 1}
    log.append("step/start", position)
    call = {"type": "tool-call", "call_id": "k1", "name": "tool", "arguments": "{}"}
    log.append("assistant/message", position | {"content": [call]}, placement="append")
    with pytest.raises(InvalidRecordError, match="no result yet"):
        log.append("step/end", position)
    end = attrs.evolve(log.events[1], seq=3, type="step/end")
    copy = seeded([*log.events, end])
    assert (copy.open_step, copy.unanswered) == (None, ())


def test_time_continues_behind_the_latest_record_of_a_seed() -> None:
    """Its last record need not be the latest: another writer's clock may have been set back."""
    first, *rest = log_of(1)
    log = seeded([attrs.evolve(first, time_ms=9_000), *rest])
    assert start_turn(log).time_ms == 9_000


@pytest.mark.clause("D-15")
def test_a_replacement_may_be_made_from_more_than_it_replaces() -> None:
    """A summary names what it takes away, and whatever else it has read."""
    log = new_log()
    start_turn(log)
    for text in "abc":
        prompt(log, text)
    placement = {"replace": {"start": 2, "end": 2}}
    assert prompt(log, "B", placement=placement, sources=[1, 2]).sources == (1, 2)
    assert [each.text for each in log.session.messages()] == ["a", "B", "c"]
