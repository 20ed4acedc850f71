"""The demo without a process: its arguments, its lines, and what Ctrl-C means at any instant."""

import asyncio
import io
import os
from pathlib import Path

import pytest

from runtime import AGENT_STATUS, ScriptedModel, StatusChanged, open_runtime
from runtime.__main__ import main
from runtime.application import ConfiguredAgent
from runtime.demo import Chat, InputError, Lines, Screen

pytestmark = pytest.mark.clause("F-31")


def lines_of(*written: bytes) -> list[str]:
    """Return the lines that are read from a pipe when it was written to in these pieces."""
    source, sink = os.pipe()

    async def read() -> list[str]:
        lines = Lines(source)
        found = []
        for piece in written:
            os.write(sink, piece)
        os.close(sink)
        while (line := await lines.next_line()) is not None:
            found.append(line)
        return found

    try:
        return asyncio.run(read())
    finally:
        os.close(source)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ((), []),
        ((b"a\nb\n",), ["a", "b"]),
        ((b"a", b"b\r\n", b"c"), ["ab", "c"]),
        ((b"\n\n",), ["", ""]),
        ((b"gr\xc3\xbc\xc3\x9fe\n",), ["gr\u00fc\u00dfe"]),
        ((b"\xff\n",), ["\ufffd"]),
    ],
)
def test_what_a_line_is(written: tuple[bytes, ...], expected: list[str]) -> None:
    """Its end is no part of it, the last one needs none, and bad UTF-8 is replaced."""
    assert lines_of(*written) == expected


def test_lines_that_are_closed_wake_whoever_waits() -> None:
    """Ctrl-C at the prompt does not wait for the line to be finished."""
    source, sink = os.pipe()

    async def read() -> str | None:
        lines = Lines(source)
        waiting = asyncio.ensure_future(lines.next_line())
        await asyncio.sleep(0)
        lines.close()
        return await asyncio.wait_for(waiting, 10)

    try:
        assert asyncio.run(read()) is None
    finally:
        os.close(source)
        os.close(sink)


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """A descriptor that is open for writing only is no input."""
    descriptor = os.open(tmp_path / "sink", os.O_WRONLY | os.O_CREAT)
    try:
        with pytest.raises(InputError, match="standard input cannot be read"):
            asyncio.run(Lines(descriptor).next_line())
    finally:
        os.close(descriptor)


def test_a_file_is_never_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some systems refuse to watch it, others accept and never report its end."""
    path = tmp_path / "lines"
    path.write_bytes(b"a\nb")

    async def read(descriptor: int) -> list[str | None]:
        def refuse(*_: object) -> None:
            raise AssertionError("it was watched")

        monkeypatch.setattr(asyncio.get_running_loop(), "add_reader", refuse)
        lines = Lines(descriptor)
        return [await lines.next_line() for _ in range(3)]

    with path.open("rb") as file:
        assert asyncio.run(read(file.fileno())) == ["a", "b", None]


HANG = '{"chunks": ["a"], "hang": true}'


def interrupted(*places: str) -> tuple[int, list[str]]:
    """Say one line to a model that hangs, interrupt at these places, and give status and notes.

    A place is a note: the interrupt comes as soon as the line is shown.
    """
    source, sink = os.pipe()
    noted = io.StringIO()

    async def talk() -> int:
        async with open_runtime(
            models={"m": ScriptedModel.from_lines([HANG])},
            default_model="m",
            agents=[ConfiguredAgent(id="a")],
        ) as rt:
            agent = rt.agents.get("a")
            assert agent is not None
            chat = Chat(agent, Lines(source), Screen(io.StringIO(), noted))
            chat.listen(rt)
            loop = asyncio.get_running_loop()
            loop.set_exception_handler(lambda _, context: noted.write(f"{context}\n"))

            def interrupt_there(notice: StatusChanged) -> None:
                if notice.status in places:
                    loop.call_soon(chat.interrupt)

            rt.on(AGENT_STATUS, interrupt_there)
            await asyncio.wait_for(chat.run(), 10)
        return chat.status

    os.write(sink, b"hello\n")
    try:
        return asyncio.run(talk()), noted.getvalue().split("\n")[:-1]
    finally:
        os.close(source)
        os.close(sink)


@pytest.mark.parametrize(
    "places",
    [("running", "cancelled"), ("running", "idle"), ("running", "cancelled", "idle", "disposed")],
)
def test_the_second_interrupt_leaves(places: tuple[str, ...]) -> None:
    """While the turn unwinds, at the prompt, and while the runtime closes, without a complaint."""
    assert interrupted(*places) == (130, ["running", "cancelled", "idle", "disposed"])


@pytest.mark.parametrize("arguments", [[], ["demo", "--model", "oracle"], ["other"]])
def test_a_bad_command_is_status_two(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """And the usage is shown."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage: python -m runtime" in capsys.readouterr().err
