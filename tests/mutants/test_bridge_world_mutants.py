"""Every fault planted in the bridge world is found, by a short story."""

from collections.abc import Callable
from typing import Final

import pytest
from attrs import evolve, frozen

from statemachine.explorer import Counterexample
from statemachine.worlds import (
    Event,
    Everywhere,
    Guard,
    Move,
    OnEveryStep,
    Row,
    examine_world,
    refute,
)
from statemachine.worlds.bridge import (
    TABLE,
    Client,
    Outcome,
    Phase,
    Prompt,
    Stage,
    State,
    bridge_claims,
    bridge_world,
)
from statemachine.worlds.bridge import guards as g
from statemachine.worlds.bridge import moves as m
from statemachine.worlds.bridge import table as t

LAYER = "world"
CLAIMS: Final = {claim.name: claim for claim in bridge_claims()}

Table = tuple[Row[State], ...]
Plant = Callable[[Table], Table]


@frozen(kw_only=True)
class BridgeMutant:
    """One planted fault."""

    id: str
    fault: str
    invariant: str
    plant: Plant
    dies_of: str
    length: int
    """How many steps its shortest story has."""


# -- Planting --------------------------------------------------------------------------------------


def _change(
    on: Event, change: Callable[[Row[State]], Row[State] | None], *, guard: str | None = None
) -> Plant:
    def plant(table: Table) -> Table:
        changed: list[Row[State]] = []
        for row in table:
            is_meant = row.on is on and guard in (None, *(each.name for each in row.when))
            after = change(row) if is_meant else row
            changed += [] if after is None else [after]
        assert tuple(changed) != table, "the fault finds no row to plant itself in"
        return tuple(changed)

    return plant


def _remove(on: Event, guard: str) -> Plant:
    return _change(on, lambda _: None, guard=guard)


def _unguarded(on: Event, guard: str) -> Plant:
    def change(row: Row[State]) -> Row[State]:
        return evolve(row, when=tuple(each for each in row.when if each.name != guard))

    return _change(on, change, guard=guard)


def _instead(on: Event, old: Move[State], new: Move[State], *, guard: str | None = None) -> Plant:
    def change(row: Row[State]) -> Row[State]:
        return evolve(row, does=tuple(new if each is old else each for each in row.does))

    return _change(on, change, guard=guard)


def _first(row: Row[State]) -> Plant:
    return lambda table: (row, *table)


def _both(one: Plant, other: Plant) -> Plant:
    return lambda table: other(one(table))


# -- Moves that are wrong --------------------------------------------------------------------------


def _move(make: Callable[[State, int], State]) -> Move[State]:
    return Move(make.__name__.strip("_").replace("_", " "), make)


def _map(state: State, change: Callable[[Prompt], Prompt]) -> State:
    prompts = (None if prompt is None else change(prompt) for prompt in state.prompts)
    return state._replace(prompts=tuple(prompts))


@_move
def _answer_and_keep(state: State, at: int) -> State:
    prompt = state.prompt(at)
    return m.answer.make(state, at).put(at, prompt)


@_move
def _answer_all_of_it(state: State, at: int) -> State:
    """Answer whatever waits in this session, with one frame."""
    for place, _ in state.of(state.prompt(at).session):
        state = m.answer.make(state, place)
    return state


@_move
def _cancel_all_sessions(state: State, _: int) -> State:
    for at, session in enumerate(state.sessions):
        state = m.cancel.make(state, at) if session.stage is Stage.OPEN else state
    return state


@_move
def _cancel_what_runs(state: State, at: int) -> State:
    def change(prompt: Prompt) -> Prompt:
        is_meant = prompt.session == at and prompt.phase is Phase.RUNNING
        return prompt._replace(outcome=Outcome.CANCELLED) if is_meant else prompt

    return _map(state, change)


@_move
def _cancel_what_waits(state: State, at: int) -> State:
    """Mark what waits, and leave it in the queue."""

    def change(prompt: Prompt) -> Prompt:
        is_meant = prompt.session == at and prompt.outcome is Outcome.UNDECIDED
        return prompt._replace(outcome=Outcome.CANCELLED) if is_meant else prompt

    return _map(state, change)


@_move
def _cancel_whatever_is_there(state: State, at: int) -> State:
    """Cancel also what has an outcome."""
    return _map(
        m.cancel.make(state, at),
        lambda prompt: (
            prompt._replace(outcome=Outcome.CANCELLED) if prompt.session == at else prompt
        ),
    )


@_move
def _queue_what_is_cancelled(state: State, at: int) -> State:
    """Remember the last cancel for the next prompt: whatever is still to be answered tells it."""
    prompt = state.prompt(at)
    was_cancelled = any(each.outcome is Outcome.CANCELLED for _, each in state.of(prompt.session))
    outcome = Outcome.CANCELLED if was_cancelled else Outcome.UNDECIDED
    return state.put(at, prompt._replace(phase=Phase.QUEUED, outcome=outcome))


