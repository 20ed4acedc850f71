"""Commands, and background jobs that belong to somebody."""

from .errors import CommandAbortedError, ExecutorClosedError, InvalidCommandError, SpawnError
from .executor import LocalBash
from .plugin import bash_plugin
from .resolving import BashConfig
from .seam import (
    BASH,
    BASH_FINISHED,
    BashExecRequest,
    BashExecSpec,
    BashExecutor,
    BashFinished,
    BashRead,
    BashResult,
    BashTask,
    JobStatus,
    StreamOutput,
)
from .tools import ForeignJobError, bash_tools_plugin

__all__ = [
    "BASH",
    "BASH_FINISHED",
    "BashConfig",
    "BashExecRequest",
    "BashExecSpec",
    "BashExecutor",
    "BashFinished",
    "BashRead",
    "BashResult",
    "BashTask",
    "CommandAbortedError",
    "ExecutorClosedError",
    "ForeignJobError",
    "InvalidCommandError",
    "JobStatus",
    "LocalBash",
    "SpawnError",
    "StreamOutput",
    "bash_plugin",
    "bash_tools_plugin",
]
