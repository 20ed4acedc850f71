"""Each oracle finds the subject that breaks its claim, and is silent about one that does not."""

from collections.abc import Callable

import pytest

from runtime.subject import RuntimeSubject
from statemachine.conformance.suite.examination import Examination
from statemachine.conformance.suite.oracles import ORACLES
from statemachine.conformance.suite.story import Violation
from tests.conformance.broken import BROKEN, BrokenSubject

PROGRAMS = {broken.program.__name__: broken.program for broken in BROKEN}
NAMED = {broken.fault: broken for broken in BROKEN}


@pytest.mark.parametrize("broken", NAMED.values(), ids=NAMED)
def test_a_broken_subject_dies_of_what_is_broken(broken: BrokenSubject) -> None:
    """The first oracle that speaks is the one whose claim is broken."""
    with pytest.raises(Violation) as caught, Examination(broken.make) as play:
        broken.program(play)
    assert caught.value.invariant == broken.invariant, play.story.numbered()


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_the_same_programs_find_nothing_in_a_sound_subject(
    program: Callable[[Examination], None],
) -> None:
    """What kills the broken subjects is their fault and not the program."""
    with Examination(RuntimeSubject) as play:
        program(play)


def test_every_invariant_that_an_oracle_names_has_a_broken_subject() -> None:
    """No oracle is there for decoration."""
    named = {str(type(oracle).__doc__).split(":")[0] for oracle in ORACLES}
    assert named <= {broken.invariant for broken in BROKEN}


def test_a_story_tells_what_was_done_what_was_expected_and_what_was_seen() -> None:
    """A failure can be read by somebody who has never seen the suite."""
    with Examination(NAMED["cancel does nothing"].make) as play:
        play.create()
        play.send()
        with pytest.raises(Violation) as caught:
            play.cancel(reason="stop")
        told = str(play.tell(caught.value, replay="python -m pytest that"))
    assert "1. play.create('a', 'session of a')" in told
    assert "3. play.cancel('a', 'stop')" in told
    assert "A-24: A `cancel` empties the queued and the steering FIFO" in told
    assert told.endswith("replay: python -m pytest that")
