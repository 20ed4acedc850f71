"""The suites as evidence: what was drawn, which invariant judged how often, what broke.

The suites need Hypothesis; nothing here imports them before they are asked for.
"""

from collections.abc import Callable

from .evidence import Canary, Engine, Evidence
from .subject import MakeSubject

__all__ = ["fuzz", "fuzz_canary"]


def fuzz(
    make_subject: MakeSubject,
    *,
    level: str,
    profile: str,
    engine: Engine,
    seconds: float | None = None,
) -> Evidence:
    """Run the suites on a subject and return what they show."""
    raise NotImplementedError


def fuzz_canary(make_subject: MakeSubject, run: Callable[..., Evidence] = fuzz) -> Canary:
    """Run a suite on a subject whose `cancel` does nothing; it has to die."""
    raise NotImplementedError
