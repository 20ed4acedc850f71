"""The world of a case about stored sessions: one disk, and one process after the other on it."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, TypeVar

from attrs import define, field

from runtime import Agent, MemoryBackend, Record, Runtime, Teardown, TeardownReport, open_runtime
from runtime.session.content import text_of
from runtime.subject import StageClock, StageIdentifiers
from statemachine.conformance.stage.schedules import Actor, Scenario
from statemachine.conformance.stage.stage import Stage

from .answers import CaseModel

__all__ = ["SESSION", "Act", "StoredWorld", "actor", "scene", "texts"]

T = TypeVar("T")
Act = Callable[["StoredWorld"], object]
SESSION: Final = "s"


@define(eq=False)
class Gated:
    """The `Blocking` port: a call is done when the schedule says so."""

    stage: Stage

    async def run(self, call: Callable[[], T]) -> T:
        """See `Blocking`."""
        await self.stage.gate("disk", ("ok",))
        return call()


@define(eq=False)
class Process:
    """One runtime on the disk."""

    opening: AbstractAsyncContextManager[Runtime]
    rt: Runtime
    model: CaseModel


@define(eq=False)
class StoredWorld:
    """A disk, and the processes that use it."""

    stage: Stage
    answers: Mapping[str, tuple[str, ...]]
    backend: MemoryBackend = field(factory=MemoryBackend)
    processes: list[Process] = field(factory=list)
    notes: dict[str, Any] = field(factory=dict)
    ends: list[tuple[TeardownReport, tuple[Record, ...]]] = field(factory=list)
    """What each teardown reported, and what was stored when it resolved."""

    def boot(self) -> Process:
        """Start the next process on the disk."""
        model = CaseModel(
            stage=self.stage, cooperative=True, answers=self.answers, stubborn=frozenset(),
            on_call=lambda _, __: None,
        )  # fmt: skip
        opening = open_runtime(
            store=self.backend,
            blocking=Gated(self.stage),
            models={"case": model},
            default_model="case",
            clock=StageClock(self.stage),
            identifiers=StageIdentifiers(),
        )
        process = Process(opening, self.stage.complete(opening.__aenter__()), model)
        self.processes.append(process)
        self.stage.run_until_quiet()
        return process

    @property
    def rt(self) -> Runtime:
        """The process that runs."""
        return self.processes[-1].rt

    def crash(self) -> None:
        """Kill the process: whatever it still does reaches nobody."""
        self.backend = self.backend.crash()
        self.notes["stored at the crash"] = self.stored()

    def stored(self) -> tuple[Record, ...]:
        """Return what is stored."""
        return tuple(self.backend.disk.records.get(SESSION, ()))

    def begin(self, prompt: str) -> Agent:
        """Make an agent on a new session, and let one turn become durable."""
        agent = self.rt.agents.create(agent_id="a", session_id=SESSION).agent
        agent.send(prompt)
        self.complete(agent.when_idle())
        return agent

    def resume(self, agent_id: str = "a") -> Agent:
        """Resume the session in the process that runs."""
        return self.complete(self.rt.agents.resume(session_id=SESSION, agent_id=agent_id)).agent

    def complete(self, awaitable: Awaitable[T]) -> T:
        """Await something to its end, first in, first out."""
        return self.stage.complete(_await(awaitable))

    def join(self, end: Teardown) -> None:
        """Wait for a teardown in a task, and keep what was stored when it resolved."""
        self.stage.spawn(self._keep(end), "joins")

    async def _keep(self, end: Teardown) -> None:
        report = await end
        self.ends.append((report, self.stored()))

    def prompts(self) -> list[str]:
        """Return the prompts that the process that runs has asked its model."""
        return [_newest(request.messages) for request in self.processes[-1].model.asked]

    def close(self) -> None:
        """End every process, the dead ones too, whose clean-up reaches nobody."""
        for process in self.processes:
            process.model.is_over = True
            self.complete(process.opening.__aexit__(None, None, None))
        assert self.stage.pending == ()


async def _await(awaitable: Awaitable[T]) -> T:
    return await awaitable


def _newest(messages: Any) -> str:  # noqa: ANN401  # of a request
    texts = [str(message.text) for message in messages if message.role == "user"]
    return texts[-1]


def texts(records: tuple[Record, ...]) -> list[str]:
    """Return the texts of the user messages."""
    return [text_of(each.data["content"]) for each in records if each.type == "user/message"]


def actor(name: str, *acts: Act) -> Actor[StoredWorld]:
    """Name somebody outside and what they do."""
    return Actor(name=name, actions=acts)


def scene(
    name: str,
    *actors: Actor[StoredWorld],
    before: Act,
    check: Act,
    answers: Mapping[str, tuple[str, ...]] | None = None,
) -> Scenario[StoredWorld]:
    """Tell a scenario: what was arranged, who acts, what must hold in the end."""

    def setup(stage: Stage) -> StoredWorld:
        world = StoredWorld(stage, answers or {})
        world.boot()
        before(world)
        stage.run_until_quiet()
        return world

    def judge(world: StoredWorld) -> None:
        try:
            check(world)
        finally:
            world.close()

    return Scenario(name=name, actors=actors, setup=setup, check=judge, budget=2_000)
