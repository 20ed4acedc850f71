"""The rows of the verdict: what is promised, and what has to be seen before it is said to hold.

Theory. A row is a promise in words and a list of needs. A need is something that must have been
looked at in this very run: a kind of check, on the specification or on running code, sometimes for
one clause. A row holds when nothing broke it and every need is met by a check that came up at least
once. What cannot be looked at yet stands in `later`, in words for whoever waits for it, and keeps
the row unchecked, however well the rest of it looks.
"""

from typing import Final

from attrs import frozen

from .evidence import Kind, Side

__all__ = ["CRITERIA", "PREMISE", "Criterion", "Need", "criterion"]

PREMISE: Final = (
    "senders and cancellers stop; what the driver waits for answers or its grace runs out; model "
    "and interceptors stop asking for steps"
)
"""What every *eventually* rests on; each part was left out once, and then the claim was false."""


@frozen(kw_only=True)
class Need:
    """Something that must have been looked at before a row holds."""

    kind: Kind
    side: Side | None
    """None if either side will do."""
    clause: str | None = None
    """The clause that the check has to cite, if not any will do."""

    def __str__(self) -> str:
        where = {Side.SPECIFICATION: " of the specification", Side.RUNTIME: " of running code"}
        return f"`{self.kind}` check{where[self.side] if self.side else ''}"


@frozen(kw_only=True)
class Criterion:
    """One row of the verdict.

    Attributes:
        short: The statement for a table.
        kinds: Which kinds of claim it is made of.
        needs: What must have been looked at.
        assumed: What the row rests on without looking.
        later: What cannot be looked at yet, and what it comes with.
    """

    id: str
    short: str
    statement: str
    kinds: tuple[Kind, ...]
    clauses: tuple[str, ...]
    needs: tuple[Need, ...]
    assumed: str = ""
    later: str = ""


_KINDS: Final = {"A": Kind.ALWAYS, "S": Kind.SOMETIMES, "E": Kind.EVENTUALLY}
_SIDES: Final = {"s": Side.SPECIFICATION, "r": Side.RUNTIME, "": None}


def _need(text: str) -> Need:
    """Read a need: a letter for the kind, one for the side, a clause; `Ar:A-01`."""
    letters, _, clause = text.partition(":")
    return Need(kind=_KINDS[letters[0]], side=_SIDES[letters[1:]], clause=clause or None)


def _row(  # noqa: PLR0913, PLR0917  # the columns of a declaration
    row: str,
    kinds: str,
    needs: str,
    clauses: str,
    short: str,
    statement: str,
    *,
    assumed: str = "",
    later: str = "",
) -> Criterion:
    return Criterion(
        id=row,
        short=short,
        statement=statement,
        kinds=tuple(_KINDS[letter] for letter in kinds.split()),
        clauses=tuple(clauses.split()),
        needs=tuple(_need(each) for each in needs.split()),
        assumed=assumed or (PREMISE if "E" in kinds else ""),
        later=later,
    )


