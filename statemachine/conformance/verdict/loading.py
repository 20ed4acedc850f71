"""From the words `package.module:make_subject` to a maker that was seen to make subjects."""

import importlib
import os
import sys
from typing import Any, Final

from statemachine.conformance.stage.stage import Stage
from statemachine.conformance.subject import MakeSubject, Offer, Probed, Subject

__all__ = ["SubjectError", "load_subject", "try_subject"]

_METHODS: Final = (
    "open", "create", "send", "cancel", "dispose", "when_idle", "observe", "close",
)  # fmt: skip
_OFFERED: Final = {Offer.STEER: "steer", Offer.INJECT: "inject", Offer.LISTEN: "on"}


class SubjectError(Exception):
    """There is no usable subject; the message says what to do about it."""


def load_subject(text: str) -> MakeSubject:
    """Import the function that makes subjects.

    Raises:
        SubjectError: the text, the module or the name is wrong.
    """
    module_name, colon, name = text.partition(":")
    if not (module_name and colon and name):
        raise SubjectError(f"{text!r} is no subject; write package.module:make_subject")
    # As with `python -m`: what lies in the current folder can be named.
    if (here := os.getcwd()) not in sys.path and "" not in sys.path:  # noqa: PTH109  # a search path
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise SubjectError(
            f"cannot import {module_name}: {type(error).__name__}: {error}; run from the folder "
            "that holds it, or install it"
        ) from error
    make = getattr(module, name, None)
    if make is None:
        raise SubjectError(
            f"{module_name} has no {name}; it has to be a function without arguments"
        )
    if not callable(make):
        raise SubjectError(f"{text} is {type(make).__name__} and cannot be called")
    return make  # type: ignore[no-any-return]  # whether it makes subjects is tried next


def try_subject(make_subject: MakeSubject) -> Subject:
    """Make a subject, see that it has its methods and that it opens, and return another one.

    Raises:
        SubjectError: it cannot be made, lacks a method, or fails when nothing is asked of it.
    """
    try:
        subject: Any = make_subject()
        lacking = [name for name in _METHODS if not callable(getattr(subject, name, None))]
        offers = frozenset(Offer(each) for each in getattr(subject, "offers", ()))
    except Exception as error:
        raise SubjectError(f"make_subject failed: {type(error).__name__}: {error}") from error
    if not hasattr(subject, "offers"):
        raise SubjectError("the subject has no `offers`; give it a frozenset of Offer, maybe empty")
    lacking += [
        name for offer, name in _OFFERED.items() if offer in offers and not hasattr(subject, name)
    ]
    if lacking:
        raise SubjectError(f"the subject lacks {', '.join(lacking)}; see the protocol Subject")
    try:
        _open_and_close(subject)
    except Exception as error:
        raise SubjectError(
            f"the subject failed when one agent was opened, looked at and closed: "
            f"{type(error).__name__}: {error}"
        ) from error
    return make_subject()


def is_probed(subject: Subject) -> bool:
    """Whether the subject tells its decisions, as level `inside` needs."""
    return isinstance(subject, Probed)


def _open_and_close(subject: Subject) -> None:
    with Stage() as stage:
        stage.complete(subject.open(stage), "open")
        subject.create("a", "s")
        subject.observe("a")
        stage.complete(subject.close(), "close")
