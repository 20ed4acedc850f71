"""The wheel works for a stranger: installed into an empty environment, run from an empty folder."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
KIT: Final = ("-m", "statemachine.conformance")

pytestmark = pytest.mark.real


def run(
    *command: str | Path, folder: Path, within_s: float = 60
) -> subprocess.CompletedProcess[str]:
    """Run a command without the source tree on its search path."""
    environment = {key: text for key, text in os.environ.items() if key != "PYTHONPATH"}
    return subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=within_s,
        check=False,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel with the pinned build tool."""
    folder = tmp_path_factory.mktemp("wheel")
    built = run(
        *(
            sys.executable,
            "-m",
            "hatchling",
            "build",
            "--target",
            "wheel",
            "--directory",
            str(folder),
        ),
        folder=ROOT,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the interpreter of an environment that holds the wheel and its core dependencies."""
    folder = tmp_path_factory.mktemp("environment")
    made = run(sys.executable, "-m", "venv", "--without-pip", folder, folder=folder)
    assert made.returncode == 0, made.stderr
    interpreter = folder / "bin" / "python"
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    constraints = ROOT / ".ci" / f"constraints-{version}.txt"
    pins = ["--constraint", str(constraints)] if constraints.exists() else []
    # The pip of this environment installs into that one: making a second pip takes longer than
    # all the rest.
    installed = run(
        *(sys.executable, "-m", "pip", "--python", str(interpreter), "--disable-pip-version-check"),
        *("install", "--quiet", *pins, str(wheel)),
        folder=folder,
    )
    assert installed.returncode == 0, installed.stderr
    return interpreter


def test_wheel_holds_both_packages_and_the_clauses(wheel: Path) -> None:
    """What is installed is the packages, typed, and the texts that they cite; nothing else."""
    names = zipfile.ZipFile(wheel).namelist()
    assert {"statemachine/py.typed", "runtime/py.typed"} <= set(names)
    assert any(name.startswith("statemachine/_clauses/") for name in names)
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"statemachine", "runtime"}


def test_kit_explains_itself_from_an_empty_folder(python: Path, tmp_path: Path) -> None:
    """The kit's help needs no extra and no source tree."""
    shown = run(python, *KIT, "--help", folder=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "verify" in shown.stdout


def test_runtime_imports_without_extras(python: Path, tmp_path: Path) -> None:
    """The packages themselves need their core dependencies only."""
    imported = run(python, "-c", "import statemachine, runtime", folder=tmp_path)
    assert imported.returncode == 0, imported.stderr


def test_verb_without_its_extra_names_it(python: Path, tmp_path: Path) -> None:
    """A verb that needs Hypothesis says how to get it, and does not claim to have run."""
    refused = run(
        *(str(python), *KIT, "verify", "--subject", "runtime.subject:make_subject"), folder=tmp_path
    )
    assert refused.returncode == 2, refused.stdout + refused.stderr
    assert "quiesce[verify]" in refused.stderr
    assert "Traceback" not in refused.stderr
