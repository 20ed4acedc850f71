"""A model that runs beside the driver was asked although the turn had been stopped meanwhile.

Its task had been made and had not taken its first step when the cancel came.
"""

from functools import partial

import pytest

from runtime.subject import RuntimeSubject
from statemachine.conformance.suite.examination import Examination


@pytest.mark.clause("B-134", "B-16")
@pytest.mark.parametrize("stop", ["cancel", "dispose"])
def test_no_model_is_asked_when_the_stop_comes_before_its_task_has_run(stop: str) -> None:
    """Whoever works beside the driver looks at the signal before it begins."""
    with Examination(partial(RuntimeSubject, cooperative=False), inside=True) as play:
        play.create("a")
        play.send("a")
        play.tick(1)
        play.do(stop, "a")
        play.run_until_quiet()
        assert not [gate for gate in play.stage.gates.open_gates if gate.name == "model"]
        play.finish()
