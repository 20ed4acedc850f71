"""An asyncio runtime for agents that obeys the lifecycle of `statemachine`."""

import statemachine

# Before any other import of ours: with a stranger in its place the next `from statemachine
# import ...` would fail with a message that names neither the cause nor the remedy.
if getattr(statemachine, "DISTRIBUTION", None) != "quiesce":
    raise ImportError(
        f"the package `statemachine` found at {statemachine.__file__} is not the one of quiesce; "
        "another distribution installs the same name: "
        "uninstall it, or use separate virtual environments"
    )

from statemachine import Ending, Status, Window

from . import seams
from .abort import AbortSignal
from .agent import Agent
from .announcements import (
    AGENT_CREATED,
    AGENT_DISCARDED,
    AGENT_DISPOSED,
    AGENT_ERROR,
    AGENT_QUEUED,
    AGENT_SESSION_START,
    AGENT_STATUS,
    SESSION_CREATED,
    SESSION_ENDED,
    SESSION_EVENT,
    SESSION_FLUSH,
    AgentFailed,
    AgentNotice,
    Announcement,
    Discarded,
    Queued,
    RecordAppended,
    SessionEnded,
    SessionNotice,
    SessionStarted,
    StatusChanged,
)
from .application import AGENTS, AppContext, ConfiguredAgent
from .assembly import AgentInspection, Inspection, Runtime, open_runtime
from .bash import (
    BASH,
    BASH_FINISHED,
    BashConfig,
    BashExecRequest,
    BashExecSpec,
    BashExecutor,
    BashFinished,
    BashRead,
    BashResult,
    BashTask,
    CommandAbortedError,
    ExecutorClosedError,
    ForeignJobError,
    InvalidCommandError,
    JobStatus,
    SpawnError,
    StreamOutput,
    bash_plugin,
    bash_tools_plugin,
)
from .context import (
    Context,
    Effect,
    Fiber,
    FiberState,
    Plugin,
    Subscription,
    Token,
)
from .core import AgentOptions
from .errors import (
    AgentDisposedError,
    CallerError,
    DamagedSessionError,
    DuplicateIdError,
    InvalidContentError,
    InvalidRecordError,
    LifecycleError,
    LimitError,
    ModelError,
    PluginError,
    SessionBusyError,
    StorageError,
    UnknownIdError,
    WouldDeadlockError,
)
from .exchange import exchange
from .handle import AgentHandle
from .limits import Limits
from .model import (
    EchoModel,
    Finish,
    FinishKind,
    Model,
    ModelRequest,
    ReasoningDelta,
    Reply,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from .persistence import PERSISTENCE, Persistence
from .ports import Blocking
from .registry import AgentRegistry
from .scripted import ScriptedModel, ScriptError
from .session.backend import Backend, RemovingBackend, StoredHeader, StoredSession
from .session.derive import Message
from .session.jsonl import JsonLinesBackend
from .session.log import Session, SessionHeader
from .session.memory import MemoryBackend
from .session.records import Record
from .session.sqlite import SqliteBackend
from .session.store import Sessions
from .system_prompt import SYSTEM_PROMPT, SystemPrompt
from .teardown import LinkFailure, Teardown, TeardownReport
from .tools import (
    TOOLS,
    TOOLS_CHANGED,
    Tool,
    ToolErrorInfo,
    ToolRegistry,
    ToolResult,
    ToolsChanged,
    ToolUse,
)
from .turn import Fate

__all__ = [
    "AGENTS",
    "AGENT_CREATED",
    "AGENT_DISCARDED",
    "AGENT_DISPOSED",
    "AGENT_ERROR",
    "AGENT_QUEUED",
    "AGENT_SESSION_START",
    "AGENT_STATUS",
    "BASH",
    "BASH_FINISHED",
    "PERSISTENCE",
    "SESSION_CREATED",
    "SESSION_ENDED",
    "SESSION_EVENT",
    "SESSION_FLUSH",
    "SYSTEM_PROMPT",
    "TOOLS",
    "TOOLS_CHANGED",
    "AbortSignal",
    "Agent",
    "AgentDisposedError",
    "AgentFailed",
    "AgentHandle",
    "AgentInspection",
    "AgentNotice",
    "AgentOptions",
    "AgentRegistry",
    "Announcement",
    "AppContext",
    "Backend",
    "BashConfig",
    "BashExecRequest",
    "BashExecSpec",
    "BashExecutor",
    "BashFinished",
    "BashRead",
    "BashResult",
    "BashTask",
    "Blocking",
    "CallerError",
    "CommandAbortedError",
    "ConfiguredAgent",
    "Context",
    "DamagedSessionError",
    "Discarded",
    "DuplicateIdError",
    "EchoModel",
    "Effect",
    "Ending",
    "ExecutorClosedError",
    "Fate",
    "Fiber",
    "FiberState",
    "Finish",
    "FinishKind",
    "ForeignJobError",
    "Inspection",
    "InvalidCommandError",
    "InvalidContentError",
    "InvalidRecordError",
    "JobStatus",
    "JsonLinesBackend",
    "LifecycleError",
    "LimitError",
    "Limits",
    "LinkFailure",
    "MemoryBackend",
    "Message",
    "Model",
    "ModelError",
    "ModelRequest",
    "Persistence",
    "Plugin",
    "PluginError",
    "Queued",
    "ReasoningDelta",
    "Record",
    "RecordAppended",
    "RemovingBackend",
    "Reply",
    "Runtime",
    "ScriptError",
    "ScriptedModel",
    "Session",
    "SessionBusyError",
    "SessionEnded",
    "SessionHeader",
    "SessionNotice",
    "SessionStarted",
    "Sessions",
    "SpawnError",
    "SqliteBackend",
    "Status",
    "StatusChanged",
    "StorageError",
    "StoredHeader",
    "StoredSession",
    "StreamOutput",
    "Subscription",
    "SystemPrompt",
    "Teardown",
    "TeardownReport",
    "TextDelta",
    "Token",
    "Tool",
    "ToolCallDelta",
    "ToolErrorInfo",
    "ToolRegistry",
    "ToolResult",
    "ToolUse",
    "ToolsChanged",
    "UnknownIdError",
    "Usage",
    "Window",
    "WouldDeadlockError",
    "bash_plugin",
    "bash_tools_plugin",
    "exchange",
    "open_runtime",
    "seams",
]
