"""Where the failure of an observer stops.

An observer (a listener, a callback of an abort signal, a subscriber of a log) is told what happened
and has no say in it. Whatever it raises is logged once, with the name of its plugin, and is over.
What is no `Exception`, such as the group that a task group raises, is made one. An observer is
called, not awaited, so it cannot be cancelled: a `CancelledError` from it comes out of something it
looked at, and is its own failure.

A keyboard interrupt and the exit of the interpreter end the process, but not in the middle of a
turn that has still to be closed: they go on from the loop, where asyncio lets them out of any other
task. Whoever runs the loop then cancels what is left, and that closes the turns.
"""

import asyncio
import logging
import traceback
from asyncio import CancelledError
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from .errors import PluginError

__all__ = [
    "as_failure",
    "attempt",
    "attempt_awaited",
    "contain",
    "leave_by_the_loop",
    "log_defect",
    "log_failure",
    "log_line",
    "render_error",
    "with_failures",
]

T = TypeVar("T")

_logger = logging.getLogger("quiesce")

_RENDERED_CHARACTERS_MAX = 900
_PLACES_MAX = 4

# These are about the process or the task, not about the work.
_PASSING: Final = (CancelledError, KeyboardInterrupt, SystemExit, GeneratorExit)


def contain(call: Callable[..., object], *args: object, what: str, who: str) -> Exception | None:
    """Call an observer and keep its failure from everybody else.

    Args:
        call: The observer.
        *args: What it is told.
        what: What it was listening to, for the logged line.
        who: The plugin it belongs to, for the logged line.

    Returns:
        The failure, already logged or on its way, or None.

    Clauses: B-167
    """
    try:
        call(*args)
    except CancelledError as error:
        failure: Exception = PluginError(
            "an observer raised CancelledError although nothing awaits it"
        )
        failure.__cause__ = error
    except (KeyboardInterrupt, SystemExit) as error:
        leave_by_the_loop(error)
        return as_failure(error)
    except GeneratorExit:
        raise
    except BaseException as error:
        failure = as_failure(error)
    else:
        return None
    _log_once(failure, what, who)
    return failure


def attempt(call: Callable[..., object], *args: object) -> Exception | None:
    """Call and return the failure, for a caller whose own business the failure is."""
    try:
        call(*args)
    except _PASSING:
        raise
    except BaseException as error:
        return as_failure(error)
    return None


async def attempt_awaited(body: Awaitable[object]) -> Exception | None:
    """Await and return the failure, for a caller whose own business the failure is."""
    try:
        await body
    except _PASSING:
        raise
    except BaseException as error:
        return as_failure(error)
    return None


async def with_failures(body: Awaitable[T]) -> T:
    """Await foreign code; whatever it fails with is an `Exception`."""
    try:
        return await body
    except Exception:
        raise
    except _PASSING:
        raise
    except BaseException as error:
        raise as_failure(error) from error


def leave_by_the_loop(error: KeyboardInterrupt | SystemExit) -> None:
    """Let the end of the process go on from the loop as soon as what is being done is done.

    Raises:
        BaseException: the error itself, if no loop runs.

    Clauses: B-167
    """
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        raise error from None
    loop.call_soon(_raise, error)


def _raise(error: BaseException) -> None:
    raise error


def as_failure(error: BaseException) -> Exception:
    """Return an error of foreign code as one that can be answered like any other."""
    if isinstance(error, Exception):
        return error
    failure = PluginError(f"what was raised is no Exception: {render_error(error)}")
    failure.__cause__ = error
    return failure


def render_error(error: BaseException) -> str:
    """Return one line about an error, or a group and its first, whatever `__str__` does."""
    if type(error) is ExceptionGroup or type(error) is BaseExceptionGroup:
        # By itself it says only how many there are.
        return f"{_render(error)}: {_render(error.exceptions[0])}"
    return _render(error)


def _render(error: BaseException) -> str:
    name = type(error).__name__
    try:
        text = str(error)
        # A subclass of str can run code of its own whenever it is formatted; this copy cannot.
        text = "".join(text[:_RENDERED_CHARACTERS_MAX])
        text.encode()
    except UnicodeEncodeError:
        text = ascii(text)
    except Exception:
        # An error that cannot say what it is still has a class.
        return f"{name} (its text could not be rendered)"
    return f"{name}: {text}" if text else name


def log_line(text: str) -> None:
    """Say something that nobody has to act on but whoever reads the log."""
    _logger.warning("%s", text)


def log_failure(error: BaseException, place: str) -> None:
    """Log a failure that belongs to a turn, with the place where it happened."""
    _logger.warning("%s: %s", place, render_error(error))


def log_defect(error: BaseException, place: str) -> None:
    """Log a defect of the runtime itself, with everything that helps to find it."""
    _logger.critical("%s died of a defect of the runtime", place, exc_info=error)


def _log_once(error: Exception, what: str, who: str) -> None:
    message = "%s of plugin %s failed and was contained: %s\n%s"
    try:
        # The places only: what a hostile error says of itself could choke whoever writes the log.
        places = "".join(traceback.format_tb(error.__traceback__)[-_PLACES_MAX:])
        _logger.error(message, what, who, render_error(error), places[-_RENDERED_CHARACTERS_MAX:])
    except Exception:
        # A logging handler is an observer, too, and there is nowhere left to report it.
        return
