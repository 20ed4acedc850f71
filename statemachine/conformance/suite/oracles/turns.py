"""Oracles about turns, the log and the status."""

from typing import Final

from statemachine.conformance.subject import SEAMS, Observation, Seen
from statemachine.conformance.suite.ledger import Call, Ledger, TurnNote, Verb, Waiter
from statemachine.conformance.suite.oracles.oracle import Oracle
from statemachine.conformance.suite.story import Violation

__all__ = [
    "Answered",
    "Balanced",
    "Closes",
    "FlushAwaited",
    "IdleCancel",
    "LegalStatuses",
    "StoppedTurn",
    "WaitersComplete",
    "WaitersReleased",
]

_STARTS_WORK: Final = frozenset({"step/start", "assistant/chunk", "tool/call"})
_MOVES: Final = frozenset(
    {
        ("idle", "running"),
        ("running", "idle"),
        ("running", "cancelled"),
        ("cancelled", "idle"),
        ("cancelled", "running"),
        ("idle", "disposed"),
        ("running", "disposed"),
        ("cancelled", "disposed"),
    }
)


class IdleCancel(Oracle):
    """INV-04: a cancel that has nothing to cancel does nothing, then or later."""

    def called(self, ledger: Ledger, call: Call) -> None:  # noqa: ARG002  # every moment gives the same
        """A cancel of an agent that has nothing changes nothing."""
        if call.verb is Verb.CANCEL and call.had_nothing and call.was_alone:
            before, after = call.before, call.after
            if (before.status, before.statuses, before.discards, len(before.log)) != (
                after.status, after.statuses, after.discards, len(after.log)
            ):  # fmt: skip
                raise Violation(
                    "INV-04",
                    "A-22 B-01 B-48",
                    f"a cancel of an agent that is {before.status} and has nothing changes nothing",
                    f"status {after.status}, announced {after.statuses}, {len(after.log)} records",
                )

    def recorded(self, ledger: Ledger, record: Seen) -> None:
        """A turn is aborted only by a cancel of that turn."""
        turn = ledger.turn
        if record.type != "turn/end" or turn is None or not record.text.startswith("aborted"):
            return
        if turn.stop is None:
            raise Violation(
                "INV-04",
                "A-22 B-35 B-103",
                f"turn {record.turn}, which nobody cancelled, is not aborted",
                record.text,
            )


class StoppedTurn(Oracle):
    """INV-05: a stopped turn begins nothing more and ends with the first reason."""

    def recorded(self, ledger: Ledger, record: Seen) -> None:
        """No step, chunk or call begins, and the ending says who stopped the turn."""
        turn = ledger.turn
        if turn is None or record.turn != turn.number or not turn.is_stopped:
            if turn is not None and record.type == "turn/end":
                _judge_unstopped(turn, record)
            return
        if record.type in _STARTS_WORK:
            raise Violation(
                "INV-05",
                "B-134 B-18",
                f"turn {turn.number}, stopped by {turn.stop or turn.disposed}, begins nothing",
                record.type,
            )
        if record.type == "assistant/message" and _was_streaming(turn):
            raise Violation(
                "INV-05",
                "B-17 B-19",
                "a stream that was cut leaves no assistant/message",
                record.type,
            )
        if record.type == "turn/end":
            _judge_stopped(turn, record)

    def asked_model(self, ledger: Ledger) -> None:
        """No model is asked for a turn that was stopped."""
        turn = ledger.turn
        if turn is not None and turn.is_stopped:
            expected = (
                f"turn {turn.number} was stopped by {turn.stop or turn.disposed}: no model call"
            )
            raise Violation("INV-05", "B-134 B-15 B-16", expected, "the model was asked")

    def heard(self, ledger: Ledger, point: str, now: Observation) -> None:  # noqa: ARG002  # every moment gives the same
        """No interceptor is asked and no tool entered for a turn that was stopped."""
        turn = ledger.turn
        if point in SEAMS and turn is not None and turn.is_stopped:
            stop = turn.stop or turn.disposed
            expected = f"turn {turn.number} was stopped by {stop}: nobody is asked any more"
            raise Violation("INV-05", "B-134 B-125 B-11", expected, f"{point} was asked")

    def called(self, ledger: Ledger, call: Call) -> None:  # noqa: ARG002  # every moment gives the same
        """When a cancel of a turn returns, the status says so."""
        stop = call.stop
        if call.verb is not Verb.CANCEL or stop is None or not stop.is_first:
            return
        if call.was_alone and call.after.status != "cancelled":
            raise Violation(
                "INV-05",
                "A-26 A-27",
                f"turn {stop.turn} was cancelled, so the status is cancelled",
                f"it is {call.after.status}",
            )


def _was_streaming(turn: TurnNote) -> bool:
    return any(stop is not None and stop.streaming for stop in (turn.stop, turn.disposed))


def _judge_stopped(turn: TurnNote, record: Seen) -> None:
    stop = turn.stop
    endings = ["disposed"] if turn.disposed else []
    if not endings and stop is not None:
        endings = ["rejected" if turn.is_rejected else f"aborted: {stop.reason}"]
    if turn.failed_before_stop:
        endings.append("error")
    is_without_reason = turn.disposed is not None or turn.is_rejected
    ending = record.text.split(":", 1)[0] if is_without_reason else record.text
    if not any(
        ending == wanted or (wanted == "error" and ending.startswith("error")) for wanted in endings
    ):
        raise Violation(
            "INV-05",
            "A-28 B-36 B-47 B-96",
            f"turn {turn.number} was stopped by {stop or turn.disposed} "
            f"and ends {' or '.join(endings)}",
            record.text,
        )


