"""The runtime's only doors to the clock, chance, blocking work, processes and plain waiting.

Everything else receives these as values, so that a test can stand in for them.
"""

import asyncio
import atexit
import os
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, Protocol, TypeVar

from .calls import Calls
from .processes import Process, ProcessEvents, ProcessSpec, Stream

__all__ = [
    "Blocking",
    "Clock",
    "Identifiers",
    "SystemBlocking",
    "SystemClock",
    "SystemIdentifiers",
    "SystemProcesses",
    "has_process_groups",
    "pause",
    "thread_id",
    "yield_once",
]

T = TypeVar("T")


class Clock(Protocol):
    """Tells the time of day."""

    def now_ms(self) -> int:
        """Return milliseconds since the Unix epoch, UTC.

        The answer may go backwards when somebody sets the system's clock; the log, which promises
        order, corrects for that.
        """
        ...


class Identifiers(Protocol):
    """Makes names that nobody else has."""

    def new_id(self) -> str:
        """Return a name that was never returned before, by anyone."""
        ...


class Blocking(Protocol):
    """Does what blocks, such as I/O, without holding up the loop."""

    async def run(self, call: Callable[[], T]) -> T:
        """Call, and return what it returns; never two calls at a time.

        Whoever is cancelled here must not conclude that the call did not happen.

        Clauses: E-10 E-51
        """
        ...


class SystemClock:
    """The clock of the operating system."""

    __slots__ = ()

    def now_ms(self) -> int:
        """Return the system's time in whole milliseconds since the Unix epoch."""
        return time.time_ns() // 1_000_000


class SystemIdentifiers:
    """Random UUIDs."""

    __slots__ = ()

    def new_id(self) -> str:
        """Return a random UUID in its usual form, 36 characters."""
        return str(uuid.uuid4())


class SystemBlocking:
    """One thread, started when it is first needed.

    The end of the program does not wait for it: a disk that never answers would hold that for ever.
    """

    def __init__(self) -> None:
        self._calls = Calls()
        self._thread = threading.Thread(target=self._calls.do_all, daemon=True)

    async def run(self, call: Callable[[], T]) -> T:
        """Call in the thread, after every call before; `RuntimeError` once it was closed."""
        outcome = self._calls.put(call)
        if self._thread.ident is None:
            self._thread.start()
        # Shielded: a call that waits for its turn would be struck off when its waiter is cancelled.
        return await asyncio.shield(asyncio.wrap_future(outcome))

    def close(self) -> None:
        """Accept no more calls; those that were made are still done."""
        self._calls.close()


def thread_id() -> int:
    """Return a number that is the calling thread's own."""
    return threading.get_ident()


async def yield_once() -> None:
    """Let the loop run everything that is ready, once, and come back."""
    await asyncio.sleep(0)


async def pause(seconds: float) -> None:
    """Wait for a time; for behaviour that *is* a delay, never to wait for a thing."""
    await asyncio.sleep(seconds)


# -- Processes -------------------------------------------------------------------------------------

_HAS_PROC: Final = Path("/proc/self/stat").exists()
_READ_BYTES: Final = 64 * 1024
# A descendant that left the group may hold a pipe and write for ever.
_LAST_READS: Final = 64
_POLL_FIRST_S: Final = 0.001
_POLL_MAX_S: Final = 0.05
_COUNT_AFTER_S: Final = 0.01
_COUNT_SERVES_S: Final = 0.01


class SystemProcesses:
    """Processes of the operating system; when the interpreter exits, every group is killed."""

    __slots__ = ()

    def start(self, spec: ProcessSpec, events: ProcessEvents) -> Process:
        """Start a process as the leader of a new session and group.

        Raises:
            OSError: the system refused: no such program, no such directory, too long, too many.
        """
        if not has_process_groups():
            raise OSError("processes are only run on Linux and macOS, not on this system")
        return _SystemProcess(spec, events)


_alive: "set[_SystemProcess]" = set()
"""Every group that may have members."""


