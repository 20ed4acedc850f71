"""import-linter keeps the layers: each contract is tried on an import planted in a copy."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Final

import pytest

from .tree import PACKAGES, ROOT, python_files

# Contract: (module that gets the import, line that is planted, edge that must be named).
PLANTED: Final = {
    "layers-of-statemachine": (
        "statemachine/windows.py",
        "import statemachine.machine",
        "statemachine.windows -> statemachine.machine",
    ),
    "layers-of-the-kit": (
        "statemachine/conformance/stage/gates.py",
        "import statemachine.conformance.subject",
        "statemachine.conformance.stage.gates -> statemachine.conformance.subject",
    ),
    "layers-of-runtime": (
        "runtime/errors.py",
        "import runtime.ports",
        "runtime.errors -> runtime.ports",
    ),
    "specification-first": (
        "statemachine/shape.py",
        "import runtime.errors",
        "statemachine.shape -> runtime.errors",
    ),
    "one-way-in": (
        "runtime/errors.py",
        "import statemachine.shape",
        "runtime.errors -> statemachine.shape",
    ),
    "transitions-declares": (
        "statemachine/commands.py",
        "import transitions",
        "statemachine.commands -> transitions",
    ),
    "hypothesis-proves": (
        "statemachine/machine.py",
        "import hypothesis",
        "statemachine.machine -> hypothesis",
    ),
    "pure-part-waits-for-nothing": (
        "statemachine/machine.py",
        "import asyncio",
        "statemachine.machine -> asyncio",
    ),
    "world-through-ports": (
        "runtime/errors.py",
        "import threading",
        "runtime.errors -> threading",
    ),
}


def copy_of_the_packages(tree: Path) -> None:
    """Copy the configuration and the two packages."""
    for name in ("pyproject.toml", *python_files(*PACKAGES)):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tree / name)


def lint(tree: Path) -> str:
    """Run import-linter over a tree and give what it says, on one line for each import."""
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    run = subprocess.run(
        [sys.executable, "-c", program, "--no-cache"],
        cwd=tree,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PYTHONPATH": str(tree), "COLUMNS": "200"},
    )
    assert "Contracts:" in run.stdout, run.stdout + run.stderr
    return run.stdout


def contracts() -> dict[str, str]:
    """Give the name of each contract by its id."""
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    return {contract["id"]: contract["name"] for contract in linter["importlinter"]["contracts"]}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Say what import-linter says when every violation is planted at once."""
    tree = tmp_path_factory.mktemp("planted")
    copy_of_the_packages(tree)
    for name, line, _ in PLANTED.values():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        with (tree / name).open("a", encoding="utf-8") as module:
            module.write(f"\n{line}\n")
    return lint(tree)


@pytest.mark.parametrize("identifier", contracts())
def test_every_contract_refuses_a_planted_import(report: str, identifier: str) -> None:
    """A contract that cannot break keeps nothing; each breaks on the import meant for it."""
    name = contracts()[identifier]
    edge = PLANTED[identifier][2]
    assert re.search(rf"^{re.escape(name)} BROKEN", report, re.MULTILINE), report
    broken = report.partition("Broken contracts")[2]
    section = re.search(rf"\n{re.escape(name)}\n-+\n(.*?)(?=\n[^\n]+\n-+\n|\Z)", broken, re.DOTALL)
    assert section
    assert edge in section[1], report


def test_the_layers_hold(tmp_path: Path) -> None:
    """The same copy without the planted imports breaks nothing."""
    copy_of_the_packages(tmp_path)
    report = lint(tmp_path)
    assert f"Contracts: {len(contracts())} kept, 0 broken." in report, report
