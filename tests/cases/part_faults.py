"""Faults in the runtime: one command obeyed carelessly, or one part that breaks its promise."""

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve

from runtime import obey, roster, streaming, visits
from runtime.abort import AbortAuthority, Grace
from runtime.core import Core
from runtime.handle import AgentHandle
from runtime.session.content import freeze_json
from runtime.teardown import Teardown
from runtime.turn import Context, Offer, Stop
from statemachine import Command, Decision, Input, Queues, Shape, Window
from tests.mutants.planting import remove

from .planting import fault, use
from .row_faults import BEFORE_A_STEP

if TYPE_CHECKING:
    from runtime.session.derive import Message

__all__: list[str] = []


@fault
def last_message_wins(patch: pytest.MonkeyPatch) -> None:
    """Only the newest queued message is taken up."""

    def drain(core: Core, _: object) -> None:
        core.turn.unread = core.queues.drain()[-1:]

    patch.setitem(obey.OBEY, Command.DRAIN, drain)


@fault
def messages_glued(patch: pytest.MonkeyPatch) -> None:
    """The messages of a batch become one."""

    def drain(core: Core, _: object) -> None:
        first, *others = core.queues.drain()
        for other in others:
            first.content = (*first.content, *other.content)
        core.turn.unread = [first]

    patch.setitem(obey.OBEY, Command.DRAIN, drain)


@fault
def steering_dropped_silently(patch: pytest.MonkeyPatch) -> None:
    """A cancel tells of the queued messages it drops, and not of the steering."""

    def discard(core: Core, stop: Stop) -> None:
        for message, steering in core.queues.clear():
            if not steering:
                obey.place_discarded(core, message, stop.cause, stop.reason)

    patch.setitem(obey.OBEY, Command.DISCARD, discard)


@fault
def steering_twice(patch: pytest.MonkeyPatch) -> None:
    """Steering that is recorded stays in the inbox for the next cancel to drop."""

    def keep(queues: Queues[Any]) -> list[Any]:
        return list(queues.steering)

    patch.setattr(Queues, "take", keep)


@fault
def failed_prompt_again(patch: pytest.MonkeyPatch) -> None:
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


@fault
def cancel_at_rest_is_remembered(patch: pytest.MonkeyPatch) -> None:
    """A cancel that finds nothing to stop stops the next turn."""
    post, begin, pending = Core.post, obey.OBEY[Command.BEGIN], set[Core]()

    def remember(core: Core, input: Input, argument: object = None) -> Decision:
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


@fault
def reason_lost(patch: pytest.MonkeyPatch) -> None:
    """An aborted turn ends with the default reason."""
    fire = AbortAuthority.fire
    patch.setattr(AbortAuthority, "fire", lambda self, _: fire(self, "cancelled"))


@fault
def nobody_is_interrupted(patch: pytest.MonkeyPatch) -> None:
    """A step opens behind a stop, its model is asked, and its stream runs to the end."""
    chosen = (Window.STEP_START, Window.REQUEST, *BEFORE_A_STEP)
    use(
        remove(
            lambda row: (
                row.on is Input.DONE and row.where[0] in chosen and row.when.name == "stopped"
            )
        )
    )

    async def to_the_end(body: Coroutine[Any, Any, object], _: AbortAuthority) -> None:
        await body

    patch.setattr(streaming, "run_cooperative", to_the_end)
    patch.setattr(streaming, "is_stopped", lambda _: False)


@fault
def no_grace(patch: pytest.MonkeyPatch) -> None:
    """A stopped body is waited for as long as it likes."""
    patch.setattr(Grace, "start", lambda *_: None)


@fault
def prompts_joined(patch: pytest.MonkeyPatch) -> None:
    """User messages that follow each other reach the model as one."""
    request = visits.VISITS[Window.REQUEST]

    def joined(core: Core) -> visits.Outcome:
        outcome = request(core)
        asked = core.turn.request
        assert asked is not None
        messages: list[Message] = []
        for message in asked.messages:
            if messages and messages[-1].role == message.role == "user":
                text = f"{messages[-1].text}\n{message.text}"
                content = freeze_json([{"type": "text", "text": text}], what="content")
                message = evolve(message, content=content)  # noqa: PLW2901  # the joined one
                messages.pop()
            messages.append(message)
        core.turn.request = evolve(asked, messages=messages)
        return outcome

    patch.setitem(visits.VISITS, Window.REQUEST, joined)


@fault
def injection_never_flushed(patch: pytest.MonkeyPatch) -> None:
    """An injection at rest is left to the next turn's flush."""
    patch.setattr(Core, "owe_flush", lambda *_: None)


@fault
def injection_asks_the_model(patch: pytest.MonkeyPatch) -> None:
    """An injection at rest is a message like any other."""

    def one_shot(core: Core, context: Context) -> None:
        core.loop.call_soon(core.call, Input.SEND, Offer(context.content, context.source, "send"))

    patch.setitem(obey.OBEY, Command.ONE_SHOT, one_shot)


@fault
def late_wait_hangs(patch: pytest.MonkeyPatch) -> None:
    """A wait that begins at rest waits for the next release."""
    patch.setattr(Shape, "is_quiescent", property(lambda shape: shape.window is Window.EXITED))


@fault
def second_dispose_returns_at_once(patch: pytest.MonkeyPatch) -> None:
    """Whoever disposes second does not wait for the first."""
    dispose = AgentHandle.dispose

    def hasty(handle: AgentHandle) -> Teardown:
        if handle._teardown is None:  # noqa: SLF001  # the part that is broken
            return dispose(handle)
        core = handle._core  # noqa: SLF001  # the part that is broken
        teardown = Teardown("a hasty end", core.loop, lambda: core.own_tasks)
        teardown.start([])
        return teardown

    patch.setattr(AgentHandle, "dispose", hasty)


@fault
def teardown_does_not_wait(patch: pytest.MonkeyPatch) -> None:
    """A teardown leaves the driver to itself."""

    async def at_once(_: Core) -> tuple[str, ...]:
        return ()

    patch.setattr(roster, "_stop_driver", at_once)
