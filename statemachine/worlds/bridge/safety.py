"""What is never seen, whatever a client says and whenever it goes."""

from typing import Final

from statemachine.worlds.claims import Everywhere, OnEveryStep, everywhere, on_every_step
from statemachine.worlds.world import Step

from . import table as t
from .state import UPDATE, Client, Outcome, Phase, Prompt, Stage, State

__all__ = ["BRIDGE_SAFETY"]


def _session(step: Step[State]) -> int:
    """Return the session that a step is about: its own, or that of its prompt."""
    kind_of_prompt = step.label.event in (t.ANSWER, t.PROMPT)
    if not kind_of_prompt:
        return step.place
    prompt = step.before.prompts[step.place]
    return step.after.prompt(step.place).session if prompt is None else prompt.session


def _stayed(step: Step[State]) -> tuple[tuple[int, Prompt, Prompt], ...]:
    """Return the prompts that were there and are: their places, and what they were and are."""
    return tuple(
        (at, before, after)
        for at, before in step.before.taken
        if (after := step.after.prompts[at]) is not None
    )


# -- Answers ---------------------------------------------------------------------------------------


@on_every_step("J-13", on=(t.ANSWER,), invariant="INV-15")
def a_prompt_is_answered_once(step: Step[State]) -> bool:
    """With its answer a prompt is gone, and nobody can answer it again."""
    return step.after.prompts[step.place] is None


@on_every_step("J-13 J-14", on=(t.ANSWER,), invariant="INV-15")
def a_prompt_is_answered_when_it_is_over(step: Step[State]) -> bool:
    """A prompt is answered when it will never run, or when its turn has ended and is flushed."""
    prompt = step.before.prompt(step.place)
    is_over = prompt.phase in (Phase.SETTLED, Phase.DROPPED)
    return is_over and prompt.outcome is not Outcome.UNDECIDED


@on_every_step("J-13 J-19", invariant="INV-15")
def an_outcome_is_decided_once(step: Step[State]) -> bool:
    """What a prompt will be answered never changes once it is decided, and no answer is lost."""
    is_kept = all(
        after.outcome is before.outcome
        for _, before, after in _stayed(step)
        if before.outcome is not Outcome.UNDECIDED
    )
    gone = [at for at, _ in step.before.taken if step.after.prompts[at] is None]
    return is_kept and gone == ([step.place] if step.label.event is t.ANSWER else [])


# -- Cancels ---------------------------------------------------------------------------------------


def _is_of_an_open_session(step: Step[State]) -> bool:
    return step.before.sessions[step.place].stage is Stage.OPEN


@on_every_step("J-19 J-48", on=(t.CANCEL,), invariant="INV-15", about=_is_of_an_open_session)
def a_cancel_reaches_what_came_before_it(step: Step[State]) -> bool:
    """A cancel decides every prompt of its session whose turn has not ended: it is cancelled."""
    return all(
        after.outcome is Outcome.CANCELLED
        for _, before, after in _stayed(step)
        if before.session == step.place and before.outcome is Outcome.UNDECIDED
    )


def _is_cancelled(step: Step[State]) -> bool:
    return bool(_cancelled(step))


def _cancelled(step: Step[State]) -> list[Prompt]:
    """Return the prompts that are cancelled in a step, as they were before it."""
    return [
        before
        for _, before, after in _stayed(step)
        if before.outcome is not Outcome.CANCELLED and after.outcome is Outcome.CANCELLED
    ]


@on_every_step("J-22 J-23 J-58", invariant="INV-15", about=_is_cancelled)
def nothing_else_is_cancelled(step: Step[State]) -> bool:
    """A prompt is cancelled by a cancel, or the end, of its own session, and by nothing else."""
    event = step.label.event
    cancelled = _cancelled(step)
    if event is t.DISCONNECT:
        return True
    is_own = all(prompt.session == step.place for prompt in cancelled)
    is_end = step.before.sessions[step.place].stage is Stage.ENDING
    return is_own and (event in (t.CANCEL, t.CLOSE) or (event is t.UNWIND and is_end))


@on_every_step("J-22 J-48 J-57", on=(t.PROMPT,), invariant="INV-15")
def a_new_prompt_is_not_cancelled(step: Step[State]) -> bool:
    """A prompt that is accepted waits for its turn, whatever was cancelled before."""
    prompt = step.after.prompt(step.place)
    return (prompt.phase, prompt.outcome) == (Phase.QUEUED, Outcome.UNDECIDED)


def _begun(step: Step[State]) -> list[Prompt]:
    """Return the prompts that begin to run in a step, as they were before it."""
    return [
        before
        for _, before, after in _stayed(step)
        if after.phase is Phase.RUNNING and before.phase is not Phase.RUNNING
    ]


def _begins(step: Step[State]) -> bool:
    return bool(_begun(step))


@on_every_step("J-21", invariant="INV-15", about=_begins)
def a_cancelled_prompt_never_begins(step: Step[State]) -> bool:
    """A turn takes prompts that wait for it, none that was cancelled, of a session that is open."""
    is_open = step.before.sessions[step.place].stage is Stage.OPEN
    return is_open and all(
        (prompt.phase, prompt.outcome) == (Phase.QUEUED, Outcome.UNDECIDED)
        for prompt in _begun(step)
    )


# -- Updates ---------------------------------------------------------------------------------------


