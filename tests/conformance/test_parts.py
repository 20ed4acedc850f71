"""What the project's own tests write for the verdict, with and without several processes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

TESTS = """
import pytest
from types import SimpleNamespace

LAYER = "runtime"
FOUND = SimpleNamespace(id="found", fault="seen by all", invariant="INV-01")
MISSED = SimpleNamespace(id="missed", fault="seen by one of two", invariant="INV-02")

@pytest.mark.parametrize("mutant", [FOUND, MISSED], ids=lambda mutant: mutant.id)
def test_first(mutant):
    pass

@pytest.mark.parametrize("mutant", [FOUND, MISSED], ids=lambda mutant: mutant.id)
def test_second(mutant):
    assert mutant is FOUND

def test_other_death(record_mutant):
    record_mutant(
        id="other", fault="dies of another reason", layer="runtime",
        must_die_of="INV-04", died_of="INV-05",
    )

def test_recorded_and_failed(record_mutant):
    record_mutant(
        id="late", fault="killed, but the test failed", layer="runtime",
        must_die_of="INV-04", died_of="INV-04", seconds=1.5,
    )
    assert False

@pytest.mark.clause("A-01", "A-49")
def test_directed():
    pass

@pytest.mark.clause("A-01")
def test_directed_and_broken():
    assert False

@pytest.mark.clause("A-01")
@pytest.mark.skip
def test_not_run():
    pass
"""


@pytest.fixture(scope="module", params=["0", "2"], ids=["one process", "two processes"])
def parts(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the tests above and give the folder of what they wrote."""
    folder = tmp_path_factory.mktemp("parts")
    (folder / "test_planted.py").write_text(TESTS, encoding="utf-8")
    plugins = ("tests.conftest", "tests.mutants.conftest", "tests.conformance.directed")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        str(request.param),
        "--rootdir",
        str(folder),
    ]
    command += [word for plugin in plugins for word in ("-p", plugin)]
    command += ["--parts", str(folder / "out"), str(folder / "test_planted.py")]
    ran = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=100
    )
    assert ran.returncode == 1, ran.stdout + ran.stderr
    return folder / "out"


def read(parts: Path, name: str, key: str) -> list[dict[str, Any]]:
    """Read one list of a part."""
    found: list[dict[str, Any]] = json.loads((parts / name).read_text(encoding="utf-8"))[key]
    return found


def test_the_kill_matrix_has_every_fault_once_and_the_worst_that_was_said(parts: Path) -> None:
    """A fault is killed if all its tests passed and it died of what it must die of."""
    mutants = {each["id"]: each for each in read(parts, "mutants.json", "mutants")}
    assert {name: each["killed"] for name, each in mutants.items()} == {
        "found": True,
        "missed": False,
        "other": False,
        "late": False,
    }
    assert mutants["found"]["must_die_of"] == mutants["found"]["died_of"] == "INV-01"
    assert mutants["found"]["layer"] == "runtime"
    assert mutants["other"]["died_of"] == "INV-05"
    assert mutants["late"]["seconds"] == 1.5


def test_directed_tests_speak_for_the_rows_whose_clauses_they_cite(parts: Path) -> None:
    """A test that failed breaks its rows, one that was skipped says nothing."""
    rows = {each["id"]: each["checks"] for each in read(parts, "directed.json", "criteria")}
    assert set(rows) == {"INV-09", "INV-10"}
    names = [each["name"].partition("::")[2] for each in rows["INV-09"]]
    assert names == ["test_directed", "test_directed_and_broken"]
    assert [bool(each["why"]) for each in rows["INV-09"]] == [False, True]
