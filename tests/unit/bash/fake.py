"""Processes that exist only in a test, and do what it says."""

import asyncio
import signal
from collections.abc import Callable

from attrs import define, field

from runtime.processes import Process, ProcessEvents, ProcessSpec, Stream

__all__ = ["FakeProcess", "FakeProcesses"]


@define(eq=False)
class FakeProcess:
    """One process group: a leader, and whether anything else is left of the group."""

    spec: ProcessSpec
    events: ProcessEvents
    deaf_to: frozenset[int] = frozenset()
    """The signals that the whole group ignores."""
    signals: list[int] = field(factory=list)
    """What it was sent."""
    is_given_up: bool = False
    """Whether its pipes were given back."""
    has_exited: bool = False
    is_closed: bool = False
    is_gone: bool = False
    unread: list[tuple[Stream, bytes]] = field(factory=list)
    """Written, but only found when the pipes are given back."""

    def signal(self, number: int) -> None:
        """Die of it in a later pass of the loop, unless the group is deaf to it."""
        if self.is_gone:
            return
        self.signals.append(number)
        if number not in self.deaf_to:
            asyncio.get_running_loop().call_soon(self.end, -number)

    def close(self) -> None:
        """Hand over what nobody has read."""
        if not self.is_given_up:
            for stream, data in self.unread:
                self.events.received(stream, data)
        self.is_given_up = True

    @property
    def text(self) -> str:
        """The command."""
        return self.spec.arguments[-1]

    # -- What a test lets happen -------------------------------------------------------------------

    def write(self, data: bytes, stream: Stream = Stream.STDOUT) -> None:
        """Write something, as long as somebody may read it."""
        if not self.is_given_up and not self.is_closed:
            self.events.received(stream, data)

    def close_output(self) -> None:
        """Let nobody be able to write any more."""
        if not self.is_closed and not self.is_given_up:
            self.is_closed = True
            self.events.closed()

    def exit(self, exit_code: int | None) -> None:
        """Let the leader exit."""
        if not self.has_exited:
            self.has_exited = True
            self.events.exited(exit_code)

    def vanish(self) -> None:
        """Let the last member of the group die."""
        if not self.is_gone:
            self.is_gone = True
            self.events.gone()

    def end(self, exit_code: int | None = 0) -> None:
        """Let all of that happen: the usual end of a command that leaves nothing behind."""
        self.close_output()
        is_news = not self.is_gone
        # Whoever looks after a group knows that it is gone before it tells of the exit.
        self.is_gone = True
        self.exit(exit_code)
        if is_news:
            self.events.gone()


@define(eq=False)
class FakeProcesses:
    """Starts fake processes, and keeps them all."""

    started: list[FakeProcess] = field(factory=list)
    deaf_to: frozenset[int] = frozenset()
    """What the next ones are deaf to."""
    refusal: Callable[[ProcessSpec], OSError] | None = None

    def start(self, spec: ProcessSpec, events: ProcessEvents) -> Process:
        """Start one, or refuse."""
        if self.refusal is not None:
            raise self.refusal(spec)
        process = FakeProcess(spec, events, self.deaf_to)
        self.started.append(process)
        return process

    def last(self) -> FakeProcess:
        """Return the one that was started last."""
        return self.started[-1]

    def ignore_term(self) -> None:
        """Let those that follow ignore the request to end."""
        self.deaf_to = frozenset({signal.SIGTERM})

    def ignore_everything(self) -> None:
        """Let those that follow be stuck in the system."""
        self.deaf_to = frozenset({signal.SIGTERM, signal.SIGKILL})
