"""The turn ends: STEP_END, CLOSING, TURN_END, FLUSH and ANNOUNCE_IDLE."""

from collections.abc import Callable

import pytest

from .scene import CALL, CUT, FAILS, Scene
from .table import check, rows

pytestmark = pytest.mark.seed("SEED-04")

DONE = "running TS UM(A) SS CH CH AM SE"


def step_ended(scene: Scene, do: Callable[[], None]) -> None:
    """Act from a listener of `step/end`."""
    scene.at("SE", do)
    scene.ask("A")


def truncated(scene: Scene, do: Callable[[], None]) -> None:
    """Act from a listener of the `step/end` of a reply that ran out of tokens."""
    scene.replies = [CUT]
    step_ended(scene, do)


def deferred(scene: Scene, do: Callable[[], None]) -> None:
    """Act from a listener of the context that waited for the last result."""
    scene.replies = [CALL]
    scene.at("AM", lambda: scene.a.inject("d"))
    scene.at("CM", do)
    scene.ask("A")


def failed(scene: Scene, do: Callable[[], None]) -> None:
    """Act from a listener of `agent/error`."""
    scene.replies = [FAILS]
    scene.at("ERR", do)
    scene.ask("A")


def turn_ended(scene: Scene, do: Callable[[], None]) -> None:
    """Act from a listener of `turn/end`."""
    scene.at("TE", do)
    scene.ask("A")


def flushing(scene: Scene, do: Callable[[], None]) -> None:
    """Act while the flush of the ended turn is awaited."""
    scene.hold("flush")
    scene.ask("A")
    scene.quiet()
    scene.open("model")
    do()


def flush_failed(scene: Scene, do: Callable[[], None]) -> None:
    """Act from the listener that is told of a failed flush."""
    scene.hold("flush")
    scene.ask("A")
    scene.at("ERR", do)
    scene.quiet()
    scene.open("model")
    scene.open("flush", "error")


def idle(scene: Scene, do: Callable[[], None]) -> None:
    """Act from a listener of `idle`."""
    scene.at("idle", do)
    scene.ask("A")


STEP_END = """
    cancel          abort cancelled TE{aborted:r} FLUSH idle W                    # B-26
    dispose         abort disposed TE{disposed} FLUSH W gone END                  # B-45
    send            TE{completed} FLUSH [B] idle W                                # A-05
    steer           SM(S) SS CH CH AM SE TE{completed} FLUSH idle W               # B-69
    inject          CM(c) TE{completed} FLUSH idle W                              # A-16
    cancel+send     abort cancelled TE{aborted:r} FLUSH running [B] idle W        # A-52
    send+cancel     abort cancelled -B{cancelled:r} TE{aborted:r} FLUSH idle W    # A-24
    cancel+steer    abort cancelled TE{aborted:r} FLUSH running [S] idle W        # A-12
    cancel+dispose  abort cancelled disposed TE{disposed} FLUSH W gone END        # B-47
    dispose+cancel  abort disposed TE{disposed} FLUSH W gone END                  # B-48
    send+dispose    abort disposed -B{disposed:disposed} TE{disposed} FLUSH W gone END
"""

TRUNCATED = """
    cancel          abort cancelled TE{aborted:r} FLUSH idle W                    # B-50
    dispose         abort disposed TE{disposed} FLUSH W gone END                  # B-50
    send            TE{max-tokens} FLUSH [B] idle W                               # B-74
    steer           SM(S) SS CH CH AM SE TE{max-tokens} FLUSH idle W              # B-74
    inject          CM(c) TE{max-tokens} FLUSH idle W
    cancel+send     abort cancelled TE{aborted:r} FLUSH running [B] idle W
    send+cancel     abort cancelled -B{cancelled:r} TE{aborted:r} FLUSH idle W
    cancel+steer    abort cancelled TE{aborted:r} FLUSH running [S] idle W
    cancel+dispose  abort cancelled disposed TE{disposed} FLUSH W gone END
    dispose+cancel  abort disposed TE{disposed} FLUSH W gone END
    send+dispose    abort disposed -B{disposed:disposed} TE{disposed} FLUSH W gone END
"""

