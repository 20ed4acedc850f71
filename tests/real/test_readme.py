"""The README's programs run as they stand, and print what it says they print."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import ROOT

_PROGRAM = re.compile(r"^```python\n(.*?)^```\n(?:\n```\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
PROGRAMS = [
    pytest.param(found[1], found[2], id=f"program {number}")
    for number, found in enumerate(_PROGRAM.finditer((ROOT / "README.md").read_text()), 1)
]


@pytest.mark.real
@pytest.mark.parametrize(("program", "output"), PROGRAMS)
def test_a_program_of_the_readme_runs_as_it_stands(
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
    """As many as the README has blocks of Python."""
    assert len(PROGRAMS) == (ROOT / "README.md").read_text().count("```python\n") >= 4
