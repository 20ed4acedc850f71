"""Before a turn is open: PARKED, WOKEN and ANNOUNCE_RUNNING."""
# ruff: noqa: E501  # a row of a table is one line

from collections.abc import Callable

import pytest

from .scene import Scene
from .table import check, rows

pytestmark = pytest.mark.seed("SEED-04")


def parked(scene: Scene, do: Callable[[], None]) -> None:
    """Act on an agent that has never worked; somebody asks afterwards whether it is idle."""
    do()
    scene.stage.spawn(scene.wait(), "waits")


def woken(scene: Scene, do: Callable[[], None]) -> None:
    """Act when A has been sent and the driver has not run."""
    scene.ask("A")
    scene.stage.tick()
    do()


def queued(scene: Scene, do: Callable[[], None]) -> None:
    """Act from a listener of `agent/queued`, inside the `send` of A."""
    scene.at("queued", do)
    scene.ask("A")


def discarded(scene: Scene, do: Callable[[], None]) -> None:
    """Act from a listener of `agent/discarded`, inside the cancel that drops A."""
    scene.ask("A")
    scene.stage.tick()
    scene.at("-", do)
    scene.a.cancel("q")


def announced(scene: Scene, do: Callable[[], None]) -> None:
    """Act from a listener of `running`."""
    scene.at("running", do)
    scene.ask("A")


def passing(scene: Scene, do: Callable[[], None]) -> None:
    """Act in the one pass that the loop gets when a listener of `running` cancels and resends."""

    def cancel_and_resend() -> None:
        scene.a.cancel("q")
        scene.a.send("Y")
        scene.stage.loop.call_soon(do)

    scene.at("running", cancel_and_resend)
    scene.ask("A")


PARKED = """
    cancel          W                                                             # B-01 A-22
    dispose         disposed W gone END                                           # B-38
    send            running [B] idle W                                            # A-02
    steer           running [S] idle W                                            # A-11
    inject          TS CM(c) TE{completed} W FLUSH                                # A-14 A-67
    cancel+send     running [B] idle W                                            # A-22
    send+cancel     -B{cancelled:r} W                                             # A-23
    cancel+steer    running [S] idle W                                            # A-22
    cancel+dispose  disposed W gone END                                           # B-38
    dispose+cancel  disposed W gone END                                           # A-20
    send+dispose    disposed -B{disposed:disposed} W gone END
"""

WOKEN = """
    cancel          -A{cancelled:r} W                                             # B-02
    dispose         disposed -A{disposed:disposed} W gone END                     # B-39
    send            running [A,B] idle W                                          # A-06
    steer           running [A,S] idle W                                          # A-11
    inject          TS CM(c) TE{completed} running TS UM(A) SS FLUSH CH CH AM SE TE{completed} FLUSH idle W
    cancel+send     -A{cancelled:r} running [B] idle W                            # B-03
    send+cancel     -A{cancelled:r} -B{cancelled:r} W                             # A-24
    cancel+steer    -A{cancelled:r} running [S] idle W                            # B-04
    cancel+dispose  -A{cancelled:r} disposed W gone END                           # A-54
    dispose+cancel  disposed -A{disposed:disposed} W gone END                     # B-48
    send+dispose    disposed -A{disposed:disposed} -B{disposed:disposed} W gone END
"""

DISCARDED = """
    cancel          W
    dispose         disposed W gone END
    send            running [B] idle W                                            # A-37
    steer           running [S] idle W
    inject          TS CM(c) TE{completed} W FLUSH
    cancel+send     running [B] idle W
    send+cancel     -B{cancelled:r} W
    cancel+steer    running [S] idle W
    cancel+dispose  disposed W gone END
    dispose+cancel  disposed W gone END
    send+dispose    disposed -B{disposed:disposed} W gone END
"""

