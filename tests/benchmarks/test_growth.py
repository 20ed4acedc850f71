"""What must not become dearer when there is more of it: a longer log, a larger family."""

import asyncio
import gc
from functools import partial
from typing import Final

from runtime import AGENTS, AppContext, Plugin, Runtime

from .measure import Contender, Sample, interleave, now_ns
from .ours import opened, run_turns_of_one, take_turns
from .report import Report

TURNS: Final = 200
TURNS_BEFORE: Final = 20_000
ROUNDS: Final = 15

FEW: Final = 1_000
MANY: Final = 10_000
FAMILY_ROUNDS: Final = 3


async def _measure_turns() -> dict[str, Sample]:
    async with opened() as opening, opening.agents.create() as old:
        await take_turns(old, TURNS_BEFORE)
        contenders: dict[str, Contender] = {
            "in a new log": partial(run_turns_of_one, opening),
            f"behind {TURNS_BEFORE:,} turns": partial(take_turns, old),
        }
        samples = await interleave(contenders, rounds=ROUNDS, items=TURNS)
        assert len(old.session.events) == 7 * (TURNS_BEFORE + ROUNDS * TURNS)
    return samples


def test_a_turn_at_the_end_of_a_long_log(report: Report) -> None:
    """A turn costs what it cost when the log was empty."""
    samples = asyncio.run(_measure_turns())
    _show(report, f"{TURNS} turns of one agent", samples, per="turn")


async def _dispose_family(opening: Runtime, size: int, _: int) -> int:
    """Unload a fiber that owns so many agents, and return the time for each of them."""

    def apply(context: AppContext, _: object) -> None:
        for _ in range(size):
            context.agents.create()

    fiber = opening.context.plugin(Plugin(name="family", apply=apply, inject=(AGENTS,)))
    await fiber
    assert len(opening.agents.list()) == size
    gc.collect()
    began = now_ns()
    await fiber.dispose()
    took = now_ns() - began
    assert opening.agents.list() == ()
    return took // size


async def _measure_families() -> dict[str, Sample]:
    async with opened() as opening:
        contenders: dict[str, Contender] = {
            f"{size:,} agents": partial(_dispose_family, opening, size) for size in (FEW, MANY)
        }
        return await interleave(contenders, rounds=FAMILY_ROUNDS, items=1)


def test_a_fiber_that_owns_many_agents(report: Report) -> None:
    """Its unload costs the same for each agent, however many they are."""
    _show(report, "an owner is unloaded", asyncio.run(_measure_families()), per="agent")


def _show(report: Report, title: str, samples: dict[str, Sample], *, per: str) -> None:
    first = next(iter(samples.values()))
    rows = []
    for name, sample in samples.items():
        times = f"best {sample.best_us:.1f} us, median {sample.median_us:.1f} us for each {per}"
        rate = f"{1e6 / sample.best_us:,.0f} /s, {times}"
        rows.append((name, f"{sample.ratio_to(first):.2f} x", rate))
        report.numbers[f"{title}, {name}, us for each {per}"] = sample.best_us
        report.numbers[f"{title}, {name}, ratio"] = sample.ratio_to(first)
    report.table(title, rows)
