"""One planted fault for each engine; an engine that does not find its own is not to be believed.

Theory. A verdict is a statement about engines as much as about a runtime: an oracle that went deaf
says `holds` too. So every run plants a fault where each engine looks and expects it to be found,
on the very subject under test where that is possible, and in the time of a breath.
"""

from collections.abc import Callable, Iterable
from typing import Any

from attrs import define, evolve, field, frozen

from statemachine.commands import Command, Input
from statemachine.conformance.stage.schedules import Actor, Scenario, search
from statemachine.conformance.stage.stage import Stage
from statemachine.conformance.subject import MakeSubject
from statemachine.explorer import check, explore
from statemachine.labelled import explore_labelled
from statemachine.lifecycle import Row
from statemachine.machine import MACHINE, Machine
from statemachine.worlds import refute
from statemachine.worlds.connection import SAFETY, TABLE, connection_world

from .evidence import Canary, PlantedFault
from .scenarios import SCRIPTS, search_scripts

__all__ = ["forgetful", "plant_canaries", "planted_in_parts"]


def plant_canaries(make_subject: MakeSubject) -> tuple[Canary, ...]:
    """Plant one fault for each engine that needs no extra, and return which were found."""
    return (
        _planted("explorer", "a cancel of a turn fires no signal", _explorer),
        _planted("labelled", "a cancel of a turn discards nothing", _labelled),
        _planted("worlds", "a load does not reserve its session", _worlds),
        _planted("schedules", "two withdrawals race for one coin", _schedules),
        _planted(
            "oracles", "this subject, but its cancel does nothing", lambda: _oracles(make_subject)
        ),
    )


def planted_in_parts(faults: Iterable[PlantedFault]) -> Canary:
    """Return whether the merged parts hold a planted fault that was found."""
    killed = [each.id for each in faults if each.is_killed]
    return Canary(
        engine="mutants",
        fault="any of the merged mutants",
        is_found=bool(killed),
        story=f"{len(killed)} were killed" if killed else "no merged part holds a killed mutant",
    )


def forgetful(make_subject: MakeSubject) -> MakeSubject:
    """Return a maker of the same subjects whose `cancel` does nothing."""

    def make() -> Any:  # noqa: ANN401  # the subject's own class, with one method less
        subject: Any = make_subject()
        kind = type(subject)
        members = {"__slots__": (), "cancel": lambda _self, _agent, _reason: None}
        subject.__class__ = type(f"Forgetful{kind.__name__}", (kind,), members)
        return subject

    return make


def _planted(engine: str, fault: str, look: Callable[[], str | None]) -> Canary:
    """Let an engine look for its fault; whatever it raises is not finding it."""
    try:
        story = look()
    except Exception as error:
        return Canary(
            engine=engine, fault=fault, is_found=False, story=f"{type(error).__name__}: {error}"
        )
    return Canary(
        engine=engine,
        fault=fault,
        is_found=story is not None,
        story=story or "nothing was reported",
    )


# -- The explorations ------------------------------------------------------------------------------


def _without(command: Command) -> Machine:
    """Return the lifecycle with one command missing from the cancel of a turn."""

    def change(row: Row) -> Row:
        if row.on is Input.CANCEL and Command.ABORT in row.commands:
            return evolve(row, commands=tuple(each for each in row.commands if each is not command))
        return row

    return Machine(table=tuple(change(row) for row in MACHINE.table))


def _explorer() -> str | None:
    broken = [each.name for each in check(explore(_without(Command.ABORT))) if not each.holds]
    return broken[0] if broken else None


def _labelled() -> str | None:
    labelled = explore_labelled(explore(_without(Command.DISCARD)), 1)
    broken = [each.name for each in labelled.verdicts if not each.holds]
    return broken[0] if broken else None


def _worlds() -> str | None:
    rows = tuple(
        evolve(row, does=tuple(move for move in row.does if move.name != "reserve"))
        for row in TABLE
    )
    claim = next(each for each in SAFETY if each.name == "no_two_live_agents_share_an_id")
    story = refute(connection_world(rows), claim)
    return None if story is None else str(story)


# -- The schedule search ---------------------------------------------------------------------------


@define(eq=False)
class _Purse:
    """One coin, and a withdrawal that looks, waits and acts on what it saw."""

    stage: Stage
    coins: int = 1
    taken: list[str] = field(factory=list)

    async def take(self, who: str) -> None:
        if self.coins:
            await self.stage.sleep(0)
            self.coins -= 1
            self.taken.append(who)

    def take_soon(self, who: str) -> None:
        self.stage.spawn(self.take(who), who)


@frozen
class _Taking:
    """One actor's only action."""

    who: str

    def __call__(self, purse: _Purse) -> None:
        purse.take_soon(self.who)


def _schedules() -> str | None:
    """Look for a race that is invisible first in, first out."""

    def judge(purse: _Purse) -> None:
        assert purse.coins >= 0, f"one coin was taken by {' and '.join(purse.taken)}"

    scenario = Scenario(
        name="purse",
        actors=tuple(Actor(name=who, actions=(_Taking(who),)) for who in ("anna", "bert")),
        setup=_Purse,
        check=judge,
    )
    if search(scenario, deviations=0).failure is not None:
        return None
    failure = search(scenario, deviations=1).failure
    return failure.text if failure is not None and failure.deviations else None


# -- The oracles of the built-in scripts -----------------------------------------------------------


def _oracles(make_subject: MakeSubject) -> str | None:
    """Judge the subject under test without its cancel."""
    evidence = search_scripts(
        forgetful(make_subject), offers=frozenset(), deviations=1, scripts=SCRIPTS[:1]
    )
    return next((each.why for each in evidence.checks if each.why), None)
