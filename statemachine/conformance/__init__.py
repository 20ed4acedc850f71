"""Prove it of any runtime: the stage, the suites, the verdict.

What a runtime needs to become a subject is re-exported here and needs no extra. The suites need
Hypothesis, which the extra `verify` brings.
"""

from .refinement import Projection
from .stage import Stage, StageError
from .subject import Dropped, MakeSubject, Observation, Offer, Seen, Subject

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
]
