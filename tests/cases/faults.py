"""Faults that the cases must find: one changed row, one command obeyed wrongly, one broken part.

Each says what a careless runtime would do; most of them are what the reports were about.
"""

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from attrs import evolve, frozen

from runtime import driver, obey, registry
from runtime.abort import AbortAuthority, Grace
from runtime.core import Core
from runtime.registry import AgentHandle
from runtime.session.content import freeze_json
from runtime.session.derive import Message
from runtime.teardown import Teardown
from runtime.turn import Context, Offer, Stop
from statemachine import MACHINE, Command, Input, Machine, Queues, Shape, Status, Window

from .world import PLANTED

__all__ = ["FAULTS", "planted"]

_BEFORE_A_STEP: Final = (Window.PROMPTS, Window.ASSEMBLY, Window.PRE_STEP)
_BUSY: Final = (Status.RUNNING, Status.CANCELLED)

Table = tuple[Any, ...]
Patch = pytest.MonkeyPatch
Plant = Callable[[Patch], object]


@frozen
class Fault:
    """One thing done wrongly."""

    story: str
    plant: Plant


FAULTS: Final[dict[str, Fault]] = {}


def _fault(plant: Plant) -> Plant:
    name = plant.__name__.strip("_").replace("_", "-")
    FAULTS[name] = Fault((plant.__doc__ or "").strip(), plant)
    return plant


@contextmanager
def planted(name: str) -> Iterator[None]:
    """Run with one fault."""
    with pytest.MonkeyPatch.context() as patch:
        token = PLANTED.set(PLANTED.get())
        try:
            FAULTS[name].plant(patch)
            yield
        finally:
            PLANTED.reset(token)


# -- Rows ------------------------------------------------------------------------------------------


def _rows(on: Input, window: Window, when: str) -> Callable[[Any], bool]:
    return lambda row: row.on is on and window in row.where and row.when.name == when


def _change(chosen: Callable[[Any], bool], **values: object) -> None:
    """Use a table in which the chosen rows have other values; with none, they are gone."""
    table = MACHINE.table
    assert any(map(chosen, table)), "the fault finds no row to plant itself in"
    if values:
        changed: Table = tuple(evolve(row, **values) if chosen(row) else row for row in table)
    else:
        changed = tuple(row for row in table if not chosen(row))
    PLANTED.set(Machine(table=changed))


def _also(chosen: Callable[[Any], bool], command: Command) -> None:
    """Let the chosen rows ask for one thing more."""
    row = next(row for row in MACHINE.table if chosen(row))
    _change(chosen, commands=(*row.commands, command))


def _silence(chosen: Callable[[Any], bool], command: Command) -> None:
    """Let the chosen rows ask for one thing less."""
    row = next(row for row in MACHINE.table if chosen(row))
    _change(chosen, commands=tuple(each for each in row.commands if each is not command))


@_fault
def _queue_survives_a_cancel(_: Patch) -> None:
    """A cancel without a turn leaves the inbox as it was."""
    _change(_rows(Input.CANCEL, Window.PARKED, "has_work"))


@_fault
def _stop_overlooked(_: Patch) -> None:
    """A step opens although the turn was stopped before it."""
    _change(
        lambda row: (
            row.on is Input.DONE and row.where[0] in _BEFORE_A_STEP and row.when.name == "stopped"
        )
    )


@_fault
def _cancel_releases(_: Patch) -> None:
    """A cancel lets go of those who wait for idle."""
    _also(_rows(Input.CANCEL, Window.PARKED, "has_work"), Command.RELEASE)


@_fault
def _idle_between(_: Patch) -> None:
    """What replaces a cancelled turn is found only after `idle` was announced."""
    _change(_rows(Input.DONE, Window.FLUSH, "replaced"))


@_fault
def _replacement_forgotten(_: Patch) -> None:
    """An agent parks after a turn without a look at what was queued meanwhile."""

    def forget(row: Any) -> Any:
        if row.on is Input.DONE and Window.ANNOUNCE_IDLE in row.where:
            return evolve(row, where=(Window.WOKEN,)) if row.when.name == "has_queued" else row
        is_look = row.when.name in ("replaced", "running_with_work")
        return None if is_look and Window.FLUSH in row.where else row

    PLANTED.set(Machine(table=filter(None, map(forget, MACHINE.table))))


@_fault
def _sticky_marker(_: Patch) -> None:
    """The cancel marker outlives its turn."""
    _change(_rows(Input.DONE, Window.CLOSING, "cancelled"), moves=())


@_fault
def _abort_over_error(_: Patch) -> None:
    """A turn whose failure was reported ends as aborted."""
    chosen = _rows(Input.DONE, Window.CLOSING, "cancelled")
    PLANTED.set(Machine(table=sorted(MACHINE.table, key=lambda row: not chosen(row))))


