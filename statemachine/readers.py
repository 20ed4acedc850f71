"""What a command does when whoever reads its output goes away."""

import os
import sys
from collections.abc import Callable

__all__ = ["for_a_reader"]

_LOST_READER = 141
"""What a shell reports of a program that wrote into a closed pipe."""


def for_a_reader(command: Callable[[], int]) -> int:
    """Run a command and return its exit status, also when `| head` has read enough."""
    try:
        status = command()
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still in the buffer would be written at exit, and fail again with a traceback.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _LOST_READER
    return status
