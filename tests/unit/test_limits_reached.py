"""Every bound is reached once: what is said names it, and the agent goes on."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import fields

from runtime import (
    SESSION_EVENT,
    Announcement,
    LimitError,
    Limits,
    Plugin,
    PluginError,
    RecordAppended,
)
from runtime.context import Context
from tests.unit.context.scene import wait
from tests.unit.windows.scene import CALL, Scene

Said = Callable[[Scene], str]
SAID: Final[Announcement[int]] = Announcement("test/said")


def refused(call: Callable[[], object]) -> str:
    """Return what a call is refused with."""
    with pytest.raises(LimitError) as caught:
        call()
    return str(caught.value)


def _full_inbox(scene: Scene) -> str:
    for text in ("B", "C", "D"):
        scene.a.send(text)
    said = refused(lambda: scene.a.send("E"))
    scene.a.cancel()
    return said


def _deep_content(scene: Scene) -> str:
    deep: Any = "x"
    for _ in range(21):
        deep = [deep]
    return refused(lambda: scene.a.inject([{"type": "x", "of": deep}]))


def _circle_of_listeners(scene: Scene) -> str:
    said: list[str] = []

    def again(number: int) -> None:
        try:
            scene.rt.context.emit(SAID, number + 1)
        except LimitError as error:
            said.append(f"{number}: {error}")

    scene.rt.on(SAID, again)
    scene.rt.context.emit(SAID, 1)
    assert len(said) == 1
    return said[0]


def _chain_of_notices(scene: Scene) -> str:
    said: list[str] = []

    def again(notice: RecordAppended) -> None:
        if notice.record.type == "turn/end" and not said:
            try:
                scene.a.inject("again")
            except LimitError as error:
                said.append(str(error))

    scene.rt.on(SESSION_EVENT, again)
    scene.a.inject("c")
    return said[0]


def _steps(scene: Scene) -> str:
    scene.replies += [CALL] * 4
    scene.a.send("B")
    scene.settle()
    ended = scene.records()[-1].data
    # A turn that wants more is no failure, and so its ending says it, not an error.
    assert (ended["ending"], scene.trace().count("SS")) == ("max-steps", 3)
    return "steps_per_turn_max=3"


def _hanging_load(scene: Scene) -> str:
    async def hangs(_: Context, __: object) -> None:
        await scene.stage.gate("never", ())

    fiber = scene.rt.context.plugin(Plugin(name="hangs", apply=hangs))
    scene.quiet()
    (failure,) = wait(scene.stage, fiber.dispose()).failed
    assert isinstance(failure.error, PluginError)
    return str(failure.error)


LIMITS: Final = Limits(
    inbox_messages_max=3,
    record_bytes_max=1_000,
    nesting_levels_max=20,
    abort_grace_s=3.0,
    steps_per_turn_max=3,
    nested_announcements_max=5,
    unload_grace_s=4.0,
)
SCENES: Final[dict[str, tuple[Said, ...]]] = {
    "inbox_messages_max": (_full_inbox,),
    "record_bytes_max": (
        lambda scene: refused(lambda: scene.a.send("x" * 1_000)),
        lambda scene: refused(lambda: scene.a.steer("x" * 1_000)),
        lambda scene: refused(lambda: scene.a.inject("x" * 1_000)),
        lambda scene: refused(lambda: scene.a.cancel("x" * 1_000)),
        lambda scene: refused(lambda: scene.a.send("x" * 600, source={"kind": "k" * 300})),
    ),
    "nesting_levels_max": (_deep_content,),
    "nested_announcements_max": (_circle_of_listeners, _chain_of_notices),
    "steps_per_turn_max": (_steps,),
    "unload_grace_s": (_hanging_load,),
}
ELSEWHERE: Final = {
    "abort_grace_s": "unit/windows/test_grace.py",
    "acp_line_bytes_max": "real/test_acp_hostile.py",
    "acp_unread_bytes_max": "unit/acp/test_bridge.py",
    "kill_grace_s": "unit/bash/test_command.py",
    "kill_verify_s": "unit/bash/test_command.py",
    "command_timeout_s": "unit/bash/test_resolving.py",
    "command_timeout_max_s": "unit/bash/test_resolving.py",
    "commands_running_max": "unit/bash/test_jobs.py",
    "finished_jobs_max": "unit/bash/test_jobs.py",
    "output_bytes_max": "real/test_bash_output.py",
    "spill_file_bytes_max": "real/test_bash_output.py",
    "spill_bytes_max": "unit/bash/test_spill.py",
}
"""Where the other bounds are reached."""
REACHED: Final = [(name, said) for name, scenes in SCENES.items() for said in scenes]


@pytest.mark.clause("A-63", "F-44", "A-78", "G-34", "G-50")
@pytest.mark.parametrize(("name", "said"), REACHED, ids=[name for name, _ in REACHED])
def test_a_limit_that_is_reached_is_named_with_its_value(name: str, said: Said) -> None:
    """Whoever reads it knows what to raise; and the next prompt runs as if nothing had been."""
    with Scene(limits=LIMITS) as scene:
        text = said(scene)
        assert name in text
        assert f"{getattr(LIMITS, name):g}" in text.partition(name)[2]
        scene.settle()
        before = len(scene.trace())
        scene.a.send("Z")
        scene.settle()
        assert "UM(Z)" in scene.trace()[before:]
        assert scene.trace()[-1] == "idle"


@pytest.mark.clause("F-44")
def test_every_limit_has_a_scene_or_a_reason() -> None:
    """A new bound is reached here, or in a file that names it."""
    assert {*SCENES, *ELSEWHERE} == {each.name for each in fields(Limits)}
    tests = Path(__file__).parents[1]
    for name, place in ELSEWHERE.items():
        assert not place or name in (tests / place).read_text(encoding="utf-8")


@pytest.mark.clause("F-44")
@pytest.mark.parametrize("name", [each.name for each in fields(Limits)])
@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), "3", None, True])
def test_a_bound_that_is_none_is_refused_by_name(name: str, value: object) -> None:
    """When the limits are made, not when they are reached."""
    with pytest.raises(ValueError, match=name):
        Limits(**{name: value})  # type: ignore[arg-type]  # the point
