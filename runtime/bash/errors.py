"""What the executor refuses, and who is at fault."""

from typing import ClassVar

from runtime.errors import CallerError, LifecycleError

__all__ = ["CommandAbortedError", "ExecutorClosedError", "InvalidCommandError", "SpawnError"]


class InvalidCommandError(CallerError, ValueError):
    """A request makes no sense; the message names the field. Nothing was started."""

    code: ClassVar[str] = "invalid-command"


class CommandAbortedError(CallerError):
    """The signal had fired before the command began; nothing was started.

    Clauses: H-12
    """

    code: ClassVar[str] = "aborted"


class ExecutorClosedError(CallerError):
    """The executor is gone, and with it every command; look the service up again.

    Clauses: H-44
    """

    code: ClassVar[str] = "executor-closed"


class SpawnError(LifecycleError, OSError):
    """The system did not start the shell; the message says why.

    Clauses: H-07
    """

    code: ClassVar[str] = "spawn-failed"
