"""The files of the project, as the house tests see them: what is committed or could be."""

import subprocess
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["CODE", "PACKAGES", "ROOT", "matches", "project_files", "python_files", "text_of"]

ROOT: Final = Path(__file__).resolve().parents[2]
PACKAGES: Final = ("statemachine", "runtime")
CODE: Final = (*PACKAGES, "tests", "specs")


@cache
def project_files() -> tuple[str, ...]:
    """List every file that git tracks or would track, relative to the root, with slashes."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        timeout=30,
    )
    names = {name for name in listing.stdout.split("\0") if name}
    # A file deleted but not yet committed is still listed.
    found = tuple(sorted(name for name in names if (ROOT / name).is_file()))
    assert "pyproject.toml" in found, "the listing is not of this project"
    return found


def python_files(*folders: str) -> tuple[str, ...]:
    """List the Python files below the given top-level folders."""
    return tuple(
        name
        for name in project_files()
        if name.endswith(".py") and name.partition("/")[0] in folders
    )


@cache
def text_of(name: str) -> str:
    """Read a project file; what is not text reads as empty."""
    try:
        return (ROOT / name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def matches(name: str, *patterns: str) -> bool:
    """Say whether a name is one of the patterns, or lies below one that ends with a slash."""
    return any(
        name.startswith(pattern) if pattern.endswith("/") else name == pattern
        for pattern in patterns
    )
