"""The bounded search finds what first-in-first-out hides, minimally, completely, repeatably."""

import asyncio
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import define, evolve, field

from statemachine.conformance.stage.schedules import (
    Action,
    Actor,
    FailureKind,
    Scenario,
    ScheduleDiverged,
    replay,
    run_schedule,
    search,
)
from statemachine.conformance.stage.stage import Stage, StageError

ROOT = Path(__file__).parents[2]


@define(kw_only=True)
class Account:
    """A toy with a race: `withdraw` looks, waits, and acts on what it saw."""

    stage: Stage
    balance: int = 10
    paid: list[str] = field(factory=list)
    seen: list[str] = field(factory=list)

    async def withdraw(self, who: str) -> None:
        """Pay out 10 if they are there, with one pass of the loop between look and act."""
        if self.balance >= 10:
            await self.stage.sleep(0)
            self.balance -= 10
            self.paid.append(who)

    async def ask(self, who: str) -> None:
        """Ask the model, note its answer or its failure."""
        try:
            self.seen.append(await self.stage.model(who))
        except StageError:
            self.seen.append("failed")


def open_account(stage: Stage) -> Account:
    """Make the world."""
    return Account(stage=stage)


def anna(account: Account) -> None:
    """Let anna withdraw."""
    account.stage.spawn(account.withdraw("anna"), "anna")


def bert(account: Account) -> None:
    """Let bert withdraw."""
    account.stage.spawn(account.withdraw("bert"), "bert")


def ask(account: Account) -> None:
    """Let somebody ask the model."""
    account.stage.spawn(account.ask("hello"), "asker")


def not_overdrawn(account: Account) -> None:
    """Refuse a negative balance."""
    balance = account.balance
    assert balance >= 0, f"overdrawn: {balance}"


def nothing(account: Account) -> None:
    """Accept every world."""


def scenario(
    *actions: Callable[[Account], object],
    check: Callable[[Account], object] = nothing,
    after_each: Callable[[Account], object] | None = None,
    budget: int = 1_000,
) -> Scenario[Account]:
    """One actor for each action."""
    return Scenario(
        name="account",
        actors=tuple(
            Actor(name=f"actor {number}", actions=(action,))
            for number, action in enumerate(actions, 1)
        ),
        setup=open_account,
        check=check,
        after_each=after_each,
        budget=budget,
    )


OVERDRAW = scenario(anna, bert, check=not_overdrawn)


def test_race_hidden_by_first_in_first_out_is_found_with_the_fewest_deviations() -> None:
    """One deviation shows it: bert acts while anna's withdrawal stands between look and act."""
    assert search(OVERDRAW, deviations=0).holds
    result = search(OVERDRAW, deviations=2)
    assert not result.complete
    assert result.failure is not None
    assert result.runs_by_deviations[0] == 1
    assert len(result.runs_by_deviations) == 2
    assert result.failure.kind is FailureKind.VIOLATED
    assert "overdrawn: -10" in result.failure.text
    assert [(one.did, one.instead) for one in result.failure.deviations] == [
        ("actor 2: bert", "run anna")
    ]
    assert "bert" in result.failure.story[1]
    assert f"decision {result.failure.deviations[0].index}" in result.failure.story[1]


def test_failure_repeats_from_its_text() -> None:
    """The replay text is all it takes, and other schedules do not fail."""
    found = search(OVERDRAW, deviations=1).failure
    assert found is not None
    assert replay(OVERDRAW, found.replay) == found
    assert replay(OVERDRAW, "") is None
    assert f"replay: {found.replay}" in str(found)


def test_race_that_needs_two_deviations_is_found_at_two() -> None:
    """One deviation is not enough, and the search says it was complete."""

    def twice_bert_between(account: Account) -> None:
        assert account.seen != ["b", "c", "a1", "a2"], "planted"

    def note(name: str) -> Action[Account]:
        return Action(label=name, act=lambda account: account.seen.append(name))

    planted = evolve(
        scenario(check=twice_bert_between),
        actors=(
            Actor(name="a", actions=(note("a1"), note("a2"))),
            Actor(name="b", actions=(note("b"),)),
            Actor(name="c", actions=(note("c"),)),
        ),
    )
    assert search(planted, deviations=1).holds
    found = search(planted, deviations=3).failure
    assert found is not None
    assert [one.did for one in found.deviations] == ["b: b", "c: c"]


