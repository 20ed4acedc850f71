"""Sessions that are kept: what is written when, and what a flush promises."""

from contextlib import suppress

import pytest

import runtime
from runtime import (
    PERSISTENCE,
    SESSION_CREATED,
    SESSION_FLUSH,
    Context,
    MemoryBackend,
    SessionBusyError,
    SessionNotice,
)
from runtime.persistence import Persistence, persistence_plugin
from tests.unit.stored import Disk, StoredScene, causes, errors_of
from tests.unit.windows.scene import call


@pytest.mark.clause("E-02")
def test_a_session_in_which_nothing_happened_is_not_stored() -> None:
    """Neither while it lives nor when it ends, and nobody holds its lease."""
    with StoredScene() as scene:
        scene.settle()
        assert scene.backend.headers() == ()
        assert scene.backend.disk.writers == {}
        scene.dispose()
        scene.settle()
        assert scene.backend.headers() == ()


@pytest.mark.clause("E-03", "E-11", "E-12", "E-46")
def test_after_a_turn_everything_is_stored_as_it_is() -> None:
    """Chunks included, and the header as it was made."""
    with StoredScene() as scene:
        scene.ask("A", "B")
        scene.settle()
        assert scene.stored() == scene.records()
        assert "assistant/chunk" in [each.type for each in scene.stored()]
        stored = scene.backend.read("a")
        assert stored.header == scene.a.session.header


@pytest.mark.clause("E-12", "E-46")
def test_an_append_waits_for_no_disk_and_a_flush_does() -> None:
    """The turn runs to its end while nothing can be written, and then waits."""
    with StoredScene() as scene:
        scene.hold("disk")
        scene.ask("A")
        scene.quiet()
        scene.open("model")
        assert scene.records()[-1].type == "turn/end"
        assert scene.stored() == []
        assert scene.trace()[-1] == "FLUSH"  # the other listener; the driver waits for this one
        assert scene.a.status == "running"
        scene.release()
        scene.settle()
        assert scene.trace()[-2:] == ["idle", "W"]
        assert scene.stored() == scene.records()


@pytest.mark.clause("E-47")
def test_between_flushes_what_is_appended_is_written_all_the_same() -> None:
    """A crash in the middle of a turn loses nothing that happened before the last write."""
    with StoredScene() as scene:
        scene.ask("A")
        scene.quiet()  # the model thinks
        assert [each.type for each in scene.stored()] == [
            "turn/start",
            "user/message",
            "step/start",
        ]


@pytest.mark.clause("E-47")
def test_what_came_during_a_write_is_not_left_lying_until_a_flush() -> None:
    """It is written next, while the turn goes on."""
    with StoredScene() as scene:
        scene.hold("disk")
        scene.ask("A")
        scene.quiet()
        scene.a.inject("c")
        scene.release()
        assert scene.records()[-1].type == "context/message"
        assert scene.stored() == scene.records()
        assert "FLUSH" not in scene.trace()


@pytest.mark.clause("E-47")
def test_what_is_appended_during_a_write_is_written_together() -> None:
    """One write is under way at most, and the next takes all that has come."""
    with StoredScene() as scene:
        scene.hold("disk")
        scene.disk.calls.clear()
        scene.a.inject("1")
        scene.quiet()
        for text in ("2", "3", "4"):
            scene.a.inject(text)
        scene.quiet()
        assert scene.disk.calls == ["begin"]
        scene.open("disk")
        assert [each.data["turn"] for each in scene.stored()] == [1, 1, 1]
        scene.open("disk")
        assert scene.stored() == scene.records()
        assert len(scene.stored()) == 12
        scene.quiet()
        assert scene.disk.calls == ["begin", "write"]


@pytest.mark.clause("E-47")
def test_a_write_that_had_to_wait_for_another_session_takes_what_came_meanwhile() -> None:
    """What counts is when it begins, and not when it was asked for."""
    with StoredScene(agents=("a", "b")) as scene:
        scene.hold("disk")
        scene.disk.calls.clear()
        scene.a.inject("1")
        scene.quiet()
        for text in ("2", "3"):
            scene.agent("b").inject(text)
            scene.quiet()
        scene.release()
        scene.quiet()
        assert scene.stored("b") == scene.records("b")
        assert scene.disk.calls == ["begin", "begin"]


