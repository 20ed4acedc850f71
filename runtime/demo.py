"""A chat, line by line, as a program that never sees a handle would write it.

The agent stands in the configuration and is looked up by its id. Nobody here makes it or ends it:
it is there when the runtime has opened, and goes when the runtime closes.
"""

import asyncio
import os
import signal
import stat
from collections.abc import Awaitable, Callable
from typing import Final, TextIO

from attrs import define, field

from .agent import Agent
from .announcements import (
    AGENT_DISCARDED,
    AGENT_ERROR,
    AGENT_STATUS,
    SESSION_EVENT,
    AgentFailed,
    Discarded,
    RecordAppended,
    StatusChanged,
)
from .application import ConfiguredAgent
from .assembly import Runtime, open_runtime
from .bash import bash_plugin, bash_tools_plugin
from .containment import render_error
from .context import Fiber
from .errors import CallerError, LifecycleError
from .model import Model
from .ports import yield_once

__all__ = [
    "INTERRUPTED",
    "OUTPUT_LOST",
    "Chat",
    "InputError",
    "Lines",
    "Screen",
    "Workbench",
    "demo",
]

INTERRUPTED: Final = 130
"""The exit status of a program that Ctrl-C ended."""
OUTPUT_LOST: Final = 1
"""The exit status of a program that had to stop because its output went nowhere."""
LINE_BYTES_MAX: Final = 1024 * 1024
_AGENT: Final = "demo"
_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"
_READ_BYTES = 64 * 1024


class InputError(CallerError):
    """The input cannot be read, or is no text in lines."""


