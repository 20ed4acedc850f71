"""What is going on while a verdict is being made: one line for each engine, on standard error."""

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from attrs import define, field

__all__ = ["Progress", "quiet_runtimes"]


@contextmanager
def quiet_runtimes() -> Iterator[None]:
    """Keep the process log out of the verdict: searches meet every contained failure many times."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def _spinner(text: str) -> AbstractContextManager[Any]:
    """Show a moving line on a terminal that can have one; nothing without rich."""
    try:
        from rich.console import Console  # noqa: PLC0415  # an extra, and only for show
    except ModuleNotFoundError:
        return nullcontext()
    return Console(stderr=True).status(text)


@define
class Progress:
    """Tells what runs; a spinner on a terminal, plain lines otherwise, nothing when quiet."""

    is_quiet: bool = False
    seconds: dict[str, float] = field(factory=dict)
    """How long each engine took."""

    @contextmanager
    def running(self, engine: str, what: str) -> Iterator[None]:
        """Show an engine while it runs, and its seconds afterwards."""
        started = time.perf_counter()
        is_shown = not self.is_quiet and sys.stderr.isatty()
        with _spinner(f"{engine}: {what}") if is_shown else nullcontext():
            if not is_shown:
                self.say(f"{engine}: {what} ...")
            yield
        self.seconds[engine] = round(time.perf_counter() - started, 3)
        self.say(f"{engine}: done in {self.seconds[engine]:.1f} s")

    def say(self, text: str) -> None:
        """Print a line, unless quiet."""
        if not self.is_quiet:
            print(text, file=sys.stderr, flush=True)  # noqa: T201  # progress is printed
