"""Going on with a stored session: what comes back, what is refused, and who may change his mind."""

from asyncio import Task
from collections.abc import Awaitable, Callable, Iterable
from threading import Thread
from typing import Any, Final

import attrs
import pytest

import runtime
from runtime import (
    AGENT_SESSION_START,
    AGENTS,
    SESSION_CREATED,
    SESSION_EVENT,
    AgentHandle,
    AgentOptions,
    AppContext,
    CallerError,
    DamagedSessionError,
    DuplicateIdError,
    Fiber,
    LimitError,
    Limits,
    MemoryBackend,
    Plugin,
    Record,
    SessionBusyError,
    SessionStarted,
    Status,
    StorageError,
    TextDelta,
    UnknownIdError,
)
from runtime.session.derive import messages
from tests.unit.stored import StoredScene
from tests.unit.test_registry import CREATION
from tests.unit.windows.scene import call


def stored(*prompts: str, **options: Any) -> MemoryBackend:  # noqa: ANN401 - of `create`
    """Return a store that keeps the session `a`, in which these prompts were answered."""
    with StoredScene(agents=()) as scene:
        scene.adopt(scene.rt.agents.create(agent_id="a", **options))
        scene.ask(*prompts)
        scene.settle()
    return scene.backend


def nothing_is_left(scene: StoredScene, *writers: str) -> None:
    """Check that a refusal registered nothing, and that both ids are free."""
    scene.settle()
    assert scene.rt.agents.list() == ()
    assert scene.rt.sessions.list() == ()
    assert sorted(scene.backend.disk.writers) == sorted(writers)
    scene.create("a")
    scene.dispose()
    scene.settle()


# -- What comes back -------------------------------------------------------------------------------


@pytest.mark.clause("F-01", "F-12", "D-31", "E-35", "E-49")
def test_a_resumed_session_is_the_session() -> None:
    """Header, records, history and numbers go on; nothing that is stored is written again."""
    seed_of = stored("A")
    seed = seed_of.disk.records["a"]
    backend = stored("B", cwd="/home", seed=seed, parent="first")
    before = backend.read("a")
    with StoredScene(backend, agents=()) as scene:
        agent = scene.resume()
        assert scene.disk.calls == ["open", "load"]
        assert agent.session.header == before.header
        assert agent.session.header.seed_length == len(seed) == 8
        assert tuple(agent.session.events) == before.records
        assert agent.session.messages() == messages(before.records)
        assert (agent.id, agent.session.id, agent.status) == ("a", "a", Status.IDLE)
        scene.ask("C")
        scene.settle()
        assert scene.records()[16].data["turn"] == 3
        assert scene.stored() == scene.records()
        assert tuple(scene.stored()[:16]) == before.records


@pytest.mark.clause("D-37", "F-13", "F-14", "D-36")
def test_the_order_of_a_resume_is_that_of_a_creation() -> None:
    """The session-start says which it was; a listener finds the agent and may inject."""
    seen: list[tuple[str, bool, bool]] = []

    def look(name: str) -> Callable[[object], None]:
        def listener(_: object) -> None:
            rt = scene.rt
            seen.append((name, rt.sessions.get("a") is not None, rt.agents.get("a") is not None))

        return listener

    def started(notice: SessionStarted) -> None:
        seen.append((notice.source, True, True))
        notice.agent.inject("welcome back")
        raise RuntimeError("contained")

    with StoredScene(stored("A"), agents=()) as scene:
        for announcement in CREATION:
            scene.rt.on(announcement, look(announcement.name))
        scene.rt.on(AGENT_SESSION_START, started)
        agent = scene.resume()
        assert seen == [
            ("session/created", True, False),
            ("agent/created", True, True),
            ("agent/session-start", True, True),
            ("resume", True, True),
        ]
        scene.settle()
        assert [each.type for each in agent.session.events[8:]] == [
            "turn/start",
            "context/message",
            "turn/end",
        ]


@pytest.mark.clause("F-12", "A-47")
def test_the_agent_may_have_another_name_and_other_options() -> None:
    """The live id of the session is the stored one."""
    with StoredScene(stored("A"), agents=()) as scene:
        options = AgentOptions(model="stage", system_prompt="be short")
        handle = scene.wait_for(
            scene.rt.agents.resume(session_id="a", agent_id="b", options=options)
        )
        assert (handle.agent.id, handle.agent.session.id) == ("b", "a")
        assert handle.agent.options == options