@define(eq=False)
class Lines:
    """The lines of a file descriptor, which is read only when somebody wants the next line.

    The descriptor stays a blocking one, as it was found: a terminal is shared with the shell and
    with our own output, and what is set here would be set for them. Reading when the loop says
    that there is something does not block anyway. A regular file, which loops refuse to watch, is
    always ready.
    """

    _descriptor: int
    _unread: bytearray = field(init=False, factory=bytearray)
    _scanned: int = field(init=False, default=0)
    _has_ended: bool = field(init=False, default=False)
    _is_closed: bool = field(init=False, default=False)
    _ready: "asyncio.Future[None] | None" = field(init=False, default=None)

    async def next_line(self) -> str | None:
        """Wait for the next line; None at the end of the input, or once this is closed.

        Raises:
            InputError: the input cannot be read, or a line has no end in sight.
        """
        while not self._is_closed:
            line = self._take()
            if line is not None or self._has_ended:
                return line
            await self._until_ready()
            if not self._is_closed:
                self._read()
        return None

    def close(self) -> None:
        """Give nothing any more; whoever waits for a line is told at once."""
        self._is_closed = True
        self._wake()

    def _take(self) -> str | None:
        end = self._unread.find(b"\n", self._scanned)
        if end < 0:
            self._scanned = len(self._unread)
            if not self._has_ended or not self._unread:
                return None
            end = self._scanned
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        self._scanned = 0
        return line.decode("utf-8", errors="replace").removesuffix("\r")

    def _read(self) -> None:
        try:
            found = os.read(self._descriptor, _READ_BYTES)
        except BlockingIOError:
            # Somebody else made it non-blocking, and somebody was faster than we.
            return
        except OSError as error:
            raise InputError(f"standard input cannot be read: {error.strerror}") from error
        self._has_ended = not found
        self._unread += found
        if len(self._unread) > LINE_BYTES_MAX and b"\n" not in found:
            raise InputError(f"a line of standard input is longer than {LINE_BYTES_MAX} bytes")

    async def _until_ready(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            if stat.S_ISREG(os.fstat(self._descriptor).st_mode):
                await yield_once()
                return
            self._ready = loop.create_future()
            loop.add_reader(self._descriptor, self._wake)
        except PermissionError:
            # What cannot be watched, such as the null device, never makes anybody wait.
            await yield_once()
            return
        try:
            await self._ready
        finally:
            loop.remove_reader(self._descriptor)

    def _wake(self) -> None:
        if self._ready is not None and not self._ready.done():
            self._ready.set_result(None)


@define(eq=False)
class Screen:
    """Where the chat is seen: answers on one stream, everything about them on another."""

    _answers: TextIO
    _notes: TextIO
    _is_dim: bool = False
    on_loss: Callable[[], None] | None = field(init=False, default=None)
    """Called once, when nobody reads any more, or there is no room to write to."""
    loss: OSError | None = field(init=False, default=None)
    """Why something could not be written, if it could not."""
    _is_inside_line: bool = field(init=False, default=False)

    def say(self, text: str) -> None:
        """Show a piece of an answer at once."""
        if text:
            self._write(self._answers, text)
            self._is_inside_line = not text.endswith("\n")

    def end_line(self) -> None:
        """End the line, if one was begun."""
        if self._is_inside_line:
            self.say("\n")

    def note(self, text: str) -> None:
        """Show a line about the conversation."""
        self.end_line()
        self._write(self._notes, f"{_DIM}{text}{_PLAIN}\n" if self._is_dim else f"{text}\n")

    def ask(self, prompt: str) -> None:
        """Show what invites the next line."""
        self._write(self._notes, prompt)

    def _write(self, stream: TextIO, text: str) -> None:
        try:
            stream.write(text)
            stream.flush()
        except OSError as error:
            is_first, self.loss = self.loss is None, error
            if is_first and self.on_loss is not None:
                self.on_loss()


@define(eq=False)
class Chat:
    """One conversation with one agent: a line, its turn, the next line."""

    _agent: Agent
    _lines: Lines
    _screen: Screen
    _prompt: str = ""
    status: int = field(init=False, default=0)
    """The exit status that the conversation has earned."""
    obey: Callable[[str, Agent], Awaitable[Agent]] | None = field(init=False, default=None)
    """Given a line that begins with a slash, returns whom the next lines are for."""
    _is_in_turn: bool = field(init=False, default=False)
    _is_cancelled: bool = field(init=False, default=False)

    def listen(self, rt: Runtime) -> None:
        """Show what happens to the agent."""
        rt.on(AGENT_STATUS, self._show_status, plugin="demo")
        rt.on(AGENT_ERROR, self._show_error, plugin="demo")
        rt.on(AGENT_DISCARDED, self._show_discarded, plugin="demo")
        rt.on(SESSION_EVENT, self._show_record, plugin="demo")

    async def run(self) -> None:
        """Give each line that is not blank a turn of its own, until the input ends.

        Raises:
            InputError: the input cannot be read.
        """
        while (line := await self._next_line()) is not None:
            if self.obey is not None and line.startswith("/"):
                self._agent = await self.obey(line, self._agent)
            elif line.strip():
                await self._take_turn(line)

    def interrupt(self) -> None:
        """Cancel the turn; leave, if there is none or it has been cancelled already."""
        if self._is_in_turn and not self._is_cancelled:
            self._is_cancelled = True
            self._agent.cancel("interrupted")
        else:
            self.leave(INTERRUPTED)

    def leave(self, status: int) -> None:
        """End the conversation, whatever is still to come."""
        self.status = status
        self._lines.close()
        self._agent.cancel("the chat ends")

    async def _next_line(self) -> str | None:
        self._screen.ask(self._prompt)
        line = await self._lines.next_line()
        if line is None and self._prompt:
            self._screen.ask("\n")  # whatever comes next does not stand behind the prompt
        return line

    async def _take_turn(self, line: str) -> None:
        self._is_in_turn, self._is_cancelled = True, False
        try:
            self._agent.send(line)
            await self._agent.when_idle()
        except LifecycleError as error:
            self._screen.note(f"error: {render_error(error)}")
        finally:
            self._is_in_turn = False

    def _show_status(self, notice: StatusChanged) -> None:
        self._screen.note(notice.status.value)

    def _show_error(self, notice: AgentFailed) -> None:
        self._screen.note(f"error: {render_error(notice.error)}")

    def _show_discarded(self, notice: Discarded) -> None:
        self._screen.note(f"discarded: {notice.reason}")

    def _show_record(self, notice: RecordAppended) -> None:
        match notice.record.type:
            case "assistant/chunk":
                chunk = notice.record.data["chunk"]
                if chunk["type"] == "text":
                    self._screen.say(chunk["text"])
            case "step/end":
                self._screen.end_line()
            case "tool/call" if self.obey is not None:
                self._screen.note(f"calls {notice.record.data['name']}")
            case "tool/result" | "context/message" if self.obey is not None:
                for block in notice.record.data["content"]:
                    self._screen.note(f"| {block.get('text', '').replace(chr(10), chr(10) + '| ')}")
            case _:
                pass


@define(eq=False)
class Workbench:
    """A chat in which commands can be run: its tools can be reloaded, its session changed."""

    _rt: Runtime
    _screen: Screen
    _tools: Fiber = field(init=False)

    async def set_up(self, chat: Chat) -> None:
        """Load the executor and its tools, and listen to lines that begin with a slash."""
        # The sessions of a demo end with it, so an id that comes again names nobody's job; and a
        # script can say it.
        await self._rt.context.plugin(bash_plugin(identifiers=_Same()))
        self._tools = self._rt.context.plugin(bash_tools_plugin())
        await self._tools
        chat.obey = self._obey

    async def _obey(self, line: str, agent: Agent) -> Agent:
        match line.split():
            case ["/reload"]:
                await self._tools.restart()
                self._screen.note("the tools were reloaded")
            case ["/session", name]:
                agents = self._rt.agents
                agent = agents.get(name) or agents.create(agent_id=name).agent
                self._screen.note(f"session {name}")
            case _:
                self._screen.note("error: the commands are /reload and /session NAME")
        return agent


class _Same:
    """Names that are the same in every run."""

    def new_id(self) -> str:
        """Return the only one."""
        return _AGENT


async def demo(
    model: Model, source: int, screen: Screen, *, prompt: str = "", has_bash: bool = False
) -> int:
    """Chat until the input ends; return the exit status.

    Args:
        model: what answers.
        source: the file descriptor that the lines come from.
        screen: where the answers go.
        prompt: shown before each line, for somebody who types.
        has_bash: whether the model may run commands.

    Raises:
        InputError: the input cannot be read.

    Clauses: F-31
    """
    async with open_runtime(
        models={_AGENT: model}, default_model=_AGENT, agents=[ConfiguredAgent(id=_AGENT)]
    ) as rt:
        agent = rt.agents.get(_AGENT)
        assert agent is not None, "what is configured exists from the beginning"
        chat = Chat(agent, Lines(source), screen, prompt)
        chat.listen(rt)
        if has_bash:
            await Workbench(rt, screen).set_up(chat)
        screen.on_loss = lambda: chat.leave(OUTPUT_LOST)
        # It stays until the loop is closed: an impatient Ctrl-C must not break into the teardown.
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, chat.interrupt)
        await chat.run()
    return chat.status
