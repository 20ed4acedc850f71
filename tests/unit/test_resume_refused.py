"""What cannot be resumed: each with an error of its own, and nothing is left behind."""

from collections.abc import Awaitable, Callable
from threading import Thread
from typing import Any, Final

import attrs
import pytest

from runtime import (
    AGENTS,
    AgentHandle,
    AppContext,
    CallerError,
    DamagedSessionError,
    DuplicateIdError,
    LimitError,
    Limits,
    MemoryBackend,
    Plugin,
    Record,
    SessionBusyError,
    UnknownIdError,
)
from tests.unit.stored import StoredScene, nothing_is_left, store_of


@pytest.mark.clause("F-09", "E-16", "F-51")
def test_a_session_that_is_not_stored_is_refused() -> None:
    """By name; nothing is registered, and the ids are free."""
    with StoredScene(agents=()) as scene:
        with pytest.raises(UnknownIdError, match="'a'"):
            scene.resume()
        nothing_is_left(scene)


@pytest.mark.clause("F-10")
def test_a_runtime_without_a_store_resumes_nothing() -> None:
    """And says what to do."""
    with StoredScene(agents=(), is_kept=False) as scene:
        with pytest.raises(CallerError, match="open the runtime with a store"):
            scene.resume()
        nothing_is_left(scene)


@pytest.mark.clause("A-78", "F-13")
def test_options_of_another_kind_are_refused_before_anything_is_held() -> None:
    """Refused later, they would leave the lease with somebody who does not work."""
    options: Any = {"model": "m"}
    with StoredScene(store_of("A"), agents=()) as scene:
        with pytest.raises(CallerError, match="options is a dict"):
            scene.wait_for(scene.rt.agents.resume(session_id="a", options=options))
        nothing_is_left(scene)
        assert scene.resume().id == "a"


@pytest.mark.clause("F-11")
def test_while_the_keeper_is_gone_nothing_is_resumed_and_afterwards_it_is() -> None:
    """From a plugin that does not inject it, too."""
    made: list[Awaitable[AgentHandle]] = []

    def apply(context: AppContext, _: None) -> None:
        made.append(context.agents.resume(session_id="a"))

    with StoredScene(store_of("A"), agents=()) as scene:
        assert scene.rt.persistence is not None
        scene.hold("disk")
        restart = scene.start(scene.rt.persistence.restart())
        with pytest.raises(CallerError, match="unloading"):
            scene.resume()
        scene.release()
        assert restart.done()
        scene.rt.context.plugin(Plugin(name="mine", apply=apply, inject=(AGENTS,)))
        scene.quiet()
        assert scene.wait_for(made[0]).agent.id == "a"


def gap(records: list[Record]) -> None:
    """Take one out of the middle."""
    del records[3]


def misplaced(records: list[Record]) -> None:
    """Put a record where it may not stand."""
    records[3] = attrs.evolve(records[0], seq=3)


def headless(records: list[Record]) -> None:
    """Begin in the middle of a turn."""
    records[:] = [attrs.evolve(each, seq=at) for at, each in enumerate(records[1:])]


def foreign_data(records: list[Record]) -> None:
    """Break the form of a record."""
    data = type(records[1].data)({"turn": 1})
    records[1] = attrs.evolve(records[1], data=data)


def without_placement(records: list[Record]) -> None:
    """Leave out where a message goes."""
    records[1] = attrs.evolve(records[1], placement=None)


DAMAGES: Final = (gap, misplaced, headless, foreign_data, without_placement)


@pytest.mark.clause("F-51", "E-19", "F-09")
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda it: it.__name__)
@pytest.mark.parametrize("length", [8, 7], ids=["closed", "open"])
def test_a_damaged_session_is_refused_and_stays_as_it_is(
    damage: Callable[[list[Record]], None], length: int
) -> None:
    """Also one that would have to be closed: the whole is checked before anything is written."""
    backend = store_of("A")
    records = backend.disk.records["a"]
    del records[length:]
    damage(records)
    before = list(records)
    with StoredScene(backend, agents=()) as scene:
        with pytest.raises(DamagedSessionError, match="'a' of memory refused") as caught:
            scene.resume()
        assert caught.value.place == "memory, session a"
        assert backend.disk.records["a"] == before
        nothing_is_left(scene)


