"""What holds at the end of every case, whatever it was about.

The log is balanced and every call answered; each accepted message has exactly one fate; every
waiter and every disposer came back; a parked agent owns no task and no timer; and once the runtime
is closed nothing is left of any agent.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from attrs import define, field

from runtime.session.records import Record, calls_of
from statemachine import Inbox

if TYPE_CHECKING:
    from .world import World

__all__ = ["Ledger", "audit"]

_MESSAGE_TYPES: Final = ("user/message", "steering/message", "prompt/blocked")
_STATUS_MOVES: Final = frozenset(
    {
        ("idle", "running"),
        ("cancelled", "running"),
        ("running", "cancelled"),
        ("running", "idle"),
        ("cancelled", "idle"),
        ("idle", "disposed"),
        ("running", "disposed"),
        ("cancelled", "disposed"),
    }
)


@define
class Ledger:
    """What was announced about messages, by agent and message id."""

    accepted: list[tuple[str, str, str]] = field(factory=list)
    discarded: list[tuple[str, str, str]] = field(factory=list)

    def accept(self, agent: str, message_id: str, text: str) -> None:
        """Note an `agent/queued`."""
        self.accepted.append((agent, message_id, text))

    def discard(self, agent: str, message_id: str, text: str) -> None:
        """Note an `agent/discarded`."""
        self.discarded.append((agent, message_id, text))


def audit(world: "World") -> None:
    """Check a world in which nothing is left to do, then close it and check what is left."""
    for agent in world.agents:
        _check_balance(world.records(agent))
        _check_statuses(agent, world)
        assert world.status(agent) in ("idle", "disposed"), f"{agent} is {world.status(agent)}"
    _check_fates(world)
    _check_waits(world)
    _check_nothing_runs(world, "at rest")
    world.stage.complete(world.subject.close(), "close")
    _check_nothing_runs(world, "after the close")
    _check_gone(world)
    for agent in world.agents:
        _check_balance(world.records(agent))
    _check_fates(world)


def _check_balance(records: Sequence[Record]) -> None:
    """Follow turns, steps and calls through the log; all of them must be closed."""
    book = _Book()
    for record in records:
        book.place = f"record {record.seq}, {record.type}"
        match record.type.partition("/")[0]:
            case "turn":
                book.turn_boundary(record)
                continue
            case "step":
                book.step_boundary(record)
            case "assistant":
                book.reply(record)
            case "tool":
                book.tool(record)
        assert record.data["turn"] == book.turn, f"{book.place}: outside of its turn"
    assert book.turn is None, f"turn {book.turn} was never closed"


@define
class _Book:
    """What is open in a log."""

    turn: int | None = None
    step: int | None = None
    calls: list[str] = field(factory=list)
    place: str = ""

    def turn_boundary(self, record: Record) -> None:
        is_start = record.type == "turn/start"
        assert self.turn == (None if is_start else record.data["turn"]), self.place
        assert self.step is None, f"{self.place}: step {self.step} is open"
        self.turn = record.data["turn"] if is_start else None

    def step_boundary(self, record: Record) -> None:
        is_start = record.type == "step/start"
        assert self.step == (None if is_start else record.data["step"]), self.place
        assert self.calls == [], f"{self.place}: {self.calls} have no result"
        self.step = record.data["step"] if is_start else None

    def reply(self, record: Record) -> None:
        assert record.data["step"] == self.step, f"{self.place}: outside of its step"
        if record.type == "assistant/message":
            self.calls += calls_of(record.data["content"])

    def tool(self, record: Record) -> None:
        assert record.data["call_id"] in self.calls, f"{self.place}: nobody waits for it"
        if record.type == "tool/result":
            self.calls.remove(record.data["call_id"])


def _check_statuses(agent: str, world: "World") -> None:
    announced = ("idle", *world.statuses(agent))
    for move in pairwise(announced):
        assert move in _STATUS_MOVES, f"{agent} went from {move[0]} to {move[1]}"
    assert announced[-1] == world.status(agent), f"{agent} is {world.status(agent)}, told otherwise"


def _check_fates(world: "World") -> None:
    """Compare the announced ids with the recorded and the discarded ones."""
    recorded = [
        (agent, record.data["message_id"], record.data["content"][0]["text"])
        for agent in world.agents
        for record in world.records(agent)
        if record.type in _MESSAGE_TYPES
    ]
    fates = Counter([*recorded, *world.ledger.discarded])
    assert max(fates.values(), default=1) == 1, f"several fates: {fates}"
    assert set(fates) == set(world.ledger.accepted), (
        f"accepted {world.ledger.accepted}, but the fates are {sorted(fates)}"
    )
    for agent in world.agents:
        for turn in {record.data["turn"] for record in world.records(agent)}:
            _check_turn(agent, turn, world)
        assert world.ends.get(agent, len(world.records(agent))) == len(world.records(agent)), (
            f"{agent} recorded something after its teardown"
        )


def _check_turn(agent: str, turn: int, world: "World") -> None:
    """Messages stand in the order in which they were accepted, and no cancel lies between two."""
    messages = [
        (record.type, int(record.data["message_id"].removeprefix("m")))
        for record in world.records(agent)
        if record.data["turn"] == turn and record.type in _MESSAGE_TYPES
    ]
    prompts = [order for kind, order in messages if kind == "user/message"]
    assert prompts == sorted(prompts), f"turn {turn} of {agent} recorded {prompts}"
    epochs = {world.epochs[agent][order - 1] for _, order in messages}
    assert len(epochs) <= 1, f"turn {turn} of {agent} joins work from both sides of a cancel"


def _check_waits(world: "World") -> None:
    for task in (*world.waiters, *world.stage.spawned):
        assert task.done(), f"{task.get_name()} still waits"
        assert task.exception() is None, f"{task.get_name()}: {task.exception()!r}"
    for teardown in world.teardowns:
        assert teardown.is_done


def _check_nothing_runs(world: "World", when: str) -> None:
    assert world.stage.pending == (), f"{when} there runs {world.stage.pending}"
    assert world.stage.loop.next_timer() is None, f"{when} there is a timer"


def _check_gone(world: "World") -> None:
    runtime = world.subject.runtime
    assert runtime.agents.list() == ()
    assert runtime.inspect().agents == ()
    for agent in world.agents:
        seen = world.subject.observe(agent)
        assert seen.status == "disposed", f"{agent} is {seen.status} after the close"
        assert seen.statuses[-1] == "disposed", f"nobody heard of the end of {agent}"
        assert not seen.registered, f"{agent} is still registered"
        assert not seen.in_store, f"the session of {agent} is still live"
        core = world.core(agent)
        assert core.log.on_append is None, f"somebody still listens to the log of {agent}"
        assert (core.driver, core.waiters, core.owed, core.stragglers) == (None, {}, set(), {})
        assert core.shape.inbox is core.queues.holding is Inbox.EMPTY