def _judge_unstopped(turn: TurnNote, record: Seen) -> None:
    if record.text.startswith("disposed"):
        raise Violation(
            "INV-10",
            "A-49 B-115",
            f"turn {turn.number} of an agent that nobody disposed does not end disposed",
            record.text,
        )


class Answered(Oracle):
    """INV-06: every call has one result when its step is over, whatever became of the turn."""

    def recorded(self, ledger: Ledger, record: Seen) -> None:
        """A result is the first one of its call, and a step closes over no call without one."""
        if record.type == "tool/result" and record.text in ledger.answered:
            seen = f"turn {record.turn} answers {record.text!r} again"
            raise Violation("INV-06", "B-124 B-135", "a call has one result", seen)
        unanswered = [call for call in ledger.called if call not in ledger.answered]
        if record.type == "step/end" and unanswered:
            expected = "a step closes when each of its calls has a result"
            raise Violation("INV-06", "B-124 B-135", expected, f"{unanswered[0]!r} has none")


class Closes(Oracle):
    """INV-06: a cancelled turn closes, and then the agent is idle or runs what replaces it."""

    def at_rest(self, ledger: Ledger) -> None:
        """No turn is open and nothing unwinds."""
        if ledger.open_turn is not None:
            expected = f"turn {ledger.open_turn} is closed"
            raise Violation("INV-06", "B-135", expected, "nothing is left to do, and it is open")
        if ledger.seen.status not in ("idle", "disposed"):
            raise Violation(
                "INV-06",
                "B-135 A-51",
                "the agent is idle when nothing is left to do",
                f"it is {ledger.seen.status}",
            )


class WaitersReleased(Oracle):
    """INV-07: a waiter returns only if the agent was quiescent since it began to wait."""

    def released(self, ledger: Ledger, waiter: Waiter) -> None:
        """There was such an instant."""
        if ledger.quiet < waiter.registered:
            why = [f"{text!r} waits" for text in ledger.waiting]
            why += [f"turn {ledger.open_turn} is open"] if ledger.open_turn is not None else []
            raise Violation(
                "INV-07",
                "A-30 A-31 A-32 A-76",
                "when_idle returns only when no turn is open, nothing waits and no flush is due",
                f"it returned while {ledger.seen.status}; {', '.join(why) or 'a flush is due'}",
            )


class WaitersComplete(Oracle):
    """INV-08: every waiter returns."""

    def at_rest(self, ledger: Ledger) -> None:
        """Nobody waits any more."""
        self._judge(ledger)

    def gone(self, ledger: Ledger) -> None:
        """Nobody waits any more, either."""
        self._judge(ledger)

    def _judge(self, ledger: Ledger) -> None:
        for waiter in ledger.waiters:
            assert waiter.task is not None
            if not waiter.task.done():
                raise Violation(
                    "INV-08",
                    "A-80 A-36 A-33",
                    f"every when_idle returns; the agent is {ledger.seen.status}",
                    "nothing is left to do, and one waits",
                )


class FlushAwaited(Oracle):
    """B-86: the flush after a turn comes before `idle` and before the next turn."""

    def announced(self, ledger: Ledger, status: str) -> None:
        """`idle` comes behind the flush."""
        if status == "idle":
            self._judge(ledger, "idle was announced")

    def recorded(self, ledger: Ledger, record: Seen) -> None:
        """The next driven turn's first prompt comes behind the flush."""
        if record.type == "user/message":
            self._judge(ledger, f"turn {record.turn} records a prompt")

    def _judge(self, ledger: Ledger, seen: str) -> None:
        if ledger.flush_owed is not None:
            raise Violation("B-86", "B-86 A-31", f"turn {ledger.last_turn} was flushed first", seen)


class LegalStatuses(Oracle):
    """A-41: the announced statuses are legal moves, each different from the one before."""

    def announced(self, ledger: Ledger, status: str) -> None:
        """Each announced status may follow the one before."""
        before = ledger.announced
        if (before, status) not in _MOVES:
            raise Violation("A-41", "A-39 A-40 A-41 A-42", f"a legal move from {before}", status)


class Balanced(Oracle):
    """INV-06: the log is balanced, its turns are numbered in order, and it never shrinks."""

    def recorded(self, ledger: Ledger, record: Seen) -> None:
        """A record stands where it may stand."""
        wrong = _misplaced(ledger, record)
        if wrong:
            raise Violation("INV-06", "B-52 B-53 B-54 B-135", wrong, f"{record.type} {record.turn}")

    def looked(self, ledger: Ledger, before: Observation, after: Observation) -> None:  # noqa: ARG002  # every moment gives the same
        """What was in the log is still there."""
        if len(after.log) < len(before.log):
            seen = f"{len(before.log)} records before, {len(after.log)} now"
            raise Violation("INV-06", "A-46", "the log never becomes shorter", seen)


def _misplaced(ledger: Ledger, record: Seen) -> str:
    """Say what should have been, if the record is out of place."""
    if record.type == "turn/start":
        if ledger.open_turn is not None:
            return f"turn {ledger.open_turn} is closed before another opens"
        return "" if record.turn == ledger.last_turn + 1 else f"turn {ledger.last_turn + 1} is next"
    if record.turn != ledger.open_turn:
        return f"a record of the open turn, which is {ledger.open_turn}"
    needs_step = record.type.startswith(("assistant/", "tool/")) or record.type == "step/end"
    if needs_step and not ledger.open_step:
        return "it stands inside a step"
    if ledger.open_step and record.type in ("step/start", "turn/end", "user/message"):
        return "the step is closed first"
    return ""