@on_every_step("J-57", on=(t.SHOW,), invariant="INV-15")
def an_update_comes_behind_earlier_answers(step: Step[State]) -> bool:
    """What a turn shows is behind the answers of the turns before it, and before its own."""
    prompts = [prompt for _, prompt in step.before.of(step.place)]
    is_open = any(prompt.phase is Phase.RUNNING for prompt in prompts)
    return is_open and not any(prompt.is_due for prompt in prompts)


@on_every_step("J-57", on=(t.ANSWER,), invariant="INV-15")
def an_answer_comes_behind_its_updates(step: Step[State]) -> bool:
    """When a prompt is answered, nothing that its turn has shown still waits to be written."""
    due = step.before.sessions[_session(step)].due
    is_due = step.before.prompt(step.place).is_due
    return not is_due or (step.place in due and UPDATE not in due[: due.index(step.place)])


@on_every_step("J-33", on=(t.REPLAY,), invariant="INV-15")
def a_session_is_shown_before_its_load_is_answered(step: Step[State]) -> bool:
    """What was said before is shown anew while the load that asked for it is not answered."""
    return step.before.sessions[step.place].stage is Stage.LOADED


# -- Sessions --------------------------------------------------------------------------------------


@on_every_step("J-35 J-54 J-58", on=(t.PROMPT, t.CLOSE), invariant="INV-14")
def only_an_open_session_is_used(step: Step[State]) -> bool:
    """Prompts and closes are accepted of sessions that were answered and are not ending, alone."""
    is_open = step.before.sessions[_session(step)].stage is Stage.OPEN
    return is_open and step.before.client is Client.HERE


@on_every_step("J-28 J-35", on=(t.NEW, t.LOAD), invariant="INV-14")
def only_a_session_that_is_away_is_opened(step: Step[State]) -> bool:
    """Nothing is loaded that is live or being loaded or closed, nor for a client that has gone."""
    is_away = step.before.sessions[step.place].stage is Stage.AWAY
    return is_away and step.before.client is Client.HERE


@on_every_step("J-34 J-40", on=(t.OPENED,), invariant="INV-14")
def a_load_that_comes_back_late_is_refused(step: Step[State]) -> bool:
    """No session is given to a client that has gone."""
    return step.before.client is Client.HERE


def _appears(step: Step[State]) -> bool:
    return any(
        after.is_there and not before.is_there
        for before, after in zip(step.before.sessions, step.after.sessions, strict=True)
    )


@on_every_step("J-38 J-58", invariant="INV-14", about=_appears)
def a_session_comes_only_when_it_is_asked_for(step: Step[State]) -> bool:
    """An agent and its session appear for a `session/new`, or for a load that is not answered."""
    was = step.before.sessions[step.place].stage
    asked = {t.NEW: Stage.AWAY, t.STORE_ANSWERS: Stage.LOADING}
    return asked.get(step.label.event) is was


@on_every_step("J-58", on=(t.CLOSED,), invariant="INV-14")
def a_closed_session_has_gone(step: Step[State]) -> bool:
    """When a close is answered nothing of that session is left, unless it was loaded anew."""
    return step.before.sessions[step.place].stage not in (Stage.ENDING, Stage.LEFT)


@on_every_step("J-29 J-34", on=(t.STORE_FAILS, t.REFUSED), invariant="INV-14")
def a_load_that_is_refused_leaves_nothing(step: Step[State]) -> bool:
    """A load that is refused leaves nothing, or something that is being ended."""
    return step.after.sessions[step.place].stage in (Stage.AWAY, Stage.ENDING)


def _is_anybody_waiting(state: State) -> bool:
    return bool(state.taken)


@everywhere("J-13 J-58", invariant="INV-15", about=_is_anybody_waiting)
def no_prompt_outlives_its_session(state: State) -> bool:
    """A prompt that has to be answered has a session, which is open or is ending."""
    there = (Stage.OPEN, Stage.ENDING, Stage.LEFT)
    return all(state.sessions[prompt.session].stage in there for _, prompt in state.taken)


# -- The end ---------------------------------------------------------------------------------------


def _has_gone(state: State) -> bool:
    return state.client is Client.GONE


@everywhere("J-36 J-38", invariant="INV-14", about=_has_gone)
def nothing_of_a_client_is_left(state: State) -> bool:
    """When the end of a client is over nothing of it is there or waits, then and later."""
    is_away = all(session.stage is Stage.AWAY for session in state.sessions)
    is_closing = any(session.is_closing for session in state.sessions)
    return is_away and not is_closing and not state.taken


@on_every_step("J-36", on=t.WRITTEN, invariant="INV-15")
def nothing_is_written_behind_the_end(step: Step[State]) -> bool:
    """Whatever a client is told it is told before its end is over."""
    return step.before.client is not Client.GONE


BRIDGE_SAFETY: Final[tuple[Everywhere[State] | OnEveryStep[State], ...]] = (
    a_prompt_is_answered_once,
    a_prompt_is_answered_when_it_is_over,
    an_outcome_is_decided_once,
    a_cancel_reaches_what_came_before_it,
    nothing_else_is_cancelled,
    a_new_prompt_is_not_cancelled,
    a_cancelled_prompt_never_begins,
    an_update_comes_behind_earlier_answers,
    an_answer_comes_behind_its_updates,
    a_session_is_shown_before_its_load_is_answered,
    only_an_open_session_is_used,
    only_a_session_that_is_away_is_opened,
    a_load_that_comes_back_late_is_refused,
    a_session_comes_only_when_it_is_asked_for,
    a_closed_session_has_gone,
    a_load_that_is_refused_leaves_nothing,
    no_prompt_outlives_its_session,
    nothing_of_a_client_is_left,
    nothing_is_written_behind_the_end,
)
