"""A process that stores sessions, and how a test talks to it.

    python -m tests.real.storing JOB STORE [MORE...]

It says what it has done, one line each, and only when it is done; what it waits for is a line from
its standard input.
"""

import os
import resource
import selectors
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

from runtime.errors import LifecycleError, SessionBusyError, StorageError
from runtime.session.log import SessionHeader, SessionLog
from runtime.session.places import DiskBackend, backend_at
from runtime.session.records import Record

from .talking import ROOT, WITHIN_S, until

__all__ = ["NOBODY", "Worker", "fill_up", "header_of", "records_of"]

NOBODY: Final = 65534


class _Clock:
    def now_ms(self) -> int:
        return 1_700_000_000_000


def records_of(session_id: str, turns: int, *, size: int = 10) -> tuple[Record, ...]:
    """Return the records of a session of turns of three records each, the same every time."""
    log = SessionLog(header_of(session_id), clock=_Clock())
    source = {"kind": "user"}
    for number in range(1, turns + 1):
        log.append("turn/start", {"turn": number, "trigger": {"kind": "message"}})
        content = [{"type": "text", "text": f"{number}".ljust(size, "x")}]
        message = {"turn": number, "message_id": f"m{number}", "content": content, "source": source}
        log.append("user/message", message, placement="append")
        log.append("turn/end", {"turn": number, "ending": "completed"})
    return tuple(log.events)


def header_of(session_id: str) -> SessionHeader:
    """Return the header of a session, the same every time."""
    return SessionHeader(id=session_id, created_ms=1)


class Worker:
    """One such process; it is killed at the end of the block, if it still lives."""

    def __init__(self, job: str, store: Path, *more: object) -> None:
        command = [sys.executable, "-W", "error", "-m", "tests.real.storing", job, str(store)]
        self.process = subprocess.Popen(
            [*command, *map(str, more)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        assert self.process.stdout is not None
        self._stdout = self.process.stdout
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._heard = b""
        self._has_ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._selector.close()
        self._stdout.close()
        assert self.process.stdin is not None
        self.process.stdin.close()

    def kill(self) -> None:
        """Kill it, and wait until it is gone."""
        self.process.kill()
        self.process.wait(WITHIN_S)

    def stop(self) -> None:
        """Let it stand still, alive."""
        self.process.send_signal(signal.SIGSTOP)

    def go(self) -> None:
        """Give it a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"\n")

    def hear(self) -> str:
        """Wait for the next line that it says."""
        until(lambda within_s: b"\n" in self._heard or self._listen(within_s))
        line, _, self._heard = self._heard.partition(b"\n")
        return line.decode()

    def end(self) -> list[str]:
        """Hear it out; it must end well."""
        until(lambda within_s: self._has_ended or self._listen(within_s))
        assert self.process.wait(WITHIN_S) == 0
        return self._heard.decode().splitlines()

    def _listen(self, within_s: float) -> bool:
        assert not self._has_ended, f"it ended after {self._heard!r}"
        if self._selector.select(within_s):
            heard = os.read(self._stdout.fileno(), 65536)
            self._heard += heard
            self._has_ended = not heard
        return False


# ----------------------------------------------------------------------------------------- the jobs


def _say(*words: object) -> None:
    sys.stdout.write(f"{' '.join(map(str, words))}\n")
    sys.stdout.flush()


def _wait() -> None:
    sys.stdin.readline()


def hold(backend: DiskBackend, session_id: str, turns: str) -> None:
    """Store turns, one batch each, and keep the lease."""
    backend.acquire(session_id)
    records = records_of(session_id, int(turns))
    backend.begin(header_of(session_id), records[:3])
    for end in range(6, len(records) + 1, 3):
        backend.append(session_id, records[end - 3 : end])
    _say("stored", len(records))
    _wait()
    # After it was waited for so long, it is still the writer.
    backend.append(session_id, records_of(session_id, int(turns) + 1)[len(records) :])
    _say("stored", len(records) + 3)


def hammer(backend: DiskBackend, session_id: str, times: str) -> None:
    """Take the lease, add a turn, give it back, and again."""
    _say("ready")
    _wait()
    for _ in range(int(times)):
        while not _has_taken(backend, session_id):
            os.sched_yield()
        stored = len(backend.read(session_id).records)
        backend.append(session_id, records_of(session_id, stored // 3 + 1)[stored:])
        backend.release(session_id)
    _say("done")


def _has_taken(backend: DiskBackend, session_id: str) -> bool:
    try:
        backend.acquire(session_id)
    except SessionBusyError:
        return False
    return True


def fill(backend: DiskBackend, session_id: str, turns: str) -> None:
    """Store a session of its own, together with others who do."""
    _say("ready")
    _wait()
    records = records_of(session_id, int(turns))
    backend.acquire(session_id)
    backend.begin(header_of(session_id), records[:3])
    for end in range(6, len(records) + 1, 3):
        backend.append(session_id, records[end - 3 : end])
    backend.release(session_id)
    _say("done")


def race(backend: DiskBackend, session_id: str) -> None:
    """Try to be the one who begins a session."""
    _say("ready")
    _wait()
    try:
        backend.acquire(session_id)
        backend.begin(header_of(session_id), records_of(session_id, 1))
    except LifecycleError as error:
        _say("refused", type(error).__name__)
    else:
        _say("won")
    _wait()


def limited(backend: DiskBackend, session_id: str, bytes_max: str) -> None:
    """Store until files may not grow any more, then let them, and try the same again."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    records = records_of(session_id, 200, size=2000)
    backend.acquire(session_id)
    backend.begin(header_of(session_id), records[:3])
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(bytes_max), hard))
    _say("plain", _plain_failure(Path.cwd() / "plain", int(bytes_max) + 1))
    stored = fill_up(backend, records)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    backend.append(session_id, records[stored : stored + 3])
    _say("stored", stored + 3)


def fill_up(backend: DiskBackend, records: Sequence[Record], session_id: str = "s") -> int:
    """Store until that fails, say why, and return how many records are stored."""
    stored = 3
    try:
        while stored < len(records):
            backend.append(session_id, records[stored : stored + 3])
            stored += 3
    except StorageError as error:
        _say("failed", error)
    assert backend.read(session_id).records == tuple(records[:stored])
    return stored


def _plain_failure(path: Path, size: int) -> str:
    """Write a plain file of a size, and return how that failed."""
    try:
        with path.open("wb") as file:
            file.write(b"x" * size)
    except OSError as error:
        return error.strerror or str(error)
    finally:
        with suppress(OSError):
            path.unlink()
    return "nothing"


def unprivileged(backend: DiskBackend, session_id: str, directory: str) -> None:
    """Become nobody, if this is root, and try everything in a directory."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    _say("plain", _plain_failure(Path(directory) / "plain", 1))
    acts: tuple[Callable[[], object], ...] = (
        backend.open,
        backend.headers,
        lambda: len(backend.read(session_id).records),
        lambda: backend.acquire(session_id),
        lambda: backend_at(Path(directory) / "new.db").acquire(session_id),
    )
    for act in acts:
        try:
            _say("done", act())
        except StorageError as error:
            _say("failed", error)


JOBS: Final[dict[str, Callable[..., None]]] = {
    each.__name__: each for each in (hold, hammer, fill, race, limited, unprivileged)
}


def main(job: str, store: str, *more: str) -> None:
    """Do one job."""
    backend = backend_at(store)
    try:
        JOBS[job](backend, *more)
    finally:
        backend.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
