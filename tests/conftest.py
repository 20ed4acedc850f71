"""Options and Hypothesis profiles of the whole test tree.

Every profile has `deadline=None`: a busy machine is not a fault, and pytest-timeout guards against
tests that hang. A profile is chosen by `--hypothesis-profile` or by `QUIESCE_PROFILE`.
"""

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import walk_packages
from typing import Final

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.database import DirectoryBasedExampleDatabase

__all__ = ["deviations", "parts_directory"]

DEFAULT_PROFILE: Final = "ci"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that `make test` and `make verify` differ in."""
    group = parser.getgroup("quiesce")
    group.addoption(
        "--deviations",
        type=int,
        default=1,
        metavar="N",
        help="schedules may leave first-in-first-out in at most N decisions (default: 1)",
    )
    group.addoption(
        "--parts",
        type=Path,
        default=None,
        metavar="DIR",
        help="write the criteria that were checked into DIR, one file for each producer",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the profiles, and load one unless the command line names it."""
    _load_all_modules()
    _register_profiles(config.rootpath)
    if config.getoption("--hypothesis-profile", default=None) is None:
        settings.load_profile(os.environ.get("QUIESCE_PROFILE", DEFAULT_PROFILE))


@pytest.fixture(scope="session")
def deviations(pytestconfig: pytest.Config) -> int:
    """Give the number of decisions in which a schedule may leave first-in-first-out."""
    chosen: int = pytestconfig.getoption("--deviations")
    return chosen


@pytest.fixture(scope="session")
def parts_directory(pytestconfig: pytest.Config) -> Path | None:
    """Give the directory for checked criteria, made if missing, or None if nobody wants them."""
    chosen: Path | None = pytestconfig.getoption("--parts")
    if chosen is not None:
        chosen.mkdir(parents=True, exist_ok=True)
    return chosen


def _load_all_modules() -> None:
    # Hypothesis takes some of what it draws from the constants of whichever modules are loaded by
    # then. With that, a program that is drawn without chance would still depend on which tests the
    # same process has run before. So everything is loaded before anything is drawn.
    for name in ("rfc_corpus", "runtime", "statemachine"):
        spec = find_spec(name)  # the first is not on the path of a run in another folder
        folders = None if spec is None else spec.submodule_search_locations
        for found in walk_packages(folders or (), f"{name}."):
            import_module(found.name)


def _register_profiles(root: Path) -> None:
    # Stateful examples are slow to generate by nature: every draw runs the loop.
    unhurried = settings(
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    remembered = DirectoryBasedExampleDatabase(root / ".hypothesis" / "examples")
    gate = settings(unhurried, derandomize=True, database=None)
    brief = [Phase.explicit, Phase.generate]
    settings.register_profile("fast", gate, max_examples=20, phases=brief)
    settings.register_profile("ci", gate, max_examples=100)
    settings.register_profile("hunt", unhurried, max_examples=1_000, database=remembered)
    settings.register_profile("night", unhurried, max_examples=20_000, database=remembered)
