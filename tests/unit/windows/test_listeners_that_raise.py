"""Listeners that raise, everywhere: contained one by one, logged once, and without a say."""

import pytest

from runtime import (
    AGENT_CREATED,
    AGENT_DISCARDED,
    AGENT_DISPOSED,
    AGENT_ERROR,
    AGENT_QUEUED,
    AGENT_SESSION_START,
    AGENT_STATUS,
    SESSION_CREATED,
    SESSION_EVENT,
    SESSION_FLUSH,
    Announcement,
)

from .scene import CALL, FAILS, Scene

WITH_CALL = (
    "running TS UM(A) UM(B) SS CH AM FLUSH TC TR(unknown-tool) SM(S) SE SS CH CH AM SE "
    "TE{completed} FLUSH idle W"
)

RECORDS = (
    "turn/start",
    "user/message",
    "steering/message",
    "context/message",
    "step/start",
    "assistant/chunk",
    "assistant/message",
    "tool/call",
    "tool/result",
    "step/end",
    "turn/end",
)


class UnspeakableError(Exception):
    """An exception whose text cannot be had."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.clause("B-79", "B-80", "B-81", "B-82", "B-93", "B-126", "D-02", "G-24")
@pytest.mark.parametrize("record_type", RECORDS)
def test_a_listener_that_raises_on_a_record_changes_nothing(
    record_type: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The turn has every prompt, step and result, its ending stands, and the next turn runs."""
    calls = 0

    def fail(notice: object) -> None:
        nonlocal calls
        if notice.record.type == record_type:  # type: ignore[attr-defined]
            calls += 1
            raise RuntimeError("listener")

    with Scene() as scene:
        scene.rt.on(SESSION_EVENT, fail, plugin="bad")
        scene.replies = [CALL]
        scene.at("AM", lambda: scene.a.steer("S"))
        if record_type == "context/message":
            scene.at("idle", lambda: scene.a.inject("c"))
        scene.ask("A", "B")
        scene.settle()
        if record_type == "context/message":
            scene.expect(WITH_CALL.replace("idle W", "idle TS CM(c) TE{completed} W FLUSH"))
        else:
            scene.expect(WITH_CALL)
        assert calls > 0
        assert caplog.text.count("of plugin bad failed and was contained") == calls
        scene.a.send("Z")
        scene.settle()
        assert scene.trace()[-3:] == ["TE{completed}", "FLUSH", "idle"]


@pytest.mark.clause("A-09", "A-43", "B-84", "B-93", "B-126", "F-19", "F-20", "G-24", "D-38")
@pytest.mark.parametrize(
    "announcement",
    [
        AGENT_CREATED,
        AGENT_SESSION_START,
        SESSION_CREATED,
        AGENT_STATUS,
        AGENT_QUEUED,
        AGENT_DISCARDED,
        AGENT_ERROR,
        AGENT_DISPOSED,
    ],
    ids=lambda it: it.name,
)
@pytest.mark.parametrize(
    "error", [RuntimeError("listener"), UnspeakableError(), ValueError("\ud800")]
)
def test_a_listener_that_raises_on_an_announcement_changes_nothing(
    announcement: Announcement[object], error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    """Not at a creation, a status, a message, a discard, a failure or an end."""
    later: list[object] = []

    def fail(_: object) -> None:
        raise error

    with Scene(agents=()) as scene:
        scene.rt.on(announcement, fail, plugin="bad")
        scene.rt.on(announcement, later.append)
        scene.create("a")
        scene.replies = [FAILS]
        scene.ask("A")
        scene.quiet()
        scene.a.send("B")
        scene.open("model")
        scene.a.send("C")
        scene.a.cancel("r")
        scene.settle()
        scene.dispose()
        scene.settle()
        scene.expect(
            "running TS UM(A) SS SE ERR(1) TE{error} FLUSH TS UM(B) SS abort cancelled "
            "-C{cancelled:r} SE TE{aborted:r} FLUSH idle W disposed gone END"
        )
        assert later
        assert caplog.text.count(f"listener of {announcement.name} of plugin bad") == len(later)


@pytest.mark.clause("B-126", "A-58", "B-114")
def test_an_abort_callback_that_raises_keeps_no_other_from_running(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The cancel returns, the later callback runs, and the turn ends with its reason."""

    def fail() -> None:
        raise RuntimeError("callback")

    with Scene() as scene:
        scene.at("SS", lambda: None)
        scene.ask("A")
        scene.quiet()
        scene.signals[0].on_abort(fail)
        scene.signals[0].on_abort(lambda: scene.note("second"))
        scene.a.cancel("r")
        scene.settle()
        expected = "running TS UM(A) SS abort second cancelled SE TE{aborted:r} FLUSH idle W"
        assert " ".join(scene.trace()) == expected
        assert caplog.text.count("abort callback") == 1


@pytest.mark.clause("A-58", "A-70", "A-71")
@pytest.mark.parametrize("stop", ["cancel", "dispose"])
def test_every_abort_callback_runs_before_anything_is_announced(stop: str) -> None:
    """Also when the first one makes a call of its own, whose announcements wait their turn."""

    def call() -> None:
        if stop == "cancel":
            scene.a.send("B")
        else:
            scene.a.cancel()

    with Scene() as scene:
        scene.ask("A")
        scene.quiet()
        scene.a.send("Q")
        scene.at("abort", call)
        scene.signals[0].on_abort(lambda: scene.note("second"))
        if stop == "cancel":
            scene.a.cancel("q")
        else:
            scene.handle().dispose()
        status = "cancelled" if stop == "cancel" else "disposed"
        reason = "cancelled:q" if stop == "cancel" else "disposed:disposed"
        assert scene.trace()[4:] == ["abort", "second", status, f"-Q{{{reason}}}"]
        scene.settle()


@pytest.mark.clause("B-85", "D-53", "G-25")
def test_every_flush_listener_is_run_when_one_of_them_raises_at_once() -> None:
    """The failure is one `agent/error` of step 0, and the ending stands."""

    async def fail(_: object) -> None:
        raise OSError("full")

    with Scene() as scene:
        scene.rt.on(SESSION_FLUSH, fail, plugin="bad")
        scene.ask("A")
        scene.settle()
        scene.expect("running TS UM(A) SS CH CH AM SE TE{completed} FLUSH ERR(0) idle W")
