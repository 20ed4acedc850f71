"""Subjects that are broken on purpose, each in one way, so that an oracle has something to find.

Some misbehave, some only lie about what an outsider can see; to an oracle that is the same.
"""

import asyncio
from collections.abc import Awaitable, Callable

from attrs import evolve, frozen

from runtime import CallerError
from runtime.subject import RuntimeSubject
from statemachine.conformance.subject import Dropped, Observation, Offer, Seen
from statemachine.conformance.suite.examination import Examination

__all__ = ["BROKEN", "BrokenSubject", "CancelForgets"]


# -- Subjects that misbehave -----------------------------------------------------------------------


class CancelForgets(RuntimeSubject):
    """Its cancel does nothing."""

    def cancel(self, agent: str, reason: str | None) -> None:
        """Do nothing."""


class CancelTwice(RuntimeSubject):
    """Its cancel empties the queues again when everybody has been called."""

    def cancel(self, agent: str, reason: str | None) -> None:
        """Cancel, and once more."""
        super().cancel(agent, reason)
        super().cancel(agent, reason)


class IdleCancelLeavesTrace(RuntimeSubject):
    """Its cancel of an idle agent leaves something in the log."""

    def cancel(self, agent: str, reason: str | None) -> None:
        """Cancel, and record that there was nothing to cancel."""
        if super().observe(agent).status == "idle":
            self.inject(agent, "nothing to cancel")
        super().cancel(agent, reason)


class Impatient(RuntimeSubject):
    """Its `when_idle` returns at once."""

    async def when_idle(self, agent: str) -> None:
        """Return."""


class Stranding(RuntimeSubject):
    """Its `when_idle` never returns."""

    async def when_idle(self, agent: str) -> None:  # noqa: ARG002  # the protocol's
        """Wait for nobody."""
        await asyncio.get_running_loop().create_future()


class StopsEverybody(RuntimeSubject):
    """Its cancel reaches every agent."""

    def cancel(self, agent: str, reason: str | None) -> None:
        """Cancel them all."""
        for each in (agent, *({"a", "b"} - {agent})):
            super().cancel(each, reason)


class NeverEnds(RuntimeSubject):
    """Whoever awaits its dispose waits for ever."""

    def dispose(self, agent: str) -> Awaitable[object]:
        """Dispose, and return something that is never done."""
        super().dispose(agent)
        return asyncio.get_running_loop().create_future()


class EndsDifferently(RuntimeSubject):
    """Everybody who awaits its dispose gets something else."""

    def dispose(self, agent: str) -> Awaitable[object]:
        """Dispose, and return the number of the call."""
        super().dispose(agent)
        end = asyncio.get_running_loop().create_future()
        end.set_result(object())
        return end


class TakesAnyId(RuntimeSubject):
    """It makes no fuss about an id that is taken."""

    def create(self, agent: str, session: str) -> None:
        """Create, or pretend to."""
        try:
            super().create(agent, session)
        except CallerError:
            return


class LosesEveryMessage(RuntimeSubject):
    """It accepts messages and forgets them."""

    def send(self, agent: str, text: str) -> None:
        """Forget the message."""


class AcceptsAfterTheEnd(RuntimeSubject):
    """It takes messages when the agent is disposed."""

    def send(self, agent: str, text: str) -> None:
        """Send, or pretend to."""
        try:
            super().send(agent, text)
        except CallerError:
            return


class SkipsTheFlush(RuntimeSubject):
    """It says that it holds flushes, and never flushes."""

    @property
    def offers(self) -> frozenset[Offer]:
        """Everything, and flushes."""
        return super().offers | {Offer.HOLD}


# -- Subjects that lie about what can be seen ------------------------------------------------------

Lie = Callable[[Observation], Observation]


def _liar(lie: Lie) -> Callable[[], RuntimeSubject]:
    class Liar(RuntimeSubject):
        """It behaves, and is seen wrongly."""

        def observe(self, agent: str) -> Observation:
            """Lie."""
            return lie(super().observe(agent))

    return Liar


def _log(change: Callable[[Seen], Seen]) -> Lie:
    return lambda seen: evolve(seen, log=tuple(change(record) for record in seen.log))


def _other_reason(seen: Observation) -> Observation:
    discards = tuple(Dropped(drop.text, drop.cause, "another") for drop in seen.discards)
    return evolve(seen, discards=discards)


def _two_fates(seen: Observation) -> Observation:
    return evolve(seen, discards=(*seen.discards, *seen.discards[:1]))


def _completed_instead(record: Seen) -> Seen:
    is_aborted = record.type == "turn/end" and record.text.startswith("aborted")
    return Seen(record.type, record.turn, "completed") if is_aborted else record


def _aborted_instead(record: Seen) -> Seen:
    is_completed = record.type == "turn/end" and record.text == "completed"
    return Seen(record.type, record.turn, "aborted: cancelled") if is_completed else record


def _prompt_instead(record: Seen) -> Seen:
    is_steering = record.type == "steering/message"
    return Seen("user/message", record.turn, record.text) if is_steering else record