DEFERRED = """
    cancel          abort SE cancelled TE{aborted:r} FLUSH idle W                 # A-74
    dispose         abort SE disposed TE{disposed} FLUSH W gone END
    send            SE SS CH CH AM SE TE{completed} FLUSH [B] idle W
    steer           SE SM(S) SS CH CH AM SE TE{completed} FLUSH idle W
    inject          SE CM(c) SS CH CH AM SE TE{completed} FLUSH idle W
    cancel+send     abort SE cancelled TE{aborted:r} FLUSH running [B] idle W
    send+cancel     abort SE cancelled -B{cancelled:r} TE{aborted:r} FLUSH idle W
    cancel+steer    abort SE cancelled TE{aborted:r} FLUSH running [S] idle W
    cancel+dispose  abort SE cancelled disposed TE{disposed} FLUSH W gone END
    dispose+cancel  abort SE disposed TE{disposed} FLUSH W gone END
    send+dispose    abort SE disposed -B{disposed:disposed} TE{disposed} FLUSH W gone END
"""

CLOSING = """
    cancel          abort cancelled TE{error} FLUSH idle W                        # B-98
    dispose         abort disposed TE{error} FLUSH W gone END                     # B-49
    send            TE{error} FLUSH [B] idle W                                    # B-111
    steer           TE{error} FLUSH [S] idle W                                    # B-78
    inject          CM(c) TE{error} FLUSH idle W                                  # A-16
    cancel+send     abort cancelled TE{error} FLUSH running [B] idle W            # A-52
    send+cancel     abort cancelled -B{cancelled:r} TE{error} FLUSH idle W        # A-24
    cancel+steer    abort cancelled TE{error} FLUSH running [S] idle W            # A-12
    cancel+dispose  abort cancelled disposed TE{error} FLUSH W gone END           # B-96
    dispose+cancel  abort disposed TE{error} FLUSH W gone END                     # B-49
    send+dispose    abort disposed -B{disposed:disposed} TE{error} FLUSH W gone END
"""

TURN_END = """
    cancel          FLUSH idle W                                                  # B-29
    dispose         disposed FLUSH W gone END                                     # B-46
    send            FLUSH [B] idle W                                              # A-05
    steer           FLUSH [S] idle W                                              # A-13
    inject          TS CM(c) TE{completed} FLUSH FLUSH idle W                     # A-15
    cancel+send     FLUSH [B] idle W                                              # B-31
    send+cancel     -B{cancelled:r} FLUSH idle W                                  # B-29
    cancel+steer    FLUSH [S] idle W                                              # A-13
    cancel+dispose  disposed FLUSH W gone END                                     # B-46
    dispose+cancel  disposed FLUSH W gone END                                     # B-46
    send+dispose    disposed -B{disposed:disposed} FLUSH W gone END
"""

FLUSH = """
    cancel          FLUSH idle W                                                  # B-30
    dispose         disposed FLUSH W gone END                                     # B-46
    send            FLUSH [B] idle W                                              # A-05
    steer           FLUSH [S] idle W                                              # C-10
    inject          TS CM(c) TE{completed} FLUSH idle W FLUSH                     # A-67
    cancel+send     FLUSH [B] idle W                                              # B-31
    send+cancel     -B{cancelled:r} FLUSH idle W                                  # B-32
    cancel+steer    FLUSH [S] idle W                                              # A-13
    cancel+dispose  disposed FLUSH W gone END                                     # B-46
    dispose+cancel  disposed FLUSH W gone END                                     # B-46
    send+dispose    disposed -B{disposed:disposed} FLUSH W gone END
"""

FLUSH_FAILED = """
    cancel          idle W                                                        # B-85
    dispose         idle disposed W FLUSH gone END                                # D-51
    send            idle running TS UM(B) SS W CH CH AM SE TE{completed} FLUSH idle
    steer           idle running TS UM(S) SS W CH CH AM SE TE{completed} FLUSH idle
    inject          idle TS CM(c) TE{completed} W FLUSH
    cancel+send     idle running TS UM(B) SS W CH CH AM SE TE{completed} FLUSH idle
    send+cancel     idle -B{cancelled:r} W
    cancel+steer    idle running TS UM(S) SS W CH CH AM SE TE{completed} FLUSH idle
    cancel+dispose  idle disposed W FLUSH gone END
    dispose+cancel  idle disposed W FLUSH gone END
    send+dispose    idle disposed -B{disposed:disposed} W FLUSH gone END
"""