def test_every_interleaving_of_a_tiny_scenario_is_run_once() -> None:
    """Two actors with two instant acts each have six interleavings: one, then more by level."""
    orders: list[tuple[str, ...]] = []

    def note(name: str) -> Action[Account]:
        return Action(label=name, act=lambda account: account.seen.append(name))

    tiny = evolve(
        scenario(check=lambda account: orders.append(tuple(account.seen))),
        actors=(
            Actor(name="a", actions=(note("a1"), note("a2"))),
            Actor(name="b", actions=(note("b1"), note("b2"))),
        ),
    )
    result = search(tiny, deviations=4)
    assert result.holds
    assert result.runs_by_deviations == (1, 2, 3, 0, 0)
    assert len(set(orders)) == len(orders) == 6


@pytest.mark.parametrize(
    ("actions", "expected"),
    [((ask,), (1, 1, 0)), ((anna, bert), (1, 3, 2)), ((anna, bert, ask), (1, 9, 55))],
)
def test_counts_of_complete_searches_are_pinned(
    actions: tuple[Callable[[Account], object], ...], expected: tuple[int, ...]
) -> None:
    """A changed count means that the stage decides differently."""
    result = search(scenario(*actions), deviations=2)
    assert result.holds
    assert result.runs_by_deviations == expected
    assert result.runs == sum(expected)


def every_schedule(account: Scenario[Account]) -> Counter[int]:
    """Walk the whole tree of answers, last answer first, and count schedules by deviations."""
    found: Counter[int] = Counter()
    answers: list[int] = []
    while True:
        options = run_schedule(account, tuple(enumerate(answers))).options
        answers += [0] * (len(options) - len(answers))
        found[sum(answer != 0 for answer in answers)] += 1
        while answers and answers[-1] + 1 == options[len(answers) - 1]:
            answers.pop()
        if not answers:
            return found
        answers[-1] += 1


@pytest.mark.parametrize("actions", [(ask,), (anna, bert), (anna, ask), (bert, ask, anna)])
def test_search_runs_exactly_the_schedules_there_are(
    actions: tuple[Callable[[Account], object], ...],
) -> None:
    """Level by level, the search runs as many schedules as a plain walk of the tree finds."""
    everything = every_schedule(scenario(*actions))
    result = search(scenario(*actions), deviations=max(everything))
    assert result.holds
    assert Counter(dict(enumerate(result.runs_by_deviations))) == everything


def test_each_outcome_of_a_gate_is_tried() -> None:
    """A failing model is one deviation away."""

    def never_fails(account: Account) -> None:
        assert account.seen == ["echo: hello"]

    found = search(scenario(ask, check=never_fails), deviations=1).failure
    assert found is not None
    assert found.deviations[0].did == "open model #1 with error"


def test_timer_may_fire_before_the_work_that_was_ready() -> None:
    """A time-out races with the answer it waits for."""

    async def patient(account: Account) -> None:
        async with asyncio.timeout(5):
            await account.stage.gate("answer", ("ok",))

    def start(account: Account) -> None:
        account.stage.spawn(patient(account), "patient")

    def answered(account: Account) -> None:
        assert account.stage.spawned[0].exception() is None, "timed out"

    found = search(scenario(start, check=answered), deviations=1).failure
    assert found is not None
    assert found.deviations[0].did == "fire the timer of 5 s"


def test_invariant_is_checked_between_callbacks() -> None:
    """What is wrong for one callback only is found, though it is right at the end."""

    async def flicker(account: Account) -> None:
        account.balance = -1
        await account.stage.sleep(0)
        account.balance = 10

    def start(account: Account) -> None:
        account.stage.spawn(flicker(account), "flicker")

    assert search(scenario(start, check=not_overdrawn), deviations=2).holds
    found = search(scenario(start, after_each=not_overdrawn), deviations=0).failure
    assert found is not None
    assert found.replay == ""


