"""The plugin that keeps sessions: how it ends, how it comes back, and what agents leave it."""

from collections.abc import Callable
from typing import Any, Final

import attrs
import pytest

from runtime import (
    PERSISTENCE,
    CallerError,
    Context,
    DuplicateIdError,
    Limits,
    MemoryBackend,
    Plugin,
    Record,
    StorageError,
    TeardownReport,
)
from tests.unit.stored import (
    ENDS,
    StoredScene,
    causes,
    errors_of,
    keeper,
    owned_by_a_plugin,
    store_of,
)

CLOSING: Final = ["step/end", "turn/end"]


def ended(end: str, *, is_slow: bool) -> list[Record]:
    """End an agent in the middle of a turn, and return what is stored of it."""
    with StoredScene(agents=()) as scene:
        owner = owned_by_a_plugin(scene)
        scene.ask("A")
        scene.quiet()
        if is_slow:
            scene.hold("disk")
        ending = scene.start(ENDS[end](scene, owner))
        scene.release()
        scene.settle()
        report = ending.result()
        assert (report.failed, report.stragglers) == ((), ())
        assert scene.stored() == scene.records()
        assert scene.backend.disk.writers == {}
        return scene.stored()


@pytest.mark.clause("E-38", "E-39", "E-40", "F-15", "F-16")
@pytest.mark.seed("SEED-41", "SEED-42")
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("is_slow", [False, True])
def test_whoever_ends_an_agent_its_closing_records_are_stored(end: str, is_slow: bool) -> None:  # noqa: FBT001  # a parametrised flag
    """The same records, whichever level it is, also when the disk is slow."""
    records = ended(end, is_slow=is_slow)
    assert [each.type for each in records][-2:] == CLOSING
    assert records[-1].data["ending"] == "disposed"
    assert records == ended("handle", is_slow=False)


@pytest.mark.clause("E-33", "E-49")
def test_when_a_dispose_resolves_the_session_can_be_written_by_others() -> None:
    """And not before: the lease ends after the session has left the store."""
    with StoredScene() as scene:
        scene.ask("A")
        scene.settle()
        scene.hold("disk")
        ending = scene.start(scene.handle().dispose())
        assert scene.rt.sessions.get("a") is None
        assert not ending.done()
        assert "a" in scene.backend.disk.writers
        scene.release()
        assert ending.done()
        assert scene.backend.disk.writers == {}


@pytest.mark.clause("E-49", "F-34")
def test_a_dispose_does_not_wait_for_ever_for_a_disk() -> None:
    """What is not stored is in the report, and so is who still waits."""
    with StoredScene(limits=Limits(abort_grace_s=0.5)) as scene:
        scene.hold("disk")
        scene.ask("A")
        scene.quiet()
        ending = scene.handle().dispose()
        scene.let_time_pass(9)
        assert ending.is_done
        report = scene.start(ending).result()
        assert "release of session a" in report.stragglers
        scene.release()
        scene.settle()
        assert scene.stored() == scene.records()


@pytest.mark.clause("E-36")
def test_the_keeper_writes_everything_before_it_goes() -> None:
    """Also what nobody has flushed, and then it closes its place."""
    with StoredScene(agents=("a", "b")) as scene:
        scene.hold("disk")
        scene.a.inject("1")
        scene.agent("b").inject("2")
        ending = scene.start(keeper(scene).dispose())
        scene.release()
        scene.settle()
        assert ending.result() == TeardownReport()
        assert scene.stored("a") == scene.records("a")
        assert scene.stored("b") == scene.records("b")
        assert scene.disk.calls[-1] == "close"
        assert scene.backend.disk.writers == {}


class _ClosesBadly(MemoryBackend):
    def close(self) -> None:
        super().close()
        raise StorageError("it would not close")


@pytest.mark.clause("E-36")
def test_what_the_keeper_could_not_write_and_close_is_all_reported() -> None:
    """Neither error hides the other, and both sessions are tried."""
    with StoredScene(_ClosesBadly(), agents=("a", "b")) as scene:
        scene.hold("disk")
        scene.a.inject("1")
        scene.agent("b").inject("2")
        scene.quiet()
        ending = scene.start(keeper(scene).dispose())
        while scene.disk.calls[-1] != "close":
            scene.open("disk", "ok" if scene.disk.calls[-1] == "release" else "error")
        scene.release()
        scene.settle()
        failed = [str(each.error) for each in ending.result().failed]
        assert failed == ["the disk is full", "the disk is full", "it would not close"]


@pytest.mark.clause("E-41")
def test_without_its_keeper_a_session_goes_on_in_memory() -> None:
    """No error; what was stored stays where it was, to be repaired by the next load."""
    with StoredScene() as scene:
        scene.ask("A")
        scene.quiet()
        scene.wait_for(keeper(scene).dispose())
        before = scene.stored()
        assert before[-1].type == "step/start"
        scene.settle()
        scene.wait_for(scene.handle().dispose())
        assert scene.records()[-1].type == "turn/end"
        assert scene.stored() == before


