"""Every reachable shape of a machine, and whether what must hold does.

The explorer posts every input to every shape that it finds, breadth first, to the very machine
that the runtime runs. What it keeps is a graph: shapes, edges, and for each shape the edge by
which it was found first, so that every counterexample is a shortest one and can be told as a story.

An *always* is looked up on every edge. A *sometimes* is a search for one. An *eventually* is
refuted by a run that never comes there: a component of the graph, closed under what may happen,
in which the driver either takes steps forever or has none to take. A driver that could leave such
a component and never does is not fair, so that run does not count. Steps that change nothing are
not steps.
"""

from .check import LEGAL, NEEDED, TOTAL, Verdict, check, check_premises
from .graph import Exploration, Progress, explore
from .leads_to import leads_to
from .story import Counterexample, told

__all__ = [
    "LEGAL", "NEEDED", "TOTAL", "Counterexample", "Exploration", "Progress", "Verdict", "check",
    "check_premises", "explore", "leads_to", "told",
]  # fmt: skip
