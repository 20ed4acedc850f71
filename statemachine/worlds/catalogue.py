"""Every world there is, examined."""

from collections.abc import Callable, Hashable
from typing import TypeVar

from attrs import evolve

from statemachine.explorer import Exploration, Progress, Verdict
from statemachine.properties import Property

from .bridge import bridge_claims, bridge_world, false_bridge_variants
from .check import Examined, examine_world
from .claims import Eventually
from .connection import connection_claims, connection_world, false_variants, one_client
from .driver import check_driver
from .jobs import false_job_variants, job_claims, job_world
from .store import false_store_variants, one_process, store_claims, store_world
from .world import World

__all__ = ["examine_worlds"]

S = TypeVar("S", bound=Hashable)

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
    jobs = examine_world(job_world(slots=SLOTS), job_claims(SLOTS), progress=progress("job"))
    store = examine_world(store_world(), store_claims(), progress=progress("store"))
    bridge = examine_world(bridge_world(), bridge_claims(), progress=progress("bridge"))
    # Two requests of one client are enough to miss each part, and eight times fewer states.
    needed = _check_premises(one_client(SLOTS), false_variants(SLOTS), "F-55", "F-56")
    jobs_needed = _check_premises(job_world(slots=SLOTS), false_job_variants(SLOTS), "H-28", "H-54")
    store_needed = _check_premises(one_process(), false_store_variants(), "E-12", "E-36", "E-49")
    bridge_needed = _check_premises(
        bridge_world(sessions=1), false_bridge_variants(sessions=1), "J-13", "J-36"
    )
    return (
        evolve(connection, verdicts=(*connection.verdicts, check_driver(exploration), needed)),
        evolve(jobs, verdicts=(*jobs.verdicts, jobs_needed)),
        evolve(store, verdicts=(*store.verdicts, store_needed)),
        evolve(bridge, verdicts=(*bridge.verdicts, bridge_needed)),
    )


def _check_premises(world: World[S], variants: tuple[Eventually[S], ...], *clauses: str) -> Verdict:
    """Return a verdict on the claims that must be refuted: each lacks a part of its premise."""
    claim = Property(
        name=f"every_part_of_every_premise_of_the_{world.name}_world_is_needed",
        clauses=clauses,
        statement="What must come does not come when one part of its premise is left out.",
    )
    judged = examine_world(world, variants).verdicts[1:]
    holding = [verdict.name for verdict in judged if verdict.holds]
    why = f"these hold all the same: {'; '.join(holding)}" if holding else None
    return Verdict(claim=claim, holds=not holding, explored=len(judged), why=why)