@atexit.register
def _kill_what_is_left() -> None:
    for process in tuple(_alive):
        process.kill_at_exit()


class _SystemProcess:
    """One process group, from the start of its leader until no member is alive."""

    def __init__(self, spec: ProcessSpec, events: ProcessEvents) -> None:
        self._loop = asyncio.get_running_loop()
        self._events = events
        self._child = subprocess.Popen(  # noqa: S603  # running commands is what it is for
            spec.arguments,
            cwd=spec.workdir,
            env=spec.environment,
            stdin=subprocess.DEVNULL if spec.stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        # A fork of this interpreter inherits the list of groups, but not the right to end them.
        self._parent = os.getpid()
        self._is_gone = False
        self._polled_s = 0.0
        self._count_at_s = _COUNT_AFTER_S
        self._poll_s = _POLL_FIRST_S
        self._counted_s = 0.0
        self._absences = 0
        self._unwritten = memoryview(spec.stdin or b"")
        self._pipes: dict[Stream, IO[bytes]] = {}
        try:
            self._watch_pipes()
            self._watch_exit()
        except OSError:
            self._give_up()
            raise
        _alive.add(self)

    def signal(self, number: int) -> None:
        """Signal the whole group, whose number is nobody else's as long as it has a member."""
        if not self._is_gone:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, number)
            self._poll_s, self._polled_s, self._count_at_s = _POLL_FIRST_S, 0.0, _COUNT_AFTER_S

    def kill_at_exit(self) -> None:
        """Kill the group without waiting for anything."""
        if os.getpid() == self._parent:
            self.signal(signal.SIGKILL)

    def close(self) -> None:
        """Hand over what is left in the pipes and close them."""
        self._close_stdin()
        for stream in tuple(self._pipes):
            for _ in range(_LAST_READS):
                if not self._read(stream):
                    break
            self._close_pipe(stream)

    def _give_up(self) -> None:
        self.signal(signal.SIGKILL)
        self._child.returncode = _exit_code(self._child.pid) or 0
        for stream in tuple(self._pipes):
            self._close_pipe(stream)
        self._close_stdin()

    # -- Pipes -------------------------------------------------------------------------------------

    def _watch_pipes(self) -> None:
        assert self._child.stdout is not None
        assert self._child.stderr is not None
        self._pipes.update({Stream.STDOUT: self._child.stdout, Stream.STDERR: self._child.stderr})
        for stream, pipe in self._pipes.items():
            os.set_blocking(pipe.fileno(), False)
            self._loop.add_reader(pipe.fileno(), self._readable, stream)
        if self._child.stdin is not None:
            os.set_blocking(self._child.stdin.fileno(), False)
            self._loop.add_writer(self._child.stdin.fileno(), self._writable)

    def _readable(self, stream: Stream) -> None:
        self._read(stream)
        if not self._pipes:
            self._events.closed()

    def _read(self, stream: Stream) -> bool:
        """Read once; return whether there may be more."""
        try:
            data = os.read(self._pipes[stream].fileno(), _READ_BYTES)
        except BlockingIOError:
            return False
        if not data:
            self._close_pipe(stream)
            return False
        self._events.received(stream, data)
        return True

    def _close_pipe(self, stream: Stream) -> None:
        pipe = self._pipes.pop(stream, None)
        if pipe is not None:
            self._loop.remove_reader(pipe.fileno())
            pipe.close()

    def _writable(self) -> None:
        assert self._child.stdin is not None
        try:
            written = os.write(self._child.stdin.fileno(), self._unwritten[:_READ_BYTES])
        except BlockingIOError:
            return
        except BrokenPipeError:
            # Nobody wants the rest; what the command makes of that is its own outcome.
            written = len(self._unwritten)
        self._unwritten = self._unwritten[written:]
        if not self._unwritten:
            self._close_stdin()

    def _close_stdin(self) -> None:
        pipe = self._child.stdin
        if pipe is not None and not pipe.closed:
            self._loop.remove_writer(pipe.fileno())
            pipe.close()

    # -- The end -----------------------------------------------------------------------------------

    def _watch_exit(self) -> None:
        if hasattr(os, "pidfd_open"):
            descriptor = os.pidfd_open(self._child.pid)
            self._loop.add_reader(descriptor, self._reap, descriptor)
        else:
            threading.Thread(target=self._wait_in_thread, daemon=True).start()

    def _reap(self, descriptor: int) -> None:
        self._loop.remove_reader(descriptor)
        os.close(descriptor)
        self._exited(_exit_code(self._child.pid))

    def _wait_in_thread(self) -> None:
        exit_code = _exit_code(self._child.pid)
        # Nobody is left to be told when the loop has been closed.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._exited, exit_code)

    def _exited(self, exit_code: int | None) -> None:
        # The standard library's own bookkeeping: it must not wait for the child a second time.
        self._child.returncode = 0 if exit_code is None else exit_code
        # A count from before would not know everybody.
        self._counted_s = self._loop.time()
        self._is_gone = not self._has_members()
        self._events.exited(exit_code)
        self._look_again()

    def _poll(self) -> None:
        """Look whether a member is alive, and look again until none is.

        The system tells nobody when a group ends. Its number stays taken as long as it has a
        member, and it is looked for often enough that the number cannot be anybody else's.
        """
        self._is_gone = not self._has_members()
        self._look_again()

    def _look_again(self) -> None:
        if self._is_gone:
            _alive.discard(self)
            self._events.gone()
            return
        self._loop.call_later(self._poll_s, self._poll)
        self._polled_s += self._poll_s
        self._poll_s = min(2 * self._poll_s, _POLL_MAX_S)

    def _has_members(self) -> bool:
        try:
            os.killpg(self._child.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            # Linux: they belong to another user. Elsewhere the dead say this, too.
            return _HAS_PROC
        is_early = self._polled_s < self._count_at_s
        return not _HAS_PROC or is_early or not self._is_absent_twice()

    def _is_absent_twice(self) -> bool:
        """Whether two counts found no live member although the group exists.

        Whoever adopts orphans may not reap them, and the dead still answer to a signal. Looking at
        every process is expensive, so it is done ever more rarely. While it is done, a member may
        hand on to a child and die, so once is not enough.
        """
        self._count_at_s = 2 * self._polled_s
        counted_s, groups = _count_groups(self._loop.time())
        if counted_s > self._counted_s:
            self._counted_s = counted_s
            self._absences = self._absences + 1 if self._child.pid not in groups else 0
        return self._absences > 1


def has_process_groups() -> bool:
    """Return whether this system can run a process as the leader of a group."""
    return hasattr(os, "killpg")


def _exit_code(pid: int) -> int | None:
    """Wait for an exited child; None if somebody else did."""
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        return None


_last_count: tuple[float, frozenset[int]] = (0.0, frozenset())


def _count_groups(now_s: float) -> tuple[float, frozenset[int]]:
    """Return when the groups that have a live member were counted, and which they are.

    One count serves everybody for a moment.
    """
    global _last_count  # noqa: PLW0603  # shared by all loops
    if not 0 <= now_s - _last_count[0] < _COUNT_SERVES_S:
        _last_count = now_s, frozenset(_live_groups())
    return _last_count


def _live_groups() -> Iterator[int]:
    """Name the group of every process that is alive; there may be thousands, so no `Path`."""
    for process in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208  # see above
        # It may end while it is looked at.
        with suppress(OSError):
            descriptor = os.open(f"/proc/{process}/stat", os.O_RDONLY)
            try:
                stat = os.read(descriptor, 512)
            finally:
                os.close(descriptor)
            # The name before the last bracket may contain anything.
            state, _, group = stat.rpartition(b")")[2].split(maxsplit=3)[:3]
            if state not in b"ZX":
                yield int(group)
