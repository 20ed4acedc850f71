"""One agent's cell: its shape, the data beside it, and the tasks it owns.

`post` is the only place that asks the machine. It installs the new shape first and then obeys the
commands in their order, so whatever foreign code a command reaches finds an agent that is already
in its new state. Nothing here looks at the status to decide; what is to be done has been decided.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from itertools import chain
from typing import Any

from attrs import define, field, frozen

from statemachine import REST_WINDOWS, Decision, Input, Machine, Queues, Shape, Status, Window

from .abort import Cancellations
from .announcements import SESSION_EVENT, SESSION_FLUSH, RecordAppended, SessionNotice
from .containment import attempt_awaited, log_defect, log_failure, log_line
from .context import Channels
from .errors import CallerError, LimitError, ModelError
from .limits import Limits
from .model import Model
from .obey import OBEY, place_error
from .outbox import Outbox
from .ports import Clock, thread_id
from .session.log import SessionLog
from .session.records import Record
from .system_prompt import SystemPrompt
from .tools import ToolRegistry
from .turn import AcceptedMessage, Turn

__all__ = ["AgentOptions", "Core", "Surroundings"]


@frozen(kw_only=True)
class AgentOptions:
    """What an agent is made with."""

    model: str | None = None
    """The name of a model of the runtime; None for the runtime's default."""
    system_prompt: str | None = None
    """Text that every request of this agent begins with."""


@frozen(kw_only=True)
class Surroundings:
    """What all agents of one runtime share."""

    bus: Channels
    machine: Machine
    limits: Limits
    clock: Clock
    loop: asyncio.AbstractEventLoop
    thread: int
    """The thread of the loop; every call has to come from it."""
    models: Mapping[str, Model]
    tools: ToolRegistry
    sections: SystemPrompt
    run_driver: "Callable[[Core], Coroutine[Any, Any, None]]"

    def check_thread(self, what: str) -> None:
        """Refuse a call from another thread than the loop's.

        Raises:
            CallerError: it is one.

        Clauses: A-60
        """
        if thread_id() != self.thread:
            raise CallerError(
                f"{what} refused: it was called from another thread than the loop's; "
                "use loop.call_soon_threadsafe"
            )


def _ignore(*_: object) -> None:
    """Do nothing; what `Core.dispose` does until an owner has the handle."""


