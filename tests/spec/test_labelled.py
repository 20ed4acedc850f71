"""Messages keep their order and get one fate, whatever is sent, stopped or fails, and when."""

import pytest

from statemachine.commands import Command, Input
from statemachine.explorer import Counterexample, Exploration, explore
from statemachine.inbox import Queues
from statemachine.labelled import (
    LABELLED_CLAIMS,
    Act,
    BrokenClaimError,
    Contents,
    Label,
    explore_labelled,
    obey,
)
from statemachine.machine import MACHINE, Machine
from statemachine.windows import Window
from tests.mutants.planting import (
    Plant,
    also,
    before,
    chain,
    change,
    not_in,
    only_in,
    remove,
    rows,
    send_to,
    silence,
    skip,
)

# A changed number is a changed declaration or a changed search; the commit says which.
STATES = {1: 1671, 2: 8485, 3: 30515}


@pytest.fixture(scope="module")
def exploration() -> Exploration:
    """Give the graph of the machine; it is a value."""
    return explore()


def planted(plant: Plant) -> Exploration:
    """Return the graph of a machine with a fault."""
    return explore(Machine(table=plant(MACHINE.table)))


def labels(*numbers: int) -> tuple[Label, ...]:
    """Return messages by number."""
    return tuple(map(Label, numbers))


# -- The search ------------------------------------------------------------------------------------


@pytest.mark.clause("A-54", "A-76", "A-80", "B-106", "C-15")
@pytest.mark.parametrize("bound", STATES)
def test_every_claim_holds_of_every_state(bound: int, exploration: Exploration) -> None:
    """With up to three messages, two cancels, two waiters and a dispose nothing goes astray."""
    labelled = explore_labelled(exploration, bound)
    assert [str(verdict.why) for verdict in labelled.verdicts if not verdict.holds] == []
    assert labelled.is_holding
    assert labelled.states == STATES[bound]
    assert all(verdict.explored > 0 for verdict in labelled.verdicts)


@pytest.mark.slow
def test_every_claim_holds_of_five_messages(exploration: Exploration) -> None:
    """A bigger bound finds nothing new."""
    labelled = explore_labelled(exploration, 5)
    assert labelled.is_holding
    assert labelled.states > 9 * STATES[3]


def test_there_is_a_verdict_on_every_claim(exploration: Exploration) -> None:
    """No claim is left out of the answer."""
    names = [verdict.name for verdict in explore_labelled(exploration, 1).verdicts]
    assert names == [claim.name for claim in LABELLED_CLAIMS]


STREAM_CANCEL = rows(Input.CANCEL, Window.STREAM, "running")


@pytest.mark.parametrize(
    ("plant", "claim", "length"),
    [
        (remove(rows(Input.CANCEL, None, "has_work")),
         "a_cancelled_message_is_discarded_by_that_call", 2),
        (change(STREAM_CANCEL, not_in(Window.ASSEMBLY)),
         "no_turn_holds_messages_from_both_sides_of_a_cancel", 13),
        (change(rows(Input.BROKE_OFF), also(skip("queue"), silence(Command.REQUEUE))),
         "no_message_is_lost", 7),
        (change(rows(Input.DONE, Window.WOKEN, "always"), silence(Command.RELEASE)),
         "at_rest_nothing_is_owed", 4),
        (change(STREAM_CANCEL, silence(Command.ABORT)), "the_first_reason_ends_the_turn", 7),
        (change(STREAM_CANCEL, silence(Command.DISCARD)),
         "a_cancelled_message_is_discarded_by_that_call", 3),
    ],
)  # fmt: skip
def test_a_fault_is_found_by_the_claim_that_is_there_for_it(
    plant: Plant, claim: str, length: int
) -> None:
    """A planted fault is refuted by a shortest run, told with the places of the messages."""
    verdicts = explore_labelled(planted(plant), 2).verdicts
    verdict = next(each for each in verdicts if each.name == claim)
    assert not verdict.holds
    assert isinstance(verdict.why, Counterexample)
    assert verdict.why.length == length


def test_a_story_says_where_the_messages_are() -> None:
    """A reader sees which message waited where when the claim broke."""
    silent = planted(change(STREAM_CANCEL, silence(Command.DISCARD)))
    broken = {each.name: each.why for each in explore_labelled(silent, 1).verdicts}
    assert str(broken["a_cancelled_message_is_discarded_by_that_call"]).splitlines()[1:] == [
        "  1. send in parked: window parked > woken, inbox empty > queued; QUEUE WAKE; queued m1",
        "  2. done in woken: window woken > announce-running, status idle > running; "
        "BEGIN ANNOUNCE; queued m1",
        "  3. cancel in announce-running: status running > cancelled, inbox queued > empty, "
        "marker absent > armed; ANNOUNCE ABORT",
        "  but [1] were not discarded",
    ]


