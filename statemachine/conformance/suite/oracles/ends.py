"""Oracles about the end of an agent, and about its siblings."""

from typing import Final

from statemachine.conformance.subject import Observation, Seen
from statemachine.conformance.suite.ledger import Call, Ledger, Verb
from statemachine.conformance.suite.oracles.oracle import Oracle
from statemachine.conformance.suite.story import Violation

__all__ = ["EndsJoined", "RefusesAfterEnd", "Siblings", "TeardownOrder"]


_STATUS: Final = {Verb.CANCEL: "cancelled", Verb.DISPOSE: "disposed"}


class Siblings(Oracle):
    """INV-10: what is done to one agent changes nothing about another."""

    def called(self, ledger: Ledger, call: Call) -> None:
        """A stop leaves the others as they were."""
        if call.stop is None or not call.was_alone:
            return
        for sibling, before in call.siblings:
            if sibling.seen != before:
                raise Violation(
                    "INV-10",
                    "F-21 B-37",
                    f"{call.verb} of {ledger.agent} leaves {sibling.agent} as it was",
                    f"{sibling.agent} is {sibling.seen.status}, {len(sibling.seen.log)} records",
                )

    def announced(self, ledger: Ledger, status: str) -> None:
        """Nobody is stopped but by a call."""
        if status == "disposed" and ledger.disposed is None:
            raise Violation("INV-10", "A-49", f"nobody disposed {ledger.agent}", "status disposed")
        if status == "cancelled" and not ledger.cancels:
            expected = f"nobody cancelled {ledger.agent}"
            raise Violation("INV-10", "A-27 A-50 B-37", expected, "status cancelled")


class TeardownOrder(Oracle):
    """INV-11: an end takes its steps in one order."""

    def looked(self, ledger: Ledger, before: Observation, after: Observation) -> None:
        """The registry, then the store, and both only when the turn is closed and flushed."""
        if before.registered and not after.registered:
            self._judge_leaving(ledger, after)
        if before.in_store and not after.in_store:
            if after.registered:
                raise Violation(
                    "INV-11",
                    "F-15",
                    "unregistered before the session is detached",
                    "still registered",
                )
            self._judge_leaving(ledger, after)

    def _judge_leaving(self, ledger: Ledger, after: Observation) -> None:
        expected = (
            "the agent leaves only after its closing records, its flush and its driver's exit"
        )
        if after.status != "disposed":
            raise Violation("INV-11", "F-15 F-35", expected, f"it left while {after.status}")
        if ledger.open_turn is not None:
            seen = f"it left while turn {ledger.open_turn} was open"
            raise Violation("INV-11", "F-15 B-44", expected, seen)
        if ledger.flush_owed is not None:
            seen = f"it left before the flush of turn {ledger.last_turn}"
            raise Violation("INV-11", "F-15 B-44", expected, seen)
        if ledger.under_way:
            raise Violation("INV-11", "F-35", "nobody leaves inside the dispose call", "it did")

    def heard(self, ledger: Ledger, point: str, now: Observation) -> None:
        """Listeners hear of the end in its order."""
        if point == "abort":
            self._judge_abort(ledger, now)
        elif point == "disposed":
            self._judge_notice(ledger, now)
        elif "disposed" in ledger.heard:
            raise Violation("INV-11", "F-15", "agent/disposed is the last one hears", point)

    def _judge_abort(self, ledger: Ledger, now: Observation) -> None:
        # A callback registered after the signal fired is called at once, and late.
        stop = next((one for one in ledger.under_way if one.is_first), None)
        if stop is not None and now.statuses[-1:] == (_STATUS[stop.verb],):
            invariant = "INV-11" if stop.verb is Verb.DISPOSE else "INV-03"
            expected = "the abort callbacks run before the status is announced"
            raise Violation(invariant, "A-58 F-15", expected, f"{now.statuses[-1]} was announced")
        if now.status not in ("cancelled", "disposed"):
            expected = "a signal fires after the change of state"
            raise Violation("INV-03", "A-56 A-57 A-58", expected, f"status {now.status}")

    def _judge_notice(self, ledger: Ledger, now: Observation) -> None:
        if "disposed" in ledger.heard:
            raise Violation(
                "INV-12", "F-17", "no link of an end runs twice", "agent/disposed again"
            )
        if now.statuses[-1:] != ("disposed",):
            expected = "the status disposed was announced before"
            raise Violation("INV-11", "F-15", expected, f"announced: {now.statuses}")
        if now.registered or not now.in_store:
            raise Violation(
                "INV-11",
                "F-15",
                "agent/disposed comes when the agent is unregistered and the session attached",
                f"registered: {now.registered}, in the store: {now.in_store}",
            )

    def recorded(self, ledger: Ledger, record: Seen) -> None:
        """Nothing is recorded once the agent is gone."""
        if ledger.disposed is not None and not ledger.seen.in_store:
            raise Violation("INV-11", "F-15", "the log is closed once it is detached", record.type)

    def called(self, ledger: Ledger, call: Call) -> None:  # noqa: ARG002  # every moment gives the same
        """When a dispose returns, the status says so and nothing else has happened yet."""
        if call.verb is not Verb.DISPOSE or not call.was_alone:
            return
        if call.after.status != "disposed":
            expected = "the status is disposed when dispose returns"
            raise Violation("INV-11", "F-32", expected, f"it is {call.after.status}")

    def announced(self, ledger: Ledger, status: str) -> None:
        """The status is announced before whatever was waiting is discarded."""
        if status != "disposed":
            return
        early = [drop.text for drop in ledger.seen.discards if drop.cause == "disposed"]
        if early:
            expected = "the status disposed is announced before the discards"
            raise Violation("INV-11", "A-58 F-15", expected, f"{early[0]!r} was discarded before")


class EndsJoined(Oracle):
    """INV-12: every dispose completes, and everybody sees the same end."""

    def gone(self, ledger: Ledger) -> None:
        """All who awaited the end have the same."""
        for end in ledger.ends:
            if not end.done():
                expected = f"every dispose of {ledger.agent} completes"
                raise Violation("INV-12", "F-17 F-33", expected, "nothing is left to do; one waits")
        results = [end.result() for end in ledger.ends if not end.cancelled()]
        if any(result != results[0] for result in results):
            raise Violation("INV-12", "F-34", "everybody sees the same end", repr(results))
        seen = ledger.seen
        if seen.status != "disposed" or seen.registered or seen.in_store:
            raise Violation(
                "INV-12",
                "F-15 F-36",
                "a disposed agent is out of the registry and of the store",
                f"{seen.status}, registered: {seen.registered}, in the store: {seen.in_store}",
            )


class RefusesAfterEnd(Oracle):
    """A-20: a disposed agent refuses messages; nobody else does, and stops are never refused."""

    def called(self, ledger: Ledger, call: Call) -> None:  # noqa: ARG002  # every moment gives the same
        """A call is refused exactly if it brings something to a disposed agent."""
        is_offer = call.verb not in (Verb.CANCEL, Verb.DISPOSE)
        was_disposed = call.before.status == "disposed"
        if call.error is not None and not (is_offer and was_disposed):
            raise Violation(
                "A-20",
                "A-20 B-132",
                f"{call.verb} is answered while {call.before.status}",
                f"{type(call.error).__name__}: {call.error}",
            )
        if call.error is None and is_offer and was_disposed:
            raise Violation("A-20", "A-20", f"a disposed agent refuses {call.verb}", "it did not")
