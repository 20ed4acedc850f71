"""What an oracle is: a judge of one claim, asked at fixed moments of a run."""

from statemachine.conformance.subject import Dropped, Observation, Seen
from statemachine.conformance.suite.ledger import Call, Ledger, Waiter

__all__ = ["Oracle"]


class Oracle:
    """Judges one claim about one agent; each method is a moment at which it may be asked.

    A judge raises `Violation`. It keeps nothing: what it needs to know is in the ledger, which at
    `recorded`, `dropped`, `announced` and `heard` does not hold the new fact yet.
    """

    def recorded(self, ledger: Ledger, record: Seen) -> None:
        """Judge a record that has appeared in the log."""

    def dropped(self, ledger: Ledger, dropped: Dropped) -> None:
        """Judge a discard that was announced."""

    def announced(self, ledger: Ledger, status: str) -> None:
        """Judge a status that was announced."""

    def looked(self, ledger: Ledger, before: Observation, after: Observation) -> None:
        """Judge one look that differs from the last; the ledger knows what is in it."""

    def heard(self, ledger: Ledger, point: str, now: Observation) -> None:
        """Judge the moment at which a listener is called."""

    def called(self, ledger: Ledger, call: Call) -> None:
        """Judge a call that has returned."""

    def asked_model(self, ledger: Ledger) -> None:
        """Judge the beginning of a call of the model."""

    def released(self, ledger: Ledger, waiter: Waiter) -> None:
        """Judge the return of a `when_idle`."""

    def settled(self, ledger: Ledger) -> None:
        """Judge an instant between two callbacks, when no call is under way."""

    def at_rest(self, ledger: Ledger) -> None:
        """Judge when nothing is left to do."""

    def gone(self, ledger: Ledger) -> None:
        """Judge after the end, when nothing is left to do."""
