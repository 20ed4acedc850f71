"""One connection, and every agent that it, or a program beside it, brings to life.

`state` says what there is, `guards` and `moves` what rows are made of, and `table` what can happen.
`safety` says what is never seen, `races` what is, `promises` what comes; `world` puts it together.
"""

from .claims import connection_claims
from .promises import PREMISE, false_variants
from .safety import SAFETY
from .state import Asked, Caller, Connection, End, Fiber, Phase, Slot, State
from .table import EVENTS, TABLE
from .view import View, connection_follower, view_of
from .world import connection_world, one_client

__all__ = [
    "EVENTS", "PREMISE", "SAFETY", "TABLE", "Asked", "Caller", "Connection", "End", "Fiber",
    "Phase", "Slot", "State", "View", "connection_claims", "connection_follower",
    "connection_world", "false_variants", "one_client", "view_of",
]  # fmt: skip
