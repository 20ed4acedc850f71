"""A short run of the torture, and a store that it must convict."""

import subprocess
import sys

import pytest

from .talking import ROOT

pytestmark = pytest.mark.real


def torture(*options: str) -> "subprocess.CompletedProcess[str]":
    """Run it in a process that has one thread only, because it forks."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.torture", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.clause("E-79", "E-04", "E-61")
def test_nothing_is_lost_by_processes_that_are_killed() -> None:
    """Over both kinds of store; thousands of kills are another command."""
    done = torture("--kills", "16")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("torture: nothing was lost\n")
    assert done.stdout.count(": 0 faults") >= 2


@pytest.mark.clause("E-79")
def test_a_store_that_acknowledges_what_it_has_not_stored_is_found_out() -> None:
    """The torture can fail, and names what is missing."""
    done = torture("--kills", "6", "--lying")
    assert (done.returncode, done.stderr) == (1, "")
    assert "lost: record" in done.stdout
    assert "invented" not in done.stdout