@_fault
def _steering_while_cancelled(_: Patch) -> None:
    """A steer joins a turn that is unwinding."""
    chosen = _rows(Input.STEER, Window.STREAM, "running")
    guard = next(row.when for row in MACHINE.table if chosen(row))
    busy = evolve(guard, name="busy", holds=lambda shape: shape.status in _BUSY)
    _change(chosen, when=busy)


@_fault
def _steering_not_looked_for(_: Patch) -> None:
    """A turn ends although steering has come during its last step."""
    _change(_rows(Input.DONE, Window.CONTINUATION, "would_go_on"))


@_fault
def _steering_wakes_nobody(_: Patch) -> None:
    """A steer at rest is queued and left lying."""
    _change(_rows(Input.STEER, Window.PARKED, "always"))


@_fault
def _turn_without_a_message(_: Patch) -> None:
    """A wake opens a turn, whatever is queued."""
    guards = {row.when.name: row.when for row in MACHINE.table}
    _change(_rows(Input.DONE, Window.WOKEN, "has_queued"), when=guards["always"])


@_fault
def _early_release(_: Patch) -> None:
    """Waiters go on when the turn has ended, before it was flushed."""
    _also(_rows(Input.DONE, Window.TURN_END, "always"), Command.RELEASE)


@_fault
def _replacement_releases(_: Patch) -> None:
    """Replaced in `running`, the old work's end lets go of the waiters."""
    _also(_rows(Input.DONE, Window.ANNOUNCE_RUNNING, "replaced"), Command.RELEASE)


@_fault
def _parking_without_release(_: Patch) -> None:
    """A driver that finds no work parks and tells no waiter."""
    _silence(_rows(Input.DONE, Window.WOKEN, "always"), Command.RELEASE)


@_fault
def _unopened_batch_lost(_: Patch) -> None:
    """The prompts of a turn that could not be opened vanish."""
    _silence(
        lambda row: row.on is Input.UNOPENED and Command.DISCARD_BATCH in row.commands,
        Command.DISCARD_BATCH,
    )


@_fault
def _dispose_drops_silently(_: Patch) -> None:
    """A dispose empties the inbox and tells nobody."""

    def silence(row: Any) -> Any:
        if row.on is not Input.DISPOSE:
            return row
        return evolve(row, commands=tuple(c for c in row.commands if c is not Command.DISCARD))

    PLANTED.set(Machine(table=map(silence, MACHINE.table)))


@_fault
def _idle_not_announced(_: Patch) -> None:
    """After a turn that never opened nobody hears that the agent rests."""
    chosen = _rows(Input.DONE, Window.ANNOUNCE_RUNNING, "cancelled")
    _silence(chosen, Command.ANNOUNCE)


@_fault
def _disposed_accepts(_: Patch) -> None:
    """A message for a disposed agent is queued."""
    _change(_rows(Input.SEND, Window.PARKED, "disposed"))


@_fault
def _closed_while_unwinding(_: Patch) -> None:
    """Nothing is accepted while a cancelled turn unwinds."""
    guards = {row.when.name: row.when for row in MACHINE.table}
    _change(_rows(Input.SEND, Window.PARKED, "disposed"), when=guards["stopped"])


# -- Commands --------------------------------------------------------------------------------------


@_fault
def _last_message_wins(patch: Patch) -> None:
    """Only the newest queued message is taken up."""

    def drain(core: Core, _: object) -> None:
        core.turn.unread = core.queues.drain()[-1:]

    patch.setitem(obey.OBEY, Command.DRAIN, drain)


@_fault
def _messages_glued(patch: Patch) -> None:
    """The messages of a batch become one."""

    def drain(core: Core, _: object) -> None:
        first, *others = core.queues.drain()
        for other in others:
            first.content = (*first.content, *other.content)
        core.turn.unread = [first]

    patch.setitem(obey.OBEY, Command.DRAIN, drain)


@_fault
def _steering_dropped_silently(patch: Patch) -> None:
    """A cancel tells of the queued messages it drops, and not of the steering."""

    def discard(core: Core, stop: Stop) -> None:
        for message, steering in core.queues.clear():
            if not steering:
                obey.place_discarded(core, message, stop.cause, stop.reason)

    patch.setitem(obey.OBEY, Command.DISCARD, discard)


@_fault
def _steering_twice(patch: Patch) -> None:
    """Steering that is recorded stays in the inbox for the next cancel to drop."""

    def keep(queues: Queues[Any]) -> list[Any]:
        return list(queues.steering)

    patch.setattr(Queues, "take", keep)


