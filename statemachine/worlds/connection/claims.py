"""Every claim about connections, requests, registry, sessions and teardowns."""

from statemachine.worlds.claims import Claim

from .promises import promises
from .races import RACES
from .safety import SAFETY

__all__ = ["connection_claims"]


def connection_claims(slots: int) -> tuple[Claim, ...]:
    """Return every claim about a connection world with so many slots."""
    return (*SAFETY, *RACES, *promises(slots))