IDLE = """
    cancel          W                                                             # A-22
    dispose         disposed W gone END
    send            running TS UM(B) SS W CH CH AM SE TE{completed} FLUSH idle    # A-35
    steer           running TS UM(S) SS W CH CH AM SE TE{completed} FLUSH idle    # A-11
    inject          TS CM(c) TE{completed} W FLUSH                                # A-15
    cancel+send     running TS UM(B) SS W CH CH AM SE TE{completed} FLUSH idle
    send+cancel     -B{cancelled:r} W                                             # B-34
    cancel+steer    running TS UM(S) SS W CH CH AM SE TE{completed} FLUSH idle
    cancel+dispose  disposed W gone END
    dispose+cancel  disposed W gone END
    send+dispose    disposed -B{disposed:disposed} W gone END
"""


@pytest.mark.at("step-end")
@pytest.mark.clause("B-26", "B-45", "B-69", "A-05", "A-16", "B-134")
@pytest.mark.seed("SEED-07")
@pytest.mark.parametrize(("name", "trace"), rows(STEP_END))
def test_inside_the_notification_of_step_end(name: str, trace: str) -> None:
    """A stop ends the turn without asking; steering makes it go on."""
    check(step_ended, DONE, name, trace)


@pytest.mark.at("step-end")
@pytest.mark.clause("B-50", "B-74", "B-96", "B-45")
@pytest.mark.parametrize(("name", "trace"), rows(TRUNCATED))
def test_after_a_step_that_ran_out_of_tokens(name: str, trace: str) -> None:
    """A stop wins over `max-tokens`, which otherwise stays whatever later steps do."""
    check(truncated, DONE, name, trace)


@pytest.mark.at("step-end: deferred context")
@pytest.mark.clause("A-16", "A-74", "B-56")
@pytest.mark.parametrize(("name", "trace"), rows(DEFERRED))
def test_inside_the_context_that_was_held_back(name: str, trace: str) -> None:
    """Held-back context and `step/end` are one decision: both stand before what is said later."""
    before = "running TS UM(A) SS CH AM FLUSH TC TR(unknown-tool) CM(d)"
    check(deferred, before, name, trace)


@pytest.mark.at("closing", "closing: agent/error")
@pytest.mark.clause("B-49", "B-75", "B-78", "B-96", "B-98", "B-111", "A-16")
@pytest.mark.parametrize(("name", "trace"), rows(CLOSING))
def test_inside_the_report_of_a_failure(name: str, trace: str) -> None:
    """A reported failure keeps its ending whatever the listener does."""
    check(failed, "running TS UM(A) SS SE ERR(1)", name, trace)


@pytest.mark.at("turn-end")
@pytest.mark.clause("B-29", "B-46", "A-05", "A-13", "A-15", "B-35", "B-103", "C-10")
@pytest.mark.parametrize(("name", "trace"), rows(TURN_END))
def test_inside_the_notification_of_turn_end(name: str, trace: str) -> None:
    """An ended turn keeps its ending, and no cancel is announced for it."""
    check(turn_ended, f"{DONE} TE{{completed}}", name, trace)


@pytest.mark.at("flush")
@pytest.mark.clause("B-07", "B-30", "B-31", "B-32", "B-46", "B-86", "B-122", "A-13", "A-67", "A-76")
@pytest.mark.parametrize(("name", "trace"), rows(FLUSH))
def test_while_the_flush_is_awaited(name: str, trace: str) -> None:
    """A cancel only empties the inbox, and the marker leaks onto nothing that comes after."""
    check(flushing, f"{DONE} TE{{completed}}", name, trace)


@pytest.mark.at("flush: failed flush")
@pytest.mark.clause("B-85", "D-51", "D-53", "B-35")
@pytest.mark.parametrize(("name", "trace"), rows(FLUSH_FAILED))
def test_inside_the_report_of_a_failed_flush(name: str, trace: str) -> None:
    """The idle decision has been taken: what the listener does is new; a teardown flushes again."""
    check(flush_failed, f"{DONE} TE{{completed}} FLUSH! ERR(0)", name, trace)


@pytest.mark.at("announce-idle", "announce-idle: status idle")
@pytest.mark.clause("B-34", "A-34", "A-35", "B-35", "C-04")
@pytest.mark.parametrize(("name", "trace"), rows(IDLE))
def test_inside_the_notification_of_idle(name: str, trace: str) -> None:
    """Waiters are released before the listeners run, and what these send runs by itself."""
    check(idle, "running [A] idle", name, trace)
