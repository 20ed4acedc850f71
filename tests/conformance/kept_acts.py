"""What a random program over kept sessions is made of, and who it lets go on."""

from typing import Final

from hypothesis import strategies as st

from runtime import seams
from tests.unit.stored import StoredScene

__all__ = ["HELD", "NAMES", "PROGRAMS", "Act", "go_on", "let"]

NAMES: Final = ("a", "b")

Act = tuple[str, int]

_OFTEN: Final = (
    "create", "resume", "send", "send", "disk ok", "gate", "tick", "go on", "go on",
)  # fmt: skip
_SELDOM: Final = (
    "dispose", "dispose", "inject", "cancel", "flush", "flush", "give up",
    "reload the keeper", "reload the driver", "crash",
    "disk error", "disk late",
)  # fmt: skip
_ACTS: Final = st.tuples(st.sampled_from((*_OFTEN, *_OFTEN, *_OFTEN, *_SELDOM)), st.integers(0, 9))
PROGRAMS: Final = st.lists(_ACTS, min_size=30, max_size=60)

HELD: Final = (seams.STEP_RESULT, seams.TOOL_BEFORE)
"""Where interceptors wait."""
_LEFT_WAITING: Final = (None, "tool", *(seam.name for seam in HELD))
"""Who may be left waiting while all others go on."""


def let(scene: StoredScene, what: str, number: int) -> None:
    """Let somebody go on who waits."""
    if what == "gate":
        _open_any(scene, number)
    elif what == "go on":
        go_on(scene, number, 3 * number)
    else:
        _open(scene, "disk", what.split()[1])


def _open(scene: StoredScene, gate: str, outcome: str = "ok") -> None:
    """Open the oldest gate of this name, if somebody waits there; run no callback."""
    for each in scene.stage.gates.open_gates:
        if each.name == gate:
            scene.stage.gates.open(each, outcome)
            return


def go_on(scene: StoredScene, number: int, times: int) -> None:
    """Let the disk, models, tools and interceptors go on, all or all but one kind."""
    for _ in range(times):
        _open(scene, "disk")
        _open_any(scene, number, but=_LEFT_WAITING[number % len(_LEFT_WAITING)])
        scene.stage.tick(10)


def _open_any(scene: StoredScene, number: int, but: str | None = None) -> None:
    """Open one of the gates at which models, tools and interceptors wait."""
    gates = scene.stage.gates.open_gates
    waiting = [each for each in gates if each.name not in ("disk", but)]
    if waiting:
        scene.stage.gates.open(waiting[number % len(waiting)], "ok")
