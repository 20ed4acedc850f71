"""Every world there is, examined."""

from collections.abc import Callable

from attrs import evolve

from statemachine.explorer import Exploration, Progress, Verdict
from statemachine.properties import Property

from .check import Examined, examine_world
from .connection import connection_claims, connection_world, false_variants, one_client
from .driver import check_driver

__all__ = ["examine_worlds"]

SLOTS = 2


def examine_worlds(
    exploration: Exploration, *, progress: Callable[[str], Progress | None] = lambda _: None
) -> tuple[Examined, ...]:
    """Examine every world, and that all of them drive agents as the explored machine does.

    Args:
        exploration: the graph of the machine.
        progress: returns what is told how far the search through a world is, given its name.
    """
    connection = examine_world(
        connection_world(slots=SLOTS), connection_claims(SLOTS), progress=progress("connection")
    )
    extra = (check_driver(exploration), _check_premises_about_connections())
    return (evolve(connection, verdicts=(*connection.verdicts, *extra)),)


def _check_premises_about_connections() -> Verdict:
    """Return a verdict on the claims that must be refuted: each lacks a part of its premise."""
    claim = Property(
        name="every_part_of_every_premise_about_connections_is_needed",
        clauses=("F-55", "F-56"),
        statement="What must come does not come when one part of its premise is left out.",
    )
    # Two requests of one client are enough, and eight times fewer states.
    variants = false_variants(SLOTS)
    judged = examine_world(one_client(SLOTS), variants).verdicts[1:]
    holding = [verdict.name for verdict in judged if verdict.holds]
    why = f"these hold all the same: {'; '.join(holding)}" if holding else None
    return Verdict(claim=claim, holds=not holding, explored=len(judged), why=why)
