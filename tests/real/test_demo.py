"""The demo as a process of its own: pipes, files, a terminal, Ctrl-C, and how it leaves."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real.talking import ROOT, WITHIN_S, Talk

pytestmark = [pytest.mark.real, pytest.mark.clause("F-31")]

SCRIPT = [
    {"when": "^hello", "chunks": ["good ", "day"]},
    {"when": "hang", "chunks": ["one", " moment"], "hang": True},
    {"when": "fail", "chunks": ["well"], "error": "out of order"},
    {"when": "tool", "chunks": ["1"], "tool_calls": [{"call_id": "k", "name": "n"}], "repeat": 1},
    {"when": "tool", "chunks": ["2"]},
    {"when": "long", "chunks": ["cut"], "finish": "max-tokens"},
]
TURN = "running\nidle\n"
CANCELLED = "running\ncancelled\nidle\n"


@pytest.fixture
def scripted(tmp_path: Path) -> str:
    """Give the name of a model that answers from a file."""
    script = tmp_path / "script.jsonl"
    script.write_text("\n".join(json.dumps(line) for line in SCRIPT), encoding="utf-8")
    return f"--model=scripted:{script}"


@pytest.fixture
def hanging(scripted: str) -> Iterator[Talk]:
    """Give a talk in which the first turn runs and does not end."""
    with Talk("demo", scripted) as talk:
        talk.say("hang\n")
        talk.hear(answers="one moment", notes="running\n")
        yield talk


@pytest.mark.seed("SEED-44")
@pytest.mark.parametrize("text", ["hello\nworld\n", "hello\r\n\n  \nworld"])
def test_each_line_of_a_pipe_is_a_turn(text: str) -> None:
    """Blank lines are none, the last line need not end, and nothing is left behind."""
    with Talk("demo") as talk:
        talk.say(text)
        talk.say_no_more()
        assert talk.end() == 0
        assert talk.answers == "hello\nworld\n"
        assert talk.notes == f"{TURN}{TURN}disposed\n"


def test_a_line_is_answered_before_the_next_one_comes() -> None:
    """Whoever talks through pipes need not end the input to be answered."""
    with Talk("demo") as talk:
        for line in ("one\n", "two\n"):
            talk.say(line)
            talk.hear(answers=line, notes=TURN)
        talk.say_no_more()
        assert talk.end() == 0


@pytest.mark.parametrize(
    ("text", "answers", "turns"),
    [("a\nb", "a\nb\n", 2), ("", "", 0), ("x" * 70_000, "x" * 70_000 + "\n", 1)],
)
def test_the_lines_of_a_file(tmp_path: Path, text: str, answers: str, turns: int) -> None:
    """A file cannot be watched by a loop, and is read all the same."""
    path = tmp_path / "lines.txt"
    path.write_text(text, encoding="utf-8")
    with path.open("rb") as lines, Talk("demo", stdin=lines) as talk:
        assert talk.end() == 0
        assert (talk.answers, talk.notes) == (answers, f"{TURN * turns}disposed\n")


def test_the_null_device_is_an_input_without_lines() -> None:
    """It can be watched as little as a file."""
    with Talk("demo", stdin=subprocess.DEVNULL) as talk:
        assert (talk.end(), talk.answers, talk.notes) == (0, "", "disposed\n")


def test_a_script_answers_and_a_failed_turn_is_shown(scripted: str) -> None:
    """The failure stands there once, on a line of its own, and the chat goes on."""
    with Talk("demo", scripted) as talk:
        talk.say("hello\nfail\nunheard of\nlong\nhello\n")
        talk.say_no_more()
        assert talk.end() == 0
        assert talk.answers == "good day\nwell\ncut\ngood day\n"
        assert talk.notes.count("error: ModelError: out of order\n") == 1
        assert talk.notes.count("error: ModelError: no line of the script answers") == 1
        assert talk.notes.count("running\n") == talk.notes.count("idle\n") == 5


def test_each_step_of_a_turn_has_a_line_of_its_own(scripted: str) -> None:
    """What was said before a call of a tool does not run into what is said behind it."""
    with Talk("demo", scripted) as talk:
        talk.say("tool\n")
        talk.say_no_more()
        assert talk.end() == 0
        assert (talk.answers, talk.notes) == ("1\n2\n", f"{TURN}disposed\n")


@pytest.mark.clause("A-21")
def test_an_interrupt_cancels_the_turn_and_another_one_leaves(hanging: Talk) -> None:
    """The first is seen as a change of status; the second, with nothing to cancel, is the end."""
    hanging.interrupt()
    hanging.hear(answers="one moment\n", notes=CANCELLED)
    hanging.interrupt()
    assert hanging.end() == 130
    assert hanging.notes == f"{CANCELLED}disposed\n"


@pytest.mark.clause("A-26")
def test_after_an_interrupt_the_chat_goes_on(hanging: Talk) -> None:
    """What was said in the meantime runs, and the end of the input is still a good end."""
    hanging.say("hello\n")
    hanging.interrupt()
    hanging.hear(answers="good day\n", notes=f"{CANCELLED}{TURN}")
    hanging.say_no_more()
    assert hanging.end() == 0


def test_each_turn_has_an_interrupt_of_its_own(hanging: Talk) -> None:
    """The one that cancelled a turn does not count for the next."""
    for _ in range(2):
        hanging.interrupt()
        hanging.hear(notes=CANCELLED)
        hanging.say("hang\n")
        hanging.hear(answers="one moment", notes="running\n")
    hanging.interrupt()
    hanging.hear(notes=CANCELLED)
    hanging.say_no_more()
    assert hanging.end() == 0


def test_an_interrupt_while_idle_leaves() -> None:
    """There is nothing to cancel."""
    with Talk("demo") as talk:
        talk.say("hello\n")
        talk.hear(answers="hello\n", notes=TURN)
        talk.interrupt()
        assert talk.end() == 130


def test_a_terminal_is_prompted() -> None:
    """The prompt invites, the end of the input leaves, and the terminal stays as it was."""
    ours, theirs = pty.openpty()
    try:
        with Talk("demo", stdin=theirs) as talk:
            talk.hear(notes="> ")
            os.write(ours, b"hello\n")
            talk.hear(answers="hello\n", notes=f"> {TURN}> ")
            assert os.get_blocking(theirs)
            os.write(ours, b"\x04")
            assert talk.end() == 0
            assert talk.notes == f"> {TURN}> \ndisposed\n"
    finally:
        os.close(ours)
        os.close(theirs)


def test_an_output_that_nobody_reads_ends_the_chat(scripted: str) -> None:
    """As `| head -1` does: no trace, no hang, and a status that says so."""
    with Talk("demo", scripted) as talk:
        talk.say("hello\n")
        talk.hear(answers="good day\n", notes=TURN)
        talk.deafen()
        talk.say("hang\n")
        assert talk.end() == 1
        assert "Traceback" not in talk.notes
        assert talk.notes.endswith("disposed\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_an_output_without_room_ends_the_chat() -> None:
    """A full disk is named."""
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "runtime", "demo"],
            cwd=ROOT,
            input=b"hello\nworld\n",
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=WITHIN_S,
            check=False,
        )
    assert ended.returncode == 1
    assert ended.stderr.count(b"running\n") == 1
    assert ended.stderr.endswith(b"runtime demo: the output was lost: No space left on device\n")


@pytest.mark.clause("K-16")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "COMMAND"),
        (("demo", "--model", "oracle"), "'oracle' is neither echo nor scripted:FILE"),
        (("demo", "--model", "scripted:"), "neither echo nor scripted:FILE"),
        (("demo", "--model", "scripted:{}/none.jsonl"), "none.jsonl: the script cannot be read"),
        (("demo", "--model", "scripted:{}/bad.jsonl"), "bad.jsonl:2: unknown field 'chunk'"),
        (("demo", "surplus"), "surplus"),
    ],
)
def test_a_bad_command_is_refused(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    """With what is wrong and where, before anything runs."""
    (tmp_path / "bad.jsonl").write_text('{"chunks": []}\n{"chunk": []}\n', encoding="utf-8")
    with Talk(*(each.format(tmp_path) for each in arguments)) as talk:
        assert talk.end() == 2
        assert said in talk.notes
        assert "Traceback" not in talk.notes
        assert talk.answers == ""


def test_a_line_without_an_end_is_refused() -> None:
    """An endless line would otherwise be kept in memory for ever."""
    with Path("/dev/zero").open("rb") as zeros, Talk("demo", stdin=zeros) as talk:
        assert talk.end() == 2
        assert "a line of standard input is longer than 1048576 bytes" in talk.notes


def test_the_help_names_what_can_be_chosen() -> None:
    """Models, keys and exit statuses."""
    with Talk("demo", "--help") as talk:
        assert talk.end() == 0
        for word in ("scripted:FILE", "echo", "Ctrl-C", "130"):
            assert word in talk.answers


def test_no_standard_input_is_refused() -> None:
    """A process may be started with its input closed."""
    ended = subprocess.run(
        ["sh", "-c", 'exec "$0" -m runtime demo <&-', sys.executable],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    assert ended.returncode == 2
    assert "it needs standard input" in ended.stderr