@pytest.mark.clause("E-30")
def test_a_reloaded_keeper_takes_the_live_session_on_in_the_middle_of_a_turn() -> None:
    """What is missing is written; the open turn is not closed, but goes on."""
    with StoredScene() as scene:
        scene.ask("A")
        scene.quiet()
        scene.wait_for(keeper(scene).restart())
        assert [each.type for each in scene.stored()][-1] == "step/start"
        scene.a.inject("while it is back")
        scene.settle()
        assert scene.stored() == scene.records()
        assert [each.data.get("ending") for each in scene.stored()][-1] == "completed"
        assert scene.disk.calls.count("begin") == 1


@pytest.mark.clause("E-30")
def test_what_happened_while_there_was_no_keeper_is_written_by_the_next() -> None:
    """A session of that time, too."""
    with StoredScene() as scene:
        scene.ask("A")
        scene.settle()
        scene.hold("disk")
        restart = scene.start(keeper(scene).restart())
        scene.a.inject("in between")
        scene.create("b")
        scene.agent("b").inject("new")
        scene.release()
        scene.settle()
        assert restart.done()
        assert scene.stored("a") == scene.records("a")
        assert scene.stored("b") == scene.records("b")


@pytest.mark.clause("E-31")
@pytest.mark.parametrize("change", ["data", "cwd", "more"])
def test_a_session_that_only_looks_alike_is_not_taken_on(change: str) -> None:
    """The comparison is of whole records and of the whole header; the stored one is untouched."""
    with StoredScene() as scene:
        scene.ask("A")
        scene.settle()
        disk = scene.backend.disk
        scene.hold("disk")
        restart = scene.start(keeper(scene).restart())
        scene.open("disk")
        if change == "data":
            record = disk.records["a"][1]
            data = type(record.data)({**record.data, "message_id": "m7"})
            disk.records["a"][1] = attrs.evolve(record, data=data)
        elif change == "cwd":
            disk.headers["a"] = attrs.evolve(disk.headers["a"], cwd="/elsewhere")
        else:
            disk.records["a"].append(attrs.evolve(disk.records["a"][0], seq=8))
        before, header = scene.stored(), disk.headers["a"]
        scene.release()
        scene.settle()
        assert restart.done()
        told = errors_of(scene)
        scene.ask("B")
        scene.settle()
        assert [type(each) for each in causes(told[0])] == [DuplicateIdError]
        assert (scene.stored(), disk.headers["a"]) == (before, header)


@pytest.mark.clause("E-36")
def test_what_depends_on_the_keeper_unloads_before_it_drains() -> None:
    """So a plugin can still read and write with it while it says good-bye."""
    read: list[int] = []

    def apply(context: Context, _: None) -> Callable[[], Any]:
        async def leave() -> None:
            await scene.stage.gate("good-bye", ("ok",))
            stored = await context.need(PERSISTENCE).read("a")
            read.append(len(stored.records))

        return leave

    with StoredScene() as scene:
        scene.ask("A")
        scene.settle()
        scene.rt.context.plugin(Plugin(name="reader", apply=apply, inject=(PERSISTENCE,)))
        scene.quiet()
        ending = scene.start(keeper(scene).dispose())
        assert scene.disk.calls[-1] == "write"
        scene.open("good-bye")
        assert ending.done()
        assert scene.disk.calls[-3:] == ["read", "finish", "close"]
        assert read == [8]


@pytest.mark.clause("E-36", "F-34")
def test_the_keeper_does_not_wait_for_ever_for_its_place() -> None:
    """What it could not do is in its report, and is done when the place answers."""
    with StoredScene(limits=Limits(abort_grace_s=0.5)) as scene:
        scene.ask("A")
        scene.settle()
        scene.hold("disk")
        ending = scene.start(keeper(scene).dispose())
        scene.let_time_pass(2)
        assert ending.done()
        assert ending.result().stragglers == ("release of session a", "close of memory")
        scene.release()
        assert scene.backend.disk.writers == {}


@pytest.mark.clause("E-36", "E-49")
def test_nothing_is_written_behind_the_last_write() -> None:
    """Also where a write was under way when the end began, and more had come."""
    with StoredScene() as scene:
        scene.hold("disk")
        scene.a.inject("1")
        scene.quiet()
        scene.a.inject("2")
        ending = scene.start(keeper(scene).dispose())
        scene.release()
        assert ending.done()
        assert scene.disk.calls == ["open", "begin", "finish", "close"]
        assert scene.stored() == scene.records()


@pytest.mark.clause("F-52")
def test_what_was_given_up_cannot_be_kept_any_more() -> None:
    """Who loads a session hands it over or gives it up, and never both."""
    with StoredScene(store_of("A"), agents=()) as scene:
        kept = scene.rt.context.need(PERSISTENCE)
        loading = kept.load("a", scene.rt.sessions.rebuild)
        log = scene.wait_for(loading)
        loading.give_up(CallerError("it is not wanted"))
        with pytest.raises(CallerError, match="not wanted"):
            kept.keep(loading, log)
        scene.settle()
        assert scene.backend.disk.writers == {}
