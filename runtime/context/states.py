"""Where a fiber can be in its life."""

from enum import StrEnum
from typing import Final

__all__ = ["AT_REST", "KEEP_CONFIG", "FiberState"]


class FiberState(StrEnum):
    """Where a fiber is in its life."""

    PENDING = "pending"
    """It waits for a service that it injects."""
    LOADING = "loading"
    ACTIVE = "active"
    UNLOADING = "unloading"
    DISPOSED = "disposed"
    FAILED = "failed"
    """Its load raised, and was undone; a restart tries again."""


AT_REST: Final = frozenset(
    {FiberState.PENDING, FiberState.ACTIVE, FiberState.DISPOSED, FiberState.FAILED}
)
"""Where nothing is under way."""


class _KeepConfig:
    """The type of `KEEP_CONFIG`."""


KEEP_CONFIG: Final = _KeepConfig()
"""Given to `restart` for the configuration that the fiber has."""
