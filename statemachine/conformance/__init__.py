"""Prove it of any runtime: the stage, the suites, the verdict.

What a runtime needs to become a subject is re-exported here and needs no extra. `lifecycle_suite`
needs Hypothesis, which the extra `verify` brings, and is imported when it is asked for.
"""

from typing import TYPE_CHECKING, Any

from statemachine.conformance.stage.stage import Stage, StageError
from statemachine.conformance.suite.refinement import Projection

from .subject import Dropped, MakeSubject, Observation, Offer, Seen, Subject

if TYPE_CHECKING:
    from statemachine.conformance.suite.suite import lifecycle_suite

__all__ = [
    "Dropped",
    "MakeSubject",
    "Observation",
    "Offer",
    "Projection",
    "Seen",
    "Stage",
    "StageError",
    "Subject",
    "lifecycle_suite",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  # whatever has that name
    if name != "lifecycle_suite":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from statemachine.conformance.suite.suite import lifecycle_suite  # noqa: PLC0415  # only whoever asks for it needs the extra

    return lifecycle_suite
