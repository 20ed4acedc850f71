"""The machine among its surroundings: worlds, explored exhaustively.

One agent alone is small enough to be visited in every shape. What surrounds it - a registry and a
session store, requests that wait, fibers that unload, a client that goes - races with it, and races
are where things are lost. A world is that surrounding as a value and a table of rows, explored as
the machine is: every state, every step, an *eventually* under the fairness of tasks alone.

`rows` and `world` say what a world is, `claims` what may be claimed of one, `exploration`,
`fairness` and `check` judge it. `driver` is what all of them see of the machine, `catalogue`
examines all of them, and `agreement` compares a runtime with one. `connection` is the world of
loads, closes and teardowns, `jobs` the one of background jobs and tools that are reloaded, `store`
the one of a session that is kept, `bridge` the one of a client's prompts and of what it is told.
"""

from .agreement import Call, DisagreementError, Follower, Seen, follows
from .catalogue import examine_worlds
from .check import Examined, examine_world, refute
from .claims import Assumption, Claim, Eventually, Everywhere, OnEveryStep, Sometimes
from .driver import Driver, check_driver, seen_as
from .exploration import Explored, explore_world
from .rows import Actor, Event, Guard, Label, Move, Row
from .world import Step, World

__all__ = [
    "Actor", "Assumption", "Call", "Claim", "DisagreementError", "Driver", "Event", "Eventually",
    "Everywhere", "Examined", "Explored", "Follower", "Guard", "Label", "Move", "OnEveryStep",
    "Row", "Seen", "Sometimes", "Step", "World", "check_driver", "examine_world", "examine_worlds",
    "explore_world", "follows", "refute", "seen_as",
]  # fmt: skip
