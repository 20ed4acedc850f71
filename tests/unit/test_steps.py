"""What a step asks its model, and what it keeps of the answer."""

import pytest

from runtime import (
    SESSION_CREATED,
    AgentOptions,
    CallerError,
    Teardown,
    TeardownReport,
    TextDelta,
)
from runtime.model import Usage
from tests.unit.windows.scene import CALL, EITHER_TASK, Scene


@pytest.mark.clause("A-45")
def test_every_request_begins_with_the_system_prompt() -> None:
    """The agent's own, in each step; nothing where it has none."""
    with Scene(options=AgentOptions(system_prompt="be brief")) as scene:
        scene.replies.append(CALL)
        scene.ask("A")
        scene.settle()
        scene.create("b")
        scene.ask("B", agent="b")
        scene.settle()
        asked = [(each.agent_id, each.step, each.system) for each in scene.requests]
        assert asked == [("a", 1, "be brief"), ("a", 2, "be brief"), ("b", 1, "")]


@pytest.mark.clause("B-59", "B-60")
def test_a_reply_names_the_chunks_of_its_own_step() -> None:
    """Not those of the step before, and each of its own."""
    with Scene() as scene:
        scene.replies.append(CALL)
        scene.ask("A")
        scene.settle()
        chunks: dict[int, list[int]] = {1: [], 2: []}
        for each in scene.records():
            if each.type == "assistant/chunk":
                chunks[each.data["step"]].append(each.seq)
        replies = [each for each in scene.records() if each.type == "assistant/message"]
        assert {each.data["step"]: list(each.sources or ()) for each in replies} == chunks


@pytest.mark.clause("B-59", "B-60")
def test_a_reply_keeps_what_it_cost() -> None:
    """Usage is recorded with the message that it belongs to, and with no other."""
    with Scene() as scene:
        scene.replies.append((TextDelta("1"), Usage({"input_tokens": 3, "output_tokens": 4})))
        scene.ask("A")
        scene.settle()
        scene.ask("B")
        scene.settle()
        first, second = (each for each in scene.records() if each.type == "assistant/message")
        assert first.data["usage"] == {"input_tokens": 3, "output_tokens": 4}
        assert "usage" not in second.data


class Endless:
    """A model whose iterator is no generator and never waits."""

    cooperative = True

    def __init__(self) -> None:
        self.closed = 0

    def stream(self, *_: object) -> "Endless":
        """Answer for ever."""
        return self

    def __aiter__(self) -> "Endless":
        """Be the iterator."""
        return self

    async def __anext__(self) -> TextDelta:
        """Say something."""
        return TextDelta("x")

    async def aclose(self) -> None:
        """Note that somebody cleaned up."""
        self.closed += 1


@pytest.mark.clause("B-17", "B-18")
@EITHER_TASK
def test_an_iterator_is_closed_when_its_turn_was_stopped_between_two_chunks(
    *, cooperative: bool
) -> None:
    """It has clean-up to do, and nobody asks it for another chunk."""
    model = Endless()
    model.cooperative = cooperative
    with Scene(model=model) as scene:
        scene.at("CH", lambda: scene.a.cancel("r"))
        scene.ask("A")
        scene.settle()
        assert scene.trace().count("CH") == 1
        assert model.closed == 1


@pytest.mark.clause("F-43", "A-48")
def test_a_listener_that_closes_the_runtime_keeps_an_agent_from_being_made() -> None:
    """The creation is refused, and neither an agent nor a session is left."""
    with Scene() as scene:
        scene.rt.on(SESSION_CREATED, lambda _: scene.rt.aclose())
        with pytest.raises(CallerError, match="closed the runtime"):
            scene.create("b")
        scene.settle()
        assert scene.rt.agents.list() == ()
        assert scene.rt.sessions.get("b") is None


@pytest.mark.clause("A-67", "A-19")
def test_a_teardown_waits_for_an_owed_flush_and_asks_for_no_other() -> None:
    """The injection was promised to be durable, and the end waits for that."""
    with Scene() as scene:
        scene.hold()
        scene.a.inject("c")
        scene.quiet()
        teardown = scene.dispose()
        for _ in range(20):
            scene.stage.loop.step()
        assert "gone" not in scene.trace()
        scene.open("flush")
        scene.settle()
        assert scene.trace()[-4:] == ["disposed", "FLUSH", "gone", "END"]
        assert scene.stage.complete(_report(teardown)).stragglers == ()


async def _report(teardown: Teardown) -> TeardownReport:
    return await teardown