@pytest.mark.clause("F-22", "E-33", "E-49")
def test_a_session_can_be_resumed_as_soon_as_its_agent_is_gone() -> None:
    """In the same runtime, again and again."""
    with StoredScene() as scene:
        for turns in (1, 2, 3):
            scene.ask("A")
            scene.settle()
            scene.wait_for(scene.handle().dispose())
            scene.resume()
            assert len(scene.records()) == 8 * turns


@pytest.mark.clause("F-50")
def test_what_was_queued_does_not_come_back() -> None:
    """And nothing fires unasked."""
    with StoredScene() as scene:
        scene.ask("A")
        scene.quiet()
        scene.a.send("B")
        scene.a.steer("S")
        scene.quiet()
        survivor = scene.crash()
    with StoredScene(survivor, agents=()) as scene:
        agent = scene.resume()
        scene.settle()
        assert scene.requests == []
        assert [each.text for each in agent.session.messages()] == ["A"]


# -- After a crash ---------------------------------------------------------------------------------


@pytest.mark.clause("E-17", "D-43", "D-44", "D-47")
def test_what_a_crash_left_open_is_closed_durably_before_anybody_sees_it() -> None:
    """A second resume finds nothing to close."""
    with StoredScene() as scene:
        scene.ask("A")
        scene.quiet()
        before = scene.stored()
        survivor = scene.crash()
    seen: list[list[Record]] = []
    with StoredScene(survivor, agents=()) as scene:
        scene.rt.on(SESSION_CREATED, lambda it: seen.append(list(it.session.events)))
        scene.resume()
        closed = scene.stored()
        assert seen == [closed]
        assert closed[: len(before)] == before
        assert [each.type for each in closed[len(before) :]] == ["step/end", "turn/end"]
        assert closed[-1].data["ending"] == "interrupted"
        scene.ask("B")
        scene.settle()
        scene.wait_for(scene.handle().dispose())
        after = scene.stored()
        scene.resume()
        assert scene.stored() == after


@pytest.mark.clause("E-17", "D-45", "D-47", "E-47")
def test_a_crash_between_any_two_callbacks_leaves_a_session_that_goes_on() -> None:
    """A turn with a call, killed at each instant: a prefix survives, is closed, and works."""
    lengths: set[int] = set()
    for instant in range(1_000):
        with StoredScene() as scene:
            scene.replies = [(TextDelta("hm"), call(1), call(2))]
            scene.ask("A")
            moves = sum(scene.stage.move() for _ in range(instant))
            logged = scene.records()
            survivor = scene.crash()
        kept = list(survivor.disk.records.get("a", ()))
        assert kept == logged[: len(kept)]
        lengths.add(len(kept))
        if kept:
            goes_on(survivor, kept)
        if moves < instant:
            break
    else:
        pytest.fail("the turn has no end")
    # Before the first write, in the step, in the batch of calls, between two of them, at the end.
    assert len(lengths) >= 5


def goes_on(survivor: MemoryBackend, kept: list[Record]) -> None:
    """Check that a session can be resumed after a crash, and answers."""
    with StoredScene(survivor, agents=()) as scene:
        scene.resume()
        assert scene.records()[: len(kept)] == kept
        assert scene.stored() == scene.records()
        assert [each.type for each in scene.records()][-1:] in ([], ["turn/end"])
        scene.ask("B")
        scene.settle()
        assert scene.trace()[-1] == "W"
        assert scene.records()[-1].data["ending"] == "completed"
        assert scene.stored() == scene.records()


@pytest.mark.clause("E-17", "E-20", "D-45", "D-46", "D-47")
def test_whatever_part_of_a_log_a_crash_has_left_the_session_goes_on() -> None:
    """Every prefix of a turn with two calls, also those that no write of ours would leave."""
    with StoredScene() as scene:
        scene.replies = [(TextDelta("hm"), call(1), call(2))]
        scene.ask("A")
        scene.settle()
        whole = scene.stored()
    assert [each.type for each in whole].count("tool/result") == 2
    for length in range(len(whole) + 1):
        backend = loaded_with(whole[:length])
        goes_on(backend, whole[:length])