@_move
def _end_turn_anew(state: State, at: int) -> State:
    """Let the turn decide, also what was cancelled."""

    def change(prompt: Prompt) -> Prompt:
        is_meant = prompt.session == at and prompt.phase is Phase.RUNNING
        return prompt._replace(outcome=Outcome.TURN) if is_meant else prompt

    return m.stop_turn.make(_map(state, change), at)


@_move
def _end_turn_unnoticed(state: State, at: int) -> State:
    """End the turn, and let nothing wait for its answers."""
    due = state.sessions[at].due
    state = m.complete_turn.make(state, at)
    return state.put_session(at, state.sessions[at]._replace(due=due))


@_move
def _end_and_leave_the_queue(state: State, at: int) -> State:
    return state.put_session(at, state.sessions[at]._replace(stage=Stage.ENDING))


@_move
def _end_and_forget_the_queue(state: State, at: int) -> State:
    for place, prompt in state.of(at):
        if prompt.phase is Phase.QUEUED:
            state = state.put(place, None)
    return m.end_session.make(state, at)


@_move
def _leave_loads_alone(state: State, _: int) -> State:
    """End what is open, and forget that something is being loaded."""
    state = m.end_every_session.make(state, 0)
    for at, session in enumerate(state.sessions):
        if session.stage is Stage.LOADING:
            state = state.put_session(at, session._replace(stage=Stage.AWAY))
    return state


_loads_late: Final[Row[State]] = Row(
    t.STORE_ANSWERS,
    (g.at_stage(Stage.AWAY), g.the_client_leaves),
    (m.stage(Stage.LOADED),),
    None,
    ("J-40",),
)
_running: Final[Guard[State]] = g.in_phase(Phase.RUNNING)


# -- The faults ------------------------------------------------------------------------------------


def _mutant(  # noqa: PLR0913, PLR0917  # the columns of a list
    name: str, fault: str, invariant: str, plant: Plant, dies_of: str, length: int
) -> BridgeMutant:
    return BridgeMutant(
        id=f"bridge-world-{name}", fault=fault, invariant=invariant, plant=plant, dies_of=dies_of,
        length=length,
    )  # fmt: skip