@define(eq=False)
class Core:
    """One agent, without its public face."""

    id: str
    log: SessionLog
    options: AgentOptions
    around: Surroundings

    face: Any = None
    """The public `Agent`, for notices."""
    dispose: Callable[[], object] = _ignore
    """Starts the teardown, as the owner's handle does."""
    probe: Callable[..., None] | None = None
    """Told of every decision before it is obeyed, for refinement; nothing in production."""

    machine: Machine = field(init=False)
    bus: Channels = field(init=False)
    limits: Limits = field(init=False)
    loop: asyncio.AbstractEventLoop = field(init=False)

    shape: Shape = field(init=False)
    queues: Queues[AcceptedMessage] = field(init=False, factory=Queues)
    outbox: Outbox = field(init=False)
    turn: Turn = field(init=False, factory=Turn)
    accepted: int = field(init=False, default=0)
    announced: Status = field(init=False, default=Status.IDLE)
    flushed: int = field(init=False, default=0)
    """How many records the last completed flush covered."""
    waits_since_ms: int = field(init=False, default=0)
    turns_in_task: int = field(init=False, default=0)
    """How many turns the present driver's task has run."""

    cancellations: Cancellations = field(init=False)
    """Whose cancellation it is, for the driver that runs; made by it."""
    waiters: "dict[asyncio.Future[None], None]" = field(init=False, factory=dict)
    exited: "asyncio.Future[None]" = field(init=False)
    driver: "asyncio.Task[None] | None" = field(init=False, default=None)
    defect: BaseException | None = field(init=False, default=None)
    """What the driver died of, if it did: a bug of this runtime."""
    own_tasks: "set[asyncio.Task[Any] | None]" = field(init=False, factory=set)
    """The driver's task and the children it waits for: these must not wait for the agent."""
    owed: "set[asyncio.Task[Any]]" = field(init=False, factory=set)
    """Flushes of idle injections that nobody waits for but the teardown."""
    last_flush: "asyncio.Task[Any] | None" = field(init=False, default=None)
    """The flush that the teardown makes, if one was owed."""
    stragglers: "dict[asyncio.Task[Any], str]" = field(init=False, factory=dict)
    """Bodies that outlived their grace, by what they were."""

    def __attrs_post_init__(self) -> None:
        # Copied out, because the turn reaches for them all the time.
        self.machine, self.bus = self.around.machine, self.around.bus
        self.limits, self.loop = self.around.limits, self.around.loop
        self.shape = self.machine.initial
        self.outbox = Outbox(self.bus)
        self.exited = self.loop.create_future()
        self.cancellations = Cancellations(on_stranger=self.dispose)
        self.flushed = len(self.log.events)
        self.log.on_append = self._place_record

    # -- The one door ------------------------------------------------------------------------------

    def post(self, input: Input, argument: object = None) -> Decision:
        """Let the machine decide, take the new shape, obey; deliver nothing yet.

        Args:
            input: what happened.
            argument: what the caller or the visit said about it, for the commands.

        Clauses: A-56 A-57
        """
        before = self.shape
        decision = self.machine.decide(before, input)
        self.shape = decision.shape
        if self.probe is not None:
            self.probe(self, before, input, decision)
        if not decision.commands:
            return decision
        # A call made from an abort callback takes effect at once, but what it announces waits until
        # every callback has run and this decision has placed all of its own.
        outbox = self.outbox
        outbox.holds += 1
        try:
            for command in decision.commands:
                OBEY[command](self, argument)
        finally:
            outbox.holds -= 1
        return decision

    def call(self, input: Input, argument: object = None) -> None:
        """Post an input from outside and deliver what it caused, unless a delivery is under way.

        Raises:
            LimitError: a listener called, at the end of a chain of notices that is too long.

        Clauses: A-71 G-34
        """
        # A listener that always causes what it listens to would never let the outbox run empty. A
        # dispose ends such a chain and is never refused.
        if self.outbox.depth > self.limits.nested_announcements_max and input is not Input.DISPOSE:
            raise LimitError(
                f"{input.value} of agent {self.id!r} refused: its announcements have caused each "
                f"other more than nested_announcements_max={self.limits.nested_announcements_max} "
                "times; break the circle in which a listener causes what it listens to"
            )
        try:
            self.post(input, argument)
        finally:
            self.outbox.deliver()

    def _place_record(self, record: Record) -> None:
        if self.bus.listens(SESSION_EVENT):
            notice = RecordAppended(session=self.log.session, record=record)
            self.outbox.place(SESSION_EVENT, notice)

    def find_model(self) -> Model:
        """Return the agent's model.

        Raises:
            ModelError: it has none, or names one that is not there.

        Clauses: A-44
        """
        name = self.options.model
        if name is None:
            raise ModelError(f"agent {self.id!r} has no model: name one in AgentOptions(model=...)")
        model = self.around.models.get(name)
        if model is None:
            known = ", ".join(sorted(self.around.models)) or "none"
            raise ModelError(f"agent {self.id!r} names the model {name!r}; there is: {known}")
        return model

    def system_prompt(self) -> str:
        """Return what every request of this agent begins with.

        Raises:
            PluginError: a section could not be rendered.

        Clauses: A-45 K-15
        """
        return self.around.sections.render(self.options.system_prompt or "")

    # -- The driver's task -------------------------------------------------------------------------

    def start_driver(self) -> None:
        """Start the driver's task, which ends when the agent parks or exits.

        Clauses: A-77
        """
        self.turns_in_task = 0
        body = self.around.run_driver(self)
        self.driver = self.loop.create_task(body, name=f"driver of {self.id}")
        self.driver.add_done_callback(self._driver_ended)

    def _driver_ended(self, task: "asyncio.Task[None]") -> None:
        if self.driver is not task:
            return
        self.driver = None
        if task.cancelled() and not self._has_exited():
            # A stranger cancelled the task before it ran at all, or in its very last stretch.
            self.dispose()
            if not self._has_exited():
                self.start_driver()
        elif self.shape.window not in REST_WINDOWS:
            self._break_down(task.exception())

    def _has_exited(self) -> bool:
        return self.shape.window is Window.EXITED

    def _break_down(self, bug: BaseException | None) -> None:
        # Nothing can be promised about this agent any more, but nobody may wait for it for ever.
        failure = bug or AssertionError("the driver ended in the middle of its work")
        self.defect = failure
        log_defect(failure, f"the driver of agent {self.id}")
        for waiter in (*self.waiters, self.exited, *self._watchers()):
            if not waiter.done():
                waiter.set_exception(failure)
        self.waiters.clear()

    def _watchers(self) -> Iterator["asyncio.Future[Any]"]:
        recorded = (message for message, _ in self.turn.watched)
        waiting = (recorded, self.turn.unread, self.queues.queued, self.queues.steering)
        for message in chain.from_iterable(waiting):
            if message.watcher is not None:
                yield message.watcher

    def child(self, body: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        """Start a task that this agent's driver waits for."""
        task: asyncio.Task[Any] = self.loop.create_task(body)
        self.own_tasks.add(task)
        task.add_done_callback(self.own_tasks.discard)
        return task

    def leave_behind(self, task: "asyncio.Task[Any]", what: str) -> None:
        """Keep a body that outlived its grace, by name, until it ends.

        Clauses: B-119
        """
        name = f"{what} in turn {self.turn.number}"
        log_line(f"agent {self.id} goes on without {name}, which did not end in time")
        self.own_tasks.discard(task)
        self.stragglers[task] = name
        task.add_done_callback(self._straggler_ended)

    def _straggler_ended(self, task: "asyncio.Task[Any]") -> None:
        name = self.stragglers.pop(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            log_failure(error, f"agent {self.id}, left behind: {name}")

    # -- Flushes -----------------------------------------------------------------------------------

    def owes_flush(self) -> bool:
        """Return whether records wait for somebody to make them durable."""
        if self.bus.listens(SESSION_FLUSH):
            return self.flushed < len(self.log.events)
        self.flushed = len(self.log.events)
        return False

    async def flush(self) -> None:
        """Await everybody who makes the session durable.

        Raises:
            ExceptionGroup: somebody could not; everybody was asked.

        Clauses: D-53 G-25
        """
        covered = len(self.log.events)
        await self.bus.parallel(SESSION_FLUSH, SessionNotice(session=self.log.session), self.child)
        self.flushed = max(self.flushed, covered)

    def owe_flush(self, turn: int) -> None:
        """Start the flush of an injection turn; the teardown waits for it, nobody else does.

        Clauses: A-19 A-67 A-75
        """
        if self.owes_flush():
            task = self.loop.create_task(self._flush_owed(turn), name=f"flush of {self.id}")
            self.owed.add(task)
            task.add_done_callback(self.owed.discard)

    async def _flush_owed(self, turn: int) -> None:
        error = await attempt_awaited(self.flush())
        if error is not None:
            place_error(self, turn, 0, error)
            self.outbox.deliver()