@pytest.mark.clause("E-18", "E-17")
def test_a_torn_tail_is_cut_before_the_session_goes_on() -> None:
    """What was whole stays."""
    backend = stored("A")
    before = backend.read("a").records
    backend.disk.torn["a"] = "half a record"
    with StoredScene(backend, agents=()) as scene:
        scene.resume()
        assert backend.read("a").torn is None
        assert tuple(scene.stored()) == before


@pytest.mark.clause("E-17", "F-09")
@pytest.mark.parametrize("outcome", ["error", "late"])
def test_a_session_that_cannot_be_closed_durably_is_not_resumed(outcome: str) -> None:
    """Nothing is registered; the next attempt finds it as it is, and succeeds."""
    with StoredScene() as scene:
        scene.ask("A")
        scene.quiet()
        survivor = scene.crash()
    with StoredScene(survivor, agents=()) as scene:
        scene.hold("disk")
        resuming = scene.start(scene.rt.agents.resume(session_id="a"))
        scene.open("disk", outcome)
        scene.release()
        assert isinstance(resuming.exception(), StorageError)
        nothing_is_left(scene)
        scene.resume()
        assert scene.records()[-1].data["ending"] == "interrupted"


# -- What is refused -------------------------------------------------------------------------------


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


@pytest.mark.clause("F-11")
def test_while_the_keeper_is_gone_nothing_is_resumed_and_afterwards_it_is() -> None:
    """From a plugin that does not inject it, too."""
    made: list[Awaitable[AgentHandle]] = []

    def apply(context: AppContext, _: None) -> None:
        made.append(context.agents.resume(session_id="a"))

    with StoredScene(stored("A"), agents=()) as scene:
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
    backend = stored("A")
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
    backend = stored("A")
    backend.disk.headers["b"] = backend.disk.headers["a"]
    backend.disk.records["b"] = list(backend.disk.records["a"])
    with StoredScene(backend, agents=()) as scene:
        with pytest.raises(DamagedSessionError, match="it is the session 'a'"):
            scene.resume("b")
        nothing_is_left(scene)


@pytest.mark.clause("F-51")
def test_a_session_that_is_larger_than_the_limits_is_refused_by_their_name() -> None:
    """It is not damaged: a runtime with other limits can resume it."""
    backend = stored("A" * 2_000)
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
    backend = stored("A")
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
    with StoredScene(stored("A"), agents=()) as scene:
        with pytest.raises(CallerError, match=said):
            scene.wait_for(scene.rt.agents.resume(**ids))
        assert scene.disk.calls == ["open"]
        nothing_is_left(scene)


@pytest.mark.clause("A-60")
def test_a_resume_from_another_thread_is_refused() -> None:
    """Like every call."""
    refused: list[str] = []
    with StoredScene(stored("A"), agents=()) as scene:
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


# -- Two at a time ---------------------------------------------------------------------------------


@pytest.mark.clause("F-07", "F-08")
@pytest.mark.parametrize("names", [("a", "a"), ("x", "x"), ("x", "y"), (None, "y")])
def test_of_two_resumes_of_one_session_exactly_one_succeeds(
    names: tuple[str | None, str | None],
) -> None:
    """One agent, one session, one lease, whatever the agents are to be called."""
    with StoredScene(stored("A"), agents=()) as scene:
        scene.hold("disk")
        both = [
            scene.start(scene.rt.agents.resume(session_id="a", agent_id=name)) for name in names
        ]
        scene.release()
        scene.settle()
        first, second = both
        assert isinstance(second.exception(), DuplicateIdError)
        handle = first.result()
        assert scene.rt.agents.list() == (handle.agent,)
        assert scene.rt.sessions.list() == (handle.agent.session,)
        assert list(scene.backend.disk.writers) == ["a"]


