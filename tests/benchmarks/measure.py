"""Measuring on a machine that is not quiet.

Only ratios of one run mean anything. So everything that is compared is measured in turns (A B C,
A B C, ...), in processor time, which an interruption by another process does not enter, and the
smallest of the rounds is kept: whatever disturbs a measurement makes it longer. The median stands
beside it and shows how disturbed the run was.
"""

import gc
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from statistics import median

from attrs import frozen

__all__ = ["Contender", "Sample", "interleave", "now_ns", "quiet"]

Contender = Callable[[int], Awaitable[int]]
"""Prepares itself, does its work so many times, and returns how long only the work took, in ns."""

now_ns = time.process_time_ns
"""The processor time of this process, in nanoseconds."""


@frozen(kw_only=True)
class Sample:
    """What one contender took for one item, over all rounds."""

    best_us: float
    median_us: float

    def ratio_to(self, other: "Sample") -> float:
        """Return how many times as long this took, best against best."""
        return self.best_us / other.best_us


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the garbage collector from running in somebody's time; it is measured by itself."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


async def interleave(
    contenders: Mapping[str, Contender], *, rounds: int, items: int
) -> dict[str, Sample]:
    """Measure every contender in every round and keep the best and the median of each."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, contender in contenders.items():
            with quiet():
                times[name].append(await contender(items) / items / 1_000)
    return {
        name: Sample(best_us=min(measured), median_us=median(measured))
        for name, measured in times.items()
    }
