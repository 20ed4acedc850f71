"""The seam between whoever wants a command run and whoever runs it.

The owner of a job is a token that the seam carries and never reads: who may look at a job, and what
becomes of it when its owner ends, is decided by those who made the token up. It has one read path,
`owner_of`, and is not on the job that everybody sees.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from attrs import field, frozen

from runtime.announcements import Announcement
from runtime.context import Token
from runtime.model import AbortSignalLike

__all__ = [
    "BASH",
    "BASH_FINISHED",
    "BashExecRequest",
    "BashExecSpec",
    "BashExecutor",
    "BashFinished",
    "BashRead",
    "BashResult",
    "BashTask",
    "JobStatus",
    "StreamOutput",
]


@frozen(kw_only=True)
class BashExecRequest:
    """What somebody asks for; whatever is None is decided by `resolve`.

    Clauses: H-01
    """

    command: str
    workdir: str | None = None
    timeout_s: float | None = None
    signal: AbortSignalLike | None = None
    stdin: bytes | None = None
    environment: Mapping[str, str] | None = None
    """Set on top of the environment that every command gets; these entries win."""
    owner: str | None = None
    """Whose job it is, in the words of whoever asks; an empty one is one."""


@frozen(kw_only=True)
class BashExecSpec:
    """What will be run; `resolve` has applied every default and every bound.

    Clauses: H-01 H-02
    """

    command: str
    workdir: str
    """Absolute; whether it exists shows when the command starts."""
    timeout_s: float
    """Of a foreground run; a job has none."""
    owner: str | None
    """Always said, also when it is nobody."""
    signal: AbortSignalLike | None = None
    stdin: bytes | None = None
    environment: Mapping[str, str] = field(factory=dict)


class JobStatus(StrEnum):
    """How far a job is, by the word of the system and not of whoever asked for its end."""

    RUNNING = "running"
    COMPLETED = "completed"
    """The shell exited; its code says how it went."""
    KILLED = "killed"
    """A signal ended the shell, it never started, or nobody knows how it ended."""


@frozen(kw_only=True)
class BashTask:
    """What everybody may know of one background job, at one moment.

    Clauses: H-35
    """

    id: str
    command: str
    status: JobStatus
    exit_code: int | None = None
    signal: str | None = None
    """The name of the signal that ended the shell, None if none did or none is known."""


@frozen(kw_only=True)
class StreamOutput:
    """Output of one stream, decoded; foreign bytes that are no UTF-8 are replaced."""

    text: str
    total_bytes: int
    """How much was written since the command began."""
    is_lossy: bool
    """Whether something before `text` was dropped from memory without having been read."""
    spill_path: str | None = None
    """The file with everything that was written, if there was too much for the memory."""


@frozen(kw_only=True)
class BashResult:
    """How a foreground run went; every fact by itself.

    Clauses: H-07 H-08
    """

    exit_code: int | None
    signal: str | None
    is_timed_out: bool
    is_aborted: bool
    timeout_s: float
    stdout: StreamOutput
    stderr: StreamOutput
    is_group_gone: bool = True
    """False if the system did not remove a killed group in time; it is watched further."""


@frozen(kw_only=True)
class BashRead:
    """What a job has written since it was last read, by anybody.

    Clauses: H-16 H-17
    """

    task: BashTask
    stdout: StreamOutput
    stderr: StreamOutput


@frozen(kw_only=True)
class BashFinished:
    """A job is over."""

    task: BashTask


BASH_FINISHED: Announcement[BashFinished] = Announcement("bash/finished")
"""Once for every job, when its status, exit code and signal are known.

Clauses: H-38 H-39 H-40
"""


class BashExecutor(Protocol):
    """Runs commands and owns them until the last of their processes is gone."""

    def resolve(self, request: BashExecRequest) -> BashExecSpec:
        """Apply defaults and bounds, once and for all.

        Raises:
            InvalidCommandError: something in it makes no sense.
        """
        ...

    async def run(self, spec: BashExecSpec) -> BashResult:
        """Run in the foreground: until the end, the timeout or the signal.

        Raises:
            CommandAbortedError: the signal had fired already.
            SpawnError: the system did not start it.
            LimitError: too many commands run.
            ExecutorClosedError: the executor is gone.
        """
        ...

    def start(self, spec: BashExecSpec) -> BashTask:
        """Start a job and return it running; its timeout does not apply.

        Raises:
            CommandAbortedError: the signal had fired already.
            LimitError: too many commands run.
            ExecutorClosedError: the executor is gone.
        """
        ...

    def get(self, job_id: str) -> BashTask | None:
        """Return a job, None if there is none of this id."""
        ...

    def list(self) -> tuple[BashTask, ...]:
        """Return every job that is known, oldest first."""
        ...

    def read(self, job_id: str) -> BashRead:
        """Return what was written since the last read.

        Raises:
            UnknownIdError: there is no such job.
        """
        ...

    def kill(self, job_id: str) -> bool:
        """Ask for a job's end; return whether this call did, which is false ever after.

        Raises:
            UnknownIdError: there is no such job.
        """
        ...

    async def finished(self, job_id: str) -> BashTask:
        """Wait until a job is over and return it.

        Raises:
            UnknownIdError: there is no such job.
        """
        ...

    def owner_of(self, job_id: str) -> str | None:
        """Return the token exactly as it was given; None for nobody, and for an unknown job."""
        ...

    def jobs_of(self, owner: str) -> tuple[BashTask, ...]:
        """Return the jobs with exactly this token, oldest first."""
        ...

    async def end_session(self, owner: str) -> tuple[BashTask, ...]:
        """Kill the jobs with exactly this token, wait for their end and forget them."""
        ...


BASH: Token[BashExecutor] = Token("bash")
"""Whoever runs commands provides this."""
