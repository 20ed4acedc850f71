"""What there is: jobs with their owners, tools that are reloaded, a session, an executor.

One session goes through its life, another one only tries what it must not. The token of an owner is
kept with the job, in the executor, and is compared and never understood.
"""

from enum import StrEnum
from typing import Final, NamedTuple

__all__ = [
    "EXECUTOR",
    "NOWHERE",
    "Access",
    "Agent",
    "Executor",
    "Job",
    "Notice",
    "State",
    "Status",
    "Token",
]

NOWHERE: Final = -1
"""The place of what happens to the session or to the tools."""
EXECUTOR: Final = -2
"""The place of what happens to the executor, whose teardown is a task of its own."""


class Token(StrEnum):
    """Who may own a job, and who may ask for one."""

    MINE = "mine"
    """The session whose life is told here."""
    OTHER = "other"
    """Another session, which is always live."""
    EMPTY = "empty"
    """A token without a letter in it, which is a token all the same."""
    NONE = "none"
    """No owner; as a caller, somebody without a session."""


class Status(StrEnum):
    """How far a job is."""

    ASKED = "asked"
    """Being looked at, for no time."""
    RUNNING = "running"
    KILLING = "killing"
    """It is being killed, and its processes are not verified gone."""
    ENDED = "ended"


class Notice(StrEnum):
    """What became of the notice that a job has ended."""

    NONE = "none"
    TOLD = "told"
    DROPPED = "dropped"
    """There was no live owner to tell."""
    LOST = "lost"
    """The tool was being reloaded."""


class Agent(StrEnum):
    """The agent on the session, and the session itself."""

    LIVE = "live"
    ENDING = "ending"
    """Disposed; its teardown is under way."""
    GONE = "gone"
    """No agent is on the session, and the session's jobs go on."""
    CLOSING = "closing"
    """The session is being ended: its jobs are killed."""
    ENDED = "ended"


class Executor(StrEnum):
    """Where the jobs run."""

    OPEN = "open"
    DISPOSING = "disposing"
    DISPOSED = "disposed"


class Job(NamedTuple):
    """One job, in its slot until nobody can ask for it any more."""

    owner: Token
    status: Status = Status.ASKED
    notice: Notice = Notice.NONE

    @property
    def is_running(self) -> bool:
        """Whether processes of it may be there."""
        return self.status in (Status.RUNNING, Status.KILLING)


class Access(NamedTuple):
    """Somebody asks for a job."""

    at: int
    caller: Token

    def __str__(self) -> str:
        """Return it as a story tells it."""
        return f"job {self.at} by {self.caller}"


class State(NamedTuple):
    """Everything at one instant."""

    jobs: tuple[Job | None, ...]
    is_loaded: bool = True
    """Whether the plugin of the tools is loaded."""
    agent: Agent = Agent.LIVE
    executor: Executor = Executor.OPEN
    caller: Token = Token.NONE
    """Who asks, while a request is being looked at."""

    def at(self, place: int) -> Job:
        """Return the job at a place that is taken."""
        job = self.jobs[place]
        assert job is not None
        return job

    def put(self, place: int, job: Job | None) -> "State":
        """Return the state with another job at a place."""
        return self._replace(jobs=(*self.jobs[:place], job, *self.jobs[place + 1 :]))

    @property
    def taken(self) -> tuple[tuple[int, Job], ...]:
        """The jobs, each with its place."""
        return tuple((at, job) for at, job in enumerate(self.jobs) if job is not None)

    def __str__(self) -> str:
        """Return it as a reader of a story wants it."""
        parts = [
            f"job {at} of {job.owner} {job.status}"
            + ("" if job.notice is Notice.NONE else f", notice {job.notice}")
            for at, job in self.taken
        ]
        parts += [] if self.is_loaded else ["tools unloaded"]
        parts += [f"agent {self.agent}"]
        parts += [] if self.executor is Executor.OPEN else [f"executor {self.executor}"]
        return "; ".join(parts)
