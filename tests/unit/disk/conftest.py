"""A store to look at from the command line, and how to do that."""

from collections.abc import Callable
from pathlib import Path

import pytest

from runtime.__main__ import main
from runtime.session.places import backend_at

from .conversing import STORES, Said, conversation
from .recorded import recorded, store


@pytest.fixture(params=STORES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Give the path of a store with one session that is closed, one that is open, one hostile."""
    path: Path = tmp_path / request.param
    backend = backend_at(path)
    store(backend, *recorded("closed", cwd="/tmp/x"))  # noqa: S108  # the name of a directory
    store(backend, *conversation("open"))
    store(backend, *recorded("\x1b[31m red"))
    backend.close()
    return path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Give a function that runs a command and returns what it said."""

    def run_one(*arguments: object) -> Said:
        status = main(["sessions", *map(str, arguments)])
        return Said(status, *capsys.readouterr())

    return run_one
