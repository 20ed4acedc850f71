"""The order and the fate of messages, explored beside the shape.

`contents` obeys the commands of a decision on labels; `exploration` visits every reachable pair of
a shape and such contents.
"""

from .contents import CLAIMS, Act, BrokenClaimError, Contents, Label, obey
from .exploration import LABELLED_CLAIMS, WAITERS_MAX, Labelled, explore_labelled

__all__ = [
    "CLAIMS", "LABELLED_CLAIMS", "WAITERS_MAX", "Act", "BrokenClaimError", "Contents", "Label",
    "Labelled", "explore_labelled", "obey",
]  # fmt: skip
