"""The price of a whole life, and of a cancel."""

import asyncio
from collections.abc import Mapping
from typing import Final

from . import bare, ours
from .measure import Contender, interleave
from .report import Report

ROUNDS: Final = 20
ITEMS: Final = 200


def _compare(report: Report, title: str, contenders: Mapping[str, Contender]) -> None:
    """Report each contender as a ratio to the first, the bare one."""
    samples = asyncio.run(interleave(contenders, rounds=ROUNDS, items=ITEMS))
    floor = next(iter(samples.values()))
    rows = []
    for name, sample in samples.items():
        times = f"best {sample.best_us:.1f} us, median {sample.median_us:.1f} us"
        rows.append((name, f"{sample.ratio_to(floor):.2f} x", times))
        report.numbers[f"{name}, us"] = sample.best_us
        report.numbers[f"{name}, ratio"] = sample.ratio_to(floor)
    report.table(title, rows)


def test_a_life_beside_that_of_a_bare_worker(report: Report) -> None:
    """An agent is made, takes one turn and is disposed of; a worker is started and stopped."""
    contenders = {"start, item, stop": bare.live, "create, turn, dispose": ours.live}
    _compare(report, "a whole life with one message in it", contenders)


def test_a_cancel_beside_that_of_a_bare_task(report: Report) -> None:
    """From the call to idle, the turn's closing records and its end included."""
    contenders = {"cancel to task's end": bare.stop, "cancel to idle": ours.stop}
    _compare(report, "a cancel while the other side is silent", contenders)
