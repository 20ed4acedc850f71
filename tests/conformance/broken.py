"""Subjects that are broken on purpose, each in one way, so that an oracle has something to find."""

from collections.abc import Awaitable, Callable

from attrs import evolve, frozen

from runtime.subject import RuntimeSubject
from statemachine.conformance.subject import Dropped, Observation, Seen

__all__ = ["LIARS", "CancelForgets", "Liar"]


class CancelForgets(RuntimeSubject):
    """Its cancel does nothing."""

    def cancel(self, agent: str, reason: str | None) -> None:
        """Do nothing."""
