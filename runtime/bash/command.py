"""One command: from the start of its shell until nothing of its process group is left.

Theory. A command is over when its group is, because whatever a shell leaves behind would go on in
somebody's directory with nobody to answer for it. So the end has phases, and each has a bound:

    RUNNING      the shell runs
    DRAINING     it has exited; what it left behind may still write, for one grace
    ENDING       the group was asked to end (TERM) and has until the end of the same grace
    KILLING      the group was killed (KILL) and the system has a moment to remove it
    OVER

There is one grace. It begins with whatever comes first, the exit of the shell or the first request
to stop, and no later request begins it anew. What the shell said when it exited is the verdict,
whoever asked for its end.

Everything here is a reaction to a callback of the loop. There is no task, so there is nothing that
a stranger could cancel.
"""

import asyncio
import signal
from collections.abc import Callable
from enum import Enum, StrEnum, auto

from attrs import define, field

from runtime.limits import Limits
from runtime.processes import Process, Processes, ProcessSpec, Stream

from .output import Output

__all__ = ["Command", "Stop"]


class Stop(StrEnum):
    """Why a command was asked to end."""

    KILL = "kill"
    TIMEOUT = "timeout"
    ABORT = "abort"


class _Phase(Enum):
    RUNNING = auto()
    DRAINING = auto()
    ENDING = auto()
    KILLING = auto()
    OVER = auto()


@define(eq=False, kw_only=True)
class Command:
    """One command and its process group.

    Clauses: H-28 H-29 H-30 H-32 H-33
    """

    name: str
    limits: Limits
    stdout: Output
    stderr: Output
    on_over: Callable[["Command"], object]
    """Called once, when it is over, before whoever waits for `over` goes on."""
    over: "asyncio.Future[None]"
    exit_code: int | None = None
    killed_by: int | None = None
    """The number of the signal that ended the shell."""
    stops: set[Stop] = field(factory=set)
    """Who asked for its end while it was not over."""
    is_group_gone: bool = False
    _phase: _Phase = field(default=_Phase.RUNNING, init=False)
    _process: Process | None = field(default=None, init=False)
    _is_closed: bool = field(default=False, init=False)
    _timer: asyncio.TimerHandle | None = field(default=None, init=False)

    @property
    def is_over(self) -> bool:
        """Whether nothing of it is left, or nothing more can be done about it."""
        return self._phase is _Phase.OVER

    def start(self, processes: Processes, spec: ProcessSpec) -> None:
        """Start the shell.

        Raises:
            OSError: the system refused.
        """
        self._process = processes.start(spec, self)

    def fail(self, note: str) -> None:
        """Be over without ever having started, and say why on standard error."""
        self.stderr.append(note.encode())
        self.is_group_gone = True
        self._settle()

    def stop(self, why: Stop) -> bool:
        """Ask for its end; return whether that was news."""
        if self.is_over:
            return False
        is_first = why not in self.stops
        self.stops.add(why)
        if self._process is None:
            # It could not be started and is about to fail.
            return is_first
        if self._phase is _Phase.RUNNING:
            self._arm(self.limits.kill_grace_s, self._kill)
        if self._phase in {_Phase.RUNNING, _Phase.DRAINING}:
            self._end_group()
        return is_first

    def drop_output(self) -> None:
        """Forget what it wrote; nobody will ask again."""
        self.stdout.drop()
        self.stderr.drop()

    # -- What becomes of the group -----------------------------------------------------------------

    def received(self, stream: Stream, data: bytes) -> None:
        """Keep some output."""
        (self.stdout if stream is Stream.STDOUT else self.stderr).append(data)

    def closed(self) -> None:
        """Note that nobody can write any more."""
        self._is_closed = True
        if self._phase is _Phase.DRAINING:
            self._end_group()

    def exited(self, exit_code: int | None) -> None:
        """Note how the shell ended, and begin to end what it left behind."""
        if self.is_over:
            return
        if exit_code is not None and exit_code < 0:
            self.killed_by = -exit_code
        else:
            self.exit_code = exit_code
        if self._phase is _Phase.RUNNING:
            self._phase = _Phase.DRAINING
            self._arm(self.limits.kill_grace_s, self._kill)
            if self._is_closed:
                self._end_group()

    def gone(self) -> None:
        """Note that nothing of the group is alive."""
        self.is_group_gone = True
        if self._phase in {_Phase.ENDING, _Phase.KILLING}:
            self._settle()

    # -- The end -----------------------------------------------------------------------------------

    def _end_group(self) -> None:
        if self.is_group_gone:
            self._settle()
            return
        self._phase = _Phase.ENDING
        self._signal(signal.SIGTERM)

    def _kill(self) -> None:
        if self.is_group_gone:
            self._settle()
            return
        self._phase = _Phase.KILLING
        self._signal(signal.SIGKILL)
        self._arm(self.limits.kill_verify_s, self._settle)

    def _signal(self, number: int) -> None:
        assert self._process is not None
        self._process.signal(number)

    def _arm(self, delay_s: float, act: Callable[[], object]) -> None:
        self._disarm()
        self._timer = self.over.get_loop().call_later(delay_s, act)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _settle(self) -> None:
        self._phase = _Phase.OVER
        self._disarm()
        if self._process is not None:
            self._process.close()
        self.stdout.end()
        self.stderr.end()
        # First of all: whoever waits goes on, whatever comes of telling the others.
        if not self.over.done():
            self.over.set_result(None)
        self.on_over(self)
