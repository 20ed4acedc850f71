"""Ports, limits, errors and containment: the ground that everything stands on."""

import asyncio
import logging
import math
import uuid
from typing import Any, NoReturn

import pytest

from runtime import errors
from runtime.containment import contain, render_error
from runtime.limits import Limits
from runtime.ports import Clock, Identifiers, SystemClock, SystemIdentifiers, pause, yield_once

# --- ports --------------------------------------------------------------------------------------


def test_the_system_clock_tells_milliseconds_of_this_age() -> None:
    """A wrong unit would be off by a factor of a thousand."""
    clock: Clock = SystemClock()
    now = clock.now_ms()
    assert type(now) is int
    assert 1_600_000_000_000 < now < 10_000_000_000_000


def test_identifiers_are_uuids_and_never_the_same() -> None:
    """Two sessions never share a name by accident."""
    identifiers: Identifiers = SystemIdentifiers()
    made = {identifiers.new_id() for _ in range(100)}
    assert len(made) == 100
    assert all(str(uuid.UUID(each)) == each for each in made)


def test_yielding_once_lets_everything_that_is_ready_run() -> None:
    """What was ready runs before, what becomes ready by that runs after."""

    async def scenario() -> list[str]:
        seen: list[str] = []
        loop = asyncio.get_running_loop()

        def ready() -> None:
            seen.append("ready")
            loop.call_soon(seen.append, "next")

        loop.call_soon(ready)
        await yield_once()
        seen.append("back")
        await yield_once()
        return seen

    assert asyncio.run(scenario()) == ["ready", "back", "next"]


def test_a_pause_can_be_cancelled() -> None:
    """A delay never holds up a cancel."""

    async def scenario() -> bool:
        task = asyncio.create_task(pause(3_600))
        await yield_once()
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(scenario())


# --- limits -------------------------------------------------------------------------------------


def test_the_defaults_are_the_documented_ones() -> None:
    """A changed default is a change for every user, and so is visible here."""
    limits = Limits()
    assert limits.inbox_messages_max == 1_000
    assert limits.record_bytes_max == 16 * 1024 * 1024
    assert (limits.abort_grace_s, limits.kill_grace_s) == (2.0, 1.0)
    assert limits.steps_per_turn_max == 200
    assert limits.nested_announcements_max == 100


@pytest.mark.parametrize(
    "name",
    [
        "inbox_messages_max",
        "record_bytes_max",
        "nesting_levels_max",
        "steps_per_turn_max",
        "nested_announcements_max",
    ],
)
@pytest.mark.parametrize("value", [0, -1, 1.5, True, "10", None], ids=repr)
def test_a_count_that_is_none_is_refused_by_name(name: str, value: Any) -> None:  # noqa: ANN401  # any value
    """A limit that cannot be kept is not set."""
    with pytest.raises(ValueError, match=name):
        Limits(**{name: value})


@pytest.mark.parametrize("name", ["abort_grace_s", "kill_grace_s"])
@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf, True, "2", None], ids=repr)
def test_a_duration_that_is_none_is_refused_by_name(name: str, value: Any) -> None:  # noqa: ANN401  # any value
    """An endless grace would be no bound."""
    with pytest.raises(ValueError, match=name):
        Limits(**{name: value})
    assert getattr(Limits(**{name: 0}), name) == 0


def test_a_nesting_that_json_cannot_write_is_refused() -> None:
    """The bound of a bound."""
    with pytest.raises(ValueError, match="nesting_levels_max"):
        Limits(nesting_levels_max=100_000)


