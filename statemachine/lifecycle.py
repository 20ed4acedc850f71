"""The lifecycle of an agent, declared once.

Theory of operation
-------------------
An agent is a *status* that others see, an *inbox* of two FIFOs, a *cancel marker*, and a *driver*
that walks through the windows of `windows`. Calls from outside may land in any window; the driver
reports how its visit to a window came out. Both are inputs, and every input is answered by one
row of the table below: the first row whose input, window and guard hold. A row is whole. It says
where the driver goes, which moves the three small machines make, what the runtime is asked to do,
in that order, and by which clauses. ANNOUNCE, DISCARD and REPORT only take their places in the
agent's outbox; it is delivered when the whole row is done, so ABORT calls out before them.

    STATUS   begin   idle | cancelled            > running     a turn is coming
             cancel  running                     > cancelled   that turn is to unwind
             settle  running | cancelled         > idle        nothing is left to do
             end     idle | running | cancelled  > disposed    for good
    MARKER   arm     absent > armed                            this turn was cancelled
             retire  armed  > absent                           the turn is over
    INBOX    queue steer                         one more message
             drain take merge clear              the batch, the steering, both into one, nothing

What a cancel does. While a turn is being announced or is open, and nobody cancelled it before, the
status becomes `cancelled`, the marker is armed, both FIFOs are emptied, and only then does foreign
code run: abort callbacks, the status, the discards. Anywhere else it empties the FIFOs if they
hold something, and otherwise it does nothing at all. It never moves the driver: from then on each
window that has a `falls_to` leads there, whatever its visit says, to the end of the step and of the
turn. The others have their own rows: a turn that was only being announced never opens, one that
just opened first records the prompts it drained, and nobody is asked about another step.

What a dispose does. The status becomes `disposed` from wherever it was, both FIFOs are emptied,
and a turn that is still announced or open unwinds exactly as a cancelled one, except that its
ending says `disposed` and that the driver, instead of deciding between `running` and `idle`, exits.
If a cancel came first, the signal has fired and fires no second time. A flush that is awaited gets
a bound, and a parked agent, which has no driver, exits at once. A second dispose does nothing.

What comes after a cancel is new work: it is queued, never steering, and the one stretch that
decides what follows a turn (FLUSH, or ANNOUNCE_RUNNING for a turn that never opened) finds it.

Nothing here waits, and nothing here does anything. `table` spells the plain windows out into rows
by one rule, `machine` executes the rows with the `transitions` library, the runtime obeys their
commands, the explorer visits all of their shapes.
"""

from collections.abc import Callable

from attrs import field, frozen

from .commands import Command, Input
from .shape import Ending, Inbox, Marker, Shape, Status
from .windows import OPEN_WINDOWS, TURN_WINDOWS, Window

__all__ = [
    "ENTERING",
    "MEANS",
    "OUTSIDE",
    "REGIONS",
    "WEIGHED",
    "Guard",
    "Move",
    "Row",
]


# -- Guards: one named claim about the shape before the input --------------------------------------


@frozen
class Guard:
    """A named claim about a shape."""

    name: str
    holds: Callable[[Shape], bool] = field(repr=False)

    def __call__(self, shape: Shape) -> bool:
        """Return whether the claim is true of `shape`."""
        return self.holds(shape)


def _guard(claim: Callable[[Shape], bool]) -> Guard:
    return Guard(claim.__name__.strip("_"), claim)


@_guard
def always(_shape: Shape) -> bool:
    return True


@_guard
def running(shape: Shape) -> bool:
    return shape.status is Status.RUNNING


@_guard
def running_with_work(shape: Shape) -> bool:
    return shape.status is Status.RUNNING and shape.inbox is not Inbox.EMPTY


@_guard
def cancelled(shape: Shape) -> bool:
    return shape.status is Status.CANCELLED


@_guard
def replaced(shape: Shape) -> bool:
    return shape.status is Status.CANCELLED and shape.has_queued


@_guard
def disposed(shape: Shape) -> bool:
    return shape.status is Status.DISPOSED


