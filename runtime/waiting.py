"""Who may not wait: nobody waits for something that waits for him."""

import asyncio
from collections.abc import Collection
from typing import Any

from .errors import WouldDeadlockError

__all__ = ["check_outside"]


def check_outside(
    own_tasks: Collection[asyncio.Task[Any] | None], refused: str, instead: str
) -> None:
    """Refuse a wait on one of the tasks that what is awaited has to wait for itself.

    Args:
        own_tasks: the tasks that it waits for.
        refused: what is awaited, and whose turn that is, for the message.
        instead: what the caller can do.

    Raises:
        WouldDeadlockError: the current task is one of them.

    Clauses: A-68
    """
    if asyncio.current_task() in own_tasks:
        raise WouldDeadlockError(
            f"{refused} refused inside its own turn, which would have to end first: {instead}"
        )
