"""Oracles about what becomes of messages."""

from statemachine.conformance.subject import Dropped, Seen
from statemachine.conformance.suite.ledger import MESSAGES, PROMPTS, Call, Ledger, Message, Verb
from statemachine.conformance.suite.oracles.oracle import Oracle
from statemachine.conformance.suite.story import Violation

__all__ = [
    "CancelDrops",
    "CancelLeavesNewWork",
    "ContextRecorded",
    "NoMixing",
    "OneFate",
    "OrderOfAcceptance",
    "Surface",
]


class OneFate(Oracle):
    """INV-21: every accepted message has exactly one visible fate."""

    def recorded(self, ledger: Ledger, record: Seen) -> None:
        """A record of a message is of one that waits."""
        if record.type in MESSAGES:
            self._judge(ledger, record.text, f"recorded as {record.type} of turn {record.turn}")

    def dropped(self, ledger: Ledger, dropped: Dropped) -> None:
        """A discard is of a message that waits."""
        self._judge(ledger, dropped.text, f"discarded ({dropped.cause}: {dropped.reason})")

    def _judge(self, ledger: Ledger, text: str, fate: str) -> None:
        message = ledger.messages.get(text)
        if message is None:
            expected = "what is recorded or discarded was accepted"
            raise Violation("INV-21", "A-54", expected, f"{text!r}, never accepted, was {fate}")
        if not message.is_waiting:
            raise Violation(
                "INV-21",
                "A-54",
                f"{text!r} has one fate, and it is {_fate(message)}",
                f"it was also {fate}",
            )

    def at_rest(self, ledger: Ledger) -> None:
        """Nothing waits any more."""
        for message in ledger.waiting.values():
            raise Violation(
                "INV-21",
                "A-54",
                f"{message.text!r}, accepted by {message.verb}, is recorded or discarded",
                "nothing is left to do, and it is neither",
            )


def _fate(message: Message) -> str:
    if message.recorded is not None:
        return f"{message.recorded.type} of turn {message.recorded.turn}"
    assert message.discarded is not None
    return f"discarded ({message.discarded.cause}: {message.discarded.reason})"


class ContextRecorded(Oracle):
    """INV-21: what inject accepted is in the log."""

    def at_rest(self, ledger: Ledger) -> None:
        """No injection is missing."""
        for context in ledger.contexts.values():
            if context.recorded is None:
                expected = f"{context.text!r}, accepted by inject, is a context/message"
                raise Violation("INV-21", "A-74", expected, "nothing is left to do, and it is not")


class CancelDrops(Oracle):
    """INV-01: what a cancel finds queued is discarded once, with its reason, and never recorded."""

    def recorded(self, ledger: Ledger, record: Seen) -> None:
        """A message that a stop found waiting is not recorded."""
        message = ledger.messages.get(record.text) if record.type in MESSAGES else None
        if message is not None and message.doomed is not None:
            raise Violation(
                _invariant(message),
                "A-24",
                f"{message.text!r} waited when {message.doomed} came and is never recorded",
                f"{record.type} in turn {record.turn}",
            )

    def dropped(self, ledger: Ledger, dropped: Dropped) -> None:
        """A discard names the call that made it."""
        message = ledger.messages.get(dropped.text)
        stop = None if message is None else message.doomed or message.maybe_doomed
        if message is None or stop is None:
            return
        cause = "cancelled" if stop.verb is Verb.CANCEL else "disposed"
        is_right = dropped.cause == cause
        if stop.verb is Verb.CANCEL:
            is_right = is_right and dropped.reason == stop.reason
        if not is_right:
            raise Violation(
                _invariant(message),
                "A-55 A-21",
                f"the discard of {dropped.text!r} has the cause and the reason of {stop}: "
                f"{cause}, {stop.reason!r}",
                f"{dropped.cause}, {dropped.reason!r}",
            )

    def settled(self, ledger: Ledger) -> None:
        """What a stop found waiting has been announced as discarded when it has returned."""
        for message in ledger.doomed.values():
            raise Violation(
                _invariant(message),
                "A-24 A-71",
                f"{message.text!r} waited when {message.doomed} came and is discarded by it",
                "the call has returned and no discard was announced",
            )


def _invariant(message: Message) -> str:
    stop = message.doomed or message.maybe_doomed
    return "INV-11" if stop is not None and stop.verb is Verb.DISPOSE else "INV-01"