MUTANTS: Final = (
    _mutant("answered-twice", "an answer does not end a prompt", "INV-15",
            _instead(t.ANSWER, m.answer, _answer_and_keep), "a_prompt_is_answered_once", 4),
    _mutant("one-answer-for-all", "one answer settles whatever waits in the session", "INV-15",
            _instead(t.ANSWER, m.answer, _answer_all_of_it), "an_outcome_is_decided_once", 5),
    _mutant("answered-before-the-end", "a cancelled prompt is answered while its turn is open",
            "INV-15", _first(Row(t.ANSWER, (_running,), (m.answer,), None, ("J-19",))),
            "a_prompt_is_answered_when_it_is_over", 4),
    _mutant("cancel-of-all-sessions", "a cancel reaches every session", "INV-15",
            _instead(t.CANCEL, m.cancel, _cancel_all_sessions), "nothing_else_is_cancelled", 4),
    _mutant("cancel-of-the-turn", "a cancel reaches the prompt that runs, alone", "INV-15",
            _instead(t.CANCEL, m.cancel, _cancel_what_runs),
            "a_cancel_reaches_what_came_before_it", 3),
    _mutant("cancel-too-late", "a cancel changes what a turn has decided", "INV-15",
            _instead(t.CANCEL, m.cancel, _cancel_whatever_is_there),
            "an_outcome_is_decided_once", 5),
    _mutant("cancel-overruled", "a turn that was cancelled answers as if it were not", "INV-15",
            _instead(t.UNWIND, m.stop_turn, _end_turn_anew), "an_outcome_is_decided_once", 5),
    _mutant("cancel-remembered", "a cancel reaches the next prompt too", "INV-15",
            _instead(t.PROMPT, m.queue, _queue_what_is_cancelled),
            "a_new_prompt_is_not_cancelled", 4),
    _mutant("cancelled-runs", "a prompt that was cancelled stays in the queue", "INV-15",
            _instead(t.CANCEL, m.cancel, _cancel_what_waits), "a_cancelled_prompt_never_begins", 4),
    _mutant("shown-at-once", "a turn shows its updates before earlier answers", "INV-15",
            _unguarded(t.SHOW, "nothing_is_due"), "an_update_comes_behind_earlier_answers", 8),
    _mutant("nothing-is-due", "a turn that has ended holds nothing up", "INV-15",
            _instead(t.COMPLETE, m.complete_turn, _end_turn_unnoticed),
            "an_update_comes_behind_earlier_answers", 8),
    _mutant("answered-at-once", "an answer does not wait for its updates", "INV-15",
            _unguarded(t.ANSWER, "no_update_is_due_before_it"),
            "an_answer_comes_behind_its_updates", 11),
    _mutant("shown-behind-the-load", "a load is answered before the session is shown", "INV-15",
            _first(Row(t.REPLAY, (g.at_stage(Stage.OPEN),), (), None, ("J-33",))),
            "a_session_is_shown_before_its_load_is_answered", 2),
    _mutant("prompt-before-the-load", "a session that is loaded takes prompts before its answer",
            "INV-14", _remove(t.PROMPT, "of_a_session_that_is_not_open"),
            "only_an_open_session_is_used", 1),
    _mutant("close-of-anything", "a close does not look at its session", "INV-14",
            _both(_remove(t.CLOSE, "not_open"), _remove(t.CLOSE, "the_client_leaves")),
            "only_an_open_session_is_used", 1),
    _mutant("loaded-twice", "a session that is live is loaded", "INV-14",
            _remove(t.LOAD, "taken"), "only_a_session_that_is_away_is_opened", 2),
    _mutant("late-load-accepted", "a load that comes back late is answered", "INV-14",
            _unguarded(t.OPENED, "client here"), "a_load_that_comes_back_late_is_refused", 4),
    _mutant("load-forgotten", "the end of a client forgets what is being loaded", "INV-14",
            _both(_instead(t.DISCONNECT, m.end_every_session, _leave_loads_alone),
                  _first(_loads_late)),
            "a_session_comes_only_when_it_is_asked_for", 2),
    _mutant("late-load-leaks", "a load that comes back late leaves its agent", "INV-14",
            _instead(t.REFUSED, m.end_session, m.stage(Stage.OPEN)),
            "a_load_that_is_refused_leaves_nothing", 4),
    _mutant("closed-early", "a close is answered when the agent is disposed", "INV-14",
            _unguarded(t.CLOSED, "over"), "a_closed_session_has_gone", 3),
    _mutant("left-alone", "the end of a session does not wait for its answers", "INV-15",
            _unguarded(t.FREE, "no_prompt_of_it_is_unanswered"), "no_prompt_outlives_its_session",
            5),
    _mutant("over-early", "the end of a client does not wait for its sessions", "INV-14",
            _unguarded(t.OVER, "every_session_is_away"), "nothing_of_a_client_is_left", 3),
    _mutant("over-unanswered", "the end of a client does not wait for its answers", "INV-15",
            _both(_unguarded(t.OVER, "nobody_waits_for_an_answer"),
                  _unguarded(t.FREE, "no_prompt_of_it_is_unanswered")),
            "nothing_is_written_behind_the_end", 7),
    _mutant("close-forgets-the-queue", "a close forgets the prompts that wait", "INV-15",
            _instead(t.CLOSE, m.end_session, _end_and_forget_the_queue),
            "an_outcome_is_decided_once", 3),
    _mutant("close-leaves-the-queue", "a close leaves the prompts that wait as they are", "INV-15",
            _instead(t.CLOSE, m.end_session, _end_and_leave_the_queue),
            "each_prompt_is_answered", 3),
    _mutant("cancel-waits-for-the-model", "a turn that was cancelled goes on until it is over",
            "INV-15", _both(_unguarded(t.COMPLETE, "not_stopped"), _remove(t.UNWIND, "stopped")),
            "each_cancelled_prompt_is_answered", 4),
    _mutant("load-unanswered", "a load that comes back late is not answered", "INV-14",
            _remove(t.REFUSED, "the_client_leaves"), "the_client_hears_of_each_load", 3),
    _mutant("close-unanswered", "a close that the end of the client overtakes is not answered",
            "INV-14", _change(t.CLOSED, lambda row: evolve(
                row, when=(*row.when, g.the_client(Client.HERE)))),
            "the_client_hears_of_each_close", 5),
    _mutant("end-of-some", "the end of a client forgets its sessions", "INV-14",
            _instead(t.DISCONNECT, m.end_every_session, m.client_leaving),
            "the_end_of_a_client_comes", 2),
)  # fmt: skip


def story_of(mutant: BridgeMutant) -> Counterexample | None:
    """Return how the claim that must find the fault is broken."""
    claim = CLAIMS[mutant.dies_of]
    rows = mutant.plant(TABLE)
    if isinstance(claim, Everywhere | OnEveryStep):
        return refute(bridge_world(rows), claim)
    # One session is enough for what must come, and the search has to see all of it.
    alone = next(each for each in bridge_claims(sessions=1) if each.name == claim.name)
    verdict = examine_world(bridge_world(rows, sessions=1), [alone]).verdicts[-1]
    assert not isinstance(verdict.why, str)
    return verdict.why


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
def test_a_fault_of_the_bridge_world_is_found_by_a_shortest_story(mutant: BridgeMutant) -> None:
    """A fault dies of the claim that is there to find it, in as few steps as it takes."""
    story = story_of(mutant)
    assert story is not None
    assert story.length == mutant.length, str(story)


def test_every_claim_about_a_client_finds_a_fault() -> None:
    """Each claim is there for a fault that it finds."""
    told = {claim.name for claim in bridge_claims() if claim.kind.value != "sometimes"}
    assert told == {mutant.dies_of for mutant in MUTANTS}
