"""A session that is kept: its live log, its stored copy, and whoever may write it.

Appends, writes that fail or are done and fail all the same, flushes, crashes, resumes by this and
by another process, disposes, and reloads of the keeper in the middle of a turn. `state` says what
there is, `moves` and `table` what can happen, `safety` and `claims` what must hold; `world` puts
it together, and `view` says what can be seen of it.
"""

from .claims import false_store_variants, store_claims
from .safety import STORE_SAFETY
from .state import Agent, Barrier, Call, Keeper, Kind, Owner, Record, Report, State, Work
from .table import TABLE
from .view import View, store_follower, view_of
from .world import one_process, store_world

__all__ = [
    "STORE_SAFETY", "TABLE", "Agent", "Barrier", "Call", "Keeper", "Kind", "Owner", "Record",
    "Report", "State", "View", "Work", "false_store_variants", "one_process", "store_claims",
    "store_follower", "store_world", "view_of",
]  # fmt: skip
