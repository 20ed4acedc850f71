"""What a command costs beside the bare means of the standard library."""

import asyncio
from typing import Final

from runtime.limits import Limits

from .commands import BYTES, PROCESSES, contenders, executor, memory_of_an_endless_writer
from .measure import Sample, interleave
from .report import Report

ROUNDS: Final = 8
ITEMS: Final = 3

_NO_FILE: Final = Limits(spill_file_bytes_max=1)
_FILE: Final = Limits(spill_file_bytes_max=2 * BYTES)
_TITLES: Final = {
    "round trip": "run `echo hello` in a fresh bash until it is over",
    "first byte": "start a command until its first byte is there",
    "output": f"read {BYTES // 1_000_000} MB that a command writes",
    "end of a tree": f"end a group of {PROCESSES} processes; ours waits until all of them are gone",
}


async def _measure() -> tuple[dict[str, Sample], tuple[int, int]]:
    async with executor(_NO_FILE) as ours, executor(_FILE) as spilling:
        compared = contenders(ours, spilling)
        for contender in compared.values():
            await contender(1)
        samples = await interleave(compared, rounds=ROUNDS, items=ITEMS)
        return samples, await memory_of_an_endless_writer(ours.bash)


def test_commands_beside_the_standard_library(report: Report) -> None:
    """Each is compared with its bare counterpart in the same run."""
    samples, (written, peak) = asyncio.run(_measure())
    for kind, title in _TITLES.items():
        bare = samples[f"{kind}, bare"]
        rows = []
        for name in (each for each in samples if each.startswith(kind)):
            sample = samples[name]
            note = f"best {sample.best_us / 1000:.2f} ms, median {sample.median_us / 1000:.2f} ms"
            if kind == "output":
                note += f", {BYTES / sample.best_us:.0f} MB/s"
            rows.append((name, f"{sample.ratio_to(bare):.2f} x", note))
            report.numbers[f"{name}, us"] = sample.best_us
            report.numbers[f"{name}, ratio"] = sample.ratio_to(bare)
        report.table(title, rows)
    note = f"while it wrote {written / 1_000_000:.0f} MB; 64 kB of it are kept"
    report.table("an endless writer", [("heap", f"{peak / 1000:.0f} kB", note)])
    report.numbers["heap of an endless writer, bytes"] = peak
