"""What a row of this world may ask: about a session, about a prompt, or about the client."""

from collections.abc import Callable

from statemachine.worlds.rows import Guard

from .state import UPDATE, Client, Outcome, Phase, Stage, State

__all__ = ["at_stage", "in_phase", "the_client"]


def _guard(claim: Callable[[State, int], bool]) -> Guard[State]:
    return Guard(claim.__name__, claim)


def at_stage(*stages: Stage) -> Guard[State]:
    """Return the guard that the session is so far."""
    return Guard(
        f"session {' or '.join(stages)}", lambda state, at: state.sessions[at].stage in stages
    )


def in_phase(phase: Phase) -> Guard[State]:
    """Return the guard that the prompt is so far."""
    return Guard(f"prompt {phase}", lambda state, at: state.prompt(at).phase is phase)


def the_client(client: Client) -> Guard[State]:
    """Return the guard that the client is so far."""
    return Guard(f"client {client}", lambda state, _: state.client is client)


@_guard
def the_client_leaves(state: State, _: int) -> bool:
    return state.client is not Client.HERE


# -- About a session -------------------------------------------------------------------------------


@_guard
def taken(state: State, at: int) -> bool:
    return state.sessions[at].stage is not Stage.AWAY


@_guard
def not_open(state: State, at: int) -> bool:
    return state.sessions[at].stage is not Stage.OPEN


@_guard
def no_close_waits(state: State, at: int) -> bool:
    return not state.sessions[at].is_closing


@_guard
def a_close_waits(state: State, at: int) -> bool:
    return state.sessions[at].is_closing


@_guard
def over(state: State, at: int) -> bool:
    return state.sessions[at].stage not in (Stage.ENDING, Stage.LEFT)


def _has(state: State, session: int, *phases: Phase) -> bool:
    return any(prompt.phase in phases for _, prompt in state.of(session))


@_guard
def prompts_wait(state: State, at: int) -> bool:
    return _has(state, at, Phase.QUEUED)


@_guard
def a_turn_is_open(state: State, at: int) -> bool:
    return _has(state, at, Phase.RUNNING)


@_guard
def no_turn_is_open(state: State, at: int) -> bool:
    return not _has(state, at, Phase.RUNNING, Phase.ENDED)


@_guard
def a_turn_has_ended(state: State, at: int) -> bool:
    return _has(state, at, Phase.ENDED)


@_guard
def stopped(state: State, at: int) -> bool:
    return state.sessions[at].stage is Stage.ENDING or any(
        prompt.phase is Phase.RUNNING and prompt.outcome is Outcome.CANCELLED
        for _, prompt in state.of(at)
    )


@_guard
def not_stopped(state: State, at: int) -> bool:
    return not stopped.holds(state, at)


@_guard
def no_prompt_of_it_is_unanswered(state: State, at: int) -> bool:
    return not state.of(at)


@_guard
def nothing_is_due(state: State, at: int) -> bool:
    return not state.sessions[at].due


@_guard
def something_is_due(state: State, at: int) -> bool:
    return bool(state.sessions[at].due)


@_guard
def no_update_is_due_last(state: State, at: int) -> bool:
    # Where one waits, the next one waits with it.
    return state.sessions[at].due[-1:] not in ((), (UPDATE,))


# -- About a prompt --------------------------------------------------------------------------------


@_guard
def of_a_session_that_is_not_open(state: State, at: int) -> bool:
    return state.sessions[state.prompt(at).session].stage is not Stage.OPEN


@_guard
def no_update_is_due_before_it(state: State, at: int) -> bool:
    due = state.sessions[state.prompt(at).session].due
    return at not in due or UPDATE not in due[: due.index(at)]


# -- About the client ------------------------------------------------------------------------------


@_guard
def every_session_is_away(state: State, _: int) -> bool:
    return all(session.stage is Stage.AWAY for session in state.sessions)


@_guard
def nobody_waits_for_an_answer(state: State, _: int) -> bool:
    is_closing = any(session.is_closing for session in state.sessions)
    return not is_closing and not state.taken