@pytest.mark.clause("E-23", "F-07")
@pytest.mark.parametrize(
    "ids", [{"agent_id": "a"}, {"session_id": "a"}, {"agent_id": "x", "session_id": "a"}]
)
def test_nobody_takes_the_names_of_a_session_that_is_being_loaded(ids: dict[str, str]) -> None:
    """Until it is there, or has failed."""
    with StoredScene(stored("A"), agents=()) as scene:
        scene.hold("disk")
        resuming = scene.start(scene.rt.agents.resume(session_id="a"))
        with pytest.raises(DuplicateIdError):
            scene.rt.agents.create(**ids)  # type: ignore[arg-type]  # two strings
        scene.open("disk", "error")
        assert isinstance(resuming.exception(), StorageError)
        scene.release()
        scene.rt.agents.create(**ids).dispose()  # type: ignore[arg-type]  # two strings


@pytest.mark.clause("F-08")
def test_resumes_of_different_sessions_do_not_disturb_each_other() -> None:
    """Each gets its own."""
    with StoredScene(agents=("a", "b")) as scene:
        for agent in ("a", "b"):
            scene.ask(agent, agent=agent)
        scene.settle()
    with StoredScene(scene.backend, agents=()) as scene:
        both = [scene.start(scene.rt.agents.resume(session_id=each)) for each in ("a", "b")]
        scene.settle()
        texts = [each.result().agent.session.messages()[0].text for each in both]
        assert texts == ["a", "b"]


# -- Changed minds ---------------------------------------------------------------------------------


class Caller:
    """A plugin that resumes the session `a` when it is told to."""

    def __init__(self, scene: StoredScene) -> None:
        self.contexts: list[AppContext] = []
        plugin = Plugin(name="caller", apply=self._apply, inject=(AGENTS,))
        self.fiber: Fiber = scene.rt.context.plugin(plugin)
        scene.quiet()

    def _apply(self, context: AppContext, _: None) -> None:
        self.contexts.append(context)

    def resume(self) -> Awaitable[AgentHandle]:
        """Begin to resume, through the context of the present life."""
        return self.contexts[-1].agents.resume(session_id="a")


CHANGES: Final[dict[str, Callable[[StoredScene, Caller, Task[Any]], object]]] = {
    "the caller is cancelled": lambda _s, _c, resuming: resuming.cancel(),
    "the caller's fiber unloads": lambda _s, caller, _r: caller.fiber.dispose(),
    "the caller's fiber reloads": lambda _s, caller, _r: caller.fiber.restart(),
    "the driver unloads": lambda scene, _c, _r: scene.rt.driver.dispose(),
    "the driver reloads": lambda scene, _c, _r: scene.rt.driver.restart(),
    "the keeper unloads": lambda scene, _c, _r: persistence(scene).dispose(),
    "the keeper reloads": lambda scene, _c, _r: persistence(scene).restart(),
    "the runtime closes": lambda scene, _c, _r: scene.rt.aclose(),
    "the root unloads": lambda scene, _c, _r: scene.rt.context.fiber.dispose(),
}


def persistence(scene: StoredScene) -> Fiber:
    """Return the fiber of the plugin that keeps sessions."""
    assert scene.rt.persistence is not None
    return scene.rt.persistence


@pytest.mark.clause("F-30", "F-52", "F-23", "F-24")
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("callbacks", range(12))
def test_a_resume_that_nobody_wants_any_more_registers_nothing(change: str, callbacks: int) -> None:
    """At whichever callback of the load: no agent, no session, and the lease is given back."""
    created: list[object] = []
    with StoredScene(stored("A"), agents=()) as scene:
        caller = Caller(scene)
        scene.rt.on(SESSION_CREATED, created.append)
        scene.hold("disk")
        resuming = scene.stage.spawn(_resumed(caller), "resuming")
        scene.stage.tick(callbacks)
        for gate in scene.stage.gates.open_gates:
            scene.stage.gates.open(gate, "ok")
        scene.stage.tick(callbacks)
        if resuming.done():
            return
        CHANGES[change](scene, caller, resuming)
        scene.release()
        scene.settle()
        if change != "the root unloads":  # its children are asked to go one callback later
            assert resuming.cancelled() or isinstance(resuming.exception(), CallerError)
            assert created == []
        assert scene.rt.agents.list() == ()
        assert scene.rt.sessions.list() == ()
        assert scene.backend.disk.writers == {}


async def _resumed(caller: Caller) -> AgentHandle:
    return await caller.resume()