@_guard
def disposed_and_armed(shape: Shape) -> bool:
    return shape.status is Status.DISPOSED and shape.marker is Marker.ARMED


@_guard
def stopped(shape: Shape) -> bool:
    return shape.is_stopped


@_guard
def stopped_and_failed(shape: Shape) -> bool:
    return shape.is_stopped and shape.failed


@_guard
def failed(shape: Shape) -> bool:
    return shape.failed


@_guard
def has_work(shape: Shape) -> bool:
    return shape.inbox is not Inbox.EMPTY


@_guard
def has_queued(shape: Shape) -> bool:
    return shape.has_queued


@_guard
def has_steering(shape: Shape) -> bool:
    return shape.has_steering


@_guard
def wants_step(shape: Shape) -> bool:
    return shape.wants_step


@_guard
def would_go_on(shape: Shape) -> bool:
    return shape.wants_step or shape.has_steering


@_guard
def reported(shape: Shape) -> bool:
    return shape.ending is Ending.ERROR


@_guard
def reported_and_armed(shape: Shape) -> bool:
    return shape.ending is Ending.ERROR and shape.marker is Marker.ARMED


@_guard
def rejected(shape: Shape) -> bool:
    return shape.ending is Ending.REJECTED


@_guard
def rejected_and_armed(shape: Shape) -> bool:
    return shape.ending is Ending.REJECTED and shape.marker is Marker.ARMED


@_guard
def out_of_steps(shape: Shape) -> bool:
    return shape.ending is Ending.MAX_STEPS


@_guard
def out_of_tokens(shape: Shape) -> bool:
    return shape.ending is Ending.MAX_TOKENS


# -- The three small machines ----------------------------------------------------------------------


@frozen
class Move:
    """One move of a small machine; making it from a state that it does not list raises."""

    region: str
    name: str
    changes: tuple[tuple[Status | Inbox | Marker, Status | Inbox | Marker], ...]


_S, _M = Status, Marker
_NOTHING, _QUEUED, _STEERING, _BOTH = Inbox.EMPTY, Inbox.QUEUED, Inbox.STEERING, Inbox.BOTH

# fmt: off
begin  = Move("status", "begin",  ((_S.IDLE, _S.RUNNING), (_S.CANCELLED, _S.RUNNING)))
cancel = Move("status", "cancel", ((_S.RUNNING, _S.CANCELLED),))
settle = Move("status", "settle", ((_S.RUNNING, _S.IDLE), (_S.CANCELLED, _S.IDLE)))
end    = Move("status", "end",    ((_S.IDLE, _S.DISPOSED), (_S.RUNNING, _S.DISPOSED),
                                   (_S.CANCELLED, _S.DISPOSED)))
arm    = Move("marker", "arm",    ((_M.ABSENT, _M.ARMED),))
retire = Move("marker", "retire", ((_M.ARMED, _M.ABSENT),))
queue  = Move("inbox", "queue",   ((_NOTHING, _QUEUED), (_QUEUED, _QUEUED), (_STEERING, _BOTH), (_BOTH, _BOTH)))
steer  = Move("inbox", "steer",   ((_NOTHING, _STEERING), (_QUEUED, _BOTH), (_STEERING, _STEERING), (_BOTH, _BOTH)))
drain  = Move("inbox", "drain",   ((_QUEUED, _NOTHING), (_BOTH, _STEERING)))
take   = Move("inbox", "take",    ((_NOTHING, _NOTHING), (_QUEUED, _QUEUED), (_STEERING, _NOTHING), (_BOTH, _QUEUED)))
merge  = Move("inbox", "merge",   ((_QUEUED, _QUEUED), (_STEERING, _QUEUED), (_BOTH, _QUEUED)))
clear  = Move("inbox", "clear",   ((_NOTHING, _NOTHING), (_QUEUED, _NOTHING), (_STEERING, _NOTHING), (_BOTH, _NOTHING)))
# fmt: on

REGIONS: dict[str, tuple[Move, ...]] = {
    "status": (begin, cancel, settle, end),
    "marker": (arm, retire),
    "inbox": (queue, steer, drain, take, merge, clear),
}
"""The small machines by the field of the shape that they move."""


