"""Spin walks the declaration and agrees with the explorer, edge by edge and claim by claim."""

from pathlib import Path

import pytest

from statemachine.commands import Input
from statemachine.explorer import Exploration, explore
from statemachine.machine import Machine
from statemachine.properties import EVENTUALITIES, Eventually
from statemachine.render.promela import CLAIMS, numbered, promela
from statemachine.table import TABLE

from .checker import Search, compiled, needs_spin, states_in
from .tables import without_the_marker

pytestmark = needs_spin

Edges = frozenset[tuple[int, int, int]]


def explored(exploration: Exploration) -> Edges:
    """Return the edges that the explorer found, as numbers."""
    inputs = {posted: at for at, posted in enumerate(Input)}
    return frozenset(
        (numbered(edge.before), inputs[edge.input], numbered(edge.after))
        for edge in exploration.edges
    )


def searched(told: str) -> Edges:
    """Return the edges that Spin found."""
    lines = (line.split()[1:] for line in told.splitlines() if line.startswith("edge "))
    return frozenset((int(before), int(posted), int(after)) for before, posted, after in lines)


@pytest.fixture(scope="module")
def claims(tmp_path_factory: pytest.TempPathFactory) -> Search:
    """The model of two processes."""
    return compiled(promela(TABLE), tmp_path_factory.mktemp("claims"))


@pytest.mark.clause("B-132")
def test_spin_finds_the_same_shapes_and_edges(tmp_path: Path) -> None:
    """No shape and no edge is found by one engine alone."""
    exploration = explore()
    told = compiled(promela(TABLE), tmp_path, "-DEDGES").run("-E")
    assert searched(told) == explored(exploration)
    assert states_in(told) == len(exploration.shapes)


@pytest.mark.clause("B-132")
def test_a_row_that_only_one_engine_has_is_seen(tmp_path: Path) -> None:
    """The comparison can fail: here Spin is given a table in which a cancel arms nothing."""
    other = tuple(without_the_marker(row) for row in TABLE)
    told = compiled(promela(other), tmp_path, "-DEDGES").run("-E")
    assert searched(told) != explored(explore())
    assert searched(told) == explored(explore(Machine(other)))


@pytest.mark.clause("A-10", "A-32", "A-36", "A-52", "A-54", "B-52", "B-93", "B-117", "B-135")
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_spin_gives_the_same_verdict_on_what_must_come(claims: Search, claim: Eventually) -> None:
    """A claim holds for Spin, too; without a part of its premise it is refuted by Spin, too."""
    is_fair = any(part.is_fair for part in claim.premise)
    holds = claims.holds(f"claim_{CLAIMS.index(claim)}", is_fair=is_fair)
    assert holds is (claim in EVENTUALITIES)
