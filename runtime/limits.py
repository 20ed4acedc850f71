"""Every bound of the runtime in one place.

Reaching a bound is an error that names its field, or, where the field says so, an ending.
"""

from math import isfinite

from attrs import Attribute, field, frozen

__all__ = [
    "ANY_SIZE",
    "CALL_ID_BYTES_MAX",
    "DEFAULT_LIMITS",
    "RECORD_OWN_BYTES",
    "Limits",
]

# What reads and writes JSON is recursive: the encoder of the standard library, comparison, `thaw`.
# A depth that they cannot manage from inside a deep caller must not be configurable.
_NESTING_CEILING = 300


RECORD_OWN_BYTES = 256
"""What a record needs for the fields that the runtime adds to what it was given."""

CALL_ID_BYTES_MAX = 128
"""The longest id of a call, as UTF-8; the record of its result has to have room for it."""


def _is_positive_count(_limits: object, attribute: "Attribute[int]", value: int) -> None:
    if type(value) is not int or value < 1:
        raise ValueError(f"{attribute.name} must be a whole number of at least 1, not {value!r}")


def _is_nesting(_limits: object, attribute: "Attribute[int]", value: int) -> None:
    _is_positive_count(_limits, attribute, value)
    if value > _NESTING_CEILING:
        raise ValueError(f"{attribute.name} must be at most {_NESTING_CEILING}, not {value!r}")


def _is_duration(_limits: object, attribute: "Attribute[float]", value: float) -> None:
    if type(value) not in (int, float) or not isfinite(value) or value < 0:
        raise ValueError(f"{attribute.name} must be a finite number of seconds, not {value!r}")


def _is_time(limits: object, attribute: "Attribute[float]", value: float) -> None:
    _is_duration(limits, attribute, value)
    if value == 0:
        raise ValueError(f"{attribute.name} must be more than no time at all, not {value!r}")


@frozen(kw_only=True)
class Limits:
    """The bounds of one runtime; the unit is the end of each name."""

    inbox_messages_max: int = field(default=1_000, validator=_is_positive_count)
    """Accepted messages of one agent that wait, queued and steering together."""

    record_bytes_max: int = field(default=16 * 1024 * 1024, validator=_is_positive_count)
    """Approximate size of one record's data as compact JSON. What is accepted for the log, as a
    message with its source or as a reason, has to leave `RECORD_OWN_BYTES` of it to the record."""

    nesting_levels_max: int = field(default=250, validator=_is_nesting)
    """Lists and objects inside one another in one record's data, or in one accepted content."""

    abort_grace_s: float = field(default=2.0, validator=_is_duration)
    """Time a stopped turn waits for bodies, interceptors and its flush before it leaves them."""

    kill_grace_s: float = field(default=1.0, validator=_is_duration)
    """Time a process group gets between being asked to end and being killed."""

    unload_grace_s: float = field(default=10.0, validator=_is_duration)
    """Time that one disposer of a plugin gets, and a load or set-up that is to be undone, before
    the unload goes on without it."""

    kill_verify_s: float = field(default=5.0, validator=_is_time)
    """Time the system gets to remove a killed process group before it is named as a survivor."""

    command_timeout_s: float = field(default=120.0, validator=_is_time)
    """Time a foreground command gets that asks for none."""

    command_timeout_max_s: float = field(default=600.0, validator=_is_time)
    """Time a foreground command gets at most, whatever it asks for."""

    commands_running_max: int = field(default=128, validator=_is_positive_count)
    """Commands that run at once, foreground and background together."""

    finished_jobs_max: int = field(default=100, validator=_is_positive_count)
    """Finished background jobs of one owner that can still be read; the oldest is forgotten."""

    output_bytes_max: int = field(default=64 * 1024, validator=_is_positive_count)
    """Output that is kept in memory of each stream of a command; the last of it is kept."""

    spill_file_bytes_max: int = field(default=32 * 1024 * 1024, validator=_is_positive_count)
    """Output of one stream that is kept in a file; the file of a stream that writes more goes."""

    spill_bytes_max: int = field(default=256 * 1024 * 1024, validator=_is_positive_count)
    """Output that is kept in all files together; those of finished commands go first."""

    steps_per_turn_max: int = field(default=200, validator=_is_positive_count)
    """Steps of one turn; a turn that wants more ends as `max-steps`."""

    acp_line_bytes_max: int = field(default=32 * 1024 * 1024, validator=_is_positive_count)
    """Length of one line from a client of the bridge."""

    acp_unread_bytes_max: int = field(default=64 * 1024 * 1024, validator=_is_positive_count)
    """Output that waits for a client to read it; one that lets more wait is taken to be gone."""

    nested_announcements_max: int = field(default=100, validator=_is_positive_count)
    """Announcements caused while others are delivered, one inside another."""


DEFAULT_LIMITS = Limits()
"""The bounds that apply where nobody gave any."""

ANY_SIZE = Limits(record_bytes_max=2**53 - 1)
"""For what is measured later, or was measured before."""
