"""The races that are really met, so that nothing holds because nothing happens."""

from typing import Final

from statemachine.worlds.claims import Claim, sometimes
from statemachine.worlds.world import Step

from . import table as t
from .state import UPDATE, Client, Outcome, Phase, Prompt, Stage, State

__all__ = ["BRIDGE_RACES"]


def _has(step: Step[State], session: int, phase: Phase) -> bool:
    return any(prompt.phase is phase for _, prompt in step.before.of(session))


@sometimes("J-19 J-21", on=(t.CANCEL,), invariant="INV-15")
def a_cancel_meets_a_prompt_that_runs_and_one_that_waits(step: Step[State]) -> bool:
    """A cancel can find a turn open and a prompt queued behind it."""
    is_both = _has(step, step.place, Phase.RUNNING) and _has(step, step.place, Phase.QUEUED)
    return is_both and step.before.sessions[step.place].stage is Stage.OPEN


@sometimes("J-19", on=(t.CANCEL,), invariant="INV-15")
def a_cancel_comes_too_late(step: Step[State]) -> bool:
    """A cancel can come when the turn has ended and is only being flushed: nothing is changed."""
    return any(
        prompt.phase is Phase.ENDED and prompt.outcome is Outcome.TURN
        for _, prompt in step.before.of(step.place)
    )


@sometimes("J-23", on=(t.CANCEL,), invariant="INV-15")
def a_cancel_leaves_another_session_alone(step: Step[State]) -> bool:
    """A cancel can come while a turn of another session is open."""
    others = (prompt for _, prompt in step.before.taken if prompt.session != step.place)
    is_open = step.before.sessions[step.place].stage is Stage.OPEN
    return is_open and any(prompt.phase is Phase.RUNNING for prompt in others)


def _cancelled_before(step: Step[State]) -> list[Prompt]:
    return [
        prompt for _, prompt in step.before.of(step.place) if prompt.outcome is Outcome.CANCELLED
    ]


@sometimes("J-22 J-48", on=(t.BEGIN,), invariant="INV-15")
def a_prompt_behind_a_cancel_runs(step: Step[State]) -> bool:
    """A prompt can begin while the answer to an earlier one that was cancelled is not written."""
    return bool(_cancelled_before(step))


@sometimes("J-57", on=(t.BEGIN,), invariant="INV-15")
def a_turn_takes_two_prompts(step: Step[State]) -> bool:
    """Prompts that wait together can run together."""
    waiting = [prompt for _, prompt in step.before.of(step.place) if prompt.phase is Phase.QUEUED]
    return len(waiting) > 1


@sometimes("J-57", on=(t.HOLD,), invariant="INV-15")
def an_update_waits_for_an_earlier_answer(step: Step[State]) -> bool:
    """A turn can have something to show before the prompts of the last one are answered."""
    return bool(step.before.sessions[step.place].due)


@sometimes("J-57", on=(t.ANSWER,), invariant="INV-15")
def an_answer_lets_an_update_go_and_another_prompt_wait(step: Step[State]) -> bool:
    """A turn can end, and wait for its answer, while what it has shown waits for another's."""
    session = step.before.sessions[step.before.prompt(step.place).session]
    return session.due[:2] == (step.place, UPDATE) and len(session.due) > 2


@sometimes("J-54", on=(t.PROMPT, t.CLOSE), invariant="INV-14")
def a_session_is_used_before_its_load_is_answered(step: Step[State]) -> bool:
    """A session can be asked for when its agent is there and the client has not been told."""
    is_prompt = step.label.event is t.PROMPT
    at = step.label.place.at if is_prompt else step.place  # type: ignore[attr-defined]  # a Place
    return step.is_refused and step.before.sessions[at].stage is Stage.LOADED


@sometimes("J-28", on=(t.LOAD,), invariant="INV-14")
def a_load_meets_a_session_that_is_closing(step: Step[State]) -> bool:
    """A session can be asked for when its agent is gone and its end is not over."""
    is_here = step.before.client is Client.HERE
    return step.is_refused and is_here and step.before.sessions[step.place].stage is Stage.LEFT


@sometimes("J-58", on=(t.CLOSE,), invariant="INV-15")
def a_close_meets_a_prompt_that_waits(step: Step[State]) -> bool:
    """A session can be closed while one prompt of it runs and another one waits."""
    is_both = _has(step, step.place, Phase.RUNNING) and _has(step, step.place, Phase.QUEUED)
    return is_both and not step.is_refused


@sometimes("J-34", on=(t.REFUSED,), invariant="INV-14")
def a_load_comes_back_to_a_client_that_has_gone(step: Step[State]) -> bool:
    """A load can have its agent when the client has gone, and that is ended then."""
    return step.before.sessions[step.place].stage is Stage.LOADED


@sometimes("J-36 J-40", on=(t.DISCONNECT,), invariant="INV-14")
def a_client_goes_while_a_load_and_a_prompt_wait(step: Step[State]) -> bool:
    """A client can go with one session being loaded and another one at work."""
    is_loading = any(each.stage is Stage.LOADING for each in step.before.sessions)
    return is_loading and any(prompt.phase is Phase.RUNNING for _, prompt in step.before.taken)


@sometimes("J-36", on=(t.DISCONNECT,), invariant="INV-15")
def a_client_goes_while_a_turn_is_flushed(step: Step[State]) -> bool:
    """A client can go when a turn has ended and its answer is still due."""
    return any(prompt.phase is Phase.ENDED for _, prompt in step.before.taken)


@sometimes("J-36 J-58", on=(t.DISCONNECT,), invariant="INV-14")
def a_client_goes_while_a_close_waits(step: Step[State]) -> bool:
    """A client can go before its close is answered."""
    return any(session.is_closing for session in step.before.sessions)


BRIDGE_RACES: Final[tuple[Claim, ...]] = (
    a_cancel_meets_a_prompt_that_runs_and_one_that_waits,
    a_cancel_comes_too_late,
    a_cancel_leaves_another_session_alone,
    a_prompt_behind_a_cancel_runs,
    a_turn_takes_two_prompts,
    an_update_waits_for_an_earlier_answer,
    an_answer_lets_an_update_go_and_another_prompt_wait,
    a_session_is_used_before_its_load_is_answered,
    a_load_meets_a_session_that_is_closing,
    a_close_meets_a_prompt_that_waits,
    a_load_comes_back_to_a_client_that_has_gone,
    a_client_goes_while_a_load_and_a_prompt_wait,
    a_client_goes_while_a_turn_is_flushed,
    a_client_goes_while_a_close_waits,
)