class CancelLeavesNewWork(Oracle):
    """INV-03: a cancel takes what it found, and nothing that its own listeners sent."""

    def dropped(self, ledger: Ledger, dropped: Dropped) -> None:
        """A discarded message waited when a stop came."""
        message = ledger.messages.get(dropped.text)
        if message is None or message.doomed or message.maybe_doomed or dropped.cause == "error":
            return
        newer = [stop for stop in ledger.under_way if stop.order < message.order]
        if newer or any(stop.reason == dropped.reason for stop in ledger.cancels):
            raise Violation(
                "INV-03",
                "A-25 A-56",
                f"{dropped.text!r} came after the queues were emptied and runs later",
                f"it was discarded ({dropped.cause}: {dropped.reason})",
            )
        raise Violation(
            "INV-21",
            "B-111",
            f"nothing but a cancel or a dispose drops {dropped.text!r}",
            f"it was discarded ({dropped.cause}: {dropped.reason}), and there was no such call",
        )


class NoMixing(Oracle):
    """INV-02: no turn holds messages from before and from after a cancel."""

    def recorded(self, ledger: Ledger, record: Seen) -> None:
        """The messages of a turn all lie on one side of every cancel."""
        message = ledger.messages.get(record.text) if record.type in MESSAGES else None
        if message is None or ledger.turn is None or not ledger.turn.orders or not ledger.cancels:
            return
        first = min(*ledger.turn.orders, message.order)
        last = max(*ledger.turn.orders, message.order)
        for stop in ledger.cancels:
            if first < stop.order < last:
                raise Violation(
                    "INV-02",
                    "B-106",
                    f"what came before {stop} and what came after it are in different turns",
                    f"{record.text!r} was recorded in turn {record.turn} with messages from the "
                    "other side of it",
                )


class OrderOfAcceptance(Oracle):
    """A-13: prompts, and steering, are recorded in the order of acceptance within a turn."""

    def recorded(self, ledger: Ledger, record: Seen) -> None:
        """A later record of a turn is of a later message."""
        message = ledger.messages.get(record.text) if record.type in MESSAGES else None
        if message is None or ledger.turn is None:
            return
        is_prompt = record.type in PROMPTS
        last = ledger.turn.last_prompt if is_prompt else ledger.turn.last_steering
        if message.order < last:
            raise Violation(
                "A-13",
                "A-06 A-13 C-02",
                f"turn {record.turn} records its messages in the order of acceptance",
                f"{record.text!r} after one that was accepted later",
            )


class Surface(Oracle):
    """INV-09: send leaves the status; steering joins the running turn, or is a send."""

    def called(self, ledger: Ledger, call: Call) -> None:  # noqa: ARG002  # every moment gives the same
        """A send changes nothing that can be seen."""
        if call.verb is not Verb.SEND or not call.was_alone or call.error is not None:
            return
        before, after = call.before, call.after
        if before.status != after.status or len(before.log) != len(after.log):
            raise Violation(
                "INV-09",
                "A-02",
                f"after send the status is still {before.status} and nothing was recorded",
                f"status {after.status}, {len(after.log) - len(before.log)} records",
            )

    def recorded(self, ledger: Ledger, record: Seen) -> None:
        """A message is recorded as what it was accepted as, and steering in time."""
        message = ledger.messages.get(record.text)
        if record.type == "steering/message" and message is not None:
            _judge_steering(message, record)
        elif record.type == "user/message" and message is not None and message.is_steering:
            if message.turn == record.turn:
                raise Violation(
                    "INV-09",
                    "A-10",
                    f"{record.text!r} steered turn {record.turn} and is steering in it",
                    "user/message in that turn",
                )
        elif record.type == "turn/end" and record.text == "completed" and ledger.turn is not None:
            self._judge_completed(ledger, record)

    def _judge_completed(self, ledger: Ledger, record: Seen) -> None:
        for message in ledger.waiting.values():
            if message.is_steering and message.turn == record.turn and message.doomed is None:
                raise Violation(
                    "INV-09",
                    "A-10 B-69",
                    f"turn {record.turn} goes on with the steering {message.text!r}",
                    "it completed without it",
                )

    def announced(self, ledger: Ledger, status: str) -> None:  # noqa: ARG002  # every moment gives the same
        """A status is one of four."""
        if status not in ("idle", "running", "cancelled", "disposed"):
            raise Violation("INV-09", "A-41", "one of the four statuses", repr(status))


def _judge_steering(message: Message, record: Seen) -> None:
    if not message.is_steering:
        raise Violation(
            "INV-09",
            "A-11 A-12",
            f"{record.text!r}, given by {message.verb} while {message.status}, is a prompt",
            f"steering/message in turn {record.turn}",
        )
    if message.turn is not None and message.turn != record.turn:
        raise Violation(
            "INV-09",
            "A-10 A-13",
            f"{record.text!r} steered turn {message.turn} and is steering there or a later prompt",
            f"steering/message in turn {record.turn}",
        )