@pytest.mark.clause("F-51")
def test_a_store_that_answers_with_another_session_is_not_believed() -> None:
    """The id that was asked for and the id in the header are two facts until compared."""
    backend = store_of("A")
    backend.disk.headers["b"] = backend.disk.headers["a"]
    backend.disk.records["b"] = list(backend.disk.records["a"])
    with StoredScene(backend, agents=()) as scene:
        with pytest.raises(DamagedSessionError, match="it is the session 'a'"):
            scene.resume("b")
        nothing_is_left(scene)


@pytest.mark.clause("F-51")
def test_a_session_that_is_larger_than_the_limits_is_refused_by_their_name() -> None:
    """It is not damaged: a runtime with other limits can resume it."""
    backend = store_of("A" * 2_000)
    with StoredScene(backend, agents=(), limits=Limits(record_bytes_max=1_000)) as scene:
        with pytest.raises(LimitError, match="record_bytes_max"):
            scene.resume()
        nothing_is_left(scene)
    with StoredScene(backend, agents=()) as scene:
        scene.resume()


@pytest.mark.clause("F-06", "E-22", "F-51")
@pytest.mark.parametrize("state", ["idle", "in a turn", "ending"])
def test_a_live_session_is_refused_under_any_name(state: str) -> None:
    """Nothing of it is read or closed, and its own end is recorded as it happens."""
    with StoredScene() as scene:
        scene.ask("A")
        scene.quiet()
        if state == "idle":
            scene.settle()
        ending = None
        if state == "ending":
            scene.hold("disk")
            ending = scene.handle().dispose()
        calls = len(scene.disk.calls)
        for agent_id in ("a", "b", None):
            resuming = scene.start(scene.rt.agents.resume(session_id="a", agent_id=agent_id))
            error = resuming.exception()
            assert isinstance(error, DuplicateIdError)
            assert "dispose" in str(error)
        assert "load" not in scene.disk.calls[calls:]
        assert scene.rt.agents.get("b") is None
        scene.release()
        scene.settle()
        if ending is not None:
            assert scene.wait_for(ending).failed == ()
            assert scene.records()[-1].data["ending"] == "disposed"
        assert scene.stored() == scene.records()


@pytest.mark.clause("F-51", "E-44")
def test_a_session_that_another_process_writes_is_refused() -> None:
    """The message says who; when that one is gone, it can be resumed."""
    backend = store_of("A")
    other = MemoryBackend(backend.disk, "the other process")
    other.acquire("a")
    with StoredScene(backend, agents=()) as scene:
        with pytest.raises(SessionBusyError, match="the other process writes it"):
            scene.resume()
        nothing_is_left(scene, "a")
        other.crash()
        scene.resume()


@pytest.mark.clause("F-51", "A-78")
@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ({"session_id": ""}, "session_id is ''"),
        ({"session_id": 7}, "session_id is 7"),
        ({"session_id": None}, "session_id is None"),
        ({"session_id": "a", "agent_id": ""}, "agent_id is ''"),
    ],
)
def test_ids_that_are_none_are_refused(ids: dict[str, Any], said: str) -> None:
    """Before anything is read."""
    with StoredScene(store_of("A"), agents=()) as scene:
        with pytest.raises(CallerError, match=said):
            scene.wait_for(scene.rt.agents.resume(**ids))
        assert scene.disk.calls == ["open"]
        nothing_is_left(scene)


@pytest.mark.clause("A-60")
def test_a_resume_from_another_thread_is_refused() -> None:
    """Like every call."""
    refused: list[str] = []
    with StoredScene(store_of("A"), agents=()) as scene:
        resuming = scene.rt.agents.resume(session_id="a")

        def drive() -> None:
            try:
                resuming.send(None)
            except CallerError as error:
                refused.append(str(error))

        thread = Thread(target=drive)
        thread.start()
        thread.join()
        assert "another thread" in refused[0]
        nothing_is_left(scene)
