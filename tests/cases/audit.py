"""What holds at the end of every case, whatever it was about.

The log is balanced and every call answered; each accepted message has exactly one fate; every
waiter and every disposer came back; a parked agent owns no task and no timer; and once the runtime
is closed nothing is left of any agent.
"""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from attrs import define, field

from runtime.session.records import Record, calls_of

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
    turn = step = None
    open_calls: list[str] = []
    for record in records:
        place = f"record {record.seq}, {record.type}"
        match record.type:
            case "turn/start":
                assert turn is None, f"{place}: a turn is open"
                turn = record.data["turn"]
            case "turn/end":
                assert step is None, f"{place}: a step is open"
                assert record.data["turn"] == turn, f"{place}: of another turn"
                turn = None
            case "step/start":
                assert step is None, f"{place}: a step is open"
                step = record.data["step"]
            case "step/end":
                assert record.data["step"] == step, f"{place}: of another step"
                assert open_calls == [], f"{place}: {open_calls} have no result"
                step = None
            case "assistant/message":
                open_calls += calls_of(record.data["content"])
            case "tool/result":
                assert record.data["call_id"] in open_calls, f"{place}: a second result"
                open_calls.remove(record.data["call_id"])
        if record.type not in ("turn/start", "turn/end"):
            assert record.data["turn"] == turn, f"{place}: outside of its turn"
        if record.type.startswith("assistant/"):
            assert record.data["step"] == step, f"{place}: outside of its step"
    assert turn is None, f"turn {turn} was never closed"


def _check_statuses(agent: str, world: "World") -> None:
    announced = ("idle", *world.statuses(agent))
    for move in zip(announced, announced[1:], strict=False):
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
    if world.stragglers_allowed:
        return
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
