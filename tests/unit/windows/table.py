"""Rows of a window: what each act does there, as a trace behind the act."""

from collections.abc import Callable
from typing import Final

import pytest

from runtime import Status
from statemachine import MACHINE, Machine

from .scene import Scene, act

__all__ = ["ACTS", "Point", "check", "rows"]

ACTS: Final = (
    "cancel",
    "dispose",
    "send",
    "steer",
    "inject",
    "cancel+send",
    "send+cancel",
    "cancel+steer",
    "cancel+dispose",
    "dispose+cancel",
    "send+dispose",
)
"""What is done at every point."""

Point = Callable[[Scene, Callable[[], None]], None]
"""Sets the scene up so that the act is done at one point of one window."""


def rows(text: str) -> list[object]:
    """Read a table: one act a line, then its trace; every act has a row.

    The word before the first blank is the act, and what follows a `#` is for the reader.
    """
    table = dict(line.partition("#")[0].strip().partition(" ")[::2] for line in _lines(text))
    assert sorted(table) == sorted(ACTS)
    return [pytest.param(name, trace, id=name) for name, trace in table.items()]


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def check(  # noqa: PLR0913  # a row has four columns
    point: Point,
    prefix: str,
    name: str,
    trace: str,
    *,
    machine: Machine = MACHINE,
    cooperative: bool = True,
) -> None:
    """Act at a point and compare everything that happens; then see whether a later prompt runs."""
    with Scene(machine=machine, cooperative=cooperative) as scene:
        point(scene, lambda: act(scene, name))
        scene.settle()
        scene.expect(f"{prefix} * {trace}")
        if scene.a.status is Status.DISPOSED:
            assert scene.rt.agents.list() == ()
            assert scene.rt.sessions.list() == ()
        else:
            assert scene.a.status is Status.IDLE
            scene.a.send("Z")
            scene.settle()
            scene.expect(f"{prefix} * {trace} running [Z] idle")
        assert scene.stage.pending == ()
