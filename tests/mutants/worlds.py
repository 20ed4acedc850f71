"""Faults planted in the connection world, each with the claim that must find it.

They are the ways in which connections, loads and teardowns are got wrong in practice: not looking
again after a wait, cleaning up by id, telling before owning, answering before the end.
"""

from collections.abc import Callable

from attrs import evolve, frozen

from statemachine.worlds import Event, Move, Row
from statemachine.worlds.connection import State
from statemachine.worlds.connection import moves as m
from statemachine.worlds.connection import table as t
from statemachine.worlds.connection.state import NOBODY

__all__ = ["MUTANTS", "WorldMutant"]

Table = tuple[Row[State], ...]
Plant = Callable[[Table], Table]
Change = Callable[[Row[State]], Row[State]]


@frozen(kw_only=True)
class WorldMutant:
    """One planted fault."""

    id: str
    fault: str
    """The fault in one line."""
    invariant: str
    plant: Plant
    dies_of: str
    """The claim that is there to find it."""
    length: int
    """How many steps its shortest story has: a changed one is a changed world."""


# -- Planting --------------------------------------------------------------------------------------


def _is_chosen(row: Row[State], on: Event, guard: str | None) -> bool:
    return row.on is on and (guard is None or guard in [each.name for each in row.when])


def _remove(on: Event, guard: str) -> Plant:
    def plant(table: Table) -> Table:
        left = tuple(row for row in table if not _is_chosen(row, on, guard))
        assert len(left) < len(table), "the fault finds no row to plant itself in"
        return left

    return plant


def _change(on: Event, change: Change, guard: str | None = None) -> Plant:
    def plant(table: Table) -> Table:
        changed = tuple(change(row) if _is_chosen(row, on, guard) else row for row in table)
        assert changed != table, "the fault finds no row to plant itself in"
        return changed

    return plant


def _both(*plants: Plant) -> Plant:
    def plant(table: Table) -> Table:
        for each in plants:
            table = each(table)
        return table

    return plant


def _skip(*moves: Move[State]) -> Change:
    def change(row: Row[State]) -> Row[State]:
        return evolve(row, does=tuple(each for each in row.does if each not in moves))

    return change


def _also(*moves: Move[State], first: bool = False) -> Change:
    def change(row: Row[State]) -> Row[State]:
        if row.refuses is not None:
            return row
        return evolve(row, does=(*moves, *row.does) if first else (*row.does, *moves))

    return change


def _instead(old: Move[State], new: Move[State]) -> Change:
    def change(row: Row[State]) -> Row[State]:
        return evolve(row, does=tuple(new if each is old else each for each in row.does))

    return change


def _unguarded(name: str) -> Change:
    def change(row: Row[State]) -> Row[State]:
        return evolve(row, when=tuple(each for each in row.when if each.name != name))

    return change


def _by_id(state: State, at: int) -> State:
    """Clean up whatever has the agent's id."""
    asked = state.at(at).asked
    registry = list(state.registry)
    registry[asked.agent] = NOBODY
    return state._replace(registry=tuple(registry))


_clean_up_by_id = Move("clean up by id", _by_id)


# -- The faults ------------------------------------------------------------------------------------


def _mutant(  # noqa: PLR0913, PLR0917  # the columns of a list
    name: str, fault: str, invariant: str, plant: Plant, dies_of: str, length: int
) -> WorldMutant:
    return WorldMutant(
        id=f"world-{name}", fault=fault, invariant=invariant, plant=plant, dies_of=dies_of,
        length=length,
    )  # fmt: skip


