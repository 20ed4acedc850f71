"""The windows behind a turn that was cancelled: its end, its flush, and what follows."""

import re
from collections.abc import Callable

import pytest

from .scene import Scene
from .table import check, rows
from .test_before_a_turn import ANNOUNCED
from .test_closing import IDLE

ABORTED = "running TS UM(A) SS abort cancelled SE TE{aborted:q}"


def cancelled(scene: Scene) -> None:
    """Cancel while the model is silent."""
    scene.ask("A")
    scene.quiet()
    scene.a.cancel("q")


def turn_ended(scene: Scene, do: Callable[[], None]) -> None:
    """Act from a listener of the `turn/end` of a cancelled turn."""
    scene.at("TE", do)
    cancelled(scene)


def flushing(scene: Scene, do: Callable[[], None]) -> None:
    """Act while the flush of a cancelled turn is awaited; the status is still `cancelled`."""
    scene.hold("flush")
    cancelled(scene)
    scene.quiet()
    do()


def replaced(scene: Scene, do: Callable[[], None]) -> None:
    """Act from the `running` that a replacement goes straight to."""
    cancelled(scene)
    scene.a.send("Y")
    scene.at("running", do)


def idle_again(scene: Scene, do: Callable[[], None]) -> None:
    """Act from the `idle` behind a turn that never opened."""
    scene.at("running", lambda: scene.a.cancel("q"))
    scene.at("idle", do)
    scene.ask("A")


TURN_END = """
    cancel          FLUSH idle W                                                  # B-29
    dispose         disposed FLUSH W gone END                                     # B-46
    send            FLUSH running [B] idle W                                      # A-52
    steer           FLUSH running [S] idle W                                      # A-12
    inject          TS CM(c) TE{completed} FLUSH FLUSH idle W                     # A-15
    cancel+send     FLUSH running [B] idle W                                      # B-31
    send+cancel     -B{cancelled:r} FLUSH idle W                                  # B-32
    cancel+steer    FLUSH running [S] idle W                                      # A-12
    cancel+dispose  disposed FLUSH W gone END
    dispose+cancel  disposed FLUSH W gone END
    send+dispose    disposed -B{disposed:disposed} FLUSH W gone END
"""

FLUSH = """
    cancel          FLUSH idle W                                                  # B-30
    dispose         disposed FLUSH W gone END                                     # B-46
    send            FLUSH running [B] idle W                                      # A-52
    steer           FLUSH running [S] idle W                                      # A-12
    inject          TS CM(c) TE{completed} FLUSH idle W FLUSH                     # A-15
    cancel+send     FLUSH running [B] idle W                                      # B-31
    send+cancel     -B{cancelled:r} FLUSH idle W                                  # B-32
    cancel+steer    FLUSH running [S] idle W                                      # A-12
    cancel+dispose  disposed FLUSH W gone END
    dispose+cancel  disposed FLUSH W gone END
    send+dispose    disposed -B{disposed:disposed} FLUSH W gone END
"""


@pytest.mark.at("turn-end")
@pytest.mark.clause("B-29", "B-46", "A-12", "A-15", "A-52", "B-35", "B-103", "B-136")
@pytest.mark.seed("SEED-08")
@pytest.mark.parametrize(("name", "trace"), rows(TURN_END))
def test_inside_the_end_of_a_cancelled_turn(name: str, trace: str) -> None:
    """The marker is gone, only the status says `cancelled`: what comes is queued and runs."""
    check(turn_ended, ABORTED, name, trace)


@pytest.mark.at("flush")
@pytest.mark.clause("B-30", "B-31", "B-32", "B-46", "A-12", "A-15", "A-52", "B-35", "A-31")
@pytest.mark.seed("SEED-08", "SEED-09")
@pytest.mark.parametrize(("name", "trace"), rows(FLUSH))
def test_while_the_flush_of_a_cancelled_turn_is_awaited(name: str, trace: str) -> None:
    """A cancel only empties the inbox; work goes from `cancelled` to `running` without `idle`."""
    check(flushing, ABORTED, name, trace)


@pytest.mark.at("announce-running: status running")
@pytest.mark.clause("B-05", "B-06", "B-35", "B-40", "B-99", "B-100", "A-52")
@pytest.mark.parametrize(("name", "trace"), rows(re.sub(r"\bA\b", "Y", ANNOUNCED)))
def test_inside_the_running_of_a_replacement(name: str, trace: str) -> None:
    """The new turn has a cancel of its own, and nothing of the old one."""
    check(replaced, f"{ABORTED} FLUSH running", name, trace)


@pytest.mark.at("announce-idle: status idle")
@pytest.mark.clause("B-05", "B-34", "B-35", "B-102", "A-35")
@pytest.mark.parametrize(("name", "trace"), rows(IDLE))
def test_inside_the_idle_behind_an_unopened_turn(name: str, trace: str) -> None:
    """Marker, reason and authority are retired: nothing is left of the cancel."""
    check(idle_again, "running cancelled -A{cancelled:q} idle", name, trace)