@pytest.mark.clause("F-52")
@pytest.mark.parametrize("change", CHANGES)
def test_an_unload_does_not_wait_for_the_disk_of_a_load_nobody_wants(change: str) -> None:
    """It is over while the load still waits, but for that of whoever keeps the disk."""
    with StoredScene(stored("A"), agents=()) as scene:
        caller = Caller(scene)
        scene.hold("disk")
        resuming = scene.start(caller.resume())
        ending = CHANGES[change](scene, caller, resuming)
        scene.quiet()
        assert resuming.done()
        if isinstance(ending, runtime.Teardown):
            keeps_the_disk = change.split()[1] in ("keeper", "runtime", "root")
            assert ending.is_done is not keeps_the_disk
        scene.release()
        scene.settle()
        assert scene.backend.disk.writers == {}


@pytest.mark.clause("F-52", "F-38")
def test_what_a_late_load_gives_back_is_its_own() -> None:
    """A second resume of the session waits behind it and keeps its own lease."""
    with StoredScene(stored("A"), agents=()) as scene:
        scene.hold("disk")
        first = scene.start(scene.rt.agents.resume(session_id="a"))
        first.cancel()
        scene.quiet()
        second = scene.start(scene.rt.agents.resume(session_id="a"))
        scene.release()
        scene.settle()
        agent = second.result().agent
        assert scene.rt.agents.list() == (agent,)
        assert list(scene.backend.disk.writers) == ["a"]
        agent.send("B")
        scene.settle()
        assert len(scene.stored()) == 16


@pytest.mark.clause("F-23", "F-24")
@pytest.mark.parametrize("owner", ["caller", "driver"])
def test_a_resumed_agent_has_the_owners_of_a_created_one(owner: str) -> None:
    """The unload of either disposes it."""
    with StoredScene(stored("A"), agents=()) as scene:
        caller = Caller(scene)
        agent = scene.wait_for(caller.resume()).agent
        fiber = caller.fiber if owner == "caller" else scene.rt.driver
        scene.wait_for(fiber.dispose())
        assert agent.status is Status.DISPOSED
        assert scene.backend.disk.writers == {}


@pytest.mark.clause("F-23", "G-10")
def test_a_fiber_that_is_gone_resumes_nothing() -> None:
    """Nobody would ever end the agent."""
    with StoredScene(stored("A"), agents=()) as scene:
        caller = Caller(scene)
        agents = caller.contexts[-1].agents
        scene.wait_for(caller.fiber.dispose())
        with pytest.raises(CallerError, match="plugin caller is"):
            scene.wait_for(agents.resume(session_id="a"))
        nothing_is_left(scene)


@pytest.mark.clause("F-53", "D-38")
def test_a_listener_that_unloads_the_owner_of_a_resumed_agent_takes_the_session_along() -> None:
    """The resume is refused, and the session can be resumed by others."""
    with StoredScene(stored("A"), agents=()) as scene:
        caller = Caller(scene)
        subscription = scene.rt.on(SESSION_CREATED, lambda _: caller.fiber.dispose())
        with pytest.raises(CallerError, match="resume of agent 'a' refused"):
            scene.wait_for(caller.resume())
        subscription.close()
        scene.settle()
        assert scene.backend.disk.writers == {}
        scene.resume()


@pytest.mark.clause("E-35", "D-29")
def test_what_comes_back_is_not_announced_as_news() -> None:
    """Neither the stored records nor those that close them."""
    with StoredScene() as scene:
        scene.ask("A")
        scene.quiet()
        survivor = scene.crash()
    told: list[object] = []
    with StoredScene(survivor, agents=()) as scene:
        scene.rt.on(SESSION_EVENT, told.append)
        scene.resume()
        scene.settle()
        assert told == []


def loaded_with(records: Iterable[Record]) -> MemoryBackend:
    """Return a store with these records of the session `a`."""
    backend = stored("A")
    backend.disk.records["a"][:] = records
    return backend


@pytest.mark.clause("E-20", "D-42")
def test_a_session_of_a_header_alone_can_be_resumed() -> None:
    """It is as empty as a new one."""
    with StoredScene(loaded_with(()), agents=()) as scene:
        agent = scene.resume()
        assert len(agent.session.events) == 0
        scene.ask("B")
        scene.settle()
        assert scene.stored() == scene.records()
