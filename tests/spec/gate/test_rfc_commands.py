"""The commands as they are typed: the gate's folder, the targets of make, and our own corpus."""

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from rfc_corpus.commands import OURS
from rfc_corpus.index import CONTRACT

from .corpora import GOOD, IMPLEMENTED, corpus, place_of

ROOT: Final = Path(__file__).resolve().parents[3]
GATE: Final = ROOT / "specs" / "gate"


def call(*command: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, and return what it said."""
    # Under `make verify` the variables of that make would reach the one that is tried here.
    environment = {name: text for name, text in os.environ.items() if "MAKE" not in name}
    return subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def snapshot(root: Path) -> dict[str, tuple[int, bytes]]:
    """Return the content and the time of every file below a folder."""
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """Give a corpus in which one RFC has two defects and another one lies wrong."""
    text = IMPLEMENTED.replace("Status: implemented", "Status: done").replace("## Decision", "##")
    texts = {place_of("implemented"): text, "draft/x.md": "", "INDEX.md": "", "README.md": ""}
    return corpus(tmp_path / "a corpus", texts)


@pytest.mark.clause("L-16")
def test_every_violation_is_told_with_its_place_on_standard_error(damaged: Path) -> None:
    """File and line first, one violation a line, exit code 1, nothing changed."""
    before = snapshot(damaged)
    told = call(sys.executable, GATE, "verify-format", damaged.name, folder=damaged.parent)
    place = f"{damaged.name}/{place_of('implemented')}"
    assert told.returncode == 1
    assert told.stdout == ""
    assert [line.partition(": ")[0] for line in told.stderr.splitlines()] == [
        f"{place}:1",
        f"{place}:3",
        f"{damaged.name}:1",
    ]
    assert snapshot(damaged) == before


@pytest.mark.clause("L-16")
@pytest.mark.parametrize("command", ["verify-format", "verify-classification"])
def test_success_is_told_on_standard_output_with_the_count(tmp_path: Path, command: str) -> None:
    """A corpus in order gives one line with its count of RFCs, exit code 0, and stays as it is."""
    root = corpus(tmp_path, {place_of(lifecycle): text for lifecycle, text in GOOD.items()})
    before = snapshot(root)
    told = call(sys.executable, GATE, command, root, folder=tmp_path)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.startswith(f"{command}: 3 RFCs ")
    assert snapshot(root) == before


@pytest.mark.clause("L-16")
@pytest.mark.parametrize(
    "arguments", [(), ("verify",), ("verify-format", "nowhere"), ("gen-index", "a", "b")]
)
def test_a_command_that_cannot_begin_says_why(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """A mistyped command or root is neither a success nor a violation."""
    told = call(sys.executable, GATE, *arguments, folder=tmp_path)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr


@pytest.mark.clause("L-16")
@pytest.mark.seed("SEED-69", "SEED-78")
def test_make_rfc_asks_both_gates(damaged: Path) -> None:
    """`make rfc ROOT=dir` fails when any gate does, and tells what each of them found."""
    told = make("rfc", f"ROOT={damaged}")
    assert told.returncode != 0
    assert "(L-02)" in told.stderr
    assert "(L-06)" in told.stderr
    shutil.rmtree(damaged / "draft")
    (damaged / place_of("implemented")).write_text(IMPLEMENTED, encoding="utf-8")
    assert make("rfc-index", f"ROOT={damaged}").returncode == 0
    told = make("rfc", f"ROOT={damaged}")
    assert told.returncode == 0, told.stderr
    assert told.stdout.count("1 RFC ") == 2


@pytest.mark.clause("L-16")
@pytest.mark.seed("SEED-78")
def test_make_check_asks_the_gates(damaged: Path) -> None:
    """The gates are part of what has to hold before a change lands, and fail it."""
    # Every other tool is replaced by a program that does nothing.
    tools = damaged.parent / "tools"
    tools.write_text(f'#!/bin/sh\n[ "$1" = -m ] || [ "$1" = -c ] || exec {sys.executable} "$@"\n')
    tools.chmod(0o755)
    assert make("check", f"RUN={tools}", f"ROOT={damaged}").returncode != 0
    good = corpus(damaged.parent / "good", {place_of("implemented"): IMPLEMENTED})
    told = make("check", f"RUN={tools}", f"ROOT={good}")
    assert told.returncode == 0, told.stderr


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a target of the Makefile with this interpreter, and without setting anything up."""
    chosen = (
        () if any(each.startswith("RUN=") for each in arguments) else (f"RUN={sys.executable}",)
    )
    # Told which Python there is, make does not look for one.
    return call("make", *arguments, *chosen, f"PYTHON={sys.executable}", "STAMP=", folder=ROOT)


# ------------------------------------------------------------------------------ our own corpus


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Give a copy of the gate and of our corpus, side by side as they lie here."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(GATE, tmp_path / "specs" / "gate", ignore=ignored)
    return Path(shutil.copytree(OURS, tmp_path / "specs" / "rfc"))


@pytest.mark.clause("L-19", "L-22", "L-28")
@pytest.mark.seed("SEED-82")
@pytest.mark.parametrize(
    ("name", "expected"),
    [("INDEX.md", "INDEX.md:1: there is no index"), ("README.md", f"1: there is no `{CONTRACT}`")],
)
def test_our_corpus_needs_its_index_and_its_readme(copy: Path, name: str, expected: str) -> None:
    """Beside the gate both have to be there, whether or not the root is named."""
    gate = copy.parent / "gate"
    (copy / name).unlink()
    for root in ((), ("specs/rfc",)):
        told = call(sys.executable, gate, "verify-classification", *root, folder=copy.parent.parent)
        assert told.returncode == 1
        assert expected in told.stderr
        assert len(told.stderr.splitlines()) == 1


@pytest.mark.clause("L-22")
@pytest.mark.seed("SEED-82")
def test_our_readme_is_the_contract(copy: Path) -> None:
    """A front door without the format is refused, and there is no other file for it."""
    readme = copy / "README.md"
    text = readme.read_text(encoding="utf-8")
    assert f"\n{CONTRACT}\n" in text
    readme.write_text(text.replace(CONTRACT, "## Nothing"), encoding="utf-8")
    told = call(sys.executable, copy.parent / "gate", "verify-classification", folder=copy)
    assert told.returncode == 1
    assert "(L-22)" in told.stderr


def imports(source: str) -> Iterator[str]:
    """Yield the top-level names that a module imports absolutely."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0]


@pytest.mark.clause("L-16")
def test_the_gate_stands_alone() -> None:
    """It judges a corpus without the packages of this project, so it runs on any."""
    files = [path for path in GATE.rglob("*.py") if "__pycache__" not in path.parts]
    used = {name for path in files for name in imports(path.read_text(encoding="utf-8"))}
    assert used - sys.stdlib_module_names == {"attrs", "rfc_corpus"}
    assert set(imports("from runtime import x\nimport statemachine.shape")) == {
        "runtime",
        "statemachine",
    }