@pytest.mark.clause("B-109")
def test_a_driver_that_only_goes_round_is_found() -> None:
    """A circle of the driver that costs no message is no way to rest."""
    parking = rows(Input.DONE, Window.WOKEN, "always")
    quiet = silence(Command.RELEASE)
    circling = planted(
        chain(
            before(parking, also(only_in(Window.WOKEN), send_to(Window.ANNOUNCE_IDLE), quiet)),
            before(parking, also(only_in(Window.ANNOUNCE_IDLE), send_to(Window.WOKEN), quiet)),
        )
    )
    verdicts = {each.name: each for each in explore_labelled(circling, 1).verdicts}
    assert not verdicts["the_driver_comes_to_rest"].holds
    assert "the driver can come here forever" in str(verdicts["the_driver_comes_to_rest"].why)


# -- Obeying ---------------------------------------------------------------------------------------


@pytest.mark.clause("C-15", "A-13")
def test_leftover_steering_is_merged_by_order_of_acceptance() -> None:
    """Labels are moved by the inbox that the runtime uses."""
    before = Contents(
        accepted=3, queued=labels(1, 3), steering=labels(2), epochs=(0, 0, 0), settled=0
    )
    after = obey(before, Act(input=Input.DONE, commands=(Command.MERGE,)))
    queues = Queues([*labels(1, 3)], [*labels(2)])
    queues.merge()
    assert after is not None
    assert after.queued == tuple(queues.queued) == labels(1, 2, 3)
    assert after.steering == tuple(queues.steering) == ()


@pytest.mark.clause("B-109")
@pytest.mark.parametrize("read", [1, 2])
def test_a_batch_can_break_off_behind_any_prompt_but_the_last(read: int) -> None:
    """The prompt that breaks off is recorded, and the ones behind it are first in the queue."""
    before = Contents(
        accepted=4, queued=labels(4), batch=labels(1, 2, 3), is_open=True, epochs=(0, 0, 0, 0)
    )
    act = Act(input=Input.BROKE_OFF, commands=(Command.REQUEUE,), is_reading=True)
    after = obey(before, act, read)
    assert after is not None
    assert after.prompts == labels(*range(1, read + 1))
    assert after.queued == labels(*range(read + 1, 5))
    assert after.batch == ()


@pytest.mark.clause("A-54")
def test_a_message_cannot_be_settled_twice() -> None:
    """A message that was recorded and is discarded afterwards breaks its claim."""
    settled = Contents(accepted=1, queued=labels(1), epochs=(0,), settled=1 << 1, cancels=1)
    with pytest.raises(BrokenClaimError) as raised:
        obey(settled, Act(input=Input.CANCEL, commands=(Command.DISCARD,)))
    assert raised.value.claim == "no_message_has_two_fates"


@pytest.mark.clause("B-106")
def test_a_turn_cannot_take_messages_from_both_sides_of_a_cancel() -> None:
    """Steering that came after a cancel does not join a turn from before it."""
    mixed = Contents(
        accepted=2, steering=labels(2), is_open=True, prompts=labels(1), epochs=(0, 1), settled=2,
        cancels=1,
    )  # fmt: skip
    with pytest.raises(BrokenClaimError) as raised:
        obey(mixed, Act(input=Input.DONE, commands=(Command.TAKE,)))
    assert raised.value.claim == "no_turn_holds_messages_from_both_sides_of_a_cancel"


@pytest.mark.clause("A-32", "A-76")
def test_waiters_are_not_released_while_something_is_left() -> None:
    """A release in front of queued work breaks its claim, also where the driver rests."""
    busy = Contents(accepted=1, queued=labels(1), epochs=(0,))
    with pytest.raises(BrokenClaimError) as raised:
        obey(busy, Act(input=Input.DONE, commands=(Command.RELEASE,), is_rest=True))
    assert raised.value.claim == "waiters_are_released_only_with_nothing_left"


def test_a_third_cancel_is_beyond_the_bounds() -> None:
    """The search ends because the calls from outside are counted."""
    act = Act(input=Input.CANCEL, commands=())
    assert obey(Contents(cancels=2), act) is None
    assert obey(Contents(cancels=1), act) == Contents(cancels=2)