def test_listener_may_act_or_not() -> None:
    """`choose` inside the code under test is a decision of the same schedule."""

    async def notify(account: Account) -> None:
        await account.stage.sleep(0)
        if account.stage.choose("listener overdraws", 2):
            account.balance -= 20

    def start(account: Account) -> None:
        account.stage.spawn(notify(account), "notifier")

    found = search(scenario(start, check=not_overdrawn), deviations=1).failure
    assert found is not None
    assert found.replay == "0:1"
    assert found.deviations[0].did == "listener overdraws: option 1"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (FailureKind.STUCK, "stranded waits"),
        (FailureKind.UNHANDLED, "planted in a task"),
        (FailureKind.CRASHED, "KeyError: 'planted in an act'"),
    ],
)
def test_runs_fail_without_a_check(kind: FailureKind, words: str) -> None:
    """A stranded waiter, an error nobody looked at and an act that raises are failures."""

    async def raise_in_task() -> None:
        message = "planted in a task"
        raise ValueError(message)

    def plant(account: Account) -> None:
        if kind is FailureKind.STUCK:
            account.stage.spawn(asyncio.Event().wait(), "stranded")
        elif kind is FailureKind.UNHANDLED:
            account.stage.spawn(raise_in_task(), "careless")
        else:
            message = "planted in an act"
            raise KeyError(message)

    found = search(scenario(plant), deviations=0).failure
    assert found is not None
    assert found.kind is kind
    assert words in found.text


def test_spinning_runs_are_counted_and_leave_the_search_incomplete() -> None:
    """A budget ends such a run; it is neither a failure nor a pass."""

    async def spin(account: Account) -> None:
        while not account.seen:
            await account.stage.sleep(0)

    def start(account: Account) -> None:
        account.stage.spawn(spin(account), "spinner")

    result = search(scenario(start, ask, budget=40), deviations=2)
    assert result.failure is None
    assert result.too_long == 1
    assert result.first_too_long == ""
    assert not result.complete
    assert not result.holds
    told = replay(scenario(start, ask, budget=40), "")
    assert told is not None
    assert told.kind is FailureKind.TOO_LONG
    assert "spinner" in told.text


def test_limit_makes_a_search_incomplete() -> None:
    """A search that stops early says so; one that just fits does not."""
    whole = search(scenario(anna, bert, ask), deviations=2)
    assert search(scenario(anna, bert, ask), deviations=2, limit=whole.runs).holds
    cut = search(scenario(anna, bert, ask), deviations=2, limit=whole.runs - 1)
    assert (cut.runs, cut.complete) == (whole.runs - 1, False)


@pytest.mark.parametrize("text", ["nonsense", "1", "1:2:3", "1:a"])
def test_text_that_is_no_schedule_is_refused(text: str) -> None:
    """The error shows what a schedule looks like."""
    with pytest.raises(ValueError, match="3:1,17:2"):
        replay(OVERDRAW, text)


@pytest.mark.parametrize("text", ["0:7", "99:1"])
def test_schedule_that_does_not_fit_is_stale(text: str) -> None:
    """A replay never quietly runs another schedule than the one it names."""
    with pytest.raises(ScheduleDiverged, match="decision"):
        replay(OVERDRAW, text)


def test_chance_in_the_code_under_test_is_noticed() -> None:
    """A failure that does not repeat is reported as chance, not as a failure."""
    runs: list[int] = []

    def fails_once(_account: Account) -> None:
        runs.append(1)
        assert len(runs) != 2, "once"

    with pytest.raises(ScheduleDiverged, match="does not repeat"):
        search(scenario(anna, bert, check=fails_once), deviations=1)


def test_same_schedule_twice_gives_the_same_log() -> None:
    """Decisions, options and the order of callbacks are equal byte for byte."""
    everyone = scenario(anna, bert, ask)
    path = ((1, 1), (3, 1))
    first, second = run_schedule(everyone, path), run_schedule(everyone, path)
    assert first.log.encode() == second.log.encode()
    assert first == second
    assert run_schedule(everyone).log != first.log


def test_hash_seed_changes_nothing() -> None:
    """Two processes with different hash seeds find the same failure with the same log."""
    script = (
        "import importlib.util, sys\n"
        f"spec = importlib.util.spec_from_file_location('toy', {str(Path(__file__))!r})\n"
        "toy = sys.modules['toy'] = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(toy)\n"
        "found = toy.search(toy.OVERDRAW, deviations=2).failure\n"
        "print(found, toy.run_schedule(toy.scenario(toy.anna, toy.bert, toy.ask), ((2, 1),)).log)\n"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", script],
            check=True,
            capture_output=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert b"overdrawn" in outputs[0]
