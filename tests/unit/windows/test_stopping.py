"""Inside the stop itself: abort callbacks, and the announcements that a stop causes."""
# ruff: noqa: E501  # a row of a table is one line

from collections.abc import Callable

import pytest

from .scene import Scene
from .table import check, rows

OPEN = "running TS UM(A) SS"


def in_callback(scene: Scene, do: Callable[[], None]) -> None:
    """Act from an abort callback; Q is queued, and somebody outside cancels with `q`."""
    scene.ask("A")
    scene.quiet()
    scene.a.send("Q")
    scene.at("abort", do)
    scene.a.cancel("q")


def in_cancelled(scene: Scene, do: Callable[[], None]) -> None:
    """Act from a listener of `cancelled`."""
    scene.ask("A")
    scene.quiet()
    scene.at("cancelled", do)
    scene.a.cancel("q")


def in_drain(scene: Scene, do: Callable[[], None]) -> None:
    """Act in the pass that the loop gets before a stream that was cut is noticed to be cut."""

    def cancel() -> None:
        scene.a.cancel("q")
        scene.stage.loop.call_soon(do)

    scene.at("CH", cancel)
    scene.ask("A")


def in_discarded(scene: Scene, do: Callable[[], None]) -> None:
    """Act from the listener that is told that Q is dropped."""
    scene.ask("A")
    scene.quiet()
    scene.a.send("Q")
    scene.at("-", do)
    scene.a.cancel("q")


def in_disposed_callback(scene: Scene, do: Callable[[], None]) -> None:
    """Act from an abort callback of a dispose."""
    scene.ask("A")
    scene.quiet()
    scene.at("abort", do)
    scene.handle().dispose()


def in_disposed(scene: Scene, do: Callable[[], None]) -> None:
    """Act from a listener of `disposed`."""
    scene.ask("A")
    scene.quiet()
    scene.at("disposed", do)
    scene.handle().dispose()


def in_gone(scene: Scene, do: Callable[[], None]) -> None:
    """Act from a listener of `agent/disposed`."""
    scene.ask("A")
    scene.quiet()
    scene.at("gone", do)
    scene.handle().dispose()


def after_the_end(scene: Scene, do: Callable[[], None]) -> None:
    """Act when the teardown has resolved."""
    scene.ask("A")
    scene.settle()
    scene.dispose()
    scene.settle()
    do()


CALLBACK = """
    cancel          cancelled -Q{cancelled:q} SE TE{aborted:q} FLUSH idle W                    # A-28
    dispose         cancelled -Q{cancelled:q} disposed SE TE{disposed} FLUSH W gone END        # B-47
    send            cancelled -Q{cancelled:q} SE TE{aborted:q} FLUSH running [B] idle W        # A-25
    steer           cancelled -Q{cancelled:q} SE TE{aborted:q} FLUSH running [S] idle W        # A-12
    inject          cancelled -Q{cancelled:q} CM(c) SE TE{aborted:q} FLUSH idle W              # A-74
    cancel+send     cancelled -Q{cancelled:q} SE TE{aborted:q} FLUSH running [B] idle W
    send+cancel     cancelled -Q{cancelled:q} -B{cancelled:r} SE TE{aborted:q} FLUSH idle W    # A-55
    cancel+steer    cancelled -Q{cancelled:q} SE TE{aborted:q} FLUSH running [S] idle W
    cancel+dispose  cancelled -Q{cancelled:q} disposed SE TE{disposed} FLUSH W gone END
    dispose+cancel  cancelled -Q{cancelled:q} disposed SE TE{disposed} FLUSH W gone END
    send+dispose    cancelled -Q{cancelled:q} disposed -B{disposed:disposed} SE TE{disposed} FLUSH W gone END
"""

UNWINDING = """
    cancel          SE TE{aborted:q} FLUSH idle W                                 # A-28
    dispose         disposed SE TE{disposed} FLUSH W gone END                     # B-47
    send            SE TE{aborted:q} FLUSH running [B] idle W                     # A-52
    steer           SE TE{aborted:q} FLUSH running [S] idle W                     # A-12
    inject          CM(c) SE TE{aborted:q} FLUSH idle W                           # A-74
    cancel+send     SE TE{aborted:q} FLUSH running [B] idle W                     # A-28
    send+cancel     -B{cancelled:r} SE TE{aborted:q} FLUSH idle W                 # A-28
    cancel+steer    SE TE{aborted:q} FLUSH running [S] idle W
    cancel+dispose  disposed SE TE{disposed} FLUSH W gone END
    dispose+cancel  disposed SE TE{disposed} FLUSH W gone END
    send+dispose    disposed -B{disposed:disposed} SE TE{disposed} FLUSH W gone END
"""

DISPOSED_CALLBACK = """
    cancel          disposed SE TE{disposed} FLUSH W gone                         # B-48
    dispose         disposed SE TE{disposed} FLUSH W gone END                     # F-17
    send            refused disposed SE TE{disposed} FLUSH W gone                 # A-57
    steer           refused disposed SE TE{disposed} FLUSH W gone
    inject          refused disposed SE TE{disposed} FLUSH W gone
    cancel+send     refused disposed SE TE{disposed} FLUSH W gone
    send+cancel     refused disposed SE TE{disposed} FLUSH W gone
    cancel+steer    refused disposed SE TE{disposed} FLUSH W gone
    cancel+dispose  disposed SE TE{disposed} FLUSH W gone END
    dispose+cancel  disposed SE TE{disposed} FLUSH W gone END
    send+dispose    refused disposed SE TE{disposed} FLUSH W gone END
"""

