"""A client of the protocol that is nobody's SDK: it writes any line, and forgives nothing.

What it looks at in every conversation, whatever that was about: standard output holds messages of
the protocol and nothing else, each request is answered at most once, updates of a turn come before
its answer, the program exits with 0 within a bound once its client has gone, standard error has no
traceback, and no process of a command is left.
"""

import json
import os
import selectors
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Self

from .talking import ROOT, until

__all__ = [
    "COMMAND",
    "AcpClient",
    "Frame",
    "initialize",
    "new_session",
    "pause",
    "processes_with",
    "said_before",
]

Frame = dict[str, Any]

COMMAND: Final = (sys.executable, "-W", "error", "-m", "runtime", "acp")
EXIT_WITHIN_S: Final = 25.0
"""More than the sum of the graces on a machine that does other things, too."""


def initialize(request_id: int = 0) -> Frame:
    """Return the first request of a conversation."""
    params = {"protocolVersion": 1, "clientCapabilities": {}}
    return {"jsonrpc": "2.0", "id": request_id, "method": "initialize", "params": params}


def new_session(request_id: int, cwd: str = "/") -> Frame:
    """Return the request for a session."""
    params = {"cwd": cwd, "mcpServers": []}
    return {"jsonrpc": "2.0", "id": request_id, "method": "session/new", "params": params}


