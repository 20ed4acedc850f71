"""The price of a turn, and where it goes."""

import asyncio
from typing import Final

from .bare import process
from .budget import Line, parts_of, settle, watch
from .measure import Sample, interleave
from .ours import TYPES, run_turns, run_turns_with_flush
from .report import Report

ROUNDS: Final = 20
ITEMS: Final = 200


EXPLAINED_ABOVE: Final = 5.0
WHY: Final = (
    (
        "records",
        "checked by type, walked, copied, measured, placed in its turn; a dict is none of it",
    ),
    ("visits, cycle", "17 windows, in each of which an input may land; the bare worker has one"),
    ("model stream", "a generator inside a scope that may be cut at any chunk"),
    ("in rotation", "a part alone stays in the caches; in a turn the parts push each other out"),
)
"""What a reader of the budget wants to know: what the larger parts buy."""


async def _measure() -> tuple[dict[str, Sample], tuple[Line, ...]]:
    seen = await watch()
    assert tuple(type_name for type_name, _, _ in seen.appends) == TYPES
    contenders = {
        "bare worker": process,
        "turn": run_turns,
        "turn, flush awaited": run_turns_with_flush,
        **parts_of(seen),
    }
    for contender in contenders.values():
        await contender(ITEMS)
    samples = await interleave(contenders, rounds=ROUNDS, items=ITEMS)
    return samples, settle(samples, seen)


def test_a_turn_beside_a_bare_worker(report: Report) -> None:
    """A turn appends its seven records, and its parts account for what it costs."""
    samples, lines = asyncio.run(_measure())
    bare = samples["bare worker"]
    rows = []
    for name in ("bare worker", "turn", "turn, flush awaited"):
        sample = samples[name]
        times = f"best {sample.best_us:.1f} us, median {sample.median_us:.1f} us"
        rows.append((name, f"{sample.ratio_to(bare):.2f} x", times))
        report.numbers[f"{name}, us"] = sample.best_us
        report.numbers[f"{name}, ratio"] = sample.ratio_to(bare)
    report.table("one message: from send until it has been processed", rows)
    budget = [
        (line.name, f"{line.us:.1f} us", f"{line.us / bare.best_us:5.2f} x  {line.note}")
        for line in lines
    ]
    report.numbers.update({f"budget, {line.name}, us": line.us for line in lines})
    report.table("the budget of the turn; x is the bare worker", budget)
    if samples["turn"].ratio_to(bare) > EXPLAINED_ABOVE:
        why = [(name, "", reason) for name, reason in WHY]
        report.table(f"why it is more than {EXPLAINED_ABOVE:g} x: what the parts buy", why)
