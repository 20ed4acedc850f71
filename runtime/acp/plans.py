"""The plan that a tool presents behind a result, in the words of the protocol."""

from collections.abc import Mapping
from typing import Any, Final

from runtime.containment import log_line
from runtime.session.content import FrozenList, FrozenObject

from .frames import Frame

__all__ = ["plan_update"]

# No sets: what is looked for in them may be anything.
_STATUSES: Final = ("pending", "in_progress", "completed")
_PRIORITIES: Final = ("high", "medium", "low")


def plan_update(name: str, shown: Mapping[str, Any]) -> Frame | None:
    """Return the update with a plan; None if there is none, or what is there is no plan.

    Args:
        name: the tool, for a line in the log.
        shown: its presentation of a call that has a result. A plan is its `plan`: a list of
            objects, each with a `content`, and if it is not the default with a `status` and a
            `priority`.

    Clauses: J-74
    """
    if "plan" not in shown:
        return None
    steps = shown["plan"]
    if type(steps) is FrozenList and all(map(_is_step, steps)):
        return {"sessionUpdate": "plan", "entries": [_entry(each) for each in steps]}
    log_line(f"tool {name} presents a plan that is none, and it is not shown")
    return None


def _is_step(step: object) -> bool:
    return (
        type(step) is FrozenObject
        and type(step.get("content")) is str
        and step.get("status", "pending") in _STATUSES
        and step.get("priority", "medium") in _PRIORITIES
    )


def _entry(step: FrozenObject) -> Frame:
    return {
        "content": step["content"],
        "priority": step.get("priority", "medium"),
        "status": step.get("status", "pending"),
    }
