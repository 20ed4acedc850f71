"""The seams of a turn: the places where plugins may change what comes of it.

Whoever listens here is an interceptor, a part of the turn. It is asked in the order of
registration, the first outermost; it may look at what lies further in (`await proceed()`), change
it, or answer by itself. What it raises ends the turn as `error`; around a tool it becomes the
result of that call. Once the turn is to stop nobody is asked any more: no seam is opened, those
that were asked already have the rest of the turn's grace, and `proceed()` raises where another one
would be next. So where somebody listens to `tool/after`, what a body brings behind a stop is not
recorded: nobody has judged it.

    prompt/submit     Allow | Block             each prompt of the batch, before it is recorded
    system/assemble   str                       once a step, the system prompt
    step/prepare      (nothing)                 before `step/start`; what it records lies before it
    model/request     ModelRequest              before the model sees it
    step/result       Reply                     before the reply is recorded and its calls are made
    tool/before       Permit | Deny | Ask       before the body of a tool is entered
    tool/permission   bool                      whoever can answer an Ask
    tool/after        Accept | Reject           before the result of a call is recorded
    turn/continue     AsUsual | Continue | Stop behind each step
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from attrs import field, frozen

from .context import Proceed, Serial, Waterfall
from .model import AbortSignalLike, ModelRequest, Reply
from .session.content import Block as ContentBlock
from .session.content import FrozenObject, accept_content, accept_source, freeze_json
from .session.log import Session
from .session.records import Record
from .tools import ToolResult, ToolUse

__all__ = [
    "MODEL_REQUEST",
    "PROMPT_SUBMIT",
    "STEP_PREPARE",
    "STEP_RESULT",
    "SYSTEM_ASSEMBLE",
    "TOOL_AFTER",
    "TOOL_BEFORE",
    "TOOL_PERMISSION",
    "TURN_CONTINUE",
    "Accept",
    "Allow",
    "AsUsual",
    "Ask",
    "Attachment",
    "Block",
    "Continue",
    "Deny",
    "Moment",
    "PermissionRequest",
    "Permit",
    "Proceed",
    "PromptSubmission",
    "PromptVerdict",
    "Reject",
    "RequestPreparation",
    "StepResult",
    "Stop",
    "ToolJudgement",
    "ToolOutcome",
    "ToolVerdict",
    "Vote",
]


@frozen(kw_only=True)
class Moment:
    """Where in which turn an interceptor is asked."""

    agent: Any
    """The bare `Agent`; its `inject` puts context into the turn."""
    session: Session
    turn: int
    step: int
    """The step that is open or was open last; before the first, 0."""
    signal: AbortSignalLike
    """Fires when the turn is to stop."""
    record: Callable[[str, Mapping[str, Any]], Record] = field(repr=False, eq=False)
    """Append a record of a plugin's own type, `vendor/name`, to the open turn.

    Raises:
        InvalidRecordError: the type belongs to the runtime, or the turn is over.
        InvalidContentError: the data would not survive the log.
    """


def _accept_content(value: object) -> tuple[ContentBlock, ...]:
    return accept_content(value)


def _accept_source(value: object) -> FrozenObject:
    return accept_source(value)


_PLUGIN: Final[FrozenObject] = freeze_json({"kind": "plugin"}, what="source")


@frozen
class Attachment:
    """Context that an interceptor adds to the turn, recorded as `context/message`.

    Raises:
        InvalidContentError: the content or the source would not survive the log.
    """

    content: tuple[ContentBlock, ...] = field(converter=_accept_content)
    source: FrozenObject = field(default=_PLUGIN, converter=_accept_source)


def _accept_or_none(value: object) -> tuple[ContentBlock, ...] | None:
    return None if value is None else accept_content(value)


def _attachments(value: "Attachment | str | Iterable[Attachment | str]") -> tuple[Attachment, ...]:
    each = (value,) if isinstance(value, (str, Attachment)) else value
    return tuple(one if isinstance(one, Attachment) else Attachment(one) for one in each)


# -- Prompts ---------------------------------------------------------------------------------------


@frozen(kw_only=True)
class PromptSubmission(Moment):
    """One prompt of the batch that is about to be recorded."""

    message_id: str
    content: tuple[ContentBlock, ...]
    source: FrozenObject


@frozen(kw_only=True)
class Allow:
    """Let the prompt in.

    Clauses: B-88 B-89
    """

    content: tuple[ContentBlock, ...] | None = field(default=None, converter=_accept_or_none)
    """What is recorded instead of the prompt; None leaves it as it is."""
    context: tuple[Attachment, ...] = field(default=(), converter=_attachments)
    """Recorded behind the prompt."""


@frozen
class Block:
    """Keep the prompt out; it is recorded as blocked, and no model sees it.

    Clauses: B-90 B-91
    """

    reason: str


PromptVerdict: TypeAlias = Allow | Block


# -- One step --------------------------------------------------------------------------------------


@frozen(kw_only=True)
class RequestPreparation(Moment):
    """The question that is about to go to the model."""

    request: ModelRequest


@frozen(kw_only=True)
class StepResult(Moment):
    """The finished reply of the model, not yet recorded."""

    reply: Reply


# -- Tools -----------------------------------------------------------------------------------------


@frozen
class Permit:
    """Let the tool run."""


@frozen
class Deny:
    """Do not let the tool run; the model is told why.

    Clauses: K-05
    """

    feedback: str


@frozen
class Ask:
    """Let somebody else decide whether the tool runs; if nobody can, it does not.

    Clauses: K-05
    """

    question: str = "May this tool run?"


ToolVerdict: TypeAlias = Permit | Deny | Ask


@frozen(kw_only=True)
class PermissionRequest:
    """The question that an interceptor has about a call."""

    use: ToolUse
    question: str


@frozen(kw_only=True)
class ToolOutcome:
    """The result of a call that is about to be recorded, whoever made it."""

    use: ToolUse
    result: ToolResult


@frozen(kw_only=True)
class Accept:
    """Record the result, with other content if there is any.

    Clauses: K-07
    """

    content: tuple[ContentBlock, ...] | None = field(default=None, converter=_accept_or_none)
    context: tuple[Attachment, ...] = field(default=(), converter=_attachments)
    """Recorded behind the last result of the step."""


@frozen
class Reject:
    """Record an error with this feedback instead of the result.

    Clauses: K-07
    """

    feedback: str
    context: tuple[Attachment, ...] = field(default=(), converter=_attachments, kw_only=True)


ToolJudgement: TypeAlias = Accept | Reject


# -- Another step? ---------------------------------------------------------------------------------


@frozen
class AsUsual:
    """Go on if the step had calls or steering came, and stop otherwise."""


@frozen
class Continue:
    """Open another step.

    Clauses: B-70 B-107
    """

    reason: tuple[ContentBlock, ...] | None = field(default=None, converter=_accept_or_none)
    """What the model is told, recorded when the step opens."""


@frozen
class Stop:
    """End the turn behind this step, even if it had calls; steering that came overrules it.

    Clauses: B-71 B-69
    """


Vote: TypeAlias = AsUsual | Continue | Stop


# -- The seams -------------------------------------------------------------------------------------

PROMPT_SUBMIT: Final[Waterfall[PromptSubmission, PromptVerdict]] = Waterfall("prompt/submit")
SYSTEM_ASSEMBLE: Final[Waterfall[Moment, str]] = Waterfall("system/assemble")
STEP_PREPARE: Final[Serial[Moment, object]] = Serial("step/prepare")
MODEL_REQUEST: Final[Waterfall[RequestPreparation, ModelRequest]] = Waterfall("model/request")
STEP_RESULT: Final[Waterfall[StepResult, Reply]] = Waterfall("step/result")
TOOL_BEFORE: Final[Waterfall[ToolUse, ToolVerdict]] = Waterfall("tool/before")
TOOL_PERMISSION: Final[Serial[PermissionRequest, bool]] = Serial("tool/permission")
TOOL_AFTER: Final[Waterfall[ToolOutcome, ToolJudgement]] = Waterfall("tool/after")
TURN_CONTINUE: Final[Waterfall[Moment, Vote]] = Waterfall("turn/continue")