CRITERIA: Final = (
    _row(
        "INV-01",
        "A S",
        "As Ar S",
        "A-23 A-24 A-55 B-02 B-03 C-07 C-12",
        "a prompt cancelled while queued never runs",
        "A message that is still queued when a cancel is called is never recorded and never "
        "reaches a model; it is discarded exactly once, with the reason of that cancel.",
    ),
    _row(
        "INV-02",
        "A S",
        "As Ar Sr",
        "B-99 B-106 A-06 A-12",
        "no turn mixes work from before and after a cancel",
        "No turn holds a message accepted before a cancel together with one accepted after it.",
    ),
    _row(
        "INV-03",
        "A",
        "As Ar",
        "A-25 A-56 A-57 A-58",
        "both queues are empty when a cancel first calls out",
        "Between the change of state of a cancel and the first foreign code that runs because"
        " of it both queues are empty; when it returns they hold only what was sent during "
        "it.",
    ),
    _row(
        "INV-04",
        "A",
        "As Ar",
        "A-22 B-01 B-35 B-102 B-103 B-104",
        "a cancel marks its own turn only, or nothing",
        "The cancel marker is armed only by a cancel of a turn, for that turn, and never outlives "
        "it; a cancel with nothing to stop changes nothing that can be seen.",
    ),
    _row(
        "INV-05",
        "A S",
        "As Ar Ss",
        "A-28 B-36 B-96 B-97 B-114 B-115 B-125 B-134",
        "a cancelled turn does nothing more and says why",
        "After a cancel in any window of an open turn no model call, step or tool body begins in "
        "it; it ends `aborted` with the first reason, unless it was disposed, had failed before or "
        "had all its prompts blocked.",
    ),
    _row(
        "INV-06",
        "E",
        "Es Er",
        "A-52 B-117 B-123 B-124 B-135 B-136",
        "a cancelled turn closes and new work runs",
        "A cancelled turn closes with a balanced log and every call answered; then the agent is "
        "idle or runs the work that replaced it.",
    ),
    _row(
        "INV-07",
        "A",
        "As Ar",
        "A-31 A-65 A-67 A-76 B-86",
        "waiters are released only at rest",
        "A `when_idle` waiter is released only at an instant with no open turn, nothing queued and "
        "no turn's flush awaited, or when the driver exits.",
    ),
    _row(
        "INV-08",
        "E",
        "Es Er",
        "A-32 A-36 A-38 A-80 B-93",
        "every waiter is released in the end",
        "Every `when_idle` waiter completes once senders and cancellers have stopped, also when no "
        "status changes, and after a dispose not before the driver has exited.",
    ),
    _row(
        "INV-09",
        "A S",
        "As Ar Sr Ar:A-01 Ar:A-21 Ar:A-10 Ar:A-11 Ar:B-116",
        "A-01 A-02 A-10 A-11 A-12 A-21 A-50 B-116",
        "two stop paths, a closed surface, steering joins",
        "`cancel` and the handle's `dispose` are the only ways to stop, and the agent's "
        "surface is a closed list; the default reason is `cancelled`; steering joins the "
        "running turn and is a send otherwise; a step that aborts by itself hands its "
        "steering on; a send is synchronous and leaves the status.",
    ),
    _row(
        "INV-10",
        "A",
        "Ar Ar:F-21 Ar:A-49 Ar:F-23 Ar:F-24 Ar:F-40",
        "A-49 B-95 F-21 F-23 F-24 F-40",
        "only the holder of the handle disposes",
        "An agent is disposed by the holder of its handle, by the unload of the fiber that owns it "
        "or by the end of its driver's task, and by nothing else; its siblings go on.",
    ),
    _row(
        "INV-11",
        "A",
        "As Ar Ar:F-16 Ar:F-24",
        "A-57 A-58 B-46 B-51 F-15 F-16 F-24 F-35",
        "one teardown order, from wherever it begins",
        "Teardown goes through status, abort callbacks, its announcement, discards, closing "
        "records, final flush, driver's exit, unregistering, announcement, detaching and the "
        "answer, in that order and the same from a handle, a fiber or the application.",
    ),
    _row(
        "INV-12",
        "A E",
        "As Ar Es Er",
        "B-38 B-94 F-17 F-32 F-33 F-34 F-36 F-39",
        "every dispose ends, for all callers alike",
        "Every dispose completes; all its callers, early or late, see the same end; a "
        "listener or a link that fails makes nothing be skipped.",
    ),
    _row(
        "INV-13",
        "A S",
        "As Ss Ar:E-38 Ar:E-39 Ar:E-40",
        "B-44 D-51 E-38 E-39 E-40 E-41 E-101 F-15",
        "closing records are on disk when dispose resolves",
        "When a dispose has resolved, the closing records of its turn are on disk, or its report "
        "says that they are not.",
    ),
    _row(
        "INV-14",
        "A E",
        "As Ar Es Er",
        "F-21 F-22 J-34 J-36 J-38 J-40 J-58",
        "nothing of a connection outlives it",
        "After a client has gone no agent and no session of its connection remains or appears "
        "later; after a session was closed none of it does until it is loaded anew.",
    ),
    _row(
        "INV-15",
        "A E",
        "As Ar Es Er",
        "A-54 A-79 J-13 J-19 J-21 J-48 J-57",
        "each client prompt is answered once",
        "Each prompt of a client is answered exactly once and after its updates, a cancelled "
        "one as `cancelled`; a client's cancel reaches exactly the prompts accepted before "
        "it.",
    ),
    _row(
        "INV-16",
        "A",
        "Ar",
        "A-48 F-05 F-06 F-38",
        "no two live agents share an id",
        "No two live agents have the same agent id or the same session id.",
    ),
    _row(
        "INV-17",
        "A S",
        "Ar:I-08 Sr:I-08 Sr:I-13",
        "B-37 H-34 H-36 I-08 I-09 I-10 I-11 I-13",
        "a job answers only to its owner's token",
        "A job can be read and killed only with the token of its owner, also around the reload of "
        "its tool; an empty token is an owner, and a job without an owner is open.",
    ),
    _row(
        "INV-18",
        "A S",
        "Ar:I-15 Sr:I-15 Sr:I-16 Sr:I-19",
        "A-74 H-38 I-15 I-16 I-17 I-19",
        "a finished job is told exactly once",
        "The notice of a finished job reaches the live owner exactly once; only the gap of a "
        "reload can lose it, and it loses nothing else.",
    ),
    _row(
        "INV-19",
        "A",
        "Ar:F-25 Ar:F-31",
        "F-25 F-26 F-31 F-42 F-43",
        "configured agents belong to their plugin",
        "Agents from configuration belong to the fiber of the driver's plugin; a program that"
        " never touches a handle keeps working and leaves nothing behind.",
    ),
    _row(
        "INV-20",
        "A",
        "Ar:L-01 Ar:L-05 Ar:L-06 Ar:L-08 Ar:L-09 Ar:L-11 Ar:L-19 Ar:L-22",
        "L-01 L-05 L-06 L-08 L-09 L-11 L-19 L-20 L-22",
        "every RFC has the format and its place",
        "Every RFC has the format, its folder says its status, and the index is what the generator "
        "writes.",
    ),
    _row(
        "INV-21",
        "A E",
        "As Ar Es Er",
        "A-53 A-54 B-109 B-110 B-111 C-15 C-16",
        "every message has exactly one visible fate",
        "Every accepted message ends in exactly one visible way while the process lives: recorded "
        "once or discarded once.",
    ),
)
"""The rows, in the order of the table."""

_BY_ID: Final = {each.id: each for each in CRITERIA}


def criterion(row: str) -> Criterion:
    """Return one row.

    Raises:
        KeyError: there is no such row.
    """
    return _BY_ID[row]
