"""The page about the seams: where plugins may change a turn, and what becomes of their failures.

Names, arguments and answers are read from `runtime.seams`; when a seam is asked, and what a failure
there means, is said here.
"""

import inspect
import typing
from collections.abc import Iterator
from typing import Any, Final

from attrs import fields, frozen

from runtime import announcements, seams
from runtime.announcements import SESSION_FLUSH, Announcement
from runtime.context import Serial, Waterfall
from statemachine.clauses import clauses
from statemachine.render.markdown import section, table, words
from statemachine.windows import Window

__all__ = ["ASKED", "Asked", "Seam", "every_seam", "seams_page"]


@frozen
class Asked:
    """When a seam is asked, and what a failure there leads to."""

    window: Window
    when: str
    failure: str
    clauses: str


ASKED: Final = {
    "prompt/submit": Asked(
        Window.PROMPTS,
        "once for each prompt of the batch, before it is recorded",
        "the prompt is recorded as it came, the turn ends `error`, and the prompts behind it go "
        "back to the head of the queue",
        "B-87 B-92 B-109",
    ),
    "system/assemble": Asked(
        Window.ASSEMBLY,
        "once a step, for the system prompt",
        "the turn ends `error` before the step opens",
        "B-58 B-127",
    ),
    "step/prepare": Asked(
        Window.PRE_STEP,
        "before `step/start`; what is recorded here lies before it, and the request shows it",
        "the turn ends `error` before the step opens",
        "B-57 B-127",
    ),
    "model/request": Asked(
        Window.REQUEST,
        "once a step, before the model sees the request",
        "the step fails: it is closed, the failure is announced, the turn ends `error`",
        "B-16 B-75 B-127",
    ),
    "step/result": Asked(
        Window.RESULT,
        "when the reply has ended, before it is recorded and its calls are made",
        "the reply is recorded as it was received, its calls are answered as interrupted, and the "
        "turn ends `error`",
        "B-62 B-137 B-140",
    ),
    "tool/before": Asked(
        Window.TOOL_CALL,
        "behind `tool/call`, before the body is entered",
        "the body is not entered, and the failure is the result of the call; the turn goes on",
        "K-03 K-05 B-127",
    ),
    "tool/permission": Asked(
        Window.TOOL_CALL,
        "when an interceptor of `tool/before` asks; the first who answers decides, and nobody is a "
        "no",
        "as `tool/before`",
        "K-05 B-127",
    ),
    "tool/after": Asked(
        Window.TOOL_BODY,
        "before the result of a call is recorded; that of a call which was denied, or could not be "
        "made, as well, in TOOL_CALL",
        "the failure is the result of the call; the turn goes on",
        "K-07 B-127 B-141",
    ),
    "turn/continue": Asked(
        Window.CONTINUATION,
        "behind each step that nothing stopped, but not behind the last that is allowed",
        "the turn ends `error`, and the next prompt runs",
        "B-68 B-70 B-71 B-72 B-108",
    ),
}


@frozen
class Seam:
    """A seam as it is declared."""

    constant: str
    name: str
    kind: str
    argument: Any
    answers: tuple[Any, ...]


def every_seam() -> tuple[Seam, ...]:
    """Return the seams of a turn, in the order of a turn."""
    hints = typing.get_type_hints(seams, include_extras=True)
    found = []
    for constant, value in vars(seams).items():
        if isinstance(value, (Waterfall, Serial)):
            (declared,) = typing.get_args(hints[constant])
            argument, answer = typing.get_args(declared)
            kind = type(value).__name__.lower()
            found.append(
                Seam(constant, value.name, kind, argument, typing.get_args(answer) or (answer,))
            )
    return tuple(found)


def seams_page() -> str:
    """Return the page."""
    lines = [_HEAD]
    for each in every_seam():
        lines += section(each.name, _told(each))
    lines += [_OBSERVERS, *table(("announcement", "constant", "what is told"), _observed())]
    return "\n".join([*lines, _FLUSH]) + "\n"


def _told(seam: Seam) -> list[str]:
    asked = ASKED[seam.name]
    given = words((f"`{each.name}`" for each in fields(seam.argument)), ", ")
    rows = [
        ("constant", f"`{seam.constant}`, a {seam.kind}"),
        ("asked", f"{asked.when}; window {asked.window.name}"),
        ("argument", f"`{seam.argument.__name__}`: {given}"),
        ("answers", words(map(_answer, seam.answers), "<br>")),
        ("a failure", asked.failure),
        ("clauses", _links(asked.clauses)),
    ]
    return table(("", ""), rows)


def _answer(kind: Any) -> str:  # noqa: ANN401  # whatever stands in an annotation
    if kind is object:
        return "nothing; the first who answers something else than None is the last to be asked"
    if kind.__module__ == "builtins":
        return f"`{kind.__name__}`"
    return f"`{kind.__name__}`: {(inspect.getdoc(kind) or '').splitlines()[0]}"


def _links(cited: str) -> str:
    files = {each.id: each.file for each in clauses()}
    return words(f"[{each}](../clauses/{files[each]}#{each.lower()})" for each in cited.split())


def _observed() -> Iterator[tuple[str, ...]]:
    hints = typing.get_type_hints(announcements)
    for constant in announcements.__all__:
        value = getattr(announcements, constant)
        if isinstance(value, Announcement) and value is not SESSION_FLUSH:
            told = typing.get_args(hints[constant])
            yield f"`{value.name}`", f"`{constant}`", words(each.__name__ for each in told)


_HEAD: Final = """\
# The seams of a turn

*Written by `make docs`. Do not edit.*

A seam is a place where plugins may change what comes of a turn. Whoever listens there is an
*interceptor*, a part of the turn, while a listener of an announcement is an observer and changes
nothing. The constants are those of `runtime.seams`.

In a *waterfall* interceptors lie around each other, the first registered outermost: each may look
at what lies further in (`await proceed()`), change it, or answer by itself (G-26). In a *serial*
they are asked one after the other, until one answers with something other than None (G-23).

Once a turn is stopped nobody is asked any more (B-134). Who is being asked at that moment has the
rest of the turn's grace, and is left behind after that (B-118). An answer of the wrong kind is a
failure of the interceptor (B-144)."""
_OBSERVERS: Final = """
## What observers are told

Announcements are synchronous. What a listener raises is contained and logged, and changes no
outcome (B-126). All announcements of one agent leave in one order (A-70).
"""
_FLUSH: Final = f"""
`{SESSION_FLUSH.name}` alone is awaited, by all of its listeners at once, because whoever makes a
session durable has to be able to say that it did not work. A failure there is announced as
`agent/error` of step 0 and holds nothing back (D-53); before the first tool body of a step it keeps
the bodies from being entered (B-138)."""
