"""The programs in pages for readers run as they stand, and print what the page says they print."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import ROOT

_BLOCK = re.MULTILINE | re.DOTALL
_PROGRAM = re.compile(r"^```python\n(.*?)^```\n(?:\n```\n(.*?)^```\n)?", _BLOCK)
PAGES = (ROOT / "README.md", *sorted((ROOT / "specs").glob("*.md")))
PROGRAMS = [
    pytest.param(found[1], found[2], id=f"{page.relative_to(ROOT)}, program {number}")
    for page in PAGES
    for number, found in enumerate(_PROGRAM.finditer(page.read_text(encoding="utf-8")), 1)
]


@pytest.mark.real
@pytest.mark.parametrize(("program", "output"), PROGRAMS)
def test_a_program_of_a_page_runs_as_it_stands(
    program: str, output: str | None, tmp_path: Path
) -> None:
    """In an empty folder, with warnings as errors."""
    if "asyncio.run(" not in program:
        program += "\n\nimport asyncio\n\nasyncio.run(use())\n"
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
        timeout=60,
    )  # fmt: skip
    assert ran.stderr == ""
    assert ran.returncode == 0
    assert output is None or ran.stdout == output


def test_every_program_is_found() -> None:
    """As many as the pages have blocks of Python, in the front page and in the reading order."""
    blocks = [page.read_text(encoding="utf-8").count("```python\n") for page in PAGES]
    assert len(PROGRAMS) == sum(blocks)
    assert blocks[0] >= 4
    assert sum(blocks[1:]) >= 1


def test_the_story_of_the_front_page_is_told_by_its_own_command() -> None:
    """The command at the end of the story runs that schedule again and tells the same."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    story, command = re.findall(r"^```\n--- (.*?)^python (-m statemachine.*?)\n```", text, _BLOCK)[
        0
    ]
    replayed = subprocess.run(
        [sys.executable, *shlex.split(command)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert replayed.stdout == story
    assert replayed.returncode == 1
