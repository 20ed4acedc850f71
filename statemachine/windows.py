"""The windows: every place where the driver hands control to somebody else.

A *window* is where an input can land. Between two windows the driver runs on its own and nothing
can happen to it, so a cancel "somewhere in the middle of a turn" is always a cancel in exactly one
of the windows below. They stand in time order; a turn is a walk from top to bottom, back up to
ASSEMBLY for every further step, and back up to ANNOUNCE_RUNNING for every further turn.

    PARKED  WOKEN                                     nobody is working yet
    ANNOUNCE_RUNNING                                  others learn that a turn is coming
    TURN_START  PROMPTS                               the turn is open, its prompts are recorded
      ASSEMBLY  PRE_STEP  STEP_START  REQUEST         one step is prepared
      STREAM  RESULT                                  the model answers
        CHECKPOINT  TOOL_CALL  TOOL_BODY              its calls are carried out
      STEP_END  CONTINUATION                          is there another step?
    CLOSING  TURN_END  FLUSH                          the turn is closed and made durable
    ANNOUNCE_IDLE  EXITED                             others learn that it is over

A record below says where each outcome of the driver's visit leads while nothing is wrong
(`leads`), and where the driver goes when the visit failed or the turn has to stop (`falls_to`).
Windows that weigh more than that - whether to begin, to go on, how a turn ends - have whole rows
in `lifecycle`. `points` are the places inside a window where a listener or a plugin gets control;
what an input does there is the answer of the window.
"""

from enum import StrEnum

from attrs import field, frozen

from .commands import Input

__all__ = [
    "OPEN_WINDOWS",
    "POINTS_ANYWHERE",
    "REST_WINDOWS",
    "TURN_WINDOWS",
    "WINDOWS",
    "Patience",
    "Window",
    "WindowRecord",
]


class Window(StrEnum):
    """The name of a window, in time order."""

    PARKED = "parked"
    WOKEN = "woken"
    ANNOUNCE_RUNNING = "announce-running"
    TURN_START = "turn-start"
    PROMPTS = "prompts"
    ASSEMBLY = "assembly"
    PRE_STEP = "pre-step"
    STEP_START = "step-start"
    REQUEST = "request"
    STREAM = "stream"
    RESULT = "result"
    CHECKPOINT = "checkpoint"
    TOOL_CALL = "tool-call"
    TOOL_BODY = "tool-body"
    STEP_END = "step-end"
    CONTINUATION = "continuation"
    CLOSING = "closing"
    TURN_END = "turn-end"
    FLUSH = "flush"
    ANNOUNCE_IDLE = "announce-idle"
    EXITED = "exited"


class Patience(StrEnum):
    """How long an awaited body may go on after a cancel or a dispose."""

    NONE = "none"
    """Closed at once: what it would still say is not wanted."""
    GRACE = "grace"
    """Until the turn's one deadline; after that it is left behind as a straggler."""


@frozen(kw_only=True)
class WindowRecord:
    """One window: what happens in it and where its outcomes lead."""

    name: Window
    story: str
    """One sentence for a reader."""
    leads: dict[Input, Window] = field(factory=dict)
    """Outcome -> next window, while no stop is in effect."""
    falls_to: Window | None = None
    """Where a failed visit leads, and every visit once a stop is in effect."""
    patience: Patience | None = None
    """Set where foreign code is awaited: how a stop cuts it short."""
    is_whole: bool = False
    """Records what it has, stop or no stop, so a visit is never given up as a whole."""
    record: str | None = None
    """The boundary record committed in the stretch that enters the window."""
    points: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()


def _window(name: Window, story: str, *clauses: str, **rest: object) -> WindowRecord:
    return WindowRecord(name=name, story=story, clauses=clauses, **rest)  # type: ignore[arg-type]  # columns


_W, _I = Window, Input