class AcpClient:
    """One run of the program, and everything that it wrote."""

    def __init__(
        self,
        *arguments: str,
        command: Iterable[str] = COMMAND,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.process = subprocess.Popen(
            [*command, *arguments],
            cwd=ROOT,
            env=os.environ | (environment or {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        self.frames: list[Frame] = []
        self.notes = b""
        self._unread = b""
        self._last_id = 100
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._stream("stdout"), selectors.EVENT_READ)
        self._selector.register(self._stream("stderr"), selectors.EVENT_READ)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # A test that fails leaves in the middle of a conversation. The program gets the chance to
        # end what it runs; killed at once, it would leave its commands to the next test.
        self._stream("stdin").close()
        try:
            self.process.wait(EXIT_WITHIN_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(EXIT_WITHIN_S)
        self._selector.close()
        for name in ("stdin", "stdout", "stderr"):
            self._stream(name).close()

    # -- Writing -----------------------------------------------------------------------------------

    def raw(self, data: bytes) -> None:
        """Write any bytes, in one piece as far as the pipe takes it; read meanwhile."""
        stdin = self._stream("stdin").fileno()
        os.set_blocking(stdin, False)
        rest = memoryview(data)

        def written(within_s: float) -> bool:
            nonlocal rest
            try:
                rest = rest[os.write(stdin, rest) :]
            except BlockingIOError:
                self.listen(min(within_s, 0.01))
            return not rest

        until(written)

    def send(self, *frames: Frame) -> None:
        """Write messages in one piece."""
        self.raw(b"".join(json.dumps(frame).encode() + b"\n" for frame in frames))

    def request(self, method: str, **params: object) -> Frame:
        """Return a request with an id of its own, not sent yet."""
        self._last_id += 1
        return {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}

    def prompt(self, session_id: str, text: str) -> Frame:
        """Return a prompt, not sent yet."""
        block = {"type": "text", "text": text}
        return self.request("session/prompt", sessionId=session_id, prompt=[block])

    @staticmethod
    def cancel(session_id: str) -> Frame:
        """Return a cancel, not sent yet."""
        return {
            "jsonrpc": "2.0",
            "method": "session/cancel",
            "params": {"sessionId": session_id},
        }

    def ask(self, method: str, **params: object) -> Frame:
        """Send a request and wait for its response."""
        frame = self.request(method, **params)
        self.send(frame)
        return self.response(frame)

    def open(self, cwd: str = "/") -> str:
        """Initialize, if that was not done, and open a session."""
        if not self.frames:
            self.send(initialize())
            self.response(initialize())
        answer = self.ask("session/new", cwd=cwd, mcpServers=[])
        return str(answer["result"]["sessionId"])

    # -- Reading -----------------------------------------------------------------------------------

    def response(self, request: Frame) -> Frame:
        """Wait for the response to a request."""
        return self.wait_for(lambda frame: _answers(frame, request["id"]))

    def stopped(self, request: Frame) -> str:
        """Wait for the response to a prompt, and return why it stopped."""
        return str(self.response(request)["result"]["stopReason"])

    def wait_for(self, is_it: Callable[[Frame], bool]) -> Frame:
        """Wait until some message is the one, and return it."""
        found: list[Frame] = []

        def observe(within_s: float) -> bool:
            found.extend(frame for frame in self.frames if is_it(frame))
            if not found:
                assert self._selector.get_map(), f"it ended: {self.frames} {self.notes.decode()}"
                self.listen(within_s)
            return bool(found)

        until(observe)
        return found[0]

    def updates(self, session_id: str, kind: str | None = None) -> list[Frame]:
        """Return the updates of a session so far."""
        return [
            frame["params"]["update"]
            for frame in self.frames
            if frame.get("method") == "session/update"
            and frame["params"]["sessionId"] == session_id
            and kind in {None, frame["params"]["update"]["sessionUpdate"]}
        ]

    def text(self, session_id: str, kind: str = "agent_message_chunk") -> str:
        """Return the text that a session has shown so far."""
        return "".join(each["content"]["text"] for each in self.updates(session_id, kind))

    def shows(self, session_id: str, kind: str, text: str = "") -> None:
        """Wait until a session has shown something of a kind."""
        self.wait_for(
            lambda frame: (
                frame.get("method") == "session/update"
                and frame["params"]["sessionId"] == session_id
                and frame["params"]["update"]["sessionUpdate"] == kind
                and text in json.dumps(frame["params"]["update"])
            )
        )

    def position(self, is_it: Callable[[Frame], bool]) -> int:
        """Return the place of the first such message."""
        return next(index for index, frame in enumerate(self.frames) if is_it(frame))

    def deafen(self) -> None:
        """Read standard output no more, and leave it open."""
        self._selector.unregister(self._stream("stdout"))

    # -- The end -----------------------------------------------------------------------------------

    def hang_up(self) -> None:
        """End its standard input."""
        self._stream("stdin").close()

    def exit_status(self) -> int:
        """Hear it out and return its exit status."""

        def observe(within_s: float) -> bool:
            if self._selector.get_map():
                self.listen(min(within_s, 0.1))
            return self.process.poll() is not None

        until(observe, EXIT_WITHIN_S)
        while self._selector.get_map():
            self.listen(1.0)
        return self.process.wait()

    def finish(self) -> None:
        """Go, and check what is true of every conversation.

        Raises:
            AssertionError: something of it is not.
        """
        if not self._stream("stdin").closed:
            self.hang_up()
        status = self.exit_status()
        notes = self.notes.decode(errors="replace")
        assert status == 0, notes
        assert "Traceback" not in notes, notes
        check_conversation(self.frames)

    def _stream(self, name: str) -> Any:  # noqa: ANN401  # one of three pipes
        return getattr(self.process, name)

    def listen(self, within_s: float) -> None:
        """Read for some time what the program writes."""
        for key, _ in self._selector.select(within_s):
            stream: Any = key.fileobj
            heard = os.read(stream.fileno(), 1 << 16)
            if not heard:
                self._selector.unregister(stream)
            elif stream is self._stream("stderr"):
                self.notes += heard
            else:
                *lines, self._unread = (self._unread + heard).split(b"\n")
                self.frames += [json.loads(line, parse_constant=_refuse) for line in lines]


def check_conversation(frames: Iterable[Frame]) -> None:
    """Check what is true of every conversation.

    Raises:
        AssertionError: something of it is not.
    """
    answered = []
    for frame in frames:
        assert type(frame) is dict, frame
        assert frame["jsonrpc"] == "2.0", frame
        if "method" not in frame:
            assert ("result" in frame) != ("error" in frame), frame
            answered.append(frame["id"])
    numbered = [each for each in answered if each is not None]
    assert len(numbered) == len(set(numbered)), f"answered twice: {numbered}"


def processes_with(text: str) -> list[int]:
    """Return the processes whose command line has a text."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if text.encode() in command and folder.name != str(os.getpid()):
            found.append(int(folder.name))
    return found


def _answers(frame: Frame, request_id: object) -> bool:
    return "method" not in frame and frame.get("id") == request_id


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


def said_before(keep: Callable[[], AcpClient]) -> str:
    """Let a client talk, and go; return its session."""
    first = keep()
    session = first.open()
    for text in ("think", "hello"):
        prompt = first.prompt(session, text)
        first.send(prompt)
        assert first.stopped(prompt) == "end_turn"
    first.finish()
    return session


def pause(client: AcpClient, within_s: float) -> bool:
    """Read for a moment what the program says; it is not so yet."""
    client.listen(min(within_s, 0.05))
    return False
