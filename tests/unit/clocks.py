"""A clock for tests that need no stage."""

from attrs import define

__all__ = ["SetClock"]


@define
class SetClock:
    """A clock that tells what the test says, and stands still until it says something else."""

    time_ms: int = 1_000

    def now_ms(self) -> int:
        """Tell the time that was set."""
        return self.time_ms