@pytest.mark.clause("E-47", "E-46")
def test_a_crash_loses_at_most_what_a_write_was_under_way_for() -> None:
    """Looked at after every callback: whenever no write is under way, nothing waits for one."""
    with StoredScene() as scene:
        scene.hold("disk")
        scene.ask("A")
        scene.a.send("B")
        while scene.stage.move():
            stored, logged = scene.stored(), scene.records()
            assert stored == logged[: len(stored)]
            if scene.stage.idle and "disk" not in [g.name for g in scene.stage.gates.open_gates]:
                assert stored == logged
        assert len(scene.stored()) == len(scene.records()) > 8


@pytest.mark.clause("E-14")
def test_concurrent_flushes_write_once() -> None:
    """They join the write that is under way, or share the next."""
    with StoredScene() as scene:
        scene.hold("disk")
        scene.a.inject("1")
        scene.quiet()
        notice = SessionNotice(session=scene.a.session)
        flushes = [scene.start(scene.rt.context.parallel(SESSION_FLUSH, notice)) for _ in range(3)]
        scene.a.inject("2")
        scene.quiet()
        scene.release()
        scene.settle()
        assert all(each.done() for each in flushes)
        assert scene.stored() == scene.records()
        assert scene.disk.calls == ["open", "begin", "write"]


@pytest.mark.clause("E-10")
def test_the_disk_does_one_thing_at_a_time_and_a_failure_holds_up_nothing() -> None:
    """The port itself complains of two calls at a time."""
    with StoredScene(agents=("a", "b")) as scene:
        told = errors_of(scene)
        scene.hold("disk")
        for agent in ("a", "b"):
            scene.agent(agent).inject("1")
        scene.quiet()
        reading = scene.start(scene.rt.context.need(PERSISTENCE).read("a"))
        scene.open("disk", "error")
        scene.release()
        scene.settle()
        assert told == []
        # The read stood between the write that failed and the one that was tried again.
        assert isinstance(reading.exception(), runtime.UnknownIdError)
        assert scene.stored("a") == scene.records("a")
        assert scene.stored("b") == scene.records("b")


@pytest.mark.clause("E-12", "B-138")
def test_no_call_is_taken_up_before_the_message_that_makes_it_is_stored() -> None:
    """What a tool does must not outrun the log."""
    stored: list[str] = []
    with StoredScene() as scene:
        scene.replies = [(call(1),)]
        scene.at("TC", lambda: stored.extend(each.type for each in scene.stored()))
        scene.ask("A")
        scene.quiet()
        scene.hold("disk")
        scene.open("model")
        assert scene.records()[-1].type == "assistant/message"
        scene.release()
        scene.settle()
        assert stored[-1] == "assistant/message"


@pytest.mark.clause("E-12", "B-138")
def test_a_message_that_cannot_be_stored_has_its_calls_closed() -> None:
    """They were never taken up; the turn fails, and the next flush stores all of it."""
    with StoredScene() as scene:
        scene.replies = [(call(1),)]
        scene.ask("A")
        scene.quiet()
        scene.hold("disk")
        scene.open("model")
        scene.open("disk", "error")
        scene.open("disk", "error")
        scene.release()
        scene.settle()
        types = [each.type for each in scene.records()]
        assert "tool/call" not in types
        assert scene.records()[types.index("tool/result")].data["execution"] == "not-started"
        assert scene.records()[-1].data["ending"] == "error"
        assert scene.stored() == scene.records()


@pytest.mark.clause("E-13", "D-53")
@pytest.mark.parametrize("outcome", ["error", "late"])
def test_a_write_that_failed_is_made_good_at_the_next_flush(outcome: str) -> None:
    """Nothing is lost and nothing is written twice, whether it had got through or not."""
    with StoredScene() as scene:
        told = errors_of(scene)
        scene.hold("disk")
        scene.ask("A")
        scene.quiet()
        scene.open("model")
        scene.open("disk", outcome)  # in the background: the flush tries again
        scene.open("disk", outcome)
        assert [str(each) for each in causes(told[0])] != []
        assert len(told) == 1
        assert scene.a.status == "idle"
        scene.release()
        scene.ask("B")
        scene.settle()
        assert len(told) == 1
        assert scene.stored() == scene.records()
        assert len(scene.records()) == 16


