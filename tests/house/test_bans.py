"""Ruff refuses the world outside the ports: tried on planted violations, with our configuration."""

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Final

import pytest

from .tree import ROOT

VIOLATIONS: Final = {
    "asyncio.create_subprocess_exec": "import asyncio\nasyncio.create_subprocess_exec('ls')\n",
    "asyncio.create_subprocess_shell": "import asyncio\nasyncio.create_subprocess_shell('ls')\n",
    "asyncio.sleep": "from asyncio import sleep\nsleep(1)\n",
    "datetime.date.today": "from datetime import date\ndate.today()\n",
    "datetime.datetime.now": "from datetime import UTC, datetime\ndatetime.now(UTC)\n",
    "datetime.datetime.today": "import datetime\ndatetime.datetime.today()\n",
    "datetime.datetime.utcnow": "import datetime\ndatetime.datetime.utcnow()\n",
    "os.kill": "import os\nos.kill(1, 9)\n",
    "os.killpg": "import os\nos.killpg(1, 9)\n",
    "random": "import random\n",
    "secrets": "from secrets import token_hex\n",
    "subprocess": "import subprocess\n",
    "threading": "import threading\n",
    "time": "from time import monotonic\n",
    "uuid": "import uuid\n",
}
PURE: Final = "statemachine/planted.py"
SHELL: Final = "runtime/planted.py"
PORTS: Final = "runtime/ports.py"


def refusals(tree: Path, *select: str) -> dict[str, set[str]]:
    """Run ruff over a tree with our configuration; give the messages for each file."""
    shutil.copy(ROOT / "pyproject.toml", tree)
    rules = ",".join(select)
    run = subprocess.run(
        [sys.executable, "-m", "ruff", "check", f"--select={rules}", "--output-format=json", "."],
        cwd=tree,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert run.returncode in {0, 1}, run.stderr
    found: dict[str, set[str]] = {}
    for entry in json.loads(run.stdout):
        name = Path(entry["filename"]).resolve().relative_to(tree.resolve()).as_posix()
        found.setdefault(name, set()).add(entry["message"])
    return found


def plant(tree: Path, name: str, source: str) -> None:
    """Write a file below a tree."""
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).write_text(source, encoding="utf-8")


@pytest.mark.parametrize("place", [PURE, SHELL])
def test_every_ban_refuses_what_it_names(tmp_path: Path, place: str) -> None:
    """Each banned name is refused, in the pure part and in the shell."""
    for index, source in enumerate(VIOLATIONS.values()):
        plant(tmp_path, place.replace("planted", f"planted_{index}"), source)
    found = refusals(tmp_path, "TID251")
    for index, name in enumerate(VIOLATIONS):
        messages = found.get(place.replace("planted", f"planted_{index}"), set())
        assert any(f"`{name}" in message for message in messages), name


def test_the_ports_may_touch_the_world(tmp_path: Path) -> None:
    """The one allowed place is allowed everything on the list, and no other is."""
    for source in VIOLATIONS.values():
        plant(tmp_path, PORTS, source)
        assert refusals(tmp_path, "TID251") == {}


def test_every_banned_name_is_tried() -> None:
    """A name added to the configuration needs a violation here."""
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    linter = configuration["tool"]["ruff"]["lint"]
    assert set(linter["flake8-tidy-imports"]["banned-api"]) == set(VIOLATIONS)


@pytest.mark.parametrize(
    ("name", "is_refused"),
    [("runtime/agent.py", True), ("runtime/containment.py", False), ("runtime/driver.py", False)],
)
def test_catching_everything_has_its_places(
    tmp_path: Path,
    name: str,
    is_refused: bool,  # noqa: FBT001  # a parametrised flag
) -> None:
    """A blind `except` is refused but where foreign failures are contained."""
    plant(tmp_path, name, "try:\n    x = 1\nexcept Exception:\n    x = 2\n")
    assert bool(refusals(tmp_path, "BLE001")) is is_refused
