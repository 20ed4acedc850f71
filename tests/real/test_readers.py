"""A command whose reader goes away says nothing about it."""

import subprocess
import sys

import pytest


@pytest.mark.real
@pytest.mark.parametrize(
    "command",
    [
        ("statemachine", "explore", "--json", "--bound", "1", "--no-worlds"),
        ("statemachine.conformance", "criteria"),
    ],
    ids=lambda command: command[0],
)
def test_a_reader_that_has_read_enough_gets_no_traceback(command: tuple[str, ...]) -> None:
    """As in `| head -1`: the pipe is closed before the output is written."""
    with subprocess.Popen(
        [sys.executable, "-m", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        error = process.stderr.read().decode()
        assert process.wait(timeout=60) == 141
    assert error == ""