MUTANTS = (
    _mutant("no-second-look", "a load that waited believes that its owner is still loaded",
            "INV-10", _remove(t.GO_ON, "an_owner_unloads"),
            "nobody_is_made_on_a_fiber_that_unloads", 4),
    _mutant("no-look-after-listeners", "an owner that a listener unloads is not noticed",
            "INV-10", _remove(t.OPENED, "an_owner_unloads"),
            "nobody_is_made_on_a_fiber_that_unloads", 3),
    _mutant("told-before-owned", "an agent is owned only when it has been announced",
            "INV-10", _both(_change(t.CREATE, _skip(m.own)), _change(t.GO_ON, _skip(m.own)),
                            _change(t.RETURNS, _also(m.own))),
            "an_agent_is_owned_from_the_first_moment", 1),
    _mutant("never-owned", "the fiber of a connection does not own what it loads",
            "INV-10", _change(t.GO_ON, _skip(m.own)),
            "nothing_driven_outlives_the_driver", 8),
    _mutant("late-result-accepted", "a load that comes back to an ending connection is answered",
            "INV-14", _remove(t.SETTLE, "of_a_connection_that_ends"),
            "nobody_is_given_to_a_connection_that_ends", 5),
    _mutant("late-result-leaks", "nobody waits for loads at the end of a connection",
            "INV-14", _change(t.OVER, _unguarded("no_request_is_served")),
            "nothing_of_a_connection_outlives_it", 3),
    _mutant("closes-forgotten", "nobody waits for closes at the end of a connection",
            "INV-14", _change(t.OVER, _unguarded("no_close_waits")),
            "nothing_of_a_connection_outlives_it", 7),
    _mutant("records-forgotten", "nobody waits for the agents at the end of a connection",
            "INV-14", _change(t.OVER, _unguarded("no_record_ends")),
            "nothing_of_a_connection_outlives_it", 5),
    _mutant("call-after-the-end", "a connection that ends still serves calls",
            "INV-14", _both(_remove(t.LOAD, "of_a_connection_that_ends"),
                            _remove(t.CREATE, "of_a_connection_that_ends")),
            "nothing_of_a_connection_outlives_it", 3),
    _mutant("dead-agent-answered", "a load is answered with an agent that has ended",
            "INV-14", _remove(t.SETTLE, "stopped"),
            "nobody_is_given_to_a_connection_that_ends", 6),
    _mutant("no-reservation", "a load does not reserve its session",
            "INV-16", _change(t.LOAD, _skip(m.reserve)), "no_two_live_agents_share_an_id", 6),
    _mutant("no-name", "a load does not reserve the id of its agent",
            "INV-16", _change(t.LOAD, _skip(m.reserve_name)),
            "no_two_live_agents_share_an_id", 4),
    _mutant("name-free-while-told", "the id of a loaded agent is free while listeners are told",
            "INV-16", _change(t.GO_ON, _also(m.give_up_name, first=True)),
            "no_two_live_agents_share_an_id", 4),
    _mutant("live-session-loaded", "a session that is live can be loaded",
            "INV-16", _remove(t.LOAD, "the_session_is_live"), "a_session_has_one_user", 2),
    _mutant("live-name-loaded", "an agent id that is registered can be loaded",
            "INV-16", _remove(t.LOAD, "the_agent_id_is_registered"),
            "no_two_live_agents_share_an_id", 6),
    _mutant("writer-not-awaited", "a load does not wait until the last writer has gone",
            "INV-16", _change(t.STORE_ANSWERS, _unguarded("the_lease_is_free")),
            "an_entry_is_removed_only_by_its_own", 5),
    _mutant("clean-up-by-id", "a teardown cleans up once more at its end, by id",
            "INV-16", _change(t.RELEASE, _also(_clean_up_by_id, first=True)),
            "an_entry_is_removed_only_by_its_own", 7),
    _mutant("detach-before-exit", "the teardown does not wait for the driver",
            "INV-11", _change(t.UNREGISTER, _unguarded("driver exited")),
            "a_session_is_detached_last", 7),
    _mutant("session-leaks", "a teardown does not detach the session",
            "INV-14", _change(t.LEAVE, _skip(m.detach)), "every_entry_is_somebodys", 11),
    _mutant("registration-leaks", "a teardown does not unregister the agent",
            "INV-14", _change(t.UNREGISTER, _skip(m.unregister)), "every_entry_is_somebodys", 9),
    _mutant("reservation-leaks", "a load that fails keeps the session reserved",
            "INV-14", _change(t.STORE_FAILS, _skip(m.give_up_reservation)),
            "a_failed_request_leaves_nothing", 2),
    _mutant("lease-leaks", "a load that is given up keeps the lease",
            "INV-14", _change(t.GIVE_UP, _instead(m.refuse, m.free)),
            "a_failed_request_leaves_nothing", 3),
    _mutant("siblings-disposed", "the end of a connection disposes every agent",
            "INV-10", _change(t.DISCONNECT, _instead(m.dispose_records, m.dispose_driven)),
            "only_who_may_begins_an_end", 3),
    _mutant("close-answered-early", "a close is answered when the dispose was called",
            "INV-14", _change(t.CLOSED, _unguarded("end resolved")),
            "a_closed_session_is_gone", 6),
    _mutant("provider-gone-early", "the driver's plugin does not wait for its agents",
            "INV-10", _change(t.PROVIDER_GONE, _unguarded("nothing_driven_ends")),
            "nothing_driven_outlives_the_driver", 6),
    _mutant("late-result-kept", "a load that comes back late waits for an end nobody began",
            "INV-14", _change(t.SETTLE, _skip(m.dispose), "of_a_connection_that_ends"),
            "every_load_is_answered", 5),
    _mutant("loads-not-broken-off", "an owner that unloads forgets to end what it owns",
            "INV-12", _change(t.UNWIND_OWNER, _skip(m.dispose_owned)),
            "every_owner_that_unloads_is_gone", 6),
    _mutant("teardown-stops", "a teardown ends with the unregistering",
            "INV-12", _remove(t.LEAVE, "end unregistered"), "every_teardown_completes", 6),
)  # fmt: skip