# -- The joint table -------------------------------------------------------------------------------


@frozen
class Row:
    """Everything that one input does in one circumstance."""

    on: Input
    where: tuple[Window, ...]
    when: Guard
    to: Window | None
    """The next window; None stays."""
    moves: tuple[Move, ...] = ()
    commands: tuple[Command, ...] = ()
    sets: tuple[tuple[str, object], ...] = ()
    """Flags of the shape that change, with their new value."""
    clauses: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Return a name for stories and coverage, unique in the table."""
        place = self.where[0].value if len(self.where) == 1 else f"{len(self.where)} windows"
        return f"{self.on.value} in {place} when {self.when.name}"


def _row(  # noqa: PLR0913, PLR0917  # the columns of the table, in their order
    on: Input,
    where: tuple[Window, ...] | Window,
    when: Guard,
    to: Window | None,
    moves: tuple[Move, ...],
    commands: tuple[Command, ...],
    clauses: str,
    **sets: object,
) -> Row:
    places = where if isinstance(where, tuple) else (where,)
    return Row(on, places, when, to, moves, commands, tuple(sets.items()), tuple(clauses.split()))


_C, _W = Command, Window
_EVERYWHERE = tuple(Window)
_STAY = None
_SEND, _STEER, _INJECT, _CANCEL, _DISPOSE = (
    Input.SEND,
    Input.STEER,
    Input.INJECT,
    Input.CANCEL,
    Input.DISPOSE,
)

# fmt: off
OUTSIDE = (
    #    input     where         when      to         moves                 commands                             clauses
    _row(_SEND,    _EVERYWHERE,  disposed, _STAY,     (),                   (_C.REFUSE,),                        "A-20"),
    _row(_SEND,    _W.PARKED,    always,   _W.WOKEN,  (queue,),             (_C.QUEUE, _C.WAKE),                 "A-02 A-77"),
    _row(_SEND,    _EVERYWHERE,  always,   _STAY,     (queue,),             (_C.QUEUE,),                         "A-05 A-52"),

    _row(_STEER,   _EVERYWHERE,  disposed, _STAY,     (),                   (_C.REFUSE,),                        "A-20"),
    _row(_STEER,   _EVERYWHERE,  running,  _STAY,     (steer,),             (_C.STEER,),                         "A-10 C-13"),
    _row(_STEER,   _W.PARKED,    always,   _W.WOKEN,  (queue,),             (_C.QUEUE, _C.WAKE),                 "A-11 A-77"),
    _row(_STEER,   _EVERYWHERE,  always,   _STAY,     (queue,),             (_C.QUEUE,),                         "A-11 A-12"),

    _row(_INJECT,  _EVERYWHERE,  disposed, _STAY,     (),                   (_C.REFUSE,),                        "A-20"),
    _row(_INJECT,  OPEN_WINDOWS, always,   _STAY,     (),                   (_C.JOIN,),                          "A-16 A-74"),
    _row(_INJECT,  _EVERYWHERE,  always,   _STAY,     (),                   (_C.ONE_SHOT,),                      "A-14 A-15 A-17"),

    _row(_CANCEL,  TURN_WINDOWS, running,  _STAY,     (cancel, arm, clear), (_C.ANNOUNCE, _C.DISCARD, _C.ABORT), "A-24 A-27 A-56"),
    _row(_CANCEL,  _EVERYWHERE,  has_work, _STAY,     (clear,),             (_C.DISCARD,),                       "A-23 A-28 B-29"),
    _row(_CANCEL,  _EVERYWHERE,  always,   _STAY,     (),                   (),                                  "A-22"),

    _row(_DISPOSE, _EVERYWHERE,  disposed, _STAY,     (),                   (),                                  "A-40 F-17"),
    _row(_DISPOSE, _W.PARKED,    always,   _W.EXITED, (end,),               (_C.ANNOUNCE, _C.RELEASE),           "B-38"),
    _row(_DISPOSE, TURN_WINDOWS, running,  _STAY,     (end, clear),         (_C.ANNOUNCE, _C.DISCARD, _C.ABORT), "A-57 B-44 C-14"),
    _row(_DISPOSE, _W.FLUSH,     always,   _STAY,     (end, clear),         (_C.ANNOUNCE, _C.DISCARD, _C.BOUND), "B-46 B-121"),
    _row(_DISPOSE, _EVERYWHERE,  always,   _STAY,     (end, clear),         (_C.ANNOUNCE, _C.DISCARD),           "B-39 B-47"),
)
"""What anyone may do, anywhere. The last row of each input has no guard, so nothing is undeclared."""

_DONE, _FAILED, _YIELDED = Input.DONE, Input.FAILED, Input.YIELDED
_NO_VOTE: dict[str, object] = {"wants_step": False}

WEIGHED = (
    #    input  where                         when        to                   moves     commands                 clauses
    # Is there work? Both before the first turn and after the last notification of `idle`.
    _row(_DONE, (_W.WOKEN, _W.ANNOUNCE_IDLE), disposed,   _W.EXITED,           (),       (_C.RELEASE,),           "A-32 B-39"),
    _row(_DONE, (_W.WOKEN, _W.ANNOUNCE_IDLE), has_queued, _W.ANNOUNCE_RUNNING, (begin,), (_C.BEGIN, _C.ANNOUNCE), "A-51 B-33"),
    _row(_DONE, (_W.WOKEN, _W.ANNOUNCE_IDLE), always,     _W.PARKED,           (),       (_C.RELEASE,),           "A-36 A-38 B-02"),

    # The turn opens, unless a listener of `running` stopped it.
    _row(_DONE,          _W.ANNOUNCE_RUNNING, running,            _W.TURN_START,       (drain,),         (_C.DRAIN, _C.RECORD),                    "B-99 B-100"),
    _row(_DONE,          _W.ANNOUNCE_RUNNING, replaced,           _STAY,               (),               (_C.YIELD,),                              "B-101"),
    _row(_DONE,          _W.ANNOUNCE_RUNNING, cancelled,          _W.ANNOUNCE_IDLE,    (retire, settle), (_C.RETIRE, _C.ANNOUNCE, _C.RELEASE),     "B-05 B-102"),
    _row(_DONE,          _W.ANNOUNCE_RUNNING, disposed_and_armed, _W.EXITED,           (retire,),        (_C.RETIRE, _C.RELEASE),                  "B-40 B-104"),
    _row(_DONE,          _W.ANNOUNCE_RUNNING, disposed,           _W.EXITED,           (),               (_C.RETIRE, _C.RELEASE),                  "B-40"),
    _row(_YIELDED,       _W.ANNOUNCE_RUNNING, replaced,           _W.ANNOUNCE_RUNNING, (retire, begin),  (_C.RETIRE, _C.BEGIN, _C.ANNOUNCE),       "B-06 B-102 B-136"),
    _row(_YIELDED,       _W.ANNOUNCE_RUNNING, cancelled,          _W.ANNOUNCE_IDLE,    (retire, settle), (_C.RETIRE, _C.ANNOUNCE, _C.RELEASE),     "B-102"),
    _row(_YIELDED,       _W.ANNOUNCE_RUNNING, disposed_and_armed, _W.EXITED,           (retire,),        (_C.RETIRE, _C.RELEASE),                  "B-102 B-104"),
    _row(Input.UNOPENED, _W.TURN_START,       running,            _W.FLUSH,            (),               (_C.RETIRE, _C.DISCARD_BATCH, _C.REPORT), "B-83 B-110"),

    # Nobody let the prompts through, or one of them broke its interceptor.
    _row(Input.BLOCKED,   _W.PROMPTS, always,  _W.CLOSING, (),       (),                      "B-12 B-91",  ending=Ending.REJECTED),
    _row(Input.BROKE_OFF, _W.PROMPTS, running, _W.CLOSING, (queue,), (_C.REQUEUE, _C.REPORT), "B-92 B-109", ending=Ending.ERROR),

    # The step is over. A failure is reported now, behind `step/end`, and only if nothing stopped the turn.
    _row(_DONE, _W.STEP_END, stopped_and_failed, _W.CLOSING,      (), (_C.LOG,),    "B-97",            failed=False),
    _row(_DONE, _W.STEP_END, stopped,            _W.CLOSING,      (), (),           "B-26 B-45 B-108"),
    _row(_DONE, _W.STEP_END, failed,             _W.CLOSING,      (), (_C.REPORT,), "B-75 B-76",       failed=False, ending=Ending.ERROR),
    _row(_DONE, _W.STEP_END, always,             _W.CONTINUATION, (), (),           "B-56"),

    # Another step? A stop overrules every vote, and steering overrules a vote to stop.
    _row(Input.CONTINUE,  _W.CONTINUATION, stopped,      _W.CLOSING,  (),      (),           "B-27 B-28"),
    _row(Input.STOP,      _W.CONTINUATION, stopped,      _W.CLOSING,  (),      (),           "B-27"),
    _row(Input.EXHAUSTED, _W.CONTINUATION, stopped,      _W.CLOSING,  (),      (),           "B-27"),
    _row(Input.CUT,       _W.CONTINUATION, stopped,      _W.CLOSING,  (),      (),           "B-118"),
    _row(_FAILED,         _W.CONTINUATION, stopped,      _W.CLOSING,  (),      (_C.LOG,),    "B-97"),
    _row(_FAILED,         _W.CONTINUATION, always,       _W.CLOSING,  (),      (_C.REPORT,), "B-72 B-127", ending=Ending.ERROR),
    _row(_DONE,           _W.CONTINUATION, stopped,      _W.CLOSING,  (),      (),           "B-27"),
    _row(_DONE,           _W.CONTINUATION, would_go_on,  _W.ASSEMBLY, (take,), (_C.TAKE,),   "B-68 B-69",  **_NO_VOTE),
    _row(_DONE,           _W.CONTINUATION, always,       _W.CLOSING,  (),      (),           "B-68"),
    _row(Input.CONTINUE,  _W.CONTINUATION, always,       _W.ASSEMBLY, (take,), (_C.TAKE,),   "B-70",       **_NO_VOTE),
    _row(Input.STOP,      _W.CONTINUATION, has_steering, _W.ASSEMBLY, (take,), (_C.TAKE,),   "B-69",       **_NO_VOTE),
    _row(Input.STOP,      _W.CONTINUATION, always,       _W.CLOSING,  (),      (),           "B-71"),
    _row(Input.EXHAUSTED, _W.CONTINUATION, would_go_on,  _W.CLOSING,  (),      (),           "B-129",      ending=Ending.MAX_STEPS),
    _row(Input.EXHAUSTED, _W.CONTINUATION, always,       _W.CLOSING,  (),      (),           "B-129"),

    # How the turn ends: the first that holds (B-96). The marker and the authority end with it (B-103).
    _row(_DONE, _W.CLOSING, reported_and_armed, _W.TURN_END, (retire,), (_C.RETIRE, _C.RECORD), "B-96 B-98",  ending=Ending.ERROR, **_NO_VOTE),
    _row(_DONE, _W.CLOSING, reported,           _W.TURN_END, (),        (_C.RETIRE, _C.RECORD), "B-49 B-96",  ending=Ending.ERROR, **_NO_VOTE),
    _row(_DONE, _W.CLOSING, disposed_and_armed, _W.TURN_END, (retire,), (_C.RETIRE, _C.RECORD), "B-47 B-104", ending=Ending.DISPOSED, **_NO_VOTE),
    _row(_DONE, _W.CLOSING, disposed,           _W.TURN_END, (),        (_C.RETIRE, _C.RECORD), "B-41 B-44",  ending=Ending.DISPOSED, **_NO_VOTE),
    _row(_DONE, _W.CLOSING, rejected_and_armed, _W.TURN_END, (retire,), (_C.RETIRE, _C.RECORD), "B-12 B-96",  ending=Ending.REJECTED, **_NO_VOTE),
    _row(_DONE, _W.CLOSING, rejected,           _W.TURN_END, (),        (_C.RETIRE, _C.RECORD), "B-91",       ending=Ending.REJECTED, **_NO_VOTE),
    _row(_DONE, _W.CLOSING, cancelled,          _W.TURN_END, (retire,), (_C.RETIRE, _C.RECORD), "B-36 B-50",  ending=Ending.ABORTED, **_NO_VOTE),
    _row(_DONE, _W.CLOSING, out_of_steps,       _W.TURN_END, (),        (_C.RETIRE, _C.RECORD), "B-129",      ending=Ending.MAX_STEPS, **_NO_VOTE),
    _row(_DONE, _W.CLOSING, out_of_tokens,      _W.TURN_END, (),        (_C.RETIRE, _C.RECORD), "B-74",       ending=Ending.MAX_TOKENS, **_NO_VOTE),
    _row(_DONE, _W.CLOSING, always,             _W.TURN_END, (),        (_C.RETIRE, _C.RECORD), "B-52",       ending=Ending.COMPLETED, **_NO_VOTE),

    # The closed turn is flushed, bounded if it was stopped; then one stretch decides what follows.
    _row(_DONE,   _W.TURN_END, stopped,           _W.FLUSH,            (),        (_C.BOUND,),                          "B-121",           ending=Ending.COMPLETED),
    _row(_DONE,   _W.TURN_END, always,            _W.FLUSH,            (),        (),                                   "B-86 B-122",      ending=Ending.COMPLETED),
    _row(_DONE,   _W.FLUSH,    disposed,          _W.EXITED,           (),        (_C.RELEASE,),                        "B-46"),
    _row(_DONE,   _W.FLUSH,    running_with_work, _W.ANNOUNCE_RUNNING, (merge,),  (_C.MERGE, _C.BEGIN),                 "A-05 A-13 C-15"),
    _row(_DONE,   _W.FLUSH,    replaced,          _W.ANNOUNCE_RUNNING, (begin,),  (_C.BEGIN, _C.ANNOUNCE),              "A-52 B-136"),
    _row(_DONE,   _W.FLUSH,    always,            _W.ANNOUNCE_IDLE,    (settle,), (_C.ANNOUNCE, _C.RELEASE),            "A-31 A-35 B-105"),
    _row(_FAILED, _W.FLUSH,    disposed,          _W.EXITED,           (),        (_C.REPORT, _C.RELEASE),              "D-53"),
    _row(_FAILED, _W.FLUSH,    running_with_work, _W.ANNOUNCE_RUNNING, (merge,),  (_C.REPORT, _C.MERGE, _C.BEGIN),      "B-85 D-53"),
    _row(_FAILED, _W.FLUSH,    replaced,          _W.ANNOUNCE_RUNNING, (begin,),  (_C.REPORT, _C.BEGIN, _C.ANNOUNCE),   "B-85 D-53"),
    _row(_FAILED, _W.FLUSH,    always,            _W.ANNOUNCE_IDLE,    (settle,), (_C.REPORT, _C.ANNOUNCE, _C.RELEASE), "B-85 D-53"),
)
"""The windows whose visit alone does not say what comes next."""

ENTERING: dict[Window, tuple[tuple[Move, ...], tuple[Command, ...], dict[str, object]]] = {
    # Every arrow of `windows` into one of these does this as well, behind what it does itself; the
    # rows above say it themselves.
    _W.ASSEMBLY:   ((take,), (_C.TAKE,), _NO_VOTE),
    _W.STEP_START: ((),      (_C.RECORD,), {}),
    _W.STEP_END:   ((),      (_C.CLOSE_CALLS, _C.RECORD), {}),
}
"""What entering a window does, wherever a plain window leads to it."""
# fmt: on

MEANS: dict[Input, dict[str, object]] = {
    Input.TRUNCATED: {"ending": Ending.MAX_TOKENS},
    Input.CALLED: {"wants_step": True},
}
"""What an outcome says about the rest of the turn, unless the turn is stopped."""
