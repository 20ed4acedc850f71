"""What must hold of the lifecycle, as data: claims with a kind, clauses and an invariant.

`outside` holds what calls from outside may do, `turns` what happens on the way of a turn, and
`liveness` what must be possible and what must come. The explorer checks all of them on every
reachable shape.
"""

from .kinds import (
    Always,
    Assumption,
    Attempt,
    Edge,
    Eventually,
    Kind,
    Property,
    Sometimes,
    always,
)  # fmt: skip
from .liveness import EVENTUALITIES, FALSE_VARIANTS, MODEL_STOPS, POSSIBILITIES
from .outside import OUTSIDE_PROPERTIES
from .turns import TURN_PROPERTIES

__all__ = [
    "EVENTUALITIES",
    "FALSE_VARIANTS",
    "MODEL_STOPS",
    "POSSIBILITIES",
    "PROPERTIES",
    "SAFETY",
    "Always",
    "Assumption",
    "Attempt",
    "Edge",
    "Eventually",
    "Kind",
    "Property",
    "Sometimes",
    "always",
]

SAFETY: tuple[Always, ...] = (*OUTSIDE_PROPERTIES, *TURN_PROPERTIES)
"""Every *always*."""

PROPERTIES: tuple[Property, ...] = (*SAFETY, *POSSIBILITIES, *EVENTUALITIES)
"""Everything that must hold."""