# --- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "parents"),
    [
        ("CallerError", (errors.LifecycleError,)),
        ("AgentDisposedError", (errors.CallerError,)),
        ("DuplicateIdError", (errors.CallerError, ValueError)),
        ("UnknownIdError", (errors.CallerError, LookupError)),
        ("InvalidContentError", (errors.CallerError, ValueError)),
        ("InvalidRecordError", (errors.CallerError, ValueError)),
        ("WouldDeadlockError", (errors.CallerError,)),
        ("LimitError", (errors.CallerError,)),
        ("PluginError", (errors.LifecycleError,)),
        ("ModelError", (errors.LifecycleError,)),
        ("StorageError", (errors.LifecycleError, OSError)),
    ],
)
def test_errors_say_who_is_at_fault(name: str, parents: tuple[type, ...]) -> None:
    """Who catches a family catches exactly that family."""
    kind = getattr(errors, name)
    assert issubclass(kind, parents)
    assert issubclass(kind, errors.CallerError) == (errors.CallerError in kind.__mro__)
    assert str(kind("what was refused")) == "what was refused"


def test_a_model_error_carries_the_models_code() -> None:
    """And says None when there is none."""
    assert errors.ModelError("x").code is None
    assert errors.ModelError("x", code="rate-limit").code == "rate-limit"


# --- containment --------------------------------------------------------------------------------


class UnspeakableError(Exception):
    """An error that fails when it is asked what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no")

    __repr__ = __str__


class HalfCharacterError(Exception):
    """An error whose text no file can store."""

    def __str__(self) -> str:
        return "\ud800"


class HostileText(str):
    """A string that fails when it is formatted, sliced or joined."""

    __slots__ = ()

    def _refuse(self, *_args: object) -> NoReturn:
        raise RuntimeError("no")

    __format__ = __getitem__ = __iter__ = _refuse


class HostileTextError(Exception):
    """An error whose text is a string that does harm."""

    def __str__(self) -> str:
        return HostileText("x")


class TextlessError(Exception):
    """An error whose text is none."""

    def __str__(self) -> str:
        return len  # type: ignore[return-value]


HOSTILE = [
    UnspeakableError("x"),
    HalfCharacterError(),
    HostileTextError(),
    TextlessError(),
    RecursionError("deep"),
    ExceptionGroup("several", [UnspeakableError(), ValueError("x")]),
    ValueError("x" * 100_000),
    ValueError(),
]


def fail(error: BaseException) -> NoReturn:
    """Raise what is given."""
    raise error


@pytest.mark.clause("D-02", "G-24")
@pytest.mark.parametrize("error", HOSTILE, ids=lambda error: type(error).__name__)
def test_a_failing_observer_is_logged_once_and_over(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever it raises, the caller goes on, and one line names the plugin."""
    assert contain(fail, error, what="agent/status", who="vendor.plugin") is error
    [logged] = caplog.records
    assert (logged.name, logged.levelno) == ("quiesce", logging.ERROR)
    message = logged.getMessage()
    assert "agent/status" in message
    assert "vendor.plugin" in message
    assert type(error).__name__ in message
    assert len(message) < 2_000


def test_an_observer_that_succeeds_gets_its_arguments_and_leaves_no_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nothing is logged for nothing."""
    seen: list[int] = []
    assert contain(seen.append, 5, what="x", who="y") is None
    assert seen == [5]
    assert caplog.records == []


def test_a_failing_handler_of_the_log_does_not_reach_the_caller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Containment contains its own report."""
    monkeypatch.setattr(logging.getLogger("quiesce"), "error", fail)
    error = ValueError("x")
    assert contain(fail, error, what="x", who="y") is error


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_is_no_ordinary_failure_passes(
    kind: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    """An interrupt belongs to whoever sent it."""
    with pytest.raises(kind):
        contain(fail, kind(), what="x", who="y")
    assert caplog.records == []


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("bad"), "ValueError: bad"),
        (ValueError(), "ValueError"),
        (UnspeakableError(), "UnspeakableError (its text could not be rendered)"),
        (HostileTextError(), "HostileTextError (its text could not be rendered)"),
        (HalfCharacterError(), "HalfCharacterError: '\\ud800'"),
    ],
)
def test_every_error_can_be_rendered(error: Exception, expected: str) -> None:
    """As one text that any file can store."""
    rendered = render_error(error)
    assert rendered == expected
    assert rendered.encode()
