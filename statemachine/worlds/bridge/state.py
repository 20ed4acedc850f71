"""What there is: a client, the sessions that it may have, and its prompts that are under way.

Who may have a session, and what a teardown does to registry and store, is the matter of the
connection world. Here a session is there or it is not, and what counts is what the client is told,
and when: its prompts, their answers, and the updates that stand between them.

A prompt has its slot from its acceptance until its answer is written, so a world with a few slots
covers conversations of any length: what is bounded is how much is under way.
"""

from enum import StrEnum
from typing import Final, NamedTuple

__all__ = [
    "CLIENT", "UPDATE", "Client", "Kind", "Outcome", "Phase", "Place", "Prompt", "Session", "Stage",
    "State",
]  # fmt: skip

UPDATE: Final = -1
"""Among the prompts that are due: something to be shown, which waits for those before it."""


class Kind(StrEnum):
    """What something can happen to."""

    CLIENT = "client"
    SESSION = "session"
    PROMPT = "prompt"
    NEW_PROMPT = "prompt to session"
    """A prompt that is being sent and has no slot yet; the number is that of its session."""


class Place(NamedTuple):
    """Where something happens."""

    kind: Kind
    at: int

    def __str__(self) -> str:
        """Return it as a story tells it."""
        return self.kind.value if self.kind is Kind.CLIENT else f"{self.kind} {self.at}"


CLIENT: Final = Place(Kind.CLIENT, 0)


class Client(StrEnum):
    """Whoever is at the other end."""

    HERE = "here"
    LEAVING = "leaving"
    """The end of its input has been read, and what it had is being ended."""
    GONE = "gone"
    """Nothing of it is left, and nothing is written to it any more."""


class Stage(StrEnum):
    """How far a session of the client is."""

    AWAY = "away"
    """Not live: it may be loaded."""
    LOADING = "loading"
    """A load waits for the store."""
    LOADED = "loaded"
    """There is an agent, and the client has not been told."""
    OPEN = "open"
    """The client has been told: it is the client's."""
    ENDING = "ending"
    """Its agent is disposed."""
    LEFT = "left"
    """Agent and session are gone, its id is not free yet."""


class Session(NamedTuple):
    """One session, and what is still to be written of it."""

    stage: Stage = Stage.AWAY
    due: tuple[int, ...] = ()
    """The prompts whose turns have ended, in the order of these, until they are answered; behind
    them stands `UPDATE` for whatever a later turn has shown meanwhile."""
    is_closing: bool = False
    """Whether a close waits for the end."""

    @property
    def is_there(self) -> bool:
        """Whether its agent, or its entry in the store, is there."""
        return self.stage in (Stage.LOADED, Stage.OPEN, Stage.ENDING)

    def __str__(self) -> str:
        """Return it as a story tells it."""
        due = " ".join("update" if each == UPDATE else str(each) for each in self.due)
        return f"{self.stage}{f', due {due}' * bool(due)}{', a close waits' * self.is_closing}"


class Phase(StrEnum):
    """How far a prompt is."""

    ASKED = "asked"
    """Being looked at, for no time."""
    QUEUED = "queued"
    RUNNING = "running"
    """Recorded, and its turn is open."""
    ENDED = "ended"
    """Its turn has ended, and is not flushed yet."""
    SETTLED = "settled"
    """Its turn has ended, and whoever serves it knows."""
    DROPPED = "dropped"
    """It will never run, and whoever serves it knows."""


class Outcome(StrEnum):
    """What a prompt is to be answered."""

    UNDECIDED = "undecided"
    TURN = "turn"
    """What its turn came to, by itself."""
    CANCELLED = "cancelled"


class Prompt(NamedTuple):
    """One prompt that was accepted."""

    session: int
    phase: Phase = Phase.ASKED
    outcome: Outcome = Outcome.UNDECIDED

    @property
    def is_due(self) -> bool:
        """Whether its turn has ended, so that what later turns show has to wait for its answer."""
        return self.phase in (Phase.ENDED, Phase.SETTLED)

    def __str__(self) -> str:
        """Return it as a story tells it."""
        return f"of session {self.session} {self.phase}, {self.outcome}"


class State(NamedTuple):
    """Everything at one instant."""

    sessions: tuple[Session, ...]
    prompts: tuple[Prompt | None, ...]
    client: Client = Client.HERE

    @property
    def taken(self) -> tuple[tuple[int, Prompt], ...]:
        """The slots that hold a prompt, each with its place."""
        return tuple((at, each) for at, each in enumerate(self.prompts) if each is not None)

    def of(self, session: int) -> tuple[tuple[int, Prompt], ...]:
        """Return the prompts of one session, each with its place."""
        return tuple((at, each) for at, each in self.taken if each.session == session)

    def prompt(self, place: int) -> Prompt:
        """Return the prompt at a place that is taken."""
        found = self.prompts[place]
        assert found is not None
        return found

    def put(self, place: int, prompt: Prompt | None) -> "State":
        """Return the state with another prompt at a place."""
        prompts = (*self.prompts[:place], prompt, *self.prompts[place + 1 :])
        return self._replace(prompts=prompts)

    def put_session(self, place: int, session: Session) -> "State":
        """Return the state with another session at a place."""
        sessions = (*self.sessions[:place], session, *self.sessions[place + 1 :])
        return self._replace(sessions=sessions)

    def __str__(self) -> str:
        """Return it as a reader of a story wants it: only what is not at rest."""
        parts = [
            f"session {at} {session}"
            for at, session in enumerate(self.sessions)
            if session != Session()
        ]
        parts += [f"prompt {at} {prompt}" for at, prompt in self.taken]
        parts += [] if self.client is Client.HERE else [f"client {self.client}"]
        return "; ".join(parts) or "nothing"
