"""The oracles: each judges one claim about what an outsider saw."""

from typing import Final

from statemachine.conformance.suite.oracles.ends import (
    EndsJoined,
    RefusesAfterEnd,
    Siblings,
    TeardownOrder,
)
from statemachine.conformance.suite.oracles.messages import (
    CancelDrops,
    CancelLeavesNewWork,
    ContextRecorded,
    NoMixing,
    OneFate,
    OrderOfAcceptance,
    Surface,
)
from statemachine.conformance.suite.oracles.oracle import Oracle
from statemachine.conformance.suite.oracles.turns import (
    Answered,
    Balanced,
    Closes,
    FlushAwaited,
    IdleCancel,
    LegalStatuses,
    StoppedTurn,
    WaitersComplete,
    WaitersReleased,
)

__all__ = ["ORACLES", "Oracle"]

ORACLES: Final[tuple[Oracle, ...]] = (
    CancelDrops(),
    CancelLeavesNewWork(),
    OneFate(),
    NoMixing(),
    IdleCancel(),
    StoppedTurn(),
    Surface(),
    OrderOfAcceptance(),
    LegalStatuses(),
    Balanced(),
    Answered(),
    FlushAwaited(),
    WaitersReleased(),
    Siblings(),
    TeardownOrder(),
    RefusesAfterEnd(),
    ContextRecorded(),
    WaitersComplete(),
    Closes(),
    EndsJoined(),
)
"""Every oracle, the most telling first: the first that speaks names what is broken."""
