"""Spin, as a program: it turns a model into C, the compiler turns that into a search."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest
from attrs import frozen

__all__ = ["Search", "compiled", "needs_spin", "states_in"]

MISSING: Final = [program for program in ("spin", "cc") if shutil.which(program) is None]

needs_spin = pytest.mark.skipif(
    bool(MISSING),
    reason=f"{' and '.join(MISSING)} not installed, so the second engine looks at nothing; "
    "`apt-get install spin gcc` or `brew install spin`",
)


@frozen
class Search:
    """A compiled model."""

    program: Path

    def run(self, *options: str) -> str:
        """Search, and return what was printed."""
        run = subprocess.run(
            [self.program, "-w18", *options],  # a small table of states: these models are small
            cwd=self.program.parent,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert "errors: " in run.stdout, run.stdout[-2000:] + run.stderr
        return run.stdout

    def holds(self, formula: str, *, is_fair: bool) -> bool:
        """Return whether no run refutes a formula."""
        return "errors: 0" in self.run("-a", *(["-f"] if is_fair else []), "-N", formula)


def compiled(model: str, folder: Path, *defines: str) -> Search:
    """Compile a model in a folder of its own."""
    (folder / "model.pml").write_text(model, encoding="utf-8")
    # No reduction: the count of states is to be that of the model. Three: two processes and one.
    options = ["-O0", "-w", "-DNOREDUCE", "-DNFAIR=3"]
    for command in (
        ["spin", *defines, "-a", "model.pml"],
        ["cc", *options, "-o", "search", "pan.c"],
    ):
        made = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=60, check=False
        )
        assert made.returncode == 0, made.stdout + made.stderr
    return Search(folder / "search")


def states_in(told: str) -> int:
    """Return how many states a search stored."""
    found = re.search(r"^ *(\d+) states, stored", told, re.MULTILINE)
    assert found is not None, told
    return int(found[1])
