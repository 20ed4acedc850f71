"""The price of a decision, remembered and not."""

import asyncio
from typing import Final

from statemachine import MACHINE, Input, Machine
from statemachine.explorer import explore

from .measure import interleave, now_ns, quiet
from .report import Report

ROUNDS: Final = 25
ITEMS: Final = 20_000


async def _empty(items: int) -> int:
    began = now_ns()
    for _ in range(items):
        pass
    return now_ns() - began


async def _look_up(items: int) -> int:
    answers = {"send": 1, "done": 2}
    began = now_ns()
    for _ in range(items):
        answers["done"]
    return now_ns() - began


async def _decide(items: int) -> int:
    decide = MACHINE.decide
    shape = decide(MACHINE.initial, Input.SEND).shape
    began = now_ns()
    for _ in range(items):
        decide(shape, Input.DONE)
    return now_ns() - began


def test_a_remembered_decision_beside_a_look_up(report: Report) -> None:
    """A decision that was made before is looked up, not made again."""
    contenders = {"empty loop": _empty, "dict look-up": _look_up, "decide": _decide}
    samples = asyncio.run(interleave(contenders, rounds=ROUNDS, items=ITEMS))
    empty = samples["empty loop"].best_us
    look_up, decide = (samples[name].best_us - empty for name in ("dict look-up", "decide"))
    report.numbers["decide, us"] = decide
    report.numbers["decide, ratio"] = decide / look_up
    report.table(
        "a remembered decision; the empty loop is taken off",
        [
            ("dict look-up", "1.00 x", f"{look_up * 1_000:.0f} ns"),
            ("decide", f"{decide / look_up:.2f} x", f"{decide * 1_000:.0f} ns, one call included"),
        ],
    )


def test_the_explorer_cold_and_warm(report: Report) -> None:
    """A fresh machine fires the library for every pair; a used one remembers all of them."""
    machine = Machine()
    rows = []
    for name in ("cold", "warm"):
        with quiet():
            began = now_ns()
            found = explore(machine)
            seconds = (now_ns() - began) / 1e9
        pairs = len(found.edges) + len(found.refused)
        report.numbers[f"explorer {name}, pairs per s"] = pairs / seconds
        rows.append((name, f"{pairs / seconds:,.0f} /s", f"{pairs:,} pairs in {seconds:.2f} s"))
    report.table("the explorer: pairs of shape and input", rows)
