"""A client of the protocol that does next to nothing, for both agents that are compared."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, Self

from attrs import define, field

__all__ = ["Editor", "Frame"]

Frame = dict[str, Any]


_ROOT: Final = Path(__file__).resolve().parents[2]
_READ_BYTES: Final = 1 << 16


@define(eq=False)
class Editor:
    """One run of an agent, and the pipes to it.

    What is written at once must fit into a pipe, because nothing is read meanwhile.
    """

    process: "subprocess.Popen[bytes]"
    _unread: bytes = b""
    _lines: list[bytes] = field(factory=list)
    _last_id: int = 0

    @classmethod
    def start(cls, *module: str) -> Self:
        """Start an agent, and return when it has answered `initialize`."""
        process = subprocess.Popen(
            [sys.executable, "-m", *module],
            cwd=_ROOT,
            # From compiled files, as it is where something is installed.
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        editor = cls(process)
        editor.ask([editor.request("initialize", protocolVersion=1, clientCapabilities={})])
        return editor

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self.process:
            if self.process.stdin is not None:
                self.process.stdin.close()

    def request(self, method: str, **params: object) -> Frame:
        """Return a request with an id of its own."""
        self._last_id += 1
        return {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}

    def prompt(self, session_id: str, *texts: str) -> Frame:
        """Return a prompt, a block for each text."""
        blocks = [{"type": "text", "text": text} for text in texts]
        return self.request("session/prompt", sessionId=session_id, prompt=blocks)

    def open(self, count: int) -> list[str]:
        """Open sessions, all asked for in one write."""
        answers = self.ask(
            [self.request("session/new", cwd="/", mcpServers=[]) for _ in range(count)]
        )
        return [frame["result"]["sessionId"] for frame in answers if "id" in frame]

    def close(self, sessions: Iterable[str]) -> None:
        """Close sessions, all asked for in one write."""
        self.ask([self.request("session/close", sessionId=each) for each in sessions])

    def ask(self, requests: list[Frame]) -> list[Frame]:
        """Write requests in one piece, and return what was said until all are answered."""
        self._write(requests)
        said = []
        unanswered = len(requests)
        while unanswered:
            frame = json.loads(self._line())
            assert "error" not in frame, frame
            unanswered -= "id" in frame
            said.append(frame)
        return said

    def timed_prompt(self, session_id: str, text: str) -> tuple[int, int]:
        """Return when the first update and when the answer was read, in ns since the write."""
        prompt = [self.prompt(session_id, text)]
        began = time.perf_counter_ns()
        self._write(prompt)
        update = self._line()
        shown = time.perf_counter_ns()
        answer = self._line()
        answered = time.perf_counter_ns()
        assert b'"session/update"' in update, update
        assert b'"end_turn"' in answer, answer
        return shown - began, answered - began

    def worked_ns(self) -> int:
        """Return the processor time of the agent's process; the clock's where nobody tells it.

        Waits first until the process sleeps: what it does at the moment is not counted yet.
        """
        if sys.platform != "linux":
            return time.perf_counter_ns()
        status = Path(f"/proc/{self.process.pid}/stat")
        while not status.read_text(encoding="ascii").rpartition(")")[2].startswith(" S"):
            pass
        # How the kernel numbers the clock of a process; Python has no name for it.
        return time.clock_gettime_ns(~self.process.pid << 3 | 2)

    def resident_bytes(self) -> int:
        """Return how much memory the agent's process has now."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def _write(self, requests: list[Frame]) -> None:
        assert self.process.stdin is not None
        data = b"".join(json.dumps(each).encode() + b"\n" for each in requests)
        while data:
            data = data[self.process.stdin.write(data) :]

    def _line(self) -> bytes:
        assert self.process.stdout is not None
        while not self._lines:
            data = self.process.stdout.read(_READ_BYTES)
            assert data, "the agent has ended"
            *lines, self._unread = (self._unread + data).split(b"\n")
            self._lines = lines[::-1]
        return self._lines.pop()
