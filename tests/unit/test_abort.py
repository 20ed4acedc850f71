"""The abort signal of a turn: who sees it, who may fire it, and how often."""

import asyncio

import pytest

from runtime import AbortSignal
from runtime.abort import AbortAuthority
from tests.unit.windows.scene import CALL, Scene


@pytest.mark.clause("B-112", "B-115")
def test_a_signal_offers_no_way_to_fire_it() -> None:
    """Its public names are the closed list."""
    names = {each for each in dir(AbortSignal()) if not each.startswith("_")}
    assert names == {"is_aborted", "reason", "on_abort", "wait"}


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
        if stop == "cancel":
            scene.a.cancel("r")
        else:
            scene.handle().dispose()
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

    def act() -> None:
        if stop == "cancel":
            scene.a.cancel("r")
        else:
            scene.handle().dispose()

    with Scene() as scene:
        scene.at(head, act)
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
