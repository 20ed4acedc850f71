"""The errors of the runtime, sorted by who is at fault.

A `CallerError` says that a call was wrong, a `PluginError` that an extension failed, a `ModelError`
that a model did, a `StorageError` that a disk did. Defects of the runtime itself are assertions and
have no class here, so that nobody catches them by accident.

A message names what was refused, in which status, and what to do instead.
"""

__all__ = [
    "AgentDisposedError",
    "CallerError",
    "DamagedSessionError",
    "DuplicateIdError",
    "InvalidContentError",
    "InvalidRecordError",
    "LifecycleError",
    "LimitError",
    "ModelError",
    "PluginError",
    "SessionBusyError",
    "StorageError",
    "UnknownIdError",
    "WouldDeadlockError",
]


class LifecycleError(Exception):
    """Anything this runtime raises on purpose."""


class CallerError(LifecycleError):
    """The call was wrong; calling again in the same way fails again."""


class AgentDisposedError(CallerError):
    """The agent is disposed and accepts nothing any more; create or resume another one."""


class DuplicateIdError(CallerError, ValueError):
    """The id names something that is alive; choose another one, or dispose that first."""


class SessionBusyError(CallerError):
    """Another writer holds the session; the message names it."""


class UnknownIdError(CallerError, LookupError):
    """The id names nothing that is alive here."""


class InvalidContentError(CallerError, ValueError):
    """A value would not survive the log unchanged; the message names the path to it."""


class InvalidRecordError(CallerError, ValueError):
    """A record may not stand at this place of the log; nothing was appended."""


class WouldDeadlockError(CallerError):
    """The agent's own turn awaited something that waits for that turn to end."""


class LimitError(CallerError):
    """A configured limit was reached; the message names the field of `Limits`."""


class PluginError(LifecycleError):
    """A plugin broke its side of an agreement."""


class ModelError(LifecycleError):
    """A model failed, or answered with something that is no answer."""

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        """The model's own name for the failure, or None if it gave none."""


class StorageError(LifecycleError, OSError):
    """A session could not be read from, or written to, where it is kept."""


class DamagedSessionError(StorageError):
    """A stored session is damaged in a way that no crash explains; it was left as it is."""

    def __init__(self, message: str, *, place: str) -> None:
        super().__init__(message)
        self.place = place
        """Where the damage is, such as `sessions/s.jsonl line 7`."""
