"""The model that was written from the clauses alone, without a look at the declaration, agrees.

Both are looked at through what can be told of an agent from outside: the window, the status, which
of the two FIFOs hold something, and the marker.
"""

import re
from pathlib import Path
from typing import Final

import pytest

from statemachine.commands import OUTSIDE_INPUTS
from statemachine.explorer import Exploration, explore
from statemachine.machine import Machine
from statemachine.shape import Marker, Shape, Status
from statemachine.table import TABLE
from statemachine.windows import Window

from .checker import Search, compiled, needs_spin
from .tables import without_the_marker

pytestmark = needs_spin

MODEL: Final = Path(__file__).resolve().parents[3] / "specs" / "promela" / "agent.pml"
TEXT: Final = MODEL.read_text(encoding="utf-8")
FORMULAS: Final = tuple(re.findall(r"^ltl (\w+)", TEXT, re.MULTILINE))

TURN_START, FLUSH = (list(Window).index(each) for each in (Window.TURN_START, Window.FLUSH))
RUNNING: Final = list(Status).index(Status.RUNNING)

Seen = tuple[int, ...]
Edges = frozenset[tuple[Seen, str, Seen]]


def seen(shape: Shape) -> Seen:
    """Return what the model calls a shape."""
    return (
        list(Window).index(shape.window),
        list(Status).index(shape.status),
        int(shape.has_queued),
        int(shape.has_steering),
        int(shape.marker is Marker.ARMED),
    )


def declared(exploration: Exploration) -> Edges:
    """Return the edges of the declaration, as far as they can be seen."""
    return frozenset(
        (
            seen(edge.before),
            edge.input.name if edge.input in OUTSIDE_INPUTS else "DRIVER",
            seen(edge.after),
        )
        for edge in exploration.edges
    )


def modelled(told: str) -> Edges:
    """Return the edges that Spin found in the model."""
    edges = set()
    for line in told.splitlines():
        if line.startswith("edge "):
            words = line.split()[1:]
            before, after = (tuple(map(int, part)) for part in (words[:5], words[6:]))
            edges.add((before, words[5], after))
    return frozenset(edges)


@pytest.fixture(scope="module")
def edges(tmp_path_factory: pytest.TempPathFactory) -> Edges:
    """The edges of the model."""
    return modelled(compiled(TEXT, tmp_path_factory.mktemp("edges"), "-DEDGES").run("-E"))


@pytest.fixture(scope="module")
def formulas(tmp_path_factory: pytest.TempPathFactory) -> Search:
    """The model with its formulas."""
    return compiled(TEXT, tmp_path_factory.mktemp("formulas"))


@pytest.mark.clause("B-191", "B-192", "B-193", "B-194", "B-195", "B-132")
def test_the_clauses_and_the_declaration_allow_the_same_steps(edges: Edges) -> None:
    """No step is allowed by one of them alone, but for what a shape cannot remember."""
    # That nobody has called yet when `turn/start` cannot be appended (B-193) is no part of a shape.
    unknown = {
        ((TURN_START, RUNNING, 1, steering, 0), "DRIVER", (FLUSH, RUNNING, 1, steering, 0))
        for steering in (0, 1)
    }
    assert declared(explore()) ^ edges == unknown


@pytest.mark.clause("B-132")
def test_a_declaration_that_says_something_else_is_seen(edges: Edges) -> None:
    """The comparison can fail: here a cancel arms nothing."""
    other = Machine(tuple(map(without_the_marker, TABLE)))
    assert declared(explore(other)) != edges


@pytest.mark.slow
@pytest.mark.clause(
    "A-54", "A-80", "B-93", "B-94", "B-96", "B-98", "B-103", "B-117", "B-134", "B-135"
)
@pytest.mark.parametrize("formula", FORMULAS)
def test_what_the_model_claims_of_itself_holds(formulas: Search, formula: str) -> None:
    """Safety (`s_`) and liveness (`l_`) hold; what must be refuted (`x_`) is."""
    assert formulas.holds(formula, is_fair=True) is not formula.startswith("x_")
