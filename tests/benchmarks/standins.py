"""What stands in for the rest of an agent while one of its operations is measured."""

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from attrs import define, field

from runtime.session.log import SessionLog
from statemachine import Decision, Input, Shape

__all__ = ["BlankLog", "CannedMachine", "StillLoop", "WatchedLog"]


class WatchedLog(SessionLog):
    """A log that writes down how it was called."""

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401  # passed on
        """See `SessionLog`."""
        super().__init__(*arguments, **options)
        self.appends: list[tuple[str, dict[str, Any], dict[str, Any]]] = []

    def append(self, type_name: str, data: Any, **options: Any) -> Any:  # noqa: ANN401  # passed on
        """See `SessionLog`."""
        self.appends.append((type_name, dict(data), options))
        return super().append(type_name, data, **options)


class BlankLog:
    """Stands in for a log; appending costs nothing."""

    def __init__(self) -> None:
        """Begin and stay empty."""
        self.on_append: object = None
        self.events = self.history = self.unanswered = ()
        self.next_turn = 1
        self.session = SimpleNamespace(id="blank")
        self.record = SimpleNamespace(seq=0)

    def append(self, _type: str, _data: object, **_options: object) -> SimpleNamespace:
        """Do nothing."""
        return self.record


@define
class StillLoop:
    """Stands in for a loop; starting a task costs nothing."""

    loop: asyncio.AbstractEventLoop

    def create_future(self) -> "asyncio.Future[Any]":
        """Make a real future."""
        return self.loop.create_future()

    def create_task(self, _body: object, *, name: str) -> "StillLoop":  # noqa: ARG002  # as asyncio's
        """Start nothing."""
        return self

    def add_done_callback(self, callback: object) -> None:
        """Forget the callback."""


@define
class CannedMachine:
    """Stands in for the machine: its answers come from a list, and none asks for anything."""

    initial: Shape
    answers: tuple[Decision, ...]
    pending: Iterator[Decision] = field(init=False, factory=lambda: iter(()))

    def rewind(self) -> None:
        """Begin the list again."""
        self.pending = iter(self.answers)

    def decide(self, _shape: Shape, _input: Input) -> Decision:
        """Return the next answer."""
        return next(self.pending)
