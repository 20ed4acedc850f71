"""Bad calls: each is refused with a clear error, changes nothing, and says what to do."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from runtime import (
    AGENT_STATUS,
    AgentDisposedError,
    CallerError,
    InvalidContentError,
    LimitError,
    Limits,
    Status,
)
from tests.unit.windows.scene import Scene

VERBS = ("send", "steer", "inject")


class Text(str):
    """A subclass, which could carry what JSON cannot."""

    __slots__ = ()


CYCLE: list[Any] = []
CYCLE.append({"type": "x", "more": CYCLE})

UNFIT: dict[str, object] = {
    "nothing": None,
    "a number": 7,
    "a mapping": {"type": "text", "text": "A"},
    "a block without a type": [{"text": "A"}],
    "a text block without text": [{"type": "text"}],
    "bytes": b"A",
    "a tuple": ({"type": "text", "text": "A"},),
    "a subclass of str": Text("A"),
    "a set in a block": [{"type": "x", "of": {1}}],
    "a date": [{"type": "x", "at": datetime(2026, 1, 1, tzinfo=UTC)}],
    "a function": [{"type": "x", "call": print}],
    "not a number": [{"type": "x", "n": float("nan")}],
    "an infinity": [{"type": "x", "n": float("-inf")}],
    "an integer too large": [{"type": "x", "n": 2**53}],
    "a key that is no string": [{"type": "x", 1: 2}],
    "a lone surrogate": "\ud800",
    "a cycle": CYCLE,
    "no block": [],
    "an empty text": "",
    "one block with an empty text": [{"type": "text", "text": ""}],
}


def refused(scene: Scene, call: Callable[[], object], error: type[Exception]) -> str:
    """Return the message of the refusal, which must change nothing and announce nothing."""
    before = scene.rt.inspect(), scene.trace(), len(scene.queued)
    with pytest.raises(error) as raised:
        call()
    assert (scene.rt.inspect(), scene.trace(), len(scene.queued)) == before
    return str(raised.value)


@pytest.mark.clause("A-08", "A-61", "D-05", "D-07", "D-09")
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("content", UNFIT.values(), ids=UNFIT)
def test_content_that_cannot_be_logged_is_refused_at_the_call(verb: str, content: object) -> None:
    """The inbox stays as it was, the message names the content, and the next prompt runs."""
    with Scene() as scene:
        error = LimitError if content is CYCLE else InvalidContentError
        said = refused(scene, lambda: getattr(scene.a, verb)(content), (error, InvalidContentError))  # type: ignore[arg-type]  # a tuple of classes
        assert "content" in said
        scene.a.send("A")
        scene.settle()
        scene.expect("running [A] idle")


@pytest.mark.clause("A-08", "A-18")
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "source", [7, "user", [], {}, {"name": "x"}, {"kind": 7}, {"kind": "x", "n": {1}}]
)
def test_a_source_that_cannot_be_logged_is_refused(verb: str, source: object) -> None:
    """A source is an object with a `kind`; nothing is queued, recorded or flushed."""
    with Scene() as scene:
        said = refused(
            scene, lambda: getattr(scene.a, verb)("A", source=source), InvalidContentError
        )
        assert "source" in said
        scene.settle()
        scene.expect("")


@pytest.mark.clause("A-61")
def test_blank_text_is_accepted() -> None:
    """Blanks are for the caller to judge."""
    with Scene() as scene:
        scene.a.send(" ")
        scene.settle()
        assert scene.records()[1].data["content"][0]["text"] == " "


@pytest.mark.clause("A-63", "D-52", "F-44", "A-78")
@pytest.mark.parametrize("verb", VERBS)
def test_oversized_content_is_refused_by_the_name_of_the_limit(verb: str) -> None:
    """Too many bytes and too deep: the error names the field of `Limits`."""
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    with Scene(limits=Limits(record_bytes_max=1_000, nesting_levels_max=20)) as scene:
        said = refused(scene, lambda: getattr(scene.a, verb)("x" * 1_001), LimitError)
        assert "record_bytes_max" in said
        content = [{"type": "x", "of": deep}]
        said = refused(scene, lambda: getattr(scene.a, verb)(content), LimitError)
        assert "nesting_levels_max" in said


@pytest.mark.clause("A-81", "A-54", "B-93", "D-52")
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("status", ["idle", "running"])
def test_content_and_source_that_fit_alone_and_not_together(verb: str, status: str) -> None:
    """They are refused at the call, nothing has changed, and the agent goes on."""
    with Scene(limits=Limits(record_bytes_max=400)) as scene:
        if status == "running":
            scene.a.send("A")
            scene.quiet()
        said = refused(
            scene,
            lambda: getattr(scene.a, verb)("c" * 300, source={"kind": "k" * 300}),
            LimitError,
        )
        assert "record_bytes_max" in said
        scene.settle()
        assert scene.a.status is Status.IDLE
        scene.a.send("Z")
        scene.settle()
        assert scene.trace()[-1] == "idle"
        assert "UM(Z)" in scene.trace()


@pytest.mark.clause("A-63", "F-44", "A-78")
@pytest.mark.parametrize("verb", ["send", "steer"])
@pytest.mark.parametrize("running", [False, True])
def test_a_full_inbox_refuses_one_more(verb: str, *, running: bool) -> None:
    """The limit counts queued and steering together; a cancel makes room."""
    with Scene(limits=Limits(inbox_messages_max=2)) as scene:
        if running:
            scene.a.send("A")
            scene.quiet()
        scene.a.send("B")
        scene.a.steer("S")
        said = refused(scene, lambda: getattr(scene.a, verb)("C"), LimitError)
        assert "inbox_messages_max" in said
        assert "'a'" in said
        assert str(scene.a.status) in said
        scene.a.cancel()
        scene.a.send("D")
        scene.settle()
        assert "UM(D)" in scene.trace()


@pytest.mark.clause("A-59", "A-78")
@pytest.mark.parametrize("reason", [7, b"stop", False, ["stop"], Text("stop"), KeyError("stop")])
def test_a_reason_that_is_no_string_is_refused_and_changes_nothing(reason: object) -> None:
    """The turn runs on, nothing is discarded, and the message names the class."""
    with Scene() as scene:
        scene.ask("A")
        scene.quiet()
        scene.a.send("B")
        said = refused(scene, lambda: scene.a.cancel(reason), CallerError)  # type: ignore[arg-type]
        assert "reason" in said
        assert type(reason).__name__ in said
        scene.settle()
        scene.expect("running [A] [B] idle W")


@pytest.mark.clause("A-59", "B-36")
@pytest.mark.parametrize("reason", ["\ud800", "r" * 2_000], ids=["a surrogate", "too long"])
def test_a_reason_that_could_not_be_logged_is_refused_or_kept(reason: str) -> None:
    """Half a surrogate pair, or too much text, must not break the turn that would record it."""
    with Scene(limits=Limits(record_bytes_max=1_000)) as scene:
        scene.ask("A")
        scene.quiet()
        try:
            scene.a.cancel(reason)
        except CallerError:
            scene.a.cancel("r")
        scene.settle()
        assert scene.a.status is Status.IDLE
        assert scene.records()[-1].data["ending"] == "aborted"


@pytest.mark.clause("A-20", "A-78")
@pytest.mark.parametrize("verb", VERBS)
def test_a_disposed_agent_names_itself_its_status_and_the_way_out(verb: str) -> None:
    """While it unwinds as well as after its end; a cancel is silent."""
    with Scene() as scene:
        scene.ask("A")
        scene.quiet()
        scene.dispose()
        for _ in range(2):
            said = refused(scene, lambda: getattr(scene.a, verb)("B"), AgentDisposedError)
            assert f"{verb} refused: agent 'a' is disposed" in said
            assert "create" in said
            scene.a.cancel()
            scene.settle()


@pytest.mark.clause("A-60", "A-78")
@pytest.mark.parametrize(
    "call",
    [
        lambda scene: scene.a.send("B"),
        lambda scene: scene.a.steer("B"),
        lambda scene: scene.a.inject("B"),
        lambda scene: scene.a.cancel("r"),
        lambda scene: scene.a.when_idle().send(None),
        lambda scene: scene.handle().dispose(),
        lambda scene: scene.rt.aclose(),
        lambda scene: scene.rt.agents.create(agent_id="b"),
        lambda scene: scene.rt.on(AGENT_STATUS, print),
    ],
    ids=["send", "steer", "inject", "cancel", "when_idle", "dispose", "aclose", "create", "on"],
)
def test_a_call_from_another_thread_is_refused(call: Callable[[Scene], object]) -> None:
    """It changes nothing, and the error names `call_soon_threadsafe`."""
    raised: list[Exception] = []

    def elsewhere() -> None:
        try:
            call(scene)
        except CallerError as error:
            raised.append(error)

    with Scene() as scene:
        scene.ask("A")
        scene.quiet()
        before = scene.rt.inspect(), scene.trace()
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        assert [type(each) for each in raised] == [CallerError]
        assert "call_soon_threadsafe" in str(raised[0])
        assert (scene.rt.inspect(), scene.trace()) == before
        scene.settle()
        scene.expect("running [A] idle W")
