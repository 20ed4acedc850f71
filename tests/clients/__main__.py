"""Drive the program with clients that are not ours, and with the one that is.

    python -m tests.clients            what holds, what does not, what could not be tried
    python -m tests.clients --strict   and fail if something could not be tried

The clients in Node are installed into `build/clients`, with the versions of `package.json`. Exit
status: 0, 1 if a client found a fault, 3 with `--strict` if one could not be tried.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from attrs import frozen

__all__: list[str] = []

ROOT: Final = Path(__file__).resolve().parents[2]
HERE: Final = Path(__file__).resolve().parent
PLACE: Final = ROOT / "build" / "clients"
WITHIN_S: Final = 600.0
SCRIPT: Final = (
    {"when": "^hang", "chunks": ["thinking"], "hang": True},
    {"chunks": ["well", " said"]},
)


@frozen
class Verdict:
    """What a client found: it holds, it is broken, or it could not be tried."""

    client: str
    holds: bool | None
    told: str


class UncheckedError(Exception):
    """A client cannot be tried here; the text says why."""


class BrokenError(Exception):
    """A client found a fault; the text says which."""


def main() -> int:
    """Try every client, say what each found, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.clients")
    parser.add_argument("--strict", action="store_true")
    is_strict = parser.parse_args().strict
    verdicts = [
        _try("line by line", _line_by_line),
        _try("TypeScript SDK", _sdk),
        _try("acpx", _acpx),
    ]
    for each in verdicts:
        word = {True: "holds", False: "BROKEN", None: "UNCHECKED"}[each.holds]
        print(f"{each.client:16} {word:10} {each.told}")
    if any(each.holds is False for each in verdicts):
        return 1
    return 3 if is_strict and any(each.holds is None for each in verdicts) else 0


def _try(client: str, drive: Callable[[], str]) -> Verdict:
    try:
        return Verdict(client, holds=True, told=drive())
    except BrokenError as fault:
        return Verdict(client, holds=False, told=str(fault))
    except UncheckedError as why:
        return Verdict(client, holds=None, told=str(why))


def _line_by_line() -> str:
    tests = sorted(str(path) for path in (ROOT / "tests" / "real").glob("test_acp_*.py"))
    run = _run([sys.executable, "-m", "pytest", "-q", *tests])
    last = run.stdout.strip().rpartition("\n")[2]
    if run.returncode:
        raise BrokenError(f"{run.stdout}\n{last}")
    return last


def _sdk() -> str:
    node = _installed("node")
    shutil.copy(HERE / "sdk_client.mjs", PLACE)
    run = _run([str(node), "sdk_client.mjs", *_program("sdk")], where=PLACE)
    if run.returncode:
        raise BrokenError(f"{run.stdout}\n{run.stderr}")
    return f"{run.stdout.count('holds: ')} things looked at"


def _acpx() -> str:
    acpx = _installed("acpx")
    command = " ".join(_program("acpx"))
    steps = 0

    def step(*words: str, shows: str = "") -> str:
        nonlocal steps
        steps += 1
        run = _run([str(acpx), "--agent", command, *words], where=PLACE)
        if run.returncode or shows not in run.stdout:
            raise BrokenError(f"acpx {' '.join(words)}:\n{run.stdout}\n{run.stderr}")
        return run.stdout

    step("exec", "hello", shows="well said")
    said = step("--format", "json", "exec", "hello")
    if json.loads(said.splitlines()[-1])["result"]["stopReason"] != "end_turn":
        raise BrokenError(f"acpx was not told that the turn ended:\n{said}")
    step("sessions", "new", "--name", "kept")
    step("prompt", "-s", "kept", "hello", shows="well said")
    step("prompt", "-s", "kept", "hello again", shows="well said")
    step("prompt", "-s", "kept", "--no-wait", "hang")
    step("cancel", "-s", "kept")
    step("prompt", "-s", "kept", "hello", shows="well said")
    step("sessions", "list")
    step("sessions", "close", "kept")
    return f"{steps} steps"


def _program(name: str) -> list[str]:
    """Return the command of a program with a script and a store of its own."""
    PLACE.mkdir(parents=True, exist_ok=True)
    script, store = PLACE / "script.jsonl", PLACE / f"{name}.db"
    script.write_text("".join(json.dumps(line) + "\n" for line in SCRIPT), encoding="utf-8")
    for left in PLACE.glob(f"{name}.db*"):
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    program = [sys.executable, "-m", "runtime", "acp", "--store", str(store)]
    return [*program, "--model", f"scripted:{script}"]


def _installed(name: str) -> Path:
    """Return an installed program, installing all of them first if it is not there.

    Raises:
        UncheckedError: they cannot be installed here.
    """
    program = PLACE / "node_modules" / ".bin" / name
    if not program.exists():
        if shutil.which("npm") is None:
            raise UncheckedError("there is no npm here to install it with")
        PLACE.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE / "package.json", PLACE)
        run = _run(["npm", "install", "--no-audit", "--no-fund"], where=PLACE)
        if run.returncode or not program.exists():
            raise UncheckedError(f"npm could not install it: {run.stderr.strip()[-500:]}")
    return program


def _run(command: list[str], where: Path = ROOT) -> "subprocess.CompletedProcess[str]":
    binaries = PLACE / "node_modules" / ".bin"
    # What these clients keep of their user is kept beside them.
    home = PLACE / "home"
    home.mkdir(parents=True, exist_ok=True)
    environment = {
        **os.environ,
        "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "PYTHONPATH": str(ROOT),
    }
    try:
        return subprocess.run(
            command,
            cwd=where,
            env=environment,
            capture_output=True,
            text=True,
            timeout=WITHIN_S,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise BrokenError(f"{' '.join(command)} did not end within {WITHIN_S} s") from late


if __name__ == "__main__":
    sys.exit(main())
