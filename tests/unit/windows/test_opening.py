"""A turn opens and its first step is prepared: TURN_START, PROMPTS, ASSEMBLY and STEP_START."""

from collections.abc import Callable

import pytest

from .scene import Scene
from .table import check, rows

pytestmark = pytest.mark.seed("SEED-04")


def opened(scene: Scene, do: Callable[[], None]) -> None:
    """Act from a listener of `turn/start`."""
    scene.at("TS", do)
    scene.ask("A")


def recorded(scene: Scene, do: Callable[[], None]) -> None:
    """Act from the listener of the first of two prompts."""
    scene.at("UM", do)
    scene.ask("A", "E")


def steered(scene: Scene, do: Callable[[], None]) -> None:
    """Act from a listener of the steering that the first step begins with."""
    scene.at("running", lambda: scene.a.steer("P"))
    scene.at("SM", do)
    scene.ask("A")


def stepped(scene: Scene, do: Callable[[], None]) -> None:
    """Act from a listener of `step/start`."""
    scene.at("SS", do)
    scene.ask("A")


TURN_START = """
    cancel          cancelled UM(A) TE{aborted:r} FLUSH idle W                    # B-08
    dispose         disposed UM(A) TE{disposed} FLUSH W gone END                  # B-41
    send            UM(A) SS CH CH AM SE TE{completed} FLUSH [B] idle W           # A-05
    steer           UM(A) SM(S) SS CH CH AM SE TE{completed} FLUSH idle W         # A-10
    inject          CM(c) UM(A) SS CH CH AM SE TE{completed} FLUSH idle W         # A-16
    cancel+send     cancelled UM(A) TE{aborted:r} FLUSH running [B] idle W        # B-10
    send+cancel     cancelled -B{cancelled:r} UM(A) TE{aborted:r} FLUSH idle W    # A-24
    cancel+steer    cancelled UM(A) TE{aborted:r} FLUSH running [S] idle W        # B-09
    cancel+dispose  cancelled disposed UM(A) TE{disposed} FLUSH W gone END        # B-47
    dispose+cancel  disposed UM(A) TE{disposed} FLUSH W gone END                  # B-48
    send+dispose    disposed -B{disposed:disposed} UM(A) TE{disposed} FLUSH W gone END
"""

PROMPTS = """
    cancel          cancelled UM(E) TE{aborted:r} FLUSH idle W                    # B-11
    dispose         disposed UM(E) TE{disposed} FLUSH W gone END                  # B-41
    send            UM(E) SS CH CH AM SE TE{completed} FLUSH [B] idle W           # C-11
    steer           UM(E) SM(S) SS CH CH AM SE TE{completed} FLUSH idle W         # A-10
    inject          CM(c) UM(E) SS CH CH AM SE TE{completed} FLUSH idle W         # A-16
    cancel+send     cancelled UM(E) TE{aborted:r} FLUSH running [B] idle W        # A-52
    send+cancel     cancelled -B{cancelled:r} UM(E) TE{aborted:r} FLUSH idle W    # A-24
    cancel+steer    cancelled UM(E) TE{aborted:r} FLUSH running [S] idle W        # A-12
    cancel+dispose  cancelled disposed UM(E) TE{disposed} FLUSH W gone END        # B-47
    dispose+cancel  disposed UM(E) TE{disposed} FLUSH W gone END                  # B-48
    send+dispose    disposed -B{disposed:disposed} UM(E) TE{disposed} FLUSH W gone END
"""

ASSEMBLY = """
    cancel          cancelled TE{aborted:r} FLUSH idle W                          # B-13
    dispose         disposed TE{disposed} FLUSH W gone END                        # B-41
    send            SS CH CH AM SE TE{completed} FLUSH [B] idle W                 # A-05
    steer           SS CH CH AM SM(S) SE SS CH CH AM SE TE{completed} FLUSH idle W  # C-11
    inject          CM(c) SS CH CH AM SE TE{completed} FLUSH idle W               # A-16
    cancel+send     cancelled TE{aborted:r} FLUSH running [B] idle W              # A-52
    send+cancel     cancelled -B{cancelled:r} TE{aborted:r} FLUSH idle W          # A-24
    cancel+steer    cancelled TE{aborted:r} FLUSH running [S] idle W              # A-12
    cancel+dispose  cancelled disposed TE{disposed} FLUSH W gone END              # B-47
    dispose+cancel  disposed TE{disposed} FLUSH W gone END                        # B-48
    send+dispose    disposed -B{disposed:disposed} TE{disposed} FLUSH W gone END
"""

STEP_START = """
    cancel          cancelled SE TE{aborted:r} FLUSH idle W                       # B-15
    dispose         disposed SE TE{disposed} FLUSH W gone END                     # B-43
    send            CH CH AM SE TE{completed} FLUSH [B] idle W                    # A-05
    steer           CH CH AM SM(S) SE SS CH CH AM SE TE{completed} FLUSH idle W   # A-10
    inject          CM(c) CH CH AM SE TE{completed} FLUSH idle W                  # A-16
    cancel+send     cancelled SE TE{aborted:r} FLUSH running [B] idle W           # A-52
    send+cancel     cancelled -B{cancelled:r} SE TE{aborted:r} FLUSH idle W       # A-24
    cancel+steer    cancelled SE TE{aborted:r} FLUSH running [S] idle W           # A-12
    cancel+dispose  cancelled disposed SE TE{disposed} FLUSH W gone END           # B-47
    dispose+cancel  disposed SE TE{disposed} FLUSH W gone END                     # B-48
    send+dispose    disposed -B{disposed:disposed} SE TE{disposed} FLUSH W gone END
"""


@pytest.mark.at("turn-start")
@pytest.mark.clause(
    "B-08", "B-09", "B-10", "B-41", "B-47", "B-48", "B-53", "A-05", "A-24", "B-36", "B-99"
)
@pytest.mark.seed("SEED-06")
@pytest.mark.parametrize(("name", "trace"), rows(TURN_START))
def test_inside_the_notification_of_turn_start(name: str, trace: str) -> None:
    """The drained prompt is recorded whatever happens, and after a stop no step opens."""
    check(opened, "running TS", name, trace)


@pytest.mark.at("prompts: prompt recorded")
@pytest.mark.clause("B-11", "B-41", "C-11", "A-12", "A-52", "B-106")
@pytest.mark.seed("SEED-06")
@pytest.mark.parametrize(("name", "trace"), rows(PROMPTS))
def test_between_two_prompts_of_a_batch(name: str, trace: str) -> None:
    """Every drained prompt is recorded in its turn; what is sent meanwhile belongs to the next."""
    check(recorded, "running TS UM(A)", name, trace)


@pytest.mark.at("assembly: steering recorded")
@pytest.mark.clause("B-13", "B-41", "A-10", "A-16", "C-11", "B-56")
@pytest.mark.seed("SEED-06")
@pytest.mark.parametrize(("name", "trace"), rows(ASSEMBLY))
def test_when_the_first_steering_is_recorded(name: str, trace: str) -> None:
    """A stop before the step opens leaves no step; a further steer waits for the next boundary."""
    check(steered, "running TS UM(A) SM(P)", name, trace)


@pytest.mark.at("step-start")
@pytest.mark.clause("B-15", "B-43", "A-10", "A-52", "B-134")
@pytest.mark.parametrize(("name", "trace"), rows(STEP_START))
def test_inside_the_notification_of_step_start(name: str, trace: str) -> None:
    """A stop closes the step that was opened, and no model is called."""
    check(stepped, "running TS UM(A) SS", name, trace)