DISPOSED = """
    cancel          SE TE{disposed} FLUSH W gone                                  # B-48 B-51
    dispose         SE TE{disposed} FLUSH W gone END                              # F-17
    send            refused SE TE{disposed} FLUSH W gone                          # A-20
    steer           refused SE TE{disposed} FLUSH W gone                          # A-20
    inject          refused SE TE{disposed} FLUSH W gone                          # A-20
    cancel+send     refused SE TE{disposed} FLUSH W gone
    send+cancel     refused SE TE{disposed} FLUSH W gone
    cancel+steer    refused SE TE{disposed} FLUSH W gone
    cancel+dispose  SE TE{disposed} FLUSH W gone END
    dispose+cancel  SE TE{disposed} FLUSH W gone END
    send+dispose    refused SE TE{disposed} FLUSH W gone END
"""

ENDED = """
    cancel                                                                        # A-20
    dispose         END                                                           # F-17
    send            refused                                                       # A-20
    steer           refused                                                       # A-20
    inject          refused                                                       # A-20
    cancel+send     refused
    send+cancel     refused
    cancel+steer    refused
    cancel+dispose  END
    dispose+cancel  END
    send+dispose    refused END
"""


@pytest.mark.at("abort callback")
@pytest.mark.clause("A-25", "A-28", "A-55", "A-56", "A-58", "A-74", "B-114", "B-106")
@pytest.mark.parametrize(("name", "trace"), rows(CALLBACK))
def test_inside_an_abort_callback(name: str, trace: str) -> None:
    """The cancel is complete when the callback runs: what it sends survives and is new work."""
    check(in_callback, f"{OPEN} abort", name, trace)


@pytest.mark.at("status cancelled")
@pytest.mark.clause("A-28", "A-52", "A-12", "A-74", "B-47", "B-136", "B-135")
@pytest.mark.seed("SEED-08")
@pytest.mark.parametrize(("name", "trace"), rows(UNWINDING))
def test_inside_the_notification_of_cancelled(name: str, trace: str) -> None:
    """While the turn unwinds its first reason stays, and whatever comes waits for the next turn."""
    check(in_cancelled, f"{OPEN} abort cancelled", name, trace)


@pytest.mark.at("stream: abort drain")
@pytest.mark.clause("A-28", "A-52", "B-18", "B-118", "B-136")
@pytest.mark.parametrize(("name", "trace"), rows(UNWINDING))
def test_in_the_pass_that_drains_a_cut_stream(name: str, trace: str) -> None:
    """The cut was asked for inside the stream's last stretch and has not been delivered."""
    check(in_drain, f"{OPEN} CH abort cancelled", name, trace)


@pytest.mark.at("agent/discarded")
@pytest.mark.clause("A-28", "A-54", "A-70", "B-106")
@pytest.mark.parametrize(("name", "trace"), rows(UNWINDING))
def test_inside_the_discard_of_a_cancelled_turn(name: str, trace: str) -> None:
    """A message that takes the place of a dropped one is not dropped with it."""
    check(in_discarded, f"{OPEN} abort cancelled -Q{{cancelled:q}}", name, trace)


@pytest.mark.at("abort callback")
@pytest.mark.clause("A-57", "A-58", "B-48", "F-17", "B-115")
@pytest.mark.parametrize(("name", "trace"), rows(DISPOSED_CALLBACK))
def test_inside_the_abort_callback_of_a_dispose(name: str, trace: str) -> None:
    """The agent is closed already when the callback runs."""
    check(in_disposed_callback, f"{OPEN} abort", name, trace)


@pytest.mark.at("status disposed")
@pytest.mark.clause("A-20", "B-44", "B-48", "B-51", "F-17", "F-39")
@pytest.mark.seed("SEED-33")
@pytest.mark.parametrize(("name", "trace"), rows(DISPOSED))
def test_inside_the_notification_of_disposed(name: str, trace: str) -> None:
    """Nothing is accepted any more, although the turn still unwinds."""
    check(in_disposed, f"{OPEN} abort disposed", name, trace)


@pytest.mark.at("exited", "unregistered")
@pytest.mark.clause("A-20", "F-17", "F-39")
@pytest.mark.parametrize(("name", "trace"), rows(ENDED))
def test_inside_the_announcement_of_the_end(name: str, trace: str) -> None:
    """A listener that a link of the teardown calls may ask for the same end again."""
    check(in_gone, f"{OPEN} abort disposed SE TE{{disposed}} FLUSH W gone", name, trace)


@pytest.mark.at("exited")
@pytest.mark.clause("A-20", "A-40", "F-17", "A-32")
@pytest.mark.parametrize(("name", "trace"), rows(ENDED))
def test_after_the_end(name: str, trace: str) -> None:
    """An agent that is gone refuses work, ignores a cancel, and joins everybody to its end."""
    check(after_the_end, "running [A] idle W disposed gone END", name, trace)
