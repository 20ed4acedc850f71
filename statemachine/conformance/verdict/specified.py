"""The specification as evidence: every property of every shape, of labelled messages and of worlds.

This judges the declaration. It speaks for a runtime only as far as that runtime is driven by it.
"""

from attrs import frozen

from statemachine.explorer import Exploration, Verdict, check, check_premises, explore
from statemachine.labelled import Labelled, explore_labelled
from statemachine.machine import MACHINE, Machine
from statemachine.worlds import examine_worlds

from .evidence import Check, Engine, Evidence

__all__ = ["examine_specification", "examine_surroundings", "explored_shapes"]

_BOUND = 3


@frozen(kw_only=True)
class _Found:
    engine: Engine
    verdict: Verdict

    def as_check(self) -> Check:
        """Turn a verdict on a property into a check; without an invariant it has no row."""
        verdict = self.verdict
        return Check(
            criterion=verdict.claim.invariant or "",
            name=verdict.name,
            kind=verdict.kind,
            engine=self.engine,
            explored=verdict.explored,
            clauses=verdict.claim.clauses,
            why=None if verdict.holds else self._why(),
        )

    def _why(self) -> str:
        return f"{self.verdict.claim.statement}\n{self.verdict.why or 'no story'}"


def examine_specification(*, bound: int = _BOUND, lifecycle: Machine = MACHINE) -> Evidence:
    """Check every property of the declaration, without and with labelled messages."""
    exploration = explored_shapes(lifecycle)
    verdicts = (*check(exploration), check_premises(exploration))
    labelled = explore_labelled(exploration, bound)
    found = [_Found(engine=Engine.EXPLORER, verdict=each) for each in verdicts]
    found += [_Found(engine=Engine.LABELLED, verdict=each) for each in labelled.verdicts]
    checks = tuple(each.as_check() for each in found)
    return Evidence(
        checks=checks, stories=_stories(checks), explorer=_summary(exploration, labelled, checks)
    )


def examine_surroundings(*, lifecycle: Machine = MACHINE) -> Evidence:
    """Check every property of the worlds around the machine."""
    worlds = examine_worlds(explored_shapes(lifecycle))
    checks = tuple(
        _Found(engine=Engine.WORLDS, verdict=verdict).as_check()
        for world in worlds
        for verdict in world.verdicts
    )
    summary = [
        {"name": world.name, "states": world.states, "steps": world.steps} for world in worlds
    ]
    return Evidence(checks=checks, stories=_stories(checks), explorer={"worlds": summary})


def _stories(checks: tuple[Check, ...]) -> tuple[str, ...]:
    return tuple(f"specification: {each.name}\n{each.why}" for each in checks if each.why)


def explored_shapes(lifecycle: Machine = MACHINE) -> Exploration:
    """Return every reachable shape of a machine."""
    return explore(lifecycle)


def _summary(
    exploration: Exploration, labelled: Labelled, checks: tuple[Check, ...]
) -> dict[str, object]:
    return {
        "shapes": len(exploration.shapes),
        "accepted": len(exploration.edges),
        "refused": len(exploration.refused),
        "labelled_states": labelled.states,
        "labelled_messages": labelled.bound,
        "worlds": [],
        "properties": len(checks),
        "broken": [each.name for each in checks if each.why is not None],
    }
