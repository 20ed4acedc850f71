"""Our import names are common words: a stranger of the same name is refused, not half used."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from .tree import PACKAGES, ROOT


def imports(module: str, *search_path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Import a module in a fresh interpreter with the given search path."""
    return subprocess.run(
        [sys.executable, "-P", "-c", f"import {module}"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, search_path))},
    )


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    """Give a folder in which another distribution has installed a `statemachine`."""
    home = tmp_path / "stranger" / "statemachine"
    home.mkdir(parents=True)
    (home / "__init__.py").write_text('__version__ = "9.9"\n', encoding="utf-8")
    return home.parent


def test_the_names_are_what_the_fence_guards() -> None:
    """The distribution is `quiesce`, and it installs exactly the two packages."""
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert configuration["project"]["name"] == "quiesce"
    wheel = configuration["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert tuple(wheel["packages"]) == PACKAGES


def test_runtime_refuses_a_foreign_statemachine(tmp_path: Path, stranger: Path) -> None:
    """When the stranger is found first, the runtime says so instead of failing later."""
    run = imports("runtime", stranger, ROOT, folder=tmp_path)
    assert run.returncode == 1
    assert "ImportError" in run.stderr
    assert "is not the one of quiesce" in run.stderr


def test_statemachine_refuses_a_stranger_further_down(tmp_path: Path, stranger: Path) -> None:
    """When ours is found first, the stranger behind it is still named and refused."""
    run = imports("statemachine", ROOT, stranger, folder=tmp_path)
    assert run.returncode == 1
    assert "another distribution also installs `statemachine`" in run.stderr
    assert str(stranger) in run.stderr


def test_statemachine_refuses_files_written_into_its_folder(tmp_path: Path) -> None:
    """Two distributions in one folder overwrite each other, whichever file survived."""
    home = tmp_path / "site" / "statemachine"
    shutil.copytree(ROOT / "statemachine", home)
    (home / "statemachine.py").touch()
    run = imports("statemachine", home.parent, folder=tmp_path)
    assert run.returncode == 1
    assert "another distribution also installs `statemachine`" in run.stderr


def test_a_second_copy_of_ours_is_no_stranger(tmp_path: Path) -> None:
    """An installed copy beside a source tree is refused by nobody."""
    home = tmp_path / "copy" / "statemachine"
    (home / "conformance").mkdir(parents=True)
    (home / "__init__.py").touch()
    run = imports("runtime", ROOT, home.parent, folder=tmp_path)
    assert run.returncode == 0, run.stderr
