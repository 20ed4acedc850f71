"""Shows what was measured behind the last test, and keeps it in `build/benchmarks.json`."""

import pytest

from .report import Report

_REPORT = pytest.StashKey[Report]()


def pytest_configure(config: pytest.Config) -> None:
    """Begin an empty report."""
    config.stash[_REPORT] = Report()


@pytest.fixture
def report(pytestconfig: pytest.Config) -> Report:
    """Give the report of this run."""
    return pytestconfig.stash[_REPORT]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the report and write it down, if anything was measured."""
    report = config.stash[_REPORT]
    if not report.tables:
        return
    terminalreporter.section("what was measured, as ratios of this one run")
    for line in report.render():
        terminalreporter.write_line(line)
    path = config.rootpath / "build" / "benchmarks.json"
    report.save(path)
    terminalreporter.write_line(f"\nwritten to {path.relative_to(config.rootpath)}")
