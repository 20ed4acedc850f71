"""What it costs to keep sessions, as ratios to plain loops in the same run."""

import asyncio
import gc
import time
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest

import runtime

from .measure import Contender, Sample, interleave
from .ours import MODEL, NoOpModel
from .report import Report
from .stores import appending, loaded, loading, stored

ROUNDS: Final = 5
BATCHES: Final = (1, 10, 100)
LENGTHS: Final = (10, 1_000, 100_000)
"""The last one takes minutes on a slow machine."""
PLAIN: Final = {"sqlite": "plain sqlite", "json lines": "plain file"}


def _rows(report: Report, what: str, samples: dict[str, Sample]) -> list[tuple[str, str, str]]:
    rows = []
    for name, plain in PLAIN.items():
        ours, theirs = samples[name], samples[plain]
        note = f"best {ours.best_us:,.1f} us, median {ours.median_us:,.1f}; {plain} "
        note += f"{theirs.best_us:,.1f}, median {theirs.median_us:,.1f}"
        rows.append((f"{name}, {what}", f"{ours.ratio_to(theirs):.2f} x", note))
        report.numbers[f"store, {what}, {name}, us"] = ours.best_us
        report.numbers[f"store, {what}, {name}, ratio"] = ours.ratio_to(theirs)
    return rows


def test_appending_beside_plain_loops(report: Report) -> None:
    """One record, batched or not, until it would survive."""
    rows = []
    for batch in BATCHES:
        items = 50 * batch
        samples = asyncio.run(interleave(appending(batch), rounds=ROUNDS, items=items))
        rows += _rows(report, f"batches of {batch}", samples)
        for name in PLAIN:
            per_second = 1_000_000 / samples[name].best_us
            report.numbers[f"store, batches of {batch}, {name}, records/s"] = per_second
            rows.append((f"{name}, batches of {batch}", f"{per_second:,.0f} /s", "records"))
    report.table("a record appended, durable when its batch is", rows)


@pytest.mark.timeout(900)
def test_loading_beside_plain_loops(report: Report) -> None:
    """A whole session, checked, of three lengths: is it linear?"""
    rows = []
    for length in LENGTHS:
        with stored(length) as directory:
            items = max(1, 200 // length)
            rounds = ROUNDS if length < 50_000 else 2
            measured = asyncio.run(interleave(loading(directory), rounds=rounds, items=items))
        samples = {
            name: Sample(best_us=each.best_us / length, median_us=each.median_us / length)
            for name, each in measured.items()
        }
        rows += _rows(report, f"{length:,} records", samples)
    report.table("a record loaded; plain: JSON parsed, nothing checked", rows)


@pytest.mark.timeout(900)
def test_the_heap_while_loading(report: Report) -> None:
    """The peak beside what is kept in the end: nothing else may grow with the length."""
    length = 20_000
    rows = []
    with stored(length) as directory:
        for name in (*PLAIN, *PLAIN.values()):
            gc.collect()
            tracemalloc.start()
            try:
                kept = loaded(name, directory)
                gc.collect()
                held, peak = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            assert len(kept) == length
            report.numbers[f"store, heap while loading, {name}, bytes"] = peak / length
            report.numbers[f"store, heap while loading, {name}, ratio"] = peak / held
            note = f"peak {peak / length:,.0f} bytes a record, kept {held / length:,.0f}"
            rows.append((name, f"{peak / held:.2f} x", note))
    report.table(f"heap while {length:,} records are loaded, peak to kept", rows)


def _turns(name: str | None) -> Contender:
    async def run(items: int) -> int:
        with TemporaryDirectory() as directory:
            store = None if name is None else Path(directory) / name
            async with (
                runtime.open_runtime(
                    store=store, models={MODEL: NoOpModel()}, default_model=MODEL
                ) as opened,
                opened.agents.create() as agent,
            ):
                began = time.perf_counter_ns()
                for _ in range(items):
                    await runtime.exchange(agent, "hi")
                return time.perf_counter_ns() - began

    return run


def test_a_turn_that_is_kept_beside_one_that_is_not(report: Report) -> None:
    """What a flush adds to a turn, beside a plain commit of one row."""
    plain = appending(1)
    contenders = {
        "a plain commit": plain["plain sqlite"],
        "a plain write and sync": plain["plain file"],
        "turn, not kept": _turns(None),
        "turn, sqlite": _turns("s.db"),
        "turn, json lines": _turns("s.jsonl"),
    }
    samples = asyncio.run(interleave(contenders, rounds=ROUNDS, items=50))
    bare = samples["turn, not kept"].best_us
    rows = []
    for name, sample in samples.items():
        beside = "a plain write and sync" if name == "turn, json lines" else "a plain commit"
        ratio = (sample.best_us - (bare if "turn" in name else 0)) / samples[beside].best_us
        note = f"best {sample.best_us:,.1f} us, median {sample.median_us:,.1f}"
        rows.append((name, f"{ratio:.2f} x", note))
        report.numbers[f"store, {name}, us"] = sample.best_us
        report.numbers[f"store, {name}, ratio"] = ratio
    report.table("the flush of a turn: what the turn takes longer, in plain commits", rows)