WINDOWS: dict[Window, WindowRecord] = {
    record.name: record
    for record in (
        _window(_W.PARKED, "No work, no task; the next send wakes a driver.", "B-01", "B-38"),
        _window(_W.WOKEN, "A driver has been started and has not run yet.", "B-02", "B-39"),
        _window(
            _W.ANNOUNCE_RUNNING,
            "`running` is delivered; prompts still wait in the queue, so a stop drops them.",
            "B-05", "B-06", "B-40",
            points=("status running",),
        ),
        _window(
            _W.TURN_START,
            "The batch is drained and `turn/start` is committed; its notification is delivered.",
            "B-08", "B-41",
            record="turn/start",
            leads={_I.DONE: _W.PROMPTS},
        ),
        _window(
            _W.PROMPTS,
            "Each prompt is submitted and recorded; after a stop, recorded without asking.",
            "B-11", "B-12", "B-87",
            is_whole=True,
            patience=Patience.GRACE,
            leads={_I.DONE: _W.ASSEMBLY},
            falls_to=_W.CLOSING,
            points=("prompt submitted", "prompt recorded"),
        ),
        _window(
            _W.ASSEMBLY,
            "Steering is recorded; the system prompt is assembled.",
            "B-13", "B-56",
            patience=Patience.GRACE,
            leads={_I.DONE: _W.PRE_STEP},
            falls_to=_W.CLOSING,
            points=("steering recorded",),
        ),
        _window(
            _W.PRE_STEP,
            "Plugins may prepare the step; what they record stands outside it.",
            "B-14", "B-57",
            patience=Patience.GRACE,
            leads={_I.DONE: _W.STEP_START},
            falls_to=_W.CLOSING,
        ),
        _window(
            _W.STEP_START,
            "`step/start` is committed and delivered.",
            "B-15", "B-43",
            record="step/start",
            leads={_I.DONE: _W.REQUEST},
            falls_to=_W.STEP_END,
        ),
        _window(
            _W.REQUEST,
            "Plugins may change the request before the model sees it.",
            "B-16",
            patience=Patience.GRACE,
            leads={_I.DONE: _W.STREAM},
            falls_to=_W.STEP_END,
        ),
        _window(
            _W.STREAM,
            "The model streams; a stop closes the stream and leaves the chunks so far.",
            "B-17", "B-18", "B-19",
            patience=Patience.NONE,
            leads={_I.DONE: _W.RESULT, _I.TRUNCATED: _W.RESULT},
            falls_to=_W.STEP_END,
            points=("chunk", "abort drain"),
        ),
        _window(
            _W.RESULT,
            "The finished reply passes the interceptors and is recorded, stop or no stop.",
            "B-22", "B-23", "B-62",
            is_whole=True,
            patience=Patience.GRACE,
            leads={_I.DONE: _W.STEP_END, _I.CALLED: _W.CHECKPOINT},
            falls_to=_W.STEP_END,
            points=("assistant message recorded",),
        ),
        _window(
            _W.CHECKPOINT,
            "What was recorded is flushed, so that no side effect outruns the log.",
            "B-138",
            patience=Patience.GRACE,
            leads={_I.DONE: _W.TOOL_CALL},
            falls_to=_W.STEP_END,
        ),
        _window(
            _W.TOOL_CALL,
            "The call is recorded and plugins may deny it; a denied call is answered here.",
            "B-24", "K-03",
            patience=Patience.GRACE,
            leads={
                _I.ALLOWED: _W.TOOL_BODY, _I.ANSWERED: _W.TOOL_CALL, _I.DONE: _W.STEP_END,
            },
            falls_to=_W.STEP_END,
            points=(
                "before a tool", "permission question", "after a tool", "tool result recorded",
            ),
        ),
        _window(
            _W.TOOL_BODY,
            "The tool runs, plugins may judge its result, the result is recorded.",
            "B-25", "B-63",
            patience=Patience.GRACE,
            leads={_I.ANSWERED: _W.TOOL_CALL, _I.DONE: _W.STEP_END},
            falls_to=_W.STEP_END,
            points=("after a tool", "tool result recorded"),
        ),
        _window(
            _W.STEP_END,
            "Calls are closed, deferred context and `step/end` are committed and delivered.",
            "B-26", "B-45",
            record="step/end",
            points=("deferred context", "steering recorded"),
        ),
        _window(
            _W.CONTINUATION,
            "Plugins vote on another step; a stopped turn does not ask them.",
            "B-27", "B-28", "B-68", "B-69",
            patience=Patience.GRACE,
        ),
        _window(
            _W.CLOSING,
            "The turn is over but not yet closed; a failure is reported here.",
            "B-75", "B-76",
            points=("agent/error",),
        ),
        _window(
            _W.TURN_END,
            "`turn/end` is committed with its ending, the abort authority is gone; delivery.",
            "B-29", "B-35", "B-46",
            record="turn/end",
        ),
        _window(
            _W.FLUSH,
            "The turn is made durable before anything else happens.",
            "B-30", "B-31", "B-32", "B-86",
            patience=Patience.GRACE,
            points=("failed flush",),
        ),
        _window(
            _W.ANNOUNCE_IDLE,
            "Waiters are released and `idle` is delivered; a listener may send again.",
            "B-33", "B-34",
            points=("status idle",),
        ),
        _window(_W.EXITED, "The driver is gone and will not come back.", "B-94", "A-32"),
    )
}  # fmt: skip
"""Every window by name, in time order."""

POINTS_ANYWHERE = (
    "agent/queued",
    "agent/discarded",
    "abort callback",
    "status cancelled",
    "status disposed",
    "context recorded",
    "unregistered",
    "created",
    "session start",
)
"""Points that belong to a call and not to a window: what an input does there is the answer of
whichever window the driver is in."""

_ORDER = tuple(WINDOWS)


def _between(first: Window, last: Window) -> tuple[Window, ...]:
    return _ORDER[_ORDER.index(first) : _ORDER.index(last) + 1]


TURN_WINDOWS = _between(Window.ANNOUNCE_RUNNING, Window.CLOSING)
"""Where a cancel has a turn to cancel: from its `running` notification until it is closed."""
OPEN_WINDOWS = _between(Window.TURN_START, Window.CLOSING)
"""Where the log holds a `turn/start` without its `turn/end`."""
REST_WINDOWS = (Window.PARKED, Window.EXITED)
"""Where no driver is: nothing waits to be visited."""