def _one_turn(seen: Observation) -> Observation:
    """Show two turns as one."""
    hidden = (("turn/end", 1), ("turn/start", 2))
    log = tuple(
        Seen(record.type, min(record.turn, 1), record.text)
        for record in seen.log
        if (record.type, record.turn) not in hidden
    )
    return evolve(seen, log=log)


def _never_closed(seen: Observation) -> Observation:
    return evolve(seen, log=tuple(record for record in seen.log if record.type != "turn/end"))


def _swapped(seen: Observation) -> Observation:
    texts = {"m1": "m2", "m2": "m1"}
    log = (Seen(one.type, one.turn, texts.get(one.text, one.text)) for one in seen.log)
    return evolve(seen, log=tuple(log))


def _stuttering(seen: Observation) -> Observation:
    return evolve(seen, statuses=tuple(one for status in seen.statuses for one in (status, status)))


def _gone_at_once(seen: Observation) -> Observation:
    return evolve(seen, registered=seen.registered and seen.status != "disposed")


# -- The list --------------------------------------------------------------------------------------


def _cancel_in_turn(play: Examination) -> None:
    play.create()
    play.send()
    play.run_until_quiet()
    play.cancel(reason="stop")
    play.send()
    play.finish()


def _cancel_queued(play: Examination) -> None:
    play.create()
    play.send()
    play.cancel(reason="stop")
    play.finish()


def _cancel_with_callback(play: Examination) -> None:
    play.create()
    play.send()
    play.run_until_quiet()
    play.listen("abort", "send")
    play.cancel()
    play.finish()


def _idle_cancel(play: Examination) -> None:
    play.create()
    play.cancel()
    play.send()
    play.finish()


def _plain_turn(play: Examination) -> None:
    play.create()
    play.send()
    play.send()
    play.when_idle()
    play.finish()


def _steered_turn(play: Examination) -> None:
    play.create()
    play.send()
    play.run_until_quiet()
    play.steer()
    play.finish()


def _two_agents(play: Examination) -> None:
    play.create("a")
    play.create("b")
    play.send("b")
    play.run_until_quiet()
    play.cancel("a")
    play.finish()


def _dispose_in_turn(play: Examination) -> None:
    play.create()
    play.send()
    play.run_until_quiet()
    play.dispose()
    play.dispose()
    play.send()
    play.finish()


def _same_id(play: Examination) -> None:
    play.create()
    play.create()
    play.finish()


@frozen
class BrokenSubject:
    """A subject, a program that shows what is broken, and the oracle that has to say so."""

    fault: str
    invariant: str
    make: Callable[[], RuntimeSubject]
    program: Callable[[Examination], None]


BROKEN = (
    BrokenSubject("cancel does nothing", "INV-01", CancelForgets, _cancel_queued),
    BrokenSubject("discards have another reason", "INV-01", _liar(_other_reason), _cancel_queued),
    BrokenSubject(
        "the next turn joins the cancelled one", "INV-02", _liar(_one_turn), _cancel_in_turn
    ),
    BrokenSubject("cancel drops what callbacks sent", "INV-03", CancelTwice, _cancel_with_callback),
    BrokenSubject("an idle cancel is recorded", "INV-04", IdleCancelLeavesTrace, _idle_cancel),
    BrokenSubject("a turn aborts by itself", "INV-04", _liar(_log(_aborted_instead)), _idle_cancel),
    BrokenSubject(
        "a cancelled turn completes", "INV-05", _liar(_log(_completed_instead)), _cancel_in_turn
    ),
    BrokenSubject("no turn closes", "INV-06", _liar(_never_closed), _idle_cancel),
    BrokenSubject("when_idle does not wait", "INV-07", Impatient, _plain_turn),
    BrokenSubject("when_idle never returns", "INV-08", Stranding, _plain_turn),
    BrokenSubject("steering is a prompt", "INV-09", _liar(_log(_prompt_instead)), _steered_turn),
    BrokenSubject("a cancel reaches siblings", "INV-10", StopsEverybody, _two_agents),
    BrokenSubject("unregistered in the call", "INV-11", _liar(_gone_at_once), _dispose_in_turn),
    BrokenSubject("dispose never completes", "INV-12", NeverEnds, _dispose_in_turn),
    BrokenSubject("each dispose ends differently", "INV-12", EndsDifferently, _dispose_in_turn),
    BrokenSubject("an id is given twice", "INV-16", TakesAnyId, _same_id),
    BrokenSubject("messages are lost", "INV-21", LosesEveryMessage, _idle_cancel),
    BrokenSubject("a discard is told twice", "INV-21", _liar(_two_fates), _cancel_queued),
    BrokenSubject("prompts change places", "A-13", _liar(_swapped), _plain_turn),
    BrokenSubject("every status is told twice", "A-41", _liar(_stuttering), _plain_turn),
    BrokenSubject("disposed agents accept", "A-20", AcceptsAfterTheEnd, _dispose_in_turn),
    BrokenSubject("no flush", "B-86", lambda: SkipsTheFlush(holds_flush=False), _plain_turn),
)
"""Every oracle has a subject here that it alone finds first."""
