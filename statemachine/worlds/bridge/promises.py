"""What comes in the end, and who has to do their part for that: every part is needed."""

from collections.abc import Callable
from typing import Final

from statemachine.worlds.claims import Assumption, Claim, Eventually
from statemachine.worlds.rows import Actor

from .races import BRIDGE_RACES
from .safety import BRIDGE_SAFETY
from .state import Client, Outcome, Stage, State

__all__ = ["bridge_claims", "false_bridge_variants"]

MODELS: Final = Assumption(
    name="models come to an end",
    text="A turn that nobody stops is over by itself at some time.",
    fair=frozenset({Actor.MODEL}),
)
DRIVERS: Final = Assumption(
    name="drivers go on",
    text="A driver begins the turn that waits for it, and a stopped one unwinds.",
    fair=frozenset({Actor.DRIVER}),
)
STORES: Final = Assumption(
    name="the store answers",
    text="The store does what it is asked, or says that it cannot.",
    fair=frozenset({Actor.STORE}),
)
REQUESTS: Final = Assumption(
    name="requests go on",
    text="Whoever serves a request, while there is something to do, at some time does it.",
    fair=frozenset({Actor.REQUEST}),
)
TEARDOWNS: Final = Assumption(
    name="teardowns go on",
    text="A teardown, while it has something to do, at some time does it.",
    fair=frozenset({Actor.TEARDOWN}),
)
_ENDS: Final = (DRIVERS, STORES, REQUESTS, TEARDOWNS)

_Question = Callable[[State, int], bool]


def _is_there(state: State, at: int) -> bool:
    return state.prompts[at] is not None


def _is_cancelled(state: State, at: int) -> bool:
    prompt = state.prompts[at]
    return prompt is not None and prompt.outcome is Outcome.CANCELLED


def _is_answered(state: State, at: int) -> bool:
    return state.prompts[at] is None


def _loads(state: State, at: int) -> bool:
    return state.sessions[at].stage in (Stage.LOADING, Stage.LOADED)


def _does_not_load(state: State, at: int) -> bool:
    return not _loads(state, at)


def _is_closing(state: State, at: int) -> bool:
    return state.sessions[at].is_closing


def _is_closed(state: State, at: int) -> bool:
    return not state.sessions[at].is_closing


_Promise = tuple[str, str, str, str, str, _Question, _Question, tuple[Assumption, ...]]

_PROMISES: Final[tuple[_Promise, ...]] = (
    ("each_prompt_is_answered", "J-13 J-36", "INV-15",
     "Every prompt that was accepted is answered, whoever goes meanwhile.",
     "prompts", _is_there, _is_answered, (MODELS, DRIVERS, STORES, REQUESTS)),
    ("each_cancelled_prompt_is_answered", "J-19 J-21", "INV-15",
     "A prompt that was cancelled is answered, whatever its model does.",
     "prompts", _is_cancelled, _is_answered, (DRIVERS, STORES, REQUESTS)),
    ("the_client_hears_of_each_load", "J-33 J-34 J-40", "INV-14",
     "Every load is answered.",
     "sessions", _loads, _does_not_load, (STORES, REQUESTS)),
    ("the_client_hears_of_each_close", "J-58", "INV-14",
     "Every close is answered, whatever the models do.",
     "sessions", _is_closing, _is_closed, _ENDS),
    ("the_end_of_a_client_comes", "J-36 J-37 J-40", "INV-14",
     "When a client goes nothing of it is left in the end, whatever the models do.",
     "client", lambda state, _: state.client is Client.LEAVING,
     lambda state, _: state.client is Client.GONE, _ENDS),
)  # fmt: skip


def _promises(sessions: int, prompts: int) -> tuple[Eventually[State], ...]:
    counts = {"sessions": sessions, "prompts": prompts, "client": 1}
    return tuple(
        Eventually(
            name=name, clauses=tuple(clauses.split()), invariant=invariant, statement=statement,
            places=tuple(range(counts[what])), from_=from_, to=to, premise=premise,
        )
        for name, clauses, invariant, statement, what, from_, to, premise in _PROMISES
    )  # fmt: skip


def bridge_claims(*, sessions: int = 2, prompts: int = 2) -> tuple[Claim, ...]:
    """Return every claim about a bridge world with so many sessions and prompts."""
    return (*BRIDGE_SAFETY, *BRIDGE_RACES, *_promises(sessions, prompts))


def false_bridge_variants(*, sessions: int = 1, prompts: int = 2) -> tuple[Eventually[State], ...]:
    """Return the claims that lack one part of their premise, which must all be refuted."""
    promised = _promises(sessions, prompts)
    return tuple(claim.without(part) for claim in promised for part in claim.premise)