ANNOUNCED = """
    cancel          cancelled -A{cancelled:r} idle W                              # B-05
    dispose         disposed -A{disposed:disposed} W gone END                     # B-40
    send            [A,B] idle W                                                  # B-100
    steer           TS UM(A) SM(S) SS CH CH AM SE TE{completed} FLUSH idle W      # B-100
    inject          TS CM(c) TE{completed} TS UM(A) SS FLUSH CH CH AM SE TE{completed} FLUSH idle W
    cancel+send     cancelled -A{cancelled:r} running [B] idle W                  # B-06
    send+cancel     cancelled -A{cancelled:r} -B{cancelled:r} idle W              # B-99
    cancel+steer    cancelled -A{cancelled:r} running [S] idle W                  # A-12
    cancel+dispose  cancelled -A{cancelled:r} disposed W gone END                 # B-40
    dispose+cancel  disposed -A{disposed:disposed} W gone END                     # B-48
    send+dispose    disposed -A{disposed:disposed} -B{disposed:disposed} W gone END
"""

PASSING = """
    cancel          -Y{cancelled:r} idle W                                        # B-101
    dispose         disposed -Y{disposed:disposed} W gone END                     # B-102
    send            running [Y,B] idle W                                          # B-101
    steer           running [Y,S] idle W                                          # B-101
    inject          TS CM(c) TE{completed} running TS UM(Y) SS FLUSH CH CH AM SE TE{completed} FLUSH idle W
    cancel+send     -Y{cancelled:r} running [B] idle W                            # B-102
    send+cancel     -Y{cancelled:r} -B{cancelled:r} idle W                        # B-101
    cancel+steer    -Y{cancelled:r} running [S] idle W                            # B-101
    cancel+dispose  -Y{cancelled:r} disposed W gone END                           # B-102
    dispose+cancel  disposed -Y{disposed:disposed} W gone END                     # B-102
    send+dispose    disposed -Y{disposed:disposed} -B{disposed:disposed} W gone END
"""


@pytest.mark.at("parked")
@pytest.mark.clause("B-01", "B-38", "B-94", "A-11", "A-14", "A-22", "A-23", "A-29", "A-67")
@pytest.mark.seed("SEED-10", "SEED-24")
@pytest.mark.parametrize(("name", "trace"), rows(PARKED))
def test_a_parked_agent(name: str, trace: str) -> None:
    """A cancel leaves nothing behind, a dispose needs nothing, and anything else runs."""
    check(parked, "", name, trace)


@pytest.mark.at("woken")
@pytest.mark.clause("B-02", "B-03", "B-04", "B-39", "A-06", "A-24", "A-30", "A-36", "A-37", "C-09")
@pytest.mark.seed("SEED-05", "SEED-34")
@pytest.mark.parametrize(("name", "trace"), rows(WOKEN))
def test_a_driver_that_was_woken_and_has_not_run(name: str, trace: str) -> None:
    """What is dropped before the driver runs opens no turn and releases the waiter."""
    check(woken, "", name, trace)


@pytest.mark.at("agent/queued")
@pytest.mark.clause("A-03", "A-30", "A-54", "B-02", "B-03", "B-39", "A-71")
@pytest.mark.parametrize(("name", "trace"), rows(WOKEN))
def test_inside_the_announcement_of_a_message(name: str, trace: str) -> None:
    """A listener of `agent/queued` finds the message in the inbox: what it does applies to it."""
    check(queued, "", name, trace)


@pytest.mark.at("agent/discarded")
@pytest.mark.clause("A-36", "A-37", "A-70", "C-08")
@pytest.mark.seed("SEED-21")
@pytest.mark.parametrize(("name", "trace"), rows(DISCARDED))
def test_inside_the_announcement_of_a_discard(name: str, trace: str) -> None:
    """What a listener of `agent/discarded` starts is new work, never hit by that cancel."""
    check(discarded, "-A{cancelled:q}", name, trace)


@pytest.mark.at("announce-running: status running")
@pytest.mark.clause("B-05", "B-06", "B-40", "B-99", "B-100", "A-12", "A-51")
@pytest.mark.parametrize(("name", "trace"), rows(ANNOUNCED))
def test_inside_the_notification_of_running(name: str, trace: str) -> None:
    """A stop opens no turn; what is accepted belongs to the turn that is about to open."""
    check(announced, "running", name, trace)


@pytest.mark.at("announce-running")
@pytest.mark.clause("B-101", "B-102", "B-136", "A-28")
@pytest.mark.parametrize(("name", "trace"), rows(PASSING))
def test_in_the_pass_between_an_unopened_turn_and_its_replacement(name: str, trace: str) -> None:
    """The status is still `cancelled`: a steer is queued, a cancel only empties the inbox."""
    check(passing, "running cancelled -A{cancelled:q}", name, trace)
