"""An executor on the stage, with processes that do what the test says."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from attrs import define, field

from runtime import Limits
from runtime.bash import (
    BASH,
    BASH_FINISHED,
    BashConfig,
    BashExecRequest,
    BashExecutor,
    BashFinished,
    BashResult,
    BashTask,
    bash_plugin,
)
from runtime.context import Context, Fiber
from statemachine.conformance.stage.stage import Stage

from .fake import FakeProcess, FakeProcesses

__all__ = ["GRACE_S", "Scene"]

T = TypeVar("T")

GRACE_S = 1.0


@define(eq=False)
class Scene:
    """One executor and what is known of it."""

    stage: Stage
    limits: Limits = field(factory=lambda: Limits(kill_grace_s=GRACE_S))
    config: BashConfig = field(
        factory=lambda: BashConfig(program="sh", workdir="/", environment={})
    )
    processes: FakeProcesses = field(factory=FakeProcesses)
    told: list[BashTask] = field(factory=list)
    root: Context = field(init=False)
    fiber: Fiber = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.root = Context.root(limits=self.limits)
        self.fiber = self.root.plugin(
            bash_plugin(limits=self.limits, processes=self.processes), self.config
        )
        self.stage.run_until_quiet()
        self.root.on(BASH_FINISHED, self._note)

    def _note(self, notice: BashFinished) -> None:
        self.told.append(notice.task)

    @property
    def bash(self) -> BashExecutor:
        """The executor, looked up."""
        bash = self.root.get(BASH)
        assert bash is not None
        return bash

    def start(self, command: str = "c", **fields: Any) -> tuple[BashTask, FakeProcess]:  # noqa: ANN401  # of a request
        """Start a job."""
        job = self.bash.start(self.bash.resolve(BashExecRequest(command=command, **fields)))
        return job, self.processes.last()

    def run(self, command: str = "c", **fields: Any) -> "Running":  # noqa: ANN401  # of a request
        """Run in the foreground, in a task of its own, until it waits."""
        return Running(self, BashExecRequest(command=command, **fields))

    def task(self, job: BashTask) -> BashTask:
        """Look a job up again."""
        found = self.bash.get(job.id)
        assert found is not None
        return found

    def text(self, job: BashTask) -> str:
        """Read what a job wrote on standard output."""
        return self.bash.read(job.id).stdout.text

    def wait(self, awaitable: Awaitable[T]) -> T:
        """Await something; timers may run out meanwhile."""
        return self.stage.complete(_await(awaitable))

    def quiet(self) -> None:
        """Run everything that is ready; no time goes by."""
        self.stage.run_until_quiet()

    def fire(self, act: Callable[[], object] | None = None) -> None:
        """Let time go by until the next timer has run out."""
        if act is not None:
            act()
        self.stage.loop.fire_next_timer()
        self.stage.run_until_quiet()


class Running:
    """A foreground command in a task of its own."""

    def __init__(self, scene: Scene, request: BashExecRequest) -> None:
        async def run() -> BashResult:
            return await scene.bash.run(scene.bash.resolve(request))

        self.scene = scene
        before = len(scene.processes.started)
        self.task = scene.stage.loop.create_task(run(), name="run")
        scene.quiet()
        self._started = scene.processes.started[before:]

    @property
    def process(self) -> FakeProcess:
        """Its process; there is none if it was refused."""
        (process,) = self._started
        return process

    @property
    def is_done(self) -> bool:
        """Whether the result is there."""
        self.scene.quiet()
        return self.task.done()

    def result(self) -> BashResult:
        """Return the result, which has to be there."""
        assert self.is_done
        return self.task.result()


async def _await(awaitable: Awaitable[T]) -> T:
    return await awaitable
