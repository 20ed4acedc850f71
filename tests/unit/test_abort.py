"""The abort signal of a turn: who sees it, who may fire it, and how often."""

import asyncio
import contextlib
from typing import Any

import pytest

from runtime import AbortSignal
from runtime.abort import (
    AbortAuthority,
    Cancellations,
    CutError,
    Grace,
    run_beside,
    run_cooperative,
)
from runtime.context.interceptors import Kind
from runtime.seams import (
    MODEL_REQUEST,
    PROMPT_SUBMIT,
    STEP_PREPARE,
    STEP_RESULT,
    SYSTEM_ASSEMBLE,
    TOOL_AFTER,
    TOOL_BEFORE,
    TURN_CONTINUE,
)
from statemachine import Patience
from statemachine.conformance.stage.stage import Stage
from tests.unit.windows.scene import CALL, CUT, FAILS, Scene

SEAMS: tuple[Kind, ...] = (
    *(PROMPT_SUBMIT, SYSTEM_ASSEMBLE, STEP_PREPARE, MODEL_REQUEST, STEP_RESULT),
    *(TOOL_BEFORE, TOOL_AFTER, TURN_CONTINUE),
)
"""Every seam of a turn but the one that only a question opens."""


@pytest.mark.clause("B-112", "B-115")
def test_a_signal_offers_no_way_to_fire_it() -> None:
    """Its public names are the closed list."""
    names = {each for each in dir(AbortSignal()) if not each.startswith("_")}
    assert names == {"is_aborted", "reason", "on_abort", "wait"}


