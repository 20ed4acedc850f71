"""The random suite of a kept session: every move of the store world, on a real runtime.

Theory. A program is a list of acts, and callbacks and answers of the disk are acts as calls are; so
the list is the interleaving, and it shrinks. An act that cannot be done now is passed over.
Whatever is done, the runtime must do what the store world can do.
"""

from collections.abc import Callable
from typing import Final

from attrs import define
from hypothesis import given
from hypothesis import strategies as st

from tests.conformance.programs import program_settings
from tests.conformance.store_scene import Scene

__all__ = ["Act", "Count", "run_program", "store_suite"]

Act = tuple[str, int]
"""What is done, and a number for what can be chosen about it."""


@define
class Count:
    """How much was done in all the programs of a suite."""

    programs: int = 0
    judged: int = 0
    """Instants that were compared with the world."""
    crashes: int = 0
    resumes: int = 0
    disposes: int = 0
    failures: int = 0
    """Of the disk."""


# -- Acts in the middle of something ---------------------------------------------------------------


def _send(scene: Scene, _: int) -> None:
    if scene.agent == "live":
        scene.send()


def _answer(scene: Scene, number: int) -> None:
    outcome = ("ok", "ok", "error", "late")[number % 4]
    scene.answer("ok" if scene.process.is_flush_left else outcome)


def _dispose(scene: Scene, _: int) -> None:
    if scene.agent == "live":
        scene.dispose()


def _give_up(scene: Scene, _: int) -> None:
    # In the world whoever asked has the session at the instant at which it is loaded.
    if scene.agent == "loading" and not scene.process.port.has_loaded:
        scene.give_up()


def _crash(scene: Scene, number: int) -> None:
    if number < 3:
        scene.crash(is_late=bool(number))


def _tick(scene: Scene, number: int) -> None:
    scene.stage.tick(number + 1)


def _go_on(scene: Scene, number: int) -> None:
    """Let model and disk answer for a while."""
    for _ in range(number // 3 + 1):
        scene.think()
        scene.answer("ok")
        scene.stage.run_until_quiet()


# -- Acts when nobody has anything to do -----------------------------------------------------------


def _resume(scene: Scene, _: int) -> None:
    # The world has no room for a session that is released and resumed at the same time.
    is_released = scene.agent == "ending" and not scene.is_entered
    if scene.is_kept and scene.stored() and not is_released:
        scene.resume()


def _create(scene: Scene, _: int) -> None:
    is_free = scene.agent == "none" and scene.process.port.under_way is None
    if is_free and not scene.stored() and not scene.process.is_stopping:
        scene.create()


def _unload(scene: Scene, number: int) -> None:
    if scene.is_kept and not scene.process.is_stopping and number < 6:
        scene.unload(is_for_good=not number)


def _stop(scene: Scene, number: int) -> None:
    if scene.is_kept and not scene.process.is_stopping and number < 3:
        scene.stop()


def _let_grace_pass(scene: Scene, _: int) -> None:
    scene.let_grace_pass()


def _rival(scene: Scene, _: int) -> None:
    if scene.rival is not None:
        scene.rival_goes()
    elif scene.stored() and not scene.process.port.owes_lease:
        scene.rival_resumes()


ANYWHERE: Final[dict[str, Callable[[Scene, int], None]]] = {
    "send": _send,
    "think": lambda scene, _: scene.think(),
    "disk": _answer,
    "dispose": _dispose,
    "give up": _give_up,
    "crash": _crash,
    "tick": _tick,
    "go on": _go_on,
}
AT_REST: Final[dict[str, Callable[[Scene, int], None]]] = {
    "resume": _resume,
    "create": _create,
    "unload": _unload,
    "stop": _stop,
    "grace": _let_grace_pass,
    "rival": _rival,
}
_OFTEN: Final = ("send", "send", "think", "disk", "disk", "resume", "create", "tick", "go on")
_NAMES: Final = (*_OFTEN, *_OFTEN, *ANYWHERE, *AT_REST)
PROGRAMS: Final = st.lists(
    st.tuples(st.sampled_from(_NAMES), st.integers(0, 9)), min_size=20, max_size=50
)


def run_program(acts: list[Act], count: Count | None = None) -> None:
    """Run one program, then bring everything to rest.

    Raises:
        DisagreementError: the runtime did what the world cannot do.
    """
    scene = Scene()
    try:
        for name, number in acts:
            if name in AT_REST:
                scene.stage.run_until_quiet()
                AT_REST[name](scene, number)
            else:
                ANYWHERE[name](scene, number)
            if scene.broken is not None:
                raise scene.broken
        scene.finish()
    finally:
        scene.shut()
        if count is not None:
            _add(count, scene)


def _add(count: Count, scene: Scene) -> None:
    told = scene.story.count
    count.programs += 1
    count.judged += scene.judged
    count.crashes += told("crash") + told("crash behind the work")
    count.resumes += told("resume")
    count.disposes += told("dispose the agent")
    count.failures += told("the disk fails") + told("the disk has done it and fails")


def store_suite(
    *, examples: int | None = None, is_canary: bool = False, count: Count | None = None
) -> Count:
    """Run random programs, as many as the Hypothesis profile says, and return their count.

    Args:
        examples: how many programs, instead.
        is_canary: the programs are to find a planted fault: always the same ones, none shortened.
        count: where to count, for a caller that wants to know although a claim does not hold.

    Raises:
        DisagreementError: the runtime did what the world cannot do.
    """
    counted = Count() if count is None else count

    @program_settings(examples=examples, is_canary=is_canary)
    @given(acts=PROGRAMS)
    def run(acts: list[Act]) -> None:
        run_program(acts, counted)

    run()
    return counted
