"""A process that is talked to through pipes, and a bounded way to wait for what it says."""

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

__all__ = ["ROOT", "WITHIN_S", "Talk", "until"]

ROOT: Final = Path(__file__).resolve().parents[2]
WITHIN_S: Final = 30.0
"""Guards against a hang; nothing is asserted about how long anything takes."""


def until(observe: Callable[[float], bool], within_s: float = WITHIN_S) -> None:
    """Observe again and again until it is so.

    Args:
        observe: says whether it is so; if not, it has first waited for news, for at most the
            seconds that it is given.
        within_s: how long it may take.

    Raises:
        TimeoutError: it was not so in time.
    """
    ends = time.monotonic() + within_s
    while not observe(max(0.0, ends - time.monotonic())):
        if time.monotonic() >= ends:
            raise TimeoutError(f"not observed within {within_s} s")


class Talk:
    """One run of `python -m runtime demo`, in development mode and with warnings as errors."""

    def __init__(self, *arguments: str, stdin: int | IO[Any] = subprocess.PIPE) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-X", "dev", "-W", "error", "-m", "runtime", *arguments],
            cwd=ROOT,
            env=_environment(),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self._heard = {self.process.stdout: b"", self.process.stderr: b""}
        self._selector = selectors.DefaultSelector()
        for stream in self._heard:
            self._selector.register(stream, selectors.EVENT_READ)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(WITHIN_S)
        self._selector.close()
        for stream in (self.process.stdin, *self._heard):
            if stream is not None:
                stream.close()

    @property
    def answers(self) -> str:
        """What came on standard output so far."""
        assert self.process.stdout is not None
        return self._heard[self.process.stdout].decode()

    @property
    def notes(self) -> str:
        """What came on standard error so far."""
        assert self.process.stderr is not None
        return self._heard[self.process.stderr].decode()

    def say(self, text: str) -> None:
        """Write to its standard input."""
        assert self.process.stdin is not None
        self.process.stdin.write(text.encode())

    def say_no_more(self) -> None:
        """End its standard input."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def interrupt(self) -> None:
        """Do what Ctrl-C does."""
        self.process.send_signal(signal.SIGINT)

    def deafen(self) -> None:
        """Read its answers no more."""
        assert self.process.stdout is not None
        self._selector.unregister(self.process.stdout)
        self.process.stdout.close()

    def hear(self, *, answers: str = "", notes: str = "") -> None:
        """Wait until the answers end with this, and the notes with that."""

        def observe(within_s: float) -> bool:
            if self.answers.endswith(answers) and self.notes.endswith(notes):
                return True
            assert self._selector.get_map(), f"it ended with {self.answers!r}, {self.notes!r}"
            self._listen(within_s)
            return False

        until(observe)

    def end(self) -> int:
        """Hear it out and return its exit status."""

        def observe(within_s: float) -> bool:
            if self._selector.get_map():
                self._listen(within_s)
                return False
            return True

        until(observe)
        return self.process.wait(WITHIN_S)

    def _listen(self, within_s: float) -> None:
        for key, _ in self._selector.select(within_s):
            stream: Any = key.fileobj
            heard = os.read(stream.fileno(), 65536)
            self._heard[stream] += heard
            if not heard:
                self._selector.unregister(stream)


def _environment() -> Mapping[str, str]:
    # What the user of these tests prefers must not change what is seen.
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHONIO")}
