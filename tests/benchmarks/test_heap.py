"""What an idle agent weighs."""

import asyncio
import gc
import tracemalloc
from collections.abc import Callable
from typing import Final

from runtime import Agent

from .bare import BareAgent
from .ours import opened
from .report import Report

AGENTS: Final = 1_000


def _held() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def _weigh_bare(make: Callable[[], object]) -> float:
    before = _held()
    held = [make() for _ in range(AGENTS)]
    return (_held() - before) / len(held)


async def _weigh_agents() -> tuple[float, float]:
    async with opened() as opening:
        await _one_turn(opening.agents.create().agent)
        before = _held()
        agents = [opening.agents.create().agent for _ in range(AGENTS)]
        made = _held()
        for agent in agents:
            await _one_turn(agent)
        after = _held()
        assert all(len(agent.session.events) == 7 for agent in agents)
    return (made - before) / AGENTS, (after - before) / AGENTS


async def _one_turn(agent: Agent) -> None:
    agent.send("hi")
    await agent.when_idle()


def test_an_idle_agent_beside_two_lists_and_a_dict(report: Report) -> None:
    """A parked agent holds no task; what it does hold is weighed."""
    tracemalloc.start()
    try:
        bare = _weigh_bare(BareAgent)
        made, used = asyncio.run(_weigh_agents())
    finally:
        tracemalloc.stop()
    rows = []
    for name, weight in (("bare", bare), ("created", made), ("after a turn", used)):
        report.numbers[f"heap, {name}, bytes"] = weight
        rows.append((name, f"{weight:,.0f} bytes", f"{weight / bare:5.2f} x"))
    report.table(f"heap of one idle agent among {AGENTS:,}; bare: two lists and a dict", rows)