@pytest.mark.clause("E-13", "E-48")
def test_after_a_failure_nobody_tries_again_before_the_next_flush() -> None:
    """A disk that is full is not asked again for every record."""
    with StoredScene() as scene:
        scene.hold("disk")
        scene.ask("A")
        scene.quiet()
        scene.open("disk", "error")
        scene.a.inject("c")
        scene.quiet()
        assert scene.disk.calls == ["open", "begin"]
        scene.open("model")
        assert scene.disk.calls == ["open", "begin", "catch_up"]
        scene.release()
        scene.settle()
        assert scene.disk.calls == ["open", "begin", "catch_up"]
        assert scene.stored() == scene.records()


@pytest.mark.clause("E-37", "G-25")
def test_another_listener_of_the_flush_that_fails_takes_nothing_from_the_disk() -> None:
    """All of them are run, and the failure is told."""

    async def fail(_: SessionNotice) -> None:
        raise RuntimeError("no")

    with StoredScene() as scene:
        told = errors_of(scene)
        scene.rt.context.on(SESSION_FLUSH, fail, prepend=True)
        scene.ask("A")
        scene.settle()
        assert [str(each) for each in causes(told[0])] == ["no"]
        assert scene.stored() == scene.records()


@pytest.mark.clause("E-32", "E-44")
def test_two_runtimes_do_not_write_one_session() -> None:
    """The second one is told who does, at its flush, and writes nothing."""
    with StoredScene() as scene:
        scene.ask("A")
        scene.settle()
        before = scene.stored()
        other = MemoryBackend(scene.backend.disk, "the other one")
        context = Context.root()
        context.plugin(
            persistence_plugin(Persistence(other, Disk(scene.stage), 1.0), scene.rt.sessions.list)
        )
        scene.quiet()
        notice = SessionNotice(session=scene.a.session)
        flush = scene.start(context.parallel(SESSION_FLUSH, notice))
        error = flush.exception()
        assert isinstance(error, ExceptionGroup)
        (refusal,) = error.exceptions
        assert isinstance(refusal, SessionBusyError)
        assert "a runtime on memory writes it" in str(refusal)
        scene.wait_for(context.fiber.dispose())
        assert scene.stored() == before
        scene.ask("B")
        scene.settle()
        assert scene.stored() == scene.records()


@pytest.mark.clause("E-01")
def test_there_is_one_keeper_and_a_second_one_writes_nothing() -> None:
    """The error names the first; the place of the second is not even opened."""
    with StoredScene() as scene:
        scene.ask("A")
        scene.settle()
        second = MemoryBackend()
        disk = Disk(scene.stage)
        fiber = scene.rt.context.plugin(
            persistence_plugin(Persistence(second, disk, 1.0), scene.rt.sessions.list)
        )
        scene.quiet()
        assert fiber.state == "failed"
        assert "plugin persistence provides it" in str(fiber.error)
        assert disk.calls == []
        assert second.headers() == ()
        scene.ask("B")
        scene.settle()
        assert scene.stored() == scene.records()


@pytest.mark.clause("E-34", "D-38")
def test_a_creation_that_is_refused_leaves_no_writer() -> None:
    """A listener that closes the runtime in the middle of it takes the session along."""
    with StoredScene(agents=()) as scene:
        scene.rt.on(SESSION_CREATED, lambda _: scene.rt.driver.dispose())
        with suppress(runtime.CallerError):
            scene.rt.agents.create(agent_id="a")
        scene.settle()
        assert scene.backend.disk.writers == {}


@pytest.mark.clause("E-45", "E-16")
def test_reading_and_listing_write_nothing() -> None:
    """Not even to a session that a crash has left open, or that is live."""
    with StoredScene() as scene:
        scene.ask("A")
        scene.quiet()
        kept = scene.rt.context.need(PERSISTENCE)
        before = scene.stored()
        stored = scene.wait_for(kept.read("a"))
        assert list(stored.records) == before
        listed = scene.wait_for(kept.headers())
        assert [each.header for each in listed] == [scene.a.session.header]
        with pytest.raises(runtime.UnknownIdError, match="nobody"):
            scene.wait_for(kept.read("nobody"))
        assert scene.stored()[: len(before)] == before
