"""Calls that wait for the one who does them, wherever that is, and what came of each."""

from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

__all__ = ["Calls"]

T = TypeVar("T")


class Calls:
    """Calls, in the order in which they were made; made and done on any threads."""

    __slots__ = ("_is_closed", "_waiting")

    def __init__(self) -> None:
        """Begin with nothing to do."""
        self._waiting: SimpleQueue[_Call[Any] | None] = SimpleQueue()
        self._is_closed = False

    def put(self, call: Callable[[], T]) -> "Future[T]":
        """Let something be done, and return what will come of it.

        Raises:
            RuntimeError: it was closed, so nobody would ever do it.
        """
        if self._is_closed:
            raise RuntimeError("call refused: whoever does what blocks was closed")
        asked = _Call(call)
        self._waiting.put(asked)
        return asked.outcome

    def close(self) -> None:
        """Accept no more calls; whoever does them leaves once those that were made are done."""
        self._is_closed = True
        self._waiting.put(None)

    def do_all(self) -> None:
        """Do calls, and wait for more, until `close`."""
        while (asked := self._waiting.get()) is not None:
            asked.do()
            # What it returned is not kept until the next one.
            del asked


class _Call(Generic[T]):
    __slots__ = ("_call", "outcome")

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self.outcome: Future[T] = Future()

    def do(self) -> None:
        """Call; whatever is raised is raised where the outcome is awaited, and not here."""
        with self:
            self.outcome.set_result(self._call())

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        """Hand on what was raised."""
        if error is not None:
            self.outcome.set_exception(error)
        return True
