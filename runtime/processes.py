"""What the runtime asks of whoever runs processes, and what it is told of them.

The unit is the process group: a command is over when the last member of its group is dead, not when
its shell is.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from attrs import frozen

__all__ = ["Process", "ProcessEvents", "ProcessSpec", "Processes", "Stream"]


class Stream(StrEnum):
    """Where a process writes."""

    STDOUT = "stdout"
    STDERR = "stderr"


@frozen(kw_only=True)
class ProcessSpec:
    """What to start; nothing is added to it and nothing is looked up but the program."""

    arguments: tuple[str, ...]
    workdir: str
    environment: Mapping[str, str]
    stdin: bytes | None = None
    """Written and closed; None is the null device."""


class ProcessEvents(Protocol):
    """Is told what becomes of a process group, each time from a callback of the loop."""

    def received(self, stream: Stream, data: bytes) -> None:
        """Some output, never empty."""

    def closed(self) -> None:
        """Nobody can write to either stream any more; once."""

    def exited(self, exit_code: int | None) -> None:
        """The leader has exited: its code, minus the signal that killed it, None if unknown."""

    def gone(self) -> None:
        """The leader has exited and no other member of the group is alive; once."""


class Process(Protocol):
    """A process that leads a group and a session of its own."""

    def signal(self, number: int) -> None:
        """Signal the whole group; nothing happens once it is gone."""
        ...

    def close(self) -> None:
        """Hand over what was written and not read, and give the pipes back; may be repeated."""
        ...


class Processes(Protocol):
    """Starts processes."""

    def start(self, spec: ProcessSpec, events: ProcessEvents) -> Process:
        """Start one, on the running loop.

        Raises:
            OSError: the system refused; nothing is left behind.
        """
        ...
