"""One client at the bridge: what it asks for, what it is told, and what is left when it goes.

`state` says what there is, `guards` and `moves` what rows are made of, and `table` what can happen.
`safety` says what is never seen, `races` what is, `promises` what comes; `world` puts it together,
and `view` is what can be seen of it from outside.
"""

from .promises import bridge_claims, false_bridge_variants
from .safety import BRIDGE_SAFETY
from .state import Client, Kind, Outcome, Phase, Place, Prompt, Session, Stage, State
from .table import TABLE
from .view import Progress, Told, View, bridge_follower, view_of
from .world import bridge_world

__all__ = [
    "BRIDGE_SAFETY", "TABLE", "Client", "Kind", "Outcome", "Phase", "Place", "Progress", "Prompt",
    "Session", "Stage", "State", "Told", "View", "bridge_claims", "bridge_follower", "bridge_world",
    "false_bridge_variants", "view_of",
]  # fmt: skip