@pytest.mark.clause("B-112", "B-14")
def test_whoever_runs_inside_a_turn_is_given_its_one_signal() -> None:
    """The model, every interceptor and the tool; the next turn has another."""
    given: list[object] = []

    async def look(told: Any, proceed: Any = None) -> object:  # noqa: ANN401  # any seam
        given.append(getattr(told, "use", told).signal)
        return None if proceed is None else await proceed()

    with Scene() as scene:
        for seam in SEAMS:
            scene.rt.context.on(seam, look)
        scene.tool(lambda _, use: given.append(use.signal))
        for _ in range(2):
            scene.replies = [CALL]
            scene.a.send("A")
            scene.settle()
    first, second = given[: len(given) // 2], given[len(given) // 2 :]
    assert len(first) == len(second) == 14
    assert set(map(id, first)) == set(map(id, scene.signals[:2])) == {id(first[0])}
    assert set(map(id, second)) == set(map(id, scene.signals[2:])) == {id(second[0])}
    assert first[0] is not second[0]


@pytest.mark.clause("B-115")
@pytest.mark.parametrize("reply", [FAILS, CUT, CALL], ids=["fails", "cut off", "unknown tool"])
def test_nothing_that_happens_in_a_turn_fires_its_signal(reply: tuple[Any, ...]) -> None:
    """Neither a failure nor an end of any other kind; only a call from outside does."""
    with Scene() as scene:
        scene.replies = [reply]
        scene.ask("A")
        scene.settle()
        assert [(each.is_aborted, each.reason) for each in scene.signals[:1]] == [(False, None)]


@pytest.mark.clause("B-113", "B-114")
def test_a_signal_fires_once_and_keeps_its_first_reason() -> None:
    """Each callback is called once, in order; a late one at once; a forgotten one never."""
    called: list[str] = []
    authority = AbortAuthority()
    signal = authority.signal
    signal.on_abort(lambda: called.append("first"))
    forget = signal.on_abort(lambda: called.append("forgotten"))
    signal.on_abort(lambda: called.append("second"))
    forget()
    forget()
    assert (signal.is_aborted, signal.reason) == (False, None)
    authority.fire("r")
    authority.fire("again")
    assert called == ["first", "second"]
    assert (signal.is_aborted, signal.reason) == (True, "r")
    signal.on_abort(lambda: called.append("late"))
    assert called == ["first", "second", "late"]


@pytest.mark.clause("B-114", "B-126")
def test_a_callback_that_registers_another_one_has_it_called_at_once() -> None:
    """The signal has fired by then, and a failure in between is contained."""
    called: list[str] = []
    authority = AbortAuthority()

    def register() -> None:
        authority.signal.on_abort(lambda: called.append("inner"))
        raise RuntimeError("callback")

    authority.signal.on_abort(register)
    authority.signal.on_abort(lambda: called.append("outer"))
    authority.fire("")
    assert called == ["inner", "outer"]
    assert authority.signal.reason == ""
    assert authority.signal.is_aborted


@pytest.mark.clause("B-112", "B-115")
@pytest.mark.seed("SEED-16")
@pytest.mark.parametrize(("stop", "reason"), [("cancel", "r"), ("dispose", "disposed")])
def test_waiting_for_a_signal_gives_the_reason(stop: str, reason: str) -> None:
    """For every waiter; one that gives up disturbs nobody."""
    with Scene() as scene:
        scene.ask("A")
        scene.quiet()
        signal = scene.signals[0]
        waiters = [scene.stage.spawn(_wait(signal), f"w{n}") for n in range(2)]
        scene.quiet()
        waiters[0].cancel()
        scene.stop(stop)
        scene.settle()
        assert waiters[1].result() == reason
        assert scene.stage.complete(_wait(signal)) == reason


async def _wait(signal: object) -> str:
    assert isinstance(signal, AbortSignal)
    return await signal.wait()


@pytest.mark.clause("B-112", "B-103")
def test_every_turn_has_a_signal_of_its_own() -> None:
    """One for all steps of a turn; a cancel of the next turn leaves the old one alone."""
    with Scene() as scene:
        scene.replies = [CALL]
        scene.ask("A")
        scene.settle()
        scene.a.send("B")
        scene.quiet()
        first, second, third = scene.signals
        assert first is second
        assert third is not first
        scene.a.cancel("r")
        scene.settle()
        assert (first.is_aborted, third.reason) == (False, "r")


@pytest.mark.clause("B-103", "B-115", "B-29")
@pytest.mark.parametrize("stop", ["cancel", "dispose"])
@pytest.mark.parametrize("head", ["TE", "idle"])
def test_nothing_fires_the_signal_of_a_turn_that_has_ended(stop: str, head: str) -> None:
    """The authority is retired in the stretch that writes `turn/end`."""
    with Scene() as scene:
        scene.at(head, lambda: scene.stop(stop))
        scene.ask("A")
        scene.settle()
        assert not scene.signals[0].is_aborted
        assert "abort" not in scene.trace()


@pytest.mark.clause("B-114")
def test_a_waiter_on_a_plain_loop() -> None:
    """The signal needs nothing but asyncio."""

    async def run() -> str:
        authority = AbortAuthority()
        asyncio.get_running_loop().call_soon(authority.fire, "r")
        return await authority.signal.wait()

    assert asyncio.run(run()) == "r"


@pytest.mark.clause("B-113", "B-114")
def test_a_callback_that_forgets_itself_hides_nobody() -> None:
    """Callbacks that are forgotten while the signal fires change nothing for the others."""
    called: list[str] = []
    authority = AbortAuthority()

    def once() -> None:
        called.append("once")
        forget()

    forget = authority.signal.on_abort(once)
    authority.signal.on_abort(lambda: called.append("next"))
    authority.fire("r")
    assert called == ["once", "next"]


@pytest.mark.clause("B-114", "B-118", "B-167")
def test_the_body_is_asked_to_end_before_anybody_is_called_back() -> None:
    """A callback that interrupts the whole program, on no loop, does not leave the body running."""
    order: list[str] = []
    authority = AbortAuthority()

    def interrupt_the_program() -> None:
        order.append("callback")
        raise KeyboardInterrupt

    authority.interrupt = lambda: order.append("body")
    authority.signal.on_abort(interrupt_the_program)
    with pytest.raises(KeyboardInterrupt):
        authority.fire("r")
    assert order == ["body", "callback"]
    assert authority.signal.is_aborted


@pytest.mark.clause("B-112")
def test_a_signal_forgets_whoever_waits_no_longer() -> None:
    """A plugin that waits with a time limit, over and over, leaves nothing behind."""
    with Stage() as stage:
        signal = AbortAuthority().signal
        waiter = stage.spawn(_wait(signal), "waits")
        stage.run_until_quiet()
        assert len(signal._waiters) == 1  # noqa: SLF001  # the inside
        waiter.cancel()
        stage.run_until_quiet()
        assert signal._waiters == []  # noqa: SLF001  # the inside


@pytest.mark.clause("B-117", "B-120", "B-121")
def test_a_grace_has_one_timer_and_gives_it_back() -> None:
    """A second start moves nothing, and what is closed keeps nobody waiting."""
    with Stage() as stage:
        grace = Grace()
        grace.start(stage.loop, 2.0)
        grace.start(stage.loop, 5.0)
        assert stage.loop.next_timer() == stage.now + 2.0
        grace.close()
        assert stage.loop.next_timer() is None
        assert not grace.is_over


@pytest.mark.clause("B-17", "B-134")
def test_a_cooperative_body_of_a_stopped_turn_is_not_entered() -> None:
    """It is closed as it is, and the wait is cut."""
    entered: list[str] = []

    async def body() -> None:
        entered.append("body")

    authority = AbortAuthority()
    authority.fire("r")
    with Stage() as stage, pytest.raises(CutError):
        stage.complete(run_cooperative(body(), authority))
    assert entered == []


@pytest.mark.clause("B-17", "B-95")
def test_a_strangers_cancellation_beside_ours_in_the_last_stretch_goes_on() -> None:
    """Draining takes our own cancellation away, and only that one."""

    async def asks_and_returns(authority: AbortAuthority, *, stranger: bool) -> int:
        authority.fire("r")
        task = asyncio.current_task()
        assert task is not None
        if stranger:
            task.cancel()
        return 1

    async def counted(*, stranger: bool) -> tuple[str, int]:
        authority = AbortAuthority()
        task = asyncio.current_task()
        assert task is not None
        try:
            answer = await run_cooperative(
                asks_and_returns(authority, stranger=stranger), authority
            )
        except asyncio.CancelledError:
            return "cancelled", task.cancelling()
        return str(answer), task.cancelling()

    with Stage() as stage:
        assert stage.complete(counted(stranger=False)) == ("1", 0)
        assert stage.complete(counted(stranger=True)) == ("cancelled", 1)


@pytest.mark.clause("B-17", "B-95")
def test_a_body_that_swallows_our_cancellation_leaves_no_count_behind() -> None:
    """What surfaces later must not be taken for a stranger's."""

    async def swallows(authority: AbortAuthority) -> int:
        authority.fire("r")
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return 1

    async def counted() -> tuple[int, int]:
        authority = AbortAuthority()
        task = asyncio.current_task()
        assert task is not None
        answer = await run_cooperative(swallows(authority), authority)
        return answer, task.cancelling()

    with Stage() as stage:
        assert stage.complete(counted()) == (1, 0)


@pytest.mark.clause("B-117", "B-118", "B-119")
@pytest.mark.parametrize("patience", [Patience.NONE, Patience.GRACE])
def test_a_body_is_asked_to_end_exactly_once(patience: Patience) -> None:
    """At once or when the grace is over; one that goes on is left, not asked again."""
    asked: list[float] = []

    async def stubborn(loop: asyncio.AbstractEventLoop) -> None:
        while len(asked) < 2:
            with contextlib.suppress(asyncio.CancelledError):
                await loop.create_future()
            asked.append(loop.time())

    async def beside(loop: asyncio.AbstractEventLoop) -> list[float]:
        child = loop.create_task(stubborn(loop))
        await asyncio.sleep(0)
        grace = Grace()
        grace.start(loop, 2.0)
        with pytest.raises(CutError):
            await run_beside(child, grace, patience, Cancellations(on_stranger=asked.clear))
        await asyncio.sleep(0)
        seen = list(asked)
        child.cancel()
        await child
        return seen

    with Stage() as stage:
        began = stage.now
        seen = stage.complete(beside(stage.loop))
        assert seen == [began if patience is Patience.NONE else began + 2.0]