@_fault
def _failed_prompt_again(patch: Patch) -> None:
    """A prompt on which the model failed is queued once more."""
    report, retried = obey.OBEY[Command.REPORT], set[Core]()

    def report_and_retry(core: Core, argument: object) -> None:
        report(core, argument)
        asked = [record for record in core.log.events if record.type == "user/message"]
        if asked and core not in retried:
            retried.add(core)
            data = asked[-1].data
            core.loop.call_soon(
                core.call, Input.SEND, Offer(data["content"], data["source"], "send")
            )

    patch.setitem(obey.OBEY, Command.REPORT, report_and_retry)


# -- Parts -----------------------------------------------------------------------------------------


@_fault
def _cancel_at_rest_is_remembered(patch: Patch) -> None:
    """A cancel that finds nothing to stop stops the next turn."""
    post, begin, pending = Core.post, obey.OBEY[Command.BEGIN], set[Core]()

    def remember(core: Core, input: Input, argument: object = None) -> Any:
        if input is Input.CANCEL and core.shape.window is Window.PARKED:
            pending.add(core)
        return post(core, input, argument)

    def begin_stopped(core: Core, argument: object) -> None:
        begin(core, argument)
        if core in pending:
            pending.discard(core)
            core.loop.call_soon(core.call, Input.CANCEL, Stop("cancelled", "late"))

    patch.setattr(Core, "post", remember)
    patch.setitem(obey.OBEY, Command.BEGIN, begin_stopped)


@_fault
def _reason_lost(patch: Patch) -> None:
    """An aborted turn ends with the default reason."""
    fire = AbortAuthority.fire
    patch.setattr(AbortAuthority, "fire", lambda self, _: fire(self, "cancelled"))


@_fault
def _nobody_is_interrupted(patch: Patch) -> None:
    """A step opens behind a stop, its model is asked, and its stream runs to the end."""
    chosen = (Window.STEP_START, Window.REQUEST, *_BEFORE_A_STEP)
    _change(
        lambda row: row.on is Input.DONE and row.where[0] in chosen and row.when.name == "stopped"
    )

    async def to_the_end(body: Coroutine[Any, Any, Any], _: AbortAuthority) -> Any:
        return await body

    patch.setattr(driver, "run_cooperative", to_the_end)
    patch.setattr(driver, "_is_stopped", lambda _: False)


@_fault
def _no_grace(patch: Patch) -> None:
    """A stopped body is waited for as long as it likes."""
    patch.setattr(Grace, "start", lambda *_: None)


@_fault
def _prompts_joined(patch: Patch) -> None:
    """User messages that follow each other reach the model as one."""
    request = driver.VISITS[Window.REQUEST]

    def joined(core: Core) -> Any:
        outcome = request(core)
        messages: list[Message] = []
        for message in core.turn.request.messages:
            if messages and messages[-1].role == message.role == "user":
                text = f"{messages[-1].text}\n{message.text}"
                content = freeze_json([{"type": "text", "text": text}], what="content")
                message = evolve(message, content=content)  # noqa: PLW2901 - the joined one
                messages.pop()
            messages.append(message)
        core.turn.request = evolve(core.turn.request, messages=messages)
        return outcome

    patch.setitem(driver.VISITS, Window.REQUEST, joined)


@_fault
def _injection_never_flushed(patch: Patch) -> None:
    """An injection at rest is left to the next turn's flush."""
    patch.setattr(Core, "owe_flush", lambda *_: None)


@_fault
def _injection_asks_the_model(patch: Patch) -> None:
    """An injection at rest is a message like any other."""

    def one_shot(core: Core, context: Context) -> None:
        core.loop.call_soon(core.call, Input.SEND, Offer(context.content, context.source, "send"))

    patch.setitem(obey.OBEY, Command.ONE_SHOT, one_shot)


@_fault
def _late_wait_hangs(patch: Patch) -> None:
    """A wait that begins at rest waits for the next release."""
    patch.setattr(Shape, "is_quiescent", property(lambda shape: shape.window is Window.EXITED))


@_fault
def _second_dispose_returns_at_once(patch: Patch) -> None:
    """Whoever disposes second does not wait for the first."""
    dispose = AgentHandle.dispose

    def hasty(handle: AgentHandle) -> Teardown:
        if handle._teardown is None:  # noqa: SLF001 - the part that is broken
            return dispose(handle)
        core = handle._core  # noqa: SLF001 - the part that is broken
        teardown = Teardown("a hasty end", core.loop, lambda: core.own_tasks)
        teardown.start([])
        return teardown

    patch.setattr(AgentHandle, "dispose", hasty)


@_fault
def _teardown_does_not_wait(patch: Patch) -> None:
    """A teardown leaves the driver to itself."""

    async def at_once(_: Core) -> tuple[str, ...]:
        return ()

    patch.setattr(registry, "_stop_driver", at_once)
